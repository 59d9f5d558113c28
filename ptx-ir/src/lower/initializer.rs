//! Initial values of variables.

use super::expression::{self, Constant};
use super::{Context, messages};
use crate::ir::{Initializer, Operand};
use ptx_syntax::ast::{self, Operand as Node, OperandKind};

impl Context<'_, '_> {
    pub(super) fn initializer(&mut self, node: Node, depth: u32) -> Initializer {
        const MAX_DEPTH: u32 = 64;
        if depth > MAX_DEPTH {
            self.bad_declaration(messages::fault(node.span, "this initialiser nests too deeply"));
            return Initializer::Unknown;
        }
        let tree = self.tree;
        match node.kind {
            // Tables may be most of a text.
            OperandKind::Integer => match expression::integer(self.text(node.span)) {
                Constant::Integer { bits, unsigned } => {
                    Initializer::Integer { bits, negative: !unsigned && (bits as i64) < 0 }
                }
                _ => self.constant_initializer(node),
            },
            OperandKind::Vector => {
                let children = tree.children(node);
                let mut list = Vec::with_capacity(children.len());
                for child in children {
                    let digits = match child.kind {
                        OperandKind::Integer => self.source.as_bytes().get(child.span.range()),
                        _ => None,
                    };
                    list.push(match digits.and_then(expression::short_decimal) {
                        Some(bits) => Initializer::Integer { bits, negative: false },
                        None => self.initializer(*child, depth + 1),
                    });
                }
                Initializer::List(list)
            }
            OperandKind::Field => self.field(node),
            OperandKind::Apply => self.applied(node, depth),
            OperandKind::Name | OperandKind::Binary(_) | OperandKind::Dotted => self.symbolic(node, depth),
            _ => self.constant_initializer(node),
        }
    }

    fn constant_initializer(&mut self, node: Node) -> Initializer {
        match expression::evaluate(self.tree, self.source, node, self.room) {
            Ok(constant) => match constant.operand() {
                Operand::Integer { bits, negative } => Initializer::Integer { bits, negative },
                Operand::Decimal(value) => Initializer::Decimal(value),
                Operand::SingleBits(bits) => Initializer::SingleBits(bits),
                Operand::DoubleBits(bits) => Initializer::DoubleBits(bits),
                Operand::WarpSize => Initializer::Integer { bits: 32, negative: false },
                _ => Initializer::Unknown,
            },
            Err(trouble) => {
                self.report(messages::trouble(&trouble));
                Initializer::Unknown
            }
        }
    }

    /// A name or `generic(name)`, with an offset perhaps.
    fn symbolic(&mut self, node: Node, depth: u32) -> Initializer {
        let mut offset = 0_i64;
        let mut rest = node;
        while let OperandKind::Binary(ast::BinaryOperator::Add) = rest.kind {
            let [left, right] = self.tree.children(rest) else { break };
            let Some(value) = self.integer_of(*right) else { break };
            offset = offset.wrapping_add(value);
            rest = *left;
        }
        if rest.kind == OperandKind::Apply {
            let mut inner = self.applied(rest, depth + 1);
            match &mut inner {
                Initializer::Variable { mask: Some(_), .. } | Initializer::Function { mask: Some(_), .. } => {
                    self.bad_declaration(messages::fault(node.span, "a mask takes no offset after it"));
                }
                Initializer::Variable { offset: base, .. } => *base = base.wrapping_add(offset),
                _ => {}
            }
            return inner;
        }
        if rest.kind != OperandKind::Name || self.text(rest.span) == "WARP_SZ" {
            return self.constant_initializer(node);
        }
        let local = self.names.find(self.text(rest.span)).map(Self::entity);
        match local.or_else(|| self.module_name(self.text(rest.span))) {
            Some(Operand::Variable { variable, .. }) => {
                Initializer::Variable { variable, offset, generic: false, mask: None }
            }
            Some(Operand::Function(function)) => {
                if rest.span != node.span {
                    self.bad_declaration(messages::fault(
                        node.span,
                        "the address of a function takes no offset",
                    ));
                }
                Initializer::Function { function, generic: false, mask: None }
            }
            _ => {
                self.undeclared(rest.span);
                Initializer::Unknown
            }
        }
    }

    /// `generic(x)` and `0xff00(x)`.
    fn applied(&mut self, node: Node, depth: u32) -> Initializer {
        let [function, argument] = self.tree.children(node) else {
            self.bad_declaration(messages::fault(node.span, "expected one argument"));
            return Initializer::Unknown;
        };
        let (function, argument) = (*function, *argument);
        let mut inner = self.initializer(argument, depth + 1);
        let new_mask = match function.kind {
            OperandKind::Integer => match expression::integer(self.text(function.span)) {
                Constant::Integer { bits, .. } => Some(bits),
                _ => None,
            },
            _ => None,
        };
        if new_mask.is_none() && self.text(function.span) != "generic" {
            self.bad_declaration(
                messages::fault(function.span, format!("`{}` is no operator", self.text(function.span)))
                    .with_help("an address may be wrapped in `generic( )` or in a mask such as `0xff( )`"),
            );
            return Initializer::Unknown;
        }
        if new_mask.is_none() && argument.kind != OperandKind::Name {
            self.bad_declaration(
                messages::fault(argument.span, "expected a name alone within `generic( )`")
                    .with_help("an offset comes after it, as in `generic(x)+4`"),
            );
        }
        match &mut inner {
            Initializer::Variable { generic, mask, .. } | Initializer::Function { generic, mask, .. } => {
                match new_mask {
                    Some(bits) => *mask = Some(bits),
                    None => *generic = true,
                }
                inner
            }
            Initializer::Integer { bits, .. } if new_mask.is_some() => {
                let mask = new_mask.unwrap_or(u64::MAX);
                let bits = (*bits & mask).checked_shr(mask.trailing_zeros()).unwrap_or(0);
                Initializer::Integer { bits, negative: false }
            }
            Initializer::Unknown => Initializer::Unknown,
            _ => {
                self.bad_declaration(messages::fault(
                    argument.span,
                    "expected the name of a variable or function",
                ));
                Initializer::Unknown
            }
        }
    }

    fn field(&mut self, node: Node) -> Initializer {
        let [name, value] = self.tree.children(node) else { return Initializer::Unknown };
        let (name, value) = (*name, *value);
        let symbol = self.intern(name.span);
        match value.kind {
            OperandKind::Name => Initializer::Field(symbol, self.intern(value.span)),
            _ => match self.integer_of(value) {
                Some(number) => Initializer::NumberField(symbol, number),
                None if value.kind == OperandKind::Float => {
                    let number: f64 = self.text(value.span).parse().unwrap_or(0.0);
                    Initializer::NumberField(symbol, number as i64)
                }
                None => {
                    self.bad_declaration(messages::fault(value.span, "expected a name or an integer"));
                    Initializer::Unknown
                }
            },
        }
    }
}
