use ptx_facts::FunctionFacts;
use ptx_facts::initialization::Unset;
use ptx_ir::ir::Operand;
use ptx_ir::isa::Computation;
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Severity, Span};

use crate::rule::declare_rule;
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;
use crate::subject::producer::Printed;

declare_rule! {
    /// ## What it does
    /// Reports a register that is read though no write of it can come before, whatever path control takes, and that some
    /// instruction looks at: it stores what is computed from the register, uses it as an address, a guard or an argument,
    /// or hands it to other threads. Bits that are masked, shifted out or cut off before are not looked at. It is a
    /// warning where nothing in the function ever sets the register and it is one of a range `%r<N>`: that is how
    /// compilers print an operand whose value does not matter. Where the register is only a part of what is stored, or of
    /// an output of an asm statement, and another part is set, it is a warning too, and information if it has 8 bits:
    /// such a register fills up what cannot be narrower, as in `mov.b32 %0, {b0, b1, b2, b3};` with a value in `b0` alone.
    /// A store of a list, as in `st.v2.u8 [%rd1], {%rs1, %rs2};`, is the same as one of what it packs together.
    /// In what NVIDIA's compiler and LLVM have printed it is information always: the gaps of structures are copied so.
    ///
    /// ## Why is this bad
    /// The assembler accepts it without a word and picks any value. PTX ISA manual, section "Variables": a
    /// register has no value until an instruction gives it one.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .u32 %r<3>;
    /// add.u32 %r2, %r1, 1;
    /// st.local.u32 [4], %r2;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .u32 %r<3>;
    /// mov.u32 %r1, 0;
    /// add.u32 %r2, %r1, 1;
    /// st.local.u32 [4], %r2;
    /// ```
    ///
    /// ## What it may miss
    /// Only the first read of each register is reported, and what one list reads in one finding. A byte of the function's
    /// own memory that gets a register which nothing sets is an object without members, and silent. Where following all
    /// paths would take too long, conditions are not considered.
    name: "uninitialized-register",
    code: "P0501",
    former: ["H0301"],
    class: Hazard,
    level: Error,
    summary: "a register that nothing sets before it is read",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found = context
        .unset()
        .iter()
        .filter(|unset| unset.certain && !is_predicate(context, unset) && !is_empty_object(context, unset));
    for Together { first, names, verb, span, all } in by_operand(context, found) {
        let finding = RULE.at(span, format!("{names} {verb} read, but nothing sets {} before", it(&all)));
        let graded = all.iter().map(|unset| grade(context, unset)).max_by_key(|grade| grade.0);
        let finding = explain(context, first, finding);
        diagnostics.push(match graded {
            Some(grade) => grade.of(finding),
            None => finding,
        });
    }
}

/// The word for what was named.
pub(crate) fn it(all: &[&Unset]) -> &'static str {
    if all.len() == 1 { "it" } else { "them" }
}

/// Registers that one operand reads though they are unset: one finding.
pub(crate) struct Together<'u> {
    /// The first of them.
    pub(crate) first: &'u Unset,
    /// All of them, in backticks; of many, how many there are besides the first.
    pub(crate) names: String,
    /// `is` or `are`.
    pub(crate) verb: &'static str,
    /// The operand, or the only element of it that is meant.
    pub(crate) span: Span,
    /// All of them.
    pub(crate) all: Vec<&'u Unset>,
}

/// Puts together what one operand reads.
pub(crate) fn by_operand<'u>(
    context: &FlowContext<'_>,
    found: impl Iterator<Item = &'u Unset>,
) -> Vec<Together<'u>> {
    /// Names of more registers than these are counted.
    const MAX_NAMES: usize = 8;
    let mut groups: Vec<Vec<&Unset>> = Vec::new();
    for unset in found {
        match groups.last_mut() {
            Some(group) if group.iter().all(|one| is_same_operand(one, unset)) => group.push(unset),
            Some(_) | None => groups.push(vec![unset]),
        }
    }
    let together = |all: Vec<&'u Unset>| {
        let first = *all.first()?;
        let shown = if all.len() <= MAX_NAMES { all.len() } else { MAX_NAMES - 1 };
        let name = |unset: &&Unset| {
            format!("`{}`", register_name(context.module.module, context.body, unset.register))
        };
        let mut names: Vec<String> = all.iter().take(shown).map(name).collect();
        if all.len() > shown {
            names.push(format!("{} others", all.len() - shown));
        }
        let last = names.pop()?;
        let names = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
        let (verb, span) = match all[..] {
            [only] => ("is", element(context, only).unwrap_or_else(|| place(context, only))),
            _ => ("are", place(context, first)),
        };
        Some(Together { first, names, verb, span, all })
    };
    groups.into_iter().filter_map(together).collect()
}

fn is_same_operand(one: &Unset, other: &Unset) -> bool {
    (one.instruction, one.operand) == (other.instruction, other.operand)
}

/// The place of the register in a list.
fn element(context: &FlowContext<'_>, unset: &Unset) -> Option<Span> {
    let operand = context.body.operands(FunctionFacts::handle(unset.instruction)).get(unset.operand?)?;
    let Operand::Vector(run) = operand else { return None };
    let is_it = |element: &Operand| matches!(element, Operand::Register { register, .. } if *register == unset.register);
    let index = context.body.children(*run).iter().position(is_it)?;
    context.body.child_spans.get(run.range()).and_then(|spans| spans.get(index)).copied()
}

/// The operand that reads the register, or the guard.
pub(crate) fn place(context: &FlowContext<'_>, unset: &Unset) -> Span {
    let handle = FunctionFacts::handle(unset.instruction);
    match unset.operand {
        Some(operand) => context.body.operand_span(handle, operand),
        None => {
            let span = context.body.span(handle);
            let length = context.module.text(span).find(char::is_whitespace).unwrap_or(0) as u32;
            Span::new(span.start, span.start + length)
        }
    }
}

/// Whether the register is a predicate, which has a rule of its own.
pub(crate) fn is_predicate(context: &FlowContext<'_>, unset: &Unset) -> bool {
    context.body.register_type(unset.register) == Some(ptx_ir::types::Type::Pred)
}

/// Whether this passes or copies an object without members: C++ gives it a byte, and compilers store a register there
/// that nothing ever sets.
fn is_empty_object(context: &FlowContext<'_>, unset: &Unset) -> bool {
    let Some(facts) = context.facts() else { return false };
    let Some(instance) = facts.instance(unset.instruction) else { return false };
    if !facts.definitions(unset.register).is_empty() {
        return false;
    }
    let operands = context.body.operands(FunctionFacts::handle(unset.instruction));
    instance.operands.iter().zip(0..operands.len()).any(|(spec, index)| {
        let Some(access) = spec.access.filter(|access| access.writes && access.bytes == 1) else {
            return false;
        };
        let is_own = |space: StateSpace| matches!(space.base(), StateSpace::Param | StateSpace::Local);
        access.space.is_some_and(is_own)
            || context.accesses_of(unset.instruction).any(|access| {
                access.index == index && access.pointer().is_some_and(|pointer| is_own(pointer.space))
            })
    })
}

/// How bad a read is, and why not worse.
pub(crate) struct Grade(Severity, Option<&'static str>);

impl Grade {
    /// The finding, graded.
    pub(crate) fn of(self, mut finding: Diagnostic) -> Diagnostic {
        finding.severity = self.0;
        match self.1 {
            Some(note) => finding.with_note(note),
            None => finding,
        }
    }
}

/// Makes a warning of a read that compilers print on purpose: an operand whose value does not matter is one of
/// the registers `%r<N>` that nothing ever sets. A name of its own has a purpose, and one that is set
/// somewhere is set too late. Of what is only a part of a value that is passed on, nobody knows whether it is looked at.
pub(crate) fn grade(context: &FlowContext<'_>, unset: &Unset) -> Grade {
    let in_range = context.body.group(unset.register).is_some_and(|group| group.range.is_some());
    let never = context.facts().is_some_and(|facts| facts.definitions(unset.register).is_empty());
    if unset.partly {
        const NOTE: &str = "it fills up a wider value, whose other bits are set: these have any value";
        let is_filler = never && context.module.is_printed(Printed::Filler) || is_byte(context, unset);
        let severity = if is_filler { Severity::Info } else { Severity::Warning };
        Grade(severity, Some(NOTE))
    } else if in_range && never {
        Grade(Severity::Warning, Some("nothing in the function ever sets it"))
    } else if never && is_copied_nowhere(context, unset) {
        Grade(Severity::Warning, Some("nothing reads the copy"))
    } else {
        Grade(Severity::Error, None)
    }
}

/// Whether the register has 8 bits. Such a one cannot be stored alone, or be an output of an asm statement, without
/// something beside it.
fn is_byte(context: &FlowContext<'_>, unset: &Unset) -> bool {
    context.body.register_type(unset.register).is_some_and(|ty| ty.bits() == u8::BITS)
}

/// Whether the read is a copy that nothing reads. GCC prints such moves for the place in the code that they take.
fn is_copied_nowhere(context: &FlowContext<'_>, unset: &Unset) -> bool {
    let Some(facts) = context.facts() else { return false };
    let computes = facts.instance(unset.instruction).and_then(|instance| instance.effects.computes);
    let mut written = facts.uses().of(unset.instruction).iter().filter(|each| each.access().writes());
    computes == Some(Computation::Move) && written.all(|each| !facts.touched().is_read(each.register))
}

/// Adds where the register is declared and, where it is set later, where.
pub(crate) fn explain(context: &FlowContext<'_>, unset: &Unset, finding: Diagnostic) -> Diagnostic {
    let Some(group) = context.body.group(unset.register) else { return finding };
    let finding = finding.with_secondary(group.span, "declared here, without a value");
    let later = context.facts().and_then(|facts| {
        facts.definitions(unset.register).iter().find(|&&write| write > unset.instruction).copied()
    });
    match later {
        Some(write) => finding.with_secondary(context.instruction_span(write), "set only here"),
        None => finding,
    }
}
