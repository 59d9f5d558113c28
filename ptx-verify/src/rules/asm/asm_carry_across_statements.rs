use ptx_syntax::cuda::AsmStatement;
use ptx_syntax::{Applicability, Diagnostic, Edit, Severity, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::stream::{FileUnits, Link, Trouble};

declare_rule! {
    /// ## What it does
    /// Looks at the asm statements of a function, those of helpers and macros of the same file included, as one
    /// stream, and reports carry chains that go from one statement to the next: as an error where a member is not
    /// `volatile`, a carry is continued as a borrow, or a kernel reads a carry that nothing made; as a warning where
    /// some path comes around the statement that makes the carry, a call lies between, or two chains are interleaved so
    /// that the carry of the first is replaced before it is read; as information where the
    /// chain is one of volatile statements, in a straight line or over loops, which works and is widespread.
    ///
    /// ## Why is this bad
    /// The carry flag is no operand, so the compiler does not know that the statements belong together. Statements
    /// that are not `volatile` were seen deleted, merged and reordered, which loses carries without any message.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ unsigned carry_of(unsigned a, unsigned b) {
    ///   unsigned c;
    ///   asm("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
    ///   asm("addc.u32 %0, 0, 0;" : "=r"(c));
    ///   return c;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ unsigned carry_of(unsigned a, unsigned b) {
    ///   unsigned c;
    ///   asm("add.cc.u32 %0, %0, %2; addc.u32 %1, 0, 0;" : "+r"(a), "=r"(c) : "r"(b));
    ///   return c;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Chains through functions of other files. Sums of `__int128` in between: nvcc makes them of instructions that
    /// write the carry. A loop is taken to run at least once. A function whose first statement reads the carry is taken for a
    /// helper, and judged where it is called. A function that inlines tens of thousands of statements of others is
    /// followed up to there.
    name: "asm-carry-across-statements",
    code: "P1008",
    former: ["H0608"],
    class: Hazard,
    level: Error,
    summary: "a carry chain over several asm statements",
    check: AsmFile(check),
}

fn check(units: &FileUnits<'_>, out: &mut Vec<Diagnostic>) {
    for link in units.links() {
        out.extend(finding(units, &link));
    }
}

fn finding(units: &FileUnits<'_>, link: &Link) -> Option<Diagnostic> {
    let reader = units.summaries.get(&link.reader)?.needs.as_ref()?;
    let place = reader.place;
    let reads = format!("`{}` reads the carry", reader.text);
    let at = |severity: Severity, message: String| Diagnostic { severity, ..RULE.at(place, message) };
    let Some(writer) = link.writer else {
        if link.trouble == Trouble::NotVolatile {
            let message = format!("{reads} of some other statement, and is not `volatile`");
            return Some(
                at(Severity::Error, message)
                    .with_note("the compiler may delete, merge or reorder statements that are not `volatile`")
                    .with_help("begin the chain with an instruction `.cc` in the same statement"),
            );
        }
        return Some(
            at(Severity::Error, format!("{reads}, and no statement of this kernel makes one"))
                .with_help("begin the chain with an instruction `.cc`, best in the same statement"),
        );
    };
    let producer = units.summaries.get(&writer)?.leaves.as_ref()?.place;
    let with = |found: Diagnostic| found.with_secondary(producer, "the carry comes from here");
    Some(match link.trouble {
        Trouble::Polarity => with(at(
            Severity::Error,
            format!("{reads} of another statement, which is of the other kind: a carry is no borrow"),
        ))
        .with_note("after `add.cc` only `addc` and `madc` may follow, after `sub.cc` only `subc`"),
        Trouble::NotVolatile => {
            let found = with(at(
                Severity::Error,
                format!("{reads} of another statement, and not both are `volatile`"),
            ))
            .with_note("the compiler may delete, merge or reorder statements that are not `volatile`")
            .with_help("put the whole chain into one statement, or make all its members `volatile`");
            with_volatile(found, [link.reader, writer].map(|id| units.file.statement(id)))
        }
        Trouble::Around(span) => {
            with(at(Severity::Warning, format!("{reads} of another statement, which not every path comes through")))
                .with_secondary(Span::at(span.start), "this may be passed by")
                .with_help("put the whole chain into one statement")
        }
        Trouble::Call(span) => {
            with(at(Severity::Warning, format!("{reads} of another statement over a call")))
                .with_secondary(span, "not `__forceinline__`: compiled with `-G`, the call loses the carry")
                .with_help("put the whole chain into one statement, or mark the function `__forceinline__`")
        }
        Trouble::ControlFlow(span) => {
            with(at(Severity::Info, format!("{reads} of another statement over control flow")))
                .with_secondary(Span::at(span.start), "control flow lies between")
                .with_note(
                    "volatile statements keep their order, and CUDA 13.5 keeps the carry over loops and branches, also \
                     with `-G`; the manual speaks of straight lines only",
                )
        }
        Trouble::Lost(statement) => {
            let leaves = units.summaries.get(&statement).and_then(|summary| summary.leaves.as_ref());
            let lost = leaves.map(|point| point.place);
            let found = with(at(
                Severity::Warning,
                format!("{reads} of another statement, which is read twice and replaced one that nothing had read"),
            ))
            .with_help("continue each chain before the next one begins, best in one statement");
            match lost {
                Some(span) => found.with_secondary(span, "the carry of this is lost"),
                None => found,
            }
        }
        Trouble::None => with(at(Severity::Info, format!("{reads} of another statement")))
            .with_note("a straight line of `volatile` statements keeps its order, so the chain works"),
    })
}

fn with_volatile(found: Diagnostic, members: [&AsmStatement; 2]) -> Diagnostic {
    let mut edits: Vec<Edit> = Vec::new();
    for statement in members {
        if statement.variant > 0 || statement.is_of_macro() {
            return found;
        }
        if !statement.volatile {
            edits.push(Edit { span: Span::at(statement.after_qualifiers), replacement: " volatile".into() });
        }
    }
    edits.sort_by_key(|edit| edit.span);
    edits.dedup();
    found.with_fix("write `volatile`", Applicability::Certain, edits)
}
