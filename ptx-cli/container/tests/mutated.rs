//! Containers made here, whole and broken in all places.

use std::io::Write;
use std::sync::Arc;

use arbtest::arbitrary::{Result, Unstructured};
use ptx_container::{Format, MAX_DEPTH, MAX_UNPACKED, open};

const TEXT: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n";
const OTHER: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.global .b32 x;\n";

/// An entry of a fat binary.
fn entry(kind: u16, number: u32, flags: u64, payload: &[u8], unpacked: u64) -> Vec<u8> {
    let padded = payload.len().next_multiple_of(8);
    let compressed = if flags & 0xa000 == 0 { 0 } else { payload.len() as u32 };
    let mut bytes = [kind.to_le_bytes(), 0x0101_u16.to_le_bytes()].concat();
    bytes.extend(64_u32.to_le_bytes());
    bytes.extend((padded as u64).to_le_bytes());
    bytes.extend(compressed.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(number.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(flags.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(unpacked.to_le_bytes());
    bytes.extend(payload);
    bytes.resize(64 + padded, 0);
    bytes
}

fn fatbin(entries: &[Vec<u8>]) -> Vec<u8> {
    let entries = entries.concat();
    let mut bytes = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries);
    bytes
}

fn lz4(text: &str) -> Vec<u8> {
    lz4_flex::block::compress(text.as_bytes())
}

fn zstd(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What `xz -0` makes of a tar file with the text [`PACKED`] as `d/k.ptx`.
const XZ: [u8; 228] = [
    253, 55, 122, 88, 90, 0, 0, 4, 230, 214, 180, 70, 2, 0, 33, 1, 12, 0, 0, 0, 143, 152, 65, 156, 224, 39,
    255, 0, 163, 93, 0, 50, 11, 201, 99, 13, 199, 44, 24, 103, 250, 85, 195, 122, 140, 42, 166, 123, 91, 39,
    182, 24, 22, 196, 164, 97, 176, 233, 59, 172, 32, 168, 155, 139, 95, 88, 230, 183, 168, 121, 0, 103, 210,
    162, 207, 198, 103, 110, 153, 24, 72, 117, 248, 217, 75, 115, 249, 138, 90, 181, 203, 79, 0, 56, 159, 76,
    214, 188, 101, 226, 9, 204, 162, 248, 201, 188, 97, 85, 242, 100, 58, 61, 123, 2, 135, 132, 12, 26, 24,
    233, 75, 173, 224, 200, 27, 132, 65, 49, 4, 125, 50, 70, 114, 34, 185, 90, 95, 14, 145, 70, 191, 62, 192,
    165, 199, 125, 207, 174, 43, 148, 64, 252, 196, 39, 95, 161, 248, 41, 56, 191, 135, 69, 37, 218, 6, 108,
    225, 49, 11, 76, 227, 24, 120, 113, 149, 180, 90, 26, 139, 47, 100, 138, 212, 199, 120, 164, 124, 90,
    192, 156, 159, 92, 230, 192, 0, 0, 26, 42, 157, 145, 98, 75, 48, 226, 0, 1, 191, 1, 128, 80, 0, 0, 70,
    196, 76, 148, 177, 196, 103, 251, 2, 0, 0, 0, 0, 4, 89, 90,
];
const PACKED: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n";

fn sample() -> Vec<u8> {
    fatbin(&[
        entry(1, 90, 0x10_0000, format!("{TEXT}\0").as_bytes(), 0),
        entry(1, 80, 0x2000, &lz4(OTHER), OTHER.len() as u64),
        entry(1, 80, 0x8000, &zstd(OTHER), OTHER.len() as u64),
        entry(2, 80, 0, b"\x7fELF machine code", 0),
    ])
}

/// An ELF file of 64 bits with one section.
fn elf(machine: u16, name: &str, data: &[u8]) -> Vec<u8> {
    let names = format!("\0{name}\0.shstrtab\0");
    let (data_at, names_at) = (64, 64 + data.len());
    let table = (names_at + names.len()).next_multiple_of(8);
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend([1_u16.to_le_bytes(), machine.to_le_bytes()].concat());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([0; 16]);
    bytes.extend((table as u64).to_le_bytes());
    bytes.extend([0; 4]);
    for half in [64_u16, 0, 0, 64, 3, 2] {
        bytes.extend(half.to_le_bytes());
    }
    bytes.extend(data);
    bytes.extend(names.as_bytes());
    bytes.resize(table, 0);
    let mut section = |name: u32, kind: u32, at: usize, length: usize| {
        bytes.extend([name.to_le_bytes(), kind.to_le_bytes()].concat());
        for word in [0, 0, at as u64, length as u64, 0, 1, 0] {
            bytes.extend(word.to_le_bytes());
        }
    };
    section(0, 0, 0, 0);
    section(1, 1, data_at, data.len());
    section(name.len() as u32 + 2, 3, names_at, names.len());
    bytes
}

fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let named: Vec<_> = members.iter().map(|(name, data)| (format!("{name}/"), data.clone())).collect();
    archive_of(&named)
}

/// An archive whose headers have these names as they are.
fn archive_of(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, data) in members {
        bytes.extend(format!("{name:16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, data.len()).bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
    }
    bytes
}

/// An archive of texts with the names that GNU and BSD give to long ones, and with members that are none.
fn texts() -> Vec<u8> {
    let member = |name: &str, data: &str| (name.to_owned(), data.as_bytes().to_vec());
    archive_of(&[
        member("//", "a-name-of-twenty-five.o/\n"),
        member("bar.o/", &format!("// BEGIN PREAMBLE\n{TEXT}\0")),
        member("read.me/", ".version \"01.01\"\n"),
        member("/0", OTHER),
        member("#1/20", &format!("also-a-long-name.o\0\0{OTHER}")),
        member("bar.o/", OTHER),
        member("k.cu/", OTHER),
        member("k.ptx/", OTHER),
        member("k.ptx/", OTHER),
        member("../bar.o", OTHER),
        member("bar.o.2/", OTHER),
    ])
}

/// A zip file, whose members are compressed if they are long.
fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        let (method, packed) = match data.len() {
            0..100 => (0_u16, data.to_vec()),
            _ => (8, encoder.finish().unwrap()),
        };
        let mut checksum = flate2::Crc::new();
        checksum.update(data);
        let at = bytes.len() as u32;
        let mut common = [20_u16, 0, method, 0, 0].map(u16::to_le_bytes).concat();
        let sizes = [checksum.sum(), packed.len() as u32, data.len() as u32];
        common.extend(sizes.map(u32::to_le_bytes).concat());
        common.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        bytes.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &packed].concat());
        directory.extend(
            [b"PK\x01\x02\x14\0", &common[..], &[0; 10], &at.to_le_bytes(), name.as_bytes()].concat(),
        );
    }
    let (at, count) = (bytes.len() as u32, members.len() as u16);
    bytes.extend(&directory);
    bytes.extend([b"PK\x05\x06\0\0\0\0", &[count, count].map(u16::to_le_bytes).concat()[..]].concat());
    bytes.extend([directory.len() as u32, at].map(u32::to_le_bytes).concat());
    bytes.extend([0; 2]);
    bytes
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, data) in members {
        let mut header =
            format!("{name:\0<100}0000644\0{:\0<16}{:011o}\0{:\0<20}0", "", data.len(), "").into_bytes();
        header.resize(257, 0);
        header.extend(b"ustar\x0000");
        header.resize(512, 0);
        bytes.extend([&header[..], data].concat());
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// The names and texts in a container.
fn modules(bytes: Vec<u8>) -> Vec<(String, String)> {
    let contents = open("lib/k.ptx.gz", Arc::new(bytes)).unwrap();
    assert_eq!(contents.problems, []);
    let text = |module: &ptx_container::Module| String::from_utf8(module.text().unwrap()).unwrap();
    contents.modules.iter().map(|module| (module.name.clone(), text(module))).collect()
}

fn expected(names: [&str; 3]) -> Vec<(String, String)> {
    names.iter().zip([TEXT, OTHER, OTHER]).map(|(name, text)| ((*name).to_owned(), text.to_owned())).collect()
}

#[test]
fn modules_are_found_in_all_formats() {
    let plain = expected(["1.sm_90a.ptx", "2.sm_80.ptx", "3.sm_80.ptx"]);
    assert_eq!(modules(sample()), plain);
    assert_eq!(modules(elf(62, ".nv_fatbin", &sample())), plain);
    // As data of a program.
    assert_eq!(modules(elf(62, ".rodata", &[b"abc", &sample()[..]].concat())), plain);
    assert_eq!(modules(gzip(&sample())), plain);
    assert_eq!(modules(gzip(&gzip(&sample()))), plain);
    let of_archive =
        modules(archive(&[("k.o", elf(62, "__nv_relfatbin", &sample())), ("read.me", b"x".to_vec())]));
    assert_eq!(of_archive, expected(["k.o.1.sm_90a.ptx", "k.o.2.sm_80.ptx", "k.o.3.sm_80.ptx"]));
    assert_eq!(modules(gzip(TEXT.as_bytes())), [("k.ptx".to_owned(), TEXT.to_owned())]);
    assert_eq!(modules(zstd(TEXT)).len(), 1);
    assert_eq!(modules(bzip2(TEXT.as_bytes())), [("k.ptx".to_owned(), TEXT.to_owned())]);
    assert_eq!(modules(XZ.to_vec()), [("k.ptx".to_owned(), PACKED.to_owned())]);
}

#[test]
fn files_of_packages_are_looked_into() {
    let library = elf(62, ".nv_fatbin", &sample());
    let files = [("a/b.py", &b"x = 1"[..]), ("a/libk.so", &library), ("data.json.gz", &gzip(b"{}"))];
    let names = ["libk.so.1.sm_90a.ptx", "libk.so.2.sm_80.ptx", "libk.so.3.sm_80.ptx"];
    let all = expected(names);
    assert_eq!(modules(zip(&files)), all);
    assert_eq!(modules(tar(&files)), all);
    assert_eq!(modules(gzip(&tar(&files))), all);
    assert_eq!(modules(bzip2(&tar(&files))), all);
    assert_eq!(modules(archive(&[("data.tar.xz", XZ.to_vec())]))[0].1, PACKED);
    let outside = tar(&[("../../a.ptx", TEXT.as_bytes()), ("/b\n\x1b[31m.ptx", OTHER.as_bytes())]);
    assert_eq!(
        modules(outside),
        [("a.ptx".to_owned(), TEXT.to_owned()), ("b___31m.ptx".to_owned(), OTHER.to_owned())]
    );
    // A package of conda, one of Debian, and a layer of an image with a wheel in it.
    let packed =
        ruzstd::encoding::compress_to_vec(&tar(&files)[..], ruzstd::encoding::CompressionLevel::Fastest);
    assert_eq!(modules(zip(&[("metadata.json", b"{}"), ("pkg-k.tar.zst", &packed)])), all);
    assert_eq!(
        modules(archive(&[("debian-binary", b"2.0\n".to_vec()), ("data.tar.zst", packed.clone())])),
        all
    );
    assert_eq!(modules(tar(&[("layer.tar.gz", &gzip(&tar(&[("k.whl", &zip(&files))])))])), all);
    let texts = tar(&[("k/a.ptx", TEXT.as_bytes()), ("k.tar", &tar(&[("b/a.ptx", OTHER.as_bytes())]))]);
    let found = [("a.ptx".to_owned(), TEXT.to_owned()), ("a.2.ptx".to_owned(), OTHER.to_owned())];
    assert_eq!(modules(texts), found);
}

#[test]
fn what_a_package_cannot_give_is_told() {
    let told = |bytes: Vec<u8>| {
        let contents = open("k.whl", Arc::new(bytes)).unwrap();
        let problems: Vec<String> = contents.problems.iter().map(ToString::to_string).collect();
        (contents.modules.len(), problems.join("; "))
    };
    let library = elf(62, ".nv_fatbin", &sample());
    let whole = zip(&[("a.so", &library), ("b.ptx", TEXT.as_bytes())]);
    assert_eq!(told(whole.clone()), (4, String::new()));
    assert_eq!(told(whole[..whole.len() - 30].to_vec()), (0, "the zip file is broken or cut off".to_owned()));
    let at = whole.windows(5).position(|bytes| bytes == b".targ").unwrap();
    let mut changed = whole.clone();
    changed[at] = b'x';
    assert_eq!(told(changed), (3, "`b.ptx`: its data are broken or cut off".to_owned()));
    let mut encrypted = whole.clone();
    let entry = whole.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    encrypted[entry + 8] = 1;
    let sentence = "1 file in it is encrypted, or compressed in a way that is not supported";
    assert_eq!(told(encrypted), (1, sentence.to_owned()));
    let layer = tar(&[("a.ptx", TEXT.as_bytes()), ("b.ptx", OTHER.as_bytes())]);
    assert_eq!(told(layer[..1580].to_vec()), (1, "the tar file is cut off".to_owned()));
    let debian =
        |data: &[u8]| archive(&[("debian-binary", b"2.0\n".to_vec()), ("data.tar.lzma", data.to_vec())]);
    let cut_off = debian(&XZ);
    assert_eq!(told(cut_off[..200].to_vec()), (0, "`data.tar.lzma`: the archive is cut off".to_owned()));
    assert_eq!(
        told(debian(&XZ[..200])),
        (0, "`data.tar.lzma`: its xz data are broken or cut off".to_owned())
    );
    let debian = debian(b"]\0\0\x80\0");
    let sentence =
        "`data.tar.lzma`: it is compressed in a way that is not supported: unpack the package first";
    assert_eq!(told(debian), (0, sentence.to_owned()));
}

#[test]
fn members_that_are_texts_have_their_names() {
    let commented = format!("// BEGIN PREAMBLE\n{TEXT}");
    let expected = [
        ("bar.o", commented.as_str()),
        ("a-name-of-twenty-five.o", OTHER),
        ("also-a-long-name.o", OTHER),
        ("bar.o.2", OTHER),
        ("k.cu", OTHER),
        ("k.ptx", OTHER),
        ("k.2.ptx", OTHER),
        // The first part of the name is a folder's.
        ("8.ptx", OTHER),
        ("bar.o.2.2", OTHER),
    ];
    let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(modules(texts()), expected);
    assert_eq!(modules(gzip(&texts())), expected);
    assert!(open("k.a", Arc::new(texts())).unwrap().modules.iter().all(|module| module.is_ptx));
    assert!(!open("k.gz", Arc::new(gzip(TEXT.as_bytes()))).unwrap().modules[0].is_ptx);
}

#[test]
fn names_differ_in_more_than_the_case_of_letters() {
    let two = archive(&[("k.ptx", TEXT.into()), ("K.ptx", OTHER.into())]);
    let names: Vec<String> = modules(two).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["k.ptx", "K.2.ptx"]);
}

#[test]
fn a_damaged_archive_keeps_its_first_texts() {
    let told = |bytes: Vec<u8>| {
        let contents = open("k.a", Arc::new(bytes)).unwrap();
        let problems: Vec<String> = contents.problems.iter().map(ToString::to_string).collect();
        (contents.modules.len(), problems.join("; "))
    };
    let two = archive(&[("a.o", TEXT.into()), ("b.o", OTHER.into())]);
    assert_eq!(told(two[..two.len() - 9].to_vec()), (1, "`b.o`: the archive is cut off".to_owned()));
    let (count, problem) = told(two[..two.len() - OTHER.len() - 9].to_vec());
    assert!(count == 1 && problem.starts_with("the archive is broken: "), "{count}: {problem}");
    // A name that is in no table.
    let nowhere = archive_of(&[("a.o/".to_owned(), TEXT.into()), ("/99".to_owned(), TEXT.into())]);
    let (count, problem) = told(nowhere);
    assert!(count == 1 && problem.starts_with("the archive is broken: "), "{count}: {problem}");
    let (count, problem) = told([b"!<thin>\n", &two[8..]].concat());
    assert!(count == 0 && problem.starts_with("it is a thin archive"), "{count}: {problem}");
    let several: Vec<_> = (0..2000).map(|_| ("a.o", TEXT.as_bytes().to_vec())).collect();
    assert_eq!(modules(archive(&several)).last().unwrap().0, "a.o.2000");
}

#[test]
fn the_text_of_machine_code_counts_where_there_is_no_other() {
    let cubin = elf(190, ".nv_debug_ptx_txt", TEXT.replace('\n', "\0").as_bytes());
    let text = [("1.sm_90a.ptx".to_owned(), TEXT.to_owned())];
    assert_eq!(modules(cubin.clone()), text);
    assert_eq!(modules(fatbin(&[entry(2, 90, 0, &cubin, 0)])), text);
    let packed = lz4_flex::block::compress(&cubin);
    assert_eq!(modules(fatbin(&[entry(2, 90, 0x2000, &packed, cubin.len() as u64)])), text);
    let both = fatbin(&[entry(2, 90, 0, &cubin, 0), entry(1, 80, 0, OTHER.as_bytes(), 0)]);
    assert_eq!(modules(both), [("1.sm_80.ptx".to_owned(), OTHER.to_owned())]);
}

#[test]
fn what_is_broken_is_told_and_the_others_are_there() {
    let broken = fatbin(&[entry(1, 90, 0x2000, b"\xff\xff", 9), entry(1, 80, 0, OTHER.as_bytes(), 0)]);
    let contents = open("x", Arc::new(broken)).unwrap();
    assert!(contents.modules[0].text().unwrap_err().to_string().contains("LZ4"));
    assert_eq!(contents.modules[1].text().unwrap(), OTHER.as_bytes());
    let cut_off = open("x", Arc::new(sample()[..200].to_vec())).unwrap();
    assert_eq!(cut_off.modules.len(), 1);
    assert!(cut_off.problems[0].message.contains("cut off"), "{:?}", cut_off.problems);
    let deep = (0..=MAX_DEPTH).fold(TEXT.as_bytes().to_vec(), |bytes, _| gzip(&bytes));
    assert!(open("x", Arc::new(deep)).unwrap().problems[0].message.contains("too many times"));
    let promised = fatbin(&[entry(1, 90, 0x2000, b"\x10a", MAX_UNPACKED)]);
    assert!(open("x", Arc::new(promised)).unwrap().modules[0].text().is_err());
}

#[test]
fn no_mutation_makes_it_panic() {
    let cubin = elf(190, ".nv_debug_ptx_txt", TEXT.replace('\n', "\0").as_bytes());
    let listing = format!("\nFatbin ptx code:\n================\narch = sm_80\n{TEXT}\n");
    let samples = [
        sample(),
        elf(62, ".nv_fatbin", &sample()),
        archive(&[("a.o", elf(62, ".nv_fatbin", &sample())), ("b.o", cubin.clone())]),
        cubin,
        texts(),
        gzip(&sample()),
        bzip2(&sample()),
        XZ.to_vec(),
        zstd(TEXT),
        zip(&[("k.so", &elf(62, ".nv_fatbin", &sample())), ("a.ptx", TEXT.as_bytes())]),
        tar(&[("k.so", &sample()), ("a.ptx.gz", &gzip(TEXT.as_bytes()))]),
        listing.into_bytes(),
    ];
    let mutate = |from: &mut Unstructured<'_>| -> Result<()> {
        let mut bytes = from.choose(&samples)?.clone();
        for _ in 0..from.int_in_range(1..=6)? {
            let at = from.choose_index(bytes.len().max(1))?;
            match from.int_in_range(0..=3)? {
                0 => bytes.truncate(at.max(4)),
                1 => bytes
                    .splice(at.min(bytes.len())..at.min(bytes.len()), from.arbitrary::<[u8; 3]>()?)
                    .for_each(drop),
                _ => {
                    let value = *from.choose(&[0, 1, 0x7f, 0x80, 0xff])?;
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = value;
                    }
                }
            }
        }
        if let Some(contents) = open("k.gz", Arc::new(bytes)) {
            let mut names: Vec<_> = contents.modules.iter().map(|module| &module.name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), contents.modules.len());
            for module in &contents.modules {
                assert!(
                    !module.name.contains(['/', '\\', '\n']) && !module.name.starts_with('.'),
                    "{}",
                    module.name
                );
                let _ = module.text();
            }
        }
        Ok(())
    };
    arbtest::arbtest(mutate).size_min(64).size_max(4096).budget_ms(3000);
    assert!(samples.iter().all(|sample| Format::of(sample).is_some()));
}
