//! Whether the handles of a module that was read are good, and what the instruction table makes of it.

use std::fmt;

use crate::arena::{Handle, Symbol};
use crate::ir::{
    Body, Function, Instruction, Label, Module, Operand, Register, RegisterGroup, Run, Spelling, Statement,
    TargetList, Variable,
};
use crate::isa::Class;
use crate::lower::Selection;
use crate::visit::{Everything, Rename};

/// Operands in operands deeper than this are in no module.
const MAX_DEPTH: u8 = 32;

/// Why something is no module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// A number is none of an element: of what.
    Handle(&'static str),
    /// Two lists that belong together have different lengths.
    Lengths(&'static str),
    /// The registers of a function are not numbered one after the other.
    Registers,
    /// Statements are not in the order of what they name, or blocks are not closed.
    Statements,
    /// Operands are part of each other.
    Operands,
    /// Declarations of a function come before each other.
    Earlier,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handle(what) => write!(f, "there is no such {what}"),
            Self::Lengths(what) => write!(f, "there are not as many places as {what}"),
            Self::Registers => f.write_str("registers are not numbered one after the other"),
            Self::Statements => f.write_str("statements are not in the order of what they name"),
            Self::Operands => f.write_str("operands are part of each other"),
            Self::Earlier => f.write_str("declarations of a function come before each other"),
        }
    }
}

/// Fails where a handle is not good, or what is numbered in an order is not in it. Then classes of registers and instances of
/// instructions are looked up.
pub(super) fn check(module: &mut Module) -> Result<(), Malformed> {
    let mut handles = Handles {
        symbols: module.symbols.iter().count(),
        spellings: module.spellings.len(),
        variables: module.variables.len(),
        functions: module.functions.len(),
        ..Handles::default()
    };
    for (option, _) in &module.header.options {
        handles.symbol(*option);
    }
    for (name, definition) in module.names.iter() {
        handles.symbol(*name);
        handles.meaning(*definition);
    }
    module.items.iter_mut().for_each(|item| handles.item(item));
    for handle in module.variables.handles() {
        handles.variable_itself(&mut module.variables[handle]);
    }
    for handle in module.functions.handles() {
        let function = &mut module.functions[handle];
        if let Some(body) = &function.body {
            handles.enter(body);
            in_order(body)?;
            operands_are_trees(body)?;
        }
        handles.function_itself(function);
        handles.leave();
    }
    handles.fault.map_or(Ok(()), Err)?;
    earlier_ones_end(module)?;
    look_up(module);
    Ok(())
}

/// How many of each thing there are, and the first handle of none.
#[derive(Default)]
struct Handles {
    symbols: usize,
    spellings: usize,
    variables: usize,
    functions: usize,
    registers: usize,
    labels: usize,
    lists: usize,
    fault: Option<Malformed>,
}

impl Handles {
    fn enter(&mut self, body: &Body) {
        (self.registers, self.labels, self.lists) =
            (body.register_count as usize, body.labels.len(), body.targets.len());
        let statements = body.statements.iter();
        let is_bad = |statement: &Statement| match statement {
            Statement::Registers(group) => body.registers.get(*group).is_none(),
            Statement::Directive(directive) => body.directives.get(*directive).is_none(),
            Statement::Targets(list) => body.targets.get(*list).is_none(),
            _ => false,
        };
        self.note(!statements.into_iter().any(is_bad), "declaration");
        for (_, instruction) in body.instructions.iter() {
            if let Some(register) = instruction.guard.and_then(|guard| guard.register) {
                self.register(register);
            }
        }
        for operand in body.operands.iter().chain(&body.children) {
            if let Operand::VectorRegister { first, count, .. } = operand {
                self.note(first.index() + usize::from(*count) <= self.registers, "register");
            }
        }
    }

    fn leave(&mut self) {
        (self.registers, self.labels, self.lists) = (0, 0, 0);
    }

    fn note(&mut self, is_good: bool, what: &'static str) {
        if !is_good {
            self.fault.get_or_insert(Malformed::Handle(what));
        }
    }
}

impl Rename for Handles {
    fn register(&mut self, register: Register) -> Register {
        self.note(register.index() < self.registers, "register");
        register
    }

    fn label(&mut self, label: Handle<Label>) -> Handle<Label> {
        self.note(label.index() < self.labels, "label");
        label
    }

    fn variable(&mut self, variable: Handle<Variable>) -> Handle<Variable> {
        self.note(variable.index() < self.variables, "variable");
        variable
    }

    fn function(&mut self, function: Handle<Function>) -> Handle<Function> {
        self.note(function.index() < self.functions, "function");
        function
    }

    fn targets(&mut self, list: Handle<TargetList>) -> Handle<TargetList> {
        self.note(list.index() < self.lists, "list of targets");
        list
    }

    fn symbol(&mut self, symbol: Symbol) -> Symbol {
        self.note(symbol.index() < self.symbols, "symbol");
        symbol
    }
}

impl Everything for Handles {
    fn spelling(&mut self, spelling: Handle<Spelling>) -> Handle<Spelling> {
        self.note(spelling.index() < self.spellings, "spelling");
        spelling
    }
}

/// Whether a body has a place for everything, and everything in the order of its numbers.
fn in_order(body: &Body) -> Result<(), Malformed> {
    for (places, things, what) in [
        (body.spans.len(), body.instructions.len(), "instructions"),
        (body.operand_spans.len(), body.operands.len(), "operands"),
        (body.child_spans.len(), body.children.len(), "parts of operands"),
    ] {
        if places != things {
            return Err(Malformed::Lengths(what));
        }
    }
    let mut count = 0_u32;
    for (_, group) in body.registers.iter() {
        if group.first.0 != count || !matches!(group.elements, 1 | 2 | 4) {
            return Err(Malformed::Registers);
        }
        // Lowering has reported what is more than all numbers.
        count = count.checked_add(group.len()).unwrap_or(count);
    }
    if count != body.register_count {
        return Err(Malformed::Registers);
    }
    let mut depth = 0_usize;
    for statement in &body.statements {
        match statement {
            Statement::Open => depth += 1,
            Statement::Close => depth = depth.checked_sub(1).ok_or(Malformed::Statements)?,
            _ => {}
        }
    }
    if depth == 0 && body.is_in_order() { Ok(()) } else { Err(Malformed::Statements) }
}

/// Whether each operand belongs to one instruction, and each part to one operand after it, so that walks over them end.
fn operands_are_trees(body: &Body) -> Result<(), Malformed> {
    let mut end = 0;
    for (_, Instruction { operands, .. }) in body.instructions.iter() {
        let run = range(*operands, body.operands.len())?;
        if run.start < end && !run.is_empty() {
            return Err(Malformed::Operands);
        }
        end = end.max(run.end);
    }
    let mut depths = vec![0_u8; body.children.len()];
    let mut used = vec![false; body.children.len()];
    let listed = body.targets.iter().flat_map(|(_, list)| &list.targets);
    let children = body.children.iter().enumerate();
    let others = body.operands.iter().chain(listed).map(|operand| (body.children.len(), operand));
    for (index, operand) in children.chain(others) {
        let Some(parts) = operand.parts() else { continue };
        let run = range(parts, index)?;
        let inner = depths[run.clone()].iter().max().map_or(0, |depth| depth + 1);
        let is_shared = used[run].iter_mut().any(|used| std::mem::replace(used, true));
        if inner > MAX_DEPTH || is_shared {
            return Err(Malformed::Operands);
        }
        if let Some(depth) = depths.get_mut(index) {
            *depth = inner;
        }
    }
    Ok(())
}

/// The elements of a run, which end at `length`.
fn range(run: Run, length: usize) -> Result<std::ops::Range<usize>, Malformed> {
    let end = (run.first as usize).saturating_add(run.count as usize);
    if end <= length && u32::try_from(end).is_ok() { Ok(run.range()) } else { Err(Malformed::Operands) }
}

/// Whether the declarations before a function end.
fn earlier_ones_end(module: &Module) -> Result<(), Malformed> {
    // The first function from which each one was reached.
    let mut reached: Vec<Option<usize>> = vec![None; module.functions.len()];
    for start in module.functions.handles() {
        let mut next = Some(start);
        while let Some(function) = next {
            match reached[function.index()] {
                None => reached[function.index()] = Some(start.index()),
                Some(from) if from == start.index() => return Err(Malformed::Earlier),
                Some(_) => break,
            }
            next = module.functions[function].earlier;
        }
    }
    Ok(())
}

/// Gives registers the classes of their types, and instructions the instances that their operands fit.
fn look_up(module: &mut Module) {
    let mut selection = Selection::default();
    selection.set_platform(module.header.platform());
    for handle in module.functions.handles() {
        let Some(mut body) = module.functions[handle].body.take() else { continue };
        set_classes(&mut body);
        for each in body.instructions.handles() {
            let Instruction { spelling, operands, .. } = body.instructions[each];
            let operands = &body.operands[operands.range()];
            let selected = selection.select(module, &body, spelling, operands);
            body.instructions[each].instance = selected.instance;
            body.instructions[each].in_manual = selected.in_manual;
        }
        module.functions[handle].body = Some(body);
    }
}

fn set_classes(body: &mut Body) {
    let class_of =
        |body: &Body, register: Register| body.group(register).map_or(Class::Unknown, RegisterGroup::class);
    for each in body.instructions.handles() {
        let guard = body.instructions[each].guard;
        if let Some((register, mut guard)) = guard.and_then(|guard| Some((guard.register?, guard))) {
            guard.class = class_of(body, register);
            body.instructions[each].guard = Some(guard);
        }
    }
    let (mut operands, mut children) =
        (std::mem::take(&mut body.operands), std::mem::take(&mut body.children));
    for operand in operands.iter_mut().chain(&mut children) {
        if let Some((register, class)) = operand.register_and_class() {
            *class = class_of(body, register);
        }
    }
    (body.operands, body.children) = (operands, children);
}
