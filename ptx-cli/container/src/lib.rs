//! PTX in what carries it: ELF files, fat binaries, cubins, archives, compressed files and the listings of `cuobjdump`.
//!
//! [`open`] looks at bytes and tells the modules in them; [`Module::text`] unpacks one. Nothing is read or written here.
//!
//! # Where PTX is
//! * **Fat binaries** (`nvcc -fatbin`): PTX and machine code for several targets, as they are or compressed with LZ4 or
//!   zstd.
//! * **ELF files** (objects, libraries, programs): fat binaries in the sections `.nv_fatbin` and `__nv_relfatbin`; where
//!   there is no such section, wherever a fat binary begins.
//! * **Cubins**: with `-lineinfo` the section `.nv_debug_ptx_txt` has the text that the machine code was made of, with a
//!   NUL for each end of a line. In a fat binary it counts where there is no PTX besides.
//! * **Archives** (`.a`), whose members are looked at in turn. Some are PTX texts themselves, as in GCC's libraries for
//!   NVIDIA's devices.
//! * **zip** and **tar** files: wheels, conda's packages, layers of images. Of their files those are taken that are one of
//!   these, and PTX texts.
//! * **gzip**, **bzip2**, **xz** and **zstd**, of PTX and of all these.
//! * **Listings**: what `cuobjdump -ptx` prints.
//!
//! # Invariants
//! * Any bytes give a value and never a panic. What is broken is a [`Problem`], and the other modules are still there.
//! * Nothing is unpacked to more than [`MAX_UNPACKED`] bytes, and memory is taken for what comes out, not for what a header
//!   promises. All files of packages are unpacked to [`MAX_PACKAGE`] bytes. Compressed files and packages in each other are
//!   opened [`MAX_DEPTH`] deep.
//! * The text of a module has no NUL at its end.

mod archive;
mod compressed;
mod elf;
mod fatbin;
mod listing;
mod package;
mod text;

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};
use std::ops::Range;
use std::sync::Arc;

/// One text, or one compressed file, is not unpacked to more bytes than these.
pub const MAX_UNPACKED: u64 = 256 << 20;

/// Machine code in fat binaries is unpacked, to look for the text that it was made of, up to so many bytes.
const MAX_UNPACKED_CUBINS: u64 = 1 << 30;

/// The files of packages that carry PTX are not unpacked to more bytes than these together.
pub const MAX_PACKAGE: u64 = 2 << 30;

/// How deep compressed files and packages are opened that are in each other.
pub const MAX_DEPTH: usize = 5;

/// What the names of modules end with.
const EXTENSION: &str = ".ptx";

/// What carries PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// An ELF file: an object, a library, a program or a cubin.
    Elf,
    /// A fat binary.
    Fatbin,
    /// An archive of objects or texts.
    Archive,
    /// A file compressed with gzip.
    Gzip,
    /// A file compressed with bzip2.
    Bzip2,
    /// A file compressed with xz.
    Xz,
    /// A file compressed with zstd.
    Zstd,
    /// A zip file.
    Zip,
    /// A tar file.
    Tar,
    /// What `cuobjdump` prints.
    Listing,
}

impl Format {
    /// The format that bytes begin like.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        const MAGIC: [(&[u8], Format); 9] = [
            (b"\x7fELF", Format::Elf),
            (&fatbin::MAGIC, Format::Fatbin),
            (b"!<arch>\n", Format::Archive),
            (b"!<thin>\n", Format::Archive),
            (b"\x1f\x8b", Format::Gzip),
            (b"\xfd7zXZ\0", Format::Xz),
            (b"\x28\xb5\x2f\xfd", Format::Zstd),
            (b"PK\x03\x04", Format::Zip),
            (b"PK\x05\x06", Format::Zip),
        ];
        if bytes.get(package::MARK_AT..).is_some_and(|rest| rest.starts_with(package::MARK)) {
            return Some(Self::Tar);
        }
        // A digit tells how large the blocks are, the first of which follows.
        if bytes.starts_with(b"BZh") && bytes.get(4..).is_some_and(|rest| rest.starts_with(b"1AY&SY")) {
            return Some(Self::Bzip2);
        }
        let known = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, format)| *format);
        known.or_else(|| listing::is_listing(bytes).then_some(Self::Listing))
    }
}

/// What it is, as it stands in "it is …".
impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elf => "an ELF file",
            Self::Fatbin => "a CUDA fat binary",
            Self::Archive => "an archive",
            Self::Gzip => "compressed with gzip",
            Self::Bzip2 => "compressed with bzip2",
            Self::Xz => "compressed with xz",
            Self::Zstd => "compressed with zstd",
            Self::Zip => "a zip file",
            Self::Tar => "a tar file",
            Self::Listing => "a listing of cuobjdump",
        })
    }
}

/// What is in a container.
#[derive(Clone, Debug)]
pub struct Contents {
    /// What the container is.
    pub format: Format,
    /// The modules, in the order of the file. Their names are distinct.
    pub modules: Vec<Module>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
    /// How many pieces of machine code there are.
    pub machine_code: usize,
}

/// A PTX text in a container.
#[derive(Clone, Debug)]
pub struct Module {
    /// A name made of letters, digits and `._+-`: the archive's member if there is one, the number and the target, as in
    /// `3.sm_90a.ptx`. What is in a compressed file has the file's name without the extension, and a member that is a text
    /// has its own. Where that is not the first of its name a number follows, as in `k.o.2`.
    pub name: String,
    /// Whether it is PTX whatever its name says. It is not known of the text in a compressed file.
    pub is_ptx: bool,
    /// The target that the container gives, such as `sm_90a`.
    pub target: Option<String>,
    packed: Packed,
    bytes: Bytes,
}

/// How the bytes of a module become its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packed {
    Plain,
    Lz4 {
        size: u64,
    },
    Zstd,
    /// Lines end with NUL.
    Lines,
}

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The member of the archive, or the module; empty where it is the container itself.
    pub member: String,
    /// A sentence without a capital letter and a period.
    pub message: String,
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member.as_str() {
            "" => f.write_str(&self.message),
            member => write!(f, "`{member}`: {}", self.message),
        }
    }
}

/// A part of a file in memory.
#[derive(Clone, Debug)]
struct Bytes {
    all: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::whole(Arc::new(bytes))
    }
}

impl Bytes {
    fn whole(all: Arc<Vec<u8>>) -> Self {
        let range = 0..all.len();
        Self { all, range }
    }

    fn get(&self) -> &[u8] {
        self.all.get(self.range.clone()).unwrap_or(&[])
    }

    /// A part of this part; what lies outside is left out.
    fn part(&self, range: Range<usize>) -> Self {
        let (start, end) =
            (self.range.start.saturating_add(range.start), self.range.start.saturating_add(range.end));
        let end = end.min(self.range.end);
        Self { all: Arc::clone(&self.all), range: start.min(end)..end }
    }
}

/// The modules of a container; `None` where the bytes are none. `name` is that of the file, by which what is in a compressed
/// file is called.
#[must_use]
pub fn open(name: &str, bytes: Arc<Vec<u8>>) -> Option<Contents> {
    let format = Format::of(&bytes)?;
    let mut found = Found::default();
    found.look(name, &Bytes::whole(bytes), MAX_DEPTH);
    Some(found.finish(format))
}

impl Module {
    /// The text.
    ///
    /// # Errors
    /// The compressed data are broken, or longer than [`MAX_UNPACKED`].
    pub fn text(&self) -> Result<Vec<u8>, Problem> {
        let problem = |message: String| Problem { member: self.name.clone(), message };
        let mut text = unpack(self.packed, self.bytes.get()).map_err(problem)?;
        let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        text.truncate(end);
        Ok(text)
    }
}

fn unpack(packed: Packed, bytes: &[u8]) -> Result<Vec<u8>, String> {
    match packed {
        Packed::Plain => Ok(bytes.to_vec()),
        Packed::Lz4 { size } => compressed::lz4(bytes, size),
        Packed::Zstd => compressed::zstd(bytes, MAX_UNPACKED),
        Packed::Lines => Ok(bytes.iter().map(|byte| if *byte == 0 { b'\n' } else { *byte }).collect()),
    }
}

/// What has been found so far.
#[derive(Default)]
struct Found {
    modules: Vec<Module>,
    /// The texts that cubins remember.
    remembered: Vec<Module>,
    /// Machine code in fat binaries, with the archive's member. It is unpacked only where there is no PTX.
    cubins: Vec<(String, Packed, Bytes)>,
    problems: Vec<Problem>,
    machine_code: usize,
    /// The member that is being looked at, of an archive or a package.
    member: String,
    /// How many bytes the files of packages have.
    in_packages: u64,
}

impl Found {
    fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(Problem { member: self.member.clone(), message: message.into() });
    }

    /// Looks into bytes of any format. Of recursion there is as much as `depth` allows.
    fn look(&mut self, name: &str, bytes: &Bytes, depth: usize) {
        match Format::of(bytes.get()) {
            Some(Format::Elf) => elf::look(self, bytes),
            Some(Format::Fatbin) => fatbin::look(self, bytes),
            Some(Format::Archive) => archive::look(self, bytes, depth),
            Some(Format::Listing) => listing::look(self, bytes),
            Some(_) if depth == 0 => self.problem("it is packed too many times"),
            Some(Format::Zip) => package::zip(self, bytes, depth),
            Some(Format::Tar) => package::tar(self, bytes, depth),
            Some(Format::Gzip) => self.unpacked(name, bytes, compressed::gzip, depth),
            Some(Format::Bzip2) => self.unpacked(name, bytes, compressed::bzip2, depth),
            Some(Format::Xz) => self.unpacked(name, bytes, compressed::xz, depth),
            Some(Format::Zstd) => self.unpacked(name, bytes, compressed::zstd, depth),
            None => {}
        }
    }

    fn unpacked(
        &mut self,
        name: &str,
        bytes: &Bytes,
        unpack: fn(&[u8], u64) -> Result<Vec<u8>, String>,
        depth: usize,
    ) {
        let name = stem(name);
        let max = MAX_UNPACKED.min(MAX_PACKAGE - self.in_packages);
        let unpacked = unpack(bytes.get(), max);
        // How much came out before an error is not known.
        self.in_packages += unpacked.as_ref().map_or(max, |bytes| bytes.len() as u64);
        match unpacked {
            Ok(bytes) if Format::of(&bytes).is_some() => {
                self.look(name, &Bytes::whole(Arc::new(bytes)), depth - 1);
            }
            // In packages is much that is no PTX.
            Ok(bytes) if !self.member.is_empty() && !text::is_ptx(&bytes) => {}
            Ok(bytes) => {
                let bytes = Bytes::from(bytes);
                let name = safe(name);
                self.modules.push(Module { name, is_ptx: false, target: None, packed: Packed::Plain, bytes });
            }
            Err(message) => self.problem(message),
        }
    }

    fn module(&mut self, target: Option<String>, packed: Packed, bytes: Bytes) {
        self.modules.push(Module { name: self.member.clone(), is_ptx: true, target, packed, bytes });
    }

    /// Takes the archive's member, which is a text.
    fn text(&mut self, bytes: &Bytes) {
        let (name, bytes) = (safe(&self.member), bytes.clone());
        self.modules.push(Module { name, is_ptx: true, target: None, packed: Packed::Plain, bytes });
    }

    fn remembered(&mut self, target: Option<String>, bytes: Bytes) {
        let (name, packed) = (self.member.clone(), Packed::Lines);
        self.remembered.push(Module { name, is_ptx: true, target, packed, bytes });
    }

    /// Looks for the texts that the machine code in fat binaries remembers.
    fn look_into_cubins(&mut self) {
        let mut left = MAX_UNPACKED_CUBINS;
        for (member, packed, bytes) in std::mem::take(&mut self.cubins) {
            self.member = member;
            self.machine_code += 1;
            let unpacked = match packed {
                Packed::Plain | Packed::Lines => bytes,
                Packed::Lz4 { .. } | Packed::Zstd if left == 0 => continue,
                Packed::Lz4 { .. } | Packed::Zstd => match unpack(packed, bytes.get()) {
                    Ok(unpacked) => Bytes::whole(Arc::new(unpacked)),
                    Err(message) => {
                        self.problem(message);
                        continue;
                    }
                },
            };
            left = left.saturating_sub(unpacked.get().len() as u64);
            elf::look_into_cubin(self, &unpacked);
        }
    }

    fn finish(mut self, format: Format) -> Contents {
        if self.modules.is_empty() {
            self.look_into_cubins();
        }
        let Self { mut modules, remembered, cubins, problems, machine_code, .. } = self;
        let machine_code = machine_code + cubins.len();
        if modules.is_empty() {
            modules = remembered;
        }
        for (number, module) in (1..).zip(&mut modules) {
            // What is in a compressed file has a name of its own, and so has a member that is a text.
            if module.target.is_some() || module.packed != Packed::Plain || module.name.is_empty() {
                module.name = numbered(&module.name, number, module.target.as_deref());
            }
        }
        tell_apart(&mut modules);
        Contents { format, modules, problems, machine_code }
    }
}

/// Puts a number into the names of modules that others have before them, be it in letters of another case: some file systems
/// keep them apart no better.
fn tell_apart(modules: &mut [Module]) {
    let mut taken: HashSet<String> = HashSet::new();
    // The last number that each name got, so that a thousand members of one name are not tried a thousand times each.
    let mut last: HashMap<String, usize> = HashMap::new();
    for module in modules {
        if taken.contains(&module.name.to_ascii_lowercase()) {
            let number = last.entry(module.name.to_ascii_lowercase()).or_insert(1);
            let (stem, extension) = match module.name.strip_suffix(EXTENSION) {
                Some(stem) => (stem, EXTENSION),
                None => (module.name.as_str(), ""),
            };
            module.name = loop {
                *number += 1;
                let name = format!("{stem}.{number}{extension}");
                if !taken.contains(&name.to_ascii_lowercase()) {
                    break name;
                }
            };
        }
        taken.insert(module.name.to_ascii_lowercase());
    }
}

fn numbered(member: &str, number: usize, target: Option<&str>) -> String {
    let parts =
        [Some(safe(member)).filter(|name| !name.is_empty()), Some(number.to_string()), target.map(safe)];
    let mut name = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
    name.push_str(EXTENSION);
    name
}

/// A file's name without folders and the extension of the compression.
fn stem(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    [".gz", ".bz2", ".xz", ".zst", ".zstd"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .unwrap_or(name)
}

/// A name of letters, digits and `._+-` that begins with none of the marks, at most a hundred bytes of it.
fn safe(name: &str) -> String {
    let is_plain = |each: char| each.is_ascii_alphanumeric() || "._+-".contains(each);
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name).trim_start_matches(['.', '-', '+']);
    let mark = if is_device(name) { "_" } else { "" };
    let rest = name.chars().take(100).map(|each| if is_plain(each) { each } else { '_' });
    mark.chars().chain(rest).collect()
}

/// Whether Windows takes a name for a device, with an extension or without.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let number = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || number.is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        assert_eq!(safe("../../etc/passwd"), "passwd");
        assert_eq!(safe("..\\a b\n.o"), "a_b_.o");
        assert_eq!(safe("-rf"), "rf");
        assert_eq!(["nul", "Com1.ptx", "console.ptx"].map(safe), ["_nul", "_Com1.ptx", "console.ptx"]);
        assert_eq!(numbered("k.o", 3, Some("sm_90a")), "k.o.3.sm_90a.ptx");
        assert_eq!(stem("a/k.ptx.gz"), "k.ptx");
    }

    #[test]
    fn text_is_no_container() {
        for text in ["", ".version 9.0\n", "// Fatbin ptx code:\n.version 9.0\n"] {
            assert!(open("k.ptx", Arc::new(text.into())).is_none(), "{text}");
        }
    }
}
