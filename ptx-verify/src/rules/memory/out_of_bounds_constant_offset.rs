use petgraph::graph::NodeIndex;
use ptx_facts::memory::Access;
use ptx_ir::ir::{FunctionKind, Handle, Module, Variable};
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a memory access at a constant offset that lies outside of its variable, wholly or in part. It is
    /// a warning for parameters, which lie beside each other, and for `.global` variables,
    /// which lie among others, so that the access itself does not fail. It is one, too, where a compiler has printed the
    /// module and the access is under a condition: what the compiler could not decide may never hold.
    ///
    /// ## Why is this bad
    /// It reads or writes another variable, or nothing at all. The assembler does not check it.
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 4 .b8 buffer[16];
    /// ld.shared.u32 %r1, [buffer+16];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 4 .b8 buffer[20];
    /// ld.shared.u32 %r1, [buffer+16];
    /// ```
    ///
    /// ## What it may miss
    /// The last elements of a vector that a load drops with `_` are taken for not read.
    /// Offsets that are no constants, and variables of other modules, whose size the declaration may not tell. Copies of the
    /// body of a loop that a compiler has unrolled: it knew from above only how many rounds there are.
    name: "out-of-bounds-constant-offset",
    code: "P0702",
    former: ["H0321"],
    class: Hazard,
    level: Error,
    summary: "an access outside of its variable",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for access in context.accesses() {
        let Some(variable) = access.variable() else { continue };
        let variable = &context.module.module.variables[variable];
        let (Some(size), Some(offset)) = (variable.size(), access.offset()) else { continue };
        let room = i128::from(room(context.module.module, variable, size));
        let (size, bytes) = (i128::from(size), i128::from(access.used));
        let offset = i128::from(offset);
        if bytes == 0 || (offset >= 0 && offset + bytes <= room) || !context.can_come(access.instruction) {
            continue;
        }
        let may_be_dead = context.may_be_dead(access.instruction);
        if may_be_dead && is_unrolled_copy(context, access) {
            continue;
        }
        let name = context.module.module.name(variable.name);
        let label = if offset < 0 {
            format!("begins {} bytes before it", -offset)
        } else if offset >= size {
            format!("begins {} bytes after its end", offset - size)
        } else {
            format!("ends {} bytes after its end", offset + bytes - size)
        };
        let mut finding =
            RULE.at(access.span, format!("this access of {bytes} bytes lies outside of `{name}`"));
        if matches!(variable.space.base(), StateSpace::Param | StateSpace::Global) || may_be_dead {
            finding.severity = Severity::Warning;
        }
        diagnostics.push(
            finding.with_label(label).with_secondary(variable.span, format!("`{name}` has {size} bytes")),
        );
    }
}

/// Whether an access is in a copy of the body of an unrolled loop, in which another round has the same variable.
fn is_unrolled_copy(context: &FlowContext<'_>, access: &Access) -> bool {
    let is_copy = context.ask_values(|engine| {
        let block_of = |instruction| engine.facts().cfg.block_of(Handle::new(instruction));
        let is_like = |block: NodeIndex| {
            let mut accesses = context.accesses().iter();
            accesses
                .any(|other| other.variable() == access.variable() && block_of(other.instruction) == block)
        };
        engine.is_unrolled_copy(block_of(access.instruction), is_like)
    });
    is_copy == Some(true)
}

/// How many bytes there are. Parameters of functions and arguments of calls travel in registers of 32 bits: all of
/// the last one is there, and clang, which declares a vector of `i1` too short, gets its values across. A larger
/// alignment takes as many more, and clang loads the padding of a struct with its members. The parameters of a
/// kernel lie in memory, one after the other.
fn room(module: &Module, variable: &Variable, size: u64) -> u64 {
    const REGISTER: u64 = 4;
    let owner = variable.function.map(|owner| module.functions[owner].kind);
    let of_kernel = variable.is_parameter && owner == Some(FunctionKind::Entry);
    if variable.space.base() == StateSpace::Param && !of_kernel {
        size.checked_next_multiple_of(u64::from(variable.alignment()).max(REGISTER)).unwrap_or(size)
    } else {
        size
    }
}
