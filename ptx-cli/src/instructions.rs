//! What instructions do, in half a sentence, and how they look.

use std::sync::LazyLock;

use ptx_ir::isa::FormId;

/// What forms of an instruction do.
#[derive(Debug)]
pub struct Instruction {
    words: Vec<&'static str>,
    /// What they do, in half a sentence.
    pub purpose: &'static str,
    /// A statement, where one says more than the form.
    pub example: Option<&'static str>,
}

/// The instructions, as `instructions.txt` lists them.
static INSTRUCTIONS: LazyLock<Vec<Instruction>> =
    LazyLock::new(|| include_str!("instructions.txt").lines().filter_map(row).collect());

/// The instruction of a line; `None` for a comment.
fn row(line: &'static str) -> Option<Instruction> {
    let (words, rest) = line.split_once(" | ").filter(|_| !line.starts_with('#'))?;
    let (purpose, example) = rest.split_once(" | ")?;
    let example = Some(example).filter(|example| *example != "-");
    Some(Instruction { words: words.split('.').collect(), purpose, example })
}

/// What a form does, in half a sentence: as the table says it, else as its row does.
pub fn purpose(form: FormId) -> Option<&'static str> {
    form.purpose().or_else(|| of(form).map(|row| row.purpose))
}

/// The row of a form.
pub fn of(form: FormId) -> Option<&'static Instruction> {
    let syntax = form.syntax();
    let spelling = without_braces(syntax.split_whitespace().next()?);
    let words: Vec<&str> = spelling.trim_end_matches(';').split('.').collect();
    INSTRUCTIONS.iter().filter(|each| each.is_in(&words)).max_by_key(|each| each.words.len())
}

impl Instruction {
    fn is_in(&self, words: &[&str]) -> bool {
        let mut left = words.iter();
        words.first() == self.words.first() && self.words.iter().all(|word| left.any(|each| each == word))
    }
}

fn without_braces(text: &str) -> String {
    let mut depth = 0_u32;
    let outside = text.chars().filter(|each| match each {
        '{' => {
            depth += 1;
            false
        }
        '}' => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0,
    });
    outside.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_ir::isa::{OpcodeId, opcodes, resolve};
    use ptx_syntax::{Class, Severity};
    use ptx_verify::Config;

    #[test]
    fn every_line_is_a_comment_or_an_instruction_that_a_form_needs() {
        let forms: Vec<FormId> = opcodes().flat_map(OpcodeId::forms).collect();
        let without: Vec<String> = forms
            .iter()
            .filter(|form| purpose(**form).is_none())
            .map(|form| form.syntax().to_string())
            .collect();
        assert_eq!(without, Vec::<String>::new(), "these forms lack a row");
        let used = |row: &Instruction| {
            forms.iter().any(|form| of(*form).is_some_and(|each| std::ptr::eq(each, row)))
        };
        let unused: Vec<String> =
            INSTRUCTIONS.iter().filter(|row| !used(row)).map(|row| row.words.join(".")).collect();
        assert_eq!(unused, Vec::<String>::new(), "these rows are of no form");
        let lines = include_str!("instructions.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.count(), INSTRUCTIONS.len());
    }

    #[test]
    fn every_example_is_right_and_an_example_of_its_row() {
        for row in INSTRUCTIONS.iter() {
            let Some(example) = row.example else { continue };
            let statement = example.strip_prefix("@%p1 ").unwrap_or(example);
            let spelling = statement.split([' ', ';']).next().unwrap();
            let is_of_row = |form| of(form).is_some_and(|each| std::ptr::eq(each, row));
            let instances = resolve(spelling).instances;
            assert!(instances.iter().any(|instance| is_of_row(instance.form)), "{example}");
            let errors = ["sm_90a", "sm_100a", "sm_120a"].map(|target| errors(target, example));
            assert!(errors.iter().any(Vec::is_empty), "{example}: {errors:?}");
        }
    }

    fn errors(target: &str, statement: &str) -> Vec<String> {
        let text = format!(
            ".version 9.3\n.target {target}\n.address_size 64\n\
             .func (.param .b32 o) callee(.param .b32 i) {{ ret; }}\n\
             .visible .entry k() {{\n\
             .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %rq<3>;\n\
             .reg .f32 %f<9>; .reg .f64 %fd<3>;\n\
             targets: .branchtargets label;\n\
             {statement}\nlabel: ret;\n}}\n"
        );
        let found = ptx_verify::check(&text, &Config::default()).into_iter();
        let wrong = found.filter(|found| found.class == Class::Invalid && found.severity == Severity::Error);
        wrong.map(|found| found.message).collect()
    }
}
