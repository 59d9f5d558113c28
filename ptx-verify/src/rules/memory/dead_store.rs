use ptx_facts::FunctionFacts;
use ptx_facts::registers::Access;
use ptx_facts::values::{Kind, ValueId};
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Effects;
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;
use crate::subject::producer::Printed;

declare_rule! {
    /// ## What it does
    /// Reports an instruction that only computes a value which nothing reads: on every path the register is set
    /// anew before anything reads it, or nothing reads it any more.
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
    /// A value that only other values need which nothing reads. Functions compiled for a debugger are left alone.
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
    // Who does not know what an instruction reads does not know what nothing reads.
    if facts.uses().all().iter().any(|each| each.access() == Access::Unknown) {
        return;
    }
    let graph = context.graph();
    let search = Search { context, facts, read: graph.read_values() };
    let unread = graph.values().filter(|value| !search.read[value.index()]);
    let mut dead: Vec<u32> = unread.filter_map(|value| search.dead(value)).collect();
    dead.sort_unstable();
    dead.dedup();
    diagnostics.extend(dead.into_iter().filter_map(|instruction| search.explain(instruction)));
}

struct Search<'s, 'a> {
    context: &'s FlowContext<'a>,
    facts: &'s FunctionFacts<'a>,
    /// Of each value of the graph whether anything reads it.
    read: Vec<bool>,
}

impl Search<'_, '_> {
    /// The registers that an instruction sets.
    fn written(&self, instruction: u32) -> impl Iterator<Item = Register> {
        let uses = self.facts.uses().of(instruction).iter();
        uses.filter(|each| each.access().writes()).map(|each| each.register)
    }

    /// Whether nothing reads what an instruction sets. What a function returns in registers its caller reads.
    fn is_unread(&self, instruction: u32) -> bool {
        let (graph, entry) = (self.context.graph(), self.facts.entry_registers());
        self.written(instruction).all(|register| register.0 >= entry)
            && self.facts.uses().range(instruction).all(|at| match graph.written(at) {
                Some(written) => !self.read[written.index()],
                None => true,
            })
    }

    /// The instruction that computes a value, where it does nothing else and nothing reads what it sets.
    fn dead(&self, value: ValueId) -> Option<u32> {
        let Kind::Computed { instruction, at: Some(_) } = self.context.graph().kind(value) else {
            return None;
        };
        (self.effects(instruction)?.is_pure() && self.is_unread(instruction)).then_some(instruction)
    }

    fn explain(&self, instruction: u32) -> Option<Diagnostic> {
        let register = self.written(instruction).next()?;
        let (context, effects) = (self.context, self.effects(instruction)?);
        let name = register_name(context.module.module, context.body, register);
        let span = context.instruction_span(instruction);
        if self.written(instruction).all(|each| !self.facts.touched().is_read(each)) {
            let finding = || RULE.at(span, format!("`{name}` is set here, but nothing reads it"));
            return (!self.is_unwanted_result(instruction)).then(finding);
        }
        // Compilers load a vector whole, and want a part of it.
        if effects.reads_memory {
            return None;
        }
        let Some(next) = self.next_write(instruction, register) else {
            return Some(RULE.at(span, format!("`{name}` is set here, but nothing reads this value")));
        };
        if self.is_printed_zero(instruction) && self.effects(next)?.reads_memory {
            return None;
        }
        let finding = RULE.at(span, format!("`{name}` is set here, but set anew before anything reads it"));
        Some(finding.with_secondary(context.instruction_span(next), "set anew here"))
    }

    fn effects(&self, instruction: u32) -> Option<&Effects> {
        Some(&self.facts.instance(instruction)?.effects)
    }

    /// The next instruction of the block that sets a register.
    fn next_write(&self, instruction: u32, register: Register) -> Option<u32> {
        let block = self.facts.cfg.block_of(Handle::new(instruction));
        let end = self.facts.cfg.instructions(block).end;
        let writes = self.facts.definitions(register);
        let next = *writes.get(writes.partition_point(|&write| write <= instruction))?;
        (next < end).then_some(next)
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
}
