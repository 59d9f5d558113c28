use ptx_facts::values::linear::Base;
use ptx_ir::ir::{Function, Handle, Module, Operand, Symbol, TargetList, Variable};
use ptx_syntax::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

use super::call_signature::same_type;
use crate::rule::declare_rule;
use crate::subject::declarations::type_of;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports a call through a register that holds the address of a function which does not go with the prototype, or
    /// which is not in the list of targets, that the call names.
    ///
    /// ## Why is this bad
    /// Arguments and results are passed as the prototype says. A function that expects others reads and writes what
    /// nobody has set. PTX ISA manual, sections "call" and ".callprototype".
    ///
    /// ## Example
    /// ```ptx
    /// .func (.param .b32 out) twice(.param .b32 in) { ret; }
    /// .func caller(.param .b64 number)
    /// {
    ///     .reg .b64 %rd<2>;
    ///     mov.u64 %rd1, twice;
    ///     P: .callprototype _ (.param .b64 _);
    ///     call %rd1, (number), P;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func (.param .b32 out) twice(.param .b32 in) { ret; }
    /// .func caller(.param .b32 number)
    /// {
    ///     .reg .b64 %rd<2>;
    ///     .param .b32 result;
    ///     mov.u64 %rd1, twice;
    ///     P: .callprototype (.param .b32 _) _ (.param .b32 _);
    ///     call (result), %rd1, (number), P;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that come from memory, from parameters, or from several places.
    name: "indirect-call-mismatch",
    code: "P0408",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a call of a function that differs from what the call says of it",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::CALLS) {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let is_code = |operand| matches!(operand, Operand::Function(_));
    if !context.mentions.all(context.body).any(is_code) {
        return;
    }
    let mut calls = Vec::new();
    for handle in context.body.instructions.handles().filter(|handle| facts.is_call(handle.index() as u32)) {
        let operands = context.body.operands(handle);
        let callee = operands.iter().position(|operand| matches!(operand, Operand::Register { .. }));
        calls.extend(callee.map(|callee| (handle.index() as u32, callee)));
    }
    let module = context.module.module;
    let functions = context.ask_slice(&calls, |engine, call, callee| {
        let fact = engine.operand(call, callee, u64::BITS)?;
        let sum = engine.sum(fact);
        let mut terms = sum.terms();
        match (terms.next(), terms.next(), sum.offset()) {
            (Some((base, 1)), None, 0) => match engine.base(base) {
                Base::Code(function) => Some(function),
                _ => None,
            },
            _ => None,
        }
    });
    let mut said = Said::default();
    for ((call, callee), function) in calls.into_iter().zip(functions) {
        let Some(handle) = function else { continue };
        let function = &module.functions[handle];
        let operands = context.body.operands(Handle::new(call));
        let difference = operands.iter().find_map(|operand| match *operand {
            Operand::Prototype(prototype) => said.of_prototype(module, prototype, handle),
            Operand::Targets(list) => {
                let is_target = said.targets(context, list).contains(&function.name);
                (!is_target).then(|| "is none of the targets of this call".to_owned())
            }
            _ => None,
        });
        let Some(difference) = difference.filter(|_| context.can_come(call)) else { continue };
        let name = module.name(function.name);
        let span = context.body.operand_span(Handle::new(call), callee);
        let finding = RULE.at(span, format!("this calls `{name}`, which {difference}"));
        diagnostics.push(finding.with_secondary(function.span, "declared here"));
    }
}

/// What calls say of the functions that they may call. Many calls may name one long list, or one long prototype.
#[derive(Default)]
struct Said {
    targets: FxHashMap<Handle<TargetList>, FxHashSet<Symbol>>,
    differences: FxHashMap<(Handle<Function>, Handle<Function>), Option<String>>,
}

impl Said {
    /// The names of the functions in a list.
    fn targets(&mut self, context: &FlowContext<'_>, list: Handle<TargetList>) -> &FxHashSet<Symbol> {
        self.targets.entry(list).or_insert_with(|| {
            let targets = context.body.targets[list].targets.iter();
            let name = |target: &Operand| match target {
                Operand::Function(function) => Some(context.module.module.functions[*function].name),
                _ => None,
            };
            targets.filter_map(name).collect()
        })
    }

    fn of_prototype(
        &mut self,
        module: &Module,
        prototype: Handle<Function>,
        function: Handle<Function>,
    ) -> Option<String> {
        let compare = || difference(module, &module.functions[prototype], &module.functions[function]);
        self.differences.entry((prototype, function)).or_insert_with(compare).clone()
    }
}

/// What differs between a prototype and the function that is called by it.
fn difference(module: &Module, prototype: &Function, function: &Function) -> Option<String> {
    let lists = [
        ("returns", "value", &prototype.returns, &function.returns),
        ("takes", "argument", &prototype.parameters, &function.parameters),
    ];
    lists.into_iter().find_map(|(verb, noun, expected, given)| {
        if expected.len() != given.len() {
            let plural = if given.len() == 1 { "" } else { "s" };
            return Some(format!(
                "{verb} {} {noun}{plural}, and the prototype says {}",
                given.len(),
                expected.len()
            ));
        }
        expected.iter().zip(given).enumerate().find_map(|(index, (expected, given))| {
            let (expected, given) = (&module.variables[*expected], &module.variables[*given]);
            let types = |variable: &Variable| format!("`{}`", type_of(variable));
            (!same_type(expected, given)).then(|| {
                let number = index + 1;
                format!(
                    "{verb} {} as {noun} {number}, and the prototype says {}",
                    types(given),
                    types(expected)
                )
            })
        })
    })
}
