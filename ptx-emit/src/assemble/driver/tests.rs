//! What holds without a driver, and with one.

use super::*;
use crate::assemble::LogSeverity;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::mem;

/// Calls of the C interface pass up to this many words.
type AnyCall =
    unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize, usize, usize, usize, usize) -> u32;

#[test]
fn without_a_driver_every_call_says_so_and_touches_nothing() {
    if forward::library().is_ok() {
        println!("skipped: this machine has a driver");
        return;
    }
    for &(name, address) in forward::FORWARDED {
        // SAFETY: on this machine's C calling convention a function may be given more words than it
        // takes, and without a driver none of them is looked at.
        let call = unsafe { mem::transmute::<*const (), AnyCall>(address) };
        // SAFETY: as above.
        let code = unsafe { call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) };
        assert_eq!(code, CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED as u32, "{name}");
        assert_eq!(last_raw_code(), code, "{name}");
    }
}

#[test]
fn cust_names_the_missing_driver() {
    if forward::library().is_ok() {
        println!("skipped: this machine has a driver");
        return;
    }
    let error = cust::init(cust::CudaFlags::empty()).unwrap_err();
    assert!(error.to_string().contains("no CUDA driver"), "{error}");
    let error = Driver::open().unwrap_err();
    assert!(matches!(&error, Error::Missing { backend: Some(Backend::Driver), .. }), "{error}");
    assert!(error.to_string().contains("libcuda.so.1"), "{error}");
    assert!(error.help().unwrap().contains("--backend ptxas"));
}

#[test]
fn error_texts_never_fail() {
    for code in (0..1000).filter(|&code| forward::is_known(code)) {
        let mut text: *const c_char = ptr::null();
        // SAFETY: the place is valid.
        let result = unsafe { sys::cuGetErrorString(forward::known(code), &raw mut text) };
        assert_eq!(result, CUresult::CUDA_SUCCESS);
        // SAFETY: the call promises a text.
        assert!(!unsafe { CStr::from_ptr(text) }.is_empty());
    }
    for code in [46, 225, 912, 100_000] {
        assert!(forward::describe(code).contains(&code.to_string()));
    }
}

/// The table in `is_known` has exactly the codes that the enum of the bindings has. `Debug` of the
/// enum cannot be asked about others, so its variants are counted through the names it prints.
#[test]
fn unknown_codes_become_999_and_are_kept() {
    let names: BTreeSet<String> = (0..1000)
        .filter(|&code| forward::is_known(code))
        .map(|code| {
            let known = forward::known(code);
            assert_eq!(known as u32, code);
            format!("{known:?}")
        })
        .collect();
    assert_eq!(names.len(), 87);
    for code in [46, 203, 225, 226, 227, 402, 721, 912, 1000, u32::MAX] {
        assert!(!forward::is_known(code));
        assert_eq!(forward::known(code), CUresult::CUDA_ERROR_UNKNOWN);
        assert_eq!(last_raw_code(), code);
    }
}

#[test]
fn forwarders_cover_what_cust_names() {
    let names: BTreeSet<&str> = forward::FORWARDED.iter().map(|&(name, _)| name).collect();
    assert_eq!(names.len(), 104);
    assert!(names.contains("cuModuleLoadDataEx") && names.contains("cuLaunchKernel"));
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
    let lines = verdict::of_refusal(222, log()).unwrap();
    assert!(lines[0].message.contains("newer driver"), "{lines:?}");
    assert_eq!(lines[1].severity, LogSeverity::Fatal);
    let explained = Log::parse("ptxas application ptx input, line 1; fatal   : Unsupported .version 9.5");
    assert_eq!(verdict::of_refusal(218, explained.clone()).unwrap(), explained.lines);
    assert!(matches!(verdict::of_refusal(2, log()), Err(Error::Crashed { .. })));
    assert!(
        matches!(verdict::of_refusal(912, log()), Err(Error::Crashed { how, .. }) if how.contains("912"))
    );
    assert!(matches!(verdict::of_refusal(221, log()), Err(Error::Missing { .. })));
}

#[test]
fn version_comes_from_the_name_of_the_loaded_library() {
    let maps = "7f00-7f01 r--p 0 08:01 1 /usr/lib/libc.so.6\n7f02-7f03 r-xp 0 08:01 2  /usr/lib/x/libcuda.so.580.159.04\n";
    assert_eq!(library_version(maps), Some("580.159.04"));
    assert_eq!(library_version("7f00 /usr/lib/libcuda.so.1\n"), None);
    assert_eq!(library_version("7f00 /a/libcuda.so.580.1 (deleted)\n"), None);
}

#[test]
fn with_a_gpu_a_kernel_gives_figures() {
    let driver = match Driver::open() {
        Ok(driver) => driver,
        Err(error) => return println!("skipped: {error}"),
    };
    let text = b".version 6.0\n.target sm_30\n.address_size 64\n.entry k() { ret; }\n";
    let source = Source { file: "k.ptx", text };
    let assembly = driver.assemble(&source, &Options::default()).unwrap();
    assert!(assembly.report.accepted, "{:?}", assembly.report);
    assert_eq!(assembly.report.functions[0].name, "k");
    assert!(assembly.report.functions[0].registers.is_some());
}
