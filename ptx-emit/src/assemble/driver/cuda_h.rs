//! What the back end uses of `cuda.h`: handles, and the numbers of options and attributes. They are part of the driver's
//! binary interface, which NVIDIA only adds to.

use std::ffi::c_int;

/// What a handle points to. Only the driver looks inside.
#[derive(Debug)]
#[repr(C)]
pub struct Object<const KIND: char> {
    hidden: [u8; 0],
}

/// A GPU, by its number.
pub(super) type CUdevice = c_int;
/// A context of the driver, as `cuda.h` has it.
pub type CUcontext = *mut Object<'c'>;
/// A kernel of a loaded module, as `cuda.h` has it.
pub type CUfunction = *mut Object<'f'>;
/// A loaded module.
pub(super) type CUmodule = *mut Object<'m'>;

/// `CUjit_option`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(super) enum JitOption {
    MaxRegisters = 0,
    WallTime = 2,
    InfoLogBuffer = 3,
    InfoLogBufferSizeBytes = 4,
    ErrorLogBuffer = 5,
    ErrorLogBufferSizeBytes = 6,
    OptimizationLevel = 7,
    Target = 9,
    LogVerbose = 12,
    GenerateLineInfo = 13,
}

/// `CUfunction_attribute`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(super) enum FunctionAttribute {
    MaxThreadsPerBlock = 0,
    SharedSizeBytes = 1,
    ConstSizeBytes = 2,
    LocalSizeBytes = 3,
    NumRegs = 4,
}

/// `CUdevice_attribute`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(super) enum DeviceAttribute {
    ComputeCapabilityMajor = 75,
    ComputeCapabilityMinor = 76,
}
