//! What a kernel shows of the rows of its blocks.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;
use ptx_ir::special::SpecialRegister;
use rustc_hash::FxHashMap;

use super::compare::{Order, Relation};
use super::graph::{Graph, Kind, ValueId};
use super::linear::{Base, BaseId, Form, Sum, Within};
use super::number::{Number, mask, width};
use super::propagate::{Engine, Fact};
use crate::FunctionFacts;

/// The lanes of a warp.
const LANES: u64 = 32;
/// Products of more factors are not followed.
const MAX_FACTORS: usize = 8;
/// Nor are longer sums of products.
const MAX_PRODUCTS: usize = 32;
/// Copies and conversions that are looked through.
const MAX_COPIES: usize = 4;

impl Engine<'_, '_> {
    /// Whether each row is one warp: a kernel whose blocks have several rows goes from the place of a thread in its row in
    /// steps of 32. Of longer rows several threads would do the same.
    pub(super) fn rows_are_warps(&mut self) -> bool {
        let (facts, graph) = (self.facts, self.graph);
        *self.rows_are_warps.get_or_insert_with(|| {
            names(facts, SpecialRegister::TID_Y)
                && graph.values().any(|value| is_counter(facts, graph, value))
        })
    }

    /// Whether a block has one row: a kernel that asks which row a thread is in for nothing but to number the threads of the
    /// block, as cooperative groups do, would do the same in each row.
    pub(super) fn has_one_row(&mut self) -> bool {
        let facts = self.facts;
        *self.has_one_row.get_or_insert_with(|| counts_rows_only(facts))
    }

    /// A sum in which the row and the place in it make the number of a thread: rows that are shorter than a warp, and whose
    /// lengths divide it, lie in warps as one line, and so do those of the planes before.
    pub(super) fn in_rows(&mut self, sum: Sum) -> Sum {
        let forms = &self.values.forms;
        let find = |base: Base| {
            let base = forms.find(base)?;
            sum.terms().find(|(term, _)| *term == base)
        };
        let Some((row, threads)) = find(Base::Special(SpecialRegister::TID_Y)) else { return sum };
        let (Some((_, 1)), Some((warp, 1))) = (find(Base::Lane), find(Base::Warp)) else { return sum };
        if !is_short_row(threads) {
            return sum;
        }
        let w = sum.width();
        let without =
            |sum: Sum, base, factor: u64| sum.plus(&Sum::of(w, base), factor.wrapping_neg() & mask(w));
        let rest = without(sum, row, threads).and_then(|rest| without(rest, warp, 1));
        let planes = sum.terms().find(|&(base, factor)| factor == threads && self.is_rows_before(base));
        let (within, rest) = match planes {
            Some((planes, _)) => (Within::Block, rest.and_then(|rest| without(rest, planes, threads))),
            None => (Within::Plane, rest),
        };
        let Some(rest) = rest else { return sum };
        let number = Number::between(u32::BITS, 0, MAX_THREADS - LANES).with_bits(LANES - 1, 0);
        let rows = self.values.forms.base(Base::Rows(threads as u8, within), number, None);
        rest.plus(&Sum::of(w, rows), 1).unwrap_or(sum)
    }

    /// Whether a base is how many rows the planes before that of a thread have.
    fn is_rows_before(&self, base: BaseId) -> bool {
        use SpecialRegister as R;
        self.is_product(self.values.forms.what(base), [(R::TID_Z, 1), (R::NTID_Y, 1)])
    }

    /// Whether a product is that of the rows of a block, the planes, and the threads of a row, by which threads are numbered:
    /// those are all threads that there are.
    pub(super) fn counts_short_rows(&self, one: &Sum, other: &Sum) -> bool {
        use SpecialRegister as R;
        let factor = |sum: &Sum, register| self.times(sum, register).filter(|_| sum.offset() == 0);
        let counts = |one, other| factor(one, R::NTID_Y).zip(factor(other, R::NTID_Z));
        let threads = counts(one, other).or_else(|| counts(other, one));
        threads.is_some_and(|(rows, planes)| rows.checked_mul(planes).is_some_and(is_short_row))
    }

    /// Whether a base is the product of two special registers, each so often.
    fn is_product(&self, base: Base, registers: [(SpecialRegister, u64); 2]) -> bool {
        let Base::Operation { computes: Computation::Multiply, operands: [one, other, Form::NONE], .. } =
            base
        else {
            return false;
        };
        let is = |form: Form, (register, factor)| {
            form != Form::NONE && {
                let sum = self.values.forms.sum(form);
                sum.offset() == 0 && self.times(sum, register) == Some(factor)
            }
        };
        let [first, second] = registers;
        is(one, first) && is(other, second) || is(one, second) && is(other, first)
    }

    /// How often a sum has a special register, and nothing else.
    fn times(&self, sum: &Sum, register: SpecialRegister) -> Option<u64> {
        let mut terms = sum.terms();
        let (Some((base, factor)), None) = (terms.next(), terms.next()) else { return None };
        (self.values.forms.what(base) == Base::Special(register)).then_some(factor)
    }
}

impl Engine<'_, '_> {
    /// Whether a number is one that only those know who launch the kernel, and may be the threads of several warps: what
    /// the kernel is given, or a product of that.
    pub(crate) fn is_chosen_by_launch(&self, fact: Fact) -> bool {
        let is_given = |base: &BaseId| matches!(self.values.forms.what(*base), Base::Loaded { .. });
        let factors = self.factors(self.sum(fact));
        factors.is_some_and(|factors| factors.iter().all(is_given))
            && fact.number.high >= LANES
            && fact.number.ones & (LANES - 1) == 0
    }

    /// The bases of which a sum is the product; none where it is none.
    fn factors(&self, sum: &Sum) -> Option<Vec<BaseId>> {
        let mut open = vec![*sum];
        let mut found = Vec::new();
        while let Some(sum) = open.pop() {
            let mut terms = sum.terms();
            let (Some((base, 1)), None, 0) = (terms.next(), terms.next(), sum.offset()) else { return None };
            match self.values.forms.what(base) {
                Base::Operation { computes: Computation::Multiply, operands: [one, other, _], .. }
                    if one != Form::NONE && other != Form::NONE && found.len() < MAX_FACTORS =>
                {
                    open.extend([one, other].map(|form| *self.values.forms.sum(form)));
                }
                _ => found.push(base),
            }
        }
        Some(found)
    }

    /// Whether one sum is the number of a thread in its block, and the other how many threads that has.
    pub(crate) fn is_place_in_block(&self, place: &Sum, threads: &Sum) -> bool {
        use SpecialRegister as R;
        let Some(rows) = self.beside_place(place) else { return false };
        let (places, lengths) = (self.products(rows), self.products(*threads));
        let plane = [vec![R::TID_Y, R::NTID_X]];
        let space = [vec![R::TID_Y, R::NTID_X], vec![R::TID_Z, R::NTID_X, R::NTID_Y]];
        let is = |found: &Option<Vec<Vec<R>>>, expected: &[Vec<R>]| {
            let sorted = |mut product: Vec<R>| {
                product.sort_unstable();
                product
            };
            let mut expected: Vec<Vec<R>> = expected.iter().cloned().map(sorted).collect();
            expected.sort_unstable();
            found.as_ref() == Some(&expected)
        };
        is(&places, &plane) && is(&lengths, &[vec![R::NTID_X, R::NTID_Y]])
            || is(&places, &space) && is(&lengths, &[vec![R::NTID_X, R::NTID_Y, R::NTID_Z]])
    }

    /// A sum of products of special registers, written out and in order; none where it is something else.
    fn products(&self, sum: Sum) -> Option<Vec<Vec<SpecialRegister>>> {
        let mut open = vec![(Vec::new(), sum, Vec::<Sum>::new())];
        let mut found: Vec<Vec<SpecialRegister>> = Vec::new();
        let mut steps = 0;
        while let Some((product, sum, times)) = open.pop() {
            if sum.offset() != 0 {
                return None;
            }
            for (base, factor) in sum.terms() {
                steps += 1;
                if factor != 1 || steps > MAX_PRODUCTS {
                    return None;
                }
                let (mut product, mut times) = (product.clone(), times.clone());
                match self.values.forms.what(base) {
                    Base::Special(register) => {
                        product.push(register);
                        match times.pop() {
                            Some(next) => open.push((product, next, times)),
                            None => {
                                product.sort_unstable();
                                found.push(product);
                            }
                        }
                    }
                    Base::Operation {
                        computes: Computation::Multiply, operands: [one, other, _], ..
                    } if one != Form::NONE && other != Form::NONE => {
                        times.push(*self.values.forms.sum(other));
                        open.push((product, *self.values.forms.sum(one), times));
                    }
                    _ => return None,
                }
            }
        }
        found.sort_unstable();
        Some(found)
    }

    /// A sum without the place of a thread in its row, where that is in it once.
    pub(crate) fn beside_place(&self, sum: &Sum) -> Option<Sum> {
        self.place_in(sum).filter(|times| *times == 1).and(self.without_place(*sum, 1))
    }

    /// Whether all lanes that a warp has lie in one segment of an exchange, as its last operand cuts the warp.
    pub(crate) fn is_one_segment(&self, clamp: u64) -> bool {
        clamp >> 8 & self.launch.lane_bits() == 0
    }

    /// How many threads a row has, as loops over its elements show: one that begins at the place of a thread goes on by the
    /// threads of a row, since of more threads several would do the same; and where it goes on by `%ntid.x` to a multiple
    /// of 64 or more, that is what its author has made of a number that rows divide. None where nothing shows it, where
    /// the kernel says it, or where it asks for threads that there would not be.
    pub(crate) fn row_of_loops(&mut self) -> Option<u64> {
        let longest = self.launch.longest_row()?;
        let row = self.by_number().into_iter().chain(self.by_multiples()).min()?;
        (row <= longest && !self.asks_beyond(row)).then_some(row)
    }

    /// The smallest number by which a loop goes on.
    fn by_number(&self) -> Option<u64> {
        let by = |(&value, steps): (&ValueId, &Vec<Form>)| {
            let [step] = steps[..] else { return None };
            let by = self.values.forms.sum(step).value().filter(|by| is_row(*by))?;
            let sum = self.sum(self.values.of(value)?);
            self.place_in(sum).filter(|factor| *factor == 1).map(|_| by)
        };
        self.values.steps.iter().filter_map(by).min()
    }

    /// The smallest multiple up to which a loop goes on by `%ntid.x`.
    fn by_multiples(&mut self) -> Option<u64> {
        let by_row = |(&value, steps): (&ValueId, &Vec<Form>)| {
            let [step] = steps[..] else { return None };
            let sum = self.values.forms.sum(step);
            let mut terms = sum.terms();
            let (Some((base, 1)), None, 0) = (terms.next(), terms.next(), sum.offset()) else { return None };
            let is_row = self.values.forms.what(base) == Base::Special(SpecialRegister::NTID_X);
            is_row.then(|| self.values.forms.find(Base::Steps(value)))?
        };
        let turns: Vec<BaseId> = self.values.steps.iter().filter_map(by_row).collect();
        if turns.is_empty() {
            return None;
        }
        let row = self.values.forms.find(Base::Special(SpecialRegister::NTID_X));
        let mut least: Option<u64> = None;
        for (difference, _) in self.comparisons() {
            let Some(place) = self.place_in(&difference) else { continue };
            if !difference.terms().any(|(base, factor)| turns.contains(&base) && factor == place) {
                continue;
            }
            // The last turn goes one row further.
            let is_of_rows = |base: &BaseId| Some(*base) == row || turns.contains(base);
            let w = difference.width();
            let mut rows = difference.terms().filter(|(base, _)| is_of_rows(base));
            let rest = rows.try_fold(difference, |rest, (base, factor)| {
                rest.plus(&Sum::of(w, base), factor.wrapping_neg() & mask(w))
            });
            let Some(rest) = rest.and_then(|rest| self.without_place(rest, place)) else { continue };
            let zeros = self.number_of(&rest).zeros.trailing_ones();
            let multiple = 1 << zeros.min(MAX_THREADS.trailing_zeros());
            if is_row(multiple) {
                least = Some(least.map_or(multiple, |least| least.min(multiple)));
            }
        }
        least
    }

    /// Whether something is asked of the place of a thread that is known where rows are not longer.
    fn asks_beyond(&mut self, row: u64) -> bool {
        self.comparisons().into_iter().any(|(difference, order)| {
            let w = difference.width();
            let Some(place) = self.place_in(&difference) else { return false };
            let rest = self.without_place(difference, place).and_then(|rest| rest.value());
            let Some(rest) = rest else { return false };
            let (number, least) = match (place == 1, order) {
                (true, _) => (rest.wrapping_neg() & mask(w), row),
                (false, Order::Less) => (rest, row - 1),
                (false, Order::Equal) => (rest, row),
            };
            number >= least && number <= mask(w) >> 1
        })
    }

    /// The differences of integers that are compared, and how.
    fn comparisons(&mut self) -> Vec<(Sum, Order)> {
        let facts = self.facts;
        let mut found = Vec::new();
        for instruction in 0..facts.body.instructions.len() as u32 {
            let Some(instance) = facts.instance(instruction) else { continue };
            let (Some(Computation::Compare), Some(ty)) = (instance.effects.computes, instance.ty) else {
                continue;
            };
            let Some(relation) = Relation::of(instance).filter(|_| ty.is_integer()) else { continue };
            let w = width(ty);
            let (Some(one), Some(other)) = (self.operand(instruction, 1, w), self.operand(instruction, 2, w))
            else {
                continue;
            };
            let (one, other) = if relation.swapped { (other, one) } else { (one, other) };
            found.extend(self.sum(one).plus(self.sum(other), u64::MAX).map(|sum| (sum, relation.order)));
        }
        found
    }

    /// How often the place of a thread in its row is in a sum.
    fn place_in(&self, sum: &Sum) -> Option<u64> {
        let times = |base: Base| {
            let base = self.values.forms.find(base)?;
            sum.terms().find(|(term, _)| *term == base).map(|(_, factor)| factor)
        };
        times(Base::Lane).filter(|factor| times(Base::Warp) == Some(*factor))
    }

    fn without_place(&self, sum: Sum, times: u64) -> Option<Sum> {
        let w = sum.width();
        let without = |sum: Sum, base: Base| {
            sum.plus(&Sum::of(w, self.values.forms.find(base)?), times.wrapping_neg() & mask(w))
        };
        without(sum, Base::Lane).and_then(|sum| without(sum, Base::Warp))
    }
}

/// Whether a number of threads is that of several whole warps of one row.
const fn is_row(threads: u64) -> bool {
    threads > LANES && threads <= MAX_THREADS && threads.is_multiple_of(LANES)
}

/// Whether a number of threads is that of a row of which a warp has several.
const fn is_short_row(threads: u64) -> bool {
    threads.is_power_of_two() && threads > 1 && threads < LANES
}

/// The threads of a block, at most.
const MAX_THREADS: u64 = 1024;

/// Whether an instruction reads a special register.
fn names(facts: &FunctionFacts<'_>, register: SpecialRegister) -> bool {
    let instructions = 0..facts.body.instructions.len() as u32;
    instructions
        .flat_map(|each| facts.body.operands(Handle::new(each)))
        .any(|operand| matches!(operand, Operand::Special(special) if *special == register))
}

/// Whether a loop's head joins the place of a thread in its row with what a turn adds 32 to.
fn is_counter(facts: &FunctionFacts<'_>, graph: &Graph, value: ValueId) -> bool {
    if !matches!(graph.kind(value), Kind::Joined { .. }) {
        return false;
    }
    let inputs = graph.inputs(value);
    inputs.iter().any(|&input| is_stepped(facts, graph, input, value))
        && inputs.iter().any(|&input| is_place(facts, graph, input))
}

fn is_stepped(facts: &FunctionFacts<'_>, graph: &Graph, input: ValueId, counter: ValueId) -> bool {
    let Kind::Computed { instruction, .. } = graph.kind(input) else { return false };
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    let operands = facts.body.operands(Handle::new(instruction));
    computes == Some(Computation::Add)
        && matches!(operands, [_, _, Operand::Integer { bits: LANES, negative: false }])
        && facts.uses().range(instruction).any(|at| graph.read(at) == Some(counter))
}

fn is_place(facts: &FunctionFacts<'_>, graph: &Graph, mut value: ValueId) -> bool {
    for _ in 0..MAX_COPIES {
        let Kind::Computed { instruction, .. } = graph.kind(value) else { return false };
        let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
        if !matches!(computes, Some(Computation::Move | Computation::Convert)) {
            return false;
        }
        match facts.body.operands(Handle::new(instruction)) {
            [_, Operand::Special(SpecialRegister::TID_X)] => return true,
            [_, Operand::Register { .. }] => {}
            _ => return false,
        }
        let Some(read) = facts.uses().range(instruction).find_map(|at| graph.read(at)) else { return false };
        value = read;
    }
    false
}

/// What a register is of the number of a thread in its block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Row,
    Plane,
    RowLength,
    PlaneLength,
    /// The rows of the planes before.
    RowsBefore,
    /// All rows before.
    Rows,
}

/// Whether the row and the plane of a thread are read, and only for its number in the block:
/// `(plane * rows + row) * length + place`.
fn counts_rows_only(facts: &FunctionFacts<'_>) -> bool {
    use SpecialRegister as R;
    let count = facts.body.instructions.len() as u32;
    let mut parts: FxHashMap<Register, Part> = FxHashMap::default();
    for instruction in 0..count {
        let operands = facts.body.operands(Handle::new(instruction));
        let Some(&Operand::Register { register, .. }) = operands.first() else { continue };
        let is_only = || !facts.is_guarded(instruction) && facts.definitions(register).len() == 1;
        let part = match (computation(facts, instruction), operands.get(1)) {
            (Some(Computation::Move), Some(Operand::Special(special))) => match *special {
                R::TID_Y => Part::Row,
                R::TID_Z => Part::Plane,
                R::NTID_X => Part::RowLength,
                R::NTID_Y => Part::PlaneLength,
                _ => continue,
            },
            _ => match step(facts, instruction, &parts) {
                Some(Some(part)) => part,
                _ => continue,
            },
        };
        if is_only() {
            parts.insert(register, part);
        }
    }
    let has = |part: Part| parts.values().any(|known| *known == part);
    let is_counting = |instruction: u32| {
        let operands = facts.body.operands(Handle::new(instruction));
        let is_asked = |operand: &Operand| match operand {
            Operand::Special(special) | Operand::SpecialSum { register: special, .. } => {
                matches!(*special, R::TID_Y | R::TID_Z)
            }
            _ => false,
        };
        if operands.iter().any(is_asked) {
            let is_part = |operand: &Operand| matches!(operand, Operand::Register { register, .. } if parts.contains_key(register));
            return operands.first().is_some_and(is_part);
        }
        let reads = facts.uses().of(instruction).iter().filter(|each| each.access().reads());
        let is_length = |part: Part| matches!(part, Part::RowLength | Part::PlaneLength);
        let is_read = reads.filter_map(|each| parts.get(&each.register)).any(|part| !is_length(*part));
        !is_read || step(facts, instruction, &parts).is_some()
    };
    has(Part::Row) && has(Part::Plane) && has(Part::Rows) && (0..count).all(is_counting)
}

fn computation(facts: &FunctionFacts<'_>, instruction: u32) -> Option<Computation> {
    facts.instance(instruction)?.effects.computes
}

/// What an instruction makes of parts of the number of a thread, which may be no part any more; none where it does
/// something else.
fn step(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    parts: &FxHashMap<Register, Part>,
) -> Option<Option<Part>> {
    let operands = facts.body.operands(Handle::new(instruction));
    let part = |index: usize| match operands.get(index) {
        Some(Operand::Register { register, .. }) => parts.get(register).copied(),
        _ => None,
    };
    let are = |one: Part, other: Part| {
        let pair = (part(1), part(2));
        pair == (Some(one), Some(other)) || pair == (Some(other), Some(one))
    };
    let (of_planes, of_rows) = (are(Part::Plane, Part::PlaneLength), are(Part::Rows, Part::RowLength));
    match computation(facts, instruction)? {
        Computation::MultiplyAdd if of_planes && part(3) == Some(Part::Row) => Some(Some(Part::Rows)),
        Computation::MultiplyAdd if of_rows && part(3).is_none() => Some(None),
        Computation::Multiply if of_planes => Some(Some(Part::RowsBefore)),
        Computation::Multiply if of_rows => Some(None),
        Computation::Add if are(Part::RowsBefore, Part::Row) => Some(Some(Part::Rows)),
        _ => None,
    }
}
