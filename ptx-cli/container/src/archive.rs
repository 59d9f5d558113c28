//! Archives of objects and of PTX texts.

use object::read::archive::ArchiveFile;

use crate::{Bytes, Format, Found, elf, fatbin, text};

/// Looks into the members that are ELF files or fat binaries, and takes those that are PTX texts: GCC's libraries for NVIDIA's
/// devices are archives of these.
pub(crate) fn look(found: &mut Found, bytes: &Bytes) {
    let data = bytes.get();
    let archive = match ArchiveFile::parse(data) {
        Ok(archive) if archive.is_thin() => {
            return found.problem("it is a thin archive, whose members are files of their own: name those");
        }
        Ok(archive) => archive,
        Err(error) => return found.problem(format!("the archive is broken: {error}")),
    };
    for member in archive.members() {
        let member = match member {
            Ok(member) => member,
            // Where the next one begins is not known any more.
            Err(error) => {
                found.member.clear();
                return found.problem(format!("the archive is broken: {error}"));
            }
        };
        let (start, length) = member.file_range();
        let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else { continue };
        let end = start.saturating_add(length);
        let (part, is_cut_off) = (bytes.part(start..end), end > data.len());
        found.member = String::from_utf8_lossy(member.name()).into_owned();
        match Format::of(part.get()) {
            Some(Format::Elf) => elf::look(found, &part),
            Some(Format::Fatbin) => fatbin::look(found, &part),
            // Half a text has errors that the whole one does not.
            None if is_cut_off => found.problem("the archive is cut off"),
            None if text::is_ptx(part.get()) => found.text(&part),
            // Symbol tables, and what else has no PTX.
            _ => {}
        }
    }
    found.member.clear();
}
