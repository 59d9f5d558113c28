//! Reports as JSON, baselines and budgets.

use ptx_emit::assemble::{
    Backend, Baseline, BaselineError, Budget, Comparison, Figure, FunctionKind, FunctionUsage, LogLine,
    LogSeverity, Note, Report,
};

fn function(name: &str, registers: u32) -> FunctionUsage {
    FunctionUsage {
        registers: Some(registers),
        barriers: Some(0),
        stack_bytes: Some(0),
        spill_store_bytes: Some(0),
        spill_load_bytes: Some(0),
        shared_bytes: Some(0),
        ..FunctionUsage::unknown(name, FunctionKind::Entry)
    }
}

fn report(functions: Vec<FunctionUsage>) -> Report {
    Report {
        file: "a.ptx".to_owned(),
        backend: Backend::Ptxas,
        backend_version: Some("13.5.37".to_owned()),
        target: "sm_90a".to_owned(),
        accepted: true,
        seconds: 0.25,
        log: vec![LogLine { severity: LogSeverity::Info, line: None, message: "m".to_owned() }],
        functions,
    }
}

#[test]
fn json_has_every_field_in_order_and_null_for_the_unknown() {
    let expected = concat!(
        r#"{"file":"a.ptx","backend":"ptxas","backend_version":"13.5.37","target":"sm_90a","accepted":true,"#,
        r#""seconds":0.25,"log":[{"severity":"info","line":null,"message":"m"}],"functions":[{"name":"k","#,
        r#""demangled":null,"kind":"entry","registers":4,"barriers":0,"stack_bytes":0,"spill_store_bytes":0,"spill_load_bytes":0,"#,
        r#""shared_bytes":0,"const_bytes":null,"local_bytes":null,"max_threads":null,"code_bytes":null,"#,
        r#""instructions":null,"blocks_per_sm":null,"warps":null,"#,
        r#""limit":null,"saving":null}]}"#
    );
    let newer = r#","code_bytes":null,"instructions":null,"blocks_per_sm":null,"warps":null,"limit":null,"saving":null"#;
    let of_older = expected.replace(newer, "").replace(r#""demangled":null,"#, "");
    assert_ne!(of_older, expected);
    let report = report(vec![function("k", 4)]);
    assert_eq!(serde_json::to_string(&report).unwrap(), expected);
    assert_eq!(serde_json::from_str::<Report>(expected).unwrap(), report);
    assert_eq!(serde_json::from_str::<Report>(&of_older).unwrap(), report);
}

#[test]
fn a_baseline_survives_its_file() {
    let baseline = Baseline::from_reports(&[report(vec![function("k", 4), function("l", 5)])]);
    let text = baseline.to_json().unwrap();
    assert!(text.ends_with("}\n") && !text.contains("seconds"));
    assert_eq!(Baseline::from_json(&text).unwrap(), baseline);
    let newer = text.replace("\"format\": 1", "\"format\": 7");
    assert!(matches!(Baseline::from_json(&newer), Err(BaselineError::UnknownFormat(7))));
    for broken in ["", "[]", "{}", "{\"format\":1}", "{\"format\":1,\"records\":[{}]}", "\u{0}"] {
        assert!(matches!(Baseline::from_json(broken), Err(BaselineError::Malformed(_))), "{broken}");
    }
}

#[test]
fn nothing_changed() {
    let reports = [report(vec![function("k", 4)])];
    let comparison = Baseline::from_reports(&reports).compare(&reports);
    assert_eq!(comparison, Comparison { compared: 1, ..Comparison::default() });
}

#[test]
fn each_figure_is_compared_by_itself() {
    let before = FunctionUsage { spill_load_bytes: Some(8), shared_bytes: Some(100), ..function("k", 4) };
    let after = FunctionUsage {
        registers: Some(6),
        spill_load_bytes: Some(0),
        stack_bytes: Some(16),
        shared_bytes: None,
        ..before.clone()
    };
    let comparison = Baseline::from_reports(&[report(vec![before])]).compare(&[report(vec![after])]);
    let changes = |list: &[ptx_emit::assemble::Change]| {
        list.iter().map(|change| (change.figure, change.before, change.after)).collect::<Vec<_>>()
    };
    assert_eq!(changes(&comparison.regressions), [(Figure::Registers, 4, 6), (Figure::Stack, 0, 16)]);
    assert_eq!(changes(&comparison.improvements), [(Figure::SpillLoads, 8, 0)]);
    let unjudged: Vec<_> = comparison.unjudged.iter().map(|missing| missing.figure).collect();
    assert_eq!(unjudged, [Figure::Shared], "what the baseline has and this run has not");
    assert!(comparison.notes.is_empty());
}

#[test]
fn notes_say_what_the_comparison_cannot() {
    let baseline = Baseline::from_reports(&[report(vec![function("k", 4), function("gone", 4)])]);
    let mut now = report(vec![function("k", 10), function("new", 4)]);
    now.backend_version = Some("13.0.88".to_owned());
    let elsewhere = Report { target: "sm_80".to_owned(), ..now.clone() };
    let refused = Report { accepted: false, functions: Vec::new(), ..now.clone() };
    let comparison = baseline.compare(&[now, elsewhere, refused]);
    assert_eq!(comparison.regressions.len(), 1);
    let file = || "a.ptx".to_owned();
    let expected = [
        Note::CompilerDiffers { before: "ptxas 13.5.37".to_owned(), after: "ptxas 13.0.88".to_owned() },
        Note::NewFunction { file: file(), function: "new".to_owned() },
        Note::MissingFunction { file: file(), function: "gone".to_owned() },
        Note::OtherTarget { file: file(), target: "sm_80".to_owned(), known: vec!["sm_90a".to_owned()] },
    ];
    assert_eq!(comparison.notes, expected);
    assert!(expected[0].to_string().contains("a change may be the compiler's"));
}

#[test]
fn records_that_nothing_was_compared_with_are_told() {
    let at = |file: &str, target: &str| Report {
        file: file.to_owned(),
        target: target.to_owned(),
        ..report(vec![function("k", 4)])
    };
    let before =
        [at("a.ptx", "sm_80"), at("a.ptx", "sm_90a"), at("gone.ptx", "sm_90a"), at("bad.ptx", "sm_90a")];
    let refused = Report { accepted: false, functions: Vec::new(), ..at("bad.ptx", "sm_90a") };
    let comparison = Baseline::from_reports(&before).compare(&[at("a.ptx", "sm_90a"), refused]);
    let unused = [("a.ptx", "sm_80"), ("gone.ptx", "sm_90a")]
        .map(|(file, target)| (file.to_owned(), target.to_owned()));
    assert_eq!((comparison.compared, comparison.unused), (1, unused.to_vec()));
}

#[test]
fn a_limit_on_an_unknown_figure_is_not_kept_but_unjudged() {
    let unknown = report(vec![FunctionUsage::unknown("k", FunctionKind::Entry)]);
    let budget = Budget { registers: Some(1), spill_bytes: Some(0), ..Budget::default() };
    assert!(budget.excesses(&unknown).is_empty());
    let missing: Vec<_> = budget.unjudged(&unknown).into_iter().map(|missing| missing.figure).collect();
    assert_eq!(missing, [Figure::Registers, Figure::SpillStores, Figure::SpillLoads]);
    assert!(budget.unjudged(&report(vec![function("k", 9)])).is_empty());
}

#[test]
fn budgets_hold_for_kernels() {
    let mut device_function = function("f", 200);
    device_function.kind = FunctionKind::Func;
    let spilling = FunctionUsage { spill_store_bytes: Some(12), ..function("k", 64) };
    let report = report(vec![device_function, spilling, function("l", 65)]);
    assert!(Budget::default().is_empty() && Budget::default().excesses(&report).is_empty());
    let budget = Budget { registers: Some(64), spill_bytes: Some(0), ..Budget::default() };
    let found: Vec<(String, Figure, u64, u64)> = budget
        .excesses(&report)
        .into_iter()
        .map(|excess| (excess.function, excess.figure, excess.value, excess.limit))
        .collect();
    assert_eq!(
        found,
        [("k".to_owned(), Figure::SpillStores, 12, 0), ("l".to_owned(), Figure::Registers, 65, 64)]
    );
}
