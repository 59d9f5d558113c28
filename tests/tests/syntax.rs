//! What parses and what does not: `tests/syntax/accepted.txt` and `refused.txt`, each verdict confirmed by
//! NVIDIA's assembler, each refusal with the sentences that users see.

use std::fmt::Write;
use std::path::Path;

use ptx_ir::lower::lower;
use ptx_syntax::LineIndex;
use ptx_tests::tools::{assemble, needed_ptxas, on_all_cores, root};
use ptx_verify::{lowering_findings, syntax_findings};

/// Lines before a text of kind `module`.
const HEADER: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n";

/// Lines before a text of kind `body`, after [`HEADER`].
const KERNEL: &str = "\
.global .align 16 .b32 g[64];
.func fun () { ret; }
.func fun1 (.param .b32 a) { ret; }
.func (.param .b32 r) fun2 (.param .b32 a) { st.param.b32 [r], 0; ret; }
.entry k (.param .u64 par) {
.reg .b32 r<8>; .reg .b64 d<8>; .reg .f32 f<8>; .reg .f64 e<4>; .reg .pred p<4>; .reg .v4 .b32 v;
.shared .b32 s[16];
";

/// One line of a list.
struct Snippet {
    /// The line as it is in the list, without its expectation.
    line: String,
    /// What is expected after `=>`.
    expected: String,
    /// The whole text.
    text: String,
    /// How many lines of the text are not the snippet's.
    offset: u32,
}

impl Snippet {
    fn read(line: &str) -> Self {
        let (line, expected) = line.split_once(" => ").unwrap_or((line, ""));
        let (kind, snippet) = line.split_once(' ').unwrap_or((line, ""));
        let snippet = unescape(snippet);
        let (text, before) = match kind {
            "file" => (snippet, String::new()),
            "module" => (format!("{HEADER}{snippet}\n"), HEADER.to_owned()),
            "body" => (format!("{HEADER}{KERNEL}{snippet}\n}}\n"), format!("{HEADER}{KERNEL}")),
            _ => panic!("`{line}` is neither `file` nor `module` nor `body`"),
        };
        let offset = before.matches('\n').count() as u32;
        Self { line: line.to_owned(), expected: expected.to_owned(), text, offset }
    }

    /// What is said about the text, with lines and columns of the snippet.
    ///
    /// Some of what ptxas calls an error of syntax is one of declarations here: `lowered` asks for those too.
    fn messages(&self, lowered: bool) -> String {
        let index = LineIndex::new(&self.text);
        let parse = ptx_syntax::parse(&self.text);
        let mut diagnostics = syntax_findings(&parse);
        if lowered && diagnostics.is_empty() {
            diagnostics = lowering_findings(&lower(&parse.tree, &self.text));
        }
        let messages: Vec<String> = diagnostics
            .iter()
            .map(|found| {
                let at = index.position(found.span.start);
                let place = match at.line.checked_sub(self.offset) {
                    Some(line) if line > 0 => format!("{line}:{}", at.column),
                    _ => "before".to_owned(),
                };
                let label =
                    if found.label.is_empty() { String::new() } else { format!(" ({})", found.label) };
                format!("{place} {}{label}", found.message)
            })
            .collect();
        messages.join(" | ")
    }

    /// Whether ptxas takes the text.
    fn is_accepted(&self, ptxas: &Path, folder: &Path) -> bool {
        let file = folder.join("snippet.ptx");
        std::fs::write(&file, &self.text).unwrap();
        let old = self.text.contains(".target sm_10") || self.text.contains(".target sm_20");
        let target = if old { "compute_75" } else { "compute_90a" };
        assemble(ptxas, &file, target).unwrap().is_empty()
    }
}

fn unescape(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        if char != '\\' {
            result.push(char);
            continue;
        }
        match rest.next() {
            Some('n') => result.push('\n'),
            Some('r') => result.push('\r'),
            Some('t') => result.push('\t'),
            Some('f') => result.push('\x0c'),
            Some('\\') => result.push('\\'),
            Some('u') => {
                let digits: String = rest.by_ref().skip(1).take_while(|char| *char != '}').collect();
                let number = u32::from_str_radix(&digits, 16).unwrap_or_else(|_| panic!("`{text}`"));
                result.push(char::from_u32(number).unwrap_or_else(|| panic!("`{text}`")));
            }
            other => panic!("`{text}` has the escape {other:?}"),
        }
    }
    result
}

fn list(name: &str) -> (std::path::PathBuf, String, Vec<Snippet>) {
    let path = root().join("tests/syntax").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
    let snippets: Vec<Snippet> = lines.map(Snippet::read).collect();
    assert!(snippets.len() > 100, "{name} has only {} lines", snippets.len());
    (path, text, snippets)
}

#[test]
fn what_ptxas_takes_parses() {
    let mut report = String::new();
    for snippet in list("accepted.txt").2 {
        let messages = snippet.messages(false);
        if !messages.is_empty() {
            writeln!(report, "{}\n    {messages}", snippet.line).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn what_ptxas_refuses_is_explained() {
    let (path, text, snippets) = list("refused.txt");
    let mut report = String::new();
    let mut blessed = text.clone();
    for snippet in &snippets {
        let messages = snippet.messages(true);
        assert!(!messages.is_empty(), "`{}` is taken", snippet.line);
        if messages != snippet.expected {
            writeln!(report, "{}\n    {messages}\n    not {}", snippet.line, snippet.expected).unwrap();
            let old = text.lines().find(|line| line.split(" => ").next() == Some(&snippet.line)).unwrap();
            blessed =
                blessed.replacen(&format!("\n{old}\n"), &format!("\n{} => {messages}\n", snippet.line), 1);
        }
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, blessed).unwrap();
        return;
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_agrees_about_every_line() {
    let ptxas = needed_ptxas();
    let mut report = String::new();
    for (name, accepted) in [("accepted.txt", true), ("refused.txt", false)] {
        let snippets = list(name).2;
        let judged = on_all_cores(&snippets, |snippet| {
            let folder = tempfile::tempdir().unwrap();
            snippet.is_accepted(ptxas, folder.path()) == accepted
        });
        for (snippet, _) in snippets.iter().zip(judged).filter(|(_, is_right)| !is_right) {
            writeln!(report, "{name}: {}", snippet.line).unwrap();
        }
    }
    assert!(report.is_empty(), "ptxas disagrees about\n{report}");
}

/// Nothing is left out silently, neither in one body nor in many declarations.
#[test]
fn the_last_of_too_many_errors_says_so() {
    let statements = "add.u32 r1 r2;\n".repeat(1500);
    let body = format!("{HEADER}{KERNEL}{statements}}}\n");
    let items = format!("{HEADER}{}", ".global .u32 = ;\n".repeat(1500));
    for text in [body, items] {
        let diagnostics = syntax_findings(&ptx_syntax::parse(&text));
        assert_eq!(diagnostics.len(), 1001);
        assert!(diagnostics.iter().any(|found| found.message.starts_with("too many syntax errors")));
    }
    let names = format!("{HEADER}.entry k () {{\n{}}}\n", "add.u32 x, y, z;\n".repeat(40_000));
    let diagnostics = lowering_findings(&lower(&ptx_syntax::parse(&names).tree, &names));
    assert_eq!(diagnostics.len(), 100_000);
    assert!(diagnostics.iter().any(|found| found.message.starts_with("too many errors in names")));
}
