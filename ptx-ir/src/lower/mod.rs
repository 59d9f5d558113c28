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
mod pieces;
mod problem;
mod selection;
mod specifiers;
mod spellings;
mod visible;

use crate::arena::{Handle, Symbol};
use crate::ir::{AddressSize, Body, Function, Header, Module, Spelling, Variable};
use expression::Room;
use members::Members;
use names::Names;
pub use pieces::{BodyLowering, Declarations, declarations};
pub use problem::{ConstantError, Problem, RegisterGroup};
use ptx_syntax::ast::Tree;
use ptx_syntax::{Explanation, Located, Span};
use rustc_hash::FxHashMap;
pub(crate) use selection::{Selected, Selection};
use spellings::Spellings;
use visible::{History, Visible};

/// The result of lowering: a module in every case, and what was wrong.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module; what could not be understood is left out or marked unknown.
    pub module: Module,
    /// What is wrong with names, scopes, declarations and constants, in order of the places.
    pub problems: Vec<Located<Problem>>,
}

/// Lowers the syntax tree of `source`.
#[must_use]
pub fn lower(tree: &Tree, source: &str) -> Lowered {
    let mut context = Context::new(tree, source);
    context.module();
    let mut problems = context.problems;
    problems.sort_by_key(|problem| problem.span);
    Lowered { module: context.module, problems }
}

/// Problems beyond this many are left out, which the last one says: a text with more is no PTX.
const MAX_PROBLEMS: usize = 100_000;
const LAST_PROBLEM: usize = MAX_PROBLEMS - 1;

/// State of lowering a module, or one of its bodies.
struct Context<'t, 's> {
    tree: &'t Tree,
    source: &'s str,
    module: Module,
    problems: Vec<Located<Problem>>,
    spellings: Spellings<'s>,
    names: Names<'s>,
    /// The names that a body may refer to, where the module has more.
    visible: Option<Visible<'t>>,
    /// What parametrised variables of the module the text names; asked for the first of them.
    members: Option<Members<'s>>,
    /// The same within the function being lowered.
    local_members: Option<Members<'s>>,
    /// What names the parametrised variables of the function: its header, then its body.
    extent: Span,
    /// The function being lowered.
    function: Option<Handle<Function>>,
    /// The body being lowered.
    body: Body,
    /// The block of the body, as [`Names`] numbers them.
    block: u32,
    /// What expressions have here.
    room: Room,
    selection: Selection,
    /// The last function with a body of each name.
    with_body: FxHashMap<Symbol, Handle<Function>>,
    /// The name `.loc`, once it was seen.
    location: Option<Symbol>,
    /// When each name of the module was defined.
    history: History,
    /// Names of the body that nothing has, and the nearest ones of the module.
    wrong: Vec<(String, Option<String>)>,
}

impl<'t, 's> Context<'t, 's> {
    fn new(tree: &'t Tree, source: &'s str) -> Self {
        Self {
            tree,
            source,
            module: Module::new(Header::default()),
            problems: Vec::new(),
            spellings: Spellings::default(),
            names: Names::default(),
            visible: None,
            members: None,
            local_members: None,
            extent: Span::default(),
            function: None,
            body: Body::default(),
            block: 0,
            room: Room::MODULE,
            selection: Selection::default(),
            with_body: FxHashMap::default(),
            location: None,
            history: History::default(),
            wrong: Vec::new(),
        }
    }

    fn text(&self, span: Span) -> &'s str {
        span.text(self.source)
    }

    fn intern(&mut self, span: Span) -> Symbol {
        self.module.symbols.intern(span.text(self.source))
    }

    #[cold]
    fn report(&mut self, problem: Located<Problem>) {
        match self.problems.len() {
            MAX_PROBLEMS.. => {}
            LAST_PROBLEM => self.problems.push(Located { what: Problem::TooMany, ..problem }),
            _ => self.problems.push(problem),
        }
    }

    #[cold]
    fn bad_operand(&mut self, fault: Located<Explanation>) {
        self.report(fault.map(Problem::BadOperand));
    }

    #[cold]
    fn bad_declaration(&mut self, fault: Located<Explanation>) {
        self.report(fault.map(Problem::BadDeclaration));
    }

    /// The handle of a spelling; each distinct one is resolved once.
    #[inline]
    fn spelling(&mut self, word: Span) -> Handle<Spelling> {
        self.spellings.find(self.source, word, &mut self.module.spellings)
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
