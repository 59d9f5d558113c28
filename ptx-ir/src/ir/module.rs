//! A module and what is at its top level.

use super::body::Body;
use crate::arena::{Arena, Handle, Symbol, Symbols};
use crate::directive::DirectiveKind;
use crate::isa::{Control, Resolved};
use crate::layered::{Layered, Shared};
use crate::occupancy::registers_left;
use crate::platform::{Platform, TextureMode};
use crate::space::StateSpace;
use crate::target::Target;
use crate::types::Type;
use crate::version::Version;
use indexmap::IndexMap;
use ptx_syntax::Span;
use rustc_hash::FxBuildHasher;

/// Width of addresses, `.address_size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AddressSize {
    /// 32 bits, the default of the ISA.
    #[default]
    Bits32,
    /// 64 bits.
    Bits64,
}

/// `.version`, `.target` and `.address_size`. What is missing or unknown is the newest version and the oldest
/// target that it has, and its span is none.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Header {
    /// The PTX version.
    pub version: Version,
    /// Where the number of the version is.
    pub version_span: Option<Span>,
    /// The target.
    pub target: Target,
    /// Where the name of the target is.
    pub target_span: Option<Span>,
    /// The options after the target, `debug` for one, with their places.
    pub options: Vec<(Symbol, Span)>,
    /// How textures are bound.
    pub texture_mode: TextureMode,
    /// Whether `debug` is among the options.
    pub debug: bool,
    /// Whether `map_f64_to_f32` is among the options.
    pub map_f64_to_f32: bool,
    /// Width of addresses, where it was written.
    pub address_size: Option<AddressSize>,
    /// Where the width of addresses is.
    pub address_size_span: Option<Span>,
}

impl Default for Header {
    fn default() -> Self {
        Self {
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
        }
    }
}

impl Header {
    /// What decides which instructions the module may use.
    #[must_use]
    pub const fn platform(&self) -> Platform {
        Platform { version: self.version, target: self.target, texture_mode: self.texture_mode }
    }

    /// The width of an address in bits.
    #[must_use]
    pub const fn address_bits(&self) -> u32 {
        match self.address_size {
            Some(AddressSize::Bits64) => 64,
            Some(AddressSize::Bits32) | None => 32,
        }
    }
}

/// Linkage of a variable or function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Linkage {
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

impl Linkage {
    /// Reads the word with its dot.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match DirectiveKind::parse(word)? {
            DirectiveKind::Visible => Self::Visible,
            DirectiveKind::Extern => Self::Extern,
            DirectiveKind::Weak => Self::Weak,
            DirectiveKind::Common => Self::Common,
            _ => return None,
        })
    }

    /// The word with its dot.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let kind = match self {
            Self::Visible => DirectiveKind::Visible,
            Self::Extern => DirectiveKind::Extern,
            Self::Weak => DirectiveKind::Weak,
            Self::Common => DirectiveKind::Common,
        };
        kind.word()
    }
}

/// `.ptr .global .align 8`, a kernel parameter's promise about what it points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pointer {
    /// The space; none means generic.
    pub space: Option<StateSpace>,
    /// The alignment of what it points to.
    pub align: Option<u32>,
    /// `.texref`, `.samplerref` or `.surfref`, where it is a handle.
    pub object: Option<Type>,
}

/// The value a variable starts with.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Initializer {
    /// An integer.
    Integer {
        /// The value, modulo 2 to the 64.
        bits: u64,
        /// Whether it is below 0.
        negative: bool,
    },
    /// A floating-point number in decimal.
    Decimal(#[cfg_attr(feature = "serde", serde(with = "crate::serial::decimal"))] f64),
    /// `0f…`
    SingleBits(u32),
    /// `0d…`
    DoubleBits(u64),
    /// The address of a variable.
    Variable {
        /// The variable.
        variable: Handle<Variable>,
        /// Bytes after its start.
        offset: i64,
        /// Whether it is wrapped in `generic()`.
        generic: bool,
        /// The bytes of the address that are taken, as in `0xff00(x)`.
        mask: Option<u64>,
    },
    /// The address of a function or kernel.
    Function {
        /// The function.
        function: Handle<Function>,
        /// Whether it is wrapped in `generic()`.
        generic: bool,
        /// The bytes of the address that are taken.
        mask: Option<u64>,
    },
    /// `{a, b}`
    List(Vec<Initializer>),
    /// `name = value` of a sampler or texture.
    Field(Symbol, Symbol),
    /// `name = 1` of a sampler or texture.
    NumberField(Symbol, i64),
    /// Something that is no initialiser, which lowering has reported.
    Unknown,
}

/// A variable, or a parameter of a function. Registers are no variables but [`super::RegisterGroup`]s.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variable {
    /// The name.
    pub name: Symbol,
    /// Which variable of a parametrised declaration `name<N>` it is. Only the first of them, which stands for the
    /// declaration, and those that the text names are variables of the module.
    pub member: Option<Member>,
    /// Where it lives.
    pub space: StateSpace,
    /// Linkage, where it was written.
    pub linkage: Option<Linkage>,
    /// The type of an element.
    pub ty: Type,
    /// Elements of a vector: 1, 2 or 4.
    pub elements: u8,
    /// Dimensions of an array; an unsized one is none.
    pub dimensions: Vec<Option<u64>>,
    /// `.align`, where it was written.
    pub align: Option<u32>,
    /// `.ptr`, where it was written.
    pub pointer: Option<Pointer>,
    /// `.attribute(…)`: names with their arguments.
    pub attributes: Vec<(Symbol, Vec<u64>)>,
    /// The value it starts with.
    pub initializer: Option<Initializer>,
    /// The function it is a parameter or local of; none at module level.
    pub function: Option<Handle<Function>>,
    /// Whether it is a parameter or return value of that function.
    pub is_parameter: bool,
    /// Where the name was declared.
    pub span: Span,
    /// The whole declaration.
    pub declaration: Span,
}

/// One of the variables that `name<N>` declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Member {
    /// Its number, from 0.
    pub number: u32,
    /// How many there are.
    pub count: u32,
}

impl Variable {
    /// The size in bytes; none for opaque types, predicates, and arrays without a size. An array that leaves its size
    /// to its initialiser has as many elements as that.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let element = u64::from(self.ty.bytes()?) * u64::from(self.elements);
        if let ([None], Some(Initializer::List(values)), 1) =
            (self.dimensions.as_slice(), &self.initializer, self.elements)
        {
            return element.checked_mul(values.len() as u64);
        }
        self.dimensions.iter().try_fold(element, |size, dimension| size.checked_mul((*dimension)?))
    }

    /// The alignment in bytes: what was written, or that of the type.
    #[must_use]
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or_else(|| self.ty.bytes().unwrap_or(8) * u32::from(self.elements))
    }
}

/// What kind of function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FunctionKind {
    /// `.entry`, a kernel.
    Entry,
    /// `.func`
    Function,
    /// `.callprototype`
    Prototype,
}

/// A function, kernel or prototype.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Function {
    /// The name; `_` for a prototype without a label.
    pub name: Symbol,
    /// What it is.
    pub kind: FunctionKind,
    /// Linkage, where it was written.
    pub linkage: Option<Linkage>,
    /// `.attribute(…)`
    pub attributes: Vec<(Symbol, Vec<u64>)>,
    /// Return parameters. Those in registers are described as variables of space `.reg`.
    pub returns: Vec<Handle<Variable>>,
    /// Parameters. Those in registers are described as variables of space `.reg`.
    pub parameters: Vec<Handle<Variable>>,
    /// `.maxntid` and the like, in order.
    pub directives: Vec<Directive>,
    /// The body; none for a declaration.
    pub body: Option<Body>,
    /// The definition or declaration of the same name that came before.
    pub earlier: Option<Handle<Function>>,
    /// Where the name is.
    pub span: Span,
    /// From the first word to the end of the parameters.
    pub header: Span,
}

/// An argument of a directive.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DirectiveArgument {
    /// An integer.
    Integer(i64),
    /// A number with a point, as it was written.
    Number(Symbol),
    /// A string, its quotes included.
    String(Symbol),
    /// A word.
    Name(Symbol),
    /// A label with an offset, in `.loc`.
    LabelOffset(Symbol, i64),
}

/// A directive whose arguments are plain: `.maxntid 32, 4`, `.pragma "nounroll";`, `.loc 1 2 3`, `.file 1 "a.cu"`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Directive {
    /// Which one it is; none where the manual has no such directive.
    pub kind: Option<DirectiveKind>,
    /// The word with its dot.
    pub word: Symbol,
    /// The arguments.
    pub arguments: Vec<(DirectiveArgument, Span)>,
    /// The whole of it.
    pub span: Span,
}

impl Function {
    /// The first directive of a kind.
    #[must_use]
    pub fn directive(&self, kind: DirectiveKind) -> Option<&Directive> {
        self.directives.iter().find(|directive| directive.kind == Some(kind))
    }

    /// Whether there is a directive of a kind.
    #[must_use]
    pub fn has(&self, kind: DirectiveKind) -> bool {
        self.directive(kind).is_some()
    }

    /// `.maxntid`: no block is larger, in threads of each dimension. What is promised is their product.
    #[must_use]
    pub fn max_threads(&self) -> Option<[u32; 3]> {
        self.directive(DirectiveKind::MaxThreads)?.extents()
    }

    /// `.reqntid`: blocks have exactly this size, in threads of each dimension.
    #[must_use]
    pub fn required_threads(&self) -> Option<[u32; 3]> {
        self.directive(DirectiveKind::RequiredThreads)?.extents()
    }

    /// `.reqnctapercluster`: clusters have exactly this size, in blocks of each dimension.
    #[must_use]
    pub fn required_cluster(&self) -> Option<[u32; 3]> {
        self.directive(DirectiveKind::RequiredCluster)?.extents()
    }

    /// `.minnctapersm`: so many blocks at least on one multiprocessor.
    #[must_use]
    pub fn min_blocks(&self) -> Option<u32> {
        self.directive(DirectiveKind::MinBlocks)?.number(0)
    }

    /// `.maxnreg`: no more registers for each thread than this.
    #[must_use]
    pub fn max_registers(&self) -> Option<u32> {
        self.directive(DirectiveKind::MaxRegisters)?.number(0)
    }

    /// How many registers each thread begins with, at most, in a kernel that hands them from warp to warp: PTX ISA manual,
    /// section "setmaxnreg". None where the kernel does not tell; `ptxas` then ignores the instruction, or takes the count
    /// that the size of a block allows, which depends on how many it needs.
    #[must_use]
    pub fn first_registers(&self) -> Option<u32> {
        self.max_registers().or_else(|| {
            let threads = self.required_threads().or_else(|| self.max_threads())?;
            let threads = threads.iter().try_fold(1_u32, |all, each| all.checked_mul(*each))?;
            registers_left(threads, self.min_blocks()?)
        })
    }
}

impl Directive {
    /// An argument that is a number above 0 of 32 bits.
    #[must_use]
    pub fn number(&self, index: usize) -> Option<u32> {
        match self.arguments.get(index)?.0 {
            DirectiveArgument::Integer(number) => u32::try_from(number).ok().filter(|number| *number > 0),
            _ => None,
        }
    }

    /// One to three extents; the dimensions that are left out have the extent 1.
    #[must_use]
    pub fn extents(&self) -> Option<[u32; 3]> {
        let mut extents = [1; 3];
        if self.arguments.is_empty() || self.arguments.len() > extents.len() {
            return None;
        }
        for (index, extent) in extents.iter_mut().enumerate().take(self.arguments.len()) {
            *extent = self.number(index)?;
        }
        Some(extents)
    }
}

/// `.section .debug_info { … }`. Its lines are kept as text, tokens separated by single blanks: nothing in
/// PTX refers to them, and they may be most of a file.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Section {
    /// The word: `.section` or `.nv_intermediate_source_section`.
    pub word: Symbol,
    /// The name with its dot; the word itself where there is none.
    pub name: Symbol,
    /// Its lines, each with its line end.
    pub text: String,
    /// The whole of it.
    pub span: Span,
}

/// A distinct dotted spelling of the module, and what it can mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Spelling {
    /// The spelling, without the blanks that PTX allows within.
    pub text: Box<str>,
    /// What it means.
    pub resolved: Resolved,
}

/// What a name at module level stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Definition {
    /// A variable.
    Variable(Handle<Variable>),
    /// A function or kernel: the latest declaration or definition.
    Function(Handle<Function>),
}

/// What is at module level, in order of the text. The header is not among it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Item {
    /// A variable.
    Variable(Handle<Variable>),
    /// A function.
    Function(Handle<Function>),
    /// `.file`, `.pragma`
    Directive(Directive),
    /// `.alias a, b;`
    Alias {
        /// The new name.
        name: Symbol,
        /// What it stands for.
        target: Symbol,
        /// The whole of it.
        span: Span,
    },
    /// A section.
    Section(Section),
}

/// A module.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Module {
    /// Version, target and address size.
    pub header: Header,
    /// All names.
    pub symbols: Symbols,
    /// The distinct spellings of instructions, in order of first appearance.
    pub spellings: Arena<Spelling>,
    /// All variables: of the module, of functions, and parameters.
    pub variables: Layered<Variable>,
    /// All functions, kernels and prototypes.
    pub functions: Layered<Function>,
    /// The names of the module.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serial::names"))]
    pub names: Shared<IndexMap<Symbol, Definition, FxBuildHasher>>,
    /// What is at module level, in order.
    pub items: Shared<Vec<Item>>,
}

impl Module {
    /// A module without items.
    #[must_use]
    pub(crate) fn new(header: Header) -> Self {
        Self {
            header,
            symbols: Symbols::default(),
            spellings: Arena::default(),
            variables: Layered::default(),
            functions: Layered::default(),
            names: Shared::default(),
            items: Shared::default(),
        }
    }

    /// Lets copies share the names, variables and functions that there are.
    pub(crate) fn share(&mut self) {
        self.symbols.share();
        self.variables.share();
        self.functions.share();
    }

    /// Forgets the names, variables and functions that are not shared. The spellings stay, which a body after this one
    /// may have again.
    pub(crate) fn forget_own(&mut self) {
        self.symbols.forget_own();
        self.variables.forget_own();
        self.functions.forget_own();
    }

    /// The text of a name.
    #[must_use]
    pub fn name(&self, symbol: Symbol) -> &str {
        self.symbols.name(symbol)
    }
}

impl Module {
    /// The function or prototype that a call names, where it is known.
    #[must_use]
    pub fn callee(&self, body: &Body, call: Handle<super::Instruction>) -> Option<Handle<Function>> {
        let operands = body.operands(call);
        operands.iter().rev().find_map(|operand| match operand {
            super::Operand::Function(function) | super::Operand::Prototype(function) => Some(*function),
            _ => None,
        })
    }

    /// Whether a call goes to a function that is declared `.noreturn`.
    #[must_use]
    pub fn call_never_returns(&self, body: &Body, call: Handle<super::Instruction>) -> bool {
        let Some(callee) = self.callee(body, call) else { return false };
        self.functions[callee].has(DirectiveKind::NoReturn)
    }

    /// Where control goes after an instruction.
    ///
    /// A function that is declared `.noreturn` reports what went wrong and ends the grid, so a call of it is a trap. One
    /// that ends its own thread only would be an exit, but a declaration does not tell that.
    #[must_use]
    #[inline]
    pub fn control(&self, body: &Body, instruction: Handle<super::Instruction>) -> Control {
        let found = &body.instructions[instruction];
        // Control does not depend on the operands, so any instance will do where none fits.
        let which = found.instance.map_or(0, usize::from);
        let instances = &self.spellings[found.spelling].resolved.instances;
        let control = instances.get(which).map_or(Control::Next, |instance| instance.effects.control);
        match control {
            Control::Call if self.call_never_returns(body, instruction) => Control::Trap,
            control => control,
        }
    }

    /// What an instruction means, where its operands fit.
    #[must_use]
    #[inline]
    pub fn instance(&self, instruction: &super::Instruction) -> Option<&crate::isa::Instance> {
        self.spellings[instruction.spelling].resolved.instances.get(usize::from(instruction.instance?))
    }
}
