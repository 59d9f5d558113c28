//! Syntax tree to typed IR: scopes and names, constants, operands, and for each instruction the instance
//! of the instruction table that its operands fit.
//!
//! Lowering never fails. It reports what is wrong with names, scopes, declarations and constants; whether
//! an *instruction* is right is the verifier's to say, from [`Instruction::instance`] and the table.
//!
//! [`Instruction::instance`]: crate::ir::Instruction::instance

mod body;
mod declaration;
mod expression;
mod function;
mod initializer;
mod members;
mod messages;
mod module;
mod names;
mod operand;
mod selection;
mod specifiers;

use crate::arena::{Arena, Handle, Symbol};
use crate::ir::{AddressSize, Body, Function, Header, Module, Spelling, TextureMode, Variable};
use crate::isa::resolve;
use crate::target::Target;
use crate::version::Version;
use members::Members;
use names::Names;
use ptx_syntax::ast::Tree;
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;
use selection::Selection;

/// The result of lowering: a module in every case, and what was wrong.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module; what could not be understood is left out or marked unknown.
    pub module: Module,
    /// Findings about names, scopes, declarations and constants, in order of their place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Lowers the syntax tree of `source`.
#[must_use]
pub fn lower(tree: &Tree, source: &str) -> Lowered {
    let mut context = Context::new(tree, source);
    context.module();
    let mut diagnostics = context.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    Lowered { module: context.module, diagnostics }
}

/// Findings beyond this many are left out, which the last one says: a text with more is no PTX.
const MOST_FINDINGS: usize = 100_000;
const LAST_FINDING: usize = MOST_FINDINGS - 1;

/// State of lowering a module.
struct Context<'s> {
    tree: &'s Tree,
    source: &'s str,
    module: Module,
    diagnostics: Vec<Diagnostic>,
    /// Spellings as they stand in the source, blanks included.
    spellings: FxHashMap<&'s str, Handle<Spelling>>,
    /// Spellings without their blanks, for those that have any.
    clean_spellings: FxHashMap<String, Handle<Spelling>>,
    names: Names<'s>,
    /// Asked for the first parametrised declaration of variables.
    members: Option<Members<'s>>,
    /// The function being lowered.
    function: Option<Handle<Function>>,
    /// The body being lowered.
    body: Body,
    /// The block of the body, as [`Names`] numbers them.
    block: u32,
    selection: Selection,
    /// The last function with a body of each name.
    with_body: FxHashMap<Symbol, Handle<Function>>,
    /// The name `.loc`, once it was seen.
    location: Option<Symbol>,
}

impl<'s> Context<'s> {
    fn new(tree: &'s Tree, source: &'s str) -> Self {
        let header = Header {
            version: Version::LATEST,
            version_span: None,
            target: Target::OLDEST,
            target_span: None,
            options: Vec::new(),
            texture_mode: TextureMode::Unified,
            debug: false,
            map_f64_to_f32: false,
            address_size: None,
            address_size_span: None,
        };
        let module = Module {
            header,
            symbols: crate::arena::Symbols::default(),
            spellings: Arena::default(),
            variables: Arena::default(),
            functions: Arena::default(),
            names: indexmap::IndexMap::default(),
            items: Vec::new(),
        };
        Self {
            tree,
            source,
            module,
            diagnostics: Vec::new(),
            spellings: FxHashMap::default(),
            clean_spellings: FxHashMap::default(),
            names: Names::default(),
            members: None,
            function: None,
            body: Body::default(),
            block: 0,
            selection: Selection::default(),
            with_body: FxHashMap::default(),
            location: None,
        }
    }

    fn text(&self, span: Span) -> &'s str {
        span.text(self.source)
    }

    fn intern(&mut self, span: Span) -> Symbol {
        self.module.symbols.intern(span.text(self.source))
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        match self.diagnostics.len() {
            MOST_FINDINGS.. => {}
            LAST_FINDING => self.diagnostics.push(messages::too_many(diagnostic.span)),
            _ => self.diagnostics.push(diagnostic),
        }
    }

    /// The handle of a spelling; each distinct one is resolved once.
    #[inline]
    fn spelling(&mut self, word: Span) -> Handle<Spelling> {
        let text = self.text(word);
        match self.spellings.get(text) {
            Some(&handle) => handle,
            None => self.new_spelling(text),
        }
    }

    #[cold]
    fn new_spelling(&mut self, text: &'s str) -> Handle<Spelling> {
        let clean = if text.bytes().any(|byte| byte <= b' ' || byte == b'/') {
            ptx_syntax::lexer::tokenize(text)
                .iter()
                .filter(|token| !token.kind.is_trivia())
                .map(|token| token.text(text))
                .collect()
        } else {
            text.to_owned()
        };
        let handle = match self.clean_spellings.get(&clean) {
            Some(&handle) => handle,
            None => {
                let spelling = Spelling { text: clean.as_str().into(), resolved: resolve(&clean) };
                let handle = self.module.spellings.push(spelling);
                self.clean_spellings.insert(clean, handle);
                handle
            }
        };
        self.spellings.insert(text, handle);
        handle
    }

    fn variable(&self, handle: Handle<Variable>) -> &Variable {
        &self.module.variables[handle]
    }
}

impl AddressSize {
    /// The width of a number of bits.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match bits {
            32 => Some(Self::Bits32),
            64 => Some(Self::Bits64),
            _ => None,
        }
    }
}
