use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports clobbers other than `"memory"`.
    ///
    /// ## Why is this bad
    /// nvcc refuses them in device code: registers are virtual there, and the carry flag `"cc"` cannot be named.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void add(unsigned &a, unsigned b) { asm("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b) : "cc"); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void add(unsigned &a, unsigned b) { asm("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b)); }
    /// ```
    ///
    /// ## What it may miss
    /// Clobbers that a macro of another file gives.
    name: "asm-clobber",
    code: "P1011",
    former: ["E0612"],
    class: Invalid,
    level: Error,
    summary: "a clobber that device code does not have",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if !unit.compiler.is_nvcc() {
        return;
    }
    for clobber in unit.statement.clobbers.iter().filter(|clobber| !clobber.text.is_empty()) {
        if clobber.text != "memory" {
            out.push(
                RULE.at(clobber.span, format!("device code has no clobber `{}`", clobber.text))
                    .with_help("the only clobber is `\"memory\"`"),
            );
        }
    }
}
