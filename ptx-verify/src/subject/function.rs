//! A function, as rules see it.

use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::model::{self, Protocol};
use ptx_facts::asynchronous::{self, Action, Poll};
use ptx_facts::carry::{self, CarryFacts};
use ptx_facts::initialization::{self, Surroundings, Unset};
use ptx_facts::memory::{Access, Conversion, MemoryFacts};
use ptx_facts::mentions::Mentions;
use ptx_facts::paths::Walker;
use ptx_facts::reach::{Ends, Reach};
use ptx_facts::uniformity::Uniformity;
use ptx_facts::values::number::Number;
use ptx_facts::values::pointer::{Object, Pointer};
use ptx_facts::values::{Assumption, Either, Engine, Graph, Kind, Slice, Values};
use ptx_facts::webs;
use std::cell::{OnceCell, RefCell};
use std::ops::Deref;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Body, Function, FunctionKind, Handle, Operand, Register, Variable};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Computation, Purpose};
use ptx_syntax::Span;

use super::inlined::{self, Caller, Followed, Place};
use super::module::{Features, ModuleContext};
use super::producer::Printed;

/// Bytes of a text in which registers are told apart: compilers write longer ones, and take a new register for each number.
const LONGEST_TOLD_APART: usize = 128 << 10;

/// A function with a body, and the module that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct FunctionContext<'a> {
    /// The module.
    pub(crate) module: ModuleContext<'a>,
    /// The function.
    pub(crate) handle: Handle<Function>,
    /// Its body.
    pub(crate) body: &'a Body,
    /// Where the body names something that is no register and no number.
    pub(crate) mentions: &'a Mentions,
}

/// A number that a move gives to a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    /// The move.
    pub(crate) by: u32,
    /// The number, in the bits of the register.
    pub(crate) number: u64,
}

/// A function and the analyses of it, each made when the first rule asks for it and dropped with the function.
pub(crate) struct FlowContext<'a> {
    /// The function.
    pub(crate) context: FunctionContext<'a>,
    facts: OnceCell<Option<FunctionFacts<'a>>>,
    unset: OnceCell<Vec<Unset>>,
    carry: OnceCell<CarryFacts>,
    graph: OnceCell<Graph>,
    uniformity: OnceCell<Uniformity>,
    values: RefCell<Option<Values>>,
    conditions: RefCell<Option<Values>>,
    memory: OnceCell<MemoryFacts>,
    actions: OnceCell<Vec<Action>>,
    acting_calls: OnceCell<Vec<u32>>,
    polls: OnceCell<Vec<Poll>>,
    protocol: OnceCell<Followed>,
}

impl<'a> Deref for FlowContext<'a> {
    type Target = FunctionContext<'a>;

    fn deref(&self) -> &FunctionContext<'a> {
        &self.context
    }
}

impl<'a> FlowContext<'a> {
    pub(crate) fn new(context: FunctionContext<'a>) -> Self {
        Self {
            context,
            facts: OnceCell::new(),
            unset: OnceCell::new(),
            carry: OnceCell::new(),
            graph: OnceCell::new(),
            uniformity: OnceCell::new(),
            values: RefCell::new(None),
            conditions: RefCell::new(None),
            memory: OnceCell::new(),
            actions: OnceCell::new(),
            acting_calls: OnceCell::new(),
            polls: OnceCell::new(),
            protocol: OnceCell::new(),
        }
    }

    /// Control flow, and where things are written.
    pub(crate) fn facts(&self) -> Option<&FunctionFacts<'a>> {
        let facts = || {
            let facts = FunctionFacts::of_body(self.module.module, self.handle, self.body);
            match self.module.wanted.fragment {
                Some(_) => facts.with_given(|register| self.is_given(register)),
                None => facts,
            }
        };
        self.facts.get_or_init(|| Some(facts())).as_ref()
    }

    /// The body with a register for each thing that one holds, for rules that follow protocols; none where there is one for each
    /// already, or nothing to follow.
    pub(crate) fn told_apart(&self) -> Option<Body> {
        let followed = [Features::PROTOCOL, Features::FLAGS, Features::GRIDS, Features::TENSOR_MAPS];
        let has_any = followed.into_iter().any(|feature| self.module.features().has(feature));
        let is_long = self.module.source.len() > LONGEST_TOLD_APART;
        if self.module.wanted.fragment.is_some() || !has_any || is_long {
            return None;
        }
        webs::told_apart(self.facts()?, self.graph())
    }

    /// Whether a register is declared before the part of the function that is known.
    fn is_given(&self, register: Register) -> bool {
        let declared = self.body.group(register).map(|group| group.span.start);
        declared.zip(self.module.wanted.fragment).is_some_and(|(declared, part)| declared < part.start)
    }

    /// Reads of registers that nothing may have set.
    pub(crate) fn unset(&self) -> &[Unset] {
        self.unset.get_or_init(|| match self.facts() {
            Some(facts) => {
                let fragment = self.module.wanted.fragment;
                let is_entry = initialization::entry_registers(facts);
                let is_set = |register| is_entry(register) || self.is_given(register);
                let last = fragment.map_or(u32::MAX, |fragment| self.first_behind(fragment.end));
                let optimized = self.module.is_printed(Printed::UnsetOnSomePaths);
                let around = Surroundings { is_set: &is_set, last, optimized };
                let mut unset = self
                    .keep_values(|values| initialization::unset_reads(facts, self.graph(), values, around));
                if let Some(either) = self.either().filter(|_| !unset.is_empty()) {
                    let place = |unset: &Unset| (unset.instruction, unset.operand, unset.register);
                    let with = |number: u64| {
                        let pinned = (either.value, number);
                        let values = Values::where_is(facts, self.graph(), None, false, pinned);
                        initialization::unset_reads(facts, self.graph(), &mut Some(values), around)
                    };
                    let found: Vec<_> =
                        either.numbers.into_iter().flat_map(with).map(|unset| place(&unset)).collect();
                    unset.retain(|unset| found.contains(&place(unset)));
                }
                unset
            }
            None => Vec::new(),
        })
    }

    /// A value that is one of two numbers.
    fn either(&self) -> Option<Either> {
        let facts = self.facts()?;
        let is_named = self.mentions.all(self.body).any(|operand| Either::is_named(facts, operand));
        is_named.then(|| Either::of(facts, self.graph())).flatten()
    }

    /// Calls a function that may find what is known of the values.
    fn keep_values<R>(&self, find: impl FnOnce(&mut Option<Values>) -> R) -> R {
        let mut values = self.values.take();
        let found = find(&mut values);
        self.values.replace(values);
        found
    }

    /// Asks which writes reach places.
    pub(crate) fn walk<R>(&self, question: impl FnOnce(&mut Walker<'_, 'a>) -> R) -> Option<R> {
        let (facts, graph) = (self.facts()?, self.graph());
        let values = self.values.take().unwrap_or_else(|| Values::new(facts, graph));
        let mut walker = Walker::new(facts, graph, values);
        let answer = question(&mut walker);
        self.values.replace(Some(walker.into_values()));
        Some(answer)
    }

    /// The first instruction from a place in the text on.
    fn first_behind(&self, end: u32) -> u32 {
        let count = self.body.instructions.len() as u32;
        (0..count).find(|&each| self.body.span(Handle::new(each)).start >= end).unwrap_or(count)
    }

    /// The graph of the values.
    pub(crate) fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| self.facts().map_or_else(Graph::default, Graph::new))
    }

    /// The loops that wait for what others store in global memory.
    pub(crate) fn polls(&self) -> &[Poll] {
        self.polls.get_or_init(|| self.facts().map_or_else(Vec::new, asynchronous::polls))
    }

    /// How values and control differ between threads.
    pub(crate) fn uniformity(&self) -> &Uniformity {
        self.uniformity.get_or_init(|| match self.facts() {
            Some(facts) => Uniformity::of_control(facts, self.graph(), self.either()),
            None => Uniformity::default(),
        })
    }

    /// Asks about all values of the function, as they are in any launch. For findings that are likely: values are
    /// followed when this is asked first.
    pub(crate) fn ask_values<R>(&self, question: impl FnOnce(&mut Engine<'_, 'a>) -> R) -> Option<R> {
        let (facts, graph) = (self.facts()?, self.graph());
        let values = self.values.take().unwrap_or_else(|| Values::new(facts, graph));
        let mut engine = Engine::again(facts, graph, values);
        let answer = question(&mut engine);
        self.values.replace(Some(engine.into_values()));
        Some(answer)
    }

    /// Asks about the values that guards and branches are computed of: where control goes is known by these alone, and in a
    /// large function they are few.
    pub(crate) fn ask_conditions<R>(&self, question: impl FnOnce(&mut Engine<'_, 'a>) -> R) -> Option<R> {
        if self.values.borrow().is_some() {
            return self.ask_values(question);
        }
        let (facts, graph) = (self.facts()?, self.graph());
        let values = self.conditions.take().unwrap_or_else(|| {
            Values::of_slice(facts, graph, &Slice::of(facts, graph, graph.deciders(facts)), false)
        });
        let mut engine = Engine::again(facts, graph, values);
        let answer = question(&mut engine);
        self.conditions.replace(Some(engine.into_values()));
        Some(answer)
    }

    /// The number that the register of an operand has, where a move gives it one.
    pub(crate) fn moved_number(&self, instruction: u32, index: usize) -> Option<Moved> {
        let (facts, graph) = (self.facts()?, self.graph());
        let uses = facts.uses();
        let is_read = |at: &usize| uses.all()[*at].operand() == index && uses.all()[*at].access().reads();
        let value = graph.read(uses.range(instruction).find(is_read)?)?;
        let Kind::Computed { instruction: by, .. } = graph.kind(value) else { return None };
        match (facts.instance(by)?.effects.computes?, self.body.operands(Handle::new(by))) {
            (Computation::Move, [_, Operand::Integer { bits, .. }]) => {
                let width = graph.width(value);
                Some(Moved { by, number: if width < u64::BITS { bits & ((1 << width) - 1) } else { *bits } })
            }
            _ => None,
        }
    }

    /// Asks about operands, as instructions and places in these. Of the values only those are followed that these are
    /// computed of.
    pub(crate) fn ask_slice<R>(
        &self,
        operands: &[(u32, usize)],
        mut question: impl FnMut(&mut Engine<'_, 'a>, u32, usize) -> R,
    ) -> Vec<R> {
        let Some(facts) = self.facts().filter(|_| !operands.is_empty()) else { return Vec::new() };
        let (graph, uses) = (self.graph(), facts.uses());
        let roots = operands.iter().filter_map(|&(instruction, index)| {
            let mut range = uses.range(instruction);
            range.find_map(|at| graph.read(at).filter(|_| uses.all()[at].operand() == index))
        });
        let values = Values::of_slice(facts, graph, &Slice::of(facts, graph, roots), false);
        let mut engine = Engine::again(facts, graph, values);
        operands.iter().map(|&(instruction, index)| question(&mut engine, instruction, index)).collect()
    }

    /// What is known of operands as numbers.
    pub(crate) fn numbers(&self, operands: &[(u32, usize)], width: u32) -> Vec<Option<Number>> {
        self.ask_slice(operands, |engine, instruction, index| {
            engine.operand(instruction, index, width).map(|fact| fact.number)
        })
    }

    /// Whether control can come to an instruction: not where the branches on the way there contradict each other.
    pub(crate) fn can_come(&self, instruction: u32) -> bool {
        let can_come = self.ask_conditions(|engine| {
            let block = engine.facts().cfg.block_of(Handle::new(instruction));
            let mut assumption = Assumption::new(engine);
            assumption.be_in(block);
            !assumption.is_impossible() && engine.is_reached(block)
        });
        can_come.unwrap_or(true)
    }

    /// Whether a thread that has executed one instruction can come to another: not where the branches on the ways to the
    /// two contradict each other. In a loop that has both each round may go another way.
    pub(crate) fn can_follow(&self, first: u32, second: u32) -> bool {
        let can_follow = self.ask_conditions(|engine| {
            let facts = engine.facts();
            let block = |instruction| facts.cfg.block_of(Handle::new(instruction));
            let mut assumption = Assumption::new(engine);
            assumption.be_in(block(first));
            assumption.be_in(block(second));
            let is_in_loop = || Reach::from(facts, Ends::Instructions(&[second]), &[]).at(first).is_some();
            !assumption.is_impossible() || is_in_loop()
        });
        can_follow.unwrap_or(true)
    }

    /// Whether an instruction runs whenever the function does, as far as its place tells.
    fn always_runs(&self, instruction: u32) -> bool {
        let Some(facts) = self.facts() else { return false };
        let (cfg, handle) = (&facts.cfg, Handle::new(instruction));
        let block = cfg.block_of(handle);
        let ends = |end: &NodeIndex| cfg.successors(*end).next().is_none();
        let is_guarded = self.body.instructions[handle].guard.is_some();
        !is_guarded
            && cfg.reverse_postorder().iter().filter(|end| ends(end)).all(|end| cfg.dominates(block, *end))
    }

    /// Whether a compiler has printed the module and a condition is around an instruction. What decides the condition the
    /// compiler did not know, and it may never hold.
    pub(crate) fn may_be_dead(&self, instruction: u32) -> bool {
        self.module.is_printed(Printed::DeadBranch) && !self.always_runs(instruction)
    }

    /// Who reads the carry flag of whom.
    pub(crate) fn carry(&self) -> &CarryFacts {
        self.carry.get_or_init(|| match self.facts() {
            Some(facts) if self.module.features().has(Features::CARRY) => {
                self.keep_values(|values| carry::analyze(facts, self.graph(), values))
            }
            Some(_) | None => CarryFacts::default(),
        })
    }

    /// What the function does with memory.
    fn memory(&self) -> &MemoryFacts {
        self.memory.get_or_init(|| match self.facts() {
            Some(facts) => {
                let is_named = |operand| matches!(operand, Operand::Variable { .. });
                let names = self.mentions.all(self.body).any(is_named);
                let features = self.module.features();
                let (bases, objects) =
                    (features.has(Features::READ_ONLY_LOADS), features.has(Features::ASYNCHRONOUS));
                MemoryFacts::new(facts, || self.graph(), names, bases, objects)
            }
            None => MemoryFacts::default(),
        })
    }

    /// The accesses of memory, in order of the text.
    pub(crate) fn accesses(&self) -> &[Access] {
        &self.memory().accesses
    }

    /// The accesses of an instruction.
    pub(crate) fn accesses_of(&self, instruction: u32) -> impl Iterator<Item = &Access> {
        let accesses = self.accesses();
        let first = accesses.partition_point(|access| access.instruction < instruction);
        accesses[first..].iter().take_while(move |access| access.instruction == instruction)
    }

    /// The variable of an address, where it is one of its own: those without a size all begin at the same place.
    pub(crate) fn sized_variable(&self, access: &Access) -> Option<Handle<Variable>> {
        let Some(Pointer { object: Object::Variable(variable), .. }) = access.pointer() else { return None };
        self.module.module.variables[variable].size().map(|_| variable)
    }

    /// The variable that an asynchronous copy writes.
    pub(crate) fn written(&self, start: u32) -> Option<Handle<Variable>> {
        let mut accesses = self.accesses_of(start);
        let destination = accesses.find(|access| access.purpose == Some(Purpose::CopyDestination));
        destination.and_then(|access| self.sized_variable(access))
    }

    /// The variable that an instruction reads.
    pub(crate) fn read_from(&self, read: u32) -> Option<Handle<Variable>> {
        self.accesses_of(read).find_map(|access| self.sized_variable(access))
    }

    /// Whether an instruction reads the variable that a copy writes, and not another member of it.
    pub(crate) fn may_read(&self, copy: u32, read: u32) -> bool {
        let variable = |access: &&Access| self.sized_variable(access).is_some();
        let is_destination = |access: &&Access| access.purpose == Some(Purpose::CopyDestination);
        let Some(written) = self.accesses_of(copy).find(is_destination).filter(variable) else {
            return false;
        };
        let Some(read) = self.accesses_of(read).find(variable) else { return false };
        let is_other_member = || {
            let (start, read) = (written.constant_from_start()?, read.constant_from_start()?);
            Some(!(start..start.saturating_add(self.bytes_of(copy)?)).contains(&read))
        };
        self.sized_variable(written) == self.sized_variable(read) && is_other_member() != Some(true)
    }

    /// The most bytes that a copy moves, where that is known.
    fn bytes_of(&self, copy: u32) -> Option<i64> {
        let index = self.facts()?.instance(copy)?.operand_for(Purpose::Bytes)?;
        let number = self.numbers(&[(copy, index)], u32::BITS).pop()??;
        i64::try_from(number.high).ok().filter(|bytes| *bytes < i64::from(u32::MAX))
    }

    /// The address conversions, in order of the text.
    pub(crate) fn conversions(&self) -> &[Conversion] {
        &self.memory().conversions
    }

    /// What acts on operations that run on their own, in order of the text.
    pub(crate) fn actions(&self) -> &[Action] {
        self.actions.get_or_init(|| match self.facts() {
            Some(facts) if self.module.features().has(Features::ASYNCHRONOUS) => asynchronous::actions(facts),
            Some(_) | None => Vec::new(),
        })
    }

    /// The instructions that do one of these to operations of a group, ascending.
    pub(crate) fn acting(&self, group: AsyncGroup, wanted: &[AsyncAction]) -> Vec<u32> {
        let is = |action: &&Action| action.group == group && wanted.contains(&action.action);
        self.actions().iter().filter(is).map(|action| action.instruction).collect()
    }

    /// These instructions, and the calls that may do the same as they do, ascending.
    pub(crate) fn with_calls(&self, instructions: &[u32]) -> Vec<u32> {
        let calls = self.acting_calls.get_or_init(|| match self.facts() {
            Some(facts) => {
                let (module, summaries) = (self.module.module, self.module.summaries());
                let acts =
                    |&call: &u32| facts.is_call(call) && summaries.acts(module, self.body, Handle::new(call));
                (0..self.body.instructions.len() as u32).filter(acts).collect()
            }
            None => Vec::new(),
        });
        let mut all: Vec<u32> = instructions.iter().chain(calls).copied().collect();
        all.sort_unstable();
        all
    }

    /// The same with those calls alone that may do something to the operations of a group.
    pub(crate) fn with_calls_on(&self, group: AsyncGroup, instructions: &[u32]) -> Vec<u32> {
        let (module, summaries) = (self.module.module, self.module.summaries());
        let mut all = self.with_calls(&[]);
        all.retain(|&call| summaries.acts_on(module, self.body, Handle::new(call), group));
        all.extend(instructions);
        all.sort_unstable();
        all
    }

    /// What executions of a kernel's protocol show; nothing of other functions, and of parts of a kernel.
    pub(crate) fn protocol(&self) -> &Protocol {
        &self.followed().protocol
    }

    /// Whether functions that the kernel calls were executed with it.
    pub(crate) fn follows_calls(&self) -> bool {
        self.followed().is_inlined
    }

    /// Where an instruction that the protocol names is.
    pub(crate) fn place(&self, instruction: u32) -> Place {
        self.followed().place(instruction).cloned().unwrap_or_else(|| {
            let effects =
                self.facts().and_then(|facts| facts.instance(instruction)).map(|each| &each.effects);
            let group = effects.and_then(|effects| effects.asynchronous).map(|(group, _)| group);
            Place { own: instruction, within: Vec::new(), group }
        })
    }

    fn followed(&self) -> &Followed {
        self.protocol.get_or_init(|| match self.facts() {
            Some(facts)
                if facts.function.kind == FunctionKind::Entry && self.module.wanted.fragment.is_none() =>
            {
                self.executed(facts)
            }
            Some(_) | None => Followed::default(),
        })
    }

    fn executed(&self, facts: &FunctionFacts<'_>) -> Followed {
        let takes_part = self.has_protocol(facts);
        let has_calls = self.module.features().has(Features::CALLS);
        let calls = if takes_part || has_calls { self.with_calls(&[]) } else { Vec::new() };
        let inlined = || {
            inlined::followed(Caller {
                module: self.module.module,
                source: self.module.source,
                summaries: self.module.summaries(),
                executions: &self.module.shared.executions,
                function: self.handle,
                body: self.body,
                takes_part,
            })
        };
        // What a function reads may be what a copy writes.
        let accesses = || {
            let (module, summaries) = (self.module.module, self.module.summaries());
            let mut calls = (0..self.body.instructions.len() as u32).filter(|&each| facts.is_call(each));
            calls.any(|call| summaries.accesses(module, self.body, Handle::new(call)))
        };
        let may_follow = !calls.is_empty() || takes_part && has_calls && accesses();
        if may_follow && let Some(followed) = inlined() {
            return followed;
        }
        if !takes_part {
            return Followed::default();
        }
        let protocol = model::protocol(facts, &calls, &self.module.shared.executions);
        // Calls of functions that act on nothing count where numbers come from these.
        let followed = if protocol.asks_calls && !may_follow { inlined() } else { None };
        followed.unwrap_or_else(|| Followed::of(protocol))
    }

    fn has_protocol(&self, facts: &FunctionFacts<'_>) -> bool {
        let features = self.module.features();
        features.has(Features::PROTOCOL)
            || features.has(Features::BARRIERS) && asynchronous::has_counted_barrier(facts)
    }

    /// The place of an instruction without its guard and its `;`.
    pub(crate) fn instruction_span(&self, instruction: u32) -> Span {
        self.told(self.body.span(Handle::new(instruction)))
    }

    /// The place of an instruction of any body without its guard and its `;`.
    pub(crate) fn told(&self, span: Span) -> Span {
        let text = self.module.text(span);
        Span::new(span.start, span.start + text.trim_end_matches(';').trim_end().len() as u32)
    }
}
