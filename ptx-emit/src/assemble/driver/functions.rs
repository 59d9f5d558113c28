//! Asks the driver what the functions of a loaded module cost.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int};
use std::ptr;

use cust::sys::{CUfunction, CUfunction_attribute, CUmodule};

use super::api::Api;
use crate::assemble::log::sort_by_source;
use crate::assemble::outline::Outline;
use crate::assemble::report::{FunctionKind, FunctionUsage};

/// Puts the driver's figures into `functions`, and adds the kernels that the log did not name. The
/// context of `module` is current.
pub(super) fn complete(api: &Api, functions: &mut Vec<FunctionUsage>, module: CUmodule, outline: &Outline) {
    let indices: HashMap<String, usize> =
        functions.iter().enumerate().map(|(index, function)| (function.name.clone(), index)).collect();
    for (name, handle) in kernels(api, module, outline) {
        let index = indices.get(&name).copied().unwrap_or_else(|| {
            functions.push(FunctionUsage::unknown(name, FunctionKind::Entry));
            functions.len() - 1
        });
        if let Some(function) = functions.get_mut(index) {
            read_attributes(api, function, handle);
        }
    }
    sort_by_source(functions, outline);
}

/// The kernels of a module: as the driver lists them (CUDA 12.4), else those named in the text.
fn kernels(api: &Api, module: CUmodule, outline: &Outline) -> Vec<(String, CUfunction)> {
    let names = listed_kernels(api, module).unwrap_or_else(|| {
        let entries = outline.functions.iter().filter(|function| function.kind == FunctionKind::Entry);
        entries.map(|function| function.name.clone()).collect()
    });
    // Each is asked for by its name: the driver loads lazily, and a kernel that was only listed does
    // not tell its constant and local memory.
    let loaded = names.into_iter().filter_map(|name| {
        let handle = function(api, module, &name)?;
        Some((name, handle))
    });
    loaded.collect()
}

/// The kernel called `name`. The context of `module` is current.
pub(super) fn function(api: &Api, module: CUmodule, name: &str) -> Option<CUfunction> {
    let name = CString::new(name).ok()?;
    let mut handle = ptr::null_mut();
    // SAFETY: the module is loaded, the name ends with a NUL, the place is valid.
    let code = unsafe { (api.module_get_function)(&raw mut handle, module, name.as_ptr()) };
    (code == 0).then_some(handle)
}

/// The names of the kernels as the driver lists them; `None` where it is too old to do so.
fn listed_kernels(api: &Api, module: CUmodule) -> Option<Vec<String>> {
    let listing = api.listing?;
    let mut length = 0;
    // SAFETY: the module is loaded and the place is valid.
    if unsafe { (listing.module_get_function_count)(&raw mut length, module) } != 0 {
        return None;
    }
    let mut handles = vec![ptr::null_mut(); length as usize];
    // SAFETY: there is room for as many handles as the call is told.
    if unsafe { (listing.module_enumerate_functions)(handles.as_mut_ptr(), length, module) } != 0 {
        return None;
    }
    let name_of = |handle: CUfunction| {
        let mut text = ptr::null();
        // SAFETY: the handle is the driver's and the place is valid.
        if unsafe { (listing.function_get_name)(&raw mut text, handle) } != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the driver's names end with a NUL and live as long as the module.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    handles.into_iter().map(name_of).collect()
}

/// Reads the figures that the driver keeps for a kernel. They describe the code that is loaded, so
/// they count more than those of the log.
fn read_attributes(api: &Api, function: &mut FunctionUsage, handle: CUfunction) {
    use CUfunction_attribute as Attribute;
    let read = |attribute| {
        let mut value: c_int = 0;
        // SAFETY: the handle is the driver's and the place is valid.
        let code = unsafe { (api.function_get_attribute)(&raw mut value, attribute, handle) };
        u32::try_from(value).ok().filter(|_| code == 0)
    };
    let keep = |old: &mut Option<u32>, attribute| *old = read(attribute).or(*old);
    let keep_bytes = |old: &mut Option<u64>, attribute| *old = read(attribute).map(u64::from).or(*old);
    keep(&mut function.registers, Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS);
    keep(&mut function.max_threads, Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    keep_bytes(&mut function.shared_bytes, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    keep_bytes(&mut function.const_bytes, Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    keep_bytes(&mut function.local_bytes, Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
}
