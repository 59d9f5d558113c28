//! A copy of a body within another one: everything that it declares anew, under other names.

use rustc_hash::FxHashMap;

use super::inline::local_spelling;
use crate::arena::Handle;
use crate::build::function::{Block, FunctionBuilder, LabelInfo, Owned};
use crate::build::instruction::Says;
use crate::build::value::{Label, Reg};
use crate::build::{BuildError, name};
use crate::ir::{self, Body, Function, Instruction, Operand, Register, Run, Statement, TargetList, Variable};
use crate::isa::Control;
use crate::visit::Rename;
use ptx_syntax::Span;

/// What the things of a body are in its copy.
pub(super) struct Copied<'b> {
    body: &'b Body,
    /// The block of the copy, which declares all of its registers.
    block: u32,
    /// By the first element.
    registers: FxHashMap<Register, Reg>,
    /// Parameters in memory, which are other memory here.
    memory: FxHashMap<Handle<Variable>, Handle<Variable>>,
    variables: FxHashMap<Handle<Variable>, Handle<Variable>>,
    prototypes: FxHashMap<Handle<Function>, Handle<Function>>,
    labels: FxHashMap<Handle<ir::Label>, Handle<ir::Label>>,
    lists: FxHashMap<Handle<TargetList>, Handle<TargetList>>,
}

impl<'b> Copied<'b> {
    pub(super) fn new(body: &'b Body) -> Self {
        Self {
            body,
            block: 0,
            registers: FxHashMap::default(),
            memory: FxHashMap::default(),
            variables: FxHashMap::default(),
            prototypes: FxHashMap::default(),
            labels: FxHashMap::default(),
            lists: FxHashMap::default(),
        }
    }

    /// Says what a register is in the copy.
    pub(super) fn set_register(&mut self, register: Register, copy: Reg) {
        self.registers.insert(register, copy);
    }

    /// What a register is in the copy, where that was said.
    pub(super) fn register_of(&self, register: Register) -> Option<Reg> {
        self.registers.get(&register).copied()
    }

    /// Says what memory a parameter is in the copy.
    pub(super) fn set_memory(&mut self, parameter: Handle<Variable>, memory: Handle<Variable>) {
        self.memory.insert(parameter, memory);
    }

    /// Inserts the copy. Returns go to its end.
    pub(super) fn insert(mut self, f: &mut FunctionBuilder<'_>) -> Result<(), BuildError> {
        self.block = f.block();
        let returns =
            |at: &Handle<Instruction>| f.control(&self.body.instructions[*at]) == Some(Control::Return);
        let last = self.body.statements.iter().rposition(|statement| runs(*statement));
        let is_last = |index: usize, at: Handle<Instruction>| {
            Some(index) == last && self.body.instructions[at].guard.is_none()
        };
        let statements = self.body.statements.iter().enumerate();
        let returning: Vec<usize> = statements
            .filter_map(|(index, statement)| match statement {
                Statement::Instruction(at) if returns(at) => Some((index, *at)),
                _ => None,
            })
            .filter(|&(index, at)| !is_last(index, at))
            .map(|(index, _)| index)
            .collect();
        let end = if returning.is_empty() { None } else { Some(f.fresh_label("returned")?) };
        self.name_labels(f);
        let mut branches = returning.into_iter().peekable();
        for (index, &statement) in self.body.statements.iter().enumerate() {
            if branches.next_if_eq(&index).is_some() {
                self.branch(f, statement, end)?;
            } else if let Statement::Instruction(at) = statement
                && f.control(&self.body.instructions[at]) == Some(Control::Return)
            {
                // The last one needs no branch to what follows it.
            } else {
                self.statement(f, statement)?;
            }
        }
        end.map_or(Ok(()), |end| f.place(end))
    }

    /// A branch to the end under the guard of a return.
    fn branch(
        &mut self,
        f: &mut FunctionBuilder<'_>,
        statement: Statement,
        end: Option<Label>,
    ) -> Result<(), BuildError> {
        let (Statement::Instruction(at), Some(end)) = (statement, end) else { return Ok(()) };
        f.push("bra", [end.into()])?;
        let mut guard = self.body.instructions[at].guard;
        if let Some(register) = guard.as_mut().and_then(|guard| guard.register.as_mut()) {
            *register = Copier { copied: self, f }.register(*register);
        }
        let branch = Handle::new(f.body.instructions.len() as u32 - 1);
        f.body.instructions[branch].guard = guard;
        Ok(())
    }

    /// Names labels and lists first, for what refers to them may be before them.
    fn name_labels(&mut self, f: &mut FunctionBuilder<'_>) {
        for (handle, label) in self.body.labels.iter() {
            let name = fresh(f, label.name);
            let copy = f.body.labels.push(ir::Label { name, span: Span::default(), target: 0 });
            f.labels.push(LabelInfo { block: f.block(), placed: true });
            self.labels.insert(handle, copy);
        }
        for (handle, list) in self.body.targets.iter() {
            let name = list.name.map(|name| fresh(f, name));
            let copy = TargetList { name, targets: Vec::new(), span: Span::default(), ..*list };
            self.lists.insert(handle, f.body.targets.push(copy));
        }
    }

    fn statement(&mut self, f: &mut FunctionBuilder<'_>, statement: Statement) -> Result<(), BuildError> {
        let copy = match statement {
            Statement::Instruction(at) => return self.instruction(f, at),
            // Registers are declared where they are first needed.
            Statement::Registers(_) => return Ok(()),
            Statement::Label(label) => {
                let label = self.labels[&label];
                f.labels[label.index()].block = f.block();
                Statement::Label(label)
            }
            Statement::Open => {
                let number = f.blocks;
                f.blocks += 1;
                f.open.push(Block { number, names: Vec::new() });
                statement
            }
            Statement::Close => {
                f.open.pop();
                statement
            }
            Statement::Variable(variable) => Statement::Variable(self.declare(f, variable)),
            Statement::Directive(directive) => {
                Statement::Directive(f.body.directives.push(self.body.directives[directive].clone()))
            }
            Statement::Targets(list) => {
                let targets = self.body.targets[list].targets.clone();
                let mut copier = Copier { copied: self, f };
                let targets = targets.into_iter().map(|target| copier.operand(target)).collect();
                let copy = self.lists[&list];
                f.body.targets[copy].targets = targets;
                let block = f.block();
                f.owners.insert(Owned::Targets(copy.index() as u32), block);
                Statement::Targets(copy)
            }
            Statement::Prototype(prototype) => Statement::Prototype(self.prototype(f, prototype)),
        };
        f.body.statements.push(copy);
        Ok(())
    }

    fn declare(&mut self, f: &mut FunctionBuilder<'_>, variable: Handle<Variable>) -> Handle<Variable> {
        let name = fresh(f, f.builder.module.variables[variable].name);
        let copy = Variable {
            name,
            function: Some(f.handle),
            span: Span::default(),
            declaration: Span::default(),
            ..f.builder.module.variables[variable].clone()
        };
        let copy = f.builder.module.variables.push(copy);
        f.enter(name, Some(Owned::Variable(copy)));
        self.variables.insert(variable, copy);
        copy
    }

    fn prototype(&mut self, f: &mut FunctionBuilder<'_>, prototype: Handle<Function>) -> Handle<Function> {
        let copy = crate::link::order::declaration_of(&mut f.builder.module, prototype);
        let name = fresh(f, f.builder.module.functions[prototype].name);
        f.builder.module.functions[copy].name = name;
        f.enter(name, Some(Owned::Prototype(copy)));
        self.prototypes.insert(prototype, copy);
        copy
    }

    fn instruction(
        &mut self,
        f: &mut FunctionBuilder<'_>,
        at: Handle<Instruction>,
    ) -> Result<(), BuildError> {
        let mut instruction = self.body.instructions[at];
        let old = self.body.operands(at);
        let in_memory =
            |operand: &Operand| operand.variable().is_some_and(|each| self.memory.contains_key(&each));
        let spelling = match old.iter().any(in_memory) {
            true => local_spelling(&f.builder.module, &instruction),
            false => None,
        };
        if let Some(spelling) = &spelling {
            instruction.spelling = f.builder.spelling(spelling)?;
        }
        let mut copier = Copier { copied: self, f };
        let operands: Vec<Operand> = old.iter().map(|operand| copier.operand(*operand)).collect();
        if let Some(register) = instruction.guard.as_mut().and_then(|guard| guard.register.as_mut()) {
            *register = copier.register(*register);
        }
        let run = Run { first: f.body.operands.len() as u32, count: operands.len() as u32 };
        f.body.operands.extend(operands);
        f.body.operand_spans.resize(f.body.operands.len(), Span::default());
        instruction.operands = run;
        if spelling.is_some() {
            let selected = f.select(instruction.spelling, run, Says::Assembler)?;
            instruction.instance = selected.instance;
            instruction.in_manual = selected.in_manual;
        }
        let copy = f.body.instructions.push(instruction);
        f.body.spans.push(Span::default());
        f.body.statements.push(Statement::Instruction(copy));
        Ok(())
    }
}

fn runs(statement: Statement) -> bool {
    matches!(statement, Statement::Instruction(_) | Statement::Label(_))
}

/// A name like another one that nothing has, which is taken from now on.
fn fresh(f: &mut FunctionBuilder<'_>, like: crate::arena::Symbol) -> crate::arena::Symbol {
    let like = f.builder.module.name(like).to_owned();
    let hint = if name::check(&like).is_ok() { like } else { "copy".to_owned() };
    let name = f.fresh_name(&hint).unwrap_or(hint);
    f.builder.intern(&name)
}

/// Renames operands to those of the copy.
struct Copier<'c, 'b, 'f, 'm> {
    copied: &'c mut Copied<'b>,
    f: &'f mut FunctionBuilder<'m>,
}

impl Rename for Copier<'_, '_, '_, '_> {
    fn register(&mut self, register: Register) -> Register {
        let Some(group) = self.copied.body.group(register) else { return register };
        let element = (register.0 - group.first.0) % u32::from(group.elements.max(1));
        let (ty, elements) = (group.ty, group.elements);
        let whole = Register(register.0 - element);
        let (f, block) = (&mut *self.f, self.copied.block);
        let copy = *self.copied.registers.entry(whole).or_insert_with(|| {
            let copy = f.vector_reg(ty, elements);
            f.registers.iter_mut().last().into_iter().for_each(|info| info.block = block);
            copy
        });
        let first = f.registers[(copy.index - f.kept.registers) as usize].first;
        Register(first + element)
    }

    fn label(&mut self, label: Handle<ir::Label>) -> Handle<ir::Label> {
        self.copied.labels.get(&label).copied().unwrap_or(label)
    }

    fn variable(&mut self, variable: Handle<Variable>) -> Handle<Variable> {
        let Copied { memory, variables, .. } = &*self.copied;
        memory.get(&variable).or_else(|| variables.get(&variable)).copied().unwrap_or(variable)
    }

    fn function(&mut self, function: Handle<Function>) -> Handle<Function> {
        self.copied.prototypes.get(&function).copied().unwrap_or(function)
    }

    fn targets(&mut self, list: Handle<TargetList>) -> Handle<TargetList> {
        self.copied.lists.get(&list).copied().unwrap_or(list)
    }

    fn parts(&mut self, run: Run) -> Run {
        let parts: Vec<Operand> =
            self.copied.body.children(run).to_vec().into_iter().map(|part| self.operand(part)).collect();
        let first = self.f.body.children.len() as u32;
        self.f.body.children.extend(parts);
        self.f.body.child_spans.resize(self.f.body.children.len(), Span::default());
        Run { first, count: run.count }
    }
}
