//! What has to be known of a body to put it in place of a call: its parameters, its names, its returns and its calls.

use ptx_ir::ir::{
    Body, Function, Handle, Instruction, Module, Operand, Spelling, Statement, Symbol, Variable,
};
use ptx_ir::isa::Control;
use ptx_ir::space::StateSpace;
use ptx_ir::types::Type;
use ptx_syntax::Span;
use rustc_hash::FxHashSet;

use super::describe::register_name;

/// Bytes of the largest part of a parameter that is copied, and how many parts are.
const LARGEST_PART: u64 = 8;
const MAX_PARTS: usize = 64;

/// A body as far as it matters for its calls and for those of it.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    /// From `{` to `}`.
    pub(crate) span: Span,
    /// How many instructions there are.
    pub(crate) instructions: usize,
    pub(crate) results: Vec<Formal>,
    pub(crate) parameters: Vec<Formal>,
    /// The places that become something else, in order of the text.
    pub(crate) changes: Vec<Change>,
    /// Whether an instruction takes part in a protocol of several threads or of operations that run on their own.
    pub(crate) takes_part: bool,
    names: Names,
    /// The names of what the module declares and the body uses.
    used: Vec<Box<str>>,
}

/// A parameter or a result.
#[derive(Clone, Debug)]
pub(crate) struct Formal {
    pub(crate) name: Box<str>,
    pub(crate) place: FormalPlace,
}

/// Where a parameter is.
#[derive(Clone, Debug)]
pub(crate) enum FormalPlace {
    /// In a register of a type.
    Register(Type),
    /// In memory: its bytes, its alignment, and the parts that the body loads or stores: their places and bytes.
    Memory(u64, u32, Vec<(u64, u64)>),
}

/// A place of a body that becomes something else in a copy.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A return, and its opcode.
    Return(Span, Box<str>),
    /// A call of a function that is known.
    Call(Site),
    /// A call that may take part in a protocol and is not understood.
    Unknown(Span),
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) span: Span,
    /// The predicate of its guard, and whether it is the opposite.
    pub(crate) guard: Option<(String, bool)>,
    pub(crate) callee: Handle<Function>,
    pub(crate) results: Vec<Actual>,
    pub(crate) arguments: Vec<Actual>,
}

/// What a call gives for a parameter or takes from a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Actual {
    pub(crate) span: Span,
    pub(crate) kind: ActualKind,
}

/// What kind of operand that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActualKind {
    /// A register or a number.
    Value,
    /// A variable in parameter space.
    Memory,
    /// Nobody wants it.
    Sink,
}

/// The names that a body declares.
#[derive(Clone, Debug, Default)]
struct Names {
    all: FxHashSet<Box<str>>,
    /// `%r` of `%r<5>`, with the number of them.
    ranges: Vec<(Box<str>, u32)>,
}

impl Names {
    fn has(&self, name: &str) -> bool {
        let is_member = |(range, count): &(Box<str>, u32)| {
            let number = name.strip_prefix(&**range).and_then(|number| number.parse::<u32>().ok());
            number.is_some_and(|number| number < *count)
        };
        self.all.contains(name) || self.ranges.iter().any(is_member)
    }
}

impl Outline {
    /// The outline of a body; none where it has memory that all calls share, or is not understood. `called` tells the
    /// definition that a call goes to, and `acts` whether it may act on what runs on its own; `is_part`
    /// tells what takes part in a protocol.
    pub(crate) fn of(
        module: &Module,
        function: Handle<Function>,
        body: &Body,
        called: impl Fn(Handle<Instruction>) -> Option<Handle<Function>>,
        acts: impl Fn(Handle<Instruction>) -> bool,
        is_part: impl Fn(&Spelling) -> bool,
    ) -> Option<Self> {
        if body.span.len() < 2 {
            return None;
        }
        let declared = &module.functions[function];
        let formals = |all: &[Handle<Variable>]| -> Option<Vec<Formal>> {
            all.iter().map(|&formal| Formal::of(module, body, formal)).collect()
        };
        let (mut changes, mut takes_part) = (Vec::new(), false);
        for (handle, instruction) in body.instructions.iter() {
            let instance = module.instance(instruction)?;
            let spelling = &module.spellings[instruction.spelling];
            takes_part |= is_part(spelling);
            match instance.effects.control {
                Control::Return => {
                    let opcode = spelling.text.split('.').next().unwrap_or_default();
                    changes.push(Change::Return(body.span(handle), opcode.into()));
                }
                Control::Call => {
                    match called(handle).and_then(|callee| Site::of(module, body, handle, callee)) {
                        Some(site) => changes.push(Change::Call(site)),
                        None if acts(handle) => changes.push(Change::Unknown(body.span(handle))),
                        None => {}
                    }
                }
                _ => {}
            }
        }
        let is_kernel = declared.kind == ptx_ir::ir::FunctionKind::Entry;
        let (results, parameters) = match is_kernel {
            true => (Vec::new(), Vec::new()),
            false => (formals(&declared.returns)?, formals(&declared.parameters)?),
        };
        let mut names = Names::default();
        let name = |symbol: Symbol| -> Box<str> { module.name(symbol).into() };
        for (_, group) in body.registers.iter() {
            match group.range {
                Some(count) => names.ranges.push((name(group.name), count)),
                None => drop(names.all.insert(name(group.name))),
            }
        }
        names.all.extend(body.labels.iter().map(|(_, label)| name(label.name)));
        for &formal in declared.returns.iter().chain(&declared.parameters) {
            names.all.insert(name(module.variables[formal].name));
        }
        for statement in &body.statements {
            if let Statement::Variable(variable) = *statement {
                let variable = &module.variables[variable];
                if !is_kernel && !matches!(variable.space, StateSpace::Local | StateSpace::Param) {
                    return None;
                }
                names.all.insert(name(variable.name));
            }
        }
        let mut used = FxHashSet::default();
        for operand in body.operands.iter().chain(&body.children) {
            match *operand {
                Operand::Function(function) => drop(used.insert(module.functions[function].name)),
                Operand::Unknown(_) => return None,
                _ => {
                    let outer = operand.variable().map(|variable| &module.variables[variable]);
                    used.extend(outer.filter(|each| each.function.is_none()).map(|each| each.name));
                }
            }
        }
        Some(Self {
            span: body.span,
            instructions: body.instructions.len(),
            results,
            parameters,
            changes,
            takes_part,
            names,
            used: used.into_iter().map(name).collect(),
        })
    }

    /// Whether a name that another body uses means something else within this one.
    pub(crate) fn hides_names_of(&self, other: &Self) -> bool {
        other.used.iter().any(|name| self.names.has(name))
    }
}

impl Formal {
    fn of(module: &Module, body: &Body, handle: Handle<Variable>) -> Option<Self> {
        let formal = &module.variables[handle];
        let is_scalar = formal.dimensions.is_empty() && formal.elements == 1;
        let place = match formal.space.base() {
            StateSpace::Reg if is_scalar => FormalPlace::Register(formal.ty),
            StateSpace::Param => {
                FormalPlace::Memory(formal.size()?, formal.alignment(), parts_of(module, body, handle)?)
            }
            _ => return None,
        };
        formal.member.is_none().then(|| Self { name: module.name(formal.name).into(), place })
    }
}

/// The parts of a parameter in memory that a body loads or stores; none where that is not known.
fn parts_of(module: &Module, body: &Body, handle: Handle<Variable>) -> Option<Vec<(u64, u64)>> {
    let names = |operand: &Operand| operand.variable() == Some(handle);
    let mut parts = Vec::new();
    // A call hands on all of it.
    if body.children.iter().any(names) {
        let formal = &module.variables[handle];
        let bytes = formal.size()?;
        let fits = |part: &u64| u64::from(formal.alignment()) % part == 0 && bytes % part == 0;
        let part = [LARGEST_PART, 4, 2, 1].into_iter().find(fits)?;
        parts.extend((0..bytes / part).take(MAX_PARTS + 1).map(|number| (number * part, part)));
    }
    for (at, instruction) in body.instructions.iter() {
        let operands = body.operands(at);
        let Some(index) = operands.iter().position(names) else { continue };
        let Operand::VariableAddress { offset, .. } = operands[index] else { return None };
        let instance = module.instance(instruction)?;
        let part = u64::from(instance.ty?.bytes()?);
        let all = u64::from(instance.operands.get(index)?.access?.bytes);
        if part == 0 || part > LARGEST_PART {
            return None;
        }
        let first = u64::try_from(offset).ok()?;
        parts.extend((0..all / part).map(|number| (first + number * part, part)));
    }
    parts.sort_unstable();
    parts.dedup();
    (parts.len() <= MAX_PARTS).then_some(parts)
}

impl Site {
    fn of(module: &Module, body: &Body, call: Handle<Instruction>, callee: Handle<Function>) -> Option<Self> {
        let operands = body.operands(call);
        let named = operands.iter().position(|operand| matches!(operand, Operand::Function(_)))?;
        if named > 1 || named + 2 < operands.len() {
            return None;
        }
        let list = |operand: Option<&Operand>| match operand {
            Some(Operand::List(run)) => {
                let spans = body.child_spans.get(run.range())?;
                let both = body.children(*run).iter().zip(spans);
                both.map(|(operand, span)| Actual::of(module, *operand, *span)).collect()
            }
            None => Some(Vec::new()),
            Some(_) => None,
        };
        let guard = match body.instructions[call].guard {
            Some(guard) => Some((register_name(module, body, guard.register?), guard.negated)),
            None => None,
        };
        let (results, arguments) = (list(operands[..named].last())?, list(operands.get(named + 1))?);
        Some(Self { span: body.span(call), guard, callee, results, arguments })
    }
}

impl Actual {
    fn of(module: &Module, operand: Operand, span: Span) -> Option<Self> {
        let kind = match operand {
            Operand::Sink => ActualKind::Sink,
            Operand::Variable { variable, offset: 0, .. }
                if module.variables[variable].space.base() == StateSpace::Param =>
            {
                ActualKind::Memory
            }
            Operand::VectorRegister { .. } | Operand::Vector(_) | Operand::List(_) | Operand::Unknown(_) => {
                return None;
            }
            _ => ActualKind::Value,
        };
        Some(Self { span, kind })
    }
}
