//! Preprocessor conditions, and whether they hold for a target.
//!
//! Conditions are evaluated in three values: what depends on a macro that neither the file nor the caller knows
//! is [`Truth::Unknown`]. So `#if __CUDA_ARCH__ >= 900` excludes a statement on `sm_80` with certainty, and
//! `#ifdef SOME_FEATURE` excludes nothing.

use std::collections::{HashMap, HashSet};

use super::by_name::ByName;
use super::expression::precedence;
use super::model::{AsmStatement, ConditionId, CudaFile};
use super::scan::{Kind, Scanner, Token};
use crate::Span;

/// Three-valued truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// Certainly not.
    False,
    /// It depends on something that is not known.
    Unknown,
    /// Certainly.
    True,
}

impl Truth {
    const fn of(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, Self::True) => Self::True,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
        }
    }

    /// The opposite.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }
}

/// Which word opened a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionKind {
    /// The whole file.
    File,
    /// `#if` or `#elif`.
    If,
    /// `#ifdef` or `#elifdef`.
    Defined,
    /// `#ifndef` or `#elifndef`.
    Undefined,
    /// `#else`.
    Else,
    /// An argument of `NV_IF_TARGET` and its kin: the expression is a target description.
    Target,
}

/// One branch of a conditional group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which word opened it.
    pub kind: ConditionKind,
    /// The expression or name after the word.
    pub expression: Span,
    /// The condition around the group.
    pub parent: Option<ConditionId>,
    /// The branch before it in the same group; all earlier branches must not hold.
    pub previous: Option<ConditionId>,
    /// How many choices its group has: its branches and, without an `#else`, that none of them is compiled.
    pub choices: u32,
}

/// Whether the target is an ordinary one or one with a suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Feature {
    /// `sm_90`: no suffix.
    #[default]
    Base,
    /// `sm_100f`: features of the family.
    Family,
    /// `sm_90a`: features of this architecture alone.
    Architecture,
}

/// What the compiler's own macros are taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MacroValues {
    /// The target's number: 90 for `sm_90a`, where `__CUDA_ARCH__` is 900.
    pub sm: Option<u32>,
    /// The target's suffix.
    pub feature: Feature,
    /// The toolkit's version, major and minor.
    pub toolkit: Option<(u32, u32)>,
    /// The PTX version as major times 100 plus minor times 10: 860 for 8.6.
    pub ptx_version: Option<u32>,
}

/// The conditions of a file, ready to be asked for any values of the compiler's macros.
///
/// Conditions and definitions are read in the order of the file, as a preprocessor does. Whatever a line depends on
/// is before it, so one pass tells all conditions, and nothing is followed in depth.
#[derive(Clone, Debug)]
pub struct Conditions<'f> {
    file: &'f CudaFile,
    source: &'f str,
    steps: Vec<Step<'f>>,
    /// The names that conditions depend on.
    relevant: HashSet<&'f str>,
    /// Whether a condition depends on the platform of the host.
    by_platform: bool,
}

/// What the preprocessor does at one place.
#[derive(Clone, Debug)]
enum Step<'f> {
    /// Decides a condition.
    Decide(ConditionId, Vec<Token>),
    /// Defines a macro: its name, the condition around it, and its body unless it has parameters.
    Define(&'f str, ConditionId, Option<Vec<Token>>),
    /// Takes a macro back.
    Undefine(&'f str, ConditionId),
}

/// Which conditions hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truths {
    of_all: Vec<Truth>,
    own: Vec<Truth>,
    /// What each says by itself where names that nothing defines are not defined; empty where all is known without.
    told_nothing: Vec<Truth>,
    elsewhere: Vec<bool>,
}

impl Truths {
    /// Whether code under a condition is compiled.
    #[must_use]
    pub fn of(&self, condition: ConditionId) -> Truth {
        self.of_all.get(condition.index()).copied().unwrap_or(Truth::Unknown)
    }

    /// The same by the condition's index in the file.
    pub(super) fn of_index(&self, index: usize) -> Truth {
        self.of_all.get(index).copied().unwrap_or(Truth::Unknown)
    }

    /// Whether a condition holds by itself, whatever is around it.
    pub(super) fn own_of_index(&self, index: usize) -> Truth {
        self.own.get(index).copied().unwrap_or(Truth::Unknown)
    }

    /// The same for a compiler that is told no macros: a name that nothing defines is not defined.
    pub(super) fn told_nothing_of_index(&self, index: usize) -> Truth {
        match (self.own_of_index(index), self.told_nothing.get(index)) {
            (Truth::Unknown, Some(truth)) => *truth,
            (own, _) => own,
        }
    }

    /// Whether a statement, or this variant of it, is never compiled.
    #[must_use]
    pub fn exclude(&self, statement: &AsmStatement) -> bool {
        let wrong = |taken| if taken { Truth::False } else { Truth::True };
        self.of(statement.condition) == Truth::False
            || statement.branches.iter().any(|(condition, taken)| self.of(*condition) == wrong(*taken))
    }

    /// Whether code under a condition is never compiled on Linux, but may be on Windows.
    #[must_use]
    pub fn is_for_windows(&self, condition: ConditionId) -> bool {
        self.elsewhere.get(condition.index()).copied().unwrap_or(false)
    }
}

impl<'f> Conditions<'f> {
    /// Prepares the conditions of a file.
    #[must_use]
    pub fn new(file: &'f CudaFile, source: &'f str) -> Self {
        let relevant = relevant_names(file, source);
        let by_platform =
            relevant.iter().any(|name| Platform::Linux.value(name) != Platform::Windows.value(name));
        let mut definitions: Vec<(u32, Step<'f>)> = Vec::new();
        for found in &file.macros {
            let name = found.name.text(source);
            if relevant.contains(name) {
                let body = found.parameters.is_none().then(|| Scanner::line(source, found.body).collect());
                definitions.push((found.name.start, Step::Define(name, found.condition, body)));
            }
        }
        for (span, condition) in &file.undefined {
            let name = span.text(source);
            if relevant.contains(name) {
                definitions.push((span.start, Step::Undefine(name, *condition)));
            }
        }
        definitions.sort_by_key(|(at, _)| *at);
        let mut definitions = definitions.into_iter().peekable();
        let mut steps = Vec::new();
        for (index, condition) in (0u32..).zip(&file.conditions) {
            let tokens: Vec<Token> = match condition.kind {
                ConditionKind::If | ConditionKind::Defined | ConditionKind::Undefined => {
                    while let Some((_, step)) =
                        definitions.next_if(|(at, _)| *at < condition.expression.start)
                    {
                        steps.push(step);
                    }
                    Scanner::line(source, condition.expression).collect()
                }
                ConditionKind::File | ConditionKind::Else | ConditionKind::Target => Vec::new(),
            };
            steps.push(Step::Decide(ConditionId(index), tokens));
        }
        Self { file, source, steps, relevant, by_platform }
    }

    /// Whether a condition depends on the macro `name`.
    #[must_use]
    pub fn depend_on(&self, name: &str) -> bool {
        self.relevant.contains(name)
    }

    /// Which conditions hold for these values. Where the host's platforms differ, it is not known.
    #[must_use]
    pub fn truths(&self, values: &MacroValues) -> Truths {
        let (mut of_all, own) = self.on(Platform::Linux, values, false);
        let told_nothing = match own.contains(&Truth::Unknown) {
            true => self.on(Platform::Linux, values, true).1,
            false => Vec::new(),
        };
        let mut elsewhere = vec![false; of_all.len()];
        if self.by_platform {
            for (index, other) in self.on(Platform::Windows, values, false).0.into_iter().enumerate() {
                elsewhere[index] = of_all[index] == Truth::False && other != Truth::False;
                if other != of_all[index] {
                    of_all[index] = Truth::Unknown;
                }
            }
        }
        Truths { of_all, own, told_nothing, elsewhere }
    }

    /// Which conditions hold with those around them, and which do by themselves. Where the compiler is `told_nothing`, names of the
    /// program that nothing defines are not defined.
    fn on(&self, platform: Platform, values: &MacroValues, told_nothing: bool) -> (Vec<Truth>, Vec<Truth>) {
        let count = self.file.conditions.len();
        let names = HashMap::new();
        let mut evaluator = Evaluator { source: self.source, values, platform, told_nothing, names };
        let mut holds: Vec<Truth> = Vec::with_capacity(count);
        // Whether no earlier branch of the group holds, and what the condition says by itself.
        let mut reached: Vec<(Truth, Truth)> = Vec::with_capacity(count);
        let truth =
            |holds: &[Truth], id: ConditionId| holds.get(id.index()).copied().unwrap_or(Truth::Unknown);
        for step in &self.steps {
            match step {
                Step::Decide(id, tokens) => {
                    let condition = &self.file.conditions[id.index()];
                    let own = evaluator.own(condition, tokens);
                    let before = condition.previous.and_then(|id| reached.get(id.index()));
                    let free = before.map_or(Truth::True, |(free, own)| free.and(own.negated()));
                    reached.push((free, own));
                    let around = condition.parent.map_or(Truth::True, |parent| truth(&holds, parent));
                    holds.push(around.and(free).and(own));
                }
                Step::Define(name, condition, body) => {
                    let value = body.as_ref().and_then(|tokens| evaluator.expression(tokens));
                    evaluator.define(name, truth(&holds, *condition), value);
                }
                Step::Undefine(name, condition) => evaluator.undefine(name, truth(&holds, *condition)),
            }
        }
        let own = reached.into_iter().map(|(_, own)| own).collect();
        (holds, own)
    }
}

/// The names that conditions depend on: those in their expressions, and those in the bodies of such macros.
fn relevant_names<'f>(file: &'f CudaFile, source: &'f str) -> HashSet<&'f str> {
    let mut relevant: HashSet<&'f str> = HashSet::new();
    let decided = |condition: &&Condition| {
        matches!(condition.kind, ConditionKind::If | ConditionKind::Defined | ConditionKind::Undefined)
    };
    let mut spans: Vec<Span> =
        file.conditions.iter().filter(decided).map(|condition| condition.expression).collect();
    if spans.is_empty() {
        return relevant;
    }
    let mut bodies = ByName::default();
    for found in &file.macros {
        bodies.push(found.name.text(source), found.body);
    }
    while let Some(span) = spans.pop() {
        for token in Scanner::line(source, span).filter(|token| token.kind == Kind::Identifier) {
            let name = token.span.text(source);
            if relevant.insert(name) {
                spans.extend(bodies.of(name).into_iter().flatten());
            }
        }
    }
    relevant
}

/// The host that a file is compiled on. Both have 64-bit pointers; other hosts' macros are not known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Platform {
    Linux,
    Windows,
}

impl Platform {
    /// A macro of the host's platform: none if it is not one, `Some(None)` if it is not defined.
    ///
    /// `__LP64__` counts as defined on both: tests of it mean pointers, whose size is the same.
    fn value(self, name: &str) -> Option<Option<i64>> {
        let only = |platform: Self, value: i64| Some((self == platform).then_some(value));
        match name {
            "__LP64__" | "_LP64" => Some(Some(1)),
            "__x86_64__" | "__x86_64" | "__amd64__" | "__amd64" => only(Self::Linux, 1),
            "_WIN64" | "_WIN32" | "WIN32" => only(Self::Windows, 1),
            "_M_X64" | "_M_AMD64" => only(Self::Windows, 100),
            "__SIZEOF_POINTER__" => only(Self::Linux, 8),
            "__i386__" | "__i386" | "_M_IX86" | "__arm__" | "_M_ARM" | "__ILP32__" | "_ILP32" => Some(None),
            _ => None,
        }
    }
}

/// What is known about a name.
#[derive(Clone, Copy)]
struct Known {
    defined: Truth,
    value: Option<i64>,
}

struct Evaluator<'f> {
    source: &'f str,
    values: &'f MacroValues,
    platform: Platform,
    told_nothing: bool,
    names: HashMap<&'f str, Known>,
}

/// Macros of compilers for other devices, and of the builds that use them: where they are defined, the code is not
/// for an NVIDIA GPU.
const OTHER_COMPILERS: [&str; 12] = [
    "__HIPCC__",
    "__HIP__",
    "__HIP_DEVICE_COMPILE__",
    "__HIP_PLATFORM_AMD__",
    "__HIP_PLATFORM_HCC__",
    "__AMDGCN__",
    "__HCC__",
    "USE_ROCM",
    "__SYCL_DEVICE_ONLY__",
    "__SPIR__",
    "__OPENCL_VERSION__",
    "__METAL_VERSION__",
];

impl<'f> Evaluator<'f> {
    fn own(&self, condition: &Condition, tokens: &[Token]) -> Truth {
        let is_defined = || tokens.first().map_or(Truth::Unknown, |name| self.is_defined(*name));
        match condition.kind {
            ConditionKind::File | ConditionKind::Else => Truth::True,
            ConditionKind::Defined => is_defined(),
            ConditionKind::Undefined => is_defined().negated(),
            ConditionKind::If => {
                self.expression(tokens).map_or(Truth::Unknown, |value| Truth::of(value != 0))
            }
            ConditionKind::Target => self.target(condition.expression),
        }
    }

    fn expression(&self, tokens: &[Token]) -> Option<i64> {
        Parser { evaluator: self, tokens, at: 0, depth: 0 }.ternary()
    }

    /// Notes a definition that is compiled if `compiled`.
    fn define(&mut self, name: &'f str, compiled: Truth, value: Option<i64>) {
        let before = self.names.get(name).copied();
        let now = match (compiled, before) {
            (Truth::True, _) => Known { defined: Truth::True, value },
            (Truth::False, Some(before)) => before,
            (Truth::False, None) => Known { defined: Truth::False, value: None },
            (Truth::Unknown, Some(before)) if before.defined == Truth::True => {
                Known { value: before.value.filter(|_| before.value == value), ..before }
            }
            (Truth::Unknown, _) => Known { defined: Truth::Unknown, value: None },
        };
        self.names.insert(name, now);
    }

    /// Notes an `#undef`. A file that is included after it may define the name again.
    fn undefine(&mut self, name: &'f str, compiled: Truth) {
        if compiled != Truth::False {
            self.names.insert(name, Known { defined: Truth::Unknown, value: None });
        }
    }

    fn is_defined(&self, name: Token) -> Truth {
        let text = name.span.text(self.source);
        match self.predefined(text) {
            Some(known) => known.map_or(Truth::False, |_| Truth::True),
            None => match self.names.get(text) {
                Some(known) => known.defined,
                None if self.told_nothing && is_of_program(text) => Truth::False,
                None => Truth::Unknown,
            },
        }
    }

    /// The value of a name in an expression.
    fn value(&self, name: Token) -> Option<i64> {
        let text = name.span.text(self.source);
        if let Some(known) = self.predefined(text) {
            // A name that is not defined counts as 0.
            return Some(known.unwrap_or(0));
        }
        let Some(known) = self.names.get(text) else {
            return (self.told_nothing && is_of_program(text)).then_some(0);
        };
        match known.defined {
            Truth::False => Some(0),
            Truth::Unknown => None,
            Truth::True => known.value,
        }
    }

    /// A macro of the compiler: none if it is not one whose state is known, `Some(None)` if it is not defined.
    fn predefined(&self, name: &str) -> Option<Option<i64>> {
        let arch = self.values.sm.map(|sm| i64::from(sm) * 10);
        match name {
            "__CUDA_ARCH__" => arch.map(Some),
            "__CUDA_ARCH_SPECIFIC__" => {
                arch.map(|arch| (self.values.feature == Feature::Architecture).then_some(arch))
            }
            "__CUDA_ARCH_FAMILY_SPECIFIC__" => {
                arch.map(|arch| (self.values.feature != Feature::Base && arch >= 1000).then_some(arch))
            }
            "__CUDACC_VER_MAJOR__" => Some(Some(i64::from(self.values.toolkit?.0))),
            "__CUDACC_VER_MINOR__" => Some(Some(i64::from(self.values.toolkit?.1))),
            "CUDA_VERSION" | "CUDART_VERSION" => {
                let (major, minor) = self.values.toolkit?;
                Some(Some(i64::from(major * 1000 + minor * 10)))
            }
            "__CUDACC__" => Some(Some(1)),
            _ if OTHER_COMPILERS.contains(&name) => Some(None),
            "__cccl_ptx_isa" => Some(Some(i64::from(self.values.ptx_version?))),
            "true" => Some(Some(1)),
            "false" => Some(Some(0)),
            _ if self.platform.value(name).is_some() => self.platform.value(name),
            _ => {
                let number = name.strip_prefix("__CUDA_ARCH_FEAT_SM")?.strip_suffix("_ALL")?;
                let same = number.parse() == Ok(self.values.sm?);
                Some((same && self.values.feature == Feature::Architecture).then_some(1))
            }
        }
    }

    /// Whether a target description of `<nv/target>` holds.
    fn target(&self, span: Span) -> Truth {
        let text = span.text(self.source).trim();
        let Some(sm) = self.values.sm else { return Truth::Unknown };
        match text {
            "NV_IS_DEVICE" | "NV_ANY_TARGET" => return Truth::True,
            "NV_IS_HOST" | "NV_NO_TARGET" => return Truth::False,
            _ => {}
        }
        let number = |prefix: &str| text.strip_prefix(prefix).map(str::parse::<u32>);
        if let Some(Ok(least)) = number("NV_PROVIDES_SM_") {
            return Truth::of(sm >= least);
        }
        if let Some(Ok(exact)) = number("NV_IS_EXACTLY_SM_") {
            return Truth::of(sm == exact);
        }
        if let Some(feature) = text.strip_prefix("NV_HAS_FEATURE_SM_").and_then(|t| t.strip_suffix('a')) {
            return Truth::of(self.values.feature == Feature::Architecture && feature.parse() == Ok(sm));
        }
        let feature = text.strip_prefix("NV_HAS_FEATURE_SM_").and_then(|text| text.strip_suffix('f'));
        match feature.map(str::parse::<u32>) {
            Some(Ok(_)) if self.values.feature == Feature::Base => Truth::False,
            Some(Ok(family)) if family == sm => Truth::True,
            Some(Ok(family)) if family / 10 != sm / 10 => Truth::False,
            Some(_) | None => Truth::Unknown,
        }
    }
}

/// Whether a name is none that a compiler or a library of CUDA defines.
fn is_of_program(name: &str) -> bool {
    let is_of_others = |prefix: &&str| name.starts_with(*prefix);
    !["_", "CUDA", "NV_", "CCCL", "CUB_", "THRUST_", "CUTLASS", "CUTE_"].iter().any(is_of_others)
}

/// Evaluates the tokens of a condition by precedence; `None` is "not known".
struct Parser<'e, 'f> {
    evaluator: &'e Evaluator<'f>,
    tokens: &'e [Token],
    at: usize,
    depth: u32,
}

/// The deepest nesting of parentheses and operators that is followed.
const DEEPEST_EXPRESSION: u32 = 64;

impl Parser<'_, '_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| token.span.text(self.evaluator.source))
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST_EXPRESSION {
            self.at = self.tokens.len();
            return None;
        }
        let condition = self.binary(0);
        let value = if self.accept("?") {
            let then = self.ternary();
            self.accept(":");
            let otherwise = self.ternary();
            if condition? != 0 { then } else { otherwise }
        } else {
            condition
        };
        self.depth -= 1;
        value
    }

    fn binary(&mut self, least: u8) -> Option<i64> {
        let mut left = self.unary();
        while let Some(precedence) = precedence(self.peek()).filter(|found| *found >= least) {
            let operator = self.tokens[self.at];
            self.at += 1;
            let right = self.binary(precedence + 1);
            left = apply(operator.span.text(self.evaluator.source), left, right);
        }
        left
    }

    fn unary(&mut self) -> Option<i64> {
        let token = *self.tokens.get(self.at)?;
        self.at += 1;
        match token.span.text(self.evaluator.source) {
            "!" => self.unary_operand().map(|value| i64::from(value == 0)),
            "-" => self.unary_operand().map(i64::wrapping_neg),
            "+" => self.unary_operand(),
            "~" => self.unary_operand().map(|value| !value),
            "(" => {
                let value = self.ternary();
                self.accept(")");
                value
            }
            "defined" => {
                let parenthesised = self.accept("(");
                let name = *self.tokens.get(self.at)?;
                self.at += 1;
                if parenthesised {
                    self.accept(")");
                }
                match self.evaluator.is_defined(name) {
                    Truth::True => Some(1),
                    Truth::False => Some(0),
                    Truth::Unknown => None,
                }
            }
            text if token.kind == Kind::Number => number(text),
            _ if token.kind == Kind::Identifier => self.name(token),
            _ => None,
        }
    }

    fn unary_operand(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST_EXPRESSION {
            self.at = self.tokens.len();
            return None;
        }
        let value = self.unary();
        self.depth -= 1;
        value
    }

    fn name(&mut self, name: Token) -> Option<i64> {
        if self.peek() != "(" {
            return self.evaluator.value(name);
        }
        let open = self.at;
        let mut depth = 0u32;
        while self.at < self.tokens.len() {
            match self.peek() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        let argument = *self.tokens.get(open + 1)?;
        self.call(name.span.text(self.evaluator.source), argument.span.text(self.evaluator.source))
    }

    /// A macro with arguments whose meaning is known everywhere.
    fn call(&self, name: &str, argument: &str) -> Option<i64> {
        let values = self.evaluator.values;
        let sm = values.sm?;
        match name {
            "__CUDA_ARCH_HAS_FEATURE__" => {
                let number = argument.strip_prefix("SM")?.strip_suffix("_ALL")?;
                let holds = values.feature == Feature::Architecture && number.parse() == Ok(sm);
                Some(i64::from(holds))
            }
            "_CCCL_PTX_ARCH" => Some(i64::from(sm) * 10),
            _ => None,
        }
    }
}

fn apply(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    // One known side can decide; both must be known for everything else.
    match (operator, left, right) {
        ("&&", Some(0), _) | ("&&", _, Some(0)) => return Some(0),
        ("||", Some(value), _) | ("||", _, Some(value)) if value != 0 => return Some(1),
        _ => {}
    }
    let (left, right) = (left?, right?);
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.wrapping_shl(right as u32),
        ">>" => left.wrapping_shr(right as u32),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}

fn number(text: &str) -> Option<i64> {
    let text = text.replace('\'', "").to_ascii_lowercase();
    let text = text.trim_end_matches(['u', 'l', 'z']);
    if let Some(digits) = text.strip_prefix("0x") {
        i64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = text.strip_prefix("0b") {
        i64::from_str_radix(digits, 2).ok()
    } else if text.len() > 1 && text.starts_with('0') {
        i64::from_str_radix(&text[1..], 8).ok()
    } else {
        text.parse().ok()
    }
}
