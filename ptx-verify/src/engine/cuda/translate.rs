//! What the rules for PTX find in a statement's function, brought back into the CUDA source.

use std::collections::HashSet;

use ptx_ir::ir::{Handle, Statement};
use ptx_ir::isa::resolve;
use ptx_syntax::cuda::{FunctionId, Truth};
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Applicability, Class, Diagnostic, Edit, Fix, Severity, Span};

use crate::engine::{check, problems};
use crate::rule::Scope;
use crate::rules;
use crate::rules::asm::{
    asm_constraint_type_mismatch, asm_control_flow_escape, asm_immediate_not_allowed, asm_missing_separator,
    asm_target_feature, asm_unused_operand, asm_uses_compiler_register,
};
use crate::rules::declaration::pragma;
use crate::rules::instruction::unknown_opcode;
use crate::subject::fragment::expand::ProblemKind;
use crate::subject::fragment::surroundings::Surroundings;
use crate::subject::fragment::unit::{Unit, inside};

/// A finding, or one that depends on what other statements of the file declare.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are plain, and few are kept")]
pub(crate) enum Found {
    /// A finding.
    Plain(Diagnostic),
    /// A name that the statement does not declare.
    Undeclared(Box<Undeclared>),
}

/// A name that the statement does not declare.
#[derive(Clone, Debug)]
pub(crate) struct Undeclared {
    name: String,
    function: Option<FunctionId>,
    /// What is said if another statement declares a label of this name.
    label: Diagnostic,
    /// What is said if none declares the name.
    missing: Option<Diagnostic>,
    /// Whether the name may be one of the C++ program.
    may_be_of_program: bool,
    /// The same for other values of the statement's constants.
    others: Vec<Self>,
}

impl Found {
    /// What may be said.
    pub(crate) fn parts(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        let (first, second) = match self {
            Self::Plain(found) => (found, None),
            Self::Undeclared(found) => (&mut found.label, found.missing.as_mut()),
        };
        std::iter::once(first).chain(second)
    }

    /// Where, and what rule.
    pub(crate) const fn key(&self) -> (Span, &'static str) {
        let found = match self {
            Self::Plain(found) => found,
            Self::Undeclared(found) => &found.label,
        };
        (found.span, found.code)
    }

    /// Makes it depend on what is found there for other values of the statement's constants.
    pub(crate) fn also_depends_on(&mut self, other: &Self) {
        if let (Self::Undeclared(found), Self::Undeclared(other)) = (self, other) {
            found.others.push((**other).clone());
        }
    }

    /// The finding, now that all statements of the file are known. `has_word` says whether the program has a word.
    pub(crate) fn resolved<'s>(
        self,
        shared: &Shared,
        has_word: impl Fn(&str) -> bool,
        surroundings: impl Fn() -> &'s Surroundings,
    ) -> Option<Diagnostic> {
        match self {
            Self::Plain(found) => Some(found),
            Self::Undeclared(found) => {
                let said = |found: &Undeclared| found.said(shared, &has_word, &surroundings);
                said(&found).filter(|_| found.others.iter().all(|other| said(other).is_some()))
            }
        }
    }
}

impl Undeclared {
    fn said<'s>(
        &self,
        shared: &Shared,
        has_word: &impl Fn(&str) -> bool,
        surroundings: &impl Fn() -> &'s Surroundings,
    ) -> Option<Diagnostic> {
        if Shared::has(&shared.labels, &self.name, self.function) {
            return Some(self.label.clone());
        }
        if Shared::has(&shared.names, &self.name, self.function) {
            return None;
        }
        let missing = self.missing.clone()?;
        if self.may_be_of_program && has_word(&self.name) {
            return None;
        }
        let surroundings = surroundings();
        if surroundings.declares(&self.name) {
            return None;
        }
        if !surroundings.is_incomplete() {
            return Some(missing);
        }
        let severity = missing.severity.min(Severity::Warning);
        let found = Diagnostic { severity, ..missing };
        Some(found.with_note("an included file that was not found may declare it"))
    }
}

/// What templates of the file declare: another statement may use it, as far as the compiler puts the two into one
/// function.
#[derive(Default)]
pub(crate) struct Shared {
    /// Names of every kind, with the kernel that has them for itself; none where the function may be inlined.
    names: HashSet<(String, Option<FunctionId>)>,
    /// Those of labels.
    labels: HashSet<(String, Option<FunctionId>)>,
}

impl Shared {
    /// Whether a statement of `function` may see a name.
    fn has(names: &HashSet<(String, Option<FunctionId>)>, name: &str, function: Option<FunctionId>) -> bool {
        let declared = |by: Option<FunctionId>| names.contains(&(name.to_owned(), by));
        declared(None) || (function.is_some() && declared(function))
    }

    /// Adds the names that a statement declares for others.
    pub(crate) fn add(&mut self, unit: &Unit<'_>) {
        let names = &mut self.names;
        let Some((_, body)) = unit.function() else { return };
        let symbols = &unit.lowered().module.symbols;
        let kernel = unit.statement.function.filter(|id| unit.file.function(*id).qualifiers.global);
        // What stands in braces of the statement's own is seen by no other.
        let open = unit.open_braces > 0;
        let mut depth = 0;
        for statement in &body.statements {
            match statement {
                Statement::Open => depth += 1,
                Statement::Close => depth -= 1,
                _ if depth > 0 && !open => {}
                Statement::Registers(group) => {
                    let group = &body.registers[*group];
                    if inside(unit.template, group.span) {
                        names.insert((symbols.name(group.name).to_owned(), kernel));
                    }
                }
                Statement::Label(label) => {
                    let name = symbols.name(body.labels[*label].name);
                    names.insert((name.to_owned(), kernel));
                    self.labels.insert((name.to_owned(), kernel));
                }
                Statement::Variable(variable) => {
                    let variable = &unit.lowered().module.variables[*variable];
                    names.insert((symbols.name(variable.name).to_owned(), kernel));
                }
                Statement::Instruction(_) | Statement::Directive(_) => {}
                Statement::Targets(_) | Statement::Prototype(_) => {}
            }
        }
    }
}

/// Whether the statement needs a newer or another target than it is verified for.
pub(crate) fn needs_another_target(unit: &Unit<'_>) -> bool {
    let Some((_, body)) = unit.function() else { return false };
    let module = &unit.lowered().module;
    let header = &module.header;
    // Up to sm_90 `f` and `d` are of floating-point type: where it is not known whether the statement is compiled
    // for such a target, one that mixes types is taken to be for newer ones.
    let floats = unit.operands.iter().any(|operand| matches!(operand.letter, Some('f' | 'd')));
    let typed = floats && unit.aim.compiled == Truth::Unknown && unit.aim.target.number() < 100;
    unit.instructions().any(|instruction| {
        let instruction = &body.instructions[Handle::new(instruction)];
        let instances = &module.spellings[instruction.spelling].resolved.instances;
        if typed && instruction.instance.is_none() && !instances.is_empty() {
            return true;
        }
        let chosen = match instruction.instance {
            Some(index) => instances.get(usize::from(index)..=usize::from(index)).unwrap_or(&[]),
            None => instances,
        };
        !chosen.is_empty() && chosen.iter().all(|instance| !instance.targets.contains(header.target))
    })
}

/// Appends what the rules for PTX find. `requested` says that the user asked for the target.
pub(crate) fn findings(unit: &Unit<'_>, requested: bool, out: &mut Vec<Found>) {
    if !unit.statement.complete {
        return;
    }
    let found = unit.findings.get_or_init(|| {
        let mut found: Vec<Diagnostic> = unit.errors.iter().map(problems::of_syntax).collect();
        found.extend(problems::lowering_findings(unit.lowered()));
        found.extend(check::verify_part(&unit.lowered().module, &unit.text, unit.template));
        if unit.broken {
            found.retain(|each| each.class == Class::Invalid);
        }
        found
    });
    if found.is_empty() {
        return;
    }
    let mut said_syntax = false;
    let unknown: Vec<Span> = found
        .iter()
        .filter(|each| each.rule == unknown_opcode::RULE.info.name)
        .map(|each| each.span)
        .collect();
    for each in found {
        if each.rule == "syntax" {
            // One message: what a parser says after the first mistake in so short a text is noise.
            if !said_syntax {
                out.extend(syntax(unit, each.clone(), &unknown).map(Found::Plain));
                said_syntax = true;
            }
            continue;
        }
        let Some(relative) = unit.relative(each.span) else { continue };
        if unit.expanded.is_uncertain(relative) || is_about_whole_function(unit, each) {
            continue;
        }
        out.extend(translated(unit, requested, each.clone(), relative));
    }
}

fn is_about_whole_function(unit: &Unit<'_>, found: &Diagnostic) -> bool {
    let rule = found.rule;
    let whole = rules::of_name(rule).is_some_and(|rule| rule.scope == Scope::Whole);
    // A carry that comes from outside is the business of the stream; one that some path lacks is not.
    let stream = rule == "carry-undefined" && found.severity == Severity::Error;
    let unknown_code = rule.contains("uninitialized") && unit.expanded.has_wildcards;
    // A function that is inlined is a part of the kernel.
    let function = unit.statement.function.map(|id| unit.file.function(id).qualifiers);
    let inlined = !function.is_some_and(|known| known.no_inline);
    let of_kernel = || pragma::is_of_kernels(found.span.text(&unit.text).trim_matches('"'));
    let of_kernel = rule == "pragma" && inlined && of_kernel();
    whole || stream || unknown_code || of_kernel
}

fn translated(unit: &Unit<'_>, requested: bool, found: Diagnostic, relative: Span) -> Option<Found> {
    let operand = unit.expanded.operand_at(relative);
    let translated = match found.rule {
        "undeclared-name" | "undeclared-label" => {
            let named = Some(found).filter(|_| operand.is_none());
            return named.map(|found| Found::Undeclared(Box::new(undeclared(unit, found))));
        }
        "target-too-low" | "version-too-low" => {
            let certain = unit.aim.compiled == Truth::True;
            let keep = if requested { certain } else { found.rule == "version-too-low" && certain };
            keep.then(|| moved(unit, asm_target_feature::from(unit, found)))
        }
        "operand-type" | "operand-kind" | "immediate-value" => match operand {
            Some(index) if unit.operands[index].constant => {
                Some(moved(unit, asm_immediate_not_allowed::from(unit, found, index)))
            }
            Some(index) if unit.operands[index].register.is_some() && found.rule == "operand-type" => {
                Some(moved(unit, asm_constraint_type_mismatch::from(unit, found, index)))
            }
            // The type of the operand is not known.
            Some(_) if found.rule == "operand-type" => None,
            _ => Some(without_percent(unit, found)),
        },
        _ => Some(moved(unit, found)),
    };
    translated.map(Found::Plain)
}

/// A finding about a number; where that is the number of an operand which the template never names, its `%` is missing.
fn without_percent(unit: &Unit<'_>, found: Diagnostic) -> Diagnostic {
    let Some(index) = asm_unused_operand::is_operand_without_percent(unit, found.span) else {
        return moved(unit, found);
    };
    let edit = Edit { span: Span::at(found.span.start), replacement: "%".into() };
    let meant = format!("write `%{index}`");
    let mut found = Diagnostic { fix: None, help: None, ..found };
    found.help = Some(format!("the template never names `{}: {meant}", unit.operand_name(index)));
    // The `%` of an operand stays single: it is no text.
    let place = unit.place(edit.span).filter(|_| !unit.statement.is_of_macro());
    let moved = moved(unit, found);
    match place.filter(|_| unit.statement.variant == 0) {
        Some(span) => moved.with_fix(meant, Applicability::Likely, vec![Edit { span, ..edit }]),
        None => moved,
    }
}

fn undeclared(unit: &Unit<'_>, found: Diagnostic) -> Undeclared {
    let name = found.span.text(&unit.text).to_owned();
    let label = moved(unit, asm_control_flow_escape::branch(found.span, &name));
    let of_compiler = asm_uses_compiler_register::is_such(&name);
    // A variable, a function or a label of the program: whether it is in sight is not known. OptiX itself has the
    // functions of its prefix, and takes the PTX instead of the assembler.
    let of_others = name.starts_with("_Z") || name.starts_with("_optix_");
    let missing = match (unit.expanded.has_wildcards || of_others, of_compiler) {
        (true, _) => None,
        (false, true) => Some(moved(unit, asm_uses_compiler_register::from(unit, found))),
        (false, false) => Some(moved(unit, found)),
    };
    let may_be_of_program = !of_compiler && !name.starts_with('%');
    let (function, others) = (unit.statement.function, Vec::new());
    Undeclared { name, function, label, missing, may_be_of_program, others }
}

/// A syntax error; where only a `;` is missing, that is said instead, except after what is no instruction anyway:
/// `unknown` are the opcodes that no instruction has.
fn syntax(unit: &Unit<'_>, found: Diagnostic, unknown: &[Span]) -> Option<Diagnostic> {
    // What is wrong with a `%` is said elsewhere.
    let doubled =
        unit.expanded.problems.iter().any(|problem| problem.kind == ProblemKind::DoubledWithoutOperands);
    if unit.expanded.has_wildcards || doubled {
        return None;
    }
    match missing_separator(unit) {
        Some(MissingSeparator { after: at, begin, is_last }) if at.end <= unit.relative_end(found.span) => {
            let instruction = Span::new(begin, at.end);
            let mut unknown = unknown.iter().filter_map(|span| unit.relative(*span));
            if unknown.any(|span| inside(instruction, span)) {
                return None;
            }
            let span = unit.expanded.source(&unit.statement.template.map, at)?;
            let insertion = unit.expanded.behind(&unit.statement.template.map, at);
            Some(asm_missing_separator::finding(span, is_last, insertion, unit.statement.host))
        }
        _ => {
            let span = match unit.relative(found.span) {
                Some(_) => found.span,
                // The end of the template, or of the function, came too early.
                None => Span::at(unit.template.end),
            };
            Some(moved(unit, Diagnostic { span, ..found }))
        }
    }
}

/// A place where a `;` is missing: an instruction begins, or the text ends, though none was ended.
struct MissingSeparator {
    /// The last token of the instruction that is not ended.
    after: Span,
    /// Where that instruction begins.
    begin: u32,
    /// Whether it is the template's last.
    is_last: bool,
}

fn missing_separator(unit: &Unit<'_>) -> Option<MissingSeparator> {
    let text = &unit.expanded.text;
    let mut previous: Option<(TokenKind, Span)> = None;
    let mut in_instruction = false;
    let mut begin = 0;
    for token in Lexer::new(text).filter(|token| !token.kind.is_trivia()) {
        let (kind, span) = (token.kind, token.span);
        let word = matches!(kind, TokenKind::Name | TokenKind::Dotted);
        let begins = kind == TokenKind::At || (word && resolve(span.text(text)).opcode.is_some());
        let after = previous.map(|(kind, _)| kind);
        if in_instruction && begins && !matches!(after, Some(TokenKind::Comma | TokenKind::OpenBracket)) {
            let ended = matches!(
                after,
                Some(TokenKind::Name | TokenKind::Dotted | TokenKind::Integer | TokenKind::Float)
                    | Some(TokenKind::CloseBracket | TokenKind::CloseBrace | TokenKind::CloseParen)
            );
            let guard = after == Some(TokenKind::At) || after == Some(TokenKind::Not);
            if ended && !guard && !is_guard(text, previous) {
                return previous.map(|(_, after)| MissingSeparator { after, begin, is_last: false });
            }
        }
        match kind {
            TokenKind::Semicolon | TokenKind::Colon => in_instruction = false,
            TokenKind::OpenBrace | TokenKind::CloseBrace if !in_instruction => {}
            _ => {
                if !in_instruction {
                    begin = span.start;
                }
                in_instruction = true;
            }
        }
        previous = Some((kind, span));
    }
    previous.filter(|_| in_instruction).map(|(_, after)| MissingSeparator { after, begin, is_last: true })
}

/// Whether the token is the predicate of a guard: `@p` or `@!p`.
fn is_guard(text: &str, token: Option<(TokenKind, Span)>) -> bool {
    let Some((_, span)) = token else { return false };
    let before = text.get(..span.start as usize).unwrap_or("").trim_end();
    before.ends_with('@') || before.strip_suffix('!').is_some_and(|rest| rest.trim_end().ends_with('@'))
}

/// A finding with its places, and its fix where that is possible, in the CUDA source.
pub(crate) fn moved(unit: &Unit<'_>, found: Diagnostic) -> Diagnostic {
    let whole = unit.statement.template.span;
    let fix = found.fix.and_then(|fix| moved_fix(unit, fix));
    let mut labels = found.labels;
    labels.retain_mut(|label| match unit.place(label.span) {
        Some(span) => {
            label.span = span;
            true
        }
        None => false,
    });
    Diagnostic { span: unit.place(found.span).unwrap_or(whole), labels, fix, ..found }
}

fn moved_fix(unit: &Unit<'_>, fix: Fix) -> Option<Fix> {
    // The text of a macro is shared by all its uses, and other variants have the same text.
    if unit.statement.is_of_macro() || unit.statement.variant > 0 {
        return None;
    }
    let mut edits = Vec::new();
    for edit in fix.edits {
        let relative = unit.relative(edit.span)?;
        let span = unit.expanded.editable(&unit.statement.template.map, relative)?;
        edits.push(Edit { span, replacement: escaped(unit, &edit.replacement) });
    }
    let applicability = fix.applicability;
    Some(Fix { message: fix.message, applicability, edits })
}

/// Text as it stands in the string literal.
fn escaped(unit: &Unit<'_>, text: &str) -> String {
    let percent = if unit.statement.operands().next().is_some() { "%%" } else { "%" };
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '%' => out.push_str(percent),
            other => out.push(other),
        }
    }
    out
}
