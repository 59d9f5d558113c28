//! Asks the rules, in an order that does not depend on threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ptx_ir::ir::{Body, Function, Handle, Module};
use ptx_syntax::{Class, Diagnostic};

use crate::engine::fix;
use crate::engine::gates;
use crate::engine::instruction;
use crate::engine::instruction::SpellingFacts;
use crate::engine::levels::Config;
use crate::engine::suppress::Suppressions;
use crate::rule::{Check, Rule};
use crate::rules;
use crate::subject::function::{FlowContext, FunctionContext};
use crate::subject::module::{ModuleContext, Shared, Wanted};

/// Modules with fewer instructions are not worth a second thread.
const PARALLEL_FROM: usize = 20_000;

/// Verifies a lowered module. `source` is the text that its spans refer to: the place of a modifier within a
/// spelling is found there; it may be empty for a module that was built rather than parsed.
///
/// Levels are applied, suppression comments are not: that is [`finish`]. The findings come in the order of
/// their places.
#[must_use]
pub fn verify(module: &Module, source: &str, config: &Config) -> Vec<Diagnostic> {
    let mut diagnostics = findings(module, source, config);
    config.levels.apply(&mut diagnostics);
    sort(&mut diagnostics);
    diagnostics
}

/// The whole way of a PTX text: parses, lowers and verifies it, and heeds the suppression comments in it.
///
/// In a text that does not parse, only findings of class `invalid` are given: what runs on some path of a
/// broken text is not known.
#[must_use]
pub fn check(source: &str, config: &Config) -> Vec<Diagnostic> {
    let parse = ptx_syntax::parse(source);
    let broken = !parse.diagnostics.is_empty();
    let lowered = ptx_ir::lower::lower(&parse.tree, source);
    let mut diagnostics = parse.diagnostics;
    diagnostics.extend(lowered.diagnostics);
    diagnostics.extend(findings(&lowered.module, source, config));
    if source.is_empty() {
        // To the rules, a module without a text is one that a program built.
        diagnostics.push(rules::text::module_header::empty());
    }
    fix::drop_flawed(source, &mut diagnostics);
    let mut suppressions = Suppressions::of_ptx(source);
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

fn findings(module: &Module, source: &str, config: &Config) -> Vec<Diagnostic> {
    let shared = Shared::default();
    let wanted = Wanted { target: config.target, version: config.version };
    let context = ModuleContext { module, source, wanted, shared: &shared };
    let rules: Vec<&Rule> = config.levels.asked().collect();
    let mut diagnostics = Vec::new();
    for rule in &rules {
        if let Check::Module(check) = rule.check {
            ask(rule, &mut diagnostics, |found| check(&context, found));
        }
    }
    gates::check(&context, &mut diagnostics);
    let facts = SpellingFacts::new(module);
    for mut found in in_parallel(&context, config.threads, &rules, &facts) {
        diagnostics.append(&mut found);
    }
    if !rules::text::module_header::is_known(&context) {
        rules::text::module_header::forget_gates(&mut diagnostics);
    }
    diagnostics
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

/// The findings of each function, in the order of the functions.
fn in_parallel(
    context: &ModuleContext<'_>,
    threads: usize,
    rules: &[&Rule],
    facts: &SpellingFacts,
) -> Vec<Vec<Diagnostic>> {
    let functions: Vec<_> = bodies(context.module).collect();
    let instructions: usize = functions.iter().map(|(_, body)| body.instructions.len()).sum();
    let threads = threads.min(functions.len());
    if threads < 2 || instructions < PARALLEL_FROM {
        return functions.into_iter().map(|each| function(context, rules, facts, each)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&each) = functions.get(index) else { break };
            done.push((index, function(context, rules, facts, each)));
        }
        done
    };
    let mut results: Vec<_> = functions.iter().map(|_| Vec::new()).collect();
    thread::scope(|scope| {
        // The threads that the system gives are enough: this one works too.
        let spawned = (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok());
        let workers: Vec<_> = spawned.collect();
        let mut done = work();
        for worker in workers {
            match worker.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        for (index, found) in done {
            results[index] = found;
        }
    });
    results
}

type WithBody<'a> = (Handle<Function>, &'a Body);

fn bodies(module: &Module) -> impl Iterator<Item = WithBody<'_>> {
    module.functions.iter().filter_map(|(handle, function)| Some((handle, function.body.as_ref()?)))
}

fn function(
    context: &ModuleContext<'_>,
    rules: &[&Rule],
    facts: &SpellingFacts,
    each: WithBody<'_>,
) -> Vec<Diagnostic> {
    let (handle, body) = each;
    let context = FunctionContext { module: *context, handle, body };
    let mut diagnostics = Vec::new();
    instruction::verify(&context, facts, rules, &mut diagnostics);
    let flow = FlowContext::new(context);
    for rule in rules {
        match rule.check {
            Check::Function(check) => ask(rule, &mut diagnostics, |found| check(&context, found)),
            Check::Flow(check) => ask(rule, &mut diagnostics, |found| check(&flow, found)),
            Check::Elsewhere | Check::Module(_) | Check::Instruction(_) => {}
            Check::Asm(_) | Check::AsmFile(_) => {}
        }
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::check;
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
}
