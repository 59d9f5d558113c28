//! Asks the rules, in an order that does not depend on threads.

use ptx_facts::asynchronous::model::Executions;
use ptx_facts::mentions::Used;
use ptx_ir::ir::{Body, Function, Handle, Module};
use ptx_syntax::{Class, Diagnostic, Span};

use crate::engine::fix;
use crate::engine::instruction::SpellingFacts;
use crate::engine::judge::{Findings, Judge};
use crate::engine::levels::{Config, Levels};
use crate::engine::loading;
use crate::engine::parallel;
use crate::engine::pieces::{self, Found};
use crate::engine::problems::{lowering_findings, syntax_findings};
use crate::engine::suppress::Suppressions;
use crate::rule::Scope;
use crate::rules::text::module_header;
use crate::subject::module::{Features, Shared};

/// Modules with fewer instructions are not worth a second thread.
const PARALLEL_FROM: usize = 20_000;

/// Verifies a lowered module. `source` is the text that its spans refer to: the place of a modifier within a
/// spelling is found there; it may be empty for a module that was built rather than parsed.
///
/// Levels are applied, suppression comments are not: that is [`finish`]. The findings come in the order of
/// their places.
#[must_use]
pub fn verify(module: &Module, source: &str, config: &Config) -> Vec<Diagnostic> {
    // What was changed by hand may have its numbers in another order than its statements.
    if bodies(module).any(|(_, body)| !body.is_in_order()) {
        return verify_in_order(&module.clone().renumbered(), source, config);
    }
    verify_in_order(module, source, config)
}

fn verify_in_order(module: &Module, source: &str, config: &Config) -> Vec<Diagnostic> {
    let mut diagnostics = findings(module, source, config);
    config.levels.apply(&mut diagnostics);
    sort(&mut diagnostics);
    diagnostics
}

/// Verifies a module of which a function is a part of one that is not known. Rules over whole functions are not asked.
/// What is declared before the part is set when it begins, and instructions behind it stand for what the rest makes of its
/// results.
pub(super) fn verify_part(module: &Module, source: &str, part: Span) -> Vec<Diagnostic> {
    let shared = Shared::new(module, module);
    let mut diagnostics = findings_of(&Judge::of_part(source, part, &shared), module, 1);
    Levels::default().apply(&mut diagnostics);
    sort(&mut diagnostics);
    diagnostics
}

/// The whole way of a PTX text: parses, lowers and verifies it, and heeds the suppression comments in it.
///
/// In a text that does not parse, only findings of class `invalid` are given: what runs on some path of a
/// broken text is not known.
///
/// The bodies of functions are parsed, lowered and verified by themselves, by [`Config::threads`] threads, and dropped:
/// besides the text, memory holds what the module declares and one body for each thread.
#[must_use]
pub fn check(source: &str, config: &Config) -> Vec<Diagnostic> {
    match pieces::found(pieces::threads(source, config), source, config) {
        Some(found) => complete(source, config, false, found),
        None => check_whole(source, config),
    }
}

/// The same without pieces, for any text.
pub(super) fn check_whole(source: &str, config: &Config) -> Vec<Diagnostic> {
    let (findings, broken) = all_findings(source, config);
    let suppresses = Suppressions::may_be_in(source);
    complete(source, config, broken, Found { findings, bodies: Vec::new(), suppresses })
}

/// The findings of all steps in any text, and whether it does not parse.
pub(super) fn all_findings(source: &str, config: &Config) -> (Vec<Diagnostic>, bool) {
    findings_by(source, |module| findings(module, source, config))
}

/// The same of the translation of a kernel, whose executions take as long as they do.
pub(super) fn findings_of_translation(source: &str, config: &Config) -> (Vec<Diagnostic>, bool) {
    findings_by(source, |module| {
        let mut shared = Shared::new(module, module);
        shared.executions = Executions::unlimited();
        findings_of(&Judge::new(Scope::Whole, source, config, &shared), module, config.threads)
    })
}

fn findings_by(source: &str, judge: impl FnOnce(&Module) -> Vec<Diagnostic>) -> (Vec<Diagnostic>, bool) {
    let parse = ptx_syntax::parse(source);
    let lowered = ptx_ir::lower::lower(&parse.tree, source);
    let broken = !parse.errors.is_empty();
    let mut diagnostics = syntax_findings(&parse);
    diagnostics.extend(lowering_findings(&lowered));
    diagnostics.extend(judge(&lowered.module));
    (diagnostics, broken)
}

/// Adds to the findings in a text, which may be broken, what is no matter of its pieces. The fixes of findings in bodies
/// were looked at.
pub(super) fn complete(source: &str, config: &Config, broken: bool, found: Found) -> Vec<Diagnostic> {
    let Found { findings: mut diagnostics, bodies, suppresses } = found;
    if source.is_empty() {
        // To the rules, a module without a text is one that a program built.
        diagnostics.push(module_header::empty());
    }
    loading::explain(source, config.version, &mut diagnostics);
    fix::drop_flawed(source, &bodies, &mut diagnostics);
    let mut suppressions = if suppresses { Suppressions::of_ptx(source) } else { Suppressions::default() };
    finish(&mut suppressions, config, &mut diagnostics);
    if broken {
        diagnostics.retain(|diagnostic| diagnostic.class == Class::Invalid);
    }
    diagnostics
}

/// Applies suppressions and levels to the findings of all steps and puts them into the order of their places.
pub fn finish(suppressions: &mut Suppressions, config: &Config, diagnostics: &mut Vec<Diagnostic>) {
    suppressions.apply(&config.levels, diagnostics);
    config.levels.apply(diagnostics);
    sort(diagnostics);
}

/// Stable, so that findings at one place stay in the order of the rules.
fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
}

/// The findings of the rules in a module that has all bodies.
fn findings(module: &Module, source: &str, config: &Config) -> Vec<Diagnostic> {
    let shared = Shared::new(module, module);
    findings_of(&Judge::new(Scope::Whole, source, config, &shared), module, config.threads)
}

fn findings_of(judge: &Judge<'_>, module: &Module, threads: usize) -> Vec<Diagnostic> {
    let mut facts = SpellingFacts::default();
    facts.extend(module);
    let bodies: Vec<_> = bodies(module).collect();
    let instructions: usize = bodies.iter().map(|(_, body)| body.instructions.len()).sum();
    let threads = if instructions < PARALLEL_FROM { 1 } else { threads };
    let work = |(): &mut (), index: usize| {
        let (function, body) = bodies[index];
        Some(judge.body(module, function, body, &facts))
    };
    let judged = parallel::map(bodies.len(), threads, || (), work).unwrap_or_default();
    let mut findings = Findings::default();
    let (mut features, mut used) = (Features::default(), Used::default());
    for each in judged {
        features |= each.features;
        used.add(&each.used, usize::MAX);
        findings.extend(each.findings);
    }
    findings.extend(judge.module(module, features, used));
    judge.in_order(module, findings)
}

fn bodies(module: &Module) -> impl Iterator<Item = (Handle<Function>, &Body)> {
    module.functions.iter().filter_map(|(handle, function)| Some((handle, function.body.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::{check, verify};
    use crate::engine::levels::Config;
    use crate::rule::Level;

    #[test]
    fn a_rule_that_is_off_is_not_asked() {
        let mut config = Config::default();
        config.levels.set("unused-label", Level::Allow).unwrap();
        let is_asked = |name: &str, config: &Config| config.levels.asked().any(|rule| rule.info.name == name);
        assert!(!is_asked("unused-label", &config));
        assert!(is_asked("unused-variable", &config));
        assert!(!is_asked("asm-missing-memory-clobber", &Config::default()));
    }

    #[test]
    fn what_a_check_finds_for_another_rule_stays_when_its_own_rule_is_off() {
        let text = ".version 2.3\n.target sm_20\n.visible .entry k() { ret; }\n.global .u64 a = k;\n";
        let found = |off: &[&str]| {
            let mut config = Config::default();
            for rule in off {
                config.levels.set(rule, Level::Allow).unwrap();
            }
            let found = check(text, &config);
            found.iter().any(|found| found.rule == "version-too-low" || found.rule == "target-too-low")
        };
        assert!(found(&[]) && found(&["initializer"]));
        assert!(!found(&["version-too-low", "target-too-low"]));
    }

    /// An instruction that is put in by hand is the last one by its number, and `ret` is not.
    #[test]
    fn a_body_that_was_changed_by_hand_is_judged_by_its_statements() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
                    .reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r1;\n\
                    ret;\n}\n";
        let mut module = ptx_ir::lower::lower(&ptx_syntax::parse(text).tree, text).module;
        let rules = |module: &ptx_ir::ir::Module| -> Vec<&str> {
            verify(module, "", &Config::default()).iter().map(|found| found.rule).collect()
        };
        assert!(rules(&module).contains(&"uninitialized-register"));
        let set = "mov.b32 %r1, 7;";
        let with = text.replace("st.global", &format!("{set} st.global"));
        let other = ptx_ir::lower::lower(&ptx_syntax::parse(&with).tree, &with).module;
        let spelling = module
            .spellings
            .push(other.spellings.iter().find(|(_, each)| &*each.text == "mov.b32").unwrap().1.clone());
        let body_of =
            |module: &ptx_ir::ir::Module| module.functions.iter().next().unwrap().1.body.clone().unwrap();
        let theirs = body_of(&other);
        let (handle, instruction) = theirs.instructions.iter().nth(1).unwrap();
        let function = module.functions.handles().next().unwrap();
        let mut body = body_of(&module);
        let first = body.operands.len() as u32;
        body.operands.extend_from_slice(theirs.operands(handle));
        let operands = ptx_ir::ir::Run { first, ..instruction.operands };
        let new = body.instructions.push(ptx_ir::ir::Instruction { spelling, operands, ..*instruction });
        let at = body.statements.len() - 2;
        body.statements.insert(at, ptx_ir::ir::Statement::Instruction(new));
        assert!(!body.is_in_order());
        module.functions[function].body = Some(body);
        assert_eq!(rules(&module), rules(&other));
        let module = module.renumbered();
        assert!(body_of(&module).is_in_order());
        assert_eq!(rules(&module), rules(&other));
    }
}
