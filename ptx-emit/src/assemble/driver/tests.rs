//! What holds without a driver, and with one; `tests/tests/assembler.rs` asks the driver of a GPU.

use super::*;
use crate::assemble::LogSeverity;

#[test]
fn a_driver_has_a_version_and_a_missing_one_is_named() {
    match Driver::open() {
        Ok(driver) => assert!(driver.version().is_some()),
        Err(error) => {
            assert!(matches!(&error, Error::Missing { backend: Some(Backend::Driver), .. }), "{error}");
            assert!(error.help().unwrap().contains("--backend ptxas"));
        }
    }
}

#[test]
fn machine_code_and_nul_never_reach_the_driver() {
    assert_eq!(verdict::unfit(b".version 8.0\n\0").unwrap().line, Some(2));
    assert!(verdict::unfit(b"\x7fELF\x02\x01").unwrap().message.contains("machine code"));
    assert!(verdict::unfit(b"\x50\xed\x55\xba").is_some());
    assert!(verdict::unfit(b"").is_none() && verdict::unfit(b".version 8.0").is_none());
}

#[test]
fn refusals_are_told_from_breakdowns() {
    let log = || Log::parse("");
    let told = |code: u32| format!("CUDA error {code}");
    let lines = verdict::of_refusal(told, 222, log()).unwrap();
    assert!(lines[0].message.contains("newer driver"), "{lines:?}");
    assert_eq!(lines[1].severity, LogSeverity::Fatal);
    let explained = Log::parse("ptxas application ptx input, line 1; fatal   : Unsupported .version 9.5");
    assert_eq!(verdict::of_refusal(told, 218, explained.clone()).unwrap(), explained.lines);
    assert!(matches!(verdict::of_refusal(told, 2, log()), Err(Error::Crashed { .. })));
    assert!(
        matches!(verdict::of_refusal(told, 912, log()), Err(Error::Crashed { how, .. }) if how.contains("912"))
    );
    assert!(matches!(verdict::of_refusal(told, 221, log()), Err(Error::Missing { .. })));
}

#[test]
fn version_comes_from_the_name_of_the_loaded_library() {
    let maps = "7f00-7f01 r--p 0 08:01 1 /usr/lib/libc.so.6\n7f02-7f03 r-xp 0 08:01 2  /usr/lib/x/libcuda.so.580.159.04\n";
    assert_eq!(library_version(maps), Some("580.159.04"));
    assert_eq!(library_version("7f00 /usr/lib/libcuda.so.1\n"), None);
    assert_eq!(library_version("7f00 /a/libcuda.so.580.1 (deleted)\n"), None);
}
