//! A kernel with the bodies of functions in place of the calls of them, for executions of its protocol.
//!
//! The text of a function goes into a block of its own, so that no name in it has to change: PTX has scopes. What the
//! call gives comes in through registers that the block around it declares, since names within may be those of the
//! arguments. The whole is lowered once more, and each instruction knows where it is in the source.

use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::model::{self, End, Protocol};
use std::fmt::Write;

use memchr::memmem;
use ptx_ir::ir::{Body, Function, Handle, Module};
use ptx_ir::isa::AsyncGroup;
use ptx_ir::types::Type;
use ptx_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::outline::{Actual, ActualKind, Change, Formal, FormalPlace, Outline, Site};
use super::summary::Summaries;

/// Calls in calls that are followed.
const MAX_DEPTH: usize = 8;
/// Instructions of a function that is followed, and of one that does not act on anything.
const MAX_INSTRUCTIONS: usize = 1_000;
const MAX_PLAIN: usize = 100;
/// Bytes of the text of such a function.
const MAX_TEXT: u32 = 200_000;
/// Instructions of a kernel with all that is followed in it.
const MAX_TOTAL: usize = 12_000;
/// What names begin with that are added.
const PREFIX: &str = "$called_";

/// What executions of a kernel's protocol show, with the calls that are followed.
#[derive(Default)]
pub(crate) struct Followed {
    pub(crate) protocol: Protocol,
    /// Whether bodies were put in place of calls.
    pub(crate) is_inlined: bool,
    /// The instructions that the protocol names, where they are no numbers in the kernel itself.
    places: FxHashMap<u32, Place>,
}

/// Where an instruction that was executed is in the source.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The instruction of the kernel: the call, where it is in a function.
    pub(crate) own: u32,
    /// In a function the instruction itself, and the calls there that lead to it.
    pub(crate) within: Vec<Span>,
    /// The group of operations that it is for.
    pub(crate) group: Option<AsyncGroup>,
}

impl Followed {
    /// The same where no call is followed.
    pub(crate) fn of(protocol: Protocol) -> Self {
        Self { protocol, ..Self::default() }
    }

    /// Where an instruction of the protocol is.
    pub(crate) fn place(&self, instruction: u32) -> Option<&Place> {
        self.places.get(&instruction)
    }
}

/// A kernel whose calls may be followed.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) module: &'a Module,
    pub(crate) source: &'a str,
    pub(crate) summaries: &'a Summaries<'a>,
    pub(crate) executions: &'a model::Executions,
    pub(crate) function: Handle<Function>,
    pub(crate) body: &'a Body,
    /// Whether it takes part in a protocol by itself.
    pub(crate) takes_part: bool,
}

/// Executes the protocol of a kernel with what it calls; none where no call is followed, or nothing takes part.
pub(crate) fn followed(caller: Caller<'_>) -> Option<Followed> {
    let Caller { module, source, summaries, executions, function, body, takes_part } = caller;
    if source.is_empty() || body.instructions.len() > MAX_TOTAL {
        return None;
    }
    let own = summaries.outline_of(module, function, body)?;
    let mut copy = Copy {
        module,
        source,
        summaries,
        text: String::new(),
        pieces: Vec::new(),
        calls: Vec::new(),
        opaque: FxHashSet::default(),
        left: MAX_TOTAL - body.instructions.len(),
        takes_part,
        is_ambiguous: false,
    };
    copy.body(&own, own.span, None, &mut vec![(function, &own)]);
    if copy.calls.is_empty() || copy.is_ambiguous || !copy.takes_part {
        return None;
    }
    let mut found = None;
    summaries.show_text(function, source, &copy.text, &mut |module, whole, base| {
        let facts = FunctionFacts::of_body(module, function, whole);
        let origin = |instruction: u32| copy.origin(whole.span(Handle::new(instruction)), base);
        let is_opaque = |call: &u32| {
            facts.is_call(*call) && origin(*call).is_some_and(|(at, _)| copy.opaque.contains(&at.start))
        };
        let calls: Vec<u32> = (0..whole.instructions.len() as u32).filter(is_opaque).collect();
        let protocol = model::protocol(&facts, &calls, executions);
        let place = |instruction: u32| {
            let (at, call) = origin(instruction)?;
            let (own, within) = copy.place(body, at, call)?;
            let effects = facts.instance(instruction).map(|instance| &instance.effects);
            let group = effects.and_then(|effects| effects.asynchronous).map(|(group, _)| group);
            Some((instruction, Place { own, within, group }))
        };
        let of_fault = protocol.faults.iter().flat_map(|fault| {
            std::iter::once(fault.instruction).chain(fault.others.iter().map(|(instruction, _)| *instruction))
        });
        let at_end = match protocol.end {
            Some(End::Unknown(place)) => Some(place),
            _ => None,
        };
        let places = of_fault.chain(at_end).filter_map(place).collect();
        found = Some(Followed { protocol, is_inlined: true, places });
    });
    found
}

/// A part of the text.
struct Piece {
    /// Where it begins.
    at: u32,
    /// What it stands for in the source.
    source: Span,
    /// Whether it is the text from there.
    is_copied: bool,
    /// The call that it is in.
    call: Option<usize>,
}

/// A text that is put together.
struct Copy<'a> {
    module: &'a Module,
    source: &'a str,
    summaries: &'a Summaries<'a>,
    text: String,
    pieces: Vec<Piece>,
    /// The calls that are followed, each with the one that it is in.
    calls: Vec<(Span, Option<usize>)>,
    /// Where calls begin that are not followed and may take part.
    opaque: FxHashSet<u32>,
    /// Instructions that may come in.
    left: usize,
    takes_part: bool,
    /// Whether the source has names like those that are added.
    is_ambiguous: bool,
}

/// What comes before and after a body, in the block around it and in its own.
#[derive(Default)]
struct Passed {
    before: String,
    begin: String,
    end: String,
    after: String,
}

impl<'a> Copy<'a> {
    /// Copies a part of a body with what it calls. The last of the `open` ones is its outline.
    fn body(
        &mut self,
        outline: &'a Outline,
        part: Span,
        call: Option<usize>,
        open: &mut Vec<(Handle<Function>, &'a Outline)>,
    ) {
        let mut at = part.start;
        for change in &outline.changes {
            match change {
                Change::Return(span, opcode) => {
                    let Some(call) = call else { continue };
                    let Some(begin) = span.text(self.source).rfind(&**opcode) else {
                        self.is_ambiguous = true;
                        continue;
                    };
                    self.copied(Span::new(at, span.start + begin as u32), Some(call));
                    self.added(&format!("bra {PREFIX}{call}_end;"), *span, Some(call));
                    at = span.end;
                }
                Change::Call(site) => {
                    let Some((callee, passed)) = self.entered(site, open) else {
                        if self.summaries.function_acts(site.callee) {
                            self.opaque.insert(site.span.start);
                        }
                        continue;
                    };
                    self.copied(Span::new(at, site.span.start), call);
                    self.called(site, callee, &passed, call, open);
                    at = site.span.end;
                }
                Change::Unknown(span) => drop(self.opaque.insert(span.start)),
            }
        }
        self.copied(Span::new(at, part.end), call);
    }

    /// The function that a call goes to, and how its arguments come there, where the call is followed.
    fn entered(
        &mut self,
        site: &Site,
        open: &[(Handle<Function>, &'a Outline)],
    ) -> Option<(&'a Outline, Passed)> {
        if open.len() > MAX_DEPTH || open.iter().any(|(function, _)| *function == site.callee) {
            return None;
        }
        if self.module.functions[site.callee].body.as_ref()?.span.len() > MAX_TEXT {
            return None;
        }
        let callee = self.summaries.outline(site.callee)?;
        let most = if self.summaries.function_acts(site.callee) { MAX_INSTRUCTIONS } else { MAX_PLAIN };
        let fits = callee.instructions <= most.min(self.left)
            && callee.results.len() == site.results.len()
            && callee.parameters.len() == site.arguments.len();
        if !fits || open.iter().any(|(_, outer)| outer.hides_names_of(callee)) {
            return None;
        }
        let mut passed = Passed::default();
        let number = self.calls.len();
        let arguments = callee.parameters.iter().zip(&site.arguments).map(|pair| (pair, false));
        let results = callee.results.iter().zip(&site.results).map(|pair| (pair, true));
        for (index, ((formal, actual), is_result)) in arguments.chain(results).enumerate() {
            let name = format!("{PREFIX}{number}_{index}");
            passed.pass(&name, formal, *actual, actual.span.text(self.source), is_result)?;
        }
        self.left -= callee.instructions;
        Some((callee, passed))
    }

    fn called(
        &mut self,
        site: &Site,
        callee: &'a Outline,
        passed: &Passed,
        call: Option<usize>,
        open: &mut Vec<(Handle<Function>, &'a Outline)>,
    ) {
        let number = self.calls.len();
        self.calls.push((site.span, call));
        self.takes_part |= callee.takes_part;
        if let Some((predicate, negated)) = &site.guard {
            let opposite = if *negated { "" } else { "!" };
            self.added(&format!("@{opposite}{predicate} bra {PREFIX}{number}_skip;\n"), site.span, call);
        }
        self.added(&format!("{{\n{}{{\n{}", passed.before, passed.begin), site.span, call);
        open.push((site.callee, callee));
        let inner = Span::new(callee.span.start + 1, callee.span.end - 1);
        self.body(callee, inner, Some(number), open);
        open.pop();
        let end = format!("\n{PREFIX}{number}_end:\n{}}}\n{}}}\n", passed.end, passed.after);
        self.added(&end, site.span, call);
        if site.guard.is_some() {
            self.added(&format!("{PREFIX}{number}_skip:\n"), site.span, call);
        }
    }

    fn copied(&mut self, source: Span, call: Option<usize>) {
        let text = source.text(self.source);
        self.is_ambiguous |= memmem::find(text.as_bytes(), PREFIX.as_bytes()).is_some();
        self.pieces.push(Piece { at: self.text.len() as u32, source, is_copied: true, call });
        self.text.push_str(text);
    }

    fn added(&mut self, text: &str, source: Span, call: Option<usize>) {
        self.pieces.push(Piece { at: self.text.len() as u32, source, is_copied: false, call });
        self.text.push_str(text);
    }

    /// Where a place of the text is from, and the call that it is in. Places count from `base`.
    fn origin(&self, span: Span, base: u32) -> Option<(Span, Option<usize>)> {
        let start = span.start.checked_sub(base)?;
        let next = self.pieces.partition_point(|piece| piece.at <= start);
        let piece = self.pieces.get(next.checked_sub(1)?)?;
        let from = piece.source.start + (start - piece.at);
        let shown = if piece.is_copied { Span::new(from, from + span.len()) } else { piece.source };
        Some((shown, piece.call))
    }

    /// The instruction of the kernel that a place belongs to which a call leads to, and in a function the places there.
    fn place(&self, kernel: &Body, shown: Span, call: Option<usize>) -> Option<(u32, Vec<Span>)> {
        let (mut outer, mut within, mut call) = (shown, Vec::new(), call);
        while let Some(number) = call {
            within.push(outer);
            (outer, call) = *self.calls.get(number)?;
        }
        Some((kernel.instruction_before(outer.start)?.index() as u32, within))
    }
}

impl Passed {
    /// Passes an argument or a result through registers that begin with a name; none where it is not known how.
    fn pass(
        &mut self,
        through: &str,
        formal: &Formal,
        actual: Actual,
        given: &str,
        is_result: bool,
    ) -> Option<()> {
        let name = &formal.name;
        let (bytes, align, parts) = match &formal.place {
            FormalPlace::Register(ty) => {
                let ty = moved(*ty)?;
                let _ = writeln!(self.begin, ".reg {ty} {name};");
                return self.pass_value(
                    (through, ty),
                    (&format!("mov{ty} {through}, {name};"), &format!("mov{ty} {name}, {through};")),
                    (actual, given),
                    is_result,
                );
            }
            FormalPlace::Memory(bytes, align, parts) => (*bytes, *align, parts),
        };
        let _ = writeln!(self.begin, ".param .align {align} .b8 {name}[{bytes}];");
        if actual.kind != ActualKind::Memory {
            let ty = moved(match bytes {
                2 => Type::B16,
                4 => Type::B32,
                8 => Type::B64,
                _ => return None,
            })?;
            return self.pass_value(
                (through, ty),
                (
                    &format!("ld.param{ty} {through}, [{name}];"),
                    &format!("st.param{ty} [{name}], {through};"),
                ),
                (actual, given),
                is_result,
            );
        }
        for (number, (offset, bytes)) in parts.iter().enumerate() {
            let (bits, register) = (8 * bytes, format!("{through}_{number}"));
            let _ = writeln!(self.before, ".reg .b{} {register};", bits.max(16));
            let (from, to) = if is_result { (&**name, given) } else { (given, &**name) };
            let (first, then) = if is_result {
                (&mut self.end, &mut self.after)
            } else {
                (&mut self.before, &mut self.begin)
            };
            let _ = writeln!(first, "ld.param.b{bits} {register}, [{from}+{offset}];");
            let _ = writeln!(then, "st.param.b{bits} [{to}+{offset}], {register};");
        }
        Some(())
    }

    /// Passes a register or a number through another register. `out` and `into` move that to and from the parameter.
    fn pass_value(
        &mut self,
        (through, ty): (&str, Type),
        (out, into): (&str, &str),
        (actual, given): (Actual, &str),
        is_result: bool,
    ) -> Option<()> {
        match (actual.kind, is_result) {
            (ActualKind::Sink, true) => return Some(()),
            (ActualKind::Value, _) => {}
            _ => return None,
        }
        let _ = writeln!(self.before, ".reg {ty} {through};");
        match is_result {
            true => {
                let _ = writeln!(self.end, "{out}");
                let _ = writeln!(self.after, "mov{ty} {given}, {through};");
            }
            false => {
                let _ = writeln!(self.before, "mov{ty} {through}, {given};");
                let _ = writeln!(self.begin, "{into}");
            }
        }
        Some(())
    }
}

/// The type with which a register is moved; none where none moves it.
fn moved(ty: Type) -> Option<Type> {
    match (ty, ty.bits()) {
        (Type::Pred | Type::F32 | Type::F64, _) => Some(ty),
        (_, 16) => Some(Type::B16),
        (_, 32) => Some(Type::B32),
        (_, 64) => Some(Type::B64),
        _ => None,
    }
}
