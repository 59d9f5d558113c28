//! What the rules say of a body, and of what a module declares.

use ptx_facts::mentions::{Mentions, Used};
use std::cell::LazyCell;
use std::sync::{Arc, OnceLock};

use ptx_ir::ir::{Body, Function, Handle, Item, Module};
use ptx_syntax::{Diagnostic, Span};

use crate::engine::gates;
use crate::engine::instruction::{self, SpellingFacts};
use crate::engine::levels::{Config, Levels};
use crate::rule::{Check, Rule, Scope};
use crate::rules::text::module_header;
use crate::subject::function::{FlowContext, FunctionContext};
use crate::subject::module::{Features, ModuleContext, Part, Shared, Wanted};

/// The rules that are asked, and what they have to know of the module and the user.
pub(super) struct Judge<'a> {
    source: &'a str,
    wanted: Wanted,
    shared: &'a Shared<'a>,
    rules: Arc<[&'static Rule]>,
    /// Whether a body is shown with its own declarations, which the module then does not have.
    in_pieces: bool,
}

/// What was found, by who found it.
#[derive(Clone, Default)]
pub(super) struct Findings {
    /// What rules about declarations found, with the place of the rule among all.
    declared: Vec<(usize, Diagnostic)>,
    gates: Vec<Diagnostic>,
    in_bodies: Vec<Diagnostic>,
}

impl Findings {
    pub(super) fn extend(&mut self, other: Self) {
        self.declared.extend(other.declared);
        self.gates.extend(other.gates);
        self.in_bodies.extend(other.in_bodies);
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        let declared = self.declared.iter_mut().map(|(_, found)| found);
        declared.chain(&mut self.gates).chain(&mut self.in_bodies)
    }
}

/// What is to be known of a body once it was looked at.
pub(super) struct Judged {
    pub(super) findings: Findings,
    pub(super) features: Features,
    pub(super) used: Used,
}

impl<'a> Judge<'a> {
    /// Asks the rules that need to know so much.
    pub(super) fn new(scope: Scope, source: &'a str, config: &Config, shared: &'a Shared<'a>) -> Self {
        let wanted = Wanted { target: config.target, version: config.version, fragment: None };
        Self { source, wanted, shared, rules: asked(scope, &config.levels), in_pieces: false }
    }

    /// For a function of which a range of the text is known only. Nothing particular was asked for.
    pub(super) fn of_part(source: &'a str, part: Span, shared: &'a Shared<'a>) -> Self {
        // There are many fragments, and most are small.
        static RULES: OnceLock<Arc<[&Rule]>> = OnceLock::new();
        let rules = RULES.get_or_init(|| asked(Scope::Part, &Levels::default()));
        let wanted = Wanted { target: None, version: None, fragment: Some(part) };
        Self { source, wanted, shared, rules: Arc::clone(rules), in_pieces: false }
    }

    /// For a module whose bodies are lowered one by one.
    pub(super) fn of_pieces(source: &'a str, config: &Config, shared: &'a Shared<'a>) -> Self {
        Self { in_pieces: true, ..Self::new(Scope::Whole, source, config, shared) }
    }

    fn context<'c>(&self, module: &'c Module, part: Part<'c>) -> ModuleContext<'c>
    where
        'a: 'c,
    {
        ModuleContext { module, source: self.source, wanted: self.wanted, shared: self.shared, part }
    }

    /// What there is to say of a body, and of what it declares where the module does not.
    pub(super) fn body(
        &self,
        module: &Module,
        function: Handle<Function>,
        body: &Body,
        facts: &SpellingFacts,
    ) -> Judged {
        let features = facts.features(body);
        self.shared.summaries.keep(module, function, body, features);
        let mentions = Mentions::of(body);
        let mut used = Used::default();
        used.add_body(module, body, &mentions);
        let adds = self.in_pieces && module.variables.own().len() + module.functions.own().len() > 0;
        for (_, variable) in module.variables.own().filter(|_| adds) {
            variable.initializer.iter().for_each(|initializer| used.add_initializer(module, initializer));
        }
        let part = Part { has_module: false, features, used: &used };
        let context = self.context(module, part);
        let mut findings = Findings::default();
        if adds {
            self.declarations(&context, &mut findings);
        }
        let context = FunctionContext { module: context, handle: function, body, mentions: &mentions };
        gates::of_body(&context, &mut findings.gates);
        self.function(context, facts, &mut findings.in_bodies);
        Judged { findings, features, used }
    }

    fn function(&self, context: FunctionContext<'_>, facts: &SpellingFacts, out: &mut Vec<Diagnostic>) {
        instruction::verify(&context, facts, &self.rules, out);
        let flow = FlowContext::new(context);
        let told_apart = LazyCell::new(|| flow.told_apart());
        let apart = LazyCell::new(|| {
            let body = told_apart.as_ref()?;
            Some(FlowContext::new(FunctionContext { body, ..context }))
        });
        for rule in self.rules.iter() {
            match rule.check {
                Check::Function(check) | Check::DeclarationsAndBodies(_, check) => {
                    ask(rule, out, |found| check(&context, found));
                }
                Check::Flow(check) => {
                    let of_protocol = if rule.is_of_protocol() { apart.as_ref() } else { None };
                    ask(rule, out, |found| check(of_protocol.unwrap_or(&flow), found));
                }
                Check::Elsewhere | Check::Syntax(_) | Check::Lowering(_) => {}
                Check::Module(_) | Check::Declarations(_) | Check::Instruction(_) => {}
                Check::Asm(_) | Check::AsmFile(_) => {}
            }
        }
    }

    /// What there is to say of a module besides its bodies, in all of which there are these features, and which name this.
    pub(super) fn module(&self, module: &Module, features: Features, mut used: Used) -> Findings {
        for (_, variable) in module.variables.iter() {
            variable.initializer.iter().for_each(|initializer| used.add_initializer(module, initializer));
        }
        for item in &module.items {
            if let Item::Alias { target, .. } = item {
                used.add_function(*target);
            }
        }
        let context = self.context(module, Part { has_module: true, features, used: &used });
        let mut findings = Findings::default();
        self.declarations(&context, &mut findings);
        findings
    }

    fn declarations(&self, context: &ModuleContext<'_>, findings: &mut Findings) {
        let mut out = Vec::new();
        for (place, rule) in self.rules.iter().enumerate() {
            match rule.check {
                Check::Module(check) if context.part.has_module => {
                    ask(rule, &mut out, |out| check(context, out));
                }
                Check::Declarations(check) | Check::DeclarationsAndBodies(check, _) => {
                    ask(rule, &mut out, |out| check(context, out));
                }
                _ => {}
            }
            if !out.is_empty() {
                findings.declared.extend(out.drain(..).map(|found| (place, found)));
            }
        }
        gates::of_declarations(context, &mut findings.gates);
    }

    /// All that was found, in the order of the rules where the place is the same.
    pub(super) fn in_order(&self, module: &Module, mut findings: Findings) -> Vec<Diagnostic> {
        findings.declared.sort_by_key(|(rule, _)| *rule);
        let mut all: Vec<_> = findings.declared.into_iter().map(|(_, found)| found).collect();
        all.append(&mut findings.gates);
        all.append(&mut findings.in_bodies);
        let used = Used::default();
        let part = Part { has_module: true, features: Features::default(), used: &used };
        if !module_header::is_known(&self.context(module, part)) {
            module_header::forget_gates(&mut all);
        }
        all
    }
}

/// The rules that are asked of functions of which so much is known.
fn asked(scope: Scope, levels: &Levels) -> Arc<[&'static Rule]> {
    levels.asked().filter(|rule| scope == Scope::Whole || rule.scope == Scope::Part).collect()
}

/// Asks a rule. A rule that is off is not asked, so that its check must find nothing for others but what it says.
fn ask(rule: &Rule, diagnostics: &mut Vec<Diagnostic>, check: impl FnOnce(&mut Vec<Diagnostic>)) {
    let before = diagnostics.len();
    check(diagnostics);
    debug_assert!(
        diagnostics[before..].iter().all(|found| rule.makes(found.rule)),
        "{} makes findings of other rules",
        rule.info.name
    );
}
