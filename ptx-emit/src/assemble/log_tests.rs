//! The samples were captured from `ptxas` 13.5.37 and from the driver of CUDA 13.0.

use super::*;

/// Two kernels, one of which calls a device function, for `sm_75`.
const WHOLE_PROGRAM: &str = "\
ptxas info    : 64 bytes gmem, 32 bytes cmem[3], 8 bytes cmem[4]
ptxas info    : Compiling entry function 'k2' for 'sm_75'
ptxas info    : Function properties for k2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers, 352 bytes cmem[0]
ptxas info    : Compile time = 2.321 ms
ptxas info    : Compiling entry function 'k1' for 'sm_75'
ptxas info    : Function properties for k1
    128 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 8 registers, used 4 barriers, 128 bytes cumulative stack size, 400 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2], 1 textures
ptxas info    : Compile time = 2.182 ms
ptxas info    : Function properties for helper
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

/// The source order of the functions above.
const WHOLE_PROGRAM_TEXT: &[u8] = b".func helper() {}\n.entry k1() {}\n.entry k2() {}\n";

#[test]
fn whole_program_gives_figures_in_source_order() {
    let log = Log::parse(WHOLE_PROGRAM);
    assert_eq!(log.target.as_deref(), Some("sm_75"));
    assert!(!log.refuses());
    let (lines, functions) = log.functions_in_source_order(&Outline::of(WHOLE_PROGRAM_TEXT));
    assert_eq!(lines.len(), 13);
    let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["helper", "k1", "k2"]);
    let k1 = FunctionUsage {
        registers: Some(8),
        barriers: Some(4),
        stack_bytes: Some(128),
        spill_store_bytes: Some(12),
        spill_load_bytes: Some(16),
        shared_bytes: Some(400),
        const_bytes: Some(368),
        ..FunctionUsage::unknown("k1", FunctionKind::Entry)
    };
    assert_eq!(functions[1], k1);
    let helper = FunctionUsage {
        stack_bytes: Some(0),
        spill_store_bytes: Some(0),
        spill_load_bytes: Some(0),
        ..FunctionUsage::unknown("helper", FunctionKind::Func)
    };
    assert_eq!(functions[0], helper);
    assert_eq!((functions[2].registers, functions[2].shared_bytes), (Some(4), Some(0)));
}

#[test]
fn without_the_text_the_log_is_turned_round() {
    let (_, functions) = Log::parse(WHOLE_PROGRAM).functions_in_source_order(&Outline::default());
    let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["helper", "k1", "k2"]);
}

#[test]
fn from_sm_90_up_constant_memory_is_not_told() {
    let text = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n\
        ptxas info    : Function properties for k\n\
        ptxas info    : Used 4 registers, used 0 barriers\n";
    let function = &Log::parse(text).functions[0];
    assert_eq!((function.registers, function.const_bytes, function.local_bytes), (Some(4), None, None));
}

#[test]
fn driver_log_has_its_own_indentation_and_file_name() {
    let text = "ptxas info    : Compiling entry function 'kernel' for 'sm_90a'\n\
        ptxas info    : Function properties for kernel\n\
        ptxas         .     8 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads\n\
        ptxas info    : Used 12 registers, used 0 barriers\n\
        ptxas application ptx input, line 13; error   : Arguments mismatch for instruction 'add'\n";
    let log = Log::parse(text);
    assert_eq!(log.target.as_deref(), Some("sm_90a"));
    let function = &log.functions[0];
    assert_eq!(
        (function.registers, function.stack_bytes, function.spill_load_bytes),
        (Some(12), Some(8), Some(4))
    );
    assert_eq!(function.kind, FunctionKind::Entry);
    let expected = LogLine {
        severity: LogSeverity::Error,
        line: Some(13),
        message: "Arguments mismatch for instruction 'add'".to_owned(),
    };
    assert_eq!(log.lines.last(), Some(&expected));
    assert!(log.refuses());
}

#[test]
fn messages_of_every_shape() {
    use LogSeverity::{Error, Fatal, Info, Warning};
    let cases = [
        (
            "ptxas fatal   : Unresolved extern function 'missing'",
            Fatal,
            None,
            "Unresolved extern function 'missing'",
        ),
        (
            "ptxas e3.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '9.5'",
            Fatal,
            Some(1),
            "Unsupported .version 9.9; current version is '9.5'",
        ),
        (
            "ptxas fatal   : Unexpected non-ASCII character encountered on line 4",
            Fatal,
            Some(4),
            "Unexpected non-ASCII character encountered on line 4",
        ),
        (
            "ptxas dir, line 3; error   : x/ a b.ptx, line 4; fatal   : Parsing error near '}': syntax error",
            Error,
            Some(3),
            "x/ a b.ptx, line 4; fatal   : Parsing error near '}': syntax error",
        ),
        ("ptxas a, line x/b, line 7; warning : m", Warning, Some(7), "m"),
        (
            "ptxas warning :  64 Bit host architecture (--machine) being used",
            Warning,
            None,
            "64 Bit host architecture (--machine) being used",
        ),
        (
            "ptxas error   : Entry function 'k' uses too much shared data (0x61a80 bytes, 0xc000 max)",
            Error,
            None,
            "Entry function 'k' uses too much shared data (0x61a80 bytes, 0xc000 max)",
        ),
        ("Segmentation fault", Info, None, "Segmentation fault"),
        ("ptxas", Info, None, "ptxas"),
        (
            "ptxas f, line 99999999999999999999; error : m",
            Info,
            None,
            "f, line 99999999999999999999; error : m",
        ),
        ("ptxas f, line 4294967296; error : m", Error, None, "m"),
    ];
    for (text, severity, line, message) in cases {
        let expected = LogLine { severity, line, message: message.to_owned() };
        assert_eq!(Log::parse(text).lines, [expected], "{text}");
    }
}

#[test]
fn figures_of_older_compilers_and_broken_ones_do_not_disturb() {
    let text = "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_35'\n\
        ptxas info    : Used 10 registers, 8 bytes lmem, 400 bytes smem, 328 bytes cmem[0]\n\
        ptxas info    : Used many registers, 99999999999 registers, -1 barriers,,\n\
        ptxas info    : Compiling entry function 'unfinished\n\
        ptxas info    : Function properties for\n";
    let log = Log::parse(text);
    let function = &log.functions[0];
    assert_eq!((function.name.as_str(), function.local_bytes, function.barriers), ("_Z1kPf", Some(8), None));
    assert_eq!(log.functions.len(), 1);
}

/// Pieces that the reader looks for, and some that it does not.
const PIECES: [&str; 18] = [
    "ptxas ",
    "info    : ",
    "error   : ",
    "fatal   :",
    ", line ",
    "7; ",
    "4294967296",
    "; ",
    "\n",
    "'",
    ",",
    "Compiling entry function '",
    "Function properties for ",
    "Used ",
    " registers",
    " bytes stack frame",
    "é",
    "\0",
];

#[test]
fn no_log_makes_it_panic() {
    arbtest::arbtest(|u| {
        let mut text = String::new();
        for _ in 0..u.arbitrary_len::<u8>()?.min(60) {
            text.push_str(PIECES[u.choose_index(PIECES.len())?]);
        }
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(Log::parse(&text).lines.len(), lines, "every line is a message");
        let _ = Outline::of(text.as_bytes());
        Ok(())
    })
    .budget_ms(300);
}
