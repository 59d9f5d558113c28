//! ELF files: those of the host with fat binaries in them, and those of the device, which are cubins.

use memchr::memmem;
use object::read::File;
use object::{Object, ObjectSection};

use crate::{Bytes, Found, fatbin};

/// Sections of the host's files that hold fat binaries.
const SECTIONS: [&str; 2] = [".nv_fatbin", "__nv_relfatbin"];

/// The section of a cubin with the text that it was made of.
const TEXT: &str = ".nv_debug_ptx_txt";

/// The machine of a cubin in the ELF header.
const CUDA: u16 = 190;

/// Looks into an ELF file.
pub(crate) fn look(found: &mut Found, bytes: &Bytes) {
    let data = bytes.get();
    if is_cubin(data) {
        found.machine_code += 1;
        if let Err(message) = sections(found, bytes, &[TEXT]) {
            found.problem(message);
        }
        return;
    }
    match sections(found, bytes, &SECTIONS) {
        Ok(0) => anywhere(found, bytes),
        Ok(_) => {}
        Err(message) => {
            found.problem(message);
            // Whatever the tables of the file say, a fat binary is complete in itself.
            anywhere(found, bytes);
        }
    }
}

/// Looks for the text in a cubin; what is none, and what is broken, has none.
pub(crate) fn look_into_cubin(found: &mut Found, bytes: &Bytes) {
    if is_cubin(bytes.get()) {
        // What the cubin is for does not depend on its text.
        let _ = sections(found, bytes, &[TEXT]);
    }
}

/// Looks into the sections of these names and tells how many there are.
fn sections(found: &mut Found, bytes: &Bytes, names: &[&str]) -> Result<usize, String> {
    let data = bytes.get();
    let file = File::parse(data).map_err(|error| format!("the ELF file is broken: {error}"))?;
    let (mut count, mut cut_off) = (0, false);
    for section in file.sections() {
        let Some(name) = section.name().ok().filter(|name| names.contains(name)) else { continue };
        let Some((start, length)) = section.file_range() else { continue };
        let end = start.saturating_add(length);
        cut_off |= end > data.len() as u64;
        let part = bytes.part(clamped(start, data)..clamped(end, data));
        count += 1;
        if name == TEXT {
            found.remembered(target_of(part.get()), part);
        } else {
            fatbin::look(found, &part);
        }
    }
    if cut_off {
        found.problem("the ELF file is cut off");
    }
    Ok(count)
}

fn clamped(offset: u64, data: &[u8]) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX).min(data.len())
}

/// Whether the header of an ELF file names NVIDIA's devices.
fn is_cubin(data: &[u8]) -> bool {
    data.starts_with(b"\x7fELF") && data.get(18..20).is_some_and(|machine| machine == CUDA.to_le_bytes())
}

/// Looks for fat binaries in a file without a section for them: programs embed them as data, too.
fn anywhere(found: &mut Found, bytes: &Bytes) {
    if let Some(first) = memmem::find(bytes.get(), &fatbin::BEGIN) {
        fatbin::look(found, &bytes.part(first..bytes.get().len()));
    }
}

/// The target that the text of a cubin names; its lines end with NUL.
fn target_of(text: &[u8]) -> Option<String> {
    let after = memmem::find(text, b".target")? + b".target".len();
    let rest = text.get(after..)?.trim_ascii_start();
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    let name = std::str::from_utf8(rest.get(..end)?).ok()?;
    name.starts_with("sm_").then(|| name.to_owned())
}
