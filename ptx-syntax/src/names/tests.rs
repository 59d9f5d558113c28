use super::{NameKind, Names, Symbol};
use crate::Span;

const TEXT: &str = "\
.version 8.6
.target sm_90
.address_size 64
.global .align 4 .u32 table[2] = {1, 2}, *other;
.extern .func (.param .b32 r) f (.param .b32 a, .param .b64 .ptr .global b);
.visible .entry k(.param .u64 p)
.maxntid 1, 1, 1
{
\t.reg .b32 %r<20>, %one;
\t.loc 1 2 3
\tld.param.u64 %one, [p];
\t@!%p1 bra L;
\tmov.u32 %r1, %r19;
\tmov.u32 {%r1, %r2}, %tid.x
\t{ .reg .b32 %r1; add.u32 %r1.x, %r1, %r2;
\tL: bra L; }
L:\tcall (%r3), f, (%r4, table);
}
.func (.param .b32 r) f (.param .b32 a, .param .b64 b) { mov.b32 %r1, a; }
";

fn symbol(names: &Names, text: &str, at: &str, plus: usize) -> Option<Symbol> {
    let offset = (text.find(at).unwrap() + plus) as u32;
    names.resolve(text, names.occurrence_at(offset).unwrap())
}

fn places(names: &Names, text: &str, at: &str, plus: usize) -> Vec<u32> {
    let found = names.references(text, symbol(names, text, at, plus).unwrap());
    found.iter().map(|each| text[..each.span.start as usize].matches('\n').count() as u32 + 1).collect()
}

#[test]
fn names_stand_for_what_the_innermost_block_declares() {
    let names = Names::new(TEXT);
    assert_eq!(places(&names, TEXT, "%one;", 0), [9, 11]);
    assert_eq!(places(&names, TEXT, "%r1, %r19", 1), [9, 13, 14]);
    assert_eq!(places(&names, TEXT, "%r1.x", 3), [15, 15, 15]);
    assert_eq!(places(&names, TEXT, "%r<20>", 0), [9, 13, 13, 14, 14, 15, 17, 17]);
    assert_eq!(places(&names, TEXT, "bra L; }", 4), [16, 16]);
    assert_eq!(places(&names, TEXT, "bra L;", 4), [12, 17]);
    assert_eq!(places(&names, TEXT, "f, (", 0), [5, 17, 19]);
    assert_eq!(places(&names, TEXT, "table", 0), [4, 17]);
    assert_eq!(places(&names, TEXT, "a; }", 0), [19, 19]);
    assert_eq!(places(&names, TEXT, "p]", 1), [6, 11]);
    assert_eq!(symbol(&names, TEXT, "%p1", 0), None);
    assert_eq!(symbol(&names, TEXT, "%tid", 0), None);
    assert_eq!(names.occurrence_at(TEXT.find(".maxntid").unwrap() as u32 + 3), None);
}

#[test]
fn declarations_tell_their_kind_and_their_type() {
    let names = Names::new(TEXT);
    let told: Vec<(&str, NameKind, &str)> = names
        .declared()
        .iter()
        .map(|each| (each.name.text(TEXT), each.kind, each.specifiers.text(TEXT).trim()))
        .collect();
    assert_eq!(told[0], ("table", NameKind::Variable, ".global .align 4 .u32"));
    assert!(told.contains(&("%r", NameKind::Register, ".reg .b32")));
    assert!(told.contains(&("b", NameKind::Parameter, ".param .b64 .ptr .global")));
    assert!(told.contains(&("p", NameKind::Parameter, ".param .u64")));
    assert!(told.contains(&("k", NameKind::Kernel, ".visible .entry k(.param .u64 p)")));
    let kernel = names.declared().iter().find(|each| each.kind == NameKind::Kernel).unwrap();
    assert!(kernel.span.text(TEXT).ends_with("table);\n}"));
    let opcodes: Vec<&str> = names.instructions().iter().map(|each| each.opcode.text(TEXT)).collect();
    assert_eq!(opcodes[..3], ["ld.param.u64", "bra", "mov.u32"]);
    let at = TEXT.find("add.u32").unwrap() as u32 + 12;
    let visible: Vec<&str> = names.visible(at).map(|each| each.name.text(TEXT)).collect();
    assert_eq!(visible[..6], ["%r1", "L", "p", "%r", "%one", "L"]);
    assert!(visible.contains(&"f") && visible.contains(&"table"));
}

#[test]
fn any_text_has_names_and_every_place_is_in_it() {
    for start in 0..TEXT.len() {
        for text in
            [&TEXT[start..], &TEXT[..start], &TEXT.replace(';', "")[start / 2..], &TEXT.replace('}', "")]
        {
            let names = Names::new(text);
            let spans = names.occurrences().iter().map(|each| each.span);
            let spans: Vec<Span> = spans.chain(names.declared().iter().map(|each| each.span)).collect();
            assert!(spans.iter().all(|span| span.start <= span.end && span.end as usize <= text.len()));
            assert!(names.occurrences().is_sorted_by_key(|each| each.span.start));
            assert!(names.scopes().iter().all(|each| each.span.end as usize <= text.len()));
            for &each in names.occurrences() {
                let _ = names.resolve(text, each).map(|symbol| names.references(text, symbol));
            }
        }
    }
    let same = ".reg .b32 %r<1>;".repeat(20_000) + &"mov.b32 %r7, %r8;".repeat(20_000);
    let names = Names::new(&same);
    assert!(
        names
            .occurrences()
            .iter()
            .filter(|each| each.declares.is_none())
            .all(|each| names.resolve(&same, *each).is_none())
    );
    let closed = "{".repeat(50_000) + &"}".repeat(50_000) + &"ret;".repeat(50_000);
    let names = Names::new(&closed);
    assert!(names.instructions().iter().all(|each| names.scope_at(each.opcode.start) == 0));
    let deep = "{ .reg .b32 a; ".repeat(20_000) + "mov.b32 a, b;";
    let names = Names::new(&deep);
    assert_eq!(names.enclosing(names.scope_at(deep.len() as u32 - 1)).count(), 64);
}
