use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::{
    FewThreads, Poll, address_steps, is_weak, rounds_around, used_without_meeting,
};
use ptx_facts::reach::{Ends, Reach};
use ptx_ir::ir::{FunctionKind, Handle, Operand, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Event};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::fragment::kernel::{ANYTHING, BEGINS_EARLY, READ_ONLY, USED_BEFORE, WRITTEN_BEFORE};
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports a kernel that waits with `griddepcontrol.wait` for the grids it depends on, and reads all that it reads of
    /// global memory before; and one in which one thread alone waits, and others read without having met it since. In CUDA
    /// C++ it reports a kernel that reads what another one writes, or writes what another one uses, without a wait before, where
    /// the host gives both the same variable, launches the other one before, and lets this one begin early; and one that never
    /// waits, where the other one lets it begin. In PTX it reports a kernel that lets others begin early and never waits itself,
    /// where it is the only one of its module.
    ///
    /// ## Why is this bad
    /// A grid that is launched programmatically may begin before the one that it depends on has ended, and only after the wait
    /// it sees what that has written. PTX ISA manual, section "griddepcontrol".
    ///
    /// ## Example
    /// ```ptx
    /// ld.global.u32 %r1, [%rd1];
    /// griddepcontrol.wait;
    /// st.global.u32 [%rd2], %r1;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// griddepcontrol.wait;
    /// ld.global.u32 %r1, [%rd1];
    /// st.global.u32 [%rd2], %r1;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Kernels that read something after the wait: what they read before may be data that no grid writes, such as weights.
    /// Loads with `.nc`, as of a parameter that is `const` and `__restrict__`: they say that nobody writes what they read.
    /// Kernels of other files, and those that are launched before and do not let others begin early themselves; arguments that are
    /// no variables of the host, such as pointers in structures, where the kernel does wait. Which streams kernels are launched in
    /// is not looked at, and whether a kernel alone in its module is the first of a chain is not known. `griddepcontrol.launch_dependents` may come early, for who depends on the grid waits for its end.
    name: "early-grid-read",
    code: "P0926",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "global memory that is read before the wait for the grids that the launch depends on",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let header = context.module.text(context.module.module.functions[context.handle].header);
    let is_told = [WRITTEN_BEFORE, USED_BEFORE, BEGINS_EARLY].iter().any(|word| header.contains(word));
    if !is_told && !context.module.features().has(Features::GRIDS) {
        return;
    }
    let Some(facts) = context.facts().filter(|facts| facts.function.kind == FunctionKind::Entry) else {
        return;
    };
    let is_wait = |&each: &u32| {
        facts.instance(each).is_some_and(|instance| instance.effects.event == Some(Event::GridWait))
    };
    let waits: Vec<u32> = facts.reaching_out().filter(is_wait).collect();
    let mut reads: Vec<u32> = facts.reaching_out().filter(|&each| reads_global(facts, each)).collect();
    reads.sort_unstable();
    if let Some((early, does)) = used_before(context, facts, &waits) {
        let message = format!(
            "this {does} what a kernel that is launched before may still {}",
            if does == "reads" { "write" } else { "use" }
        );
        let found = RULE.at(context.instruction_span(early), message);
        let found = match waits.first() {
            Some(&wait) => found.with_secondary(context.instruction_span(wait), "waited for here"),
            None => found,
        };
        let found = with_way(context, facts, found, early);
        diagnostics.push(found.with_help("wait before what another grid has written is read"));
        return;
    }
    if waits.is_empty() {
        diagnostics.extend(never_waits(context, facts, &reads));
        return;
    }
    if reads.is_empty() {
        return;
    }
    if let Some((wait, read)) = read_by_others(facts, &waits, &reads) {
        let message =
            "this reads global memory, and only one thread has waited for the grids that may still write it";
        diagnostics.push(
            RULE.at(context.instruction_span(read), message)
                .with_secondary(context.instruction_span(wait), "one thread waits here")
                .with_help("let all threads wait that read what another grid has written"),
        );
        return;
    }
    let after = Reach::from(facts, Ends::Instructions(&waits), &[]);
    // What an atomic operation adds to is a result, where nobody uses what was there.
    let only_adds = |read: u32| {
        facts.instance(read).is_some_and(|instance| instance.effects.atomic) && !facts.is_result_read(read)
    };
    let is_after = |read: &u32| !waits.contains(read) && after.at(*read).is_some() && !only_adds(*read);
    if reads.iter().any(is_after) || facts.reaching_out().any(|each| facts.is_call(each)) {
        return;
    }
    let before = Reach::to(facts, Ends::Instructions(&waits), &[]);
    // Who reads what nobody writes while the kernel runs may wait for those who still read what it writes itself.
    let is_early = |read: &&u32| before.at(**read).is_some() && !is_of_nobody(context, facts, **read);
    let Some(&read) = reads.iter().find(is_early) else { return };
    let message = "this reads global memory before the wait for the grids that may still write it, and nothing is read after";
    diagnostics.push(
        RULE.at(context.instruction_span(read), message)
            .with_secondary(context.instruction_span(waits[0]), "waited for here")
            .with_help("wait before what another grid has written is read"),
    );
}

/// What there is to say of a kernel without a wait: the host lets it begin early, or it lets others begin early itself and is
/// alone in its module, so that others that it may depend on are not seen.
fn never_waits(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, reads: &[u32]) -> Option<Diagnostic> {
    let module = context.module.module;
    let begins_early = context.module.text(module.functions[context.handle].header).contains(BEGINS_EARLY);
    let is_begin = |&each: &u32| {
        facts.instance(each).is_some_and(|instance| instance.effects.event == Some(Event::GridBegin))
    };
    let begin = facts.reaching_out().filter(is_begin).min();
    if !begins_early {
        let entries = module.functions.iter().filter(|(_, each)| each.kind == FunctionKind::Entry);
        // What calls do is not known, and of CUDA C++ the launches tell more.
        let is_seen = !facts.reaching_out().any(|each| facts.is_call(each));
        if begin.is_none() || entries.count() > 1 || !is_seen || context.module.source.contains(ANYTHING) {
            return None;
        }
    }
    let of_others = reads.iter().find(|&&read| !is_of_nobody(context, facts, read));
    let &read = of_others.or(reads.first())?;
    let message = if begins_early {
        "this reads global memory, and the kernel never waits for the one that is launched before"
    } else {
        "this reads global memory, and the kernel lets others begin early but waits for none itself"
    };
    let found = RULE.at(context.instruction_span(read), message);
    let found = match begin {
        Some(begin) => {
            found.with_secondary(context.instruction_span(begin), "those that depend on it begin here")
        }
        None => found,
    };
    let found = with_way(context, facts, found, read);
    // What is read before may be written by nobody, and what is copied is mostly what others have written.
    let copies = |each: u32| {
        let acts = facts.instance(each).and_then(|instance| instance.effects.asynchronous);
        matches!(acts, Some((_, AsyncAction::Start)))
    };
    let copied = reads.iter().copied().find(|&each| copies(each)).filter(|_| !copies(read));
    let found = match copied {
        Some(copied) => found.with_secondary(context.instruction_span(copied), "and this copies from there"),
        None => found,
    };
    let found = match met_before(facts, read) {
        Some(met) => {
            found.with_secondary(context.instruction_span(met), "all threads meet last before it here")
        }
        None => found,
    };
    Some(found.with_help("wait before what another grid has written is read"))
}

/// The first access before every wait of what kernels that are launched before write, or a write of what they use: the host
/// gives them the same.
fn used_before(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    waits: &[u32],
) -> Option<(u32, &'static str)> {
    let is_given = |root: Register, wanted: &[&str]| {
        let name = loaded_parameter(context, facts, root);
        name.is_some_and(|name| wanted.iter().any(|word| name.contains(word)))
    };
    let bases = |at: u32, reads: bool| {
        let specs = facts.instance(at).map(|instance| &instance.operands[..]).unwrap_or_default();
        let operands = facts.body.operands(Handle::new(at)).iter().zip(specs);
        let chosen = operands.filter(move |(_, spec)| {
            spec.access.is_some_and(|access| if reads { access.reads } else { access.writes })
        });
        chosen.filter_map(|(operand, _)| match operand {
            Operand::RegisterAddress { base, .. } => Some(*base),
            _ => None,
        })
    };
    let does = |at: u32, reads: bool, wanted: &[&str]| {
        bases(at, reads)
            .any(|base| address_steps(facts, at, base).last().is_some_and(|root| is_given(*root, wanted)))
    };
    let after = Reach::from(facts, Ends::Instructions(waits), &[]);
    let mut all: Vec<u32> = facts.reaching_out().collect();
    all.sort_unstable();
    let mut early = all.into_iter().filter(|&at| waits.is_empty() || after.at(at).is_none());
    early.find_map(|at| match () {
        () if does(at, true, &[WRITTEN_BEFORE]) => Some((at, "reads")),
        () if does(at, false, &[WRITTEN_BEFORE, USED_BEFORE]) => Some((at, "writes")),
        () => None,
    })
}

/// A finding with the place where those part from others who come to an instruction, if they do.
fn with_way(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    found: Diagnostic,
    instruction: u32,
) -> Diagnostic {
    match begins(facts, instruction).filter(|goes| *goes != instruction) {
        Some(goes) => found.with_secondary(
            context.instruction_span(goes),
            "those who come to it go on here, without a wait",
        ),
        None => found,
    }
}

/// Where those begin to go a way of their own who come to an instruction, before all rounds: a wait belongs there.
fn begins(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let first = rounds_around(facts, instruction).unwrap_or(instruction);
    let own = cfg.block_of(Handle::new(first));
    let mut block = own;
    loop {
        let above = cfg.immediate_dominator(block)?;
        let is_of_rounds =
            cfg.instructions(above).next().is_some_and(|at| rounds_around(facts, at).is_some());
        let mut ways = cfg.successors(above).map(|(way, _)| way);
        let way = ways.find(|&way| cfg.dominates(way, own) && !cfg.dominates(way, above));
        let parts = cfg.successors(above).count() > 1 && !is_of_rounds;
        match way.filter(|_| parts) {
            Some(way) if way != own => return cfg.instructions(way).next(),
            _ => block = above,
        }
    }
}

/// A read by all threads after one of them alone has waited, which they have not met since: the wait and the read.
fn read_by_others(facts: &FunctionFacts<'_>, waits: &[u32], reads: &[u32]) -> Option<(u32, u32)> {
    let mut few = FewThreads::new(facts);
    if !waits.iter().all(|&wait| few.is_one(wait)) {
        return None;
    }
    let polls: Vec<Poll> = waits
        .iter()
        .map(|&wait| Poll { load: wait, first: wait, end: wait, is_fenced: false, orders_blocks: false })
        .collect();
    // Copies are started by all as well.
    let copies = |read: u32| {
        facts.instance(read).is_some_and(|instance| {
            matches!(instance.effects.asynchronous, Some((AsyncGroup::CpAsync, AsyncAction::Start)))
        })
    };
    let is_plain = |&read: &u32| is_weak(facts, read, false) || copies(read);
    let reads: Vec<u32> = reads.iter().copied().filter(is_plain).collect();
    used_without_meeting(facts, &mut few, &polls, &reads)
}

/// Whether an instruction may read global memory.
fn reads_global(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some(instance) = facts.instance(instruction) else { return true };
    let effects = &instance.effects;
    if !effects.reads_memory && effects.asynchronous.is_none() {
        return false;
    }
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    accesses.any(|access| {
        access.reads && access.space.map(StateSpace::base).is_none_or(|space| space == StateSpace::Global)
    }) || effects.asynchronous.is_some_and(|(_, action)| {
        action == AsyncAction::Start && !instance.operands.is_empty() && effects.reads_memory
    })
}

/// Whether what a read gives is written by nobody while the kernel runs, as it says itself.
fn is_of_nobody(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, read: u32) -> bool {
    let Some(instance) = facts.instance(read) else { return false };
    let pointer = || {
        // A copy reads from its second operand, as a load does.
        let base = match facts.body.operands(Handle::new(read)).get(1)? {
            Operand::RegisterAddress { base, .. } => *base,
            _ => return None,
        };
        address_steps(facts, read, base).last().copied()
    };
    let is_named =
        |root: Register| loaded_parameter(context, facts, root).is_some_and(|name| name.contains(READ_ONLY));
    // Of the pointers in a structure that all kernels of a chain are given, nothing tells what others write.
    let is_member = |root: Register| {
        let [load] = *facts.definitions(root) else { return false };
        let is_load = facts.instance(load).is_some_and(|instance| {
            let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
            accesses.any(|access| access.space.map(StateSpace::base) == Some(StateSpace::Param))
        });
        let operands = facts.body.operands(Handle::new(load));
        is_load && matches!(operands.get(1), Some(Operand::RegisterAddress { .. }))
    };
    instance.is_read_only_load() || pointer().is_some_and(|root| is_named(root) || is_member(root))
}

/// Where all threads of the block meet last before an instruction.
fn met_before(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let meets = |&each: &u32| {
        let event = facts.instance(each).and_then(|instance| instance.effects.event);
        matches!(event, Some(Event::BarrierSync | Event::ClusterWait)) && each != instruction
    };
    let own = cfg.block_of(Handle::new(instruction));
    let here = cfg.instructions(own).take_while(|&each| each != instruction);
    let found = here.filter(meets).last();
    let mut above =
        std::iter::successors(cfg.immediate_dominator(own), |&block| cfg.immediate_dominator(block));
    found.or_else(|| above.find_map(|block| cfg.instructions(block).filter(meets).last()))
}

/// The name of the parameter that a register is loaded from, where nothing else sets it but what moves it on.
fn loaded_parameter<'c>(
    context: &FlowContext<'c>,
    facts: &FunctionFacts<'_>,
    register: Register,
) -> Option<&'c str> {
    let moves_on = |at: &u32| {
        let mut own = facts.uses().of(*at).iter();
        own.any(|of| of.register == register && of.access().reads())
    };
    let mut first = facts.definitions(register).iter().filter(|at| !moves_on(at));
    let (Some(only), None) = (first.next(), first.next()) else { return None };
    let Some(Operand::VariableAddress { variable, .. }) = facts.body.operands(Handle::new(*only)).get(1)
    else {
        return None;
    };
    let module = context.module.module;
    Some(module.name(module.variables[*variable].name))
}
