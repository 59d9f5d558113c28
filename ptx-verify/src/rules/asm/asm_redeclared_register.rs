use std::collections::{HashMap, HashSet};

use ptx_syntax::cuda::{AsmId, EventKind, Function, FunctionId, RegionKind};
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::stream::{FileUnits, max_inlined_events};

declare_rule! {
    /// ## What it does
    /// Reports a register or a label that templates declare outside braces twice in one function: by two statements, by
    /// two uses of a macro, or by two calls of a function that is always inlined.
    ///
    /// ## Why is this bad
    /// All of them land in one function of PTX, and the assembler refuses the second declaration.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ __forceinline__ int copy(int x) {
    ///   int y;
    ///   asm volatile(".reg .b32 t; mov.b32 t, %1; mov.b32 %0, t;" : "=r"(y) : "r"(x));
    ///   return y;
    /// }
    /// __global__ void twice(int *p) { p[0] = copy(p[1]); p[2] = copy(p[3]); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ __forceinline__ int copy(int x) {
    ///   int y;
    ///   asm volatile("{ .reg .b32 t; mov.b32 t, %1; mov.b32 %0, t; }" : "=r"(y) : "r"(x));
    ///   return y;
    /// }
    /// __global__ void twice(int *p) { p[0] = copy(p[1]); p[2] = copy(p[3]); }
    /// ```
    ///
    /// ## What it may miss
    /// Statements that the compiler may leave out or merge: those that are not `volatile`, or in branches and loops;
    /// functions that need not be inlined, templates, calls through other files, and functions that inline thousands of
    /// statements of others.
    name: "asm-redeclared-register",
    code: "P1029",
    former: ["E0631"],
    class: Invalid,
    level: Error,
    summary: "a name that templates declare twice in one function",
    check: AsmFile(check),
}

/// How deep calls are followed.
const MAX_DEPTH: u32 = 4;

/// How many events of other functions are looked at for a function that they are inlined into.
const MAX_INLINED_EVENTS: usize = 5_000;

fn check(units: &FileUnits<'_>, out: &mut Vec<Diagnostic>) {
    if !declares_any(units) {
        return;
    }
    let mut by_name: HashMap<&str, Option<FunctionId>> = HashMap::new();
    for (id, function) in units.file.function_ids().zip(&units.file.functions) {
        let name = function.name.text(units.source);
        by_name.entry(name).and_modify(|known| *known = None).or_insert(Some(id));
    }
    let mut said: HashSet<(Span, Span)> = HashSet::new();
    let mut left = max_inlined_events(units.file);
    for function in units.file.functions.iter().filter(|function| is_compiled(units, function)) {
        let budget = left.min(MAX_INLINED_EVENTS);
        let mut walk = Walk { units, by_name: &by_name, names: HashMap::new(), budget, found: Vec::new() };
        let followed = walk.function(function, None, 0);
        left -= budget - walk.budget;
        if followed.is_none() {
            continue;
        }
        for found in walk.found {
            let place = (found.span, found.labels.first().map_or(found.span, |label| label.span));
            if said.insert(place) {
                out.push(found);
            }
        }
    }
}

/// Whether any statement declares what others may declare again.
fn declares_any(units: &FileUnits<'_>) -> bool {
    units.summaries.values().any(|summary| !summary.declared.is_empty())
}

/// Whether a function is compiled whoever calls it.
fn is_compiled(units: &FileUnits<'_>, function: &Function) -> bool {
    let known = function.qualifiers;
    let header = function.header.text(units.source);
    known.global && !known.template && !header.contains("static")
}

struct Walk<'w, 'a> {
    units: &'w FileUnits<'a>,
    by_name: &'w HashMap<&'w str, Option<FunctionId>>,
    /// Where each name was declared first.
    names: HashMap<String, Span>,
    /// How many more events of inlined functions are looked at.
    budget: usize,
    found: Vec<Diagnostic>,
}

impl Walk<'_, '_> {
    /// Follows a function up to where control may leave it, called at `call`; none where the statements of the function
    /// are not all known.
    fn function(&mut self, function: &Function, call: Option<Span>, depth: u32) -> Option<()> {
        let mut inside = 0_u32;
        for event in &function.events {
            if depth > 0 {
                self.budget = self.budget.checked_sub(1)?;
            }
            match event.kind {
                EventKind::Enter(region) | EventKind::Leave(region) => {
                    let straight =
                        matches!(self.units.file.region(region).kind, RegionKind::Body | RegionKind::Block);
                    let enters = matches!(event.kind, EventKind::Enter(_));
                    if !straight {
                        inside = if enters { inside + 1 } else { inside.saturating_sub(1) };
                    }
                }
                EventKind::Jump | EventKind::Label => return Some(()),
                EventKind::Asm(id) => self.statement(id, call, inside == 0)?,
                EventKind::Call if inside == 0 => self.call(event.span, call, depth)?,
                EventKind::Call => {}
            }
        }
        Some(())
    }

    fn call(&mut self, name: Span, call: Option<Span>, depth: u32) -> Option<()> {
        let Some(Some(id)) = self.by_name.get(name.text(self.units.source)) else { return Some(()) };
        let function = self.units.file.function(*id);
        let header = function.header.text(self.units.source);
        let inlined = header.contains("__forceinline__") && !function.qualifiers.template;
        let recursive = function.body.start <= name.start && name.end <= function.body.end;
        if !inlined || recursive || depth >= MAX_DEPTH {
            return Some(());
        }
        self.function(function, call.or(Some(name)), depth + 1)
    }

    fn statement(&mut self, id: AsmId, call: Option<Span>, straight: bool) -> Option<()> {
        let summary = self.units.summaries.get(&id)?;
        let statement = self.units.file.statement(id);
        if summary.hides {
            return None;
        }
        let kept = statement.volatile || statement.outputs.is_empty();
        if !straight || !kept || statement.variant > 0 || !summary.compiled {
            return Some(());
        }
        let own = statement.used_at.unwrap_or(statement.keyword);
        let place = call.unwrap_or(own);
        for (name, declared) in &summary.declared {
            match self.names.get(name) {
                Some(&first) if first != place => {
                    let declared = *declared;
                    let message = format!("this declares `{name}` a second time in one function");
                    let mut found =
                        RULE.at(place, message).with_secondary(first, "declared the first time here");
                    if declared != place {
                        found = found.with_secondary(declared, "outside braces");
                    }
                    self.found.push(found.with_help("put each template into `{ }`"));
                }
                Some(_) => {}
                None => {
                    self.names.insert(name.clone(), place);
                }
            }
        }
        Some(())
    }
}
