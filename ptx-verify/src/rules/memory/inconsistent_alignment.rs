use ptx_facts::FunctionFacts;
use ptx_facts::memory::Access;
use ptx_facts::values::ValueId;
use ptx_ir::ir::Handle;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports two accesses behind one register that cannot both be aligned, whatever the register holds: their offsets
    /// do not differ by a multiple of what both need. Control comes to the one from the other.
    ///
    /// ## Why is this bad
    /// An address has to be a multiple of the size of the access, else the behaviour is undefined: the kernel stops with
    /// a misaligned address at one of the two. PTX ISA manual, section "Addresses as Operands".
    ///
    /// ## Example
    /// ```ptx
    /// ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
    /// ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1+4];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
    /// ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1+16];
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that are computed from the register in other instructions, accesses with guards, and those of which
    /// neither lies on all paths to the other.
    name: "inconsistent-alignment",
    code: "P0706",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "two accesses of which one is misaligned, whatever the address",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if !context.accesses().iter().any(Access::stands_out) {
        return;
    }
    let is_asked =
        |access: &&Access| access.aligned.is_power_of_two() && !facts.is_guarded(access.instruction);
    let with_base = context.accesses().iter().filter(is_asked);
    let mut all: Vec<(ValueId, &Access)> =
        with_base.filter_map(|access| Some((access.base?, access))).collect();
    all.sort_by_key(|(base, access)| (*base, access.instruction));
    for group in all.chunk_by(|one, other| one.0 == other.0) {
        if let Some((one, other)) = clash(facts, group)
            && !is_known(one)
            && !is_known(other)
            && context.can_come(other.instruction)
        {
            let needed = one.aligned.min(other.aligned);
            let message =
                format!("this access is misaligned, or the other one is: both need a multiple of {needed}");
            let label = format!("{} bytes from this one", other.distance.abs_diff(one.distance));
            diagnostics.push(RULE.at(other.span, message).with_secondary(one.span, label));
        }
    }
}

/// Whether an access is misaligned by itself, which is told then.
fn is_known(access: &Access) -> bool {
    access.number().ones & u64::from(access.aligned - 1) != 0
}

/// Two accesses from one base that cannot both be aligned, in order of the text.
fn clash<'a>(facts: &FunctionFacts<'_>, group: &[(ValueId, &'a Access)]) -> Option<(&'a Access, &'a Access)> {
    let most = group.iter().map(|(_, access)| access.aligned).max()?;
    let mut needed = 2;
    while needed <= most {
        let mut among = group.iter().map(|(_, access)| *access).filter(|access| access.aligned >= needed);
        let first = among.next()?;
        let other = among.find(|other| {
            let apart = other.distance.abs_diff(first.distance);
            !apart.is_multiple_of(u64::from(needed)) && come_together(facts, first, other)
        });
        if let Some(other) = other {
            return Some((first, other));
        }
        needed = needed.checked_mul(2)?;
    }
    None
}

/// Whether control that comes to the one comes from the other.
fn come_together(facts: &FunctionFacts<'_>, one: &Access, other: &Access) -> bool {
    let block = |access: &Access| facts.cfg.block_of(Handle::new(access.instruction));
    let (one, other) = (block(one), block(other));
    facts.cfg.dominates(one, other) || facts.cfg.dominates(other, one)
}
