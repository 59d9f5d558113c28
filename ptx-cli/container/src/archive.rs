//! Archives of objects and of PTX texts, and Debian's packages.

use object::read::archive::ArchiveFile;

use crate::{Bytes, Format, Found, elf, fatbin, text};

/// How the member of a Debian package begins that holds its files.
const DATA: &str = "data.tar.";

/// Looks into the members that are ELF files or fat binaries, and takes those that are PTX texts: GCC's libraries for NVIDIA's
/// devices are archives of these.
pub(crate) fn look(found: &mut Found, bytes: &Bytes, depth: usize) {
    let around = found.member.clone();
    members(found, bytes, depth);
    found.member = around;
}

fn members(found: &mut Found, bytes: &Bytes, depth: usize) {
    let data = bytes.get();
    let archive = match ArchiveFile::parse(data) {
        Ok(archive) if archive.is_thin() => {
            return found.problem("it is a thin archive, whose members are files of their own: name those");
        }
        Ok(archive) => archive,
        Err(error) => return found.problem(format!("the archive is broken: {error}")),
    };
    let around = found.member.clone();
    for member in archive.members() {
        let member = match member {
            Ok(member) => member,
            // Where the next one begins is not known any more.
            Err(error) => {
                found.member.clone_from(&around);
                return found.problem(format!("the archive is broken: {error}"));
            }
        };
        let (start, length) = member.file_range();
        let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else { continue };
        let end = start.saturating_add(length);
        let (part, is_cut_off) = (bytes.part(start..end), end > data.len());
        let name = String::from_utf8_lossy(member.name()).into_owned();
        found.member = if around.is_empty() { name.clone() } else { format!("{around}/{name}") };
        match Format::of(part.get()) {
            Some(Format::Elf) => elf::look(found, &part),
            Some(Format::Fatbin) => fatbin::look(found, &part),
            // Half a text has errors that the whole one does not.
            None if is_cut_off => found.problem("the archive is cut off"),
            None if text::is_ptx(part.get()) => found.text(&part),
            // What archives hold are objects, and the parts of Debian's packages.
            Some(Format::Gzip | Format::Bzip2 | Format::Xz | Format::Zstd | Format::Tar) if !is_cut_off => {
                found.look_at_member(&name, &part, depth);
            }
            None if name.starts_with(DATA) => {
                found.problem("it is compressed in a way that is not supported: unpack the package first");
            }
            Some(_) if is_cut_off => found.problem("the archive is cut off"),
            // Symbol tables, and what else has no PTX.
            _ => {}
        }
    }
}
