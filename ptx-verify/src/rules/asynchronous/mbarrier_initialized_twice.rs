use ptx_facts::asynchronous::Lives;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_ir::ir::FunctionKind;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;
use crate::subject::objects::barrier_events;
use crate::subject::protocol;

declare_rule! {
    /// ## What it does
    /// Reports an `mbarrier.init` of an object that some path comes to from an earlier initialisation of it, without
    /// `mbarrier.inval` between the two, and one that several threads execute for the same object.
    ///
    /// ## Why is this bad
    /// A place that holds an `mbarrier` object must not be initialised again before `mbarrier.inval`: the phase is lost,
    /// and threads that wait for it may wait for ever. PTX ISA manual, section "mbarrier.init".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.init.shared.b64 [bar], 32;
    /// mbarrier.init.shared.b64 [bar], 64;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.init.shared.b64 [bar], 32;
    /// mbarrier.inval.shared.b64 [bar];
    /// mbarrier.init.shared.b64 [bar], 64;
    /// ```
    ///
    /// ## What it may miss
    /// Objects at offsets that are no constants, and ways through a call that may end the object's life.
    name: "mbarrier-initialized-twice",
    code: "P0907",
    former: ["H0369"],
    class: Hazard,
    level: Warn,
    summary: "an `mbarrier` object that is initialised while it is one",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::MBARRIER) && !context.follows_calls() {
        return;
    }
    let Some(facts) = context.facts() else { return };
    if facts.function.kind != FunctionKind::Entry {
        return;
    }
    let lives = Lives::new(facts, barrier_events(context));
    if let Some((again, before)) = lives.made_again(&context.with_calls(&[])) {
        let message = "this `mbarrier` object is initialised again without `mbarrier.inval`";
        let mut finding = RULE.at(context.instruction_span(again.instruction), message);
        if before != again.instruction {
            finding = finding.with_secondary(context.instruction_span(before), "initialised here");
        }
        diagnostics.push(finding.with_help("end the life of the first with `mbarrier.inval`"));
        return;
    }
    let found = protocol::explained(context, |fault| fault.kind == FaultKind::MadeByMany);
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
