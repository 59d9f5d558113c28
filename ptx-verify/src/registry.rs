//! Which rules there are.
//!
//! A rule is a file of `src/rules` with one [`declare_rule!`]; it is registered by its one line in
//! `src/rules/mod.rs`.

use ptx_syntax::{Class, Diagnostic, Severity, Span};

use crate::asm::stream::FileUnits;
use crate::asm::unit::Unit;
use crate::config::{Level, Levels};
use crate::context::{FlowContext, FunctionContext, ModuleContext};
use crate::instruction::Occurrence;

/// What users are told of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its name, such as `operand-type`.
    pub name: &'static str,
    /// Its code, such as `E0203`. Codes of class `invalid` begin with E, of class `hazard` with H, of class
    /// `style` with S.
    pub code: &'static str,
    /// Its class.
    pub class: Class,
    /// How loud it is unless the user says otherwise.
    pub default_level: Level,
    /// What it finds, in half a sentence.
    pub summary: &'static str,
    /// Its manual page, in Markdown.
    pub doc: &'static str,
}

/// When a rule is asked.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// Never: the parser, lowering, or the suppressions report it.
    Elsewhere,
    /// Once for a module.
    Module(fn(&ModuleContext<'_>, &mut Vec<Diagnostic>)),
    /// Once for each function that has a body.
    Function(fn(&FunctionContext<'_>, &mut Vec<Diagnostic>)),
    /// Once for each function that has a body, with what dataflow knows about it.
    Flow(fn(&FlowContext<'_>, &mut Vec<Diagnostic>)),
    /// Once for each thing that is wrong with an instruction, compared with the instruction table.
    Instruction(fn(&Occurrence<'_>) -> Option<Diagnostic>),
    /// Once for each asm statement of a CUDA source.
    Asm(fn(&Unit<'_>, &mut Vec<Diagnostic>)),
    /// Once for a CUDA source with all its asm statements.
    AsmFile(fn(&FileUnits<'_>, &mut Vec<Diagnostic>)),
}

/// A rule: what users are told, and what it does.
pub(crate) struct Rule {
    pub(crate) info: RuleInfo,
    pub(crate) check: Check,
    /// Other rules whose findings the check makes too.
    pub(crate) also: &'static [&'static Rule],
}

impl Rule {
    /// Whether anything that the check finds is reported. A rule that is off costs nothing.
    pub(crate) fn is_asked(&self, levels: &Levels) -> bool {
        let is_on = |rule: &Self| {
            levels.of(rule.info.name, rule.info.class).unwrap_or(rule.info.default_level) != Level::Allow
        };
        is_on(self) || self.also.iter().any(|rule| is_on(rule))
    }

    /// Whether the check may make a finding of that rule.
    pub(crate) fn makes(&self, name: &str) -> bool {
        self.info.name == name || self.also.iter().any(|rule| rule.info.name == name)
    }

    /// A finding of this rule, at the level it has by default.
    pub(crate) fn at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        // A rule that is off by default was asked for.
        let severity = self.info.default_level.severity().unwrap_or(Severity::Warning);
        Diagnostic::new(self.info.class, severity, self.info.code, self.info.name, span, message)
    }
}

/// A message about the first of several things that have one cause, which are one finding.
pub(crate) fn with_others(message: String, others: usize, noun: &str) -> String {
    match others {
        0 => message,
        1 => format!("{message} (and 1 other {noun})"),
        _ => format!("{message} (and {others} other {noun}s)"),
    }
}

/// Declares the `RULE` of a file. The doc comment is the manual page, with the headings "What it does", "Why is
/// this bad", "Example", "Use instead" and "What it may miss".
macro_rules! declare_rule {
    (
        $(#[doc = $doc:literal])*
        name: $name:literal,
        code: $code:literal,
        class: $class:ident,
        level: $level:ident,
        summary: $summary:literal,
        check: $check:expr,
        $(also: [$($also:ident),+],)?
    ) => {
        $(#[doc = $doc])*
        pub(crate) static RULE: $crate::registry::Rule = $crate::registry::Rule {
            info: $crate::registry::RuleInfo {
                name: $name,
                code: $code,
                class: ::ptx_syntax::Class::$class,
                default_level: $crate::config::Level::$level,
                summary: $summary,
                doc: concat!($($doc, "\n"),*),
            },
            check: {
                #[expect(unused_imports, reason = "a rule names the one variant it needs")]
                use $crate::registry::Check::{Asm, AsmFile, Elsewhere, Flow, Function, Instruction, Module};
                $check
            },
            also: &[$($(&$crate::rules::$also::RULE),+)?],
        };
    };
}
pub(crate) use declare_rule;

/// Every rule, in the order of the codes.
pub fn rules() -> impl Iterator<Item = &'static RuleInfo> {
    crate::rules::ALL.iter().map(|rule| &rule.info)
}

/// The rule with this name or code.
#[must_use]
pub fn find_rule(name: &str) -> Option<&'static RuleInfo> {
    rules().find(|rule| rule.name == name || rule.code.eq_ignore_ascii_case(name))
}

/// Longer names than this are compared with none.
const MAX_NAME: usize = 100;

/// The name of the rule that is spelled most like `name`, if one is near.
#[must_use]
pub fn nearest_rule(name: &str) -> Option<&'static str> {
    // A text of any length may stand where a name belongs; none of that length is near one.
    if name.len() > MAX_NAME {
        return None;
    }
    let (distance, nearest) = rules()
        .map(|rule| (edit_distance(rule.name, name), rule.name))
        .min_by_key(|&(distance, _)| distance)?;
    (distance <= name.len().max(3) / 3).then_some(nearest)
}

/// How many letters have to be changed, added or removed to get from `a` to `b`.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, letter) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, &other) in b.iter().enumerate() {
            let above = row[column + 1];
            let change = diagonal + usize::from(letter != other);
            row[column + 1] = change.min(above + 1).min(row[column] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, find_rule, nearest_rule, rules};
    use ptx_syntax::Class;
    use std::collections::BTreeSet;

    #[test]
    fn names_and_codes_are_unique_and_say_what_they_are() {
        let mut seen = BTreeSet::new();
        for rule in rules() {
            assert!(
                seen.insert(rule.name) && seen.insert(rule.code),
                "{} or {} is twice",
                rule.name,
                rule.code
            );
            let letter = match rule.class {
                Class::Invalid => 'E',
                Class::Hazard => 'H',
                Class::Style => 'S',
            };
            assert!(rule.code.len() == 5 && rule.code.starts_with(letter), "{}", rule.code);
            assert_eq!(find_rule(rule.code), find_rule(rule.name));
        }
    }

    #[test]
    fn every_page_has_its_headings() {
        for rule in rules() {
            let mut rest = rule.doc;
            for heading in [
                "## What it does",
                "## Why is this bad",
                "## Example",
                "## Use instead",
                "## What it may miss",
            ] {
                let at = rest.find(heading).unwrap_or_else(|| panic!("{} lacks `{heading}`", rule.name));
                rest = &rest[at..];
            }
            assert!(!rule.summary.ends_with('.') && !rule.summary.is_empty(), "{}", rule.name);
        }
    }

    /// The PTX blocks below a heading of a page, each as a module.
    fn blocks(doc: &str, heading: &str) -> Vec<String> {
        let Some((_, section)) = doc.split_once(heading) else { return Vec::new() };
        let section = section.split("\n ## ").next().unwrap_or(section);
        let fenced = section.split("```").collect::<Vec<_>>();
        fenced.iter().skip(1).step_by(2).filter_map(|block| block.strip_prefix("ptx\n")).map(module).collect()
    }

    /// Wraps an example into what it leaves out: a header, a kernel, declared registers.
    fn module(block: &str) -> String {
        let block: String =
            block.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
        if block.contains(".version") {
            return block;
        }
        let header = ".version 9.0\n.target sm_90a\n.address_size 64\n";
        let whole = block.contains(".entry") || block.contains(".func") || block.contains(".section");
        let declaration = |line: &&str| {
            line.starts_with('.') && ![".reg", ".pragma", ".loc "].iter().any(|word| line.starts_with(word))
        };
        if whole || block.lines().all(|line| declaration(&line)) {
            return format!("{header}{block}");
        }
        let (outside, inside): (Vec<&str>, Vec<&str>) = block.lines().partition(declaration);
        let registers =
            [("%p", "pred"), ("%r", "b32"), ("%rd", "b64"), ("%f", "f32"), ("%fd", "f64"), ("%h", "b16")];
        let used = |name: &str| {
            let numbered = |digit: char| block.contains(&format!("{name}{digit}"));
            ('0'..='9').any(numbered) && !block.contains(&format!("{name}<"))
        };
        let registers = registers.iter().filter(|(name, _)| used(name));
        let registers: String = registers.map(|(name, ty)| format!(".reg .{ty} {name}<16>;\n")).collect();
        let mut outside = outside.join("\n");
        for (name, declaration) in [
            ("global_array", "\n.global .align 16 .b8 global_array[64];"),
            ("helper", "\n.func helper()\n{\nret;\n}"),
        ] {
            if block.contains(name) {
                outside.push_str(declaration);
            }
        }
        let end = if block.trim_end().ends_with("ret;") { "" } else { "ret;\n" };
        format!(
            "{header}{outside}\n.entry example(.param .u64 p)\n{{\n{registers}{}\n{end}}}\n",
            inside.join("\n")
        )
    }

    #[test]
    fn examples_show_the_fault_and_its_cure() {
        let mut wrong = Vec::new();
        let mut config = crate::config::Config::default();
        for rule in rules() {
            if rule.default_level == crate::config::Level::Allow {
                config.levels.set(rule.name, crate::config::Level::Warn).unwrap();
            }
        }
        for rule in rules().filter(|rule| !rule.name.starts_with("asm-")) {
            for (heading, faulty) in [("## Example", true), ("## Use instead", false)] {
                for text in blocks(rule.doc, heading) {
                    let found = crate::check(&text, &config);
                    if found.iter().any(|each| each.rule == rule.name) != faulty {
                        let found: Vec<_> = found.iter().map(|each| (each.rule, &each.message)).collect();
                        wrong.push(format!("{} {heading}: {found:?}", rule.name));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_file_of_rules_is_registered() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        let mut files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
            .collect();
        files.remove("mod");
        let names: BTreeSet<String> = rules().map(|rule| rule.name.replace('-', "_")).collect();
        assert_eq!(files, names);
    }

    #[test]
    fn near_names_are_found() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(nearest_rule("operand-tipe"), Some("operand-type"));
        assert_eq!(nearest_rule("something-else-entirely"), None);
    }
}
