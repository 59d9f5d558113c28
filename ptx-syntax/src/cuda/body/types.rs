//! Types as they are written.

use super::tokens::Kind;
use super::{ArrayLength, Expression, FloatKind, Parser, TemplateArgument, TypeName};

/// What stands before a declaration besides its type.
#[derive(Default)]
pub(super) struct Specifiers<'s> {
    pub is_shared: bool,
    pub is_constant: bool,
    pub is_static: bool,
    pub is_kernel: bool,
    pub is_device: bool,
    pub is_in_constant_memory: bool,
    pub is_typedef: bool,
    pub is_volatile: bool,
    pub align: Option<Expression<'s>>,
    pub launch_bounds: Vec<Expression<'s>>,
    pub max_registers: Option<Expression<'s>>,
    pub cluster: Vec<Expression<'s>>,
}

const fn integer(bits: u32, signed: bool) -> TypeName<'static> {
    TypeName::Integer { bits, signed }
}

/// A type of one word.
pub(super) fn of_word<'s>(word: &'s str) -> Option<TypeName<'s>> {
    let word = word.strip_prefix("std::").unwrap_or(word);
    Some(match word {
        "void" => TypeName::Void,
        "bool" => TypeName::Bool,
        "auto" => TypeName::Auto,
        "float" => TypeName::Float(32, FloatKind::Plain),
        "tf32" => TypeName::Float(32, FloatKind::Tf32),
        "double" => TypeName::Float(64, FloatKind::Plain),
        "half" | "__half" | "half_t" => TypeName::Float(16, FloatKind::Half),
        "__nv_bfloat16" | "nv_bfloat16" | "bf16" | "bfloat16_t" => TypeName::Float(16, FloatKind::BFloat),
        "half2" | "__half2" => TypeName::Float(32, FloatKind::Half),
        "__nv_bfloat162" | "nv_bfloat162" => TypeName::Float(32, FloatKind::BFloat),
        "__nv_fp8_e4m3" => TypeName::Float(8, FloatKind::E4M3),
        "__nv_fp8_e5m2" => TypeName::Float(8, FloatKind::E5M2),
        "__nv_fp8_e8m0" => TypeName::Float(8, FloatKind::E8M0),
        "__nv_fp4_e2m1" => TypeName::Float(8, FloatKind::E2M1),
        "__nv_fp4x2_e2m1" => TypeName::Float(8, FloatKind::PairOfE2M1),
        "__nv_fp4x4_e2m1" => TypeName::Float(16, FloatKind::E2M1),
        "__nv_fp8x2_e4m3" => TypeName::Float(16, FloatKind::E4M3),
        "__nv_fp8x2_e5m2" => TypeName::Float(16, FloatKind::E5M2),
        "__nv_fp8x4_e4m3" => TypeName::Float(32, FloatKind::E4M3),
        "__nv_fp8x4_e5m2" => TypeName::Float(32, FloatKind::E5M2),
        "size_t" | "uintptr_t" | "uint64_t" | "ulong" => integer(64, false),
        "ptrdiff_t" | "intptr_t" | "int64_t" | "clock_t" => integer(64, true),
        "uint32_t" | "uint" => integer(32, false),
        "int32_t" => integer(32, true),
        "uint16_t" | "ushort" => integer(16, false),
        "int16_t" => integer(16, true),
        "uint8_t" | "uchar" | "byte" => integer(8, false),
        "int8_t" => integer(8, true),
        _ => return vector(word),
    })
}

/// The type of vectors that has a name: `float4` and its kin.
#[must_use]
pub fn vector(word: &str) -> Option<TypeName<'static>> {
    let name = word.get(..word.len().checked_sub(1)?)?;
    let count = word.bytes().last().filter(|byte| (b'1'..=b'4').contains(byte))? - b'0';
    let element = match name {
        "char" => integer(8, true),
        "uchar" => integer(8, false),
        "short" => integer(16, true),
        "ushort" => integer(16, false),
        "int" => integer(32, true),
        "uint" => integer(32, false),
        "long" | "longlong" => integer(64, true),
        "ulong" | "ulonglong" => integer(64, false),
        "float" => TypeName::Float(32, FloatKind::Plain),
        "double" => TypeName::Float(64, FloatKind::Plain),
        _ => return None,
    };
    Some(TypeName::Vector(Box::new(element), u32::from(count)))
}

impl<'s> Parser<'s> {
    /// Whether a type or a declaration begins here.
    pub(super) fn begins_type(&self) -> bool {
        let word = self.text();
        if self.kind() != Some(Kind::Identifier) {
            return false;
        }
        if is_specifier(word) || is_basic(word) || of_word(word).is_some() {
            return true;
        }
        self.types.contains(&word)
            || matches!(word, "decltype" | "typename" | "struct" | "CUtensorMap" | "dim3")
    }

    /// Whether the last of the names here, each in the one before, is one of a type: `detail::Storage`.
    pub(super) fn is_type_of_namespace(&self) -> bool {
        let mut by = 0;
        while self.is_name(by) && self.ahead(by + 1) == "::" {
            by += 2;
        }
        // `std::uint64_t` is known as well.
        let word = self.ahead(by);
        by > 0 && self.is_name(by) && (self.types.contains(&word) || of_word(word).is_some())
    }

    /// Whether an operand begins at a token, so that the parentheses before it can only hold a type.
    pub(super) fn is_operand(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|next| match next.kind {
            Kind::Number | Kind::Text | Kind::Character => true,
            Kind::Identifier => !matches!(
                next.text,
                "and" | "or" | "xor" | "bitand" | "bitor" | "not_eq" | "and_eq" | "or_eq" | "xor_eq"
            ),
            _ => false,
        })
    }

    /// Passes specifiers such as `static` and `__device__`.
    pub(super) fn specifier(&mut self, found: &mut Specifiers<'s>) -> bool {
        match self.text() {
            "__shared__" => found.is_shared = true,
            "const" | "constexpr" => found.is_constant = true,
            "static" => found.is_static = true,
            "__global__" => (found.is_kernel, found.is_device) = (true, true),
            "__device__" | "__managed__" => found.is_device = true,
            "__constant__" => found.is_in_constant_memory = true,
            "typedef" => found.is_typedef = true,
            "volatile" => found.is_volatile = true,
            "alignas" | "__align__" => {
                self.at += 1;
                let end = self.after_group(self.at);
                self.at += 1;
                found.align = Some(self.assignment());
                self.at = end;
                return true;
            }
            "__launch_bounds__" | "__cluster_dims__" | "__maxnreg__" => {
                let word = self.text();
                self.at += 1;
                let end = self.after_group(self.at);
                let given = if self.text() == "(" { self.arguments() } else { Vec::new() };
                match word {
                    "__launch_bounds__" => found.launch_bounds = given,
                    "__cluster_dims__" => found.cluster = given,
                    _ => found.max_registers = given.into_iter().next(),
                }
                self.at = end;
                return true;
            }
            "__attribute__" | "__attribute" | "__declspec" | "__block_size__" => {
                let end = self.after_group(self.at + 1);
                // `__attribute__((aligned(16)))`
                let is_aligned = |at: &usize| matches!(self.tokens[*at].text, "aligned" | "__aligned__");
                let aligned = (self.at..end).find(is_aligned);
                if let Some(at) =
                    aligned.filter(|at| self.tokens.get(at + 1).is_some_and(|next| next.text == "("))
                {
                    self.at = at + 2;
                    found.align = Some(self.assignment());
                }
                self.at = end;
                return true;
            }
            "[" if self.ahead(1) == "[" => {
                self.at = self.after_group(self.at);
                return true;
            }
            word if is_specifier(word) => {}
            _ => return false,
        }
        self.at += 1;
        true
    }

    /// A type without its declarator, with what stands before it; nothing is passed where there is none.
    pub(super) fn base_type(&mut self, found: &mut Specifiers<'s>) -> TypeName<'s> {
        let (mut words, mut named): (Vec<&str>, Option<TypeName<'s>>) = (Vec::new(), None);
        loop {
            if self.specifier(found) {
                continue;
            }
            let word = self.text();
            match word {
                "struct" | "class" | "union"
                    if self.ahead(1) == "{" || (self.is_name(1) && self.ahead(2) == "{") =>
                {
                    named = Some(self.structure_in_place());
                }
                "typename" | "struct" | "class" | "union" | "enum" => self.at += 1,
                _ if is_basic(word) && named.is_none() => {
                    words.push(word);
                    self.at += 1;
                }
                _ if self.is_name(0) && named.is_none() && words.is_empty() => {
                    named = Some(self.named_type());
                }
                _ => break,
            }
        }
        let ty = named.unwrap_or_else(|| of_words(&words));
        match ty {
            TypeName::Void | TypeName::Auto | TypeName::Unknown => ty,
            _ if found.is_volatile => TypeName::Volatile(Box::new(ty)),
            _ => ty,
        }
    }

    /// `decltype(…)`, if that is what stands here.
    pub(super) fn type_of(&mut self) -> Option<TypeName<'s>> {
        if self.text() != "decltype" || self.ahead(1) != "(" {
            return None;
        }
        let end = self.after_group(self.at + 1);
        self.at += 2;
        let of = if self.text() == "auto" { None } else { Some(self.comma()) };
        let is_whole = self.at + 1 == end;
        self.at = end;
        Some(match of {
            None => TypeName::Auto,
            Some(of) if is_whole => TypeName::Of(Box::new(of)),
            Some(_) => TypeName::Unknown,
        })
    }

    fn named_type(&mut self) -> TypeName<'s> {
        // The structure that the name is in.
        let mut owner: Option<TypeName<'s>> = None;
        if let Some(of) = self.type_of() {
            if self.text() != "::" || !self.is_name(1) {
                return of;
            }
            self.at += 1;
            owner = Some(of);
        }
        let mut word = self.text();
        self.at += 1;
        let (mut given, mut is_of_cuda) = (None, false);
        loop {
            if self.text() == "<"
                && let Some(end) = self.after_angles(self.at)
            {
                given = self.template_arguments();
                if given.is_none() {
                    self.at = end;
                    given = Some(vec![TemplateArgument::Type(TypeName::Unknown)]);
                }
            } else if self.text() == "::" && self.is_name(1) {
                is_of_cuda = word == "cuda";
                let is_type = given.is_some() || owner.is_some() || self.types.contains(&word);
                let given = given.take().unwrap_or_default();
                owner = is_type.then(|| named_in(owner.take(), word, given));
                // `typename P::template At<4>`
                self.at += usize::from(self.ahead(1) == "template" && self.is_name(2));
                word = self.ahead(1);
                self.at += 2;
            } else {
                break;
            }
        }
        match word {
            "barrier" if is_of_cuda => TypeName::Library("barrier"),
            "arrival_token" => TypeName::Library("arrival_token"),
            _ => match (of_word(word), given) {
                (Some(ty), None) if owner.is_none() => ty,
                (_, given) => named_in(owner, word, given.unwrap_or_default()),
            },
        }
    }

    /// `*`, `&` and `const` after a type.
    pub(super) fn pointers(&mut self, mut ty: TypeName<'s>) -> TypeName<'s> {
        loop {
            // What it points to is told by its value.
            if self.begins_member_pointer(self.at) {
                self.at += 3;
                ty = TypeName::Function;
                continue;
            }
            match self.text() {
                "*" => ty = TypeName::Pointer(Box::new(ty)),
                "&" | "&&" => ty = TypeName::Reference(Box::new(ty)),
                "const" | "volatile" | "__restrict__" | "__restrict" | "restrict" | "__grid_constant__" => {}
                _ => return ty,
            }
            self.at += 1;
        }
    }

    /// Whether `T::*` stands there.
    fn begins_member_pointer(&self, at: usize) -> bool {
        let text =
            |by: usize| self.tokens.get(at + by).filter(|token| token.is_plain()).map(|token| token.text);
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Identifier)
            && text(1) == Some("::")
            && text(2) == Some("*")
    }

    /// A name with what stands around it: `*name[4]`, `(&name)[4]`. The name is empty where there is none.
    pub(super) fn declarator(&mut self, base: TypeName<'s>) -> (&'s str, TypeName<'s>) {
        let mut ty = self.pointers(base);
        // `(&name)[N]` and `(*name)[N]`.
        let grouped = self.text() == "("
            && matches!(self.ahead(1), "&" | "*")
            && (self.ahead(3) == ")" || self.ahead(2) == ")" || (self.is_name(2) && self.ahead(3) == "["));
        let mut wrap = grouped.then(|| self.ahead(1));
        let mut is_of_function = false;
        if grouped {
            self.at += 2;
        }
        // `(T::*name)(…)` and `(T::*name)[N]`
        let is_of_member = self.text() == "(" && self.begins_member_pointer(self.at + 1);
        if is_of_member {
            self.at += 4;
            self.accept("const");
            wrap = Some("*");
        }
        let grouped = grouped || is_of_member;
        let mut name = "";
        if self.is_name(0) {
            name = self.text();
            self.at += 1;
        }
        // `(*name[N])(…)` is an array of pointers to functions.
        let mut of_functions = Vec::new();
        while grouped && self.text() == "[" {
            let end = self.after_group(self.at);
            self.at += 1;
            let length = (self.text() != "]").then(|| Box::new(self.comma()));
            self.at = end;
            of_functions.push(length);
        }
        if grouped {
            self.at += 1;
            // `(*name)(…)` is a pointer to a function.
            if self.text() == "(" {
                self.at = self.after_group(self.at);
                is_of_function = true;
            }
        }
        if is_of_function {
            ty = TypeName::Unknown;
        }
        let mut lengths = Vec::new();
        while self.text() == "[" {
            let end = self.after_group(self.at);
            self.at += 1;
            let length = (self.text() != "]").then(|| Box::new(self.comma()));
            let is_whole = self.at + 1 == end;
            self.at = end;
            lengths.push((length, is_whole));
        }
        for (length, is_whole) in lengths.into_iter().rev() {
            ty =
                if is_whole { TypeName::Array(Box::new(ty), ArrayLength(length)) } else { TypeName::Unknown };
        }
        match wrap {
            Some("&") => ty = TypeName::Reference(Box::new(ty)),
            Some(_) if is_of_function || is_of_member => ty = TypeName::Function,
            Some(_) => ty = TypeName::Pointer(Box::new(ty)),
            None => {}
        }
        for length in of_functions.into_iter().rev() {
            ty = TypeName::Array(Box::new(ty), ArrayLength(length));
        }
        (name, ty)
    }

    /// A whole type, as in a cast; none where that is none.
    pub(super) fn whole_type(&mut self, end: usize) -> Option<TypeName<'s>> {
        let start = self.at;
        if !self.begins_type() && !self.is_name(0) {
            return None;
        }
        let base = self.base_type(&mut Specifiers::default());
        let (name, ty) = self.declarator(base);
        if self.at == end && name.is_empty() && self.at > start {
            return Some(ty);
        }
        self.at = start;
        None
    }

    /// `<…>` of a template's use, if it is one.
    pub(super) fn template_arguments(&mut self) -> Option<Vec<TemplateArgument<'s>>> {
        self.angles += 1;
        let found = self.arguments_in_angles();
        self.angles -= 1;
        found
    }

    fn arguments_in_angles(&mut self) -> Option<Vec<TemplateArgument<'s>>> {
        let end = self.after_angles(self.at).filter(|_| self.text() == "<")?;
        let start = self.at;
        self.at += 1;
        let mut given = Vec::new();
        while self.at + 1 < end {
            let from = self.at;
            // An argument ends at a comma outside brackets.
            let mut to = from;
            while to + 1 < end {
                match self.tokens[to].text {
                    _ if !self.tokens[to].is_plain() => {}
                    "," => break,
                    "(" | "[" | "{" => {
                        to = self.after_group(to);
                        continue;
                    }
                    "<" => {
                        to = self.after_angles(to).unwrap_or(to + 1);
                        continue;
                    }
                    _ => {}
                }
                to += 1;
            }
            let is_type = self.begins_type() || self.is_type_of_namespace();
            let is_pack = to > from && self.tokens[to - 1].is_plain() && self.tokens[to - 1].text == "...";
            let last = if is_pack { to - 1 } else { to };
            let ty = if is_type { self.whole_type(last) } else { None };
            given.push(match ty {
                Some(ty) if is_pack => TemplateArgument::Type(TypeName::Expand(Box::new(ty))),
                Some(ty) => TemplateArgument::Type(ty),
                None => {
                    self.at = from;
                    let ends = std::mem::replace(&mut self.ends, last);
                    let value = self.assignment();
                    self.ends = ends;
                    if self.at != last {
                        self.at = start;
                        return None;
                    }
                    TemplateArgument::Value(if is_pack { Self::expanded(value) } else { value })
                }
            });
            self.at = to;
            self.accept(",");
        }
        self.at = end;
        Some(given)
    }
}

/// A type in a structure, or in none.
pub(super) fn named_in<'s>(
    owner: Option<TypeName<'s>>,
    name: &'s str,
    given: Vec<TemplateArgument<'s>>,
) -> TypeName<'s> {
    match owner {
        Some(owner) => TypeName::Scoped(Box::new(owner), name, given),
        None => TypeName::Named(name, given),
    }
}

fn is_specifier(word: &str) -> bool {
    matches!(
        word,
        "static"
            | "inline"
            | "__inline__"
            | "__forceinline__"
            | "__forceinline"
            | "__noinline__"
            | "extern"
            | "const"
            | "constexpr"
            | "consteval"
            | "volatile"
            | "mutable"
            | "register"
            | "__device__"
            | "__host__"
            | "__global__"
            | "__shared__"
            | "__managed__"
            | "__constant__"
            | "__restrict__"
            | "__grid_constant__"
            | "alignas"
            | "__align__"
            | "__attribute__"
            | "__attribute"
            | "__launch_bounds__"
            | "__cluster_dims__"
            | "__maxnreg__"
            | "__block_size__"
            | "typedef"
            | "friend"
            | "explicit"
            | "noexcept"
            | "final"
            | "override"
    )
}

fn is_basic(word: &str) -> bool {
    matches!(word, "unsigned" | "signed" | "char" | "short" | "int" | "long")
}

/// `unsigned long long` and its kin.
fn of_words<'s>(words: &[&str]) -> TypeName<'s> {
    let has = |word: &str| words.contains(&word);
    if words.is_empty() {
        return TypeName::Unknown;
    }
    let bits = if has("char") {
        8
    } else if has("short") {
        16
    } else if has("long") {
        64
    } else {
        32
    };
    integer(bits, !has("unsigned"))
}
