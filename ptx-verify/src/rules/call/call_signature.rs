use std::collections::{HashMap, HashSet};

use ptx_ir::ir::{Body, Function, FunctionKind, Handle, Instruction, Module, Operand, TargetList, Variable};
use ptx_ir::isa::{Class, Control};
use ptx_ir::space::StateSpace;
use ptx_ir::types::{Type, TypeKind};
use ptx_syntax::{Diagnostic, Label, Span};

use crate::rule::declare_rule;
use crate::subject::declarations::{corresponds, effective_alignment, is_unsized, sized_bytes, type_of};
use crate::subject::describe::name_of;
use crate::subject::function::FunctionContext;
use crate::subject::module::Features;
use crate::subject::place::of_opcode;

declare_rule! {
    /// ## What it does
    /// Compares the arguments and results of a `call` with the parameters of the function, of the
    /// `.callprototype`, or of each function of the `.calltargets`.
    ///
    /// | parameter | argument |
    /// |---|---|
    /// | any | as many as parameters; an array `[]` at the end may be left out |
    /// | `.bN` | register or `.param` variable of N bits, constant |
    /// | `.uN`, `.sN` | the same, not floating-point |
    /// | `.f16`, `.f32`, `.f64` | the same, not integer |
    /// | array | `.param` array of as many bytes and the same alignment, elements as above |
    /// | array `[]` | `.param` array of the same alignment |
    ///
    /// Results are compared likewise and may be `_`. `.param` variables are those of the body: parameters of the
    /// caller itself cannot be passed on.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .func f(.param .b64 a)
    /// {
    ///     ret;
    /// }
    /// .entry k()
    /// {
    ///     .param .b32 x;
    ///     call f, (x);
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func f(.param .b64 a)
    /// {
    ///     ret;
    /// }
    /// .entry k()
    /// {
    ///     .param .b64 x;
    ///     call f, (x);
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// What a register that holds the address of a function points to. Of the functions of a list that do not go with a
    /// call, one is told.
    name: "call-signature",
    code: "P0402",
    former: ["E0313"],
    class: Invalid,
    level: Error,
    summary: "a call whose arguments are not what the function takes",
    check: Function(check),
    scope: Whole,
}

fn check(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::CALLS) {
        return;
    }
    let spellings = &context.module.module.spellings;
    let mut lists = Lists::default();
    for (handle, instruction) in context.body.instructions.iter() {
        let instances = &spellings[instruction.spelling].resolved.instances;
        // All meanings of a spelling are calls, or none.
        if instances.first().is_some_and(|instance| instance.effects.control == Control::Call) {
            let call = Call::new(context.body, context.body.operands(handle));
            let first = out.len();
            out.extend(indirect(context, handle));
            for (index, operand) in context.body.operands(handle).iter().enumerate() {
                let span = context.body.operand_span(handle, index);
                out.extend(targets(context, &call, *operand, span, &mut lists));
            }
            for finding in &mut out[first..] {
                begin_at_the_call(context, handle, finding);
            }
        }
    }
}

/// Of a call over several lines the assembler names the first, where its opcode is.
fn begin_at_the_call(context: &FunctionContext<'_>, handle: Handle<Instruction>, finding: &mut Diagnostic) {
    let opcode = of_opcode(context, handle);
    if !context.module.text(opcode.to(finding.span)).contains('\n') {
        return;
    }
    let part = std::mem::replace(&mut finding.span, opcode);
    finding.labels.insert(0, Label { span: part, message: "this part of the call".into() });
}

/// An indirect call says what may be called, a direct one does not.
fn indirect(context: &FunctionContext<'_>, handle: Handle<Instruction>) -> Option<Diagnostic> {
    let (module, body) = (context.module.module, context.body);
    let operands = body.operands(handle);
    let is_list = |operand: &&Operand| !matches!(operand, Operand::List(_));
    let mut rest = operands.iter().filter(is_list);
    let (&callee, described) = (rest.next()?, rest.next());
    let at = operands.iter().position(|operand| *operand == callee).unwrap_or_default();
    let name = name_of(module, body, callee).unwrap_or_default();
    let span = body.operand_span(handle, at);
    match (callee, described) {
        (Operand::Register { .. }, None) => Some(
            RULE.at(span, format!("`{name}` is called without saying what it is"))
                .with_help("add the label of a `.callprototype` or `.calltargets` as the last operand"),
        ),
        (Operand::Function(_), Some(Operand::Prototype(_) | Operand::Targets(_))) => Some(
            RULE.at(span, format!("`{name}` is a function: only a call through a register has a prototype")),
        ),
        _ => None,
    }
}

/// The lists of a call, with the places of their elements; none where they are not written.
struct Call {
    results: Vec<(Operand, Span)>,
    arguments: Option<Vec<(Operand, Span)>>,
}

impl Call {
    /// Results are before the function, arguments after it.
    fn new(body: &Body, operands: &[Operand]) -> Self {
        let list = |operand: &Operand| match *operand {
            Operand::List(run) => {
                let spans = body.child_spans.get(run.range()).unwrap_or_default();
                Some(body.children(run).iter().copied().zip(spans.iter().copied()).collect())
            }
            _ => None,
        };
        let results = operands.first().and_then(list).unwrap_or_default();
        let arguments = operands.get(1..).unwrap_or_default().iter().find_map(list);
        Self { results, arguments }
    }
}

/// What is wrong between the call and what an operand of it says may be called. Of a list, one function that does not
/// go with the call is told.
fn targets<'m>(
    context: &FunctionContext<'m>,
    call: &Call,
    operand: Operand,
    span: Span,
    lists: &mut Lists<'m>,
) -> Option<Diagnostic> {
    let module = context.module.module;
    match operand {
        // That kernels cannot be called is what the instruction table says.
        Operand::Function(function) if module.functions[function].kind == FunctionKind::Entry => None,
        Operand::Function(function) | Operand::Prototype(function) => {
            compare(context, call, &module.functions[function], span)
        }
        Operand::Targets(list) => {
            let list = lists
                .known
                .entry(list)
                .or_insert_with(|| Signatures::of(module, &context.body.targets[list].targets));
            list.candidates(context, call).find_map(|function| compare(context, call, function, span))
        }
        _ => None,
    }
}

/// The lists of targets that calls have named.
#[derive(Default)]
struct Lists<'m> {
    known: HashMap<Handle<TargetList>, Signatures<'m>>,
}

/// How the functions of a list of targets are called. Many of them have the same number of parameters, and parameters
/// of the same types: a call is compared with each kind once, and not with each function.
struct Signatures<'m> {
    /// Functions that differ in the numbers of their results and parameters.
    counts: Vec<&'m Function>,
    /// For each result, then for each parameter, functions that differ in its type.
    kinds: Vec<Vec<(&'m Function, &'m Variable)>>,
}

impl<'m> Signatures<'m> {
    fn of(module: &'m Module, targets: &[Operand]) -> Self {
        let mut signatures = Self { counts: Vec::new(), kinds: Vec::new() };
        let (mut functions, mut counts, mut kinds) = (HashSet::new(), HashSet::new(), HashSet::new());
        for target in targets {
            let Operand::Function(handle) = *target else { continue };
            if !functions.insert(handle) {
                continue;
            }
            let function = &module.functions[handle];
            let formals = || function.returns.iter().chain(&function.parameters);
            let open_ended = formals().next_back().is_some_and(|last| is_unsized(&module.variables[*last]));
            if counts.insert((function.returns.len(), function.parameters.len(), open_ended)) {
                signatures.counts.push(function);
            }
            for (place, formal) in formals().map(|formal| &module.variables[*formal]).enumerate() {
                let kind = (formal.ty, formal.elements, &formal.dimensions, effective_alignment(formal));
                if kinds.insert((place, kind)) {
                    signatures.kinds.resize_with(signatures.kinds.len().max(place + 1), Vec::new);
                    signatures.kinds[place].push((function, formal));
                }
            }
        }
        signatures
    }

    /// Functions among which is one that does not go with a call, if there is any in the list: those that differ in
    /// their numbers, and the first one that differs in a type.
    fn candidates(&self, context: &FunctionContext<'_>, call: &Call) -> impl Iterator<Item = &'m Function> {
        let given = call.results.iter().map(|result| (true, result));
        let given = given.chain(call.arguments.iter().flatten().map(|argument| (false, argument)));
        // Where the numbers are not those of the call, that is told, and places are not compared.
        let of_types = given.zip(&self.kinds).flat_map(move |((result, (operand, _)), kinds)| {
            let bad = move |(_, formal): &&(&'m Function, &'m Variable)| {
                fault(context, formal, *operand, result).is_some()
            };
            kinds.iter().find(bad).map(|(function, _)| *function)
        });
        self.counts.iter().copied().chain(of_types)
    }
}

fn compare(
    context: &FunctionContext<'_>,
    call: &Call,
    function: &Function,
    span: Span,
) -> Option<Diagnostic> {
    let module = context.module.module;
    let name = match function.kind {
        FunctionKind::Prototype => format!("prototype `{}`", module.name(function.name)),
        FunctionKind::Entry | FunctionKind::Function => format!("`{}`", module.name(function.name)),
    };
    let finding = |what: String, span: Span, formal: Option<&Variable>| {
        let declared = formal.map_or(function.span, |formal| formal.span);
        Some(RULE.at(span, format!("{name} {what}")).with_secondary(declared, "declared here"))
    };
    let given = call.results.len();
    if given != function.returns.len() {
        let expected = function.returns.len();
        return finding(format!("returns {}, the call has {given}", counted(expected, "value")), span, None);
    }
    let no_arguments = Vec::new();
    let arguments = call.arguments.as_ref().unwrap_or(&no_arguments);
    let expected = function.parameters.len();
    let variadic = function.parameters.last().is_some_and(|last| is_unsized(&module.variables[*last]));
    let left_out = variadic && arguments.len() + 1 == expected && call.arguments.is_some();
    if arguments.len() != expected && !left_out {
        let given = arguments.len();
        return finding(format!("takes {}, the call has {given}", counted(expected, "argument")), span, None);
    }
    let pairs = function.returns.iter().zip(&call.results).map(|pair| (true, pair));
    let pairs = pairs.chain(function.parameters.iter().zip(arguments).map(|pair| (false, pair)));
    pairs.into_iter().find_map(|(result, (&formal, &(operand, place)))| {
        let formal = &module.variables[formal];
        let what = fault(context, formal, operand, result)?;
        let noun = if result { "returns" } else { "takes" };
        finding(format!("{noun} `{}` here, {what}", type_of(formal)), place, Some(formal))
    })
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// Why an operand does not go with a parameter, as the end of a sentence.
fn fault(context: &FunctionContext<'_>, formal: &Variable, operand: Operand, result: bool) -> Option<String> {
    let (module, body) = (context.module.module, context.body);
    let name = name_of(module, body, operand).unwrap_or_default();
    match operand {
        Operand::Register { register: each, .. }
            if body.group(each).is_some_and(|group| group.elements > 1) =>
        {
            Some(format!("`{name}` is an element of a vector, which cannot be passed"))
        }
        Operand::Register { class, .. } => register(formal, &name, class, 1),
        Operand::VectorRegister { class, count, .. } => register(formal, &name, class, count),
        Operand::Integer { .. } | Operand::WarpSize => constant(formal, &name, false, false),
        Operand::SingleBits(_) => constant(formal, &name, true, true),
        Operand::Decimal(_) | Operand::DoubleBits(_) => constant(formal, &name, true, false),
        Operand::Sink => (!result).then(|| "`_` is nothing to pass".into()),
        Operand::Variable { variable, offset: 0, .. } => memory(module, formal, variable, &name),
        Operand::Variable { .. } => Some(format!("`{name}` has an offset")),
        Operand::Unknown(_) => None,
        _ => Some(format!("`{name}` cannot be passed")),
    }
}

/// A scalar, or the bits of a vector register.
fn scalar(formal: &Variable) -> Option<Type> {
    if !formal.dimensions.is_empty() {
        return None;
    }
    if formal.elements == 1 { Some(formal.ty) } else { bits(formal.ty.bits() * u32::from(formal.elements)) }
}

fn bits(width: u32) -> Option<Type> {
    match width {
        8 => Some(Type::B8),
        16 => Some(Type::B16),
        32 => Some(Type::B32),
        64 => Some(Type::B64),
        128 => Some(Type::B128),
        _ => None,
    }
}

fn register(formal: &Variable, name: &str, class: Class, count: u8) -> Option<String> {
    let given = class.register_type()?;
    let whole = if count == 1 { Some(given) } else { bits(given.bits() * u32::from(count)) };
    let is = if count == 1 {
        format!("`{name}` is `{given}`")
    } else {
        format!("`{name}` is `.v{count} {given}`")
    };
    let Some(wanted) = scalar(formal) else {
        return Some(format!("{is}: an array is passed as a `.param` variable"));
    };
    if !whole.is_some_and(|given| corresponds(wanted, given)) {
        return Some(is);
    }
    let natural = wanted.bytes()?;
    let aligned = effective_alignment(formal);
    (aligned > natural).then(|| format!("{is} and not aligned to {aligned}"))
}

fn constant(formal: &Variable, name: &str, float: bool, single: bool) -> Option<String> {
    let wanted = scalar(formal);
    let fits = wanted.is_some_and(|ty| match ty.kind() {
        TypeKind::Bits => true,
        TypeKind::Unsigned | TypeKind::Signed => !float,
        TypeKind::Float => float,
        // Only the bits of a single have the width of a pair of halves.
        TypeKind::Packed => single,
        TypeKind::Predicate | TypeKind::Opaque => false,
    });
    let kind = if float { "a floating-point constant" } else { "an integer constant" };
    (!fits).then(|| format!("`{name}` is {kind}"))
}

fn memory(module: &Module, formal: &Variable, variable: Handle<Variable>, name: &str) -> Option<String> {
    let given = &module.variables[variable];
    if given.space.base() != StateSpace::Param {
        let space = given.space;
        return Some(format!(
            "`{name}` is in `{space}`: arguments are registers, constants and `.param` variables"
        ));
    }
    if given.is_parameter {
        return Some(format!("`{name}` is a parameter of the caller: load it and pass the value"));
    }
    if !same_type(formal, given) {
        return Some(format!("`{name}` is `{}`", type_of(given)));
    }
    let (wanted, aligned) = (effective_alignment(formal), effective_alignment(given));
    (wanted != aligned).then(|| format!("`{name}` is aligned to {aligned} and the parameter to {wanted}"))
}

pub(crate) fn same_type(formal: &Variable, given: &Variable) -> bool {
    let bits = |variable: &Variable| variable.ty.kind() == TypeKind::Bits;
    match (formal.dimensions.len(), given.dimensions.len()) {
        (0, 0) => scalar(formal).zip(scalar(given)).is_some_and(|(formal, given)| corresponds(formal, given)),
        (1, 1) => {
            (is_unsized(formal) || sized_bytes(formal) == sized_bytes(given))
                && (bits(formal) || bits(given) || corresponds(formal.ty, given.ty))
        }
        // Arrays of several dimensions go with nothing, not even with their like.
        _ => false,
    }
}
