//! Choosing a back end: what is there has a version, and what is not says why.

use ptx_emit::assemble::{Assembler, Backend, Choice, Error, Options};

#[test]
fn a_library_has_a_version_and_a_missing_one_says_why() {
    match Assembler::open(Choice::Library, &Options::default()) {
        Ok(library) => assert!(library.version().is_some()),
        Err(error) => {
            assert!(matches!(&error, Error::Missing { backend: Some(Backend::Library), .. }), "{error}");
            let reason = if cfg!(feature = "cuda") { "as an archive" } else { "without the feature `cuda`" };
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}

#[test]
fn a_driver_has_a_version_and_a_missing_one_says_why() {
    match Assembler::open(Choice::Driver, &Options::default()) {
        Ok(driver) => assert!(driver.version().is_some()),
        Err(error) => {
            assert!(matches!(&error, Error::Missing { backend: Some(Backend::Driver), .. }), "{error}");
            let reason = match (cfg!(feature = "cuda"), cfg!(target_os = "linux")) {
                (true, true) => "libcuda",
                (true, false) => "on Linux only",
                (false, _) => "without the feature `cuda`",
            };
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}

#[test]
fn auto_takes_what_is_there_or_names_all_that_is_not() {
    match Assembler::open(Choice::Auto, &Options::default()) {
        Ok(Assembler::Driver(_) | Assembler::DriverProcess(_) | Assembler::Ptxas(_)) => {}
        Ok(Assembler::Library(_)) => panic!("the library is never chosen by itself"),
        Err(error) => {
            let text = error.to_string();
            for word in ["no assembler back end", "`$PTXAS`", "`$CUDA_HOME`", "`$PATH`"] {
                assert!(text.contains(word), "{text}");
            }
        }
    }
}
