use super::{BodyParser, braces, closing_brace, outline, outline_around, outline_by};
use crate::ast::{FunctionKind, Operand, Statement, StatementKind, Tree};
use crate::{Span, parse};

type Shown = (StatementKind, Span, Span, Vec<(Span, String)>);

/// The statements of a body, with all that their operands hold.
fn statements(tree: &Tree, body: &[Statement]) -> Vec<Shown> {
    let shown = |operand: &Operand| (operand.span, format!("{:?}", operand.kind));
    let all = |statement: &Statement| {
        let mut open: Vec<Operand> = match statement.kind {
            StatementKind::Declaration | StatementKind::CallPrototype => Vec::new(),
            _ => tree.operands(statement.operands).to_vec(),
        };
        let mut operands = Vec::new();
        while let Some(operand) = open.pop() {
            operands.push(shown(&operand));
            open.extend_from_slice(tree.children(operand));
        }
        (statement.kind, statement.span, statement.word, operands)
    };
    body.iter().map(all).collect()
}

/// Compares the pieces of a text with the whole; whether it parses.
fn same_as_whole(source: &str) -> bool {
    let whole = parse(source);
    let mut parser = BodyParser::default();
    let Some(pieces) = outline(source) else {
        assert!(!whole.errors.is_empty(), "no outline of {source:?}");
        return false;
    };
    let functions = |tree: &Tree| {
        let is_function = |each: &&crate::ast::Function| each.kind != FunctionKind::Prototype;
        tree.functions.iter().filter(is_function).copied().collect::<Vec<_>>()
    };
    for function in functions(&pieces) {
        let Some(body) = function.body else { continue };
        if parser.parse(source, body.span).is_none() {
            assert!(!whole.errors.is_empty(), "a body of {source:?}");
            return false;
        }
    }
    assert!(whole.errors.is_empty(), "{:?} in {source:?}", whole.errors);
    assert_eq!(pieces.items.len(), whole.tree.items.len(), "{source:?}");
    let (some, all) = (functions(&pieces), functions(&whole.tree));
    assert_eq!(some.len(), all.len(), "{source:?}");
    for (piece, function) in some.iter().zip(&all) {
        let parts = |each: &crate::ast::Function| {
            (each.span, each.header, each.kind, each.name, each.body.map(|body| body.span))
        };
        assert_eq!(parts(piece), parts(function), "{source:?}");
        let Some(body) = function.body else { continue };
        let parsed = parser.parse(source, body.span).unwrap();
        assert_eq!(
            statements(parsed.tree, parsed.tree.statements(parsed.body.statements)),
            statements(&whole.tree, whole.tree.statements(body.statements)),
            "{source:?}"
        );
    }
    true
}

fn same_by_threads(source: &str) {
    let alone = format!("{:?}", outline(source));
    for threads in [2, 5] {
        assert_eq!(format!("{:?}", outline_by(threads, source)), alone, "{source:?}");
    }
    let tree = outline(source);
    let bodies: Vec<Span> =
        tree.iter().flat_map(|tree| &tree.functions).filter_map(|each| Some(each.body?.span)).collect();
    for first in 0..bodies.len() {
        assert_eq!(format!("{:?}", outline_around(source, &bodies[first..])), alone, "{source:?}");
    }
}

#[test]
fn pieces_are_the_whole() {
    let header = ".version 8.6\n.target sm_90\n.address_size 64\n";
    let good = [
        ".global .b8 a[3] = {1, 2, 3};\n.entry k() { ret; }\n.global .u32 b;",
        ".visible .entry k(.param .u64 p) .maxntid 32, 1, 1 { .reg .b32 %r<4>; { mov.b32 %r1, {%r2, %r3}; } ret; }",
        ".func (.reg .b32 %r) f(.reg .b32 %a) { // }\n /* } { */ mov.b32 %r, %a; ret; }",
        ".entry k() { .pragma \"}\"; # 1 \"}{\"\n ret; }",
        // Without a `;`, as old compilers wrote it.
        ".func f (.reg .u32 x)\n.global .u32 a[2] = {1, 2};\n.func g (.reg .u32 x)\n.entry k { ret; }",
        ".entry k { P: .callprototype _ (.param .b32 _); .loc 1 2 3\n ret; }\n.section .debug { .b8 1, 2\n }",
        ".func f ;\n.entry k { }\n.weak .func f { ret; }",
    ];
    for text in good {
        assert!(same_as_whole(&format!("{header}{text}")), "{text}");
        same_by_threads(&format!("{header}{text}"));
    }
    let bad = [
        ".entry k() { ret; ",
        ".entry k() { ret; } }",
        ".entry k() { { ret; }",
        ".entry k() { .source_begin } .source_end ret; }",
        ".entry k() { \" }",
        ".entry k() { /* }",
        ".entry k() { ret } .entry l() { ret; }",
        ".entry k({) }) { ret; }",
        ".entry k() = { ret; }",
        ".func f {} = {};",
    ];
    for text in bad {
        assert!(!same_as_whole(&format!("{header}{text}")), "{text}");
        same_by_threads(&format!("{header}{text}"));
    }
}

#[test]
fn pieces_are_the_whole_for_any_text() {
    let parts = [
        ".entry k",
        ".func f",
        "()",
        "(",
        ")",
        " {",
        "}",
        ";",
        " = ",
        ".global .b32 a",
        "\"",
        "/*",
        "*/",
        "//",
        "\n",
        "ret;",
        "@p bra L;",
        "L:",
        "mov.b64 d, {a, b};",
        "# 1 \"a\"",
        ".section .s",
        ".b8 1\n",
        "P: .callprototype _;",
        ".reg .b32 r<3>;",
        ".source_begin",
        ".source_end",
        ".visible",
        ".pragma \"x\";",
        "[a]",
        "{1, 2}",
        ".alias a, b;",
    ];
    let mut parsed = 0;
    let mut seed = 1_u64;
    for _ in 0..60_000 {
        let mut text = String::new();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bits = seed >> 20;
        for _ in 0..bits % 9 + 1 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bits = seed >> 33;
            text.push_str(parts[bits as usize % parts.len()]);
            text.push(' ');
        }
        let parses = same_as_whole(&text);
        parsed += usize::from(parses);
        if parses || seed.is_multiple_of(32) {
            same_by_threads(&text);
        }
    }
    assert!(parsed > 300, "{parsed} texts parse");
}

#[test]
fn a_brace_is_closed_wherever_it_is() {
    for length in 0..200 {
        let text = format!("{}{{ }} }}", " ".repeat(length));
        assert_eq!(closing_brace(&text, 0), Some(length + 4));
        assert_eq!(closing_brace(&" ".repeat(length), 0), None);
    }
}

#[test]
fn lines_that_do_not_stand_alone_are_seen() {
    let found = |text: &str| braces::of_text(text, 3).map(|braces| braces.closing(text, 1));
    let text = "{ { // }\n }\n \"}\" /* } */\n }";
    assert_eq!(found(text), Some(Some(text.len() - 1)));
    assert_eq!(found("{\n{\n}\n"), Some(None));
    assert_eq!(found("{ /* }\n */ }"), None);
    assert_eq!(found("{ .source_begin } .source_end }"), None);
    assert_eq!(found(&format!("{}\n", "{}".repeat(200))), None);
    assert_eq!(found(&"{\n}\n// a line without a brace\n".repeat(200)), Some(Some(2)));
}
