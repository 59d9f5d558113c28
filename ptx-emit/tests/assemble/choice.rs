//! Choosing a back end on a machine that has none of them.

use ptx_emit::assemble::{Assembler, Backend, Choice, Error, Options};

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
