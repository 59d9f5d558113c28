use ptx_syntax::Diagnostic;
use ptx_syntax::cuda::{ExpansionLimit, MAX_EXPANSION_DEPTH, Unexpanded};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports the use of a macro that is not expanded, because it nests too deep or stands for too much text. The asm
    /// statements that it stands for are not verified.
    ///
    /// ## Why is this bad
    /// A few lines can stand for more text than any machine holds, so expansion has to end somewhere, and nothing is
    /// known of what was left out.
    ///
    /// ## Example
    /// ```cuda
    /// #define A0 asm volatile("membar.gl;");
    /// #define A1 A0 A0 A0 A0 A0 A0 A0 A0
    /// #define A2 A1 A1 A1 A1 A1 A1 A1 A1
    /// #define A3 A2 A2 A2 A2 A2 A2 A2 A2
    /// #define A4 A3 A3 A3 A3 A3 A3 A3 A3
    /// #define A5 A4 A4 A4 A4 A4 A4 A4 A4
    /// #define A6 A5 A5 A5 A5 A5 A5 A5 A5
    /// #define A7 A6 A6 A6 A6 A6 A6 A6 A6
    /// __device__ void f() { A7 }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void f() { for (int i = 0; i < 2097152; ++i) asm volatile("membar.gl;"); }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing: every macro with asm statements that reaches a limit is told at its first use.
    name: "asm-unexpanded-macro",
    code: "P1026",
    former: ["H0629"],
    class: Hazard,
    level: Warn,
    summary: "a macro that stands for too much to be verified",
    check: Elsewhere,
}

/// The finding for a use.
pub(crate) fn finding(unexpanded: &Unexpanded) -> Diagnostic {
    let why = match unexpanded.reason {
        ExpansionLimit::Depth => format!("macros are nested more than {MAX_EXPANSION_DEPTH} deep here"),
        ExpansionLimit::Size => "the macros of this file stand for too much text".to_owned(),
    };
    let found = RULE
        .at(unexpanded.call, format!("{why}: what this macro stands for is not verified"))
        .with_help("write the asm statement into a function, and call that");
    match unexpanded.others {
        0 => found,
        1 => found.with_note("and in 1 other use of the macro"),
        others => found.with_note(format!("and in {others} other uses of the macro")),
    }
}
