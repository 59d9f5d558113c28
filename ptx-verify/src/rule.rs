//! What a rule is: a file of `src/rules` with one [`declare_rule!`].

use ptx_ir::lower::Problem;
use ptx_syntax::{Class, Diagnostic, Explanation, Located, Severity, Span, SyntaxError};

use crate::subject::fragment::stream::FileUnits;
use crate::subject::fragment::unit::Unit;
use crate::subject::function::{FlowContext, FunctionContext};
use crate::subject::module::ModuleContext;
use crate::subject::occurrence::Occurrence;

/// How loudly a rule reports. The order is from quiet to loud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Level {
    /// Not reported.
    Allow,
    /// Worth knowing.
    Info,
    /// A warning.
    Warn,
    /// An error.
    Error,
}

impl Level {
    /// The severity of a finding at this level; none where it is not reported.
    #[must_use]
    pub const fn severity(self) -> Option<Severity> {
        match self {
            Self::Allow => None,
            Self::Info => Some(Severity::Info),
            Self::Warn => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}

/// What users are told of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RuleInfo {
    /// Its name, such as `operand-type`.
    pub name: &'static str,
    /// Its code, such as `P0205`: two digits for the family, two within it. A rule keeps its code when its class
    /// changes.
    pub code: &'static str,
    /// The codes that it had before, which still name it.
    pub former: &'static [&'static str],
    /// Its class.
    pub class: Class,
    /// How loud it is unless the user says otherwise.
    pub default_level: Level,
    /// What it finds, in half a sentence.
    pub summary: &'static str,
    /// Its manual page, in Markdown.
    pub doc: &'static str,
}

/// When a rule is asked.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// Never: the engine makes its findings of those of other rules, or of what is no PTX.
    Elsewhere,
    /// Once for each error of syntax.
    Syntax(fn(&SyntaxError) -> Diagnostic),
    /// Once for each problem of lowering, until a rule knows it.
    Lowering(fn(&Located<Problem>) -> Option<Diagnostic>),
    /// Once for a module, when all bodies were looked at.
    Module(fn(&ModuleContext<'_>, &mut Vec<Diagnostic>)),
    /// Once for what a module declares and once for what each body declares, or once for all of it.
    Declarations(fn(&ModuleContext<'_>, &mut Vec<Diagnostic>)),
    /// The same, and once for each function that has a body.
    DeclarationsAndBodies(
        fn(&ModuleContext<'_>, &mut Vec<Diagnostic>),
        fn(&FunctionContext<'_>, &mut Vec<Diagnostic>),
    ),
    /// Once for each function that has a body.
    Function(fn(&FunctionContext<'_>, &mut Vec<Diagnostic>)),
    /// Once for each function that has a body, with what dataflow knows about it.
    Flow(fn(&FlowContext<'_>, &mut Vec<Diagnostic>)),
    /// Once for each thing that is wrong with an instruction, compared with the instruction table.
    Instruction(fn(&Occurrence<'_>) -> Option<Diagnostic>),
    /// Once for each asm statement of a CUDA source.
    Asm(fn(&Unit<'_>, &mut Vec<Diagnostic>)),
    /// Once for a CUDA source with all its asm statements.
    AsmFile(fn(&FileUnits<'_>, &mut Vec<Diagnostic>)),
}

/// What has to be known of a program for a rule to speak of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Any part of a function.
    Part,
    /// A whole function or module. Such a rule is not asked about an asm statement, which is a part of one.
    Whole,
}

/// A rule: what users are told, and what it does.
pub(crate) struct Rule {
    pub(crate) info: RuleInfo,
    pub(crate) check: Check,
    pub(crate) scope: Scope,
    /// Other rules whose findings the check makes too.
    pub(crate) also: &'static [&'static Rule],
}

/// What the codes of the rules begin with that follow the protocols of kernels.
const OF_PROTOCOL: &str = "P09";

impl Rule {
    /// Whether it follows what threads, copies and blocks tell each other.
    pub(crate) fn is_of_protocol(&self) -> bool {
        self.info.code.starts_with(OF_PROTOCOL)
    }

    /// Whether the check may make a finding of that rule.
    pub(crate) fn makes(&self, name: &str) -> bool {
        self.info.name == name || self.also.iter().any(|rule| rule.info.name == name)
    }

    /// A finding of this rule, at the level it has by default.
    pub(crate) fn at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        // A rule that is off by default was asked for.
        let severity = self.info.default_level.severity().unwrap_or(Severity::Warning);
        Diagnostic::new(self.info.class, severity, self.info.code, self.info.name, span, message)
    }

    /// A finding of this rule that says what is explained.
    pub(crate) fn explained(&self, span: Span, explanation: &Explanation) -> Diagnostic {
        let Explanation { message, label, labels, notes, help, fix } = explanation.clone();
        Diagnostic { label, labels, notes, help, fix, ..self.at(span, message) }
    }
}

/// A message about the first of several things that have one cause, which are one finding.
pub(crate) fn with_others(message: String, others: usize, noun: &str) -> String {
    match others {
        0 => message,
        1 => format!("{message} (and 1 other {noun})"),
        _ => {
            let ending = if noun.ends_with('s') { "es" } else { "s" };
            format!("{message} (and {others} other {noun}{ending})")
        }
    }
}

/// Declares the `RULE` of a file. The doc comment is the manual page, with the headings "What it does", "Why is
/// this bad", "Example", "Use instead" and "What it may miss".
macro_rules! declare_rule {
    (
        $(#[doc = $doc:literal])*
        name: $name:literal,
        code: $code:literal,
        former: [$($former:literal),*],
        class: $class:ident,
        level: $level:ident,
        summary: $summary:literal,
        check: $check:expr,
        $(scope: $scope:ident,)?
        $(also: [$($also:expr),+],)?
    ) => {
        $(#[doc = $doc])*
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            info: $crate::rule::RuleInfo {
                name: $name,
                code: $code,
                former: &[$($former),*],
                class: ::ptx_syntax::Class::$class,
                default_level: $crate::rule::Level::$level,
                summary: $summary,
                doc: concat!($($doc, "\n"),*),
            },
            check: {
                #[expect(unused_imports, reason = "a rule names the one variant it needs")]
                use $crate::rule::Check::{
                    Asm, AsmFile, Declarations, DeclarationsAndBodies, Elsewhere, Flow, Function, Instruction,
                    Lowering, Module, Syntax,
                };
                $check
            },
            scope: $crate::rule::declare_rule!(@scope $($scope)?),
            also: &[$($(&$also),+)?],
        };
    };
    (@scope) => { $crate::rule::Scope::Part };
    (@scope $scope:ident) => { $crate::rule::Scope::$scope };
}
pub(crate) use declare_rule;
