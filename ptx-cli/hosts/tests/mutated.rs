//! What front ends find in files that are broken in all places: no panic, and places that are in the file.

use arbtest::arbitrary::{Result, Unstructured};
use ptx_hosts::{Language, find};
use ptx_syntax::Span;

const SAMPLES: [(Language, &str); 7] = [
    (Language::Python, include_str!("../../../tests/cases/hosts/cute.py")),
    (Language::Python, include_str!("../../../tests/cases/hosts/texts.py")),
    (Language::Python, include_str!("../../../tests/cases/asm-operand-count/triton.py")),
    (Language::Rust, include_str!("../../../tests/cases/hosts/statements.rs")),
    (Language::LlvmIr, include_str!("../../../tests/cases/hosts/statements.ll")),
    (Language::LlvmIr, include_str!("../../../tests/cases/hosts/x86.ll")),
    (Language::Mlir, include_str!("../../../tests/cases/hosts/statements.mlir")),
];

const PIECES: [&str; 24] = [
    "(", ")", "[", "]", "{", "}", "\"", "'''", "\\", "\n", "$", "${", "%", "r\"", "f'", "é", ",", "=", "*",
    "#", "//", "\0", "->", "<",
];

fn mutated(from: &mut Unstructured<'_>, text: &str) -> Result<String> {
    let mut text = text.to_owned();
    for _ in 0..from.int_in_range(1..=8)? {
        let mut at = from.choose_index(text.len() + 1)?;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        match from.int_in_range(0..=3)? {
            0 => text.truncate(at),
            1 => {
                let next = text[at..].chars().next().map_or(at, |character| at + character.len_utf8());
                text.replace_range(at..next, "");
            }
            _ => text.insert_str(at, from.choose(&PIECES)?),
        }
    }
    Ok(text)
}

#[test]
fn nothing_panics_and_places_are_in_the_file() {
    let holds = |from: &mut Unstructured<'_>| -> Result<()> {
        let (language, sample) = *from.choose(&SAMPLES)?;
        let text = mutated(from, sample)?;
        let found = find(language, &text);
        let check =
            |span: Span| assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?}");
        for statement in &found.file.statements {
            check(statement.span);
            check(statement.template.span);
            for (at, character) in statement.template.text.char_indices().step_by(7) {
                let decoded = Span::new(at as u32, (at + character.len_utf8()) as u32);
                check(statement.template.map.span(decoded));
            }
            for operand in statement.operands() {
                check(operand.span);
                check(operand.expression);
            }
        }
        for document in &found.documents {
            check(document.template.map.span(Span::new(0, document.template.text.len() as u32)));
        }
        found.comments.iter().copied().for_each(check);
        Ok(())
    };
    arbtest::arbtest(holds).size_min(64).size_max(1024).budget_ms(5000);
}

#[test]
fn what_nests_takes_neither_stack_nor_long() {
    let deep = |open: &str, close: &str| open.repeat(200_000) + &close.repeat(200_000);
    let texts = [
        (Language::Python, format!("llvm.inline_asm({})", deep("(", ")"))),
        (Language::Python, format!("x = llvm.inline_asm(a, b, {}, 'r')", "y + ".repeat(100_000))),
        (Language::Python, "x = x + x; inline_asm(x, x, x, x)\n".repeat(20_000)),
        (Language::Python, format!("inline_asm {}", "1".repeat(2_000_000))),
        (Language::Rust, format!("fn f() {{ asm!({}) }}", deep("(", ")"))),
        (Language::LlvmIr, format!("call i32 asm \"x\", \"r\"({})", deep("{", "}"))),
        (Language::LlvmIr, " asm \"a\", \"b\"(".repeat(20_000)),
        (Language::Mlir, format!("\"llvm.inline_asm\"(%a) <{{{}}}> : (i32) -> i32", deep("<", ">"))),
        (Language::Mlir, "llvm.inline_asm \"a\", \"b\" %a ".repeat(20_000)),
        (Language::Mlir, "\"llvm.inline_asm\"(".repeat(20_000)),
        (Language::LlvmIr, " asm \"a\", \"b\"(".repeat(20_000) + &")".repeat(20_000)),
        (Language::Python, "inline_asm(a, b, ".repeat(20_000) + &")".repeat(20_000)),
    ];
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    let started = std::time::Instant::now();
    let work = move || texts.iter().for_each(|(language, text)| drop(find(*language, text)));
    thread.spawn(work).unwrap().join().unwrap();
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
