//! Budgets beside kernels, `// ptx-budget: registers <= 64, spill = 0`, and of `ptx.toml`.
//!
//! What a comment limits the project does not limit for its kernel: the more particular word counts. A comment in a
//! kernel, or between the one before and this, speaks of this kernel; in CUDA C++ of all that is made of a template, and
//! of all kernels of one name. `=` is as good as `<=`: a kernel that needs less is welcome.

use ptx_emit::assemble::{Budget, Excess, Figure, Report, UnknownFigure};
use ptx_ir::ir::FunctionKind;
use ptx_ir::lower::lower;
use ptx_project::config::BudgetContents;
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Class, Diagnostic, LineIndex, Severity, Span, cuda};

use super::names;
use crate::foreign::line;
use crate::source::{Kind, Source};

const WORD: &str = "ptx-budget:";

/// The budgets of a text.
#[derive(Debug, Default)]
pub struct Budgets {
    /// That of all kernels.
    project: Budget,
    written: Vec<Written>,
    /// A sentence for each comment that cannot be understood.
    pub wrong: Vec<String>,
    /// Where the names of kernels are.
    kernels: Vec<(String, Span)>,
    /// Whether these are names as C++ writes them, without namespaces and arguments.
    of_cuda: bool,
}

/// The budget of a kernel.
#[derive(Debug)]
struct Written {
    kernel: String,
    budget: Budget,
    /// The comment.
    span: Span,
}

impl Budgets {
    /// Reads the comments of a text; `project` is for all kernels.
    pub fn of(source: &Source, project: Budget) -> Self {
        let text = &source.text;
        let mut found = Self { project, ..Self::default() };
        found.of_cuda = source.kind == Kind::Cuda;
        let comments = if found.of_cuda { found.read_cuda(text) } else { found.read_ptx(text) };
        let index = LineIndex::new(text);
        for (comment, is_inside) in comments {
            let span = comment;
            let before = found.kernels.partition_point(|(_, name)| name.start < span.start);
            let place = if is_inside { before.checked_sub(1) } else { Some(before) };
            let kernel = place.and_then(|place| found.kernels.get(place)).map(|(name, _)| name.clone());
            let read = budget(comment.text(text)).and_then(|budget| {
                let kernel = kernel.ok_or_else(|| "no kernel follows".to_owned())?;
                Ok(Written { kernel, budget, span })
            });
            match read {
                Ok(written) => found.written.push(written),
                Err(why) => {
                    let at = index.position(span.start).line;
                    found
                        .wrong
                        .push(format!("cannot judge the budget in `{}`, line {at}: {why}", source.name));
                }
            }
        }
        found
    }

    /// Notes the kernels of PTX; the comments that set a budget, and whether each is in a function.
    fn read_ptx(&mut self, text: &str) -> Vec<(Span, bool)> {
        let parse = ptx_syntax::parse(text);
        let module = lower(&parse.tree, text).module;
        let kernels = module.functions.iter().map(|(_, function)| function);
        let kernels = kernels.filter(|function| function.kind == FunctionKind::Entry);
        self.kernels =
            kernels.map(|function| (module.name(function.name).to_owned(), function.span)).collect();
        comments(text)
    }

    /// The same of CUDA C++.
    fn read_cuda(&mut self, text: &str) -> Vec<(Span, bool)> {
        let kernels = cuda::kernels(text);
        let is_inside = |comment: Span| {
            let before = kernels.partition_point(|kernel| kernel.name.start < comment.start);
            before.checked_sub(1).is_some_and(|at| comment.start < kernels[at].span.end)
        };
        let comments = cuda::all_comments(text).into_iter().filter(|comment| sets_budget(comment.text(text)));
        let comments = comments.map(|comment| (comment, is_inside(comment))).collect();
        self.kernels =
            kernels.iter().map(|kernel| (kernel.name.text(text).to_owned(), kernel.name)).collect();
        comments
    }

    /// Whether a kernel of the source is what a report calls by a name.
    fn is(&self, kernel: &str, function: &str) -> bool {
        kernel == function || (self.of_cuda && names::plain(function).as_deref() == Some(kernel))
    }

    /// What a configuration file limits for all kernels.
    #[must_use]
    pub const fn limits(contents: BudgetContents) -> Budget {
        Budget {
            registers: contents.registers,
            spill_bytes: contents.spill,
            stack_bytes: contents.stack,
            shared_bytes: contents.shared,
        }
    }

    /// What kernels of a report need too much of, and which figures nobody knows.
    pub fn judge(&self, report: &Report) -> (Vec<Excess>, Vec<UnknownFigure>) {
        let (mut excesses, mut unjudged) = (Vec::new(), Vec::new());
        for Written { kernel, budget, .. } in &self.written {
            excesses.extend(
                budget.excesses(report).into_iter().filter(|excess| self.is(kernel, &excess.function)),
            );
            unjudged.extend(
                budget.unjudged(report).into_iter().filter(|unknown| self.is(kernel, &unknown.function)),
            );
        }
        let is_written = |function: &str, figure: Figure| {
            let mut written = self.written.iter().filter(|written| self.is(&written.kernel, function));
            written.any(|written| written.budget.limit(figure).is_some())
        };
        let of_project = self.project.excesses(report).into_iter();
        excesses.extend(of_project.filter(|excess| !is_written(&excess.function, excess.figure)));
        let of_project = self.project.unjudged(report).into_iter();
        unjudged.extend(of_project.filter(|unknown| !is_written(&unknown.function, unknown.figure)));
        (excesses, unjudged)
    }

    /// An excess as a finding: at the comment that sets the limit, or else at the kernel.
    pub fn finding(&self, excess: &Excess) -> Diagnostic {
        let written = self.written.iter().find(|written| self.is(&written.kernel, &excess.function));
        let kernel = self.kernels.iter().find(|(name, _)| self.is(name, &excess.function));
        let span = written.map(|written| written.span).or(kernel.map(|(_, span)| *span));
        let message = format!(
            "`{}` needs {} {} for {}, allowed are {}",
            line(&names::shown(&excess.function)),
            excess.value,
            excess.figure.unit(),
            excess.target,
            excess.limit
        );
        let span = span.unwrap_or(Span::at(0));
        Diagnostic::new(Class::Hazard, Severity::Error, "budget", "budget", span, message)
    }
}

fn sets_budget(comment: &str) -> bool {
    comment.trim_start_matches(['/', '*']).trim_start().starts_with(WORD)
}

/// The comments that set a budget, and whether each is in a function.
fn comments(text: &str) -> Vec<(Span, bool)> {
    let mut found = Vec::new();
    let (mut depth, mut is_inside) = (0_usize, false);
    for token in Lexer::new(text) {
        match token.kind {
            TokenKind::LineComment | TokenKind::BlockComment if sets_budget(token.span.text(text)) => {
                found.push((token.span, is_inside));
            }
            TokenKind::Entry | TokenKind::Func => is_inside = true,
            TokenKind::OpenBrace => depth += 1,
            TokenKind::CloseBrace => {
                depth = depth.saturating_sub(1);
                is_inside &= depth > 0;
            }
            TokenKind::Semicolon => is_inside &= depth > 0,
            _ => {}
        }
    }
    found
}

/// The limits of a comment.
fn budget(comment: &str) -> Result<Budget, String> {
    let words = comment.trim_start_matches(['/', '*']).trim_start();
    let list = words.strip_prefix(WORD).unwrap_or(words).trim_end_matches("*/");
    let list = list.split(" --").next().unwrap_or(list);
    let mut budget = Budget::default();
    for item in list.split(',') {
        let wrong = || format!("`{}` is no limit as in `registers <= 64, spill = 0`", line(item.trim()));
        let (name, limit) = item.split_once("<=").or_else(|| item.split_once('=')).ok_or_else(wrong)?;
        let limit = Some(limit.trim().parse().map_err(|_| wrong())?);
        match name.trim() {
            "registers" => budget.registers = limit,
            "spill" => budget.spill_bytes = limit,
            "stack" => budget.stack_bytes = limit,
            "shared" => budget.shared_bytes = limit,
            _ => return Err(format!("{}; there are registers, spill, stack and shared", wrong())),
        }
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// ptx-budget: registers <= 64
.version 8.0
.target sm_80
.address_size 64
// ptx-budget: spill = 0 -- it is hot
.visible .entry a() { ret; }
.func f() { ret; }
.file 1 \"x.cu\"
/* ptx-budget: registers=32, shared <= 1024 */
.visible
.entry b()
// ptx-budget: stack = 0
{
  ret; // ptx-budget: registers < 3
}
// ptx-budget: registers = 1
";

    #[test]
    fn budgets_belong_to_their_kernels() {
        let source = Source::new("a.ptx".into(), Kind::Ptx, TEXT.as_bytes().to_vec());
        let found = Budgets::of(&source, Budget::default());
        let kernels: Vec<_> = found.written.iter().map(|written| written.kernel.as_str()).collect();
        assert_eq!(kernels, ["a", "a", "b", "b"]);
        assert_eq!(found.written[2].budget.registers, Some(32));
        assert_eq!(found.written[2].budget.shared_bytes, Some(1024));
        assert_eq!(
            found.wrong,
            [
                "cannot judge the budget in `a.ptx`, line 14: `registers < 3` is no limit as in `registers <= 64, spill = 0`",
                "cannot judge the budget in `a.ptx`, line 16: no kernel follows"
            ]
        );
    }
}
