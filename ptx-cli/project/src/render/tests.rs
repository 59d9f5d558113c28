//! Each format over findings made by hand.

use ptx_syntax::{Applicability, Class, Diagnostic, Edit, Severity, Span};

use super::{Counts, Format, Selection, Style, file, to_string};
use crate::source::{Kind, Source};

const PTX: &str = "\
.version 8.6
.target sm_90
.entry k() {
\t.reg .f32 %f<4>;
\tadd.u32 %r1, %r2, %f3;
\tret;
}
";

fn source(name: &str, text: &str) -> Source {
    Source::new(name.into(), Kind::Ptx, text.as_bytes().to_vec())
}

fn span(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap() as u32;
    Span::new(start, start + part.len() as u32)
}

fn finding() -> Diagnostic {
    let message = "`add.u32` takes a 32-bit integer here, `%f3` is `.f32`";
    Diagnostic::invalid("P0205", "operand-type", span(PTX, "%f3"), message)
        .with_label("this is `.f32`")
        .with_secondary(span(PTX, "%f<4>"), "declared here")
        .with_note("PTX ISA, section 9.7.1.1")
        .with_help("write `add.f32`")
        .with_fix(
            "write `add.f32`",
            Applicability::Likely,
            vec![Edit { span: span(PTX, "u32"), replacement: "f32".into() }],
        )
}

/// The whole output for `diagnostics` in `source`.
fn rendered(format: Format, source: &Source, diagnostics: &[Diagnostic]) -> String {
    let style = Style { format, color: false, links: false, width: 100, selection: Selection::ALL };
    to_string(style, &[(source, diagnostics)])
}

#[test]
fn full_draws_the_lines_the_labels_and_the_fix() {
    let text = rendered(Format::Full, &source("a.ptx", PTX), &[finding()]);
    let expected = "\
error[P0205 operand-type]: `add.u32` takes a 32-bit integer here, `%f3` is `.f32`
 --> a.ptx:5:20
  |
4 |     .reg .f32 %f<4>;
  |               ----- declared here
5 |     add.u32 %r1, %r2, %f3;
  |                       ^^^ this is `.f32`
  |
  = note: PTX ISA, section 9.7.1.1
help: write `add.f32`
  |
5 -     add.u32 %r1, %r2, %f3;
5 +     add.f32 %r1, %r2, %f3;
  |

";
    assert_eq!(text, expected);
}

#[test]
fn where_links_are_taken_the_rule_leads_to_its_page() {
    let source = source("a.ptx", PTX);
    let mut without_rule = finding();
    without_rule.rule = "no-rule-at-all";
    for format in [Format::Full, Format::Concise] {
        let style = Style { format, color: true, links: true, width: 100, selection: Selection::ALL };
        let shown = String::from_utf8(file(style, &source, &[finding()])).unwrap();
        let to = "\x1b]8;;https://ptx-toolkit.github.io/ptx-toolkit/rules/operand-type/\x1b\\P0205";
        assert!(shown.contains(to), "{shown:?}");
        assert!(shown.contains("\x1b]8;;\x1b\\"), "{shown:?}");
        let without = |style: Style, found: &Diagnostic| {
            !String::from_utf8(file(style, &source, std::slice::from_ref(found))).unwrap().contains("\x1b]8")
        };
        assert!(without(Style { links: false, ..style }, &finding()));
        assert!(without(style, &without_rule));
    }
}

#[test]
fn full_shows_places_that_are_far_apart_and_lines_that_are_long() {
    let text = format!("first\n{}{} last{}\n", "\n".repeat(5000), "x".repeat(1 << 20), " y".repeat(1 << 19));
    let far = Diagnostic::invalid("P0102", "some-rule", span(&text, "last"), "far away")
        .with_secondary(span(&text, "first"), "from here");
    let shown = rendered(Format::Full, &source("a.ptx", &text), &[far]);
    assert!(shown.contains("--> a.ptx:5002:1048578"), "{shown}");
    assert!(shown.contains("   1 | first") && shown.contains("from here"), "{shown}");
    assert!(shown.contains("5002 |") && shown.contains(" last y") && shown.len() < 2000, "{shown}");
}

#[test]
fn full_survives_every_place() {
    for text in ["", "\n", "a", "é\r\nb", "\u{1a}\0\t", "a\n\n\n"] {
        for start in 0..=text.len() as u32 + 2 {
            for end in start..=text.len() as u32 + 2 {
                for format in [Format::Full, Format::Json, Format::Sarif, Format::Github, Format::Concise] {
                    let edits = vec![Edit { span: Span::new(start, end), replacement: "z".into() }];
                    let found = Diagnostic::invalid("P0102", "some-rule", Span::new(start, end), "m")
                        .with_secondary(Span::at(end), "s")
                        .with_fix("f", Applicability::Certain, edits);
                    assert!(!rendered(format, &source("a.ptx", text), &[found]).is_empty());
                }
            }
        }
    }
}

#[test]
fn concise_is_one_line() {
    let text = rendered(Format::Concise, &source("a.ptx", PTX), &[finding()]);
    assert_eq!(text, "a.ptx:5:20: error[P0205] `add.u32` takes a 32-bit integer here, `%f3` is `.f32`\n");
}

#[test]
fn json_has_exactly_the_fixed_fields() {
    let text = rendered(Format::Json, &source("a.ptx", PTX), &[finding()]);
    let expected = concat!(
        r#"{"file":"a.ptx","line":5,"column":20,"end_line":5,"end_column":23,"class":"invalid","#,
        r#""severity":"error","code":"P0205","rule":"operand-type","#,
        r#""message":"`add.u32` takes a 32-bit integer here, `%f3` is `.f32`","#,
        r#""labels":[{"line":5,"column":20,"end_line":5,"end_column":23,"message":"this is `.f32`"},"#,
        r#"{"line":4,"column":12,"end_line":4,"end_column":17,"message":"declared here"}],"#,
        r#""notes":["PTX ISA, section 9.7.1.1","help: write `add.f32`"],"#,
        r#""fix":{"message":"write `add.f32`","applicability":"likely","edits":["#,
        r#"{"line":5,"column":6,"end_line":5,"end_column":9,"replacement":"f32"}]}}"#,
        "\n"
    );
    assert_eq!(text, expected);
    let plain = Diagnostic::invalid("P0102", "some-rule", Span::at(0), "m");
    assert!(
        rendered(Format::Json, &source("a.ptx", PTX), &[plain]).ends_with("\"notes\":[],\"fix\":null}\n")
    );
}

#[test]
fn github_escapes_what_the_runner_reads() {
    let found =
        Diagnostic::invalid("P0102", "some-rule", Span::new(0, 1), "100 % :: of").with_note("it,\nhere");
    let text = rendered(Format::Github, &source("a,b:c.ptx", "x"), &[found]);
    assert_eq!(
        text,
        "::error file=a%2Cb%3Ac.ptx,line=1,endLine=1,col=1,endColumn=2,title=P0102 some-rule::100 %25 :: of%0Anote: it,%0Ahere\n"
    );
}

#[test]
fn sarif_is_one_log_with_code_point_columns() {
    let text = "// é x\n";
    let found = Diagnostic::new(Class::Hazard, Severity::Warning, "W0001", "some-rule", span(text, "x"), "m");
    let log = rendered(Format::Sarif, &source("a b.ptx", text), &[found.clone(), found]);
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "ptx-cli");
    assert_eq!(run["results"].as_array().unwrap().len(), 2);
    let location = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b.ptx");
    assert_eq!(location["region"]["startColumn"], 6);
    assert_eq!(location["region"]["byteOffset"], 6);
    let empty: serde_json::Value =
        serde_json::from_str(&rendered(Format::Sarif, &source("a.ptx", ""), &[])).unwrap();
    assert_eq!(empty["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn counts_are_told_in_words() {
    let counts = Counts { errors: 3, warnings: 1, infos: 0 };
    assert_eq!(counts.summary(), "3 errors, 1 warning");
    assert_eq!(Counts::default().summary(), "no findings");
}
