//! The PTX version and target that declarations and directives need, as the assembler enforces them. What
//! instructions, special registers and directives need is in the tables of ptx-ir.

use ptx_facts::mentions::{Mentions, owner};
use ptx_ir::arena::Symbol;
use ptx_ir::directive::{DirectiveKind, Pragma};
use ptx_ir::ir::{
    Body, Directive, DirectiveArgument, Function, FunctionKind, Initializer, Item, Linkage, Module, Operand,
    TargetListKind, Variable,
};
use ptx_ir::isa::{Control, Instance};
use ptx_ir::space::StateSpace;
use ptx_ir::target::{Target, TargetSet};
use ptx_ir::types::{Type, TypeKind};
use ptx_ir::version::Version;
use ptx_syntax::{Diagnostic, Span};

use crate::rules::declaration::pragma;
use crate::rules::instruction::{target_too_low, version_too_low};
use crate::subject::declarations::{is_unsized, variables};
use crate::subject::function::FunctionContext;
use crate::subject::module::ModuleContext;

/// A feature: what messages call it, the first version and the lowest target that have it.
struct Gate {
    name: &'static str,
    version: Version,
    target: u16,
}

const fn gate(name: &'static str, major: u8, minor: u8, target: u16) -> Gate {
    Gate { name, version: Version::new(major, minor), target }
}

const KERNEL_DECLARATION: Gate = gate("the declaration of a kernel", 3, 0, 10);
const KERNEL_PARAMETERS: Gate = gate("a kernel with parameters", 1, 4, 10);
const UNSIZED_PARAMETER: Gate = gate("a parameter without a size", 6, 0, 30);
const POINTER_TO_OBJECT: Gate = gate("`.ptr` to a texture, sampler or surface", 4, 3, 10);
const ADDRESS: Gate = gate("an address as an initial value", 2, 1, 10);
const GENERIC: Gate = gate("`generic( )`", 3, 1, 10);
const MASK: Gate = gate("a mask of an address", 7, 1, 10);
const B128: Gate = gate("type `.b128`", 8, 3, 70);
const F16X2: Gate = gate("type `.f16x2`", 4, 2, 53);
const OPAQUE: Gate = gate("a texture, sampler or surface variable", 1, 5, 10);
const FUNCTION_ADDRESS: Gate = gate("the address of a function", 2, 1, 10);
const KERNEL_ADDRESS: Gate = gate("the address of a kernel", 3, 1, 35);
const FILE_TIME: Gate = gate("`.file` with a time", 3, 2, 10);
const INLINED: Gate = gate("`.loc` with `inlined_at`", 7, 0, 10);

/// What the table says of a directive.
fn of_kind(kind: DirectiveKind) -> Gate {
    let target = kind.targets().lowest().map_or(0, Target::number);
    Gate { name: kind.quoted(), version: kind.min_version(), target }
}

fn of_pragma(pragma: &Pragma) -> Gate {
    let target = pragma.targets().lowest().map_or(0, Target::number);
    Gate { name: pragma.described, version: pragma.min_version, target }
}

/// Reports every declaration and directive that the module's version or target does not have.
pub(crate) fn of_declarations(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    let mut ask = reporting(context, out);
    let mut gates = Gates { version: module.header.version, ask: &mut ask };
    context.variables().for_each(|(_, variable)| gates.variable(module, variable));
    context.functions().for_each(|(_, function)| gates.function(module, function));
    if context.part.has_module {
        gates.module(module);
    }
}

/// Reports everything in a body that the module's version or target does not have and that is no instruction.
pub(crate) fn of_body(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    let mut ask = reporting(&context.module, out);
    let mut gates = Gates { version: module.header.version, ask: &mut ask };
    gates.body(module, context.body, context.mentions);
}

fn reporting(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) -> impl FnMut(&Gate, Span) {
    |gate, span| {
        if context.version() < gate.version {
            out.push(version_too_low::finding(context, span, gate.name, gate.version));
        } else if context.target().number() < gate.target {
            let targets = TargetSet::at_least(gate.target);
            out.push(target_too_low::finding(context, span, gate.name, targets));
        }
    }
}

/// Shows what declarations and directives of a module need: the name of the feature, the first version, the targets,
/// and the place.
pub(crate) fn requirements(module: &Module, mut show: impl FnMut(&'static str, Version, TargetSet, Span)) {
    let mut ask = |gate: &Gate, span| show(gate.name, gate.version, TargetSet::at_least(gate.target), span);
    let mut gates = Gates { version: module.header.version, ask: &mut ask };
    gates.module(module);
    variables(module).for_each(|(_, variable)| gates.variable(module, variable));
    for (_, function) in module.functions.iter() {
        gates.function(module, function);
        if let Some(body) = &function.body {
            gates.body(module, body, &Mentions::of(body));
        }
    }
}

struct Gates<'a> {
    /// The version of the module.
    version: Version,
    ask: &'a mut dyn FnMut(&Gate, Span),
}

impl Gates<'_> {
    fn ask(&mut self, gate: &Gate, span: Span) {
        (self.ask)(gate, span);
    }

    /// The header and what else is declared once for a module.
    fn module(&mut self, module: &Module) {
        if let Some(span) = module.header.address_size_span {
            self.ask(&of_kind(DirectiveKind::AddressSize), span);
        }
        for item in &module.items {
            match item {
                Item::Directive(directive) => self.directive(module, directive),
                Item::Alias { span, .. } => self.ask(&of_kind(DirectiveKind::Alias), *span),
                Item::Section(section) if module.name(section.word) == DirectiveKind::Section.word() => {
                    self.ask(&of_kind(DirectiveKind::Section), section.span);
                }
                Item::Section(section) => self.ask(&of_kind(DirectiveKind::IntermediateSource), section.span),
                Item::Variable(_) | Item::Function(_) => {}
            }
        }
    }

    fn attributes(&mut self, module: &Module, attributes: &[(Symbol, Vec<u64>)], span: Span) {
        if !attributes.is_empty() {
            self.ask(&of_kind(DirectiveKind::Attribute), span);
        }
        if attributes.iter().any(|(name, _)| module.name(*name) == DirectiveKind::Unified.word()) {
            self.ask(&of_kind(DirectiveKind::Unified), span);
        }
    }

    fn variable(&mut self, module: &Module, variable: &Variable) {
        let span = variable.span;
        self.linkage(variable.linkage, span);
        self.ty(variable.ty, span);
        if let Some(pointer) = variable.pointer {
            match pointer.object {
                Some(_) => self.ask(&POINTER_TO_OBJECT, span),
                None => self.ask(&of_kind(DirectiveKind::Ptr), span),
            }
        }
        if variable.is_parameter && is_unsized(variable) {
            self.ask(&UNSIZED_PARAMETER, span);
        }
        self.attributes(module, &variable.attributes, span);
        if let Some(gate) = variable.initializer.as_ref().and_then(needed) {
            self.ask(gate, span);
        }
        let old = self.version;
        let local =
            variable.space == StateSpace::Param && variable.function.is_some() && !variable.is_parameter;
        if local && old >= Version::new(1, 4) && old < Version::new(2, 0) {
            self.ask(&gate("a `.param` variable in a body", 2, 0, 10), span);
        }
    }

    fn linkage(&mut self, linkage: Option<Linkage>, span: Span) {
        match linkage {
            Some(Linkage::Weak) => self.ask(&of_kind(DirectiveKind::Weak), span),
            Some(Linkage::Common) => self.ask(&of_kind(DirectiveKind::Common), span),
            Some(Linkage::Visible | Linkage::Extern) | None => {}
        }
    }

    fn ty(&mut self, ty: Type, span: Span) {
        match ty {
            Type::B128 => self.ask(&B128, span),
            Type::F16x2 => self.ask(&F16X2, span),
            _ if ty.kind() == TypeKind::Opaque => self.ask(&OPAQUE, span),
            _ => {}
        }
    }

    fn function(&mut self, module: &Module, function: &Function) {
        let span = function.span;
        self.linkage(function.linkage, span);
        let kernel = function.kind == FunctionKind::Entry;
        if kernel && function.body.is_none() {
            self.ask(&KERNEL_DECLARATION, span);
        }
        if kernel && !function.parameters.is_empty() {
            self.ask(&KERNEL_PARAMETERS, span);
        }
        if function.kind == FunctionKind::Prototype {
            self.ask(&of_kind(DirectiveKind::CallPrototype), span);
        }
        self.attributes(module, &function.attributes, span);
        for directive in &function.directives {
            self.directive(module, directive);
        }
    }

    fn body(&mut self, module: &Module, body: &Body, mentions: &Mentions) {
        self.addresses(module, body, mentions);
        for (_, group) in body.registers.iter() {
            self.ty(group.ty, group.span);
        }
        for (_, list) in body.targets.iter() {
            let kind = match list.kind {
                TargetListKind::Branch => DirectiveKind::BranchTargets,
                TargetListKind::Call => DirectiveKind::CallTargets,
            };
            self.ask(&of_kind(kind), list.span);
        }
        for (_, directive) in body.directives.iter() {
            self.directive(module, directive);
        }
    }

    /// Functions and kernels as values.
    fn addresses(&mut self, module: &Module, body: &Body, mentions: &Mentions) {
        for (place, operand) in mentions.operands(body) {
            let Operand::Function(function) = operand else { continue };
            let Some((_, instruction)) = owner(body, place) else { continue };
            let call = |instance: &Instance| instance.effects.control == Control::Call;
            if module.instance(instruction).is_none_or(call) {
                continue;
            }
            let gate = match module.functions[function].kind {
                FunctionKind::Entry => &KERNEL_ADDRESS,
                FunctionKind::Function | FunctionKind::Prototype => &FUNCTION_ADDRESS,
            };
            self.ask(gate, body.operand_spans.get(place).copied().unwrap_or_default());
        }
    }

    fn directive(&mut self, module: &Module, directive: &Directive) {
        let Some(kind) = directive.kind else { return };
        let inlined = || directive.arguments.iter().any(|(argument, _)| is_name(argument));
        match kind {
            DirectiveKind::Loc if inlined() => self.ask(&INLINED, directive.span),
            DirectiveKind::Loc => {}
            _ => self.ask(&of_kind(kind), directive.span),
        }
        match kind {
            DirectiveKind::Pragma => {
                for (text, span) in pragma::strings(module, directive) {
                    if let Some(pragma) = Pragma::parse(pragma::word_of(text)) {
                        self.ask(&of_pragma(pragma), span);
                    }
                }
            }
            DirectiveKind::File if directive.arguments.len() > 2 => self.ask(&FILE_TIME, directive.span),
            _ => {}
        }
    }
}

fn is_name(argument: &DirectiveArgument) -> bool {
    matches!(argument, DirectiveArgument::Name(_) | DirectiveArgument::LabelOffset(..))
}

/// The newest feature that an initial value uses.
fn needed(initializer: &Initializer) -> Option<&'static Gate> {
    match initializer {
        Initializer::Variable { generic, mask, .. } | Initializer::Function { generic, mask, .. } => {
            Some(match (mask, generic) {
                (Some(_), _) => &MASK,
                (None, true) => &GENERIC,
                (None, false) => &ADDRESS,
            })
        }
        Initializer::List(values) => values.iter().filter_map(needed).max_by_key(|gate| gate.version),
        Initializer::Integer { .. }
        | Initializer::Decimal(_)
        | Initializer::SingleBits(_)
        | Initializer::DoubleBits(_)
        | Initializer::Field(..)
        | Initializer::NumberField(..)
        | Initializer::Unknown => None,
    }
}
