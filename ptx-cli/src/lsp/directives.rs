//! The directives of PTX: how they are written, and what they are for.

/// A directive.
pub struct Directive {
    /// The word with its dot.
    pub word: &'static str,
    /// How it is written.
    pub syntax: &'static str,
    /// What it is for, in half a sentence.
    pub purpose: &'static str,
    /// Where it stands.
    pub stands: Stands,
}

/// Where a directive stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// At module level.
    Module,
    /// Between the header of a function and its body.
    Header,
    /// In a body.
    Body,
    /// At module level and in bodies.
    Both,
}

const fn of(word: &'static str, syntax: &'static str, purpose: &'static str, stands: Stands) -> Directive {
    Directive { word, syntax, purpose, stands }
}

/// The directives of the manual's chapter "Directives", and the state spaces that begin declarations.
pub static DIRECTIVES: [Directive; 42] = [
    of(".version", ".version major.minor", "the PTX version that the module is written in", Stands::Module),
    of(
        ".target",
        ".target sm_90a, debug, …",
        "the architecture and platform that the module is for",
        Stands::Module,
    ),
    of(".address_size", ".address_size 64", "how many bits an address has: 32 or 64", Stands::Module),
    of(".entry", ".entry name (parameters) { … }", "a kernel, which the host starts", Stands::Module),
    of(
        ".func",
        ".func (result) name (parameters) { … }",
        "a function, which other functions call",
        Stands::Module,
    ),
    of(".alias", ".alias name, other;", "another name of a function", Stands::Module),
    of(".visible", ".visible declaration", "other modules may refer to the name", Stands::Module),
    of(".extern", ".extern declaration", "another module defines the name", Stands::Module),
    of(".weak", ".weak declaration", "a definition that another may replace", Stands::Module),
    of(".common", ".common .global …", "a variable that several modules may define", Stands::Module),
    of(".file", ".file index \"name\"", "a source file that `.loc` refers to", Stands::Module),
    of(".section", ".section .debug_… { … }", "debugging information", Stands::Module),
    of(".const", ".const .align 4 .b32 name;", "a variable in constant memory", Stands::Module),
    of(".global", ".global .align 4 .b32 name;", "a variable in global memory", Stands::Module),
    of(
        ".shared",
        ".shared .align 16 .b8 name[1024];",
        "a variable in the shared memory of the block",
        Stands::Both,
    ),
    of(".tex", ".tex .u32 name;", "a texture; `.global .texref` has taken its place", Stands::Module),
    of(".reg", ".reg .b32 name, %r<100>;", "registers; `%r<100>` are `%r0` to `%r99`", Stands::Body),
    of(".local", ".local .align 8 .b8 name[64];", "a variable in the memory of the thread", Stands::Body),
    of(".param", ".param .b64 name", "a parameter of a function or kernel, or of a call", Stands::Body),
    of(".sreg", ".sreg .b32 name;", "a special register; programs declare none", Stands::Body),
    of(".loc", ".loc file line column", "the source line of the instructions that follow", Stands::Body),
    of(".pragma", ".pragma \"nounroll\";", "a hint for the assembler", Stands::Both),
    of(".branchtargets", "name: .branchtargets label, …;", "where a `brx.idx` may go to", Stands::Body),
    of(".calltargets", "name: .calltargets function, …;", "what an indirect `call` may call", Stands::Body),
    of(
        ".callprototype",
        "name: .callprototype (result) _ (parameters);",
        "the type of what an indirect `call` calls",
        Stands::Body,
    ),
    of(".maxnreg", ".maxnreg n", "no more registers for each thread than this", Stands::Header),
    of(".maxntid", ".maxntid x, y, z", "no larger block than this is started", Stands::Header),
    of(".reqntid", ".reqntid x, y, z", "blocks of exactly this size are started", Stands::Header),
    of(".minnctapersm", ".minnctapersm n", "so many blocks at least on one multiprocessor", Stands::Header),
    of(".maxnctapersm", ".maxnctapersm n", "the old name of `.minnctapersm`", Stands::Header),
    of(".noreturn", ".noreturn", "the function does not return", Stands::Header),
    of(
        ".reqnctapercluster",
        ".reqnctapercluster x, y, z",
        "clusters of exactly so many blocks are started",
        Stands::Header,
    ),
    of(
        ".explicitcluster",
        ".explicitcluster",
        "the launch has to name the size of the cluster",
        Stands::Header,
    ),
    of(".maxclusterrank", ".maxclusterrank n", "no more blocks in a cluster than this", Stands::Header),
    of(
        ".blocksareclusters",
        ".blocksareclusters",
        "the grid is given in clusters instead of blocks",
        Stands::Header,
    ),
    of(".abi_preserve", ".abi_preserve n", "so many registers keep their value over a call", Stands::Header),
    of(
        ".abi_preserve_control",
        ".abi_preserve_control n",
        "so many predicates keep their value over a call",
        Stands::Header,
    ),
    of(
        ".align",
        ".align bytes",
        "the alignment of a variable or of what a parameter points to",
        Stands::Body,
    ),
    of(".attribute", ".attribute(.managed)", "properties of a variable or function", Stands::Module),
    of(".ptr", ".ptr .global .align 8", "what a parameter points to", Stands::Body),
    of(".managed", ".attribute(.managed)", "a variable that host and device share", Stands::Module),
    of(
        ".unified",
        ".attribute(.unified(a, b))",
        "a name that is the same on host and device",
        Stands::Module,
    ),
];

/// The directive of this word.
pub fn find(word: &str) -> Option<&'static Directive> {
    DIRECTIVES.iter().find(|each| each.word == word)
}
