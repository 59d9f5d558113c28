//! Kernels of CUDA C++ as PTX: what surrounds the asm statements is translated, and the rules about protocols read the
//! result as if a compiler had made it.
//!
//! Hand-written kernels say the protocol in asm statements, and around them in plain C++: loops over stages, indices,
//! phases, accesses of shared memory, wrappers of one instruction. [`kernel`] translates integers, pointers, arrays,
//! branches and loops, and inlines functions of the same file. Other numbers are not followed: where one decides about
//! something, nothing is known of that. Where a kernel has anything that is not understood (a call of a function that is
//! not in sight, a specialisation of a template), it is not translated at all, for it might be a barrier.
//!
//! Nothing is optimized: only the rules that execute a kernel's protocol read the result.

mod asm;
mod atomic;
mod bits;
mod call;
mod callable;
mod choice;
mod constants;
mod construct;
mod cuda;
mod deduce;
mod device;
mod each;
mod expression;
mod folded;
mod forms;
mod group;
mod host;
mod initial;
mod instructions;
mod lanes;
mod launch;
mod library;
mod member;
mod memory;
mod operator;
mod overload;
mod pack;
mod phases;
mod pipeline;
mod plain_atomic;
mod random;
mod recursion;
mod reinterpret;
mod scope;
mod special;
mod statement;
mod swapped;
mod tensor_memory;
mod translated;
mod types;
mod value;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;

use ptx_ir::isa::{Instance, resolve};
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::Span;
use ptx_syntax::cuda::CudaFile;
use ptx_syntax::cuda::body::{Expression, Function, Program, StructureId, TemplateArgument, TypeName};
use ptx_syntax::lexer::{Lexer, TokenKind};

use launch::Use;
use pipeline::Pipeline;
pub(crate) use translated::Kernel;
use translated::{Call, Template};
use types::{Given, Members, Ty};
use value::{Held, Place, Register, Value};

/// Something that is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unclear;

/// The register of an address of which nothing is known.
pub(crate) const ANYTHING: &str = "%c_anything";
/// What the names of parameters begin with that point to what nobody writes while the kernel runs.
pub(crate) const READ_ONLY: &str = "c_read_only_";
/// The same of what kernels that are launched before write, or use, and may still do so when this one begins.
pub(crate) const WRITTEN_BEFORE: &str = "c_written_before_";
pub(crate) const USED_BEFORE: &str = "c_used_before_";
/// A parameter of kernels that may begin while the one runs that is launched before.
pub(crate) const BEGINS_EARLY: &str = "c_begins_early";
/// Registers of a kernel.
const MAX_REGISTERS: u32 = 100_000;
/// Bytes of its text.
const MAX_TEXT: usize = 2_000_000;
/// Calls that are inlined.
const MAX_CALLS: usize = 10_000;
/// Elements of an array that is kept in registers.
const MAX_ELEMENTS: u64 = 256;
/// Expressions and statements that are read for a kernel, those of inlined functions as often as they are called.
const MAX_WORK: usize = 400_000;
/// Pointers for whose sake a kernel is translated again.
const MAX_GENERIC: usize = 4;
/// Templates whose uses are in templates.
const MAX_USES: usize = 4;
/// How deep expressions, statements and calls lie in each other.
const DEEPEST: u32 = 130;

/// Whether a template has an instruction of some kind.
pub(crate) fn has_instruction(template: &str, is_such: impl Fn(&Instance) -> bool) -> bool {
    Lexer::new(template).any(|token| {
        let is_word = matches!(token.kind, TokenKind::Name | TokenKind::Dotted);
        is_word && resolve(token.span.text(template)).instances.iter().any(&is_such)
    })
}

/// What a kernel is translated with.
#[derive(Clone, Copy)]
pub(crate) struct Aim<'a, 's> {
    pub(crate) source: &'s str,
    pub(crate) file: &'a CudaFile,
    pub(crate) program: &'a Program<'s>,
    pub(crate) target: Target,
    pub(crate) version: Version,
    /// Where the source itself begins, after the files that it includes.
    pub(crate) base: u32,
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    /// What chooses a form of an instruction.
    Choice(String),
    /// A lambda.
    Lambda(Lambda),
    /// All that a parameter with dots stands for.
    Pack(Vec<Self>),
    Place(Place),
    Type(Ty),
}

impl Binding {
    /// What it is as an argument of a template.
    fn given(&self) -> Result<Given, Unclear> {
        match self {
            Self::Type(ty) => Ok(Given::Type(ty.clone())),
            Self::Place(Place::Fixed(Value { ty: ty @ Ty::Callable(_), .. })) => Ok(Given::Type(ty.clone())),
            Self::Place(Place::Fixed(value)) => {
                Ok(Given::Number(value.number().ok_or(Unclear)?, value.ty.clone()))
            }
            Self::Place(place @ Place::Parts(_, ty @ Ty::Structure(_))) => {
                let mut all = Vec::new();
                constants::numbers(place, &mut all)?;
                Ok(Given::Object(all, ty.clone()))
            }
            Self::Pack(all) => Ok(Given::Pack(all.iter().map(Self::given).collect::<Result<_, _>>()?)),
            Self::Place(_) | Self::Lambda(_) | Self::Choice(_) => Err(Unclear),
        }
    }

    /// What an argument of a template stands for.
    fn of(given: &Given) -> Self {
        match given {
            Given::Type(ty) => Self::Type(ty.clone()),
            Given::Number(number, ty) => Self::Place(Place::Fixed(Value::constant(*number, ty.clone()))),
            Given::Object(all, ty) => Self::Place(constants::object(ty, &mut all.iter().copied())),
            Given::Pack(all) => Self::Pack(all.iter().map(Self::of).collect()),
        }
    }
}

/// A lambda, with what it sees of where it stands.
#[derive(Clone, Debug)]
struct Lambda {
    number: usize,
    names: std::ops::Range<usize>,
    /// Of these names, what it does not see.
    hidden: Vec<std::ops::Range<usize>>,
    /// The copies that it keeps.
    captured: Vec<(String, Binding)>,
    object: Option<(Option<Place>, Rc<Members>)>,
}

/// What is called where a value is.
#[derive(Debug)]
enum Callable {
    /// A lambda, with all that it names.
    Lambda(Lambda),
    /// A function of the file, with the arguments of its template.
    Function(String, Vec<Given>),
    /// A member or a method of a structure.
    Member(Rc<Members>, String),
}

impl PartialEq for Callable {
    /// Each lambda has a type of its own, wherever it is made.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Lambda(one), Self::Lambda(other)) => one.number == other.number,
            (Self::Function(one, given), Self::Function(other, also)) => one == other && given == also,
            (Self::Member(one, name), Self::Member(other, also)) => one == other && name == also,
            _ => false,
        }
    }
}

/// A function that is being translated, or something else that does not see the names around it.
#[derive(Default)]
struct Frame {
    /// Which function it is.
    function: Option<Span>,
    /// The structure in which names are looked for, where that is not the object's.
    structure: Option<StructureId>,
    /// The object whose method it is, without a place where the method is static.
    object: Option<(Option<Place>, Rc<Members>)>,
    /// The object that this is a part of, where the method is that of a base.
    whole: Option<Place>,
    /// Where a wrapper is called: what it does is done there.
    call: Option<Span>,
    /// The names of the functions around are not seen.
    first_name: usize,
    /// Nor are these, of functions that a lambda was passed through.
    hidden: Vec<std::ops::Range<usize>>,
    result: Option<Place>,
    /// Whether the place that is returned is the result, and no copy of what it holds.
    returns_place: bool,
    /// The type of a pointer that is returned: the first one tells where it points to.
    pointer: Option<Ty>,
    end: String,
    /// Where `continue` and `break` go to, and how many objects are there outside.
    loops: Vec<(String, String, usize)>,
    /// Objects whose destructors are called at the end of their scopes.
    objects: Vec<(Place, Rc<Members>)>,
    /// The labels of the source, with those in the text, and whether they are placed.
    labels: Vec<(String, String, bool)>,
}

impl Frame {
    /// The structure in which names are looked for.
    fn within(&self) -> Option<StructureId> {
        self.structure.or_else(|| self.object.as_ref().map(|(_, members)| members.structure))
    }
}

/// Where a translation stands.
struct Mark {
    length: usize,
    objects: usize,
    names: usize,
    frames: usize,
    loops: usize,
    depth: u32,
    trouble: Option<Span>,
    span: Span,
}

struct Lowering<'a, 's> {
    aim: Aim<'a, 's>,
    program: &'a Program<'s>,
    text: String,
    places: Vec<(u32, Span, Span)>,
    templates: Vec<Template>,
    inlined: Vec<Call>,
    /// What is being translated.
    span: Span,
    /// What was not understood.
    trouble: Option<Span>,
    names: Vec<(&'s str, Binding)>,
    frames: Vec<Frame>,
    /// Whether the object that is made next becomes a variable, or the result of a function.
    is_elided: bool,
    /// The place to which the function that was called last returned a reference.
    referred: Option<Place>,
    /// Shared variables by the place of their declaration: their names, sizes and alignments.
    shared: Vec<(String, u64, u64)>,
    shared_by_place: HashMap<(usize, u64, String), usize>,
    /// Variables in global memory.
    device: Vec<device::Global>,
    /// The predicates that registers of truth values are made of.
    truths: HashMap<u32, u32>,
    /// Registers of addresses, and whether all that they have been set to are generic addresses of shared memory.
    of_shared: HashMap<u32, bool>,
    /// Those that were taken for addresses in shared memory.
    taken_for_shared: HashSet<u32>,
    /// Pointers that begin in shared memory and are set to what may lie elsewhere: they hold generic addresses from the beginning.
    generic: HashSet<Span>,
    /// The variables that registers of pointers are, by the values that they begin with.
    begun_with: HashMap<u32, Span>,
    /// One that has turned out to be such.
    wanted: Option<Span>,
    /// Whether functions call themselves, by where they stand.
    recursive: HashMap<Span, bool>,
    /// Whether control has left the function, so that nobody comes to what follows.
    has_returned: bool,
    /// Whether only the type of an expression is asked for.
    is_unevaluated: bool,
    /// Registers that an operation may write which runs on its own.
    begun: HashSet<u32>,
    registers: u32,
    widths: Vec<u32>,
    halves: u32,
    predicates: u32,
    pipelines: Vec<Pipeline>,
    /// What the host calls, where that has been asked for.
    calls_of_host: Option<Rc<host::Calls<'a, 's>>>,
    /// Structures whose members are being told, with what the parameters of their templates stand for.
    making: Vec<(StructureId, Vec<Given>)>,
    /// The object whose method, or that of one of its bases, is called next.
    next_whole: Option<Place>,
    /// Structures whose constants are being bound.
    binding_of: Vec<(StructureId, Vec<Given>)>,
    labels: u32,
    calls: usize,
    depth: u32,
    work: usize,
    max_work: usize,
}

/// Translates a kernel; where it is not understood, the place that is not. `left` is how much more is read for all
/// kernels of a file.
pub(crate) fn kernel<'a, 's>(
    aim: Aim<'a, 's>,
    function: &'a Function<'s>,
    left: &mut usize,
) -> Result<Kernel, Span> {
    let mut generic = HashSet::new();
    loop {
        let (made, wanted) = attempt(aim, function, left, generic.clone());
        match wanted.filter(|_| made.is_err() && generic.len() < MAX_GENERIC) {
            Some(wanted) if generic.insert(wanted) => {}
            _ => return made,
        }
    }
}

/// The same, where it is known which pointers hold generic addresses; gives another one, if it fails for that.
fn attempt<'a, 's>(
    aim: Aim<'a, 's>,
    function: &'a Function<'s>,
    left: &mut usize,
    generic: HashSet<Span>,
) -> (Result<Kernel, Span>, Option<Span>) {
    let mut lowering = Lowering {
        aim,
        program: aim.program,
        text: String::new(),
        places: Vec::new(),
        templates: Vec::new(),
        inlined: Vec::new(),
        span: function.span,
        trouble: None,
        names: Vec::new(),
        frames: Vec::new(),
        is_elided: false,
        referred: None,
        shared: Vec::new(),
        shared_by_place: HashMap::new(),
        device: Vec::new(),
        truths: HashMap::new(),
        of_shared: HashMap::new(),
        taken_for_shared: HashSet::new(),
        generic,
        begun_with: HashMap::new(),
        wanted: None,
        recursive: HashMap::new(),
        has_returned: false,
        is_unevaluated: false,
        begun: HashSet::new(),
        registers: 0,
        widths: vec![0],
        halves: 0,
        predicates: 0,
        pipelines: Vec::new(),
        calls_of_host: None,
        making: Vec::new(),
        next_whole: None,
        binding_of: Vec::new(),
        labels: 0,
        calls: 0,
        depth: 0,
        work: 0,
        max_work: MAX_WORK.min(*left),
    };
    let made = lowering.kernel(function);
    *left -= lowering.work.min(*left);
    let wanted = lowering.wanted;
    match made {
        Ok(head) => (Ok(lowering.finish(&head)), wanted),
        Err(Unclear) => (Err(lowering.trouble.unwrap_or(function.span)), wanted),
    }
}

impl<'a, 's> Lowering<'a, 's> {
    /// Translates the body of a kernel and gives its head.
    fn kernel(&mut self, function: &'a Function<'s>) -> Result<String, Unclear> {
        let end = self.label();
        let bindings = self.bindings_of_use(function, MAX_USES)?;
        self.names.extend(bindings);
        let mut parameters = Vec::new();
        for (index, parameter) in function.parameters.iter().enumerate() {
            if matches!(parameter.ty, TypeName::Reference(_)) {
                return Err(Unclear);
            }
            // A type that is not known may be passed on.
            let ty = self.ty(&parameter.ty).unwrap_or(Ty::Any);
            let place = match ty.register() {
                Some(bits) => {
                    let name = match (self.use_before(function, index), parameter.is_read_only) {
                        (Some(Use::Written), _) => WRITTEN_BEFORE,
                        (Some(Use::Read), false) => USED_BEFORE,
                        (_, true) => READ_ONLY,
                        (None, false) => "c_argument_",
                    };
                    parameters.push(format!(".param .b{bits} {name}{index}"));
                    let register = self.fresh(bits)?;
                    self.emit(&format!("ld.param.b{bits} {}, [{name}{index}];", register.name()));
                    Place::Register(register, ty)
                }
                None if ty == Ty::Any => Place::Unknown(ty),
                None if let Ok((bytes @ 1.., align)) = ty.layout() => {
                    let name = format!("c_argument_{index}");
                    parameters.push(format!(".param .align {align} .b8 {name}[{bytes}]"));
                    let address = self.fresh(64)?;
                    self.emit(&format!("mov.b64 {}, {name};", address.name()));
                    let pointer = Ty::Pointer(Rc::new(ty.clone()), types::Space::Param);
                    let address = Value { ty: pointer, held: Held::Register(address) };
                    Place::Memory { address, ty }
                }
                None => {
                    let pointer = Ty::Pointer(Rc::new(ty.clone()), types::Space::Generic);
                    let address = self.fresh(64)?;
                    self.emit(&format!("mov.b64 {}, %c_anything;", address.name()));
                    let address = Value { ty: pointer, held: Held::Register(address) };
                    Place::Memory { address, ty }
                }
            };
            self.names.push((parameter.name, Binding::Place(place)));
        }
        self.frames.push(Frame {
            function: Some(function.span),
            structure: None,
            object: None,
            call: None,
            first_name: 0,
            hidden: Vec::new(),
            result: None,
            returns_place: false,
            pointer: None,
            end: end.clone(),
            ..Frame::default()
        });
        self.statements(&function.body)?;
        self.all_labels_are_placed()?;
        self.all_parities_may_be_known()?;
        self.place_label(&end);
        // The brace that closes it.
        self.span = Span::new(function.extent.end.saturating_sub(1), function.extent.end);
        self.emit("ret;");
        parameters.push(".param .b64 c_nothing".to_owned());
        if self.begins_early(function) {
            parameters.push(format!(".param .b32 {BEGINS_EARLY}"));
        }
        let mut head = format!(".visible .entry c_kernel({})\n", parameters.join(", "));
        let length = self.text.len();
        let threads = self.threads_of_launch(function);
        let registers = self.first_registers(function);
        self.take_back(length);
        if let Some(registers) = registers {
            let _ = writeln!(head, ".maxnreg {registers}");
        }
        let all = threads
            .as_deref()
            .map(|threads| threads.iter().try_fold(1, |all: u64, one| all.checked_mul(*one)));
        if let (Some(threads), Some(Some(1..=1024))) = (threads, all) {
            let threads: Vec<String> = threads.iter().map(u64::to_string).collect();
            let _ = writeln!(head, ".maxntid {}", threads.join(", "));
        }
        let length = self.text.len();
        let extents = self.cluster_of(function)?;
        self.take_back(length);
        if !extents.is_empty() {
            let extents: Vec<String> = extents.iter().map(u64::to_string).collect();
            let _ = writeln!(head, ".explicitcluster\n.reqnctapercluster {}", extents.join(", "));
        }
        Ok(head)
    }

    fn template_argument(
        &mut self,
        argument: &TemplateArgument<'s>,
        is_type: bool,
    ) -> Result<Binding, Unclear> {
        use ptx_syntax::cuda::body::ExpressionKind;
        Ok(match argument {
            TemplateArgument::Value(value) if is_type => match &value.kind {
                ExpressionKind::Name(name, given) => {
                    Binding::Type(self.type_argument(&TypeName::Named(name, given.clone()))?)
                }
                ExpressionKind::Scoped { owner, name, template } => {
                    let owner = Box::new(owner.clone());
                    Binding::Type(self.type_argument(&TypeName::Scoped(owner, name, template.clone()))?)
                }
                _ => return Err(Unclear),
            },
            TemplateArgument::Type(ty) if is_type || !matches!(ty, TypeName::Scoped(..)) => {
                Binding::Type(self.type_argument(ty)?)
            }
            number => {
                let mark = self.mark();
                match self.number_binding(number) {
                    Ok(binding) => binding,
                    Err(Unclear) => {
                        self.back_to(mark);
                        self.object_binding(number)?
                    }
                }
            }
        })
    }

    /// The number that an argument of a template is: without its template `T::N` reads as a type.
    fn number_argument(&mut self, argument: &TemplateArgument<'s>) -> Result<Value, Unclear> {
        match argument {
            TemplateArgument::Value(value) => self.value(value),
            TemplateArgument::Type(TypeName::Scoped(owner, name, template)) => {
                let owner = (**owner).clone();
                self.value(&Expression::scoped(owner, name, template.clone(), self.span))
            }
            TemplateArgument::Type(_) => Err(Unclear),
        }
    }

    /// The same, where it is known before the kernel runs.
    fn constant_argument(&mut self, argument: &TemplateArgument<'s>) -> Result<u64, Unclear> {
        let length = self.text.len();
        let value = self.number_argument(argument)?;
        if self.text.len() == length { value.number().ok_or(Unclear) } else { Err(Unclear) }
    }

    fn finish(self, head: &str) -> Kernel {
        let mut text =
            format!(".version {}\n.target {}\n.address_size 64\n", self.aim.version, self.aim.target);
        for (name, size, align) in &self.shared {
            let (linkage, length) = match size {
                0 => (".extern ", String::new()),
                size => ("", size.to_string()),
            };
            let _ = writeln!(text, "{linkage}.shared .align {align} .b8 {name}[{length}];");
        }
        for global in &self.device {
            let _ = writeln!(text, "{}", global.declaration());
        }
        text.push_str(head);
        text.push_str("{\n.reg .b64 %c_anything;\n");
        for (number, bits) in self.widths.iter().enumerate().skip(1) {
            let _ = writeln!(text, ".reg .b{bits} %c_{number};");
        }
        if self.predicates > 0 {
            let _ = writeln!(text, ".reg .pred %c_p<{}>;", self.predicates + 1);
        }
        if self.halves > 0 {
            let _ = writeln!(text, ".reg .b16 %c_h<{}>;", self.halves + 1);
        }
        text.push_str("ld.param.b64 %c_anything, [c_nothing];\n");
        let before = text.len() as u32;
        text.push_str(&self.text);
        text.push_str("}\n");
        Kernel {
            text,
            places: self.places.into_iter().map(|(at, shown, own)| (at + before, shown, own)).collect(),
            templates: self
                .templates
                .into_iter()
                .map(|template| Template { start: template.start + before, ..template })
                .collect(),
            calls: self
                .inlined
                .into_iter()
                .map(|call| Call { from: call.from + before, to: call.to + before, ..call })
                .collect(),
        }
    }

    /// Appends an instruction.
    fn emit(&mut self, instruction: &str) {
        self.note_place();
        self.text.push_str(instruction);
        self.text.push('\n');
    }

    /// Notes what the text that follows is for.
    fn note_place(&mut self) {
        let (at, shown, own) = (self.text.len() as u32, self.call().unwrap_or(self.span), self.span);
        if self.places.last().is_none_or(|(_, last, within)| (*last, *within) != (shown, own)) {
            self.places.push((at, shown, own));
        }
    }

    /// Where the wrapper is called that is being inlined; of wrappers in wrappers the outermost.
    fn call(&self) -> Option<Span> {
        self.frames.iter().rev().map_while(|frame| frame.call).last()
    }

    /// Takes back what was appended since the text had this length.
    fn take_back(&mut self, length: usize) {
        self.text.truncate(length);
        let kept = self.places.partition_point(|(at, ..)| (*at as usize) < length);
        self.places.truncate(kept);
        let kept = self.templates.partition_point(|template| (template.start as usize) < length);
        self.templates.truncate(kept);
        while self.inlined.pop_if(|call| call.to as usize > length).is_some() {}
    }

    /// Where the translation stands, to come back to.
    fn mark(&self) -> Mark {
        Mark {
            length: self.text.len(),
            objects: self.frames.last().map_or(0, |frame| frame.objects.len()),
            names: self.names.len(),
            frames: self.frames.len(),
            loops: self.frames.last().map_or(0, |frame| frame.loops.len()),
            depth: self.depth,
            trouble: self.trouble,
            span: self.span,
        }
    }

    fn back_to(&mut self, mark: Mark) {
        self.take_back(mark.length);
        self.names.truncate(mark.names);
        self.frames.truncate(mark.frames);
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.truncate(mark.loops);
            frame.objects.truncate(mark.objects);
        }
        (self.depth, self.trouble, self.span) = (mark.depth, mark.trouble, mark.span);
    }

    fn predicate(&mut self) -> Result<u32, Unclear> {
        self.predicates += 1;
        if self.predicates > MAX_REGISTERS { Err(Unclear) } else { Ok(self.predicates) }
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("C_{}", self.labels)
    }

    fn place_label(&mut self, label: &str) {
        self.text.push_str(label);
        self.text.push_str(":\n");
    }

    /// A branch where a truth value is what is wanted.
    fn branch(&mut self, truth: &Value, wanted: bool, label: &str) -> Result<(), Unclear> {
        let known = match truth.held {
            Held::Register(register) => self.truths.get(&register.number).copied(),
            _ => None,
        };
        let condition = match known {
            Some(condition) => condition,
            None => {
                let operand = self.operand(truth, 32)?;
                let condition = self.predicate()?;
                self.emit(&format!("setp.ne.u32 %c_p{condition}, {operand}, 0;"));
                condition
            }
        };
        let not = if wanted { "" } else { "!" };
        self.emit(&format!("@{not}%c_p{condition} bra {label};"));
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Unclear> {
        self.depth += 1;
        self.work += 1;
        if self.depth > DEEPEST || self.work > self.max_work || self.text.len() > MAX_TEXT {
            Err(Unclear)
        } else {
            Ok(())
        }
    }

    const fn shallower(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn type_in_scope(&self, name: &str) -> Option<Ty> {
        match self.binding(name)? {
            Binding::Type(ty) => Some(ty.clone()),
            Binding::Choice(_) | Binding::Place(_) | Binding::Lambda(_) | Binding::Pack(_) => None,
        }
    }

    fn binding(&self, name: &str) -> Option<&Binding> {
        let first = self.frames.last().map_or(0, |frame| frame.first_name);
        let hidden = self.frames.last().map_or(&[][..], |frame| &frame.hidden);
        let own = self.names.iter().enumerate().skip(first).rev();
        let mut seen = own.filter(|(index, _)| hidden.iter().all(|hidden| !hidden.contains(index)));
        seen.find(|(_, (known, _))| *known == name).map(|(_, (_, binding))| binding)
    }

    /// What a name of a value stands for.
    fn named(&mut self, name: &str) -> Result<Place, Unclear> {
        match self.binding(name) {
            Some(Binding::Place(place)) => return Ok(place.clone()),
            Some(Binding::Type(ty @ Ty::Callable(_))) => return Ok(Place::Fixed(Value::unknown(ty.clone()))),
            Some(Binding::Lambda(lambda)) => {
                let lambda = lambda.clone();
                return Ok(Place::Fixed(self.value_of_lambda(&lambda)));
            }
            Some(Binding::Choice(_) | Binding::Type(_) | Binding::Pack(_)) => {
                return Err(Unclear);
            }
            None => {}
        }
        if name == "__CUDA_ARCH__" {
            let number = u64::from(self.aim.target.number()) * 10;
            return Ok(Place::Fixed(Value::constant(number, Ty::INT)));
        }
        if let Some(extents) = self.special_extents(name) {
            return extents;
        }
        if name == "warpSize" {
            return Ok(Place::Fixed(Value::constant(32, Ty::INT)));
        }
        if let Some(limit) = bits::limit(name).filter(|_| !self.program.constants.contains_key(name)) {
            return Ok(Place::Fixed(limit));
        }
        if let Some(number) = atomic::number_of_constant(name) {
            return Ok(Place::Fixed(Value::constant(number, Ty::INT)));
        }
        let constants = &self.program.constants;
        if let Some(constant) = constants.get(name).or_else(|| self.program.constants_of_functions.get(name))
        {
            let constant = constant.as_ref().ok_or(Unclear)?;
            // It sees nothing of the function.
            let first_name = self.names.len();
            self.frames.push(Frame { first_name, ..Frame::default() });
            let place = self.constant_place(constant);
            self.frames.pop();
            return place;
        }
        let Some(variable) = self.program.variables.iter().find(|variable| variable.name == name) else {
            if let Some(function) = self.value_of_function(name, &[])? {
                return Ok(Place::Fixed(function));
            }
            // Of the C library and of CUDA's headers, where the file has no such name.
            let is_float = |prefix: &&str| name.starts_with(*prefix);
            let are_floats = ["FLT_", "DBL_", "INFINITY", "NAN", "HUGE_VAL", "CUDART_", "M_"];
            let is_float = are_floats.iter().any(is_float);
            return if is_float { Ok(Place::Unknown(Ty::FLOAT)) } else { Err(Unclear) };
        };
        if variable.is_shared {
            return self.shared_variable(variable);
        }
        if let Some(place) = self.table_of_numbers(variable) {
            return Ok(place);
        }
        if (variable.is_device || variable.is_in_constant_memory)
            && let Some(place) = self.device_variable(variable)?
        {
            return Ok(place);
        }
        let ty = self.ty(&variable.ty)?;
        let address = Value::unknown(Ty::Pointer(Rc::new(ty.clone()), types::Space::Generic));
        Ok(Place::Memory { address, ty })
    }
}

impl Lowering<'_, '_> {
    /// Another register of so many bits.
    fn fresh(&mut self, bits: u32) -> Result<Register, Unclear> {
        self.registers += 1;
        if self.registers > MAX_REGISTERS {
            return Err(Unclear);
        }
        self.widths.push(bits);
        Ok(Register { number: self.registers, bits })
    }
}
