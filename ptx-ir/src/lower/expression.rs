//! Constant expressions, PTX ISA manual, section "Constants" and its summary of expression evaluation.
//!
//! Integers have 64 bits and are signed unless a literal says otherwise; everything wraps.

use crate::ir::Operand;
use crate::types::Type;
use ptx_syntax::Span;
use ptx_syntax::ast::{BinaryOperator, Operand as Node, OperandKind, Tree};

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Integer {
        bits: u64,
        unsigned: bool,
    },
    Decimal(f64),
    SingleBits(u32),
    DoubleBits(u64),
    WarpSize,
    /// A literal that no 64 bits hold.
    Overflow,
}

impl Constant {
    pub fn operand(self) -> Operand {
        match self {
            Self::Integer { bits, unsigned } => {
                Operand::Integer { bits, negative: !unsigned && (bits as i64) < 0 }
            }
            Self::Decimal(value) => Operand::Decimal(value),
            Self::SingleBits(bits) => Operand::SingleBits(bits),
            Self::DoubleBits(bits) => Operand::DoubleBits(bits),
            Self::WarpSize => Operand::WarpSize,
            Self::Overflow => Operand::Unknown(None),
        }
    }
}

/// Why an expression has no constant value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// It names something.
    NotConstant(Span),
    /// It divides by zero.
    DivisionByZero(Span),
    /// An operator does not take floating-point numbers.
    NotInteger(Span),
    /// It nests deeper than the assembler's parser can follow.
    TooDeep(Span),
    /// A `0f` number takes part in an expression.
    ExactFloat(Span),
    /// A cast to another type than `.s64` and `.u64`.
    Cast(Span),
    /// A literal that no 64 bits hold.
    Overflow(Span),
}

/// The symbols that may wait for an operand to end: as many as the assembler's parser has room for, measured with ptxas
/// 13.5. Guards, addresses and lists leave it a few less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room(u32);

impl Room {
    /// Outside functions.
    pub const MODULE: Self = Self(9988);
    /// In the body of a function.
    pub const BODY: Self = Self(9978);
    const BLOCK: u32 = 6;

    /// What is left within one block more.
    pub const fn within_block(self) -> Self {
        Self(self.0.saturating_sub(Self::BLOCK))
    }

    /// What there was before the block.
    pub const fn behind_block(self) -> Self {
        let before = self.0 + Self::BLOCK;
        Self(if before < Self::BODY.0 { before } else { Self::BODY.0 })
    }
}

/// Evaluates a node.
pub(super) fn evaluate(tree: &Tree, source: &str, node: Node, room: Room) -> Result<Constant, Trouble> {
    Evaluator { tree, source, base: None, room }.value(node)
}

/// Evaluates what is added to a name at the left end of a node. To the assembler all that follows the plus is one
/// expression: `name+8-4`, `name+1<<2`.
pub(super) fn evaluate_behind(
    tree: &Tree,
    source: &str,
    node: Node,
    base: Span,
    room: Room,
) -> Result<Constant, Trouble> {
    Evaluator { tree, source, base: Some(base), room }.value(node)
}

/// The value of an integer literal, modulo 2 to the 64, and whether it is unsigned.
#[inline]
pub(super) fn integer(text: &str) -> Constant {
    match short_decimal(text.as_bytes()) {
        Some(bits) => Constant::Integer { bits, unsigned: false },
        None => unusual_integer(text),
    }
}

/// The value of a decimal literal that is never too large.
#[inline]
pub(super) fn short_decimal(digits: &[u8]) -> Option<u64> {
    const NEVER_TOO_LARGE: usize = 18;
    if !matches!(digits, [b'1'..=b'9', ..] | [b'0']) || digits.len() > NEVER_TOO_LARGE {
        return None;
    }
    let mut value = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

fn unusual_integer(text: &str) -> Constant {
    let (digits, suffix) = match text.strip_suffix('U') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let bytes = digits.as_bytes();
    let (radix, digits) = match bytes {
        [b'0', b'x' | b'X', ..] => (16, &bytes[2..]),
        [b'0', b'b' | b'B', ..] => (2, &bytes[2..]),
        [b'0', _, ..] => (8, &bytes[1..]),
        _ => (10, bytes),
    };
    let mut bits = 0_u64;
    let mut wide = false;
    for &digit in digits {
        // The assembler takes the lowest 64 bits of a number that is somewhat larger: it only looks at the highest bit
        // before each further digit.
        if bits > i64::MAX as u64 {
            return Constant::Overflow;
        }
        let digit = u64::from((digit as char).to_digit(radix).unwrap_or(0));
        let next = bits.checked_mul(u64::from(radix)).and_then(|bits| bits.checked_add(digit));
        wide |= next.is_none();
        bits = next.unwrap_or_else(|| bits.wrapping_mul(u64::from(radix)).wrapping_add(digit));
    }
    Constant::Integer { bits, unsigned: suffix || wide || bits > i64::MAX as u64 }
}

/// The value of a floating-point literal.
pub(super) fn float(text: &str) -> Constant {
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => Constant::SingleBits(u32::from_str_radix(&text[2..], 16).unwrap_or(0)),
        [b'0', b'd' | b'D', ..] => Constant::DoubleBits(u64::from_str_radix(&text[2..], 16).unwrap_or(0)),
        _ => decimal(text),
    }
}

/// Numbers too near to zero for a normal `.f64` overflow too.
fn decimal(text: &str) -> Constant {
    let value: f64 = text.parse().unwrap_or(0.0);
    let is_zero = || {
        let digits = text.split(['e', 'E']).next().unwrap_or_default();
        digits.bytes().all(|byte| matches!(byte, b'0' | b'.'))
    };
    if value.is_normal() || value == 0.0 && is_zero() { Constant::Decimal(value) } else { Constant::Overflow }
}

struct Evaluator<'a> {
    tree: &'a Tree,
    source: &'a str,
    /// The name that the value is added to.
    base: Option<Span>,
    room: Room,
}

/// What is still to be done for an expression. Expressions may nest as deep as a text is long, so that nothing here
/// recurses.
enum Step {
    /// Evaluates a node. The given number of symbols of the expressions around it are still open.
    Value(Node, u32),
    /// Takes the values of the children of a node and gives that of the node.
    Apply(Node),
    /// Takes the condition of a conditional, and goes on with the operand that it chooses.
    Choose(Node, u32),
    /// Refuses a `0f` number as a part of a node.
    Alone(Node),
}

impl Evaluator<'_> {
    fn value(&self, node: Node) -> Result<Constant, Trouble> {
        if let Some(literal) = self.literal(node) {
            return literal;
        }
        if let Some(number) = self.number(node) {
            return Ok(number);
        }
        let mut steps = vec![Step::Value(node, 0)];
        let mut values = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Value(node, pending) => match self.literal(node) {
                    _ if pending > self.room.0 => return Err(Trouble::TooDeep(node.span)),
                    Some(literal) => values.push(literal?),
                    None => self.begin(node, pending, &mut steps)?,
                },
                Step::Apply(node) => {
                    let value = apply(node, &mut values, || self.is_unsigned_cast(node))?;
                    values.push(value);
                }
                Step::Choose(node, pending) => {
                    let condition = values.pop().and_then(bits);
                    let (chosen, symbols) = match condition {
                        Some((0, _)) => (2, 4),
                        Some(_) => (1, 2),
                        None => return Err(Trouble::NotInteger(node.span)),
                    };
                    steps.push(Step::Alone(node));
                    steps.push(Step::Value(self.child(node, chosen)?, pending + symbols));
                }
                Step::Alone(node) => {
                    if let Some(Constant::SingleBits(_)) = values.last() {
                        return Err(Trouble::ExactFloat(node.span));
                    }
                }
            }
        }
        values.pop().ok_or(Trouble::NotConstant(node.span))
    }

    /// The value of what most expressions are, without a list of steps: an integer, or minus an integer, perhaps added to
    /// the base.
    fn number(&self, node: Node) -> Option<Constant> {
        let added = match (node.kind, self.tree.children(node)) {
            (OperandKind::Binary(_), [left, right]) if self.base == Some(left.span) => *right,
            _ => node,
        };
        let value = |node: Node| match integer(node.span.text(self.source)) {
            Constant::Integer { bits, unsigned } => Some((bits, unsigned)),
            _ => None,
        };
        match (added.kind, self.tree.children(added)) {
            (OperandKind::Integer, _) => {
                value(added).map(|(bits, unsigned)| Constant::Integer { bits, unsigned })
            }
            (OperandKind::Negate, [child]) if child.kind == OperandKind::Integer => {
                signed(value(*child)?.0.wrapping_neg()).ok()
            }
            _ => None,
        }
    }

    /// The value of a node without operands.
    #[inline]
    fn literal(&self, node: Node) -> Option<Result<Constant, Trouble>> {
        let text = || node.span.text(self.source);
        match node.kind {
            OperandKind::Integer => Some(held(integer(text()), node.span)),
            OperandKind::Float => Some(held(float(text()), node.span)),
            OperandKind::Name if text() == "WARP_SZ" => Some(Ok(Constant::WarpSize)),
            _ => None,
        }
    }

    fn child(&self, node: Node, index: usize) -> Result<Node, Trouble> {
        self.tree.children(node).get(index).copied().ok_or(Trouble::NotConstant(node.span))
    }

    /// Plans the evaluation of a node from those of its children. `pending` grows by the symbols of the node that the
    /// assembler's parser keeps until the child has ended.
    fn begin(&self, node: Node, pending: u32, steps: &mut Vec<Step>) -> Result<(), Trouble> {
        match node.kind {
            OperandKind::Parens if node.count == 1 => {
                steps.push(Step::Value(self.child(node, 0)?, pending + 1));
            }
            OperandKind::Plus => steps.push(Step::Value(self.child(node, 0)?, pending + 2)),
            OperandKind::Negate | OperandKind::Complement | OperandKind::Not => {
                steps.push(Step::Apply(node));
                steps.push(Step::Value(self.child(node, 0)?, pending + 2));
            }
            OperandKind::Cast => {
                let word = self.child(node, 0)?;
                let text = word.span.text(self.source);
                if ![Type::S64, Type::U64].iter().any(|ty| ty.as_str() == text) {
                    return Err(Trouble::Cast(word.span));
                }
                steps.push(Step::Apply(node));
                steps.push(Step::Value(self.child(node, 1)?, pending + 4));
            }
            OperandKind::Conditional => {
                steps.push(Step::Choose(node, pending));
                steps.push(Step::Value(self.child(node, 0)?, pending));
            }
            OperandKind::Binary(_) => {
                let (left, right) = (self.child(node, 0)?, self.child(node, 1)?);
                if self.base == Some(left.span) {
                    steps.push(Step::Value(right, pending + 2));
                } else {
                    steps.push(Step::Apply(node));
                    steps.push(Step::Value(right, pending + 2));
                    steps.push(Step::Value(left, pending));
                }
            }
            OperandKind::Integer
            | OperandKind::Float
            | OperandKind::Name
            | OperandKind::Dotted
            | OperandKind::String
            | OperandKind::DotWord
            | OperandKind::Parens
            | OperandKind::Vector
            | OperandKind::Bracket
            | OperandKind::BracketSuffix
            | OperandKind::Field
            | OperandKind::Index
            | OperandKind::Apply => return Err(Trouble::NotConstant(node.span)),
        }
        Ok(())
    }

    fn is_unsigned_cast(&self, node: Node) -> bool {
        self.child(node, 0).is_ok_and(|word| word.span.text(self.source).starts_with(".u"))
    }
}

/// The value of an operation, whose operands are the last of `values`.
fn apply(
    node: Node,
    values: &mut Vec<Constant>,
    is_unsigned: impl FnOnce() -> bool,
) -> Result<Constant, Trouble> {
    let missing = Trouble::NotConstant(node.span);
    let operand = values.pop().ok_or(missing.clone())?;
    match node.kind {
        OperandKind::Negate => match operand {
            Constant::Integer { bits, .. } => signed(bits.wrapping_neg()),
            Constant::Decimal(value) => Ok(Constant::Decimal(-value)),
            Constant::WarpSize => signed(32_u64.wrapping_neg()),
            Constant::DoubleBits(bits) => Ok(Constant::Decimal(-f64::from_bits(bits))),
            Constant::SingleBits(_) => Err(Trouble::ExactFloat(node.span)),
            Constant::Overflow => Err(Trouble::Overflow(node.span)),
        },
        OperandKind::Complement => match bits(operand) {
            Some((bits, unsigned)) => Ok(Constant::Integer { bits: !bits, unsigned }),
            None => Err(Trouble::NotInteger(node.span)),
        },
        OperandKind::Not => match bits(operand) {
            Some((bits, _)) => signed(u64::from(bits == 0)),
            None => Err(Trouble::NotInteger(node.span)),
        },
        OperandKind::Cast => match bits(operand) {
            Some((bits, _)) => Ok(Constant::Integer { bits, unsigned: is_unsigned() }),
            None => Err(Trouble::NotInteger(node.span)),
        },
        OperandKind::Binary(operator) => {
            let left = values.pop().ok_or(missing)?;
            binary(node, operator, left, operand)
        }
        _ => Err(missing),
    }
}

fn binary(
    node: Node,
    operator: BinaryOperator,
    left: Constant,
    right: Constant,
) -> Result<Constant, Trouble> {
    if matches!((left, right), (Constant::SingleBits(_), _) | (_, Constant::SingleBits(_))) {
        return Err(Trouble::ExactFloat(node.span));
    }
    match (number(left), number(right)) {
        (Some(left), Some(right)) => decimals(operator, left, right).ok_or(Trouble::NotInteger(node.span)),
        _ => match (bits(left), bits(right)) {
            (Some(left), Some(right)) => {
                integers(operator, left, right).ok_or(Trouble::DivisionByZero(node.span))
            }
            _ => Err(Trouble::NotInteger(node.span)),
        },
    }
}

fn held(constant: Constant, literal: Span) -> Result<Constant, Trouble> {
    if constant == Constant::Overflow { Err(Trouble::Overflow(literal)) } else { Ok(constant) }
}

fn signed(bits: u64) -> Result<Constant, Trouble> {
    Ok(Constant::Integer { bits, unsigned: false })
}

/// The value of a number with a fraction. A `0d` number is one, a `0f` number is alone.
fn number(constant: Constant) -> Option<f64> {
    match constant {
        Constant::Decimal(value) => Some(value),
        Constant::DoubleBits(bits) => Some(f64::from_bits(bits)),
        Constant::Integer { .. } | Constant::SingleBits(_) | Constant::WarpSize | Constant::Overflow => None,
    }
}

fn bits(constant: Constant) -> Option<(u64, bool)> {
    match constant {
        Constant::Integer { bits, unsigned } => Some((bits, unsigned)),
        Constant::WarpSize => Some((32, false)),
        Constant::Decimal(_) | Constant::SingleBits(_) | Constant::DoubleBits(_) | Constant::Overflow => None,
    }
}

fn decimals(operator: BinaryOperator, left: f64, right: f64) -> Option<Constant> {
    let truth = |value: bool| Some(Constant::Integer { bits: u64::from(value), unsigned: false });
    match operator {
        BinaryOperator::Add => Some(Constant::Decimal(left + right)),
        BinaryOperator::Subtract => Some(Constant::Decimal(left - right)),
        BinaryOperator::Multiply => Some(Constant::Decimal(left * right)),
        BinaryOperator::Divide => Some(Constant::Decimal(left / right)),
        BinaryOperator::Less => truth(left < right),
        BinaryOperator::Greater => truth(left > right),
        BinaryOperator::LessEqual => truth(left <= right),
        BinaryOperator::GreaterEqual => truth(left >= right),
        BinaryOperator::Equal => truth(left == right),
        BinaryOperator::NotEqual => truth(left != right),
        BinaryOperator::Remainder
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::And
        | BinaryOperator::Xor
        | BinaryOperator::Or
        | BinaryOperator::LogicalAnd
        | BinaryOperator::LogicalOr => None,
    }
}

/// None for a division by zero.
fn integers(operator: BinaryOperator, left: (u64, bool), right: (u64, bool)) -> Option<Constant> {
    let ((a, a_unsigned), (b, b_unsigned)) = (left, right);
    let unsigned = a_unsigned || b_unsigned;
    let (sa, sb) = (a as i64, b as i64);
    let order = if unsigned { a.cmp(&b) } else { sa.cmp(&sb) };
    let value = |bits: u64| Some(Constant::Integer { bits, unsigned });
    let truth = |value: bool| Some(Constant::Integer { bits: u64::from(value), unsigned: false });
    match operator {
        BinaryOperator::Add => value(a.wrapping_add(b)),
        BinaryOperator::Subtract => value(a.wrapping_sub(b)),
        BinaryOperator::Multiply => value(a.wrapping_mul(b)),
        BinaryOperator::Divide if unsigned => value(a.checked_div(b)?),
        BinaryOperator::Divide => value(if b == 0 { return None } else { sa.wrapping_div(sb) as u64 }),
        BinaryOperator::Remainder if unsigned => value(a.checked_rem(b)?),
        BinaryOperator::Remainder => value(if b == 0 { return None } else { sa.wrapping_rem(sb) as u64 }),
        // A shift keeps the kind of what is shifted, whatever the kind of the distance.
        BinaryOperator::ShiftLeft => Some(Constant::Integer {
            bits: a.checked_shl(b.min(64) as u32).unwrap_or(0),
            unsigned: a_unsigned,
        }),
        BinaryOperator::ShiftRight => {
            let distance = b.min(63) as u32;
            let bits = if a_unsigned {
                a.checked_shr(b.min(64) as u32).unwrap_or(0)
            } else {
                (sa >> distance) as u64
            };
            Some(Constant::Integer { bits, unsigned: a_unsigned })
        }
        BinaryOperator::And => value(a & b),
        BinaryOperator::Xor => value(a ^ b),
        BinaryOperator::Or => value(a | b),
        BinaryOperator::Less => truth(order.is_lt()),
        BinaryOperator::Greater => truth(order.is_gt()),
        BinaryOperator::LessEqual => truth(order.is_le()),
        BinaryOperator::GreaterEqual => truth(order.is_ge()),
        BinaryOperator::Equal => truth(a == b),
        BinaryOperator::NotEqual => truth(a != b),
        BinaryOperator::LogicalAnd => truth(a != 0 && b != 0),
        BinaryOperator::LogicalOr => truth(a != 0 || b != 0),
    }
}
