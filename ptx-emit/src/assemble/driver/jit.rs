//! One call of the driver's just-in-time compiler: options in, logs out.

use std::ffi::c_void;
use std::ptr;
use std::time::Instant;

use cust::sys::{CUjit_option, CUmodule};

use super::api::Api;
use crate::assemble::Options;
use crate::assemble::target::{Feature, Gpu};

/// Room for each of the two logs. A kernel takes about 400 bytes of the information log; what does
/// not fit is cut off by the driver.
const LOG_BYTES: usize = 8 << 20;
/// Added to the number of an `a` target, as in 0x10000 + 90 for `sm_90a`.
const ARCHITECTURE_TARGET: usize = 0x1_0000;
/// Added to the number of an `f` target.
const FAMILY_TARGET: usize = 0x2_0000;

/// What one compilation gave.
pub(super) struct Outcome {
    /// The loaded module; null where the driver refused.
    pub module: CUmodule,
    /// The driver's code: 0, or why it refused.
    pub code: u32,
    /// Both logs, the errors first.
    pub log: String,
    pub seconds: f64,
}

/// Options as the driver takes them: two lists of the same length, where the second holds values
/// passed as pointers. The driver overwrites the values of options that are outputs.
#[derive(Default)]
struct OptionList {
    keys: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
}

impl OptionList {
    /// Adds an option and returns its place, for outputs.
    fn push(&mut self, key: CUjit_option, value: usize) -> usize {
        self.push_pointer(key, ptr::without_provenance_mut(value))
    }

    fn push_pointer(&mut self, key: CUjit_option, value: *mut c_void) -> usize {
        self.keys.push(key);
        self.values.push(value);
        self.values.len() - 1
    }
}

/// Compiles `text` and loads it into the current context.
pub(super) fn compile(api: &Api, text: &[u8], target: Option<Gpu>, options: &Options) -> Outcome {
    use CUjit_option as Key;
    // The driver finds the end of the text by its NUL; the caller has seen to it that there is no
    // other one.
    let mut image = Vec::with_capacity(text.len() + 1);
    image.extend_from_slice(text);
    image.push(0);
    let mut info = vec![0_u8; LOG_BYTES];
    let mut errors = vec![0_u8; LOG_BYTES];
    let mut list = OptionList::default();
    let wall_time = list.push(Key::CU_JIT_WALL_TIME, 0);
    list.push_pointer(Key::CU_JIT_INFO_LOG_BUFFER, info.as_mut_ptr().cast());
    list.push(Key::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_BYTES);
    list.push_pointer(Key::CU_JIT_ERROR_LOG_BUFFER, errors.as_mut_ptr().cast());
    list.push(Key::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES);
    list.push(Key::CU_JIT_LOG_VERBOSE, 1);
    if let Some(target) = target {
        list.push(Key::CU_JIT_TARGET, target_number(target));
    }
    if let Some(limit) = options.max_registers {
        list.push(Key::CU_JIT_MAX_REGISTERS, limit as usize);
    }
    if let Some(level) = options.optimization {
        list.push(Key::CU_JIT_OPTIMIZATION_LEVEL, usize::from(level));
    }
    if options.line_info {
        list.push(Key::CU_JIT_GENERATE_LINE_INFO, 1);
    }
    let start = Instant::now();
    let mut module = ptr::null_mut();
    // SAFETY: the image is text that ends with a NUL; the lists have the length given; the buffers
    // have the sizes given and outlive the call, after which the driver keeps none of them.
    let code = unsafe {
        (api.module_load_data_ex)(
            &raw mut module,
            image.as_ptr().cast(),
            list.keys.len() as u32,
            list.keys.as_mut_ptr(),
            list.values.as_mut_ptr(),
        )
    };
    let elapsed = start.elapsed().as_secs_f64();
    let told = wall_time_seconds(list.values[wall_time]);
    Outcome {
        module: if code == 0 { module } else { ptr::null_mut() },
        code,
        log: until_nul(&errors) + "\n" + &until_nul(&info),
        seconds: if told > 0.0 { told } else { elapsed },
    }
}

/// The number that the driver knows a target by.
const fn target_number(target: Gpu) -> usize {
    let base = match target.feature {
        Feature::Portable => 0,
        Feature::Architecture => ARCHITECTURE_TARGET,
        Feature::Family => FAMILY_TARGET,
    };
    base + target.number as usize
}

/// The wall time in the low four bytes of its slot: milliseconds as `f32`.
fn wall_time_seconds(slot: *mut c_void) -> f64 {
    let milliseconds = f64::from(f32::from_bits(slot.addr() as u32));
    // Anything else would be a driver that did not write it.
    if milliseconds.is_finite() && milliseconds >= 0.0 { milliseconds / 1000.0 } else { 0.0 }
}

/// The text of a buffer up to its first NUL.
fn until_nul(buffer: &[u8]) -> String {
    let text = buffer.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_the_numbers_of_cuda_h() {
        let number = |text| Gpu::parse(text).map(target_number);
        assert_eq!(number("sm_90"), Some(90));
        assert_eq!(number("sm_90a"), Some(65626));
        assert_eq!(number("sm_100f"), Some(131_172));
    }

    #[test]
    fn wall_time_is_a_float_in_a_slot() {
        let slot = |bits: u32| ptr::without_provenance_mut::<c_void>(bits as usize);
        assert!((wall_time_seconds(slot(10.5_f32.to_bits())) - 0.0105).abs() < 1e-9);
        assert_eq!(wall_time_seconds(slot(f32::NAN.to_bits())), 0.0);
        assert_eq!(wall_time_seconds(slot((-1.0_f32).to_bits())), 0.0);
    }

    #[test]
    fn logs_end_at_their_nul() {
        assert_eq!(until_nul(b"ab\0cd"), "ab");
        assert_eq!(until_nul(b"\xff\0"), "\u{fffd}");
        assert_eq!(until_nul(b""), "");
    }
}
