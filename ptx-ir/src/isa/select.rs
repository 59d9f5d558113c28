//! From the operands of a statement to the instance that they fit.

use super::class::{Class, ClassSet};
use super::instance::{ImmediateRange, Instance, OperandSpec, Pattern};
use super::mismatch::{Mismatch, Wanted};
use super::resolve::Resolved;
use super::shape::{Shape, ShapeFlags, ShapeKind};

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

    #[cold]
    fn explain(&self, operands: &[Shape], children: &[Shape]) -> Mismatch {
        let mut expected: Vec<usize> = Vec::new();
        let mut nearest: Option<(usize, Mismatch)> = None;
        for (index, instance) in self.instances.iter().enumerate() {
            let required = instance.operands.iter().filter(|spec| !spec.optional).count();
            if operands.len() < required || operands.len() > instance.operands.len() {
                expected.extend(required..=instance.operands.len());
                continue;
            }
            let (fitting, mismatch) = first_misfit(index, instance, operands, children);
            if nearest.as_ref().is_none_or(|(most, _)| fitting > *most) {
                nearest = Some((fitting, mismatch));
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

/// Whether the operands fit an instance. Optional operands are left out from the left: an operand that does
/// not fit an optional place is tried at the next one.
fn fits(instance: &Instance, operands: &[Shape], children: &[Shape]) -> bool {
    let specs = &instance.operands;
    if specs.len() == operands.len() {
        return specs.iter().zip(operands).all(|(spec, shape)| check(spec, shape, children).is_none());
    }
    if operands.len() > specs.len() {
        return false;
    }
    let mut spare = specs.len() - operands.len();
    let mut rest = operands.iter();
    let mut next = rest.next();
    for spec in specs {
        let taken = next.is_some_and(|shape| check(spec, shape, children).is_none());
        if taken {
            next = rest.next();
        } else if spec.optional && spare > 0 {
            spare -= 1;
        } else {
            return false;
        }
    }
    next.is_none()
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
        (Pattern::Value, ShapeKind::Value)
        | (Pattern::NegatableValue, ShapeKind::Value | ShapeKind::Negated)
        | (Pattern::Selectable { .. }, ShapeKind::Value) => check_value(spec, shape),
        (Pattern::Vector { count }, ShapeKind::Vector) if count == shape.count => check_value(spec, shape),
        (Pattern::Vector { count }, ShapeKind::Vector) => Some(Wanted::Length { expected: count }),
        (Pattern::Address, ShapeKind::Address) if !shape.flags.contains(ShapeFlags::UNIFIED) => {
            check_value(spec, shape)
        }
        (Pattern::UnifiedAddress, ShapeKind::Address) if shape.flags.contains(ShapeFlags::UNIFIED) => {
            check_value(spec, shape)
        }
        (Pattern::Pair, ShapeKind::Pair) | (Pattern::Bracket, ShapeKind::Bracket) => {
            return check_parts(spec, shape, children);
        }
        (Pattern::List, ShapeKind::List) => None,
        (
            Pattern::Value
            | Pattern::NegatableValue
            | Pattern::Pair
            | Pattern::Vector { .. }
            | Pattern::Address
            | Pattern::UnifiedAddress
            | Pattern::Bracket
            | Pattern::List
            | Pattern::Selectable { .. },
            _,
        ) => kind_misfit(shape),
    };
    wanted.map(|wanted| (None, wanted))
}

/// An operand of unknown kind fits wherever one value stands, so that one mistake gives one message.
fn kind_misfit(shape: &Shape) -> Option<Wanted> {
    (!shape.classes.contains(Class::Unknown)).then_some(Wanted::Kind)
}

#[inline]
fn check_value(spec: &OperandSpec, shape: &Shape) -> Option<Wanted> {
    const UNKNOWN: ClassSet = ClassSet::of(&[Class::Unknown]);
    if !shape.classes.is_subset(spec.accepts.union(UNKNOWN)) {
        return Some(Wanted::Class(spec.accepts));
    }
    if !spec.ranges.is_empty()
        && shape.classes.contains(Class::Integer)
        && !in_ranges(spec.ranges, shape.immediate)
    {
        return Some(Wanted::Range(spec.ranges));
    }
    None
}

fn in_ranges(ranges: &[ImmediateRange], value: i64) -> bool {
    ranges.iter().any(|range| range.contains(value))
}

fn check_parts(spec: &OperandSpec, shape: &Shape, children: &[Shape]) -> Misfit {
    let first = shape.children as usize;
    let parts = children.get(first..first + shape.count as usize).unwrap_or(&[]);
    if parts.len() != spec.children.len() {
        return Some((None, Wanted::Parts { expected: spec.children.len() as u16 }));
    }
    for (index, (child, part)) in spec.children.iter().zip(parts).enumerate() {
        if let Some((_, wanted)) = check(child, part, children) {
            return Some((Some(index), wanted));
        }
    }
    None
}
