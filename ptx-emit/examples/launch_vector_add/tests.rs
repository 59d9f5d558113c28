//! What holds of the forwarders without a driver, and with one.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::{mem, ptr};

use cust::sys::{self, CUresult};

use super::forward;

/// Calls of the C interface pass up to this many words.
type AnyCall =
    unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize, usize, usize, usize, usize) -> u32;

#[test]
fn without_a_driver_every_call_says_so_and_touches_nothing() {
    if forward::is_there() {
        return;
    }
    for &(name, address) in forward::FORWARDED {
        // SAFETY: on this machine's C calling convention a function may be given more words than it
        // takes, and without a driver none of them is looked at.
        let call = unsafe { mem::transmute::<*const (), AnyCall>(address) };
        // SAFETY: as above.
        let code = unsafe { call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) };
        assert_eq!(code, CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED as u32, "{name}");
        assert_eq!(forward::last_raw_code(), code, "{name}");
    }
    let error = cust::init(cust::CudaFlags::empty()).unwrap_err();
    assert!(error.to_string().contains("no CUDA driver"), "{error}");
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
}

/// The table in `is_known` has exactly the codes that the enum of the bindings has. `Debug` of the
/// enum cannot be asked about others, so its variants are counted through the names it prints.
#[test]
fn known_codes_are_those_of_the_bindings() {
    let names: BTreeSet<String> = (0..=1100)
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
        assert_eq!(forward::last_raw_code(), code);
    }
}

#[test]
fn forwarders_cover_what_cust_names() {
    let names: BTreeSet<&str> = forward::FORWARDED.iter().map(|&(name, _)| name).collect();
    assert_eq!(names.len(), 104);
    assert!(names.contains("cuModuleLoadDataEx") && names.contains("cuLaunchKernel"));
}
