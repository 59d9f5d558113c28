//! What the toolkit knows of instructions and special registers, as text.

use std::fmt::Write;

use ptx_ir::isa::{FormId, OpcodeId, SpellingProblem, opcodes, resolve};
use ptx_ir::special::SpecialRegister;
use ptx_ir::target::{Suffix, Target};
use ptx_ir::version::Version;
use ptx_syntax::{Class, Diagnostic, Severity, Span};
use ptx_verify::Config;

/// The text for a spelling or a special register, for a terminal: the forms as the manual prints them.
pub fn page(word: &str) -> Option<String> {
    if word.starts_with('%') {
        return special(word);
    }
    let forms = forms(word)?;
    let mut text = String::new();
    let mut section = "";
    for form in forms {
        if form.section() != section {
            section = form.section();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}{section}\n", if text.is_empty() { "" } else { "\n" });
        }
        let _ = writeln!(text, "{form}");
        for deviation in form.deviations() {
            let _ = writeln!(text, "    differs from ptxas: {deviation}\n");
        }
    }
    Some(text)
}

/// The text for a spelling or a special register, for an editor.
pub fn markdown(word: &str) -> Option<String> {
    page(word).map(|text| format!("```ptx\n{}\n```\n", text.trim_end()))
}

/// The list of all instructions, by section of the manual.
pub fn list() -> String {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for opcode in opcodes() {
        for form in opcode.forms() {
            let section = form.section();
            let at = sections.iter().position(|(known, _)| *known == section).unwrap_or_else(|| {
                sections.push((section, Vec::new()));
                sections.len() - 1
            });
            if sections[at].1.last() != Some(&opcode.name()) {
                sections[at].1.push(opcode.name());
            }
        }
    }
    sections.sort();
    let mut text = String::new();
    for (section, names) in sections {
        let _ = writeln!(text, "{section}\n    {}\n", names.join(", "));
    }
    text
}

/// The opcode that is spelled most like the first part of `word`.
pub fn nearest(word: &str) -> Option<&'static str> {
    match resolve(word).problem {
        Some(SpellingProblem::UnknownOpcode { nearest, .. }) => nearest,
        _ => None,
    }
}

/// What is wrong with a spelling that no instruction has: the finding that it gets in a module, without place. `None`
/// where an instruction has it, or where it is the beginning of a longer one: `ld.global` is no instruction, and the
/// forms that have `.global` are a good answer.
pub fn misspelled(word: &str) -> Option<Diagnostic> {
    let opcode = OpcodeId::parse(word.split('.').next()?)?;
    match resolve(word).problem? {
        SpellingProblem::UnknownOpcode { .. } => return None,
        SpellingProblem::MissingModifier { .. } if !with_all_modifiers(opcode, word).is_empty() => {
            return None;
        }
        _ => {}
    }
    let version = Version::LATEST;
    let target = Target::all().rfind(|target| target.suffix() == Suffix::Plain)?;
    let before = format!(".version {version}\n.target {target}\n.address_size 64\n.func f()\n{{ ");
    let span = Span::new(before.len() as u32, (before.len() + word.len()) as u32);
    let module = format!("{before}{word};\n}}\n");
    let found = ptx_verify::check(&module, &Config::default()).into_iter();
    found
        .filter(|found| span.start <= found.span.start && found.span.end <= span.end)
        .find(|found| found.class == Class::Invalid && found.severity == Severity::Error)
}

/// The forms that have the spelling; where none has it, those that know all of its modifiers; where none
/// does, all of the opcode. `None` where there is no such opcode.
fn forms(word: &str) -> Option<Vec<FormId>> {
    let opcode = OpcodeId::parse(word.split('.').next()?)?;
    let all: Vec<FormId> = opcode.forms().filter(|form| !form.is_narrowed()).collect();
    if !word.contains('.') {
        return Some(all);
    }
    let instances = resolve(word).instances;
    let found = instances.iter().map(|instance| instance.form);
    let mut exact: Vec<FormId> = found.filter(|form| !form.is_narrowed()).collect();
    exact.dedup();
    if !exact.is_empty() {
        return Some(exact);
    }
    let some = with_all_modifiers(opcode, word);
    Some(if some.is_empty() { all } else { some })
}

/// The forms of an opcode that know all modifiers of a spelling.
fn with_all_modifiers(opcode: OpcodeId, word: &str) -> Vec<FormId> {
    let modifiers: Vec<String> = word.split('.').skip(1).map(|part| format!(".{part}")).collect();
    let knows =
        |form: &FormId, modifier: &String| form.slots().any(|slot| slot.values.contains(&modifier.as_str()));
    let forms = opcode.forms().filter(|form| !form.is_narrowed());
    forms.filter(|form| modifiers.iter().all(|each| knows(form, each))).collect()
}

/// A special register, with or without an element: `%tid.x`.
fn special(word: &str) -> Option<String> {
    let register = SpecialRegister::parse(word.split('.').next()?)?;
    let mut text = String::new();
    let vector = match register.elements() {
        1 => String::new(),
        count => format!(".v{count} "),
    };
    let _ = writeln!(text, ".sreg {vector}{} {};", register.ty(), register.name());
    let _ = writeln!(text, "    since PTX {}, {}", register.min_version(), register.targets());
    Some(text)
}
