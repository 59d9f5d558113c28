//! Operands: from nodes of the tree to [`Operand`]s.

use super::expression::{self, Constant};
use super::names::Entity;
use super::problem::{Problem, RegisterGroup};
use super::{Context, messages};
use crate::directive::DirectiveKind;
use crate::ir::{Definition, Handle, Operand, Register, Run, Variable};
use crate::isa::{Class, ClassSet, Selector};
use crate::special::{Reads, SpecialRegister};
use ptx_syntax::ast::{BinaryOperator, Operand as Node, OperandKind};
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Explanation, Located, Span};

/// The registers that index an array.
const INDICES: ClassSet = ClassSet::KINDS[0]
    .union(ClassSet::BITS)
    .intersect(ClassSet::REGISTERS)
    .without(ClassSet::of(&[Class::RegB128]));

/// Brackets, braces and lists within each other deeper than this are no PTX.
const MAX_DEPTH: u32 = 16;

const NO_ADDRESS: &str = "an address is a register, a variable or an integer";

impl Context<'_, '_> {
    /// Lowers one operand; its children go to the body.
    #[inline]
    pub(super) fn operand(&mut self, node: Node) -> Operand {
        match node.kind {
            OperandKind::Name => self.name(node.span),
            OperandKind::Integer => self.literal_operand(node, expression::integer(self.text(node.span))),
            OperandKind::Float => self.literal_operand(node, expression::float(self.text(node.span))),
            OperandKind::Bracket => self.bracket(node, 0),
            _ => self.composite(node, 0),
        }
    }

    #[inline]
    fn literal_operand(&mut self, node: Node, value: Constant) -> Operand {
        // Evaluating it reports it.
        if value == Constant::Overflow { self.constant(node) } else { value.operand() }
    }

    fn composite(&mut self, node: Node, depth: u32) -> Operand {
        if depth > MAX_DEPTH {
            self.bad_operand(messages::fault(node.span, "this operand nests too deeply"));
            return Operand::Unknown(None);
        }
        match node.kind {
            OperandKind::Name | OperandKind::Integer | OperandKind::Float => self.operand(node),
            OperandKind::Dotted => self.dotted(node.span),
            OperandKind::Not => self.negated(node, depth),
            OperandKind::Negate if self.is_register_like(node) => self.minus(node, depth),
            OperandKind::Bracket => self.bracket(node, depth),
            OperandKind::BracketSuffix => self.bracket_suffix(node, depth),
            OperandKind::Vector => Operand::Vector(self.list(node, depth)),
            OperandKind::Parens if node.count != 1 || self.is_reference(node) => {
                Operand::List(self.list(node, depth))
            }
            OperandKind::Binary(BinaryOperator::Or) if self.is_pair(node) => {
                Operand::Pair(self.list(node, depth))
            }
            OperandKind::Binary(BinaryOperator::Add | BinaryOperator::Subtract) => self.sum(node),
            OperandKind::Binary(_) | OperandKind::Conditional if self.begins_with_sum(node) => self.sum(node),
            OperandKind::Index => self.index(node),
            OperandKind::Parens
            | OperandKind::Negate
            | OperandKind::Complement
            | OperandKind::Plus
            | OperandKind::Cast
            | OperandKind::Conditional
            | OperandKind::Binary(_) => self.constant(node),
            OperandKind::String | OperandKind::DotWord | OperandKind::Field | OperandKind::Apply => {
                self.bad_operand(messages::fault(node.span, "this is no operand of an instruction"));
                Operand::Unknown(None)
            }
        }
    }

    fn constant(&mut self, node: Node) -> Operand {
        match expression::evaluate(self.tree, self.source, node, self.room) {
            Ok(constant) => constant.operand(),
            Err(trouble) => {
                self.report(messages::trouble(&trouble));
                Operand::Unknown(None)
            }
        }
    }

    /// Children of a node, as operands of their own.
    fn list(&mut self, node: Node, depth: u32) -> Run {
        let tree = self.tree;
        let children = tree.children(node);
        let is_leaf = |child: &Node| {
            matches!(child.kind, OperandKind::Name | OperandKind::Integer | OperandKind::Float)
        };
        if children.iter().all(is_leaf) {
            // The common case: nothing within this list has a list of its own below it.
            let first = self.body.children.len() as u32;
            for child in children {
                let operand = self.operand(*child);
                self.body.children.push(operand);
                self.body.child_spans.push(child.span);
            }
            return Run { first, count: children.len() as u32 };
        }
        let operands: Vec<Operand> = children.iter().map(|child| self.element(*child, depth + 1)).collect();
        let spans: Vec<Span> = children.iter().map(|child| child.span).collect();
        self.push_children(&operands, &spans)
    }

    /// One of several parts. The name of a variable among them has no offset, not even 0.
    fn element(&mut self, node: Node, depth: u32) -> Operand {
        let sum = matches!(node.kind, OperandKind::Binary(_) | OperandKind::Conditional);
        match self.composite(node, depth) {
            Operand::Variable { .. } if sum => {
                self.bad_operand(messages::fault(node.span, "an offset is not possible in a list"));
                Operand::Unknown(None)
            }
            operand => operand,
        }
    }

    fn push_children(&mut self, operands: &[Operand], spans: &[Span]) -> Run {
        let first = self.body.children.len() as u32;
        self.body.children.extend_from_slice(operands);
        self.body.child_spans.extend_from_slice(spans);
        Run { first, count: operands.len() as u32 }
    }

    /// Lowers an operand of a call, where parentheses always are a list.
    pub(super) fn call_operand(&mut self, node: Node) -> Operand {
        match node.kind {
            OperandKind::Parens => Operand::List(self.list(node, 0)),
            _ => self.operand(node),
        }
    }

    /// Whether `( … )` of one element holds something other than a constant.
    fn is_reference(&self, node: Node) -> bool {
        let child = self.tree.children(node)[0];
        match child.kind {
            OperandKind::Name => self.text(child.span) != "WARP_SZ",
            OperandKind::Dotted | OperandKind::Vector | OperandKind::Bracket => true,
            _ => false,
        }
    }

    fn is_pair(&self, node: Node) -> bool {
        self.tree
            .children(node)
            .iter()
            .any(|child| matches!(child.kind, OperandKind::Name | OperandKind::Dotted))
    }

    fn negated(&mut self, node: Node, depth: u32) -> Operand {
        let child = self.tree.children(node)[0];
        if !self.is_register_like(node) {
            return self.constant(node);
        }
        match self.composite(child, depth + 1) {
            Operand::Register { register, class } => Operand::Negated { register, class },
            Operand::Unknown(symbol) => Operand::Unknown(symbol),
            _ => {
                self.bad_operand(messages::fault(
                    node.span,
                    "only a predicate register can be negated with `!`",
                ));
                Operand::Unknown(None)
            }
        }
    }

    fn is_register_like(&self, node: Node) -> bool {
        let child = self.tree.children(node)[0];
        matches!(child.kind, OperandKind::Name | OperandKind::Dotted) && self.text(child.span) != "WARP_SZ"
    }

    fn minus(&mut self, node: Node, depth: u32) -> Operand {
        let child = self.tree.children(node)[0];
        match self.composite(child, depth + 1) {
            Operand::Register { register, class } => Operand::Minus { register, class, selector: None },
            Operand::Selected { register, class, selector } => {
                Operand::Minus { register, class, selector: Some(selector) }
            }
            Operand::Unknown(symbol) => Operand::Unknown(symbol),
            _ => {
                self.bad_operand(messages::fault(
                    node.span,
                    "only a register or a constant can have a minus sign",
                ));
                Operand::Unknown(None)
            }
        }
    }

    /// Whether an expression begins with something and a plus, so that it may be a name and its offset.
    fn begins_with_sum(&self, node: Node) -> bool {
        let (first, operation) = self.left_end(node);
        matches!(first.kind, OperandKind::Name | OperandKind::Dotted)
            && operation.kind == OperandKind::Binary(BinaryOperator::Add)
    }

    /// `name + constant`, or a constant.
    fn sum(&mut self, node: Node) -> Operand {
        let Some((base, offset)) = self.base_and_offset(node) else { return Operand::Unknown(None) };
        let Some(base) = base else { return self.constant(node) };
        match self.named(base) {
            Operand::Variable { variable, offset: inner, zero: _ } => {
                let offset = inner.wrapping_add(offset);
                Operand::Variable { variable, offset, zero: offset == 0 }
            }
            Operand::Register { register, class } if base.kind == OperandKind::Name => {
                Operand::Sum { register, class, offset }
            }
            Operand::Special(register) if base.kind == OperandKind::Name => {
                Operand::SpecialSum { register, offset }
            }
            Operand::Unknown(symbol) => Operand::Unknown(symbol),
            _ => {
                let note =
                    "only a register and the address of a variable may have an offset outside of brackets";
                self.bad_operand(
                    messages::fault(node.span, "expected a constant expression").with_note(note),
                );
                Operand::Unknown(None)
            }
        }
    }

    fn named(&mut self, node: Node) -> Operand {
        match node.kind {
            OperandKind::Dotted => self.dotted(node.span),
            _ => self.name(node.span),
        }
    }

    /// Takes a sum apart: the name at its left end, where there is one, and the constant added to it.
    /// None where something was wrong, which has been reported.
    fn base_and_offset(&mut self, node: Node) -> Option<(Option<Node>, i64)> {
        let (tree, source) = (self.tree, self.source);
        let (first, operation) = self.left_end(node);
        let is_name = match first.kind {
            OperandKind::Name => self.text(first.span) != "WARP_SZ",
            OperandKind::Dotted => true,
            _ => false,
        };
        if !is_name {
            // A name elsewhere is a likely mistake.
            return match expression::evaluate(tree, source, node, self.room) {
                Ok(_) => Some((None, 0)),
                Err(trouble) => {
                    let misplaced = |span| messages::fault(span, "the name must be before its offset");
                    self.report(self.offset_trouble(&trouble, misplaced));
                    None
                }
            };
        }
        if operation.kind == first.kind {
            return Some((Some(first), 0));
        }
        if operation.kind == OperandKind::Binary(BinaryOperator::Subtract) {
            let [left, right] = tree.children(operation) else { return None };
            self.bad_operand(self.subtracted(operation.span, left.span, right.span));
            return None;
        }
        let value = if operation.kind == OperandKind::Binary(BinaryOperator::Add) {
            expression::evaluate_behind(tree, source, node, first.span, self.room)
        } else {
            Err(expression::Trouble::NotConstant(first.span))
        };
        match value {
            Ok(Constant::Integer { bits, .. }) => Some((Some(first), bits as i64)),
            Ok(Constant::WarpSize) => Some((Some(first), 32)),
            Ok(_) => {
                let span = tree.children(operation).get(1).map_or(node.span, |right| right.span);
                self.bad_operand(messages::fault(span, "expected an integer constant expression"));
                None
            }
            Err(trouble) => {
                let misplaced = |span| {
                    messages::fault(span, "an offset is a constant, not a register")
                        .with_help("add the register to the base with `add` first")
                };
                self.report(self.offset_trouble(&trouble, misplaced));
                None
            }
        }
    }

    /// What is at the left end of an expression, and the operation that it takes part in.
    fn left_end(&self, node: Node) -> (Node, Node) {
        let (mut first, mut operation) = (node, node);
        while let OperandKind::Binary(_) | OperandKind::Conditional = first.kind {
            operation = first;
            first = self.tree.children(first)[0];
        }
        (first, operation)
    }

    fn begins_with_name(&self, node: Node) -> bool {
        matches!(self.left_end(node).0.kind, OperandKind::Name | OperandKind::Dotted)
    }

    fn subtracted(&self, span: Span, left: Span, right: Span) -> Located<Explanation> {
        let shown = self.text(right).to_owned();
        let between = Span::new(left.end, right.start);
        let operator = self.text(between).trim();
        // Comments beside the operator stay where they are.
        let edit = if operator.len() == 1 {
            ptx_syntax::Edit { span: between, replacement: "+-".into() }
        } else {
            let minus = Lexer::new(self.text(between)).find(|token| token.kind == TokenKind::Minus);
            let at = between.start + minus.map_or(0, |minus| minus.span.start);
            ptx_syntax::Edit { span: Span::at(at), replacement: "+".into() }
        };
        messages::fault(span, "an offset cannot be subtracted")
            .with_help(format!("add a negative number: `+-{shown}`"))
            .with_fix(format!("write `+-{shown}`"), ptx_syntax::Applicability::Certain, vec![edit])
    }

    /// Why an offset has no value; `misplaced` says what is wrong with a name in it.
    fn offset_trouble(
        &self,
        trouble: &expression::Trouble,
        misplaced: impl Fn(Span) -> Located<Explanation>,
    ) -> Located<Problem> {
        let expression::Trouble::NotConstant(span) = trouble else { return messages::trouble(trouble) };
        let begins_name = |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$' | '%');
        if !self.text(*span).starts_with(begins_name) {
            return messages::trouble(trouble);
        }
        misplaced(*span).map(Problem::BadOperand)
    }

    fn bracket(&mut self, node: Node, depth: u32) -> Operand {
        let tree = self.tree;
        match tree.children(node) {
            [one] => self.address(*one, depth),
            [] => {
                self.bad_operand(messages::fault(node.span, "expected an address between the brackets"));
                Operand::Unknown(None)
            }
            _ => Operand::Bracket(self.list(node, depth)),
        }
    }

    fn bracket_suffix(&mut self, node: Node, depth: u32) -> Operand {
        let [bracket, word] = self.tree.children(node) else { return Operand::Unknown(None) };
        let (word, text) = (word.span, self.text(word.span));
        let address = self.composite(*bracket, depth + 1);
        match address {
            Operand::RegisterAddress { base, class, offset, zero, .. }
                if text == DirectiveKind::Unified.word() =>
            {
                Operand::RegisterAddress { base, class, offset, zero, unified: true }
            }
            Operand::Unknown(name)
                if name.is_none_or(|name| !self.module.symbols.name(name).starts_with('[')) =>
            {
                address
            }
            _ => {
                self.bad_operand(messages::fault(word, format!("`{text}` cannot follow this address")));
                Operand::Unknown(None)
            }
        }
    }

    /// `name[index]`, which means `[name + index]`; the index may be a register.
    fn index(&mut self, node: Node) -> Operand {
        let [name, index] = self.tree.children(node) else { return Operand::Unknown(None) };
        if let Some(element) = self.register_index(*name, *index) {
            return element;
        }
        let offset = match expression::evaluate(self.tree, self.source, *index, self.room) {
            Ok(Constant::Integer { bits, .. }) => bits as i64,
            Ok(_) => 0,
            Err(trouble) => {
                self.report(messages::trouble(&trouble));
                return Operand::Unknown(None);
            }
        };
        let base = self.name(name.span);
        if let Operand::Register { .. } | Operand::VectorRegister { .. } = base {
            let (base, index) = (self.text(name.span), self.text(index.span));
            let fault = messages::fault(node.span, format!("`{base}` is a register and no array"))
                .with_help(format!("memory at the address in `{base}` is `[{base}+{index}]`"));
            self.bad_operand(fault);
            return Operand::Unknown(None);
        }
        if let Operand::Variable { variable, .. } = base
            && self.module.variables[variable].dimensions.is_empty()
        {
            let base = self.text(name.span);
            let fault = messages::fault(node.span, format!("`{base}` is no array"))
                .with_help(format!("memory after its beginning is `[{base}+N]`, N in bytes"))
                .with_secondary(self.module.variables[variable].span, "declared here");
            self.bad_operand(fault);
            return Operand::Unknown(None);
        }
        self.address_of(base, Some(offset), node.span)
    }

    /// `gvar[%r1]` or `gvar[%r1+4]`; none where the index is no register or the base no array, which
    /// [`Context::index`] reports.
    fn register_index(&mut self, name: Node, index: Node) -> Option<Operand> {
        if !self.begins_with_name(index) {
            return None;
        }
        let (base, offset) = self.base_and_offset(index).and_then(|(base, offset)| Some((base?, offset)))?;
        let Operand::Register { register, class } = self.named(base) else { return None };
        let Operand::Variable { variable, .. } = self.name(name.span) else { return None };
        if self.module.variables[variable].dimensions.is_empty() {
            return None;
        }
        if !INDICES.contains(class) {
            let fault = messages::fault(base.span, "an index is an integer of at most 64 bits");
            self.bad_operand(match self.declaration_of(register) {
                Some(declared) => fault.with_secondary(declared, "declared here"),
                None => fault,
            });
            return Some(Operand::Unknown(None));
        }
        Some(Operand::Element { variable, index: register, class, offset: offset as i32, is_value: false })
    }

    /// The register of an address, and the number that is added to it where one is written: what most addresses are.
    #[inline]
    pub(super) fn plain_address(&self, node: Node) -> Option<(Register, Class, Option<i64>)> {
        let one = match (node.kind, self.tree.children(node)) {
            (OperandKind::Bracket, [one]) => *one,
            _ => return None,
        };
        if one.kind == OperandKind::Name {
            let (register, class) = self.names.find_register(self.source, one.span)?;
            return Some((register, class, None));
        }
        let (register, class, offset) = self.register_and_number(one)?;
        Some((register, class, Some(offset)))
    }

    fn address(&mut self, node: Node, depth: u32) -> Operand {
        if let Some((register, class, offset)) = self.register_and_number(node) {
            return self.address_of(Operand::Register { register, class }, Some(offset), node.span);
        }
        match node.kind {
            OperandKind::Name | OperandKind::Dotted => {
                let base = self.named(node);
                self.address_of(base, None, node.span)
            }
            OperandKind::Binary(_) | OperandKind::Conditional => {
                let Some((base, offset)) = self.base_and_offset(node) else { return Operand::Unknown(None) };
                let Some(base) = base else { return self.constant_address(node) };
                let base = self.named(base);
                self.address_of(base, Some(offset), node.span)
            }
            OperandKind::Index => {
                let element = self.text(node.span);
                let fault = messages::fault(node.span, "an element of an array takes no brackets around it")
                    .with_help(format!("write `{element}`, or the name, `+` and an offset in brackets"));
                self.bad_operand(fault);
                Operand::Unknown(None)
            }
            OperandKind::Vector => {
                let inner = self.composite(node, depth + 1);
                Operand::Bracket(self.push_children(&[inner], &[node.span]))
            }
            _ => self.constant_address(node),
        }
    }

    /// What most sums are: a register, and a number or minus a number.
    fn register_and_number(&self, node: Node) -> Option<(Register, Class, i64)> {
        let (OperandKind::Binary(BinaryOperator::Add), [base, offset]) =
            (node.kind, self.tree.children(node))
        else {
            return None;
        };
        let (register, class) = match base.kind {
            OperandKind::Name => self.names.find_register(self.source, base.span)?,
            _ => return None,
        };
        let (number, negative) = match (offset.kind, self.tree.children(*offset)) {
            (OperandKind::Integer, _) => (*offset, false),
            (OperandKind::Negate, [number]) if number.kind == OperandKind::Integer => (*number, true),
            _ => return None,
        };
        let Constant::Integer { bits, .. } = expression::integer(self.text(number.span)) else { return None };
        let offset = if negative { bits.wrapping_neg() } else { bits } as i64;
        Some((register, class, offset))
    }

    fn constant_address(&mut self, node: Node) -> Operand {
        match self.constant(node) {
            Operand::Integer { bits, .. } => Operand::ConstantAddress { address: bits as i64 },
            Operand::Unknown(symbol) => Operand::Unknown(symbol),
            _ => {
                self.bad_operand(messages::fault(node.span, NO_ADDRESS));
                Operand::Unknown(None)
            }
        }
    }

    /// Whether a variable is a texture, a sampler or a surface.
    fn is_handle(&self, variable: Handle<Variable>) -> bool {
        let class = self.module.variable_class(&self.module.variables[variable]);
        matches!(class, Class::Texref | Class::Samplerref | Class::Surfref)
    }

    fn address_of(&mut self, base: Operand, written: Option<i64>, span: Span) -> Operand {
        let offset = written.unwrap_or(0);
        match base {
            Operand::Register { register, class } => Operand::RegisterAddress {
                base: register,
                class,
                offset: offset as i32,
                zero: written == Some(0),
                unified: false,
            },
            Operand::Variable { variable, .. } if written.is_some() && self.is_handle(variable) => {
                let variable = &self.module.variables[variable];
                let found = format!("a `{}` is no memory, and has no offset", variable.ty);
                let declared = variable.span;
                self.bad_operand(messages::fault(span, found).with_secondary(declared, "declared here"));
                Operand::Unknown(None)
            }
            Operand::Variable { variable, offset: inner, zero: _ } => {
                Operand::VariableAddress { variable, offset: inner.wrapping_add(offset) }
            }
            Operand::WarpSize => Operand::ConstantAddress { address: 32 },
            Operand::Unknown(symbol) => Operand::Unknown(symbol),
            Operand::Special(special) if special.elements() == 1 && !special.name().contains('.') => {
                self.report(Located { span, what: Problem::SpecialRegisterBase(special) });
                // The module stays what it is: printers show what is there.
                let text = match written {
                    Some(offset) => format!("[{}+{offset}]", special.name()),
                    None => format!("[{}]", special.name()),
                };
                Operand::Unknown(Some(self.module.symbols.intern(&text)))
            }
            Operand::Special(special) => {
                let fault = messages::fault(span, NO_ADDRESS);
                self.bad_operand(
                    fault.with_help(format!("read it into a register first: `{}`", special.read())),
                );
                Operand::Unknown(None)
            }
            _ => {
                self.bad_operand(messages::fault(span, NO_ADDRESS));
                Operand::Unknown(None)
            }
        }
    }

    /// A name without a dot.
    #[inline]
    pub(super) fn name(&mut self, span: Span) -> Operand {
        match self.names.find_register(self.source, span) {
            Some((register, class)) => Operand::Register { register, class },
            None => self.other_name(span),
        }
    }

    /// A name that is no register of a group, or not seen to be one at once.
    pub(super) fn other_name(&mut self, span: Span) -> Operand {
        let name = self.text(span);
        match self.names.find(name) {
            Some(Entity::Registers { first, class, elements: 1 }) => {
                Operand::Register { register: first, class }
            }
            Some(entity) => Self::entity(entity),
            None => self.global_name(span),
        }
    }

    pub(super) fn entity(entity: Entity) -> Operand {
        match entity {
            Entity::Registers { first, class, elements: 1 } => Operand::Register { register: first, class },
            Entity::Registers { first, class, elements } => {
                Operand::VectorRegister { first, class, count: elements }
            }
            Entity::Variable(variable) => Operand::Variable { variable, offset: 0, zero: false },
            Entity::Targets(targets) => Operand::Targets(targets),
            Entity::Prototype(prototype) => Operand::Prototype(prototype),
        }
    }

    /// A name that the body does not declare, or a label.
    fn global_name(&mut self, span: Span) -> Operand {
        let name = self.text(span);
        match name {
            "_" => return Operand::Sink,
            "WARP_SZ" => return Operand::WarpSize,
            _ => {}
        }
        if let Some(label) = self.names.find_label(name) {
            return Operand::Label(label);
        }
        if let Some(operand) = self.module_name(name) {
            return operand;
        }
        if let Some(special) = SpecialRegister::parse(name) {
            return Operand::Special(special);
        }
        self.undeclared(span)
    }

    pub(super) fn module_name(&self, name: &str) -> Option<Operand> {
        let symbol = self.module.symbols.get(name)?;
        let definition = match self.visible {
            Some(visible) => visible.definition(&self.module, symbol),
            None => self.module.names.get(&symbol).copied(),
        };
        Some(match definition? {
            Definition::Variable(variable) => Operand::Variable { variable, offset: 0, zero: false },
            Definition::Function(function) => Operand::Function(function),
        })
    }

    #[cold]
    pub(super) fn undeclared(&mut self, span: Span) -> Operand {
        let name = self.text(span);
        let what = match self.names.label_elsewhere(name) {
            Some(label) => {
                let declaration = self.body.labels[label].span;
                Problem::InvisibleLabel { name: name.to_owned(), declaration }
            }
            None => {
                let group = self.names.find_group_of_prefix(name);
                let group = group.map(|(prefix, count, declaration)| RegisterGroup {
                    prefix: prefix.to_owned(),
                    count,
                    declaration,
                });
                Problem::UndeclaredName { name: name.to_owned(), group, nearest: self.nearest(name) }
            }
        };
        self.report(Located { span, what });
        Operand::Unknown(Some(self.intern(span)))
    }

    /// A visible name that differs from `name` in one letter.
    fn nearest(&mut self, name: &str) -> Option<String> {
        if name.len() <= 2 {
            return None;
        }
        let is_meant = |candidate: &&str| is_near(name, candidate);
        let labels = self.body.labels.iter().map(|(_, label)| self.module.name(label.name));
        let own = self.names.visible().chain(labels).take(MAX_CANDIDATES).find(is_meant).map(str::to_owned);
        // A vector is read by its elements.
        let single =
            |special: &SpecialRegister| !matches!(special.reads(), Reads::NarrowVector | Reads::Vector);
        let special = || SpecialRegister::all().filter(single).map(SpecialRegister::name).find(is_meant);
        own.or_else(|| self.nearest_of_module(name)).or_else(|| special().map(str::to_owned))
    }

    /// The same of the names of the module. A body with many wrong names has another fault, so only the first few are
    /// looked for.
    fn nearest_of_module(&mut self, name: &str) -> Option<String> {
        const MAX_WRONG: usize = 4;
        if self.function.is_none() {
            return self.near_name_of_module(name);
        }
        if let Some((_, nearest)) = self.wrong.iter().find(|(wrong, _)| wrong == name) {
            return nearest.clone();
        }
        if self.wrong.len() == MAX_WRONG {
            return None;
        }
        let nearest = self.near_name_of_module(name);
        self.wrong.push((name.to_owned(), nearest.clone()));
        nearest
    }

    fn near_name_of_module(&self, name: &str) -> Option<String> {
        let count = self.visible.map_or(self.module.names.len(), |visible| visible.count());
        let names = self.module.names.keys().take(count.min(MAX_CANDIDATES));
        let mut names = names.map(|symbol| self.module.name(*symbol));
        names.find(|candidate| is_near(name, candidate)).map(str::to_owned)
    }

    /// `%v.x`, `%tid.x`, `%r1.h0`.
    fn dotted(&mut self, span: Span) -> Operand {
        let text = self.text(span);
        let Some((name, suffix)) = text.rsplit_once('.') else { return self.name(span) };
        let name = name.trim_end();
        let Some(Entity::Registers { first, class, elements }) = self.names.find(name) else {
            // White space may be before the dot.
            let joined: String = text.split_whitespace().collect();
            if let Some(special) = SpecialRegister::parse(&joined) {
                return Operand::Special(special);
            }
            if SpecialRegister::parse(name).is_some() {
                let message = format!("`{name}` has no element `.{suffix}`");
                self.bad_operand(
                    messages::fault(span, message)
                        .with_help("vectors among the special registers have `.x`, `.y`, `.z` and `.w`"),
                );
                return Operand::Unknown(None);
            }
            let name = Span::new(span.start, span.start + name.len() as u32);
            return self.undeclared(name);
        };
        let element = match suffix {
            "x" | "r" => Some(0),
            "y" | "g" => Some(1),
            "z" | "b" => Some(2),
            "w" | "a" => Some(3),
            _ => None,
        };
        if let Some(element) = element
            && elements > 1
        {
            // ptxas takes `.z` of a vector of two; there is no such element, so the last one stands for it.
            let element = element.min(u32::from(elements) - 1);
            return Operand::Register { register: Register(first.0.saturating_add(element)), class };
        }
        if let Some(selector) = Selector::parse(suffix) {
            return Operand::Selected { register: first, class, selector };
        }
        let message = match element {
            Some(_) => format!("`{name}` is no vector, so it has no element `.{suffix}`"),
            None => format!("`.{suffix}` is no element of a vector and no selector"),
        };
        let declared = self.declaration_of(first);
        let mut fault = messages::fault(span, message);
        if let Some(declared) = declared {
            fault = fault.with_secondary(declared, "declared here");
        }
        self.bad_operand(fault);
        Operand::Register { register: first, class: Class::Unknown }
    }

    fn declaration_of(&self, register: Register) -> Option<Span> {
        self.body.group(register).map(|group| group.span)
    }
}

/// Names that a wrong one is compared with.
const MAX_CANDIDATES: usize = 500;

/// Whether one insertion, deletion, replacement or change of case makes the names equal.
fn is_near(name: &str, candidate: &str) -> bool {
    if name.eq_ignore_ascii_case(candidate) {
        return true;
    }
    let (a, b) = (name.as_bytes(), candidate.as_bytes());
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    // A different number at the end is another register, not a slip of the pen.
    let digits = a.get(front).is_none_or(u8::is_ascii_digit) && b.get(front).is_none_or(u8::is_ascii_digit);
    front + back + 1 >= a.len().max(b.len()) && !digits
}

#[cfg(test)]
mod tests {
    use crate::lower::{Problem, lower};

    #[test]
    fn names_of_the_module_are_looked_through_for_the_first_wrong_names_of_a_body() {
        let globals = ["first", "second", "third", "fourth", "fifth"];
        let declared: String = globals.iter().map(|name| format!(".global .u32 {name};\n")).collect();
        let used = |names: &[&str]| -> String {
            let uses = names.iter().map(|name| format!("mov.u64 %address, {name}; "));
            format!(".entry k{}() {{ .reg .b64 %address; {}ret; }}\n", names.len(), uses.collect::<String>())
        };
        let wrong = used(&["fist", "secnd", "thrd", "fouth", "fith", "fist", "%adress"]);
        let text =
            format!(".version 8.0\n.target sm_90\n.address_size 64\n{declared}{wrong}{}", used(&["fith"]));
        let nearest = |problem: Problem| match problem {
            Problem::UndeclaredName { nearest, .. } => nearest,
            other => panic!("{other:?}"),
        };
        let problems = lower(&ptx_syntax::parse(&text).tree, &text).problems;
        let nearest: Vec<Option<String>> =
            problems.into_iter().map(|problem| nearest(problem.what)).collect();
        let nearest: Vec<Option<&str>> = nearest.iter().map(Option::as_deref).collect();
        let [first, second, third, fourth, fifth] = globals.map(Some);
        assert_eq!(nearest, [first, second, third, fourth, None, first, Some("%address"), fifth]);
    }
}
