use ptx_facts::FunctionFacts;
use ptx_facts::carry::{Reader, fits};
use ptx_ir::ir::{Operand, Register};
use ptx_syntax::Diagnostic;
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::rules::carry::carry_polarity::counts_flag;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a chain of extended-precision instructions that another one runs into: a `.cc` instruction whose
    /// carry is overwritten by the start of another chain before it is read, while a later instruction
    /// reads the flag; an instruction that reads the carry of a chain whose next member has read it already; one
    /// that reads such a carry where the guard of its own producer is false; and one after a member of the chain that
    /// some path leaves out.
    ///
    /// ## Why is this bad
    /// There is one carry flag. The instruction that continues the first chain adds the carry of the second.
    ///
    /// ## Example
    /// ```ptx
    /// add.cc.u32 %r3, %r1, %r2;
    /// add.cc.u32 %r9, %r7, %r8;
    /// addc.u32 %r6, %r4, %r5;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.cc.u32 %r3, %r1, %r2;
    /// addc.u32 %r6, %r4, %r5;
    /// add.cc.u32 %r9, %r7, %r8;
    /// ```
    ///
    /// ## What it may miss
    /// A chain that is broken after its second member, where the first half might be a chain of its own, one
    /// that lost its start after a chain whose last carry nobody reads, and one that is overwritten where what follows
    /// is a chain of its own: the instruction that reads the flag only counts it, as
    /// `addc.u32 %r1, %r2, 0` does.
    name: "carry-clobbered",
    code: "P0602",
    former: ["H0311"],
    class: Hazard,
    level: Warn,
    summary: "a carry that another chain overwrites, or that is read twice",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let carry = context.carry();
    if carry.unknown {
        return;
    }
    let mut used = Used::default();
    for &lost in &carry.unread {
        overwritten(context, facts, lost, &mut used, diagnostics);
    }
    let mut chains = Chains { context, facts, ends: FxHashMap::default(), used: FxHashMap::default() };
    for reader in carry.readers.iter().filter(|reader| !reader.carry.writes) {
        chains.note_end(reader);
    }
    let stale = |reader| {
        chains.read_twice(reader).or_else(|| chains.used_up(reader)).or_else(|| chains.left_out(reader))
    };
    diagnostics.extend(carry.readers.iter().filter_map(stale));
}

/// The ends of chains: readers that leave the flag as it was.
struct Chains<'s, 'a> {
    context: &'s FlowContext<'a>,
    facts: &'s FunctionFacts<'a>,
    /// By the writers that they may read.
    ends: FxHashMap<&'s [u32], Vec<&'s Reader>>,
    /// By each writer that is in the same block before them, so that whoever comes out of the block has passed
    /// them.
    used: FxHashMap<u32, &'s Reader>,
}

impl<'s> Chains<'s, '_> {
    fn note_end(&mut self, reader: &'s Reader) {
        let writers = &reader.reaching.writers[..];
        self.ends.entry(writers).or_default().push(reader);
        for &writer in writers {
            let same_guard = self.facts.condition(writer) == self.facts.condition(reader.instruction);
            if same_guard && self.is_straight(writer, reader.instruction) {
                self.used.entry(writer).or_insert(reader);
            }
        }
    }

    fn is_straight(&self, first: u32, second: u32) -> bool {
        let block = |instruction| self.facts.cfg.block_of(FunctionFacts::handle(instruction));
        first < second && block(first) == block(second)
    }

    /// The end of the chain of these writers that every path to an instruction leads through.
    fn end_before(&self, writers: &[u32], instruction: u32) -> Option<&'s Reader> {
        let block = |instruction| self.facts.cfg.block_of(FunctionFacts::handle(instruction));
        let here = block(instruction);
        let before = |end: &&&Reader| {
            let there = block(end.instruction);
            if there == here { end.instruction < instruction } else { self.facts.cfg.dominates(there, here) }
        };
        self.ends.get(writers)?.iter().rev().find(before).copied()
    }

    /// Who used the carry of a writer before it gets to a reader.
    fn user_between(&self, writer: u32, reader: u32) -> Option<&'s Reader> {
        let user = *self.used.get(&writer)?;
        let between = !self.is_straight(writer, reader) || user.instruction < reader;
        (between && user.instruction != reader).then_some(user)
    }

    /// A member of a chain that reads what the end of a chain before it has read. `addc d, 0, 0` only takes the
    /// carry out, and may do so again.
    fn read_twice(&self, reader: &Reader) -> Option<Diagnostic> {
        let writers = &reader.reaching.writers[..];
        let first = self.end_before(writers, reader.instruction).or_else(|| {
            let users = writers.iter().map(|&writer| self.user_between(writer, reader.instruction));
            users.collect::<Option<Vec<_>>>()?.first().copied()
        })?;
        let both_take_it_out = takes_carry_out(self.context, first.instruction)
            && takes_carry_out(self.context, reader.instruction);
        let same_guard = self.facts.condition(first.instruction) == self.facts.condition(reader.instruction);
        if both_take_it_out || !same_guard || first.carry.chain != reader.carry.chain {
            return None;
        }
        let finding = RULE.at(
            self.context.instruction_span(reader.instruction),
            "this reads the same carry as the member of the chain before it",
        );
        Some(
            finding
                .with_secondary(
                    self.context.instruction_span(first.instruction),
                    "read here first, and not set anew",
                )
                .with_help("give the instruction that makes the carry the modifier `.cc`"),
        )
    }

    /// A reader that sees, where its producer does not run, a carry that an earlier chain has used up.
    fn used_up(&self, reader: &Reader) -> Option<Diagnostic> {
        let writers = &reader.reaching.writers[..];
        // Where nothing has set the flag on some path, that is reported.
        if writers.len() < 2 || reader.reaching.undefined.is_some() {
            return None;
        }
        let producer = *writers.iter().find(|&&writer| self.may_be_skipped(writer, reader.instruction))?;
        let others = writers.iter().filter(|&&writer| writer != producer);
        let users = others.clone().map(|&writer| {
            self.end_before(&[writer], producer).or_else(|| self.user_between(writer, producer))
        });
        let user = *users.collect::<Option<Vec<_>>>()?.first()?;
        let older = *others.clone().next()?;
        let (message, label) = if self.facts.is_guarded(producer) {
            (
                "where the guard of its producer is false, this reads the carry of an earlier chain",
                "the producer has a guard",
            )
        } else {
            (
                "where its producer is jumped over, this reads the carry of an earlier chain",
                "the producer does not run on every path",
            )
        };
        let finding = RULE.at(self.context.instruction_span(reader.instruction), message);
        Some(
            finding
                .with_secondary(self.context.instruction_span(producer), label)
                .with_secondary(self.context.instruction_span(older), "the older carry comes from here")
                .with_secondary(self.context.instruction_span(user.instruction), "and was used here"),
        )
    }

    /// Whether a producer has a guard, or starts a chain in a block that control may go around.
    fn may_be_skipped(&self, producer: u32, reader: u32) -> bool {
        let block = |instruction| self.facts.cfg.block_of(FunctionFacts::handle(instruction));
        let starts = self.facts.carry(producer).is_some_and(|carry| !carry.reads);
        if self.facts.is_guarded(producer) {
            self.is_straight(producer, reader)
        } else {
            starts && !self.facts.cfg.dominates(block(producer), block(reader))
        }
    }

    /// A reader of a chain with a member in the middle that some path leaves out: its carry is that of the member, or the
    /// one that the member takes. In a loop a member follows itself, and how many of them there are is open.
    fn left_out(&self, reader: &Reader) -> Option<Diagnostic> {
        let writers = &reader.reaching.writers[..];
        let known = reader.reaching.undefined.is_none();
        if !known || writers.len() < 2 || takes_carry_out(self.context, reader.instruction) {
            return None;
        }
        let all = &self.context.carry().readers;
        let (member, before) = writers.iter().find_map(|&writer| {
            let place = all.binary_search_by_key(&writer, |each| each.instruction).ok()?;
            let taken = &all[place].reaching.writers;
            let same_guard = self.facts.condition(writer) == self.facts.condition(reader.instruction);
            let before = taken.iter().find(|&&before| before != writer && writers.contains(&before))?;
            let left_out = !same_guard || !self.facts.is_guarded(writer);
            (left_out && !taken.contains(&writer)).then_some((writer, *before))
        })?;
        let finding = RULE.at(
            self.context.instruction_span(reader.instruction),
            "the member of the chain before this is left out on some path, and its carry with it",
        );
        Some(
            finding
                .with_secondary(self.context.instruction_span(member), "does not run on every path")
                .with_secondary(self.context.instruction_span(before), "then the carry comes from here"),
        )
    }
}

/// The start of a chain that nobody continues, because the next start comes first.
/// What is looked up where a carry is lost.
#[derive(Default)]
struct Used<'s> {
    readers: Option<FxHashMap<u32, &'s Reader>>,
    last_reads: Option<FxHashMap<Register, u32>>,
}

impl<'s> Used<'s> {
    /// The first reader of the carry of an instruction.
    fn reader(&mut self, context: &'s FlowContext<'_>, writer: u32) -> Option<&'s Reader> {
        let readers = self.readers.get_or_insert_with(|| {
            let mut first = FxHashMap::default();
            for reader in &context.carry().readers {
                for &writer in &reader.reaching.writers {
                    first.entry(writer).or_insert(reader);
                }
            }
            first
        });
        readers.get(&writer).copied()
    }

    /// Whether an instruction after another reads a register.
    fn is_read_after(&mut self, facts: &FunctionFacts<'_>, register: Register, instruction: u32) -> bool {
        let last_reads = self.last_reads.get_or_insert_with(|| {
            let mut last = FxHashMap::default();
            for index in 0..facts.body.instructions.len() as u32 {
                let uses = facts.uses().of(index).iter();
                last.extend(uses.filter(|each| each.access().reads()).map(|each| (each.register, index)));
            }
            last
        });
        last_reads.get(&register).is_some_and(|&last| last > instruction)
    }
}

fn overwritten<'s>(
    context: &'s FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    lost: u32,
    used: &mut Used<'s>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let starts =
        |instruction: u32| facts.carry(instruction).is_some_and(|carry| carry.writes && !carry.reads);
    let writers = facts.carry_writers();
    let next = writers.partition_point(|&writer| writer <= lost);
    let Some(&next) = writers.get(next) else { return };
    let same_block =
        facts.cfg.block_of(FunctionFacts::handle(lost)) == facts.cfg.block_of(FunctionFacts::handle(next));
    if !starts(lost) || !starts(next) || !same_block {
        return;
    }
    let Some(reader) = used.reader(context, next) else { return };
    if facts.condition(lost) != facts.condition(next) {
        return;
    }
    // The next chain is complete in itself: it has one word, which something after it reads, and its carry is
    // counted.
    let mut words = facts.uses().of(next).iter().filter(|each| each.access().writes());
    let has_a_word = words.any(|each| used.is_read_after(facts, each.register, next));
    if has_a_word && counts_flag(context, reader.instruction) {
        return;
    }
    // An addition's carry was never meant for a subtraction, nor the reverse.
    if facts.carry(lost).is_some_and(|carry| !fits(carry.chain, reader.carry.chain)) {
        return;
    }
    diagnostics.push(
        RULE.at(context.instruction_span(next), "this overwrites a carry that nothing has read yet")
            .with_secondary(context.instruction_span(lost), "the carry that is lost comes from here")
            .with_secondary(context.instruction_span(reader.instruction), "the flag is read here"),
    );
}

/// Whether an instruction only adds the carry to a number that is known.
fn takes_carry_out(context: &FlowContext<'_>, instruction: u32) -> bool {
    let operands = context.body.operands(FunctionFacts::handle(instruction));
    let constants = operands.iter().filter(|operand| matches!(operand, Operand::Integer { .. })).count();
    constants + 1 >= operands.len()
}
