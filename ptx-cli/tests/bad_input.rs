//! Input of all kinds: a clear message, exit status 1 or 2, bounded memory, no panic.

mod common;

use common::{Answer, GOOD, Scratch, bad};

const COMMANDS: [&[&str]; 6] = [
    &["verify"],
    &["verify", "--message-format", "json"],
    &["verify", "--message-format", "sarif"],
    &["format", "--check"],
    &["dump", "--tokens"],
    &["dump", "--ast"],
];

/// Runs every command on a file of these bytes, all at once. The harness fails on panics and signals.
fn all_commands(name: &str, bytes: &[u8]) -> Vec<Answer> {
    let scratch = Scratch::new();
    scratch.file(name, bytes);
    std::thread::scope(|scope| {
        let run = |command: &&'static [&'static str]| {
            let command = [command, &[name][..]].concat();
            scope.spawn({
                let scratch = &scratch;
                move || scratch.run(&command)
            })
        };
        let running: Vec<_> = COMMANDS.iter().map(run).collect();
        running.into_iter().map(|each| each.join().unwrap()).collect()
    })
}

#[test]
fn missing_and_unreadable_paths_are_named() {
    let scratch = Scratch::new();
    scratch.file("empty/readme.txt", "");
    scratch.file("good.ptx", GOOD);
    let missing = scratch.run(&["verify", "missing.ptx"]);
    assert_eq!(missing.status, 2);
    assert_eq!(missing.stderr, "error: cannot read `missing.ptx`: no such file or directory\n");
    let nothing = scratch.run(&["verify", "empty"]);
    assert_eq!(nothing.status, 2);
    assert_eq!(nothing.stderr, "error: there is no PTX or CUDA file in `empty`\n");
    let below = scratch.run(&["verify", "good.ptx/x.ptx"]);
    assert_eq!(below.status, 2);
    let reason = if cfg!(windows) { "no such file or directory" } else { "not a directory" };
    assert!(below.stderr.contains(&format!("cannot read `good.ptx/x.ptx`: {reason}")), "{}", below.stderr);
    for command in ["canonicalize", "dump"] {
        let step = if command == "dump" { &["--ast"][..] } else { &[] };
        let answer = scratch.run(&[&[command, "missing.ptx"], step].concat());
        assert_eq!(answer.status, 2);
        assert!(answer.stderr.contains("no such file"), "{}", answer.stderr);
        let directory = scratch.run(&[&[command, "empty"], step].concat());
        assert_eq!(directory.status, 2);
        assert!(directory.stderr.contains("it is a directory"), "{}", directory.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_dangling_link_and_a_closed_directory_are_told() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::new();
    symlink("nowhere", scratch.path().join("link.ptx")).unwrap();
    assert_eq!(scratch.run(&["verify", "link.ptx"]).status, 2);
    let closed = scratch.file("closed/a.ptx", GOOD);
    let mode = |mode| std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o000);
    // The superuser reads everything; then there is nothing to be told.
    if std::fs::File::open(&closed).is_err() {
        let answer = scratch.run(&["verify", "closed/a.ptx"]);
        assert_eq!(answer.status, 2);
        assert!(answer.stderr.contains("permission denied"), "{}", answer.stderr);
    }
    mode(0o644);
}

#[test]
fn an_empty_file_is_no_module() {
    for (command, answer) in COMMANDS.iter().zip(all_commands("empty.ptx", b"")) {
        let expected = i32::from(command[0] == "verify");
        assert_eq!(answer.status, expected, "{command:?}: {answer:?}");
    }
}

#[test]
fn binary_files_are_named_as_such() {
    let wide: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes, what, help) in [
        ("zero.ptx", &[0; 4096][..], "binary data", "nvcc -ptx"),
        ("utf16.ptx", b"\xff\xfe.\0v\0e\0r\0s\0", "UTF-16 text", "iconv -f UTF-16 "),
        ("utf16be.ptx", b"\xfe\xff\0.\0v\0e\0r\0s", "UTF-16 text", "iconv -f UTF-16 "),
        ("utf32.ptx", b"\xff\xfe\0\0.\0\0\0v\0\0\0", "UTF-32 text", "iconv -f UTF-32 "),
        ("utf32be.ptx", b"\0\0\xfe\xff\0\0\0.\0\0\0v", "UTF-32 text", "iconv -f UTF-32 "),
        ("wide.ptx", &wide, "UTF-16 text", "iconv -f UTF-16BE "),
        ("little.ptx", &little, "UTF-16 text", "iconv -f UTF-16LE "),
    ] {
        let sentence = format!("the file is {what}, not PTX text");
        for (command, (status, said)) in on_binary(name, bytes) {
            assert_eq!(status, Some(1), "{command:?}: {said}");
            assert!(said.contains(&sentence), "{command:?}: {said}");
            assert!(said.contains(help) || command[0] == "format", "{command:?}: {said}");
        }
    }
    let cuda = &all_commands("k.cu", &wide)[0];
    assert!(cuda.stdout.contains("the file is UTF-16 text, not CUDA C++"), "{cuda:?}");
    // Headers of Windows' resources are so, and have nothing to verify.
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let resource = [b"\xff\xfe".to_vec(), wide("#define IDC_STATIC -1\r\n")].concat();
    let with_asm = [b"\xff\xfe".to_vec(), wide("inline void f() { asm(\"trap;\"); }\r\n")].concat();
    assert_eq!(all_commands("resource.h", &resource)[0].status, 0);
    assert_eq!(all_commands("with_asm.h", &with_asm)[0].status, 1);
}

#[test]
fn containers_without_ptx_and_broken_ones_are_told() {
    let elf = [b"\x7fELF\x02\x01\x01\0".as_slice(), &[0; 4096]].concat();
    let fatbin = b"\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0";
    for (name, bytes, sentence) in [
        ("cubin.ptx", elf.as_slice(), "it is an ELF file without PTX"),
        ("k.fatbin", b"\x50\xed\x55\xba\x01\0\x10\0", "a fat binary is cut off"),
        ("empty.fatbin", fatbin, "it is a CUDA fat binary without PTX"),
        ("k.ptx.gz", b"\x1f\x8b\x08\0", "its gzip data are broken or cut off"),
        ("k.ptx.zst", b"\x28\xb5\x2f\xfd\x04", "its zstd data are broken or cut off"),
        ("k.ptx.xz", b"\xfd7zXZ\0\0\x04", "its xz data are broken or cut off"),
        ("k.ptx.bz2", b"BZh91AY&SY\0\x04", "its bzip2 data are broken or cut off"),
        ("k.a", b"!<arch>\nx", "the archive is broken"),
    ] {
        for (command, (status, said)) in on_binary(name, bytes) {
            assert_eq!(status, Some(2), "{command:?}: {said}");
            assert!(said.contains(&format!("cannot read `{name}`: {sentence}")), "{command:?}: {said}");
        }
    }
}

/// A command, its exit status, and what it said.
type Told = (&'static [&'static str], (Option<i32>, String));

/// What the commands that read PTX say of a file that is none, which they leave as it is.
fn on_binary(name: &str, bytes: &[u8]) -> Vec<Told> {
    const READERS: [&[&str]; 7] = [
        &["verify"],
        &["format"],
        &["canonicalize"],
        &["assemble", "--backend", "ptxas", "-o", "out"],
        &["dump", "--tokens"],
        &["dump", "--ast"],
        &["dump", "--needs"],
    ];
    let scratch = Scratch::new();
    scratch.file(name, bytes);
    let answers = READERS.iter().map(|command| {
        let mut run = scratch.command(&[command, &[name][..]].concat());
        // Any program will do: it is not asked about such a file.
        let output = run.env("PTXAS", "/bin/true").output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (*command, (output.status.code(), said))
    });
    let answers = answers.collect();
    assert_eq!(std::fs::read(scratch.path().join(name)).unwrap(), bytes);
    answers
}

#[test]
fn a_stray_nul_and_bytes_outside_utf8_are_found_at_their_place() {
    for (inserted, name) in [(&b"\0"[..], "zero.ptx"), (b"\xff", "byte.ptx"), (b"\xef\xbb\xbf", "mark.ptx")] {
        let at = GOOD.find("ld.param").unwrap();
        let bytes = [&GOOD.as_bytes()[..at], inserted, &GOOD.as_bytes()[at..]].concat();
        let json = &all_commands(name, &bytes)[1];
        assert_eq!(json.status, 1, "{json:?}");
        assert!(json.stdout.contains("\"line\":10,\"column\":2"), "{json:?}");
    }
}

#[test]
fn comments_may_hold_any_byte_and_places_stay_bytes() {
    let latin = [b"// caf\xe9 \xff\n".as_slice(), GOOD.as_bytes()].concat();
    assert_eq!(all_commands("latin.ptx", &latin)[0].status, 0);
    let behind = bad().replace("mov.u32", "/* \u{e9}x */ mov.u32").into_bytes();
    let mut bytes = behind.clone();
    let at = behind.windows(2).position(|pair| pair == "\u{e9}".as_bytes()).unwrap();
    bytes.splice(at..at + 2, *b"\xe9\xe9");
    let scratch = Scratch::new();
    scratch.file("utf8.ptx", &behind);
    scratch.file("latin.ptx", &bytes);
    let place = |name: &str| {
        let line = scratch.run(&["verify", "--message-format", "concise", name]).stdout;
        line.split_once(':').unwrap().1.to_owned()
    };
    assert_eq!(place("utf8.ptx"), place("latin.ptx"));
}

#[test]
fn truncated_files_have_errors_and_nothing_worse() {
    let scratch = Scratch::new();
    for length in 1..GOOD.len() - 2 {
        scratch.file("cut.ptx", &GOOD[..length]);
        let answer = scratch.run(&["verify", "--message-format", "json", "cut.ptx"]);
        // Only what ends with the header is whole.
        let whole =
            [".address_size 64", ".target sm_90"].iter().any(|end| GOOD[..length].trim_end().ends_with(end));
        assert!(answer.status == 1 || whole, "{length}: {answer:?}");
    }
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = 100_000;
    let module = |body: String| format!(".version 8.6\n.target sm_90\n.entry k()\n{{\n{body}\n}}\n");
    let texts = [
        module("{".repeat(deep) + &"}".repeat(deep)),
        module("{".repeat(deep)),
        module("}".repeat(deep)),
        module(format!("mov.u32 %r1, {}1{};", "(".repeat(deep), ")".repeat(deep))),
        module(format!("mov.u32 %r1, {}1;", "-".repeat(deep))),
        module(format!("mov.u32 %r1, {}1;", "(".repeat(deep))),
        module(format!("mov.u32 %r1, 1{};", " ? 1 : 1".repeat(deep))),
        module(format!("ld.u32 %r1, {}%r2{};", "[".repeat(deep), "]".repeat(deep))),
        module(format!("mov.u32 {}%r2{}, 1;", "{".repeat(deep), "}".repeat(deep))),
        module("x:".repeat(deep)),
        module("@%p ".repeat(deep)),
        format!(".version 8.6\n.target sm_90\n.global .u32 a{};", "[1]".repeat(deep)),
        format!(".version 8.6\n.target sm_90\n.global .u32 a = {}1{};", "{".repeat(deep), "}".repeat(deep)),
        "/*".repeat(deep),
        "\"".repeat(deep),
        "(".repeat(deep),
    ];
    for (index, text) in texts.iter().enumerate() {
        all_commands(&format!("deep{index}.ptx"), text.as_bytes());
    }
}

#[test]
fn one_long_line_with_many_findings_is_rendered_quickly() {
    let scratch = Scratch::new();
    let line = "add.u32 %r1 %r2; ".repeat(60_000);
    scratch.file("line.ptx", format!(".version 8.6\n.target sm_90\n.entry k()\n{{\n{line}\n}}\n"));
    for format in ["full", "concise", "json", "github", "sarif"] {
        let started = std::time::Instant::now();
        let answer = scratch.run(&["verify", "--message-format", format, "line.ptx"]);
        assert_eq!(answer.status, 1);
        assert!(started.elapsed().as_secs() < 60, "{format} took {:?}", started.elapsed());
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_read() {
    let scratch = Scratch::new();
    let path = scratch.file("huge.ptx", "");
    // A sparse file: five gigabytes that take no disk.
    std::fs::File::options().write(true).open(path).unwrap().set_len(5 << 30).unwrap();
    let started = std::time::Instant::now();
    let answer = scratch.run(&["verify", "huge.ptx"]);
    assert_eq!(answer.status, 2);
    let expected =
        "error: cannot read `huge.ptx`: its 5120 MiB are more than the 4095 MiB that are supported\n";
    assert_eq!(answer.stderr, expected);
    assert!(started.elapsed().as_secs() < 5);
}
