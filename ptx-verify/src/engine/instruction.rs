//! The check of each instruction against the instruction table.
//!
//! The way without findings is short: lowering has stored the instance that the operands fit, and
//! [`SpellingFacts`] has noted for each distinct spelling whether any of its instances needs a second look
//! (a version or target that the module does not have, an odd spelling). Everything else here runs only for
//! instructions that something is wrong with: each [`Problem`] is shown to the rules of kind
//! `Check::Instruction`, and the rule whose problem it is makes the finding.

use ptx_ir::ir::{Body, Handle, Instruction, Module, Spelling};
use ptx_ir::isa::{Instance, Mismatch, Resolved, Shape, Wanted};
use ptx_syntax::Diagnostic;

use crate::rule::{Check, Rule};
use crate::rules::instruction::{beyond_manual, guard_not_a_predicate, target_too_low, version_too_low};
use crate::subject::function::FunctionContext;
use crate::subject::module::Features;
use crate::subject::{
    occurrence::{Occurrence, Problem},
    shapes,
};

/// What is known of the distinct spellings of a module.
#[derive(Default)]
pub(crate) struct SpellingFacts {
    /// What their instructions may be.
    features: Vec<Features>,
    /// Whether their instructions need a second look.
    suspicious: Vec<bool>,
}

impl SpellingFacts {
    /// Adds the spellings that the module has got since.
    pub(crate) fn extend(&mut self, module: &Module) {
        let platform = module.header.platform();
        let suspicious = |spelling: &Spelling| {
            let Resolved { opcode: _, instances, problem, leniency } = &spelling.resolved;
            let sound =
                |instance: &Instance| instance.is_available(platform) && instance.form.misread().is_none();
            problem.is_some() || leniency.is_some() || !instances.iter().all(sound)
        };
        for index in self.features.len()..module.spellings.len() {
            let spelling = &module.spellings[Handle::new(index as u32)];
            self.features.push(Features::of(spelling));
            self.suspicious.push(suspicious(spelling));
        }
    }

    /// What there is among the instructions of a body.
    pub(crate) fn features(&self, body: &Body) -> Features {
        let mut features = Features::default();
        for (_, instruction) in body.instructions.iter() {
            features |= self.features[instruction.spelling.index()];
        }
        features
    }

    fn is_suspicious(&self, spelling: Handle<Spelling>) -> bool {
        self.suspicious.get(spelling.index()).copied().unwrap_or(true)
    }
}

/// Reports what is wrong with the instructions of a function.
pub(crate) fn verify(
    context: &FunctionContext<'_>,
    facts: &SpellingFacts,
    rules: &[&Rule],
    out: &mut Vec<Diagnostic>,
) {
    let notes = rules.iter().any(|rule| rule.info.name == beyond_manual::RULE.info.name);
    for (handle, instruction) in context.body.instructions.iter() {
        let sound = instruction.instance.is_some() && !facts.is_suspicious(instruction.spelling);
        if !sound || instruction.guard.is_some_and(|guard| !guard_not_a_predicate::is_predicate(guard)) {
            look_again(context, handle, instruction, rules, out);
        } else if notes && !instruction.in_manual {
            note(context, handle, instruction, out);
        }
    }
    let names_any = context.mentions.all(context.body).next().is_some();
    if names_any && context.module.special_registers_may_be_missing() {
        version_too_low::special(context, out);
        target_too_low::special(context, out);
    }
}

/// Notes what the manual does not have of an instruction that nothing else is wrong with.
#[cold]
fn note(
    context: &FunctionContext<'_>,
    handle: Handle<Instruction>,
    instruction: &Instruction,
    out: &mut Vec<Diagnostic>,
) {
    let spelling = &context.module.module.spellings[instruction.spelling];
    let instance = instruction.instance.and_then(|index| spelling.resolved.instances.get(index as usize));
    let Some(instance) = instance.filter(|_| !shapes::has_unknown(context.body, handle)) else { return };
    let (operands, children) = shapes::shapes(context.module.module, context.body, handle);
    if let Some(beyond) = instance.beyond_manual(&operands, &children)
        && let Check::Instruction(check) = beyond_manual::RULE.check
    {
        let problem = Problem::BeyondManual(&beyond);
        out.extend(check(&Occurrence { context, handle, instruction, spelling, problem }));
    }
}

#[cold]
fn look_again(
    context: &FunctionContext<'_>,
    handle: Handle<Instruction>,
    instruction: &Instruction,
    rules: &[&Rule],
    out: &mut Vec<Diagnostic>,
) {
    let module = context.module.module;
    let spelling = &module.spellings[instruction.spelling];
    let mut show = |problem| {
        let occurrence = Occurrence { context, handle, instruction, spelling, problem };
        for rule in rules {
            if let Check::Instruction(check) = rule.check {
                out.extend(check(&occurrence));
            }
        }
    };
    if instruction.guard.is_some_and(|guard| !guard_not_a_predicate::is_predicate(guard)) {
        show(Problem::Guard);
    }
    if let Some(problem) = &spelling.resolved.problem {
        show(Problem::Spelling(problem));
        return;
    }
    if let Some(leniency) = &spelling.resolved.leniency {
        show(Problem::Lenient(leniency));
    }
    let instance = instruction.instance.and_then(|index| spelling.resolved.instances.get(index as usize));
    match instance {
        Some(instance) if instance.is_available(module.header.platform()) => {
            if instance.form.misread().is_some() {
                show(Problem::Misread(instance.form));
            } else {
                let (operands, children) = shapes::shapes(module, context.body, handle);
                // Of an odd spelling another rule speaks.
                let beyond = match spelling.resolved.leniency {
                    Some(_) => instance.operand_beyond_manual(&operands, &children),
                    None => instance.beyond_manual(&operands, &children),
                };
                if let Some(beyond) = beyond {
                    show(Problem::BeyondManual(&beyond));
                }
            }
        }
        Some(instance) => show(Problem::Unavailable(instance)),
        // What a name that is not declared would be is not known: one mistake, one message.
        None if shapes::has_unknown(context.body, handle) => {}
        None => {
            let (operands, children) = shapes::shapes(module, context.body, handle);
            if let Err(mismatch) = spelling.resolved.select(&operands, &children) {
                let mismatch = more_particular(&spelling.resolved, &operands, &children, mismatch);
                show(Problem::Mismatch(&mismatch));
            }
        }
    }
}

/// Of the meanings of a spelling, one that has the form of the operands says more about what is in them:
/// `mov.b64 d, {a, b}` is about the elements, not about the braces.
fn more_particular(
    resolved: &Resolved,
    operands: &[Shape],
    children: &[Shape],
    mismatch: Mismatch,
) -> Mismatch {
    let Mismatch::Operand { operand: at, wanted: Wanted::Kind, .. } = mismatch else { return mismatch };
    let is_meant = |(_, candidate): &(usize, &Instance)| candidate.form.misread().is_none();
    for (index, candidate) in resolved.instances.iter().enumerate().filter(is_meant) {
        let alone = Resolved { instances: [candidate.clone()].into(), ..Resolved::default() };
        match alone.select(operands, children) {
            Err(Mismatch::Operand { operand, part, spec, wanted, .. })
                if operand >= at && wanted != Wanted::Kind =>
            {
                return Mismatch::Operand { operand, part, spec, instance: index, wanted };
            }
            Ok(_) | Err(_) => {}
        }
    }
    mismatch
}
