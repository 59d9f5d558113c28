//! Choosing a back end on a machine that has none of them.

use ptx_emit::assemble::{Assembler, Backend, Choice, Error, Options, Source};

#[test]
fn a_missing_library_says_why() {
    match Assembler::open(Choice::Library, &Options::default()) {
        Ok(library) => println!("skipped: this machine has a compiler library, {:?}", library.version()),
        Err(error) => {
            assert!(matches!(&error, Error::Missing { backend: Some(Backend::Library), .. }), "{error}");
            let reason = if cfg!(feature = "cuda") { "as an archive" } else { "without the feature `cuda`" };
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}

#[test]
fn a_missing_driver_says_why() {
    match Assembler::open(Choice::Driver, &Options::default()) {
        Ok(driver) => println!("skipped: this machine has a driver, {:?}", driver.version()),
        Err(error) => {
            assert!(matches!(&error, Error::Missing { backend: Some(Backend::Driver), .. }), "{error}");
            let reason = if cfg!(feature = "cuda") { "libcuda" } else { "without the feature `cuda`" };
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}

#[test]
fn auto_takes_what_is_there_or_names_all_that_is_not() {
    match Assembler::open(Choice::Auto, &Options::default()) {
        Ok(Assembler::Driver(_) | Assembler::Ptxas(_)) => {}
        Ok(Assembler::Library(_)) => panic!("the library is never chosen by itself"),
        Err(error) => {
            let text = error.to_string();
            for word in ["no assembler back end", "`$PTXAS`", "`$CUDA_HOME`", "`$PATH`"] {
                assert!(text.contains(word), "{text}");
            }
        }
    }
}

/// Only where somebody made a shared object of NVIDIA's archive.
#[test]
fn a_library_that_is_there_compiles() {
    let library = match Assembler::open(Choice::Library, &Options::default()) {
        Ok(library) => library,
        Err(error) => return println!("skipped: {error}"),
    };
    let assemble = |text: &[u8]| library.assemble(&Source { file: "a.ptx", text }, &Options::default());
    let good = assemble(b".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n").unwrap();
    assert!(good.report.accepted && good.cubin.is_some(), "{:?}", good.report);
    assert!(good.report.functions[0].registers.is_some());
    for text in [&b""[..], b"\0", b".version 7.0\n.target sm_80\n.entry k() { rex; }\n"] {
        let refused = assemble(text).unwrap();
        assert!(!refused.report.accepted && refused.cubin.is_none(), "{:?}", refused.report);
        assert!(refused.report.refusals().next().is_some());
    }
    let unknown = Options { target: Some("sm_40".to_owned()), ..Options::default() };
    let text = b".version 7.0\n.target sm_80\n";
    let error = library.assemble(&Source { file: "a.ptx", text }, &unknown).unwrap_err();
    assert!(matches!(error, Error::TargetUnsupported { .. }), "{error}");
}
