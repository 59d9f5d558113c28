//! Where the functions of a module name something that is no register and no number.
//!
//! Most operands are registers and numbers, so rules about variables, labels, functions and special registers go over
//! this list rather than over all operands.

use ptx_ir::ir::{Body, Handle, Initializer, Instruction, Module, Operand, Symbol, Variable};
use ptx_ir::special::SpecialRegister;
use ptx_syntax::Span;
use rustc_hash::FxHashSet;

/// Where a body names something else than a register or a number.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// Indices into [`Body::operands`].
    operands: Vec<u32>,
    /// Indices into [`Body::children`].
    children: Vec<u32>,
}

impl Mentions {
    /// The mentions of a body.
    pub fn of(body: &Body) -> Self {
        Self { operands: places(&body.operands), children: places(&body.children) }
    }

    /// The operands of instructions, with their indices into [`Body::operands`].
    pub fn operands<'a>(&'a self, body: &'a Body) -> impl Iterator<Item = (usize, Operand)> + 'a {
        self.operands.iter().map(|&index| (index as usize, body.operands[index as usize]))
    }

    /// The operands of instructions and the parts of lists.
    pub fn all<'a>(&'a self, body: &'a Body) -> impl Iterator<Item = Operand> + 'a {
        let children = self.children.iter().map(|&index| body.children[index as usize]);
        self.operands(body).map(|(_, operand)| operand).chain(children)
    }

    /// The same with the place of each.
    pub(crate) fn placed<'a>(&'a self, body: &'a Body) -> impl Iterator<Item = (Operand, Span)> + 'a {
        let span = |spans: &'a [Span], index: usize| spans.get(index).copied().unwrap_or_default();
        let children = self
            .children
            .iter()
            .map(move |&index| (body.children[index as usize], span(&body.child_spans, index as usize)));
        self.operands(body)
            .map(move |(index, operand)| (operand, span(&body.operand_spans, index)))
            .chain(children)
    }
}

/// Shows every special register that a body names, with its place.
pub fn each_special_register(body: &Body, mentions: &Mentions, mut show: impl FnMut(SpecialRegister, Span)) {
    for (operand, span) in mentions.placed(body) {
        if let Operand::Special(register) = operand {
            show(register, span);
        }
    }
}

/// The variables and functions that a part of a module names, in instructions and in initial values.
#[derive(Clone, Debug, Default)]
pub struct Used {
    variables: FxHashSet<Handle<Variable>>,
    /// Functions by name: a declaration and a definition are one function.
    functions: FxHashSet<Symbol>,
}

impl Used {
    /// Adds what a body names.
    pub fn add_body(&mut self, module: &Module, body: &Body, mentions: &Mentions) {
        let listed = body.targets.iter().flat_map(|(_, list)| list.targets.iter().copied());
        for operand in mentions.all(body).chain(listed) {
            match operand {
                Operand::Variable { variable, .. }
                | Operand::VariableAddress { variable, .. }
                | Operand::Element { variable, .. } => {
                    self.variables.insert(variable);
                }
                Operand::Function(function) => {
                    self.functions.insert(module.functions[function].name);
                }
                _ => {}
            }
        }
    }

    /// Adds what an initial value names.
    pub fn add_initializer(&mut self, module: &Module, initializer: &Initializer) {
        match initializer {
            Initializer::Variable { variable, .. } => {
                self.variables.insert(*variable);
            }
            Initializer::Function { function, .. } => {
                self.functions.insert(module.functions[*function].name);
            }
            Initializer::List(list) => {
                let named = list.iter().filter(|each| !matches!(each, Initializer::Integer { .. }));
                named.for_each(|each| self.add_initializer(module, each));
            }
            Initializer::Integer { .. }
            | Initializer::Decimal(_)
            | Initializer::SingleBits(_)
            | Initializer::DoubleBits(_)
            | Initializer::Field(..)
            | Initializer::NumberField(..)
            | Initializer::Unknown => {}
        }
    }

    /// Adds a function that is named elsewhere.
    pub fn add_function(&mut self, name: Symbol) {
        self.functions.insert(name);
    }

    /// Adds what another part names. What belongs to that part alone is left out: `declared` tells how many variables the
    /// module has without it.
    pub fn add(&mut self, other: &Self, declared: usize) {
        self.variables.extend(other.variables.iter().filter(|variable| variable.index() < declared));
        self.functions.extend(&other.functions);
    }

    /// Whether a variable is named.
    pub fn has_variable(&self, variable: Handle<Variable>) -> bool {
        self.variables.contains(&variable)
    }

    /// Whether a function of that name is named.
    pub fn has_function(&self, name: Symbol) -> bool {
        self.functions.contains(&name)
    }
}

fn places(operands: &[Operand]) -> Vec<u32> {
    let is_else = |operand: &Operand| {
        !matches!(
            operand,
            Operand::Register { .. }
                | Operand::RegisterAddress { .. }
                | Operand::Integer { .. }
                | Operand::Decimal(_)
                | Operand::SingleBits(_)
                | Operand::DoubleBits(_)
        )
    };
    let all = operands.iter().enumerate();
    all.filter(|(_, operand)| is_else(operand)).map(|(index, _)| index as u32).collect()
}

/// The instruction that the operand at an index of [`Body::operands`] belongs to.
pub fn owner(body: &Body, index: usize) -> Option<(Handle<Instruction>, &Instruction)> {
    let (mut low, mut high) = (0, body.instructions.len());
    while low < high {
        let middle = low.midpoint(high);
        if body.instructions[Handle::new(middle as u32)].operands.first as usize <= index {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let handle = Handle::new(low.checked_sub(1)? as u32);
    let instruction = &body.instructions[handle];
    instruction.operands.range().contains(&index).then_some((handle, instruction))
}
