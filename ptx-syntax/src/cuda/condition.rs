//! Preprocessor conditions, and whether they hold for a target.
//!
//! Conditions are evaluated in three values: what depends on a macro that neither the file nor the caller knows
//! is [`Truth::Unknown`]. So `#if __CUDA_ARCH__ >= 900` excludes a statement on `sm_80` with certainty, and
//! `#ifdef SOME_FEATURE` excludes nothing.

use super::expression::precedence;
use std::cell::Cell;

use super::model::{ConditionId, CudaFile, Macro};
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
    /// The expression or name behind the word.
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

/// Whether code under `condition` is compiled.
pub(super) fn holds(file: &CudaFile, source: &str, condition: ConditionId, values: &MacroValues) -> Truth {
    let budget = Cell::new(BUDGET);
    Evaluator { file, source, values, depth: 0, budget: &budget }.condition(condition)
}

struct Evaluator<'f> {
    file: &'f CudaFile,
    source: &'f str,
    values: &'f MacroValues,
    depth: u32,
    budget: &'f Cell<u32>,
}

/// How deep macros of the file are looked up in conditions of other macros.
const DEEPEST: u32 = 12;

/// How many macros are looked at for one question; macros that name each other could be followed without end.
const BUDGET: u32 = 10_000;

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

impl Evaluator<'_> {
    fn deeper(&self) -> Option<Self> {
        let depth = self.depth + 1;
        let left = self.budget.get().checked_sub(1)?;
        self.budget.set(left);
        (depth < DEEPEST).then_some(Self { depth, ..*self })
    }

    fn condition(&self, id: ConditionId) -> Truth {
        let mut truth = Truth::True;
        let mut around = Some(id);
        while let Some(current) = around.and_then(|id| self.file.conditions.get(id.index())) {
            truth = truth.and(self.own(current));
            let mut before = current.previous;
            while let Some(earlier) = before.and_then(|id| self.file.conditions.get(id.index())) {
                truth = truth.and(self.own(earlier).negated());
                before = earlier.previous;
            }
            if truth == Truth::False {
                return truth;
            }
            around = current.parent;
        }
        truth
    }

    fn own(&self, condition: &Condition) -> Truth {
        let first = || Scanner::line(self.source, condition.expression).next();
        match condition.kind {
            ConditionKind::File | ConditionKind::Else => Truth::True,
            ConditionKind::Defined => first().map_or(Truth::Unknown, |name| self.is_defined(name)),
            ConditionKind::Undefined => {
                first().map_or(Truth::Unknown, |name| self.is_defined(name).negated())
            }
            ConditionKind::If => self.expression(condition.expression),
            ConditionKind::Target => self.target(condition.expression),
        }
    }

    fn expression(&self, span: Span) -> Truth {
        let tokens: Vec<Token> = Scanner::line(self.source, span).collect();
        match (Parser { evaluator: self, tokens: &tokens, at: 0, depth: 0 }).ternary() {
            Some(value) => Truth::of(value != 0),
            None => Truth::Unknown,
        }
    }

    /// The definitions of a name before `at` in this file.
    fn definitions<'s>(&'s self, name: &'s str, at: u32) -> impl Iterator<Item = &'s Macro> {
        let same = move |found: &&Macro| found.name.start < at && found.name.text(self.source) == name;
        self.file.macros.iter().filter(same)
    }

    fn is_defined(&self, name: Token) -> Truth {
        let text = name.span.text(self.source);
        if let Some(known) = self.predefined(text) {
            return known.map_or(Truth::False, |_| Truth::True);
        }
        let undefined = |span: &Span| span.start < name.span.start && span.text(self.source) == text;
        if self.file.undefined.iter().any(undefined) {
            return Truth::Unknown;
        }
        let Some(inner) = self.deeper() else { return Truth::Unknown };
        let mut answer = None;
        for definition in self.definitions(text, name.span.start) {
            match (inner.condition(definition.condition), answer) {
                (Truth::True, _) => return Truth::True,
                (Truth::False, None) => answer = Some(Truth::False),
                (Truth::False, Some(_)) => {}
                (Truth::Unknown, _) => answer = Some(Truth::Unknown),
            }
        }
        answer.unwrap_or(Truth::Unknown)
    }

    /// The value of a name in an expression.
    fn value(&self, name: Token) -> Option<i64> {
        let text = name.span.text(self.source);
        if let Some(known) = self.predefined(text) {
            // A name that is not defined counts as 0.
            return Some(known.unwrap_or(0));
        }
        match self.is_defined(name) {
            Truth::False => Some(0),
            Truth::Unknown => None,
            Truth::True => {
                let inner = self.deeper()?;
                let holds = |found: &&Macro| inner.condition(found.condition) == Truth::True;
                let definition = self.definitions(text, name.span.start).filter(holds).last()?;
                if definition.parameters.is_some() {
                    return None;
                }
                let tokens: Vec<Token> = Scanner::line(self.source, definition.body).collect();
                Parser { evaluator: &inner, tokens: &tokens, at: 0, depth: 0 }.ternary()
            }
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
        Truth::Unknown
    }
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
