//! Whether two modules are the same, spans aside.
//!
//! Everything of the IR takes part, since the comparison is that of [`Module`] itself. What is made equal
//! before: spans; the way a spelling is written, where it means the same instance of the instruction table;
//! and a decimal constant and its bits in the type of the instruction or declaration.

use ptx_ir::ir::{
    Arena, Body, Directive, Function, Handle, Header, Initializer, Instruction, Item, Module, Operand,
    Spelling, Statement, Variable,
};
use ptx_ir::isa::Resolved;
use ptx_syntax::Span;
use ptx_syntax::lexer::tokenize;

/// Where two modules differ, as the first lines that do; none where they are the same.
#[must_use]
pub fn difference(left: &Module, right: &Module) -> Option<String> {
    let (mut left, mut right) = (plain(left), plain(right));
    unify_floats(&mut left, &mut right);
    if left == right {
        return None;
    }
    let (left, right) = (format!("{left:#?}"), format!("{right:#?}"));
    let pairs: Vec<(&str, &str)> = left.lines().zip(right.lines()).collect();
    let Some(at) = pairs.iter().position(|(left, right)| left != right) else {
        return Some("one has more than the other".to_owned());
    };
    let shown = pairs[at.saturating_sub(12)..(at + 4).min(pairs.len())].iter();
    Some(shown.fold(String::new(), |text, (left, right)| match left == right {
        true => format!("{text}  {left}\n"),
        false => format!("{text}- {left}\n+ {right}\n"),
    }))
}

/// The same, leaving out which names and variables the modules know besides those that they use: one that was edited may
/// know more.
#[must_use]
pub fn difference_in_bodies(left: &Module, right: &Module) -> Option<String> {
    let (mut left, mut right) = (plain(left), plain(right));
    unify_floats(&mut left, &mut right);
    let all = left.functions.iter().zip(right.functions.iter());
    for ((_, one), (_, other)) in all {
        let (Some(one), Some(other)) = (&one.body, &other.body) else { continue };
        // Handles within the body are told alike; those of names and spellings are not compared.
        let shape = |body: &Body| {
            let operand =
                |operand: &Operand| (operand.base(), operand.parts(), std::mem::discriminant(operand));
            let operands: Vec<_> = body.operands.iter().chain(&body.children).map(operand).collect();
            let instructions: Vec<_> =
                body.instructions.iter().map(|(_, each)| (each.operands, each.guard)).collect();
            let labels: Vec<_> = body.labels.iter().map(|(_, label)| label.target).collect();
            let groups: Vec<_> =
                body.registers.iter().map(|(_, each)| (each.first, each.ty, each.range)).collect();
            let statements: Vec<_> = body
                .statements
                .iter()
                .filter(|each| !matches!(each, Statement::Variable(_) | Statement::Prototype(_)))
                .copied()
                .collect();
            format!("{statements:?}\n{instructions:?}\n{operands:?}\n{labels:?}\n{groups:?}")
        };
        let (one, other) = (shape(one), shape(other));
        if let Some((one, other)) = one.lines().zip(other.lines()).find(|(one, other)| one != other) {
            return Some(format!("- {one}\n+ {other}"));
        }
    }
    None
}

/// The module without spans, each spelling in its canonical form.
fn plain(module: &Module) -> Module {
    let mut module = module.clone();
    let Header { version_span, target_span, options, address_size_span, .. } = &mut module.header;
    for span in [version_span, target_span, address_size_span] {
        *span = None;
    }
    for (_, span) in options {
        *span = Span::default();
    }
    let variables: Vec<Handle<Variable>> = module.variables.handles().collect();
    for handle in variables {
        let variable = &mut module.variables[handle];
        (variable.span, variable.declaration) = (Span::default(), Span::default());
    }
    let spellings = std::mem::take(&mut module.spellings);
    let functions: Vec<Handle<Function>> = module.functions.handles().collect();
    for handle in functions {
        let mut function = module.functions[handle].clone();
        plain_function(&mut function, &spellings, &mut module);
        module.functions[handle] = function;
    }
    for item in &mut module.items {
        match item {
            Item::Variable(_) | Item::Function(_) => {}
            Item::Directive(directive) => plain_directive(directive),
            Item::Alias { span, .. } => *span = Span::default(),
            Item::Section(section) => {
                section.span = Span::default();
                section.text = without_trivia(&section.text);
            }
        }
    }
    module
}

/// The tokens with one blank between them.
fn without_trivia(text: &str) -> String {
    let tokens = tokenize(text).into_iter().filter(|token| !token.kind.is_trivia());
    tokens.map(|token| token.text(text)).collect::<Vec<_>>().join(" ")
}

fn plain_directive(directive: &mut Directive) {
    directive.span = Span::default();
    for (_, span) in &mut directive.arguments {
        *span = Span::default();
    }
}

fn plain_function(function: &mut Function, spellings: &Arena<Spelling>, module: &mut Module) {
    (function.span, function.header) = (Span::default(), Span::default());
    function.directives.iter_mut().for_each(plain_directive);
    let Some(body) = &mut function.body else { return };
    body.span = Span::default();
    for span in body.spans.iter_mut().chain(&mut body.operand_spans).chain(&mut body.child_spans) {
        *span = Span::default();
    }
    for_each(&mut body.registers, |group| group.span = Span::default());
    for_each(&mut body.labels, |label| label.span = Span::default());
    for_each(&mut body.targets, |list| list.span = Span::default());
    for_each(&mut body.directives, plain_directive);
    for_each(&mut body.instructions, |instruction| plain_spelling(instruction, spellings, module));
}

fn for_each<T>(arena: &mut Arena<T>, mut change: impl FnMut(&mut T)) {
    let handles: Vec<Handle<T>> = arena.handles().collect();
    for handle in handles {
        change(&mut arena[handle]);
    }
}

/// Gives the instruction a spelling that has its instance only.
fn plain_spelling(instruction: &mut Instruction, spellings: &Arena<Spelling>, module: &mut Module) {
    let spelling = &spellings[instruction.spelling];
    let instance = instruction.instance.and_then(|index| spelling.resolved.instances.get(usize::from(index)));
    let plain = match instance {
        Some(instance) => Spelling {
            text: instance.canonical.clone(),
            resolved: Resolved {
                opcode: spelling.resolved.opcode,
                instances: [instance.clone()].into(),
                ..Resolved::default()
            },
        },
        None => Spelling { text: spelling.text.clone(), resolved: Resolved::default() },
    };
    let known = module.spellings.iter().find(|(_, other)| **other == plain).map(|(handle, _)| handle);
    instruction.spelling = known.unwrap_or_else(|| module.spellings.push(plain));
    instruction.instance = instance.map(|_| 0);
}

/// Where one module has a decimal constant and the other the bits of the same value, makes both the bits.
fn unify_floats(left: &mut Module, right: &mut Module) {
    let variables: Vec<Handle<Variable>> = left.variables.handles().collect();
    for handle in variables {
        if handle.index() >= right.variables.len() {
            return;
        }
        let pair = (&mut left.variables[handle].initializer, &mut right.variables[handle].initializer);
        if let (Some(left), Some(right)) = pair {
            unify_initializers(left, right);
        }
    }
    let functions: Vec<Handle<Function>> = left.functions.handles().collect();
    for handle in functions {
        if handle.index() >= right.functions.len() {
            return;
        }
        if let (Some(left), Some(right)) = (&mut left.functions[handle].body, &right.functions[handle].body) {
            unify_bodies(left, right);
        }
    }
}

fn unify_bodies(left: &mut Body, right: &Body) {
    let operands = left.operands.iter_mut().zip(&right.operands);
    for (left, right) in operands.chain(left.children.iter_mut().zip(&right.children)) {
        let same = match (*left, *right) {
            (Operand::Decimal(value), Operand::SingleBits(bits)) => (value as f32).to_bits() == bits,
            (Operand::Decimal(value), Operand::DoubleBits(bits)) => value.to_bits() == bits,
            _ => false,
        };
        if same {
            *left = *right;
        }
    }
}

fn unify_initializers(left: &mut Initializer, right: &Initializer) {
    let same = match (&mut *left, right) {
        (Initializer::Decimal(value), Initializer::SingleBits(bits)) => (*value as f32).to_bits() == *bits,
        (Initializer::Decimal(value), Initializer::DoubleBits(bits)) => value.to_bits() == *bits,
        (Initializer::List(left), Initializer::List(right)) => {
            left.iter_mut().zip(right).for_each(|(left, right)| unify_initializers(left, right));
            false
        }
        _ => false,
    };
    if same {
        *left = right.clone();
    }
}
