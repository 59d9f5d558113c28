//! A module in pieces: first its declarations, then the bodies of its functions, each by itself and in any order.
//!
//! A body refers to what was declared before it, so the declarations are all that it needs, and one body at a time is
//! in memory. The result is that of [`lower`](super::lower), only that variables and prototypes of a body have their
//! handles after those of the module.

use super::names::Names;
use super::problem::Problem;
use super::selection::Selection;
use super::spellings::Spellings;
use super::visible::{History, Time, Visible};
use super::{Context, LAST_PROBLEM, MAX_PROBLEMS};
use crate::arena::Handle;
use crate::directive::DirectiveKind;
use crate::ir::{Body, Function, Header, Module};
use ptx_syntax::ast::{self, Tree};
use ptx_syntax::{Located, ParsedBody, Span};

/// What a text declares.
#[derive(Clone, Debug)]
pub struct Declarations {
    module: Module,
    problems: Vec<Located<Problem>>,
    history: History,
    bodies: Vec<Place>,
}

/// A function whose body is to be lowered.
#[derive(Clone, Copy, Debug)]
struct Place {
    function: Handle<Function>,
    /// When its body begins.
    time: Time,
    /// How many problems come before those in the body.
    problems: usize,
}

/// Lowers what a text declares. `tree` may be that of [`ptx_syntax::outline`].
///
/// None where the header of the module goes on after a function, which then means something else before than after.
#[must_use]
pub fn declarations(tree: &Tree, source: &str) -> Option<Declarations> {
    let mut context = Context::new(tree, source);
    let mut bodies = Vec::new();
    for item in &tree.items {
        match *item {
            ast::Item::Directive(index) => {
                if !bodies.is_empty() && context.is_header(index) {
                    return None;
                }
                context.module_directive(index);
            }
            ast::Item::Declaration(index) => context.module_declaration(index),
            ast::Item::Function(index) => {
                let (function, has_body) = context.function_without_body(index);
                if has_body {
                    let (time, problems) = (context.history.now(), context.problems.len());
                    bodies.push(Place { function, time, problems });
                }
            }
            ast::Item::Section(index) => context.section(index),
        }
    }
    let Context { mut module, problems, history, .. } = context;
    module.share();
    Some(Declarations { module, problems, history, bodies })
}

impl Declarations {
    /// The module. Its functions have bodies of which nothing but the place is known.
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The functions with bodies, in order of the text.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = Handle<Function>> {
        self.bodies.iter().map(|place| place.function)
    }

    /// The place of a function among [`functions`](Self::functions).
    #[must_use]
    pub fn index_of(&self, function: Handle<Function>) -> Option<usize> {
        self.bodies.binary_search_by_key(&function, |place| place.function).ok()
    }

    /// The problems of [`lower`](super::lower), of those in the declarations and those in each body, which are in the
    /// order of [`functions`](Self::functions). `tell` says what is made of a problem, and `place` where that is.
    #[must_use]
    pub fn problems<T>(
        &self,
        of_bodies: impl IntoIterator<Item = Vec<T>>,
        tell: impl Fn(&Located<Problem>) -> T,
        place: impl Fn(&T) -> Span,
    ) -> Vec<T> {
        let mut all = Vec::new();
        let mut own = self.problems.iter().map(&tell);
        let mut taken = 0;
        for (body, found) in self.bodies.iter().zip(of_bodies) {
            all.extend(own.by_ref().take(body.problems - taken));
            taken = body.problems;
            all.extend(found);
        }
        all.extend(own);
        if let Some(span) = all.get(LAST_PROBLEM).map(&place) {
            all.truncate(LAST_PROBLEM);
            all.push(tell(&Located { span, what: Problem::TooMany }));
        }
        debug_assert!(all.len() <= MAX_PROBLEMS);
        all.sort_by_key(place);
        all
    }
}

impl Context<'_, '_> {
    /// Whether a directive is part of the header of the module.
    fn is_header(&self, index: u32) -> bool {
        let word = self.tree.statements[index as usize].word;
        use DirectiveKind::{AddressSize, Target, Version};
        matches!(DirectiveKind::parse(self.text(word)), Some(Version | Target | AddressSize))
    }
}

/// Lowers bodies, one after the other in the same memory.
pub struct BodyLowering<'d, 's> {
    declarations: &'d Declarations,
    source: &'s str,
    /// Where the bodies are.
    text: &'s str,
    module: Module,
    body: Body,
    spellings: Spellings<'s>,
    names: Names<'s>,
    selection: Selection,
}

impl<'d, 's> BodyLowering<'d, 's> {
    /// `source` is the text of the declarations.
    #[must_use]
    pub fn new(declarations: &'d Declarations, source: &'s str) -> Self {
        Self::of_text(declarations, source, source)
    }

    /// The same for bodies of another text, which see what the first one declares.
    #[must_use]
    pub fn of_text(declarations: &'d Declarations, source: &'s str, text: &'s str) -> Self {
        Self {
            declarations,
            source,
            text,
            module: declarations.module.clone(),
            body: Body::default(),
            spellings: Spellings::default(),
            names: Names::default(),
            selection: Selection::default(),
        }
    }

    /// Lowers the body at an index of [`Declarations::functions`], and gives the problems in it.
    pub fn lower(&mut self, index: usize, parsed: ParsedBody<'_>) -> Vec<Located<Problem>> {
        let Place { function, time, .. } = self.declarations.bodies[index];
        self.module.forget_own();
        let mut context = Context {
            module: std::mem::replace(&mut self.module, Module::new(Header::default())),
            spellings: std::mem::take(&mut self.spellings),
            names: std::mem::take(&mut self.names),
            selection: std::mem::take(&mut self.selection),
            body: std::mem::take(&mut self.body),
            visible: Some(Visible::new(&self.declarations.history, time)),
            function: Some(function),
            ..Context::new(parsed.tree, self.source)
        };
        context.begin_body(parsed.body.span);
        context.names.open();
        context.declare_parameters(function);
        context.source = self.text;
        // The header was reported with the declarations.
        context.problems.clear();
        context.extend_to(parsed.body.span);
        context.statements(parsed.body);
        context.names.close();
        self.module = context.module;
        self.spellings = context.spellings;
        self.names = context.names;
        self.selection = context.selection;
        self.body = context.body;
        context.problems
    }

    /// The declarations and what the last body adds to them.
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The last body.
    #[must_use]
    pub fn body(&self) -> &Body {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::super::lower;
    use super::{BodyLowering, declarations};
    use crate::ir::Operand;
    use ptx_syntax::{BodyParser, Span};

    const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    /// The problems in a text in pieces, whose bodies are lowered in any order, are those in the whole.
    fn same_problems(text: &str) -> Vec<String> {
        let source = format!("{HEADER}{text}");
        let whole = lower(&ptx_syntax::parse(&source).tree, &source);
        let tree = ptx_syntax::outline(&source).unwrap();
        let declared = declarations(&tree, &source).unwrap();
        let mut parser = BodyParser::default();
        let mut lowering = BodyLowering::new(&declared, &source);
        let functions: Vec<_> = declared.functions().collect();
        let mut found = vec![Vec::new(); functions.len()];
        for (index, &function) in functions.iter().enumerate().rev() {
            let span = declared.module().functions[function].body.as_ref().unwrap().span;
            found[index] = lowering.lower(index, parser.parse(&source, span).unwrap());
            let name = lowering.module().name(lowering.module().functions[function].name);
            let mut same = whole.module.functions.iter().map(|(_, each)| each).filter(|each| {
                whole.module.name(each.name) == name
                    && each.body.as_ref().is_some_and(|body| body.span == span)
            });
            let (piece, kept) = (lowering.body(), same.next().unwrap().body.as_ref().unwrap());
            assert_eq!(piece.operand_spans, kept.operand_spans);
            let unknown = |operand: &Operand| matches!(operand, Operand::Unknown(_));
            let both = piece.operands.iter().zip(&kept.operands);
            assert!(both.clone().all(|(a, b)| unknown(a) == unknown(b)));
            assert_eq!(piece.register_count, kept.register_count);
        }
        let found = declared.problems(found, Clone::clone, |problem| problem.span);
        assert_eq!(found, whole.problems);
        found.into_iter().map(|found| format!("{:?}", found.what)).collect()
    }

    #[test]
    fn a_body_sees_what_was_declared_before_it() {
        let found = same_problems(
            ".entry a() { .reg .b64 %r; mov.u64 %r, late; mov.u64 %r, early; }\n\
             .global .b32 late;\n\
             .entry b() { .reg .b64 %r; mov.u64 %r, late; mov.u64 %r, lata; }\n",
        );
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn a_body_sees_the_declaration_that_is_the_last_before_it() {
        let found = same_problems(
            ".func (.reg .u32 %o) f (.reg .u32 %i<2>, .param .b32 p);\n\
             .entry a() { .reg .u32 %r<3>; call (%r0), f, (%r1, %r2, %r2); }\n\
             .func (.reg .u32 %o) f (.reg .u32 %i<2>, .param .b32 p) { .reg .u32 %i; mov.u32 %o, %i1; ret; }\n\
             .func f () { }\n\
             .global .u32 f;\n\
             .entry b() { .reg .u32 %i; call f; call (%i), f, (%i, %i, %i); mov.u32 %i, %i1; }\n",
        );
        assert!(
            found.iter().any(|problem| problem.contains(r#"entity: "function", name: "f""#)),
            "{found:?}"
        );
    }

    #[test]
    fn locals_and_labels_belong_to_their_body() {
        let found = same_problems(
            ".entry a() { .local .b8 v<3>; .reg .b64 %r; L: mov.u64 %r, v2; bra L; P: .callprototype _ (); }\n\
             .entry b() { .reg .b64 %r; mov.u64 %r, v2; bra L; call %r, P; { .shared .b8 L; } }\n",
        );
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn a_body_of_another_text_sees_what_the_first_one_declares() {
        let source = format!("{HEADER}.shared .b32 v;\n.entry a(.param .b32 p) {{ ret; }}\n");
        let tree = ptx_syntax::outline(&source).unwrap();
        let declared = declarations(&tree, &source).unwrap();
        let problems = |text: &str| {
            let mut parser = BodyParser::default();
            let mut lowering = BodyLowering::of_text(&declared, &source, text);
            lowering.lower(0, parser.parse(text, Span::new(0, text.len() as u32)).unwrap()).len()
        };
        let loads = "{ .reg .b32 %r; { .reg .b32 %r; ld.param.b32 %r, [p]; } st.shared.b32 [v], %r; ret; }";
        assert_eq!(problems(loads), 0);
        assert_eq!(problems(&loads.replace("[p]", "[q]")), 1);
    }

    #[test]
    fn a_header_that_goes_on_after_a_function_is_no_text_in_pieces() {
        let outline = |text: &str| declarations(&ptx_syntax::outline(text).unwrap(), text).is_some();
        assert!(outline(".version 8.0\n.func f ();\n.target sm_80\n.entry k() { }"));
        assert!(!outline(".version 8.0\n.entry k() { }\n.target sm_80\n"));
    }
}
