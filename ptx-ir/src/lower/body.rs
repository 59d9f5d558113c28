//! Statements of a function body.

use super::expression::{Room, short_decimal};
use super::names::Entity;
use super::problem::Problem;
use super::selection::{Keys, Kinds};
use super::{Context, LAST_PROBLEM, Selected, messages};
use crate::arena::Handle;
use crate::directive::DirectiveKind;
use crate::ir::{
    Body, Guard, Instruction, Label, Module, Operand, Register, RegisterGroup, Run, Spelling, Statement,
    TargetList, TargetListKind,
};
use crate::isa::Class;
use ptx_syntax::ast::{self, OperandKind, StatementKind};
use ptx_syntax::{Located, Span};

impl Context<'_, '_> {
    /// Lowers the statements of the body that [`Context::body`] was prepared for.
    pub(super) fn statements(&mut self, body: ast::Body) {
        let tree = self.tree;
        let statements = tree.statements(body.statements);
        self.declare_labels(statements);
        self.block = 0;
        self.room = Room::BODY;
        self.names.enter_block(0);
        let mut next_block = 1;
        let mut next_label = 0;
        let mut pending: Option<Span> = None;
        for (index, statement) in statements.iter().enumerate() {
            match statement.kind {
                StatementKind::Instruction(guard) => self.instruction(statement, guard),
                StatementKind::Label => {
                    if names_a_list(&statements[index + 1..], self.source) {
                        pending = Some(statement.word);
                        continue;
                    }
                    let label: Handle<Label> = Handle::new(next_label);
                    next_label += 1;
                    self.body.labels[label].target = self.body.instructions.len() as u32;
                    self.body.statements.push(Statement::Label(label));
                }
                StatementKind::OpenBlock => {
                    self.names.open();
                    self.block = next_block;
                    self.room = self.room.within_block();
                    self.names.enter_block(next_block);
                    next_block += 1;
                    self.body.statements.push(Statement::Open);
                }
                StatementKind::CloseBlock => {
                    self.names.close();
                    if self.block != 0 {
                        self.names.leave_block(self.block);
                    }
                    self.block = self.names.parent(self.block);
                    self.room = self.room.behind_block();
                    self.body.statements.push(Statement::Close);
                }
                StatementKind::Declaration => self.local_declaration(statement.operands.first),
                StatementKind::Directive if self.text(statement.word) == DirectiveKind::Loc.word() => {
                    self.kept_directive(statement);
                }
                // A directive of a prototype is between its label and itself.
                StatementKind::Directive if is_prototype_directive(statement, self.source) => continue,
                StatementKind::Directive => self.body_directive(statement, pending.take()),
                StatementKind::CallPrototype => {
                    self.local_prototype(statement.operands.first, pending.take());
                }
                StatementKind::Data => {}
            }
            pending = None;
        }
        self.room = Room::MODULE;
    }

    /// Labels may be used before they are in the text, so all of a body are declared first.
    fn declare_labels(&mut self, statements: &[ast::Statement]) {
        let mut instructions = 0;
        let mut operands = 0;
        let mut block = self.names.add_block(0);
        for (index, statement) in statements.iter().enumerate() {
            match statement.kind {
                StatementKind::Instruction(_) => {
                    instructions += 1;
                    operands += statement.operands.count as usize;
                }
                StatementKind::OpenBlock => block = self.names.add_block(block),
                StatementKind::CloseBlock => block = self.names.parent(block),
                StatementKind::Label => {
                    if !names_a_list(&statements[index + 1..], self.source) {
                        self.declare_label(statement.word, block);
                    }
                }
                StatementKind::Declaration
                | StatementKind::Directive
                | StatementKind::CallPrototype
                | StatementKind::Data => {}
            }
        }
        self.body.statements.reserve_exact(statements.len());
        self.body.instructions.reserve(instructions);
        self.body.spans.reserve_exact(instructions);
        self.body.operands.reserve_exact(operands);
        self.body.operand_spans.reserve_exact(operands);
    }

    fn declare_label(&mut self, word: Span, block: u32) {
        self.check_name(word);
        let name = self.intern(word);
        let label = self.body.labels.push(Label { name, span: word, target: 0 });
        if let Err(earlier) = self.names.declare_label(self.text(word), block, label) {
            let earlier = self.body.labels[earlier].span;
            self.report(messages::duplicate(word, "label", self.text(word), earlier));
        }
    }

    #[inline]
    fn instruction(&mut self, statement: &ast::Statement, guard: ast::Guard) {
        let tree = self.tree;
        let mut nodes = tree.operands(statement.operands);
        let guard = match guard {
            ast::Guard::None => None,
            ast::Guard::If | ast::Guard::Unless => {
                let Some((first, rest)) = nodes.split_first() else { return };
                nodes = rest;
                Some(self.guard(first.span, guard == ast::Guard::Unless))
            }
        };
        let spelling = self.spelling(statement.word);
        let is_call = self.selection.is_call(&self.module, spelling);
        let first = self.body.operands.len() as u32;
        let (mut keys, mut kinds) = (Keys::default(), Kinds::default());
        for node in nodes {
            let register = match node.kind {
                OperandKind::Name => self.names.find_register(self.source, node.span),
                _ => None,
            };
            // An operand that is put together elsewhere first would be read before all its parts are written.
            match register {
                Some((register, class)) => {
                    keys.add_register(class);
                    self.body.operands.push(Operand::Register { register, class });
                }
                None => keys.add(self.push_other(*node, is_call, &mut kinds)),
            }
            self.body.operand_spans.push(node.span);
        }
        let operands = Run { first, count: nodes.len() as u32 };
        let mut selected = self.select_by_kinds(spelling, operands, (keys, &kinds));
        if selected.instance.is_none() && nodes.iter().any(|node| node.kind == OperandKind::Index) {
            selected = self.select_elements(spelling, operands, nodes);
        }
        if selected.instance.is_none() && !is_call && self.is_without_second(operands, nodes) {
            selected = self.select_without_second(spelling, operands, nodes[0]);
        }
        let Selected { instance, in_manual } = selected;
        let instruction = Instruction { spelling, operands, guard, instance, in_manual };
        let handle = self.body.instructions.push(instruction);
        self.body.spans.push(statement.span);
        self.body.statements.push(Statement::Instruction(handle));
    }

    fn guard(&mut self, span: Span, negated: bool) -> Guard {
        match self.name(span) {
            Operand::Register { register, class } => Guard { register: Some(register), class, negated },
            Operand::Unknown(_) => Guard { register: None, class: Class::Unknown, negated },
            _ => {
                let name = self.text(span);
                self.bad_operand(messages::fault(
                    span,
                    format!("a guard is a predicate register, `{name}` is none"),
                ));
                Guard { register: None, class: Class::Unknown, negated }
            }
        }
    }

    /// Adds an operand that is no register of a group, and gives the number for its kind.
    #[inline(never)]
    fn push_other(&mut self, node: ast::Operand, is_call: bool, kinds: &mut Kinds) -> u16 {
        if node.kind == OperandKind::Integer
            && let Some(digits) = self.source.as_bytes().get(node.span.range())
            && let Some(bits) = short_decimal(digits)
        {
            self.body.operands.push(Operand::Integer { bits, negative: false });
            return kinds.key_of_integer(bits);
        }
        if let Some((base, class, written)) = self.plain_address(node) {
            let (offset, zero) = (written.unwrap_or(0) as i32, written == Some(0));
            let address = Operand::RegisterAddress { base, class, offset, zero, unified: false };
            self.body.operands.push(address);
            return Module::register_address_key(class, offset, zero);
        }
        let operand = match node.kind {
            OperandKind::Name => self.other_name(node.span),
            _ if is_call => self.call_operand(node),
            _ => self.operand(node),
        };
        self.body.operands.push(operand);
        kinds.key_of(&self.module, &self.body, operand)
    }

    /// Which instance of the spelling the operands fit.
    fn select(&mut self, spelling: Handle<Spelling>, operands: Run) -> Selected {
        self.selection.select(&self.module, &self.body, spelling, &self.body.operands[operands.range()])
    }

    /// The same where the kinds of the operands are known.
    #[inline]
    fn select_by_kinds(
        &mut self,
        spelling: Handle<Spelling>,
        operands: Run,
        kinds: (Keys, &Kinds),
    ) -> Selected {
        let operands = &self.body.operands[operands.range()];
        self.selection.select_by_kinds(&self.module, &self.body, spelling, operands, kinds)
    }

    /// `name[index]` is memory where an instruction accesses it and an address where it takes a value.
    #[cold]
    fn select_elements(
        &mut self,
        spelling: Handle<Spelling>,
        operands: Run,
        nodes: &[ast::Operand],
    ) -> Selected {
        let before: Vec<Operand> = self.body.operands[operands.range()].to_vec();
        for (operand, node) in self.body.operands[operands.range()].iter_mut().zip(nodes) {
            if let Operand::VariableAddress { variable, offset } = *operand
                && node.kind == OperandKind::Index
            {
                // `x[0]` is written as an offset, too.
                *operand = Operand::Variable { variable, offset, zero: offset == 0 };
            }
            if let Operand::Element { is_value, .. } = operand {
                *is_value = true;
            }
        }
        let selected = self.select(spelling, operands);
        if selected.instance.is_none() {
            self.body.operands[operands.range()].copy_from_slice(&before);
        }
        selected
    }

    /// Whether the first operand is a name and a second result that is dropped: `%r1|_`.
    #[inline]
    fn is_without_second(&self, operands: Run, nodes: &[ast::Operand]) -> bool {
        let pair = self.body.operands[operands.range()].first();
        let Some(&Operand::Pair(Run { first, count: 2 })) = pair else { return false };
        let parts = &self.body.children[first as usize..][..2];
        let is_name = self.tree.children(nodes[0])[0].kind == OperandKind::Name;
        let is_plain =
            matches!(parts[0], Operand::Register { .. } | Operand::VectorRegister { .. } | Operand::Label(_));
        is_name && is_plain && parts[1] == Operand::Sink
    }

    /// `%r1|_` is `%r1` to an instruction that has no second result. The module has it without the `_`, so that no
    /// analysis has to know of it.
    #[cold]
    fn select_without_second(
        &mut self,
        spelling: Handle<Spelling>,
        operands: Run,
        pair: ast::Operand,
    ) -> Selected {
        let place = operands.first as usize;
        let before = self.body.operands[place];
        let Operand::Pair(parts) = before else { return Selected::default() };
        self.body.operands[place] = self.body.children[parts.first as usize];
        let selected = self.select(spelling, operands);
        if selected.instance.is_none() {
            self.body.operands[place] = before;
            return selected;
        }
        self.remove_children(place, parts);
        // It is a note, and does not count as one too many.
        if self.problems.len() < LAST_PROBLEM {
            let name = self.tree.children(pair)[0].span;
            let rest = Span::new(name.end, pair.span.end);
            self.report(Located { span: pair.span, what: Problem::NoSecondResult { rest } });
        }
        selected
    }

    /// Removes the children that an operand of the last instruction had, so that the body is as if they had not been there.
    fn remove_children(&mut self, place: usize, run: Run) {
        let Body { operands, children, child_spans, .. } = &mut self.body;
        children.drain(run.range());
        child_spans.drain(run.range());
        for operand in operands[place + 1..].iter_mut().chain(&mut children[run.first as usize..]) {
            if let Operand::Vector(parts)
            | Operand::Pair(parts)
            | Operand::Bracket(parts)
            | Operand::List(parts) = operand
            {
                parts.first -= run.count;
            }
        }
    }

    /// `.reg` in a body, or a parameter in a register.
    pub(super) fn declare_registers(
        &mut self,
        name: Span,
        range: Option<u32>,
        ty: crate::types::Type,
        elements: u8,
    ) -> Handle<RegisterGroup> {
        let first = Register(self.body.register_count);
        let symbol = self.intern(name);
        let group = RegisterGroup { name: symbol, range, ty, elements, first, span: name };
        let total = u64::from(first.0) + u64::from(group.len());
        if total > u64::from(u32::MAX) {
            self.bad_declaration(messages::fault(
                name,
                "this function declares more than 4 billion registers",
            ));
        }
        self.body.register_count = u32::try_from(total).unwrap_or(first.0);
        let text = self.text(name);
        let handle = self.body.registers.push(group);
        let group = &self.body.registers[handle];
        let declared = match range {
            Some(count) => self.names.declare_registers(text, name, count, group),
            None => {
                let entity = Entity::Registers { first, class: group.class(), elements };
                self.names.declare(text, name, entity)
            }
        };
        self.check_declared(declared, name, "register");
        handle
    }

    /// Reports a second declaration of a name in one block, that of a label included.
    pub(super) fn check_declared(&mut self, declared: Result<(), Span>, name: Span, what: &'static str) {
        let text = self.text(name);
        if let Err(earlier) = declared {
            self.report(messages::duplicate(name, what, text, earlier));
        } else if let Some(label) = self.names.label_in(text, self.block) {
            let label = self.body.labels[label].span;
            self.report(messages::duplicate(name.max(label), what, text, name.min(label)));
        }
    }

    fn body_directive(&mut self, statement: &ast::Statement, label: Option<Span>) {
        match list_kind(self.text(statement.word)) {
            Some(kind) => self.targets(statement, label, kind),
            None if is_kept(self.text(statement.word)) => self.kept_directive(statement),
            None => {}
        }
    }

    /// `.loc` and what else is between instructions.
    fn kept_directive(&mut self, statement: &ast::Statement) {
        let directive = self.directive(statement);
        let handle = self.body.directives.push(directive);
        self.body.statements.push(Statement::Directive(handle));
    }

    fn targets(&mut self, statement: &ast::Statement, label: Option<Span>, kind: TargetListKind) {
        let tree = self.tree;
        self.require_label(statement.word, label);
        let targets: Vec<Operand> =
            tree.operands(statement.operands).iter().map(|node| self.operand(*node)).collect();
        let name = label.map(|label| self.intern(label));
        let handle = self.body.targets.push(TargetList { name, kind, targets, span: statement.span });
        if let Some(label) = label {
            let declared = self.names.declare(self.text(label), label, Entity::Targets(handle));
            self.check_declared(declared, label, "label");
        }
        self.body.statements.push(Statement::Targets(handle));
    }

    /// Lists and prototypes have no use without the label that calls and branches refer to.
    fn require_label(&mut self, word: Span, label: Option<Span>) {
        if label.is_none() {
            let text = self.text(word);
            let fault = messages::fault(word, format!("`{text}` has no label before it"))
                .with_help(format!("calls and branches refer to it by its label: write `name: {text} …;`"));
            self.bad_declaration(fault);
        }
    }

    fn local_prototype(&mut self, index: u32, label: Option<Span>) {
        let word = self.tree.functions[index as usize].header;
        let word = Span::new(word.start, word.start + DirectiveKind::CallPrototype.word().len() as u32);
        self.require_label(word, label);
        let handle = self.prototype(&self.tree.functions[index as usize], label);
        if let Some(label) = label {
            let declared = self.names.declare(self.text(label), label, Entity::Prototype(handle));
            self.check_declared(declared, label, "label");
        }
        self.body.statements.push(Statement::Prototype(handle));
    }

    /// Makes ready for a body.
    pub(super) fn begin_body(&mut self, span: Span) {
        self.names.clear();
        self.selection.set_platform(self.module.header.platform());
        self.body.clear();
        self.body.span = span;
        self.block = 0;
        self.wrong.clear();
    }
}

/// Whether the label before `rest` names a list of targets or a prototype rather than a place.
fn names_a_list(rest: &[ast::Statement], source: &str) -> bool {
    let mut rest = rest.iter().skip_while(|statement| is_prototype_directive(statement, source));
    rest.next().is_some_and(|next| match next.kind {
        StatementKind::CallPrototype => true,
        StatementKind::Directive => list_kind(next.word.text(source)).is_some(),
        _ => false,
    })
}

/// Whether the statement is a directive of the `.callprototype` after it, which lowers it.
fn is_prototype_directive(statement: &ast::Statement, source: &str) -> bool {
    let word = statement.word.text(source);
    statement.kind == StatementKind::Directive && list_kind(word).is_none() && !is_kept(word)
}

/// Which list of targets a directive begins.
fn list_kind(word: &str) -> Option<TargetListKind> {
    match DirectiveKind::parse(word)? {
        DirectiveKind::BranchTargets => Some(TargetListKind::Branch),
        DirectiveKind::CallTargets => Some(TargetListKind::Call),
        _ => None,
    }
}

/// Whether a directive is between instructions and kept as it is.
fn is_kept(word: &str) -> bool {
    use DirectiveKind::{File, Loc, LocIntermediate, Pragma};
    matches!(DirectiveKind::parse(word), Some(Pragma | Loc | LocIntermediate | File))
}

#[cfg(test)]
mod tests {
    use crate::ir::{Operand, Run};

    #[test]
    fn a_second_result_that_is_dropped_leaves_nothing_in_the_body() {
        let lowered = |second: &str| {
            let text = format!(
                ".version 8.6\n.target sm_90a\n.address_size 64\n.func f()\n{{\n.reg .b32 %r<5>;\n.reg .b64 %d;\n\
                 mov.b32 %r1{second}, %r2;\nmov.b64 {{%r1,%r2}}, %d;\nmov.b64 %d{second}, {{%r3,%r4}};\n}}\n"
            );
            let lowered = crate::lower::lower(&ptx_syntax::parse(&text).tree, &text);
            let problems = lowered.problems.len();
            let body = lowered.module.functions.iter().next().unwrap().1.body.clone().unwrap();
            (problems, body.operands, body.children, body.child_spans.len())
        };
        let (none, operands, children, spans) = lowered("");
        assert_eq!(lowered("|_"), (2, operands.clone(), children.clone(), spans));
        assert_eq!((none, operands.last()), (0, Some(&Operand::Vector(Run { first: 2, count: 2 }))));
    }
}
