//! The end of a function: registers are gathered into declarations and numbered in the order of the text.

use rustc_hash::FxHashMap;

use super::error::BuildError;
use super::function::{FunctionBuilder, Kept, RegisterInfo};
use super::module::ModuleBuilder;
use crate::arena::{Handle, Symbol};
use crate::ir::{
    Body, Function, Instruction, Label, Module, Operand, Register, RegisterGroup, Run, Statement, TargetList,
};
use crate::isa::Control;
use crate::types::Type;
use crate::visit::Rename;
use ptx_syntax::Span;

impl FunctionBuilder<'_> {
    /// Fails where control may run past the last instruction.
    pub(super) fn check_end(&self) -> Result<(), BuildError> {
        match self.ends(self.body.statements.iter().copied()) {
            true => Ok(()),
            false => Err(BuildError::MissingEnd { function: self.name() }),
        }
    }

    /// Whether control cannot run past the last of the statements.
    pub(super) fn ends(&self, statements: impl Iterator<Item = Statement>) -> bool {
        let runs =
            |statement: &Statement| matches!(statement, Statement::Instruction(_) | Statement::Label(_));
        let Some(Statement::Instruction(last)) = statements.filter(runs).last() else { return false };
        let instruction = &self.body.instructions[last];
        let control = self.control(instruction).unwrap_or(Control::Next);
        instruction.guard.is_none() && !control.falls_through()
    }
}

impl Module {
    /// The module with the instructions, labels and registers of each body numbered in the order of its statements, as
    /// analyses need it. Lowering, the builder and the editor number them so; who puts instructions into a body by hand
    /// calls this afterwards. Handles into bodies that were not in that order mean something else then.
    #[must_use]
    pub fn renumbered(self) -> Self {
        let is_wrong = |function: &Function| function.body.as_ref().is_some_and(|body| !body.is_in_order());
        let wrong: Vec<Handle<Function>> = self
            .functions
            .iter()
            .filter(|(_, function)| is_wrong(function))
            .map(|(handle, _)| handle)
            .collect();
        if wrong.is_empty() {
            return self;
        }
        let mut builder = ModuleBuilder::extend(self);
        for function in wrong {
            let Some(mut body) = builder.module.functions[function].body.take() else { continue };
            body.operand_spans.resize(body.operands.len(), Span::default());
            body.child_spans.resize(body.children.len(), Span::default());
            let kept = Kept { registers: body.register_count, ..Kept::default() };
            lay_out(&mut builder, &mut body, &kept, &[], &[]);
            builder.module.functions[function].body = Some(body);
        }
        builder.module
    }
}

impl Body {
    /// Whether instructions and labels have the order of the statements, and each of them is a statement.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        let (mut instructions, mut labels) = (0, 0);
        let is_next = |statement: &Statement| match *statement {
            Statement::Instruction(instruction) => {
                instructions += 1;
                instruction.index() + 1 == instructions
            }
            Statement::Label(label) => {
                labels += 1;
                label.index() + 1 == labels
                    && self.labels.get(label).is_some_and(|label| label.target as usize == instructions)
            }
            _ => true,
        };
        self.statements.iter().all(is_next)
            && (instructions, labels) == (self.instructions.len(), self.labels.len())
    }
}

/// Where things of a body are after its end was laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct NewPlaces {
    /// The instruction that each one is now; none where it is no statement any more.
    pub instructions: Vec<Option<Handle<Instruction>>>,
    /// The label that each one is now.
    pub labels: Vec<Option<Handle<Label>>>,
}

/// Declares new registers at the beginning of their blocks, and numbers everything of the body in the order of its
/// statements, as lowering does. `opened` has the number of each block in the order of the text.
pub(super) fn lay_out(
    builder: &mut ModuleBuilder,
    body: &mut Body,
    kept: &Kept,
    registers: &[RegisterInfo],
    opened: &[u32],
) -> NewPlaces {
    let old = std::mem::take(body);
    let mut layout = Layout {
        new: Body { span: old.span, ..Body::default() },
        old: &old,
        kept: kept.registers,
        shifts: vec![0; old.registers.len()],
        numbers: vec![0; (old.register_count - kept.registers) as usize],
        places: NewPlaces {
            instructions: vec![None; old.instructions.len()],
            labels: vec![None; old.labels.len()],
        },
        targets: FxHashMap::default(),
        end: old.span.start,
    };
    layout.declare_all(builder, registers, opened);
    layout.number_names();
    layout.fill();
    let Layout { new, places, .. } = layout;
    *body = new;
    places
}

struct Layout<'o> {
    old: &'o Body,
    new: Body,
    /// How many registers were there before.
    kept: u32,
    /// The first number of each group that was there before.
    shifts: Vec<u32>,
    /// The numbers of the others.
    numbers: Vec<u32>,
    places: NewPlaces,
    targets: FxHashMap<Handle<TargetList>, Handle<TargetList>>,
    /// Where the text of the last statement with one ends: what has no text is there.
    end: u32,
}

impl Layout<'_> {
    /// Makes the statements of the body, with the declarations of registers.
    fn declare_all(&mut self, builder: &mut ModuleBuilder, registers: &[RegisterInfo], opened: &[u32]) {
        let old = self.old;
        let mut declared = vec![false; old.registers.len()];
        for statement in &old.statements {
            if let Statement::Registers(group) = statement {
                declared[group.index()] = true;
            }
        }
        // What no statement declares is a parameter.
        for group in old.registers.handles().filter(|group| !declared[group.index()]) {
            self.keep_group(group);
        }
        self.declare_block(builder, registers, 0);
        let mut opened = opened.iter();
        for &statement in &old.statements {
            let statement = match statement {
                Statement::Registers(group) => Statement::Registers(self.keep_group(group)),
                _ => statement,
            };
            self.new.statements.push(statement);
            if statement == Statement::Open
                && let Some(&block) = opened.next()
            {
                self.declare_block(builder, registers, block);
            }
        }
    }

    fn keep_group(&mut self, group: Handle<RegisterGroup>) -> Handle<RegisterGroup> {
        let first = Register(self.new.register_count);
        self.shifts[group.index()] = first.0;
        let group = RegisterGroup { first, ..self.old.registers[group].clone() };
        self.new.register_count += group.len();
        self.new.registers.push(group)
    }

    /// Declares the new registers of one block: those without a name by their types, then those with one.
    fn declare_block(&mut self, builder: &mut ModuleBuilder, registers: &[RegisterInfo], block: u32) {
        let in_block: Vec<&RegisterInfo> = registers.iter().filter(|info| info.block == block).collect();
        let unnamed = || in_block.iter().copied().filter(|info| info.name.is_none());
        let mut kinds: Vec<(Type, u8)> = unnamed().map(|info| (info.ty, info.elements)).collect();
        // Predicates first, as compilers have it, then in the order of the types.
        kinds.sort_unstable_by_key(|&(ty, elements)| (ty != Type::Pred, ty, elements));
        kinds.dedup();
        for (ty, elements) in kinds {
            let members: Vec<&RegisterInfo> =
                unnamed().filter(|info| (info.ty, info.elements) == (ty, elements)).collect();
            let prefix = prefix(builder, self.old, ty, elements, block);
            let name = builder.intern(&prefix);
            self.declare(name, Some(members.len() as u32), &members);
        }
        for info in &in_block {
            if let Some(name) = info.name {
                self.declare(name, None, &[info]);
            }
        }
    }

    fn declare(&mut self, name: Symbol, range: Option<u32>, members: &[&RegisterInfo]) {
        let Some(&&RegisterInfo { ty, elements, .. }) = members.first() else { return };
        let first = Register(self.new.register_count);
        let span = Span::default();
        let group = self.new.registers.push(RegisterGroup { name, range, ty, elements, first, span });
        self.new.statements.push(Statement::Registers(group));
        for info in members {
            for element in 0..u32::from(info.elements) {
                self.numbers[(info.first - self.kept + element) as usize] = self.new.register_count;
                self.new.register_count += 1;
            }
        }
    }

    /// Gives labels and lists their new numbers, since what refers to them may be before them.
    fn number_names(&mut self) {
        let (mut labels, mut lists) = (0, 0);
        for statement in &self.new.statements {
            match *statement {
                Statement::Label(label) => {
                    self.places.labels[label.index()] = Some(Handle::new(labels));
                    labels += 1;
                }
                Statement::Targets(list) => {
                    self.targets.insert(list, Handle::new(lists));
                    lists += 1;
                }
                _ => {}
            }
        }
    }

    /// Moves everything into the order of the statements.
    fn fill(&mut self) {
        let mut statements = std::mem::take(&mut self.new.statements);
        for statement in &mut statements {
            *statement = match *statement {
                Statement::Instruction(handle) => Statement::Instruction(self.instruction(handle)),
                Statement::Label(handle) => {
                    let label = self.old.labels[handle].clone();
                    let target = self.new.instructions.len() as u32;
                    let span = self.place(label.span);
                    Statement::Label(self.new.labels.push(Label { target, span, ..label }))
                }
                Statement::Targets(handle) => {
                    let mut list = self.old.targets[handle].clone();
                    list.targets = list.targets.into_iter().map(|each| self.operand(each)).collect();
                    Statement::Targets(self.new.targets.push(list))
                }
                Statement::Directive(handle) => {
                    let directive = self.old.directives[handle].clone();
                    Statement::Directive(self.new.directives.push(directive))
                }
                Statement::Open
                | Statement::Close
                | Statement::Registers(_)
                | Statement::Variable(_)
                | Statement::Prototype(_) => *statement,
            };
        }
        self.new.statements = statements;
    }

    fn instruction(&mut self, handle: Handle<Instruction>) -> Handle<Instruction> {
        let old = self.old;
        let mut instruction = old.instructions[handle];
        let run = instruction.operands;
        let operands: Vec<Operand> =
            old.operands[run.range()].iter().map(|each| self.operand(*each)).collect();
        instruction.operands = Run { first: self.new.operands.len() as u32, count: run.count };
        self.new.operands.extend(operands);
        self.new.operand_spans.extend(&old.operand_spans[run.range()]);
        if let Some(register) = instruction.guard.as_mut().and_then(|guard| guard.register.as_mut()) {
            *register = self.register(*register);
        }
        let span = self.place(old.span(handle));
        self.new.spans.push(span);
        let new = self.new.instructions.push(instruction);
        self.places.instructions[handle.index()] = Some(new);
        new
    }

    /// Where a statement is in the text: what was built has an empty place behind the statement before it, so that places
    /// are in order.
    fn place(&mut self, span: Span) -> Span {
        if span.is_empty() {
            return Span::new(self.end, self.end);
        }
        self.end = self.end.max(span.end);
        span
    }
}

impl Rename for Layout<'_> {
    fn register(&mut self, register: Register) -> Register {
        if let Some(number) = register.0.checked_sub(self.kept) {
            return Register(self.numbers[number as usize]);
        }
        let group = self.old.group_handle(register);
        let moved = |group: Handle<RegisterGroup>| {
            Register(self.shifts[group.index()] + (register.0 - self.old.registers[group].first.0))
        };
        group.map_or(register, moved)
    }

    fn label(&mut self, label: Handle<Label>) -> Handle<Label> {
        self.places.labels.get(label.index()).copied().flatten().unwrap_or(label)
    }

    fn targets(&mut self, list: Handle<TargetList>) -> Handle<TargetList> {
        self.targets.get(&list).copied().unwrap_or(list)
    }

    fn parts(&mut self, run: Run) -> Run {
        let old = self.old;
        let parts: Vec<Operand> = old.children[run.range()].iter().map(|part| self.operand(*part)).collect();
        let first = self.new.children.len() as u32;
        self.new.children.extend(parts);
        self.new.child_spans.extend(&old.child_spans[run.range()]);
        Run { first, count: run.count }
    }
}

/// The part of the names of unnamed registers before the number, which no other name of the module begins
/// with before a number.
fn prefix(builder: &ModuleBuilder, body: &Body, ty: Type, elements: u8, block: u32) -> String {
    let mut prefix = letters(ty).to_owned();
    if elements > 1 {
        prefix += &format!("v{elements}_");
    }
    if block > 0 {
        prefix += &format!("b{block}_");
    }
    let declared =
        |prefix: &str| body.registers.iter().any(|(_, group)| builder.module.name(group.name) == prefix);
    let collides = |prefix: &str| {
        declared(prefix)
            || builder.module.symbols.iter().any(|name| {
                name.strip_prefix(prefix)
                    .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
            })
    };
    while collides(&prefix) {
        prefix.push('_');
    }
    prefix
}

const fn letters(ty: Type) -> &'static str {
    match ty {
        Type::Pred => "%p",
        Type::B8 => "%b",
        Type::B16 => "%h",
        Type::B32 => "%r",
        Type::B64 => "%rd",
        Type::B128 => "%rq",
        Type::U8 => "%ub",
        Type::U16 => "%uh",
        Type::U32 => "%u",
        Type::U64 => "%ud",
        Type::S8 => "%sb",
        Type::S16 => "%sh",
        Type::S32 => "%s",
        Type::S64 => "%sd",
        Type::F16 => "%hf",
        Type::F16x2 => "%hx",
        Type::F32 => "%f",
        Type::F64 => "%fd",
        _ => "%x",
    }
}
