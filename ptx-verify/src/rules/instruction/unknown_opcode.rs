use ptx_ir::isa::{SpellingProblem, resolve};
use ptx_ir::space::StateSpace;
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports an instruction whose opcode, the word before the first dot, no version of PTX has.
    ///
    /// ## Why is this bad
    /// The module does not assemble. Opcodes are lower case; those of the machine code (`IADD3`) are not PTX.
    ///
    /// ## Example
    /// ```ptx
    /// ad.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Instructions newer than the instruction table are reported although a newer assembler has them.
    name: "unknown-opcode",
    code: "P0203",
    former: ["E0201"],
    class: Invalid,
    level: Error,
    summary: "an instruction that PTX does not have",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Spelling(SpellingProblem::UnknownOpcode { range, nearest }) = occurrence.problem else {
        return None;
    };
    let opcode = occurrence.part(range);
    let finding = RULE.at(occurrence.place(range), format!("PTX has no instruction `{opcode}`"));
    let lower = opcode.to_ascii_lowercase();
    if StateSpace::parse(&format!(".{opcode}")).is_some() {
        let edit = Edit { span: Span::at(occurrence.spelling_span().start), replacement: ".".into() };
        return Some(finding.with_help(format!("a declaration begins with a dot: `.{opcode}`")).with_fix(
            "insert the dot",
            Applicability::Likely,
            vec![edit],
        ));
    }
    Some(match nearest {
        Some(nearest) if *nearest == lower => {
            let spelling = occurrence.name().to_ascii_lowercase();
            let finding = finding.with_help("opcodes are written in lower case");
            occurrence.with_spelling(finding, &spelling, Applicability::Certain)
        }
        Some(nearest) => {
            let spelling = format!("{nearest}{}", &occurrence.name()[range.end..]);
            let finding = finding.with_help(format!("an instruction that is spelled alike: `{nearest}`"));
            // With other modifiers it is no instruction either.
            if resolve(&spelling).instances.is_empty() {
                return Some(finding);
            }
            occurrence.with_spelling(finding, &spelling, Applicability::Likely)
        }
        None => finding,
    })
}
