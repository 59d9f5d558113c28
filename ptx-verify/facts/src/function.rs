//! The facts about a function that several analyses share.

use super::mentions::owner;
use super::postdominators::common_successors;
use super::registers::{Definitions, Occurring, RegisterTable, Touched, Uses};
use petgraph::graph::NodeIndex;
use ptx_ir::cfg::{Cfg, Condition};
use ptx_ir::ir::{Body, Function, Handle, Instruction, Module, Operand, Register, RegisterGroup, Variable};
use ptx_ir::isa::{Carry, Control, Instance};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// A function with a body, its control flow, and where things are written. Made once per function and dropped
/// with it.
pub struct FunctionFacts<'m> {
    /// The module.
    pub module: &'m Module,
    /// The function.
    pub function: &'m Function,
    /// Its body.
    pub body: &'m Body,
    /// Its control flow.
    pub cfg: Cfg,
    /// By instruction what it means, where its operands fit: nearly every analysis asks.
    instances: Vec<Option<&'m Instance>>,
    uses: Uses,
    occurring: Rc<Occurring>,
    touched: OnceCell<Touched>,
    definitions: OnceCell<Definitions>,
    carry_writers: OnceCell<Vec<u32>>,
    postdominators: OnceCell<Vec<u32>>,
    reaching_out: OnceCell<Vec<u32>>,
    pointers: OnceCell<FxHashMap<Register, Register>>,
    parameters: OnceCell<FxHashMap<Handle<Variable>, Stores>>,
    address_roots: RefCell<FxHashMap<u32, Option<Register>>>,
    compared: OnceCell<Vec<(u32, Register)>>,
    counts_of_done: OnceCell<Vec<u32>>,
    /// Registers that have a value when the function begins, beside its parameters.
    given_registers: FxHashSet<Register>,
}

/// So many groups of registers are looked for one by one.
const FEW_GROUPS: usize = 8;

/// How a variable of the `.param` space gets its value.
#[derive(Clone, Debug, Default)]
struct Stores {
    instructions: Vec<u32>,
    /// Whether its address is taken, so that it may be written through registers.
    escapes: bool,
}

impl<'m> FunctionFacts<'m> {
    /// The facts about a function; none where it has no body.
    #[must_use]
    pub fn new(module: &'m Module, function: Handle<Function>) -> Option<Self> {
        let body = module.functions[function].body.as_ref()?;
        Some(Self::of_body(module, function, body))
    }

    /// The facts about a function whose body is not in the module.
    #[must_use]
    pub fn of_body(module: &'m Module, function: Handle<Function>, body: &'m Body) -> Self {
        let function = &module.functions[function];
        let instances: Vec<_> = body.instructions.iter().map(|(_, each)| module.instance(each)).collect();
        let cfg = Cfg::of_instances(module, body, instances.iter().copied());
        let uses = Uses::new(module, body, &instances);
        let occurring = Rc::new(Occurring::new(&uses, body));
        Self {
            module,
            function,
            body,
            cfg,
            instances,
            uses,
            occurring,
            touched: OnceCell::new(),
            definitions: OnceCell::new(),
            carry_writers: OnceCell::new(),
            postdominators: OnceCell::new(),
            reaching_out: OnceCell::new(),
            pointers: OnceCell::new(),
            parameters: OnceCell::new(),
            address_roots: RefCell::default(),
            compared: OnceCell::new(),
            counts_of_done: OnceCell::new(),
            given_registers: FxHashSet::default(),
        }
    }

    /// The same for a part of a function, before which these registers are set: every read of one sees the same value.
    #[must_use]
    pub fn with_given(mut self, is_given: impl Fn(Register) -> bool) -> Self {
        self.given_registers = self.registers().filter(|register| is_given(*register)).collect();
        self
    }

    /// Whether a register has a value when the function begins.
    #[must_use]
    pub fn is_set_at_entry(&self, register: Register) -> bool {
        (self.return_registers()..self.entry_registers()).contains(&register.0)
            || self.given_registers.contains(&register)
    }

    /// What an instruction means, where its operands fit.
    #[must_use]
    #[inline]
    pub fn instance(&self, instruction: u32) -> Option<&'m Instance> {
        self.instances[instruction as usize]
    }

    /// The register and the distance of the first address among the operands of an instruction that is in a register.
    #[must_use]
    pub fn address_in_register(&self, instruction: u32) -> Option<(Register, i32)> {
        self.body.operands(Handle::new(instruction)).iter().find_map(|operand| match *operand {
            Operand::RegisterAddress { base, offset, .. } => Some((base, offset)),
            _ => None,
        })
    }

    /// The condition under which an instruction runs.
    #[must_use]
    #[inline]
    pub fn condition(&self, instruction: u32) -> Option<Condition> {
        Condition::of_guard(self.body.instructions[Handle::new(instruction)].guard)
    }

    /// Whether an instruction has a guard, known or not.
    #[must_use]
    #[inline]
    pub fn is_guarded(&self, instruction: u32) -> bool {
        self.body.instructions[Handle::new(instruction)].guard.is_some()
    }

    /// Where control goes after an instruction.
    #[must_use]
    #[inline]
    pub fn control(&self, instruction: u32) -> Control {
        match self.instance(instruction) {
            // A callee may tell that it never comes back.
            Some(instance) if instance.effects.control != Control::Call => instance.effects.control,
            _ => self.module.control(self.body, Self::handle(instruction)),
        }
    }

    /// For each block the nearest other one that all paths from it lead through; the number of blocks where that is the
    /// end of the function, `u32::MAX` where no path leads to that.
    #[must_use]
    pub fn postdominators(&self) -> &[u32] {
        self.postdominators.get_or_init(|| common_successors(&self.cfg, |_, _| true, |_| true))
    }

    /// The instructions that control can come to and that do more than compute registers and choose where control goes, or
    /// of which nothing is known: few of many. They come in order of the blocks, which are in reverse postorder.
    pub fn reaching_out(&self) -> impl Iterator<Item = u32> + '_ {
        let does =
            |instruction: &u32| self.instance(*instruction).is_none_or(|instance| instance.reaches_out);
        let found = self.reaching_out.get_or_init(|| {
            let blocks = self.cfg.reverse_postorder().iter();
            blocks.flat_map(|&block| self.cfg.instructions(block)).filter(does).collect()
        });
        found.iter().copied()
    }

    /// The register that the address of an access comes of, as `find` finds it the first time: the same accesses are compared with
    /// one flag after the other.
    pub(crate) fn address_root(
        &self,
        access: u32,
        find: impl FnOnce() -> Option<Register>,
    ) -> Option<Register> {
        if let Some(&known) = self.address_roots.borrow().get(&access) {
            return known;
        }
        let root = find();
        self.address_roots.borrow_mut().insert(access, root);
        root
    }

    /// Registers that get one pointer, each with the one that it is named by, as `find` finds them the first time.
    pub(crate) fn pointers(
        &self,
        find: impl FnOnce() -> FxHashMap<Register, Register>,
    ) -> &FxHashMap<Register, Register> {
        self.pointers.get_or_init(find)
    }

    /// The comparisons, each with a register that what it reads comes of, as `find` finds them the first time: they are
    /// held against one atomic operation after the other.
    pub(crate) fn compared(&self, find: impl FnOnce() -> Vec<(u32, Register)>) -> &[(u32, Register)] {
        self.compared.get_or_init(find)
    }

    /// The atomic operations that count who is done, as `find` finds them the first time.
    pub(crate) fn counts_of_done(&self, find: impl FnOnce() -> Vec<u32>) -> &[u32] {
        self.counts_of_done.get_or_init(find)
    }

    /// Whether a block ends the whole grid.
    #[must_use]
    pub fn ends_grid(&self, block: NodeIndex) -> bool {
        self.cfg
            .instructions(block)
            .last()
            .is_some_and(|last| self.control(last) == Control::Trap && !self.is_guarded(last))
    }

    /// The operand that each thread gives to a vote, or to a reduction over several threads.
    #[must_use]
    pub fn given(&self, instruction: u32) -> Option<usize> {
        let has_mask = self.instance(instruction)?.lane_mask().is_some();
        self.body.operands(Self::handle(instruction)).len().checked_sub(1 + usize::from(has_mask))
    }

    /// The handle of an instruction.
    #[must_use]
    #[inline]
    pub const fn handle(instruction: u32) -> Handle<Instruction> {
        Handle::new(instruction)
    }

    /// How an instruction uses the carry flag.
    #[must_use]
    #[inline]
    pub fn carry(&self, instruction: u32) -> Option<Carry> {
        if let Some(instance) = self.instance(instruction) {
            return instance.effects.carry;
        }
        let instruction = &self.body.instructions[Handle::new(instruction)];
        let resolved = &self.module.spellings[instruction.spelling].resolved;
        // The flag is a matter of the spelling, so any instance will do.
        resolved.instances.first()?.effects.carry
    }

    /// Whether an instruction is a call.
    #[must_use]
    #[inline]
    pub fn is_call(&self, instruction: u32) -> bool {
        self.instance(instruction).is_some_and(|instance| instance.effects.control == Control::Call)
    }

    /// The instructions that may write a register, ascending.
    #[must_use]
    pub fn definitions(&self, register: Register) -> &[u32] {
        self.definitions.get_or_init(|| Definitions::new(&self.uses, &self.occurring)).of(register)
    }

    /// The registers that each instruction touches.
    #[must_use]
    #[inline]
    pub const fn uses(&self) -> &Uses {
        &self.uses
    }

    /// The registers that a [`RegisterTable`] has entries for, ascending: all that instructions name, at least.
    pub fn registers(&self) -> impl Iterator<Item = Register> {
        self.occurring.iter()
    }

    /// The numbers among [`Self::registers`] of those within a range.
    pub(crate) fn positions(&self, registers: Range<u32>) -> Range<usize> {
        self.occurring.positions(registers)
    }

    /// Whether the number of each register is its own.
    pub(crate) fn are_all_declared(&self) -> bool {
        self.occurring.are_all_declared()
    }

    /// The number of a register among [`Self::registers`].
    #[must_use]
    #[inline]
    pub fn position(&self, register: Register) -> Option<usize> {
        self.occurring.position(register)
    }

    /// A table with the same value for each register.
    #[must_use]
    pub fn table<T: Clone>(&self, value: T) -> RegisterTable<T> {
        RegisterTable::new(Rc::clone(&self.occurring), value)
    }

    /// What happens to each register anywhere in the function.
    #[must_use]
    pub fn touched(&self) -> &Touched {
        self.touched.get_or_init(|| Touched::new(&self.uses, self.body, self.table(0)))
    }

    /// Whether some instruction reads a register that an instruction sets: who only adds to a sum asks nobody what was there.
    #[must_use]
    pub fn is_result_read(&self, instruction: u32) -> bool {
        let mut results = self.uses.of(instruction).iter().filter(|each| each.access().writes()).peekable();
        results.peek().is_some() && {
            let touched = self.touched();
            results.any(|result| touched.is_read_by_operand(result.register))
        }
    }

    /// Those of some groups of registers of which no instruction names any.
    pub fn unnamed<'g>(&self, groups: impl Iterator<Item = &'g RegisterGroup>) -> Vec<&'g RegisterGroup> {
        let range = |group: &RegisterGroup| group.first.0..group.first.0.saturating_add(group.len());
        let mut open: Vec<&RegisterGroup> = groups.collect();
        if open.len() > FEW_GROUPS {
            let touched = self.touched();
            open.retain(|group| !touched.is_named(range(group)));
            return open;
        }
        // Few instructions name one of each, nearly always.
        let guards = self.body.instructions.iter().filter_map(|(_, each)| each.guard?.register);
        for register in self.uses.all().iter().map(|each| each.register).chain(guards) {
            if open.is_empty() {
                break;
            }
            if let Some(place) = open.iter().position(|group| range(group).contains(&register.0)) {
                open.remove(place);
            }
        }
        open
    }

    /// The instructions that write the carry flag, and the calls, which leave it undefined, ascending.
    #[must_use]
    pub fn carry_writers(&self) -> &[u32] {
        self.carry_writers.get_or_init(|| {
            let count = self.body.instructions.len() as u32;
            (0..count).filter(|&index| self.writes_carry(index) || self.is_call(index)).collect()
        })
    }

    /// The instructions that store into a variable of the `.param` space, ascending.
    #[must_use]
    pub fn parameter_writers(&self, variable: Handle<Variable>) -> &[u32] {
        self.parameters().get(&variable).map_or(&[], |stores| &stores.instructions)
    }

    /// Whether the address of a variable is taken.
    #[must_use]
    pub fn escapes(&self, variable: Handle<Variable>) -> bool {
        self.parameters().get(&variable).is_some_and(|stores| stores.escapes)
    }

    fn parameters(&self) -> &FxHashMap<Handle<Variable>, Stores> {
        self.parameters.get_or_init(|| {
            let mut found: FxHashMap<Handle<Variable>, Stores> = FxHashMap::default();
            // Few operands name a variable or hold a list, so that these are looked for among all of the body.
            for (place, &operand) in self.body.operands.iter().enumerate() {
                if let Operand::Variable { .. }
                | Operand::VariableAddress { .. }
                | Operand::Element { .. }
                | Operand::List(_) = operand
                    && let Some((handle, instruction)) = owner(self.body, place)
                {
                    let index = place - instruction.operands.first as usize;
                    self.stores(handle.index() as u32, index, operand, &mut found);
                }
            }
            found
        })
    }

    fn stores(
        &self,
        instruction: u32,
        index: usize,
        operand: Operand,
        found: &mut FxHashMap<Handle<Variable>, Stores>,
    ) {
        match operand {
            Operand::Variable { variable, .. } | Operand::Element { variable, is_value: true, .. } => {
                found.entry(variable).or_default().escapes = true;
            }
            Operand::VariableAddress { variable, .. } | Operand::Element { variable, .. } => {
                let spec = self.instance(instruction).and_then(|instance| instance.operands.get(index));
                // An access that is not understood may be a store.
                if spec.is_none_or(|spec| spec.access.is_none_or(|access| access.writes)) {
                    found.entry(variable).or_default().instructions.push(instruction);
                }
            }
            // The results of a call come first, the arguments behind the callee.
            Operand::List(run) if index == 0 => {
                for child in self.body.children(run) {
                    if let Operand::Variable { variable, .. } = child {
                        found.entry(*variable).or_default().instructions.push(instruction);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether an instruction writes the carry flag.
    #[must_use]
    pub fn writes_carry(&self, instruction: u32) -> bool {
        self.carry(instruction).is_some_and(|carry| carry.writes)
    }

    /// Whether an instruction may write a register.
    #[must_use]
    pub fn writes(&self, instruction: u32, register: Register) -> bool {
        self.uses.of(instruction).iter().any(|each| each.register == register && each.access().writes())
    }

    /// The registers that are set when the function is entered: its parameters in registers.
    #[must_use]
    pub fn entry_registers(&self) -> u32 {
        // Parameters are declared before anything of the body, inputs and outputs in the order of the header.
        let statements = &self.body.statements;
        let declared_in_body = statements.iter().find_map(|statement| match statement {
            ptx_ir::ir::Statement::Registers(group) => Some(self.body.registers[*group].first.0),
            _ => None,
        });
        declared_in_body.unwrap_or(self.body.register_count)
    }

    /// Those of [`Self::entry_registers`] that are return values, which are not set at entry.
    #[must_use]
    pub fn return_registers(&self) -> u32 {
        let mut count = 0;
        for &handle in &self.function.returns {
            let variable = &self.module.variables[handle];
            if variable.space == ptx_ir::space::StateSpace::Reg {
                count += u32::from(variable.elements);
            }
        }
        count
    }
}
