//! What is before the names of a declaration: linkage, state space, alignment, type, attributes.

use super::{Context, messages};
use crate::arena::Symbol;
use crate::directive::DirectiveKind;
use crate::ir::{Linkage, Pointer};
use crate::isa::words::vector_length;
use crate::space::StateSpace;
use crate::types::Type;
use ptx_syntax::ast::{self, Operand as Node, OperandKind, SpecifierKind};
use ptx_syntax::{Explanation, Located, Span};

/// What is before the names of a declaration.
#[derive(Clone, Debug, Default)]
pub(super) struct Specifiers {
    pub linkage: Option<Linkage>,
    pub space: Option<StateSpace>,
    pub ty: Option<Type>,
    pub elements: u8,
    pub align: Option<u32>,
    pub pointer: Option<Pointer>,
    pub attributes: Vec<(Symbol, Vec<u64>)>,
    /// An `.align` after the type, which only parameters of kernels may have.
    pub late_align: Option<Span>,
    /// Whether a word was not understood, which has been reported.
    pub damaged: bool,
}

impl Context<'_, '_> {
    pub(super) fn specifiers(&mut self, run: ast::Run) -> Specifiers {
        self.specifiers_of(run, true)
    }

    /// Attributes of a declaration without a name are looked at and forgotten.
    pub(super) fn specifiers_of(&mut self, run: ast::Run, named: bool) -> Specifiers {
        let tree = self.tree;
        let mut result = Specifiers { elements: 1, ..Specifiers::default() };
        for specifier in &tree.specifiers[run.range()] {
            let text = self.text(specifier.span);
            match specifier.kind {
                SpecifierKind::Linkage => {
                    if let Some(earlier) = result.linkage {
                        let earlier = earlier.as_str();
                        self.bad_declaration(messages::fault(
                            specifier.span,
                            format!("a second linkage, after `{earlier}`"),
                        ));
                    }
                    if result.ty.is_some() || result.space.is_some() || result.align.is_some() {
                        self.bad_declaration(
                            messages::fault(specifier.span, format!("`{text}` is after other words"))
                                .with_help("the linkage is the first word of a declaration"),
                        );
                    }
                    result.linkage = Linkage::parse(text);
                }
                SpecifierKind::StateSpace => self.state_space(specifier.span, text, &mut result),
                SpecifierKind::Align => {
                    let value =
                        specifier.operand.and_then(|index| self.integer_of(tree.operands[index as usize]));
                    let value = value.and_then(|value| u32::try_from(value).ok());
                    if value.is_none() {
                        self.bad_declaration(messages::fault(
                            specifier.span,
                            "expected an alignment, an integer of 32 bits",
                        ));
                    }
                    if result.ty.is_some() && result.pointer.is_none() {
                        result.late_align = Some(specifier.span);
                    } else if result.elements > 1 && result.pointer.is_none() {
                        self.bad_declaration(after_the_type(specifier.span, text));
                    }
                    match &mut result.pointer {
                        Some(pointer) if pointer.align.is_some() => {
                            self.bad_declaration(messages::fault(
                                specifier.span,
                                "a second `.align` of `.ptr`",
                            ));
                        }
                        Some(pointer) => pointer.align = value,
                        None => result.align = value,
                    }
                }
                SpecifierKind::Attribute => {
                    if result.ty.is_some() {
                        self.bad_declaration(
                            messages::fault(specifier.span, "`.attribute` is after the type")
                                .with_help("it belongs between the state space and the type"),
                        );
                    }
                    match specifier.operand {
                        Some(index) if named => {
                            self.attributes(tree.operands[index as usize], &mut result.attributes);
                        }
                        Some(index) => self.attributes_of_nothing(tree.operands[index as usize]),
                        None => {}
                    }
                }
                SpecifierKind::Word => self.word(specifier.span, text, &mut result),
            }
        }
        result
    }

    /// A state space: of the variable, or of what a pointer points to.
    fn state_space(&mut self, span: Span, text: &str, result: &mut Specifiers) {
        let slot = match &mut result.pointer {
            Some(Pointer { align: Some(_), .. }) => {
                self.bad_declaration(
                    messages::fault(span, format!("`{text}` is after `.align`"))
                        .with_help("the order is type, `.ptr`, state space, `.align`, name"),
                );
                return;
            }
            Some(pointer) => &mut pointer.space,
            None => {
                if result.ty.is_some() || result.elements > 1 {
                    self.bad_declaration(after_the_type(span, text));
                }
                &mut result.space
            }
        };
        match *slot {
            None => *slot = StateSpace::parse(text),
            Some(earlier) => {
                self.bad_declaration(
                    messages::fault(span, format!("a second state space, after `{earlier}`"))
                        .with_help(format!("remove `{text}`, or `{earlier}`")),
                );
            }
        }
    }

    #[cold]
    fn repeated(&mut self, span: Span, text: &str) {
        self.bad_declaration(messages::fault(span, format!("`{text}` is here twice")));
    }

    fn word(&mut self, span: Span, text: &str, result: &mut Specifiers) {
        let is_pointer = text == DirectiveKind::Ptr.word();
        match vector_length(text) {
            Some(_) if result.elements > 1 => self.repeated(span, text),
            Some(_) if result.ty.is_some() => self.bad_declaration(after_the_type(span, text)),
            Some(elements) => result.elements = elements,
            None if is_pointer && result.pointer.is_some() => self.repeated(span, text),
            None if is_pointer && result.ty.is_none() => {
                self.bad_declaration(
                    messages::fault(span, "`.ptr` is before the type")
                        .with_help("the order is type, `.ptr`, state space, `.align`, name"),
                );
                result.pointer = Some(Pointer { space: None, align: None, object: None });
            }
            None if is_pointer && result.late_align.is_some() => {
                self.bad_declaration(
                    messages::fault(span, "`.ptr` is after `.align`")
                        .with_help("the order is type, `.ptr`, state space, `.align`, name"),
                );
            }
            None if is_pointer => result.pointer = Some(Pointer { space: None, align: None, object: None }),
            None => match (Type::parse(text), StateSpace::parse(text)) {
                (Some(ty @ (Type::Texref | Type::Samplerref | Type::Surfref)), _)
                    if result.pointer.is_some() =>
                {
                    if let Some(pointer) = &mut result.pointer
                        && pointer.object.replace(ty).is_some()
                    {
                        self.bad_declaration(messages::fault(
                            span,
                            format!("a second type after `.ptr`: `{text}`"),
                        ));
                    }
                }
                (Some(ty), _) => {
                    if let Some(earlier) = result.ty {
                        self.bad_declaration(messages::fault(
                            span,
                            format!("a second type, after `{earlier}`"),
                        ));
                    }
                    result.ty = Some(ty);
                }
                (None, Some(space)) => match &mut result.pointer {
                    Some(pointer) => pointer.space = Some(space),
                    None => result.space = Some(space),
                },
                (None, None) => {
                    result.damaged = true;
                    self.bad_declaration(messages::fault(
                        span,
                        format!("`{text}` is no type and no part of a declaration"),
                    ));
                }
            },
        }
    }

    pub(super) fn attributes_of_nothing(&mut self, list: Node) {
        let tree = self.tree;
        for attribute in tree.children(list) {
            let (word, arguments) = match attribute.kind {
                OperandKind::Apply => match tree.children(*attribute) {
                    [word, arguments @ ..] => (word.span, arguments.len()),
                    [] => continue,
                },
                _ => (attribute.span, 0),
            };
            let text = self.text(word);
            let Some(expected) = DirectiveKind::parse(text).and_then(DirectiveKind::attribute_numbers) else {
                self.bad_declaration(messages::fault(word, format!("there is no attribute `{text}`")));
                continue;
            };
            if arguments != expected {
                let what = format!("attribute `{text}` takes {expected} numbers, {arguments} are given");
                self.bad_declaration(messages::fault(attribute.span, what));
            }
        }
    }

    fn attributes(&mut self, list: Node, result: &mut Vec<(Symbol, Vec<u64>)>) {
        let tree = self.tree;
        for attribute in tree.children(list) {
            let (word, arguments) = match attribute.kind {
                OperandKind::Apply => match tree.children(*attribute) {
                    [word, arguments @ ..] => (*word, arguments),
                    [] => continue,
                },
                _ => (*attribute, &[][..]),
            };
            let name = self.intern(word.span);
            if let Some(wrong) = arguments.iter().find(|node| node.kind == OperandKind::Negate) {
                self.bad_declaration(messages::fault(wrong.span, "an attribute takes no negative number"));
            }
            let values = arguments.iter().filter_map(|node| self.integer_of(*node)).map(|value| value as u64);
            let values: Vec<u64> = values.collect();
            result.push((name, values));
        }
    }
}

fn after_the_type(span: Span, text: &str) -> Located<Explanation> {
    messages::fault(span, format!("`{text}` is after the type"))
        .with_help("the order is state space, `.align`, vector, type, name")
}
