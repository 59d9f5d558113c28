//! From the operands of a statement to the instance that they fit.

use super::class::{Class, ClassSet};
use super::instance::{ImmediateRange, Instance, OperandSpec, Pattern, Role, Selectors};
use super::manual::Beyond;
use super::mismatch::{Mismatch, Wanted};
use super::resolve::Resolved;
use super::shape::{Selector, Shape, ShapeFlags, ShapeKind};
use crate::platform::Platform;
use crate::types::{Type, TypeKind};

impl Resolved {
    /// Picks the instance that the operands fit and gives its index in [`Resolved::instances`]. `children`
    /// holds the parts of pairs and brackets, where [`Shape::children`] points.
    ///
    /// # Errors
    /// Says what does not fit, compared with the instance that comes nearest: the one that fits the most
    /// operands from the left.
    pub fn select(&self, operands: &[Shape], children: &[Shape]) -> Result<usize, Mismatch> {
        for (index, instance) in self.instances.iter().enumerate() {
            if fits(instance, operands, children) {
                return Ok(index);
            }
        }
        Err(self.explain(operands, children))
    }

    /// Picks the instance that the operands fit as [`Resolved::select`] does; of several, the first that a module
    /// for this platform has.
    ///
    /// # Errors
    /// As [`Resolved::select`].
    pub fn select_available(
        &self,
        operands: &[Shape],
        children: &[Shape],
        platform: Platform,
    ) -> Result<usize, Mismatch> {
        let mut unavailable = None;
        for (index, instance) in self.instances.iter().enumerate() {
            if fits(instance, operands, children) {
                if instance.is_available(platform) {
                    return Ok(index);
                }
                unavailable = unavailable.or(Some(index));
            }
        }
        unavailable.ok_or_else(|| self.explain(operands, children))
    }

    /// Picks the first instance that the operands fit as the manual has them and that a module for this platform has; where
    /// there is none, says what the manual does not have of the instance that [`Resolved::select_available`] picks.
    ///
    /// # Errors
    /// As [`Resolved::select`].
    pub fn select_in_manual(
        &self,
        operands: &[Shape],
        children: &[Shape],
        platform: Platform,
    ) -> Result<(usize, Option<Beyond>), Mismatch> {
        let picked = self.select_available(operands, children, platform)?;
        let beyond = |index: usize| self.instances[index].beyond_manual(operands, children);
        let in_manual = |index: &usize| {
            let instance = &self.instances[*index];
            instance.is_available(platform) && fits(instance, operands, children) && beyond(*index).is_none()
        };
        match beyond(picked) {
            None => Ok((picked, None)),
            Some(found) => match (0..self.instances.len()).find(in_manual) {
                Some(index) => Ok((index, None)),
                None => Ok((picked, Some(found))),
            },
        }
    }

    #[cold]
    fn explain(&self, operands: &[Shape], children: &[Shape]) -> Mismatch {
        let mut expected: Vec<usize> = Vec::new();
        let mut nearest: Option<((usize, usize), Mismatch)> = None;
        // What the assembler takes by mistake is not what to write.
        let is_meant = |instance: &Instance| instance.form.misread().is_none();
        let all = !self.instances.iter().any(is_meant);
        for (index, instance) in self.instances.iter().enumerate().filter(|(_, each)| all || is_meant(each)) {
            let required = instance.operands.iter().filter(|spec| !spec.optional).count();
            if operands.len() < required || operands.len() > instance.operands.len() {
                expected.extend(required..=instance.operands.len());
                continue;
            }
            let (fitting, mismatch) = first_misfit(index, instance, operands, children);
            // Of brackets, one with as many parts is nearer, and of these the one that fits more of them.
            let parts = match &mismatch {
                Mismatch::Operand { wanted: Wanted::Parts { .. }, .. } => 0,
                Mismatch::Operand { part, .. } => part.map_or(0, |part| part + 1),
                Mismatch::Count { .. } | Mismatch::NoInstance => 0,
            };
            if nearest.as_ref().is_none_or(|(most, _)| (fitting, parts) > *most) {
                nearest = Some(((fitting, parts), mismatch));
            }
        }
        if let Some((_, mismatch)) = nearest {
            return mismatch;
        }
        if expected.is_empty() {
            return Mismatch::NoInstance;
        }
        expected.sort_unstable();
        expected.dedup();
        Mismatch::Count { given: operands.len(), expected, instance: 0 }
    }
}

/// Whether the operands fit an instance.
fn fits(instance: &Instance, operands: &[Shape], children: &[Shape]) -> bool {
    let specs = &instance.operands;
    if specs.len() == operands.len() {
        return specs.iter().zip(operands).all(|(spec, shape)| check(spec, shape, children).is_none());
    }
    operands.len() < specs.len() && fits_with_gaps(specs, operands, children, &mut Vec::new())
}

/// Whether the operands fit when some optional ones are left out, and in `places` which place each then has. An
/// operand is tried at the first place that takes it; where the rest does not fit then, at a later one, since
/// `bar.red.and.pred p, a, WARP_SZ` leaves the number of threads out though `WARP_SZ` could be one.
pub(super) fn fits_with_gaps(
    specs: &[OperandSpec],
    operands: &[Shape],
    children: &[Shape],
    places: &mut Vec<usize>,
) -> bool {
    fn place(
        specs: &[OperandSpec],
        at: usize,
        operands: &[Shape],
        children: &[Shape],
        places: &mut Vec<usize>,
    ) -> bool {
        let Some(spec) = specs.get(at) else { return operands.is_empty() };
        if let Some((shape, rest)) = operands.split_first()
            && check(spec, shape, children).is_none()
        {
            places.push(at);
            if place(specs, at + 1, rest, children, places) {
                return true;
            }
            places.pop();
        }
        spec.optional && place(specs, at + 1, operands, children, places)
    }
    place(specs, 0, operands, children, places)
}

/// How many operands fit from the left, and what is wrong with the first that does not.
fn first_misfit(
    index: usize,
    instance: &Instance,
    operands: &[Shape],
    children: &[Shape],
) -> (usize, Mismatch) {
    let mut spare = instance.operands.len() - operands.len();
    let mut operand = 0;
    for (spec_index, spec) in instance.operands.iter().enumerate() {
        let misfit = operands.get(operand).map(|shape| check(spec, shape, children));
        match misfit {
            Some(None) => operand += 1,
            Some(Some(_)) | None if spec.optional && spare > 0 => spare -= 1,
            Some(Some((part, wanted))) => {
                return (
                    operand,
                    Mismatch::Operand { operand, part, spec: spec_index, instance: index, wanted },
                );
            }
            None => break,
        }
    }
    let expected = vec![instance.operands.len()];
    (operand, Mismatch::Count { given: operands.len(), expected, instance: index })
}

/// What is wrong with one operand: the part of it and what was wanted.
type Misfit = Option<(Option<usize>, Wanted)>;

pub(super) fn check(spec: &OperandSpec, shape: &Shape, children: &[Shape]) -> Misfit {
    let wanted = match (spec.pattern, shape.kind) {
        // What else passes as a predicate here and there cannot be negated.
        (Pattern::NegatableValue, ShapeKind::Negated)
            if !shape.classes.is_subset(ClassSet::of(&[Class::RegPred, Class::Unknown])) =>
        {
            Some(Wanted::Class(Class::RegPred.into()))
        }
        (Pattern::Value, ShapeKind::Value)
        | (Pattern::NegatableValue, ShapeKind::Value | ShapeKind::Negated)
        | (Pattern::Selectable { .. }, ShapeKind::Value) => check_value(spec, shape),
        (Pattern::Vector { count }, ShapeKind::Vector) if count == shape.count => check_vector(spec, shape),
        (Pattern::Vector { count }, ShapeKind::Vector) => check_longer(spec, shape, count),
        (Pattern::Address, ShapeKind::Address)
            if shape.flags.contains(ShapeFlags::OFFSET) && spec.accepts.contains(Class::Whole) =>
        {
            Some(Wanted::NoOffset)
        }
        (Pattern::Address, ShapeKind::Address) if !shape.flags.contains(ShapeFlags::UNIFIED) => {
            check_value(spec, shape)
        }
        (Pattern::Address, ShapeKind::Address) if may_be_unified(spec) => check_value(spec, shape),
        (Pattern::Pair, ShapeKind::Pair) | (Pattern::Bracket, ShapeKind::Bracket | ShapeKind::Address) => {
            return check_parts(spec, shape, children);
        }
        (Pattern::Selectable { selectors }, ShapeKind::Selected) => {
            let selector = Selector::from_bits(shape.immediate);
            check_value(spec, shape).or((!allows(selectors, selector)).then_some(Wanted::Selector))
        }
        (Pattern::List, ShapeKind::List) => None,
        (
            Pattern::Value
            | Pattern::NegatableValue
            | Pattern::Pair
            | Pattern::Vector { .. }
            | Pattern::Address
            | Pattern::Bracket
            | Pattern::List
            | Pattern::Selectable { .. },
            _,
        ) => check_unusual(spec, shape),
    };
    wanted.map(|wanted| (None, wanted))
}

/// Whether an address may end in `.unified`: where the instruction knows the attribute and the space is global
/// or generic.
fn may_be_unified(spec: &OperandSpec) -> bool {
    spec.accepts.contains(Class::Unified) && spec.accepts.contains(Class::Global)
}

/// Forms that only some operands take, and operands of unknown kind, which fit everywhere so that one mistake
/// gives one message.
#[cold]
fn check_unusual(spec: &OperandSpec, shape: &Shape) -> Option<Wanted> {
    let single = shape.kind == ShapeKind::Vector && shape.count == 1 && spec.pattern == Pattern::Value;
    let bare = shape.kind == ShapeKind::Value && matches!(spec.pattern, Pattern::Vector { .. });
    let bare_address = shape.kind == ShapeKind::Value && spec.pattern == Pattern::Address;
    if single && spec.accepts.contains(Class::Braces) {
        return check_vector(spec, shape);
    }
    let list = shape.kind == ShapeKind::Vector && spec.pattern == Pattern::Value;
    if list && spec.accepts.contains(Class::Packed) {
        return check_packed(spec, shape);
    }
    let short = matches!(shape.count, 1 | 2 | 4)
        || shape.count == 8 && spec.accepts.contains(Class::Longer)
        || spec.accepts.contains(Class::Shorter);
    if list && short && spec.accepts.contains(Class::Lists) {
        // Alone they make a list of no known type, though each could be without the braces.
        if shape.classes == Class::RegU16.into() {
            return Some(Wanted::Kind);
        }
        return check_vector(spec, shape);
    }
    if bare && spec.accepts.contains(Class::NoBraces) {
        let untyped = if spec.accepts.contains(Class::Typed) { ClassSet::BITS } else { ClassSet::NONE };
        return check_classes(spec, shape, spec.exact.without(other_kind(spec.ty)).without(untyped));
    }
    if bare_address && spec.accepts.contains(Class::NoBraces) {
        let more = if spec.accepts.contains(Class::Anything) { ANYTHING } else { Class::RegF64.into() };
        return check_classes(spec, shape, spec.accepts.union(more));
    }
    if shape.kind == ShapeKind::Negated && spec.accepts.contains(Class::Negated) {
        return check_classes(spec, shape, Class::RegPred.into());
    }
    if bare && spec.accepts.contains(Class::Discard) && shape.classes == Class::Sink.into() {
        return None;
    }
    (!shape.classes.contains(Class::Unknown)).then_some(Wanted::Kind)
}

/// What may stand for an address that takes anything.
const ANYTHING: ClassSet =
    ClassSet::REGISTERS.union(ClassSet::of(&[Class::Decimal, Class::SingleBits, Class::DoubleBits]));

/// What an element of a brace list may be, but not a value that is without one: integers where a floating-point
/// number is meant and the reverse.
fn other_kind(ty: Option<Type>) -> ClassSet {
    match ty.map(Type::kind) {
        Some(TypeKind::Float) => ClassSet::KINDS[0],
        Some(TypeKind::Signed | TypeKind::Unsigned) => ClassSet::KINDS[1],
        Some(TypeKind::Predicate | TypeKind::Bits | TypeKind::Packed | TypeKind::Opaque) | None => {
            ClassSet::NONE
        }
    }
}

/// A brace list stands for one value: one, two or four elements of one width and kind, which together are at least
/// as wide as the value.
#[cold]
fn check_packed(spec: &OperandSpec, shape: &Shape) -> Option<Wanted> {
    const BYTES: [u16; WIDTHS.len()] = [1, 2, 4, 8, 16];
    let needed = spec.ty.and_then(Type::bytes).unwrap_or(0);
    let source = spec.role == Role::Source;
    let registers = shape.classes.intersect(if source { SIZED } else { ClassSet::REGISTERS });
    let fractions = shape.classes.intersect(FRACTIONS);
    let bits = !registers.intersect(ClassSet::BITS).is_empty();
    // Integer constants alone are as wide as they have to be.
    let bytes = if !registers.is_empty() {
        WIDTHS.iter().position(|width| registers.is_subset(*width)).map(|index| BYTES[index])
    } else if fractions.is_empty() {
        None
    } else {
        width_of_list(shape).map(|index| BYTES[index])
    };
    let total = bytes.map(|bytes| u32::from(bytes) * u32::from(shape.count));
    // With a floating-point constant among them they have to be just as wide.
    let wide = match total {
        Some(total) if fractions.is_empty() => total >= needed,
        Some(total) => total == needed,
        None => registers.is_empty(),
    };
    let unknown = shape.classes.contains(Class::Unknown);
    let typed = shape.classes.without(ClassSet::PLAIN).without(Class::Sink.into());
    let one_kind = unknown || ClassSet::KINDS.iter().any(|kind| typed.is_subset(*kind));
    if !matches!(shape.count, 1 | 2 | 4) || !wide && !unknown {
        return Some(Wanted::Kind);
    }
    let constants = if source { ClassSet::IMMEDIATES.union(SPECIALS) } else { Class::Sink.into() };
    let predicates = if bits { ClassSet::NONE } else { Class::RegPred.into() };
    let accepts = ClassSet::REGISTERS.without(predicates).union(constants).union(Class::Unknown.into());
    if !one_kind || !shape.classes.is_subset(accepts) || shape.classes == Class::Sink.into() {
        return Some(Wanted::Class(spec.accepts.without(MARKS)));
    }
    None
}

/// Texture coordinates may have more elements than the geometry needs: two or four. The gradients of cubes may have
/// fewer.
fn check_longer(spec: &OperandSpec, shape: &Shape, count: u16) -> Option<Wanted> {
    if spec.accepts.contains(Class::Longer) && shape.count > count && matches!(shape.count, 2 | 4) {
        return check_vector(spec, shape);
    }
    if spec.accepts.contains(Class::Shorter) && shape.count < count && matches!(shape.count, 1 | 2) {
        return check_vector(spec, shape);
    }
    Some(Wanted::Length { expected: count })
}

/// Marks that a table puts among the accepted classes; no operand is of them.
const MARKS: ClassSet = ClassSet::of(&[
    Class::Minus,
    Class::Braces,
    Class::Lists,
    Class::Ordinary,
    Class::Anything,
    Class::NoBraces,
    Class::Longer,
    Class::Discard,
    Class::Unified,
    Class::Layer,
    Class::Packed,
    Class::Shorter,
    Class::Strict,
    Class::Typed,
    Class::Negated,
    Class::NoPredicate,
    Class::Whole,
    Class::Mixed,
    Class::SizedFractions,
    Class::SizedIntegers,
    Class::Led,
    Class::Each,
    Class::Pairs,
    Class::Quads,
    Class::Integers,
]);

#[inline]
fn check_value(spec: &OperandSpec, shape: &Shape) -> Option<Wanted> {
    check_classes(spec, shape, spec.accepts)
}

#[inline]
fn check_classes(spec: &OperandSpec, shape: &Shape, accepts: ClassSet) -> Option<Wanted> {
    const UNKNOWN: ClassSet = ClassSet::of(&[Class::Unknown]);
    const ODD: ShapeFlags = ShapeFlags::MINUS.with(ShapeFlags::SUM);
    if shape.flags.intersects(ODD) {
        return check_odd(spec, shape, accepts);
    }
    if !shape.classes.is_subset(accepts.union(UNKNOWN)) {
        let expression = shape.flags.contains(ShapeFlags::OFFSET)
            && !shape.flags.intersects(ShapeFlags::ELEMENT)
            && shape.kind == ShapeKind::Value
            && spec.accepts.contains(Class::AddressExpression);
        if !expression {
            return Some(Wanted::Class(accepts.without(MARKS)));
        }
    }
    if !spec.ranges.is_empty() && !in_ranges(spec.ranges, shape) {
        return Some(Wanted::Range(spec.ranges));
    }
    None
}

/// A register with a minus sign, or with a constant added to it. The sum may be where the register could be, and where a
/// function could be named any register of the type's kind and a special register may be in one.
#[cold]
fn check_odd(spec: &OperandSpec, shape: &Shape, accepts: ClassSet) -> Option<Wanted> {
    let fits = shape.classes.is_subset(accepts.union(Class::Unknown.into()));
    if shape.flags.contains(ShapeFlags::MINUS) {
        let kind = (!spec.accepts.contains(Class::Minus)).then_some(Wanted::Kind);
        return (!fits).then_some(Wanted::Class(accepts.without(MARKS))).or(kind);
    }
    let is_single = matches!(spec.pattern, Pattern::Value | Pattern::NegatableValue);
    if spec.role != Role::Source || shape.kind != ShapeKind::Value || !is_single {
        return Some(Wanted::Kind);
    }
    let mut more = ClassSet::NONE;
    if accepts.contains(Class::Function) {
        more = summable(spec.ty).union(SPECIALS);
    } else if accepts.contains(Class::AddressExpression) {
        more = ClassSet::SPECIAL_32;
    }
    (!fits && !shape.classes.is_subset(more)).then_some(Wanted::Class(accepts.without(MARKS)))
}

/// The registers of any width whose sums stand for a value of a type.
fn summable(ty: Option<Type>) -> ClassSet {
    let wide = ClassSet::of(&[Class::RegB128]);
    let integers = ClassSet::KINDS[0].intersect(ClassSet::REGISTERS).union(ClassSet::BITS).without(wide);
    let floats = ClassSet::KINDS[1].intersect(ClassSet::REGISTERS);
    match ty.map(Type::kind) {
        Some(TypeKind::Float) => floats.union(ClassSet::BITS).without(wide),
        Some(TypeKind::Signed | TypeKind::Unsigned) => integers.union(Class::RegF16x2.into()),
        Some(TypeKind::Bits) => integers.union(floats).union(Class::RegF16x2.into()),
        Some(TypeKind::Predicate | TypeKind::Packed | TypeKind::Opaque) | None => ClassSet::NONE,
    }
}

/// The elements of a brace list must be of one width and cannot all be `_`, and neighbours must be of one kind. Where
/// one is plain bits, or where they are of several types of one kind, only the width counts; else the one type that
/// they have has to fit. An index before the others is an integer, whatever their kind.
fn check_vector(spec: &OperandSpec, shape: &Shape) -> Option<Wanted> {
    const NO_INDEX: ClassSet = ClassSet::KINDS[1]
        .union(ClassSet::KINDS[2])
        .union(ClassSet::KINDS[3])
        .union(ClassSet::NAMES)
        .union(ClassSet::of(&[Class::Sink]));
    if !shape.classes.intersect(ClassSet::IMMEDIATES).is_empty()
        && shape.classes.contains(Class::SpecialNarrow)
    {
        // An element of a special vector register has no number beside it.
        return Some(Wanted::Class(spec.exact.without(MARKS).without(SPECIALS)));
    }
    if spec.accepts.contains(Class::Each) && !shape.classes.is_subset(spec.exact.union(Class::Unknown.into()))
    {
        return Some(Wanted::Class(spec.exact.without(MARKS)));
    }
    if has_group_without_width(spec, shape) {
        return Some(Wanted::Class(spec.exact.without(MARKS).without(ClassSet::IMMEDIATES)));
    }
    if follows_constant(spec, shape) {
        return None;
    }
    if is_measured(spec, shape) {
        if shape.flags.intersects(ShapeFlags::CLASH) {
            return Some(Wanted::Neighbours);
        }
        let fits = has_width(spec, shape)
            && agrees(shape, ShapeFlags::CLASH)
            && (is_mixed(shape) && takes_fractions(spec, shape) || shape.classes.is_subset(spec.exact));
        // Where a register is of the wrong width, the numbers are not what is wrong.
        let measure = shape.measure().filter(|measure| !measure.is_immediate());
        let numbers = measure.map_or(ClassSet::NONE, |_| shape.classes.intersect(ClassSet::IMMEDIATES));
        return (!fits).then(|| Wanted::Class(spec.exact.without(MARKS).union(numbers)));
    }
    let layer = spec.accepts.contains(Class::Layer) && shape.count > 1;
    let elements = if layer { shape.rest() } else { shape.classes };
    let sized = shape.classes.intersect(SIZED);
    let typed = elements.without(ClassSet::PLAIN).without(Class::Sink.into());
    let one_width = sized.is_empty() || WIDTHS.iter().any(|width| sized.is_subset(*width));
    let has_bits = !sized.intersect(ClassSet::PLAIN).is_empty();
    let one_kind = has_bits
        || layer
        || shape.classes.contains(Class::Unknown)
        || ClassSet::KINDS.iter().any(|kind| typed.is_subset(*kind));
    if !one_width || !one_kind || shape.classes == Class::Sink.into() {
        return Some(Wanted::Class(spec.exact.without(MARKS)));
    }
    let clash = if layer { ShapeFlags::REST_CLASH } else { ShapeFlags::CLASH };
    if shape.flags.intersects(clash) && !shape.classes.contains(Class::Unknown) {
        return Some(Wanted::Neighbours);
    }
    const OTHER_WIDTH: ClassSet = WIDTHS[0].union(WIDTHS[1]).union(WIDTHS[3]).union(WIDTHS[4]);
    if layer && shape.first().is_some_and(|first| NO_INDEX.union(OTHER_WIDTH).contains(first)) {
        return Some(Wanted::Class(ClassSet::WORDS));
    }
    if !layer && !leads(spec, shape) {
        return Some(Wanted::Class(spec.exact.without(MARKS).without(ClassSet::IMMEDIATES)));
    }
    let mixed = typed.has_several() && !ClassSet::ONE_TYPE.iter().any(|classes| typed.is_subset(*classes));
    // An index that is a register makes the others plain bits, and so does a constant before others than constants.
    let indexed =
        layer && (shape.first().is_none_or(|first| !first.is_immediate()) || !elements.is_subset(INTEGERS));
    let only_width = (has_bits || mixed || indexed) && !spec.accepts.contains(Class::Strict);
    let mut accepts = spec.exact;
    if only_width {
        // A register tells the width: `mov.b32` reads special registers of other widths too.
        let registers = spec.exact.intersect(ClassSet::REGISTERS);
        let widths = WIDTHS.iter().filter(|width| !width.intersect(registers).is_empty());
        accepts = widths.fold(spec.accepts, |classes, width| classes.union(*width));
        // Beside a register an integer is as wide as that, and no longer of another kind than the value.
        if spec.ty == Some(Type::F32) && spec.role == Role::Source {
            accepts = accepts.union(INTEGERS);
        }
    }
    let bits = spec.ty.is_some_and(|ty| ty.kind() == TypeKind::Bits);
    if accepts.contains(Class::Mixed) && (only_width || bits) {
        accepts = accepts.union(FRACTIONS);
    }
    if accepts.contains(Class::Ordinary) {
        accepts = accepts.without(SPECIALS).without(Class::RegPred.into());
    }
    if accepts.contains(Class::NoPredicate) {
        accepts = accepts.without(Class::RegPred.into());
    }
    if accepts.contains(Class::NoBraces) {
        // What may stand for the whole list need not be an element.
        accepts = accepts.without(ClassSet::NAMES);
    }
    if !elements.without(Class::Unknown.into()).is_subset(accepts)
        || !layer && (only_width || bits) && !is_wide_enough(spec, shape)
    {
        return Some(Wanted::Class(accepts.without(MARKS).without(SPECIALS)));
    }
    None
}

/// Whether no element that goes to one of the instructions that the assembler makes of this one has a width: all are
/// numbers, of which those in hexadecimal are taken where a type of 32 bits is meant, or predicates.
fn has_group_without_width(spec: &OperandSpec, shape: &Shape) -> bool {
    let (length, lowest) = match (spec.accepts.contains(Class::Quads), spec.accepts.contains(Class::Pairs)) {
        (true, _) => (4, 0b0001_0001),
        (false, true) => (2, 0b0101_0101),
        (false, false) => return false,
    };
    let all = |bits: u8, length| (1..length).fold(bits, |all, index| all & bits >> index);
    // Predicates go by four, also where numbers go by two.
    let fours = spec.accepts.contains(Class::Quads) || spec.accepts.contains(Class::Integers);
    let alone = all(shape.numbers() | shape.predicates(), 4) & !all(shape.numbers(), 4);
    if fours && alone & 0b0001_0001 != 0 {
        return true;
    }
    let numbers = shape.classes.intersect(ClassSet::IMMEDIATES);
    let integers = spec.accepts.contains(Class::Integers);
    let words = !integers && matches!(spec.ty, Some(Type::F32 | Type::S32));
    if integers && numbers.is_subset(INTEGERS) || words && numbers == Class::SingleBits.into() {
        return false;
    }
    all(shape.numbers(), length) & lowest != 0
}

/// Whether a brace list may begin with what it begins with: some take no number there.
fn leads(spec: &OperandSpec, shape: &Shape) -> bool {
    !spec.accepts.contains(Class::Led) || !shape.first().is_some_and(Class::is_immediate)
}

/// Whether a brace list with floating-point numbers in it is as wide as wanted. The numbers are as wide as the registers
/// among them; without registers, as the last of them. A list that begins with one has exactly the width of what is
/// plain bits.
fn is_wide_enough(spec: &OperandSpec, shape: &Shape) -> bool {
    let bits = spec.ty.is_some_and(|ty| ty.kind() == TypeKind::Bits);
    let float = spec.ty.is_some_and(|ty| ty.kind() == TypeKind::Float);
    let begins = shape.first().is_some_and(|first| FRACTIONS.contains(first));
    if !begins || spec.role != Role::Source || float && !spec.accepts.contains(Class::SizedFractions) {
        return true;
    }
    let registers = shape.classes.intersect(SIZED);
    let width = match registers.is_empty() {
        true => width_of_list(shape),
        false => WIDTHS.iter().position(|width| registers.is_subset(*width)),
    };
    let Some(width) = width else { return true };
    if bits {
        let needed = spec.ty.and_then(Type::bytes);
        needed == Some(1 << width)
    } else {
        !WIDTHS[width].intersect(spec.exact).intersect(ClassSet::REGISTERS).is_empty()
    }
}

/// The width, as an index of [`WIDTHS`], of a brace list that begins with a number.
fn width_of_list(shape: &Shape) -> Option<usize> {
    let measure = shape.measure()?;
    ClassSet::ELEMENT_WIDTHS.iter().position(|width| width.contains(measure))
}

/// Whether in a brace list that begins with a number only widths count: some element is plain bits, or they are of several
/// types.
fn is_mixed(shape: &Shape) -> bool {
    let typed = shape.classes.without(ClassSet::PLAIN);
    !shape.classes.intersect(ClassSet::PLAIN).intersect(SIZED).is_empty()
        || typed.has_several() && !ClassSet::ONE_TYPE.iter().any(|classes| typed.is_subset(*classes))
}

/// Whether the elements of a brace list that begins with a number go together: neighbours are of one kind or plain bits,
/// whatever their widths.
fn agrees(shape: &Shape, clash: ShapeFlags) -> bool {
    const ELEMENTS: ClassSet = ClassSet::REGISTERS.union(ClassSet::IMMEDIATES).union(SPECIALS);
    !shape.flags.intersects(clash) && shape.classes.is_subset(ELEMENTS)
}

/// Whether of a brace list nothing counts but that neighbours agree, and the width that the assembler gives it: one that
/// begins with a number where the operand does not take any such list.
fn is_measured(spec: &OperandSpec, shape: &Shape) -> bool {
    const PARTICULAR: ClassSet = ClassSet::of(&[Class::Layer, Class::Led, Class::Strict, Class::Ordinary]);
    let Some(first) = shape.first().filter(|first| first.is_immediate()) else { return false };
    let numbers = if INTEGERS.contains(first) { INTEGERS } else { FRACTIONS };
    let takes_numbers = spec.accepts.contains(Class::Mixed) || !spec.accepts.intersect(numbers).is_empty();
    let by_value = takes_any(spec, numbers) || is_integer(spec);
    spec.role == Role::Source
        && spec.accepts.intersect(PARTICULAR).is_empty()
        && takes_numbers
        && !(by_value && shape.classes.is_subset(numbers))
}

/// Whether the floating-point numbers in a brace list of several types are of those that the operand takes there.
fn takes_fractions(spec: &OperandSpec, shape: &Shape) -> bool {
    spec.accepts.contains(Class::Mixed) || shape.classes.intersect(FRACTIONS).is_subset(spec.accepts)
}

fn is_integer(spec: &OperandSpec) -> bool {
    matches!(spec.ty.map(Type::kind), Some(TypeKind::Signed | TypeKind::Unsigned))
}

/// Whether a brace list that begins with a number is as wide as the type. Memory takes integers that are wider.
fn has_width(spec: &OperandSpec, shape: &Shape) -> bool {
    let Some(width) = width_of_list(shape).map(|width| 1 << width) else { return false };
    let needed = spec.ty.and_then(Type::bytes);
    if is_integer(spec) && spec.accepts.contains(Class::Mixed) {
        return needed.is_some_and(|needed| width >= needed);
    }
    needed == Some(width)
}

/// Whether an operand takes any brace list that begins with such a number, whatever the widths.
fn takes_any(spec: &OperandSpec, numbers: ClassSet) -> bool {
    let integers = numbers == INTEGERS;
    let sized = if integers { Class::SizedIntegers } else { Class::SizedFractions };
    let fits = match spec.ty.map(Type::kind) {
        Some(TypeKind::Bits | TypeKind::Signed | TypeKind::Unsigned) => {
            integers && spec.exact.contains(Class::Integer)
        }
        Some(TypeKind::Float) if spec.ty == Some(Type::F16) => integers,
        Some(TypeKind::Float) => matches!(spec.ty, Some(Type::F32 | Type::F64)),
        Some(TypeKind::Predicate | TypeKind::Packed | TypeKind::Opaque) | None => false,
    };
    spec.role == Role::Source && fits && !spec.accepts.contains(sized)
}

/// Whether a brace list has the type of the constant that it begins with: that is as wide as it has to be, and the
/// registers of its kind after it do not count, whatever their width. Constants alone say nothing of a width either, but
/// not every operand takes them.
fn follows_constant(spec: &OperandSpec, shape: &Shape) -> bool {
    let Some(first) = shape.first().filter(|first| first.is_immediate()) else { return false };
    let numbers = if INTEGERS.contains(first) { INTEGERS } else { FRACTIONS };
    // A list of 64-bit integers alone has their type.
    let float = spec.ty.is_some_and(|ty| ty.kind() == TypeKind::Float);
    let alone = if float && numbers == INTEGERS { ClassSet::ONE_TYPE[0] } else { numbers };
    if !takes_any(spec, numbers) || shape.rest().is_subset(alone) {
        return false;
    }
    let excluded = if spec.accepts.contains(Class::Ordinary) { SPECIALS } else { ClassSet::NONE };
    // An index before the others is an integer, and says nothing of their kind.
    let layer = spec.accepts.contains(Class::Layer);
    let clash = if layer { ShapeFlags::REST_CLASH } else { ShapeFlags::CLASH };
    let follows = numbers == INTEGERS || !layer;
    follows && agrees(shape, clash) && shape.classes.intersect(excluded).is_empty()
}

/// The special registers that have a width.
const SPECIALS: ClassSet = ClassSet::SPECIAL_32.union(ClassSet::SPECIAL_64);

/// What has a width in a brace list; numbers take that of the others.
const SIZED: ClassSet = ClassSet::REGISTERS.union(SPECIALS);

/// What has the same width in a brace list.
const WIDTHS: [ClassSet; 5] = [
    ClassSet::WIDTHS[0],
    ClassSet::WIDTHS[1],
    ClassSet::WIDTHS[2].union(ClassSet::SPECIAL_32),
    ClassSet::WIDTHS[3].union(ClassSet::SPECIAL_64),
    ClassSet::WIDTHS[4],
];

/// Integer constants.
const INTEGERS: ClassSet = ClassSet::of(&[Class::Integer, Class::NegativeInteger, Class::WarpSize]);

/// Floating-point constants.
const FRACTIONS: ClassSet = ClassSet::of(&[Class::Decimal, Class::SingleBits, Class::DoubleBits]);

/// Whether the value of an immediate is one of those allowed; true for what is none.
fn in_ranges(ranges: &[ImmediateRange], shape: &Shape) -> bool {
    const WARP_SIZE: i64 = 32;
    if shape.kind == ShapeKind::Value && !shape.classes.intersect(FRACTIONS).is_empty() {
        let value = f64::from_bits(shape.immediate as u64);
        return ranges.iter().any(|range| range.contains_fraction(value));
    }
    let value = if shape.classes == Class::WarpSize.into() {
        WARP_SIZE
    } else if shape.kind != ShapeKind::Value || shape.classes.intersect(INTEGERS).is_empty() {
        return true;
    } else {
        shape.immediate
    };
    ranges.iter().any(|range| range.contains(value))
}

/// Whether a selector is one that an operand may have.
fn allows(selectors: Selectors, selector: Selector) -> bool {
    let digits = &selector.digits[..selector.count as usize];
    let below = |limit: u8| digits.iter().all(|&digit| digit < limit);
    match selectors {
        Selectors::Part => digits.len() == 1 && below(if selector.halves { 2 } else { 4 }),
        Selectors::HalfPair => selector.halves && digits.len() == 2 && below(4),
        Selectors::ByteQuad => !selector.halves && digits.len() == 4 && below(8),
        Selectors::HalfMask => selector.halves && below(2) && digits.is_sorted_by(|one, next| one > next),
        Selectors::ByteMask => !selector.halves && below(4) && digits.is_sorted_by(|one, next| one > next),
    }
}

fn check_parts(spec: &OperandSpec, shape: &Shape, children: &[Shape]) -> Misfit {
    let first = shape.children as usize;
    let parts = match shape.kind {
        // An address is a bracket with one part, which is the shape itself.
        ShapeKind::Address => std::slice::from_ref(shape),
        ShapeKind::Value
        | ShapeKind::Negated
        | ShapeKind::Pair
        | ShapeKind::Vector
        | ShapeKind::Bracket
        | ShapeKind::List
        | ShapeKind::Selected => children.get(first..first + shape.count as usize).unwrap_or(&[]),
    };
    if parts.len() != spec.children.len() {
        return Some((None, Wanted::Parts { expected: spec.children.len() as u16 }));
    }
    // `_|_` is an error of syntax to the assembler: an instruction without results has another form.
    if spec.pattern == Pattern::Pair && parts.iter().all(|part| part.classes == Class::Sink.into()) {
        let wanted = spec.children.first().map_or(ClassSet::NONE, |child| child.accepts);
        return Some((Some(0), Wanted::Class(wanted.without(MARKS).without(Class::Sink.into()))));
    }
    for (index, (child, part)) in spec.children.iter().zip(parts).enumerate() {
        // A base among other parts has no offset, and after it a number is an error of syntax.
        if parts.len() > 1 && part.flags.contains(ShapeFlags::OFFSET) {
            return Some((Some(index), Wanted::Kind));
        }
        if index > 0 && part.kind == ShapeKind::Value && part.classes.is_subset(ClassSet::IMMEDIATES) {
            return Some((
                Some(index),
                Wanted::Class(child.accepts.without(MARKS).without(ClassSet::IMMEDIATES)),
            ));
        }
        // The one part of a plain address is its base; among several parts no other address can be.
        let base = parts.len() == 1 && part.kind == ShapeKind::Address;
        let part = Shape { kind: if base { ShapeKind::Value } else { part.kind }, ..*part };
        if let Some((_, wanted)) = check(child, &part, children) {
            return Some((Some(index), wanted));
        }
    }
    None
}
