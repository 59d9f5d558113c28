use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::subject::function::FlowContext;
use crate::facts::FunctionFacts;
use crate::facts::registers::RegisterTable;
use crate::subject::describe::register_name;
use crate::subject::producer::Printed;
use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an instruction that only computes a register which nothing reads, or which the same block sets
    /// anew before anything reads it.
    ///
    /// ## Why is this bad
    /// The work is for nothing, or another instruction reads the wrong register.
    ///
    /// ## Example
    /// ```ptx
    /// mov.u32 %r1, 1;
    /// mov.u32 %r1, 2;
    /// st.global.u32 [%rd1], %r1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r1, 2;
    /// st.global.u32 [%rd1], %r1;
    /// ```
    ///
    /// ## What it may miss
    /// A register that is set anew in another block. Functions compiled for a debugger are left alone.
    /// What compilers print whatever the program, where the comment at the head of the file names
    /// the compiler.
    name: "dead-store",
    code: "P0704",
    former: ["S0407"],
    class: Style,
    level: Info,
    summary: "a register that is set and never read",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if context.module.module.header.debug {
        return;
    }
    let entry = facts.entry_registers();
    let suspicious = |register: Register| {
        let definitions = facts.definitions(register);
        let block = |index: usize| facts.cfg.block_of(Handle::new(definitions[index]));
        !definitions.is_empty() && register.0 >= entry && !facts.touched().is_read(register)
            || (1..definitions.len()).any(|index| block(index - 1) == block(index))
    };
    // In the output of a compiler, what is set is read, and not set anew in the same block.
    if !facts.registers().any(suspicious) {
        return;
    }
    let pending = facts.table(NOTHING);
    let mut search = Search { context, facts, entry, pending, written: Vec::new() };
    for block in facts.cfg.graph().node_indices().filter(|&block| facts.cfg.is_reachable(block)) {
        for register in search.written.drain(..) {
            search.pending[register] = NOTHING;
        }
        for instruction in facts.cfg.instructions(block) {
            search.step(instruction, diagnostics);
        }
    }
}

const NOTHING: u32 = u32::MAX;

/// Goes over the instructions of a block.
struct Search<'s, 'a> {
    context: &'s FlowContext<'a>,
    facts: &'s FunctionFacts<'a>,
    /// The registers below this are parameters and results. What a function returns in registers is read by its
    /// caller.
    entry: u32,
    /// The write of each register that nothing has read yet.
    pending: RegisterTable<u32>,
    /// The registers that have such a write.
    written: Vec<Register>,
}

impl Search<'_, '_> {
    fn is_read(&self, register: Register) -> bool {
        register.0 < self.entry || self.facts.touched().is_read(register)
    }

    /// Whether this loads the result of a call, which compilers do whether the caller wants it or not.
    fn is_unwanted_result(&self, instruction: u32) -> bool {
        let module = self.context.module.module;
        let operands = self.context.body.operands(Handle::new(instruction));
        let is_result = operands.iter().any(|operand| match operand {
            Operand::VariableAddress { variable, .. } => {
                let variable = &module.variables[*variable];
                variable.space.base() == StateSpace::Param && !variable.is_parameter
            }
            _ => false,
        });
        is_result && self.context.module.is_printed(Printed::CallResult)
    }

    /// Whether this sets a register to 0, as a compiler does before each load.
    fn is_printed_zero(&self, instruction: u32) -> bool {
        let operands = self.context.body.operands(Handle::new(instruction));
        let zero = matches!(operands, [_, Operand::Integer { bits: 0, .. }]);
        zero && self.context.module.is_printed(Printed::ZeroBeforeLoad)
    }

    fn step(&mut self, instruction: u32, diagnostics: &mut Vec<Diagnostic>) {
        let context = self.context;
        let guard = context.body.instructions[Handle::new(instruction)].guard;
        if let Some(register) = guard.and_then(|guard| guard.register)
            && let Some(slot) = self.pending.get_mut(register)
        {
            *slot = NOTHING;
        }
        let Some(instance) = self.facts.instance(instruction) else { return };
        let uses = self.facts.uses().of(instruction);
        let (mut first, mut count, mut useless) = (None, 0, true);
        for each in uses {
            let access = each.access();
            if !access.writes() || access.reads() {
                self.pending[each.register] = NOTHING;
            }
            if access.writes() {
                first = first.or(Some(each.register));
                count += 1;
                useless &= !access.reads() && !self.is_read(each.register);
            }
        }
        let Some(first) = first else { return };
        let removable = instance.effects.is_pure();
        if removable && useless && self.is_unwanted_result(instruction) {
            return;
        }
        if removable && useless {
            let name = register_name(context.module.module, context.body, first);
            diagnostics.push(RULE.at(
                context.instruction_span(instruction),
                format!("`{name}` is set here, but nothing reads it"),
            ));
            return;
        }
        for each in uses.iter().filter(|each| each.access().writes()) {
            let earlier = std::mem::replace(&mut self.pending[each.register], NOTHING);
            let loaded = instance.effects.reads_memory;
            if earlier != NOTHING && guard.is_none() && !(loaded && self.is_printed_zero(earlier)) {
                diagnostics.push(set_anew(context, each.register, earlier, instruction));
            }
        }
        if count == 1 && removable && !instance.effects.reads_memory {
            self.pending[first] = instruction;
            self.written.push(first);
        }
    }
}

fn set_anew(context: &FlowContext<'_>, register: Register, earlier: u32, instruction: u32) -> Diagnostic {
    let name = register_name(context.module.module, context.body, register);
    let span = context.instruction_span(earlier);
    let finding = RULE.at(span, format!("`{name}` is set here, but set anew before anything reads it"));
    finding.with_secondary(context.instruction_span(instruction), "set anew here")
}
