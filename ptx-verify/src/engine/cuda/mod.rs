//! Inline assembly in CUDA C++: every asm statement of a source is verified by the pipeline of PTX files.
//!
//! The way of a statement, for each target:
//! 1. [`ptx_syntax::cuda::extract`] finds it, with its operands, their types and the `#if` lines around it.
//! 2. [`expand`](crate::subject::fragment::expand) makes PTX of the template as the compiler does, and [`unit`] a PTX function of that: operands are
//!    registers of the types that the constraints and the target give them.
//! 3. [`translate`] lets the rules for PTX look at the function and brings their findings back into the source,
//!    through every escape and concatenation. What a PTX rule says about an operand becomes what it means for the
//!    constraint.
//! 4. The rules of kind `Check::Asm` look at the statement as a whole, and those of kind `Check::AsmFile` at the
//!    asm statements of a function as one stream.
//!
//! # For which target
//! A statement is verified for each target that was asked for and that the conditions around it do not exclude.
//! Without a request it is verified for `sm_90a`, or, where the conditions exclude that or the template needs more,
//! for the first target that is neither excluded nor too low: so the inactive branches are verified too. A statement
//! that the conditions keep for older toolkits is verified for the newest of these, with its PTX version.
//!
//! # What is not verified
//! Statements of other assemblers: see [`origin`]. What becomes of each statement is in [`Coverage`].

mod around;
pub(crate) mod coverage;
mod guard;
pub(crate) mod host;
mod kernels;
mod others;
mod prelude;
mod translate;

use ptx_facts::FunctionFacts;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ptx_ir::target::{Suffix, Target};
use ptx_ir::version::Version;
use ptx_syntax::cuda::{
    self, AsmStatement, ConditionId, Conditions, CudaFile, Declarations, Feature, FunctionId, MacroValues,
    OtherMacro, OtherMacroId, Truth, Truths,
};
use ptx_syntax::lexer::Lexer;
use ptx_syntax::{Class, Diagnostic, Severity, Span};

use crate::engine::check;
use crate::engine::fix;
use crate::engine::levels::{Config, Levels};
use crate::engine::suppress::Suppressions;
use crate::rule::Check;
use crate::rules::asm::{asm_target_feature, asm_unexpanded_macro};
use crate::subject::fragment::siblings::Siblings;
use crate::subject::fragment::stream::{self, FileUnits};
use crate::subject::fragment::surroundings::Surroundings;
use crate::subject::fragment::toolkit::Release;
use crate::subject::fragment::unit::{Aim, Unit, inside};
use crate::subject::fragment::{Compiler, origin, toolkit, unit};
use coverage::Coverage;
use translate::{Found, Shared};

/// What a verification of CUDA sources can be asked for.
#[derive(Clone, Debug, Default)]
pub struct CudaConfig {
    /// Levels that differ from the rules' own.
    pub levels: Levels,
    /// The targets; none for the default, see the module's documentation.
    pub targets: Vec<Target>,
    /// The PTX version; none for the newest.
    pub version: Option<Version>,
    /// The CUDA release that compiles, by which `#if` lines are decided: its two numbers. None for that of the newest
    /// version, and for any with an older one.
    pub toolkit: Option<(u32, u32)>,
    /// The front end.
    pub compiler: Compiler,
}

/// What a verification of a CUDA source tells.
#[derive(Clone, Debug, Default)]
pub struct CudaVerification {
    /// The findings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// What became of each asm statement.
    pub coverage: Coverage,
}

/// Verifies the asm statements of a CUDA C++ source and gives the findings alone: see [`verify_cuda`].
#[must_use]
pub fn check_cuda(source: &str, config: &CudaConfig) -> Vec<Diagnostic> {
    verify_cuda(source, config).diagnostics
}

/// Verifies the asm statements of a CUDA C++ source. Suppression comments are heeded and levels applied. A source
/// without `asm` costs one search. Of the files that it includes nothing is known: see [`verify_cuda_with`].
#[must_use]
pub fn verify_cuda(source: &str, config: &CudaConfig) -> CudaVerification {
    let names = || Surroundings::unknown(source);
    verify_cuda_with(source, config, Included { names: &names, ..Included::default() })
}

/// The files that a source includes. Each question is asked only where something depends on its answer.
#[derive(Clone, Copy)]
pub struct Included<'a> {
    /// What the templates of the files declare.
    pub names: &'a dyn Fn() -> Surroundings,
    /// The texts of those in quotes, each after those that it includes itself: wrappers of asm statements that kernels of the
    /// source call. None where they are too many.
    pub headers: &'a dyn Fn() -> Vec<String>,
    /// The macros and types of all of them.
    pub declarations: &'a dyn Fn() -> Declarations,
    /// Whether the source names a macro of theirs that may hold an asm statement.
    pub names_macro_with_asm: &'a dyn Fn() -> bool,
}

/// Nothing is known of them, and the source includes none.
impl Default for Included<'_> {
    fn default() -> Self {
        Self {
            names: &Surroundings::default,
            headers: &Vec::new,
            declarations: &Declarations::default,
            names_macro_with_asm: &|| false,
        }
    }
}

/// [`verify_cuda`] with what is known of the files that the source includes. A source without `asm` may have kernels that
/// call wrappers of included files.
#[must_use]
pub fn verify_cuda_with(source: &str, config: &CudaConfig, included: Included<'_>) -> CudaVerification {
    let has_asm = cuda::may_contain_asm(source.as_bytes());
    let mut file = if has_asm { cuda::extract(source) } else { CudaFile::default() };
    let uses_macros = others::may_use_macros(source) && (included.names_macro_with_asm)();
    let mut declarations = Declarations::default();
    if uses_macros || file.depends_on_others() {
        declarations = (included.declarations)();
        // Without any, the source reads as before.
        if !declarations.is_empty() && (has_asm || declarations.have_asm()) {
            file = cuda::extract_among(source, &declarations);
        }
    }
    let (mut diagnostics, coverage) = if has_asm || !file.statements.is_empty() {
        let subject =
            Subject { declarations: &declarations, ..Subject::new(source, &file, config, included) };
        let (mut diagnostics, coverage) = of_subject(&subject);
        fix::drop_flawed_in_cuda(source, &file, &mut diagnostics);
        // The letters alone, as in a comment, are no statement.
        if file.statements.is_empty() && kernels::may_call_wrappers(source) {
            diagnostics.extend(of_wrappers(source, config, included));
        }
        (diagnostics, coverage)
    } else if kernels::may_call_wrappers(source) {
        (of_wrappers(source, config, included), Coverage::default())
    } else {
        return CudaVerification::default();
    };
    let mut suppressions = match Suppressions::may_be_in(source) {
        true => Suppressions::of_comments(source, cuda::comments(source)),
        false => Suppressions::default(),
    };
    let settings = Config { levels: config.levels.clone(), ..Config::default() };
    check::finish(&mut suppressions, &settings, &mut diagnostics);
    asm_target_feature::once_a_file(&mut diagnostics, asm_target_feature::RULE.info.name, "instruction");
    CudaVerification { diagnostics, coverage }
}

/// The findings in kernels whose asm statements all stand in files that the source includes.
fn of_wrappers(source: &str, config: &CudaConfig, included: Included<'_>) -> Vec<Diagnostic> {
    let headers = (included.headers)();
    let has_asm = headers.iter().any(|header| cuda::may_contain_asm(header.as_bytes()));
    if !has_asm && !kernels::has_plain_protocol(source) {
        return Vec::new();
    }
    let release = Release::of(config.version, config.toolkit);
    let file = CudaFile::default();
    let of = |aims: &[(Target, Release)]| kernels::findings(source, &file, &headers, aims, &config.levels);
    let found = match config.targets.as_slice() {
        [] => {
            let newest = default_targets().take(NEWEST).map(|target| (target, release));
            of(&newest.collect::<Vec<_>>())
        }
        targets => targets.iter().flat_map(|target| of(&[(*target, release)])).collect(),
    };
    merged(found)
}

/// The findings in the statements of a file, and what became of these. Nothing is suppressed yet.
fn of_file(
    source: &str,
    file: &CudaFile,
    config: &CudaConfig,
    included: Included<'_>,
) -> (Vec<Diagnostic>, Coverage) {
    of_subject(&Subject::new(source, file, config, included))
}

fn of_subject(subject: &Subject<'_>) -> (Vec<Diagnostic>, Coverage) {
    let Subject { file, config, .. } = *subject;
    let mut coverage = coverage::Builder::default();
    let mut diagnostics = Vec::new();
    match config.targets.as_slice() {
        [] => diagnostics.extend(for_target(subject, None, &mut coverage)),
        targets => {
            for target in targets {
                diagnostics.extend(for_target(subject, Some(*target), &mut coverage));
            }
        }
    }
    diagnostics.extend(file.unexpanded.iter().map(asm_unexpanded_macro::finding));
    (merged(diagnostics), coverage.finish(subject))
}

/// Looks at what is known of the function that an asm statement is verified as: the first that a verification for no
/// particular target makes of it. `look` gets the facts, and the word of the function's text that stands at `place` of the
/// source, with its place in that text. `None` where the statement is not verified, or nothing of the text stands there.
pub fn asm_facts<T>(
    source: &str,
    file: &CudaFile,
    place: Span,
    config: &CudaConfig,
    look: impl FnOnce(&FunctionFacts<'_>, &str, Span) -> T,
) -> Option<T> {
    let statement = file.statements.iter().find(|each| each.used_at.is_none() && inside(each.span, place))?;
    let names = || Surroundings::unknown(source);
    let included = Included { names: &names, ..Included::default() };
    let subject = Subject::new(source, file, config, included);
    let Choice::Unit(unit) = subject.choose(statement, config.targets.first().copied()) else { return None };
    let words = Lexer::new(unit.template.text(&unit.text)).map(|token| token.span);
    let mut words =
        words.map(|span| Span::new(span.start + unit.template.start, span.end + unit.template.start));
    // The compiler's escape of a `%` is a part of the word.
    let word = words.find(|word| unit.place(*word).is_some_and(|span| inside(span, place)))?;
    let (text, moved) = unit.text_with_inputs();
    let lowered = ptx_ir::lower::lower(&ptx_syntax::parse(&text).tree, &text);
    let handle = lowered.module.functions.handles().next()?;
    let facts = FunctionFacts::new(&lowered.module, handle)?;
    Some(look(&facts, word.text(&unit.text), Span::new(word.start + moved, word.end + moved)))
}

/// What one statement gave that depends on what others declare.
struct Judged<'a> {
    statement: &'a AsmStatement,
    found: Vec<Found>,
}

/// What rules ask of a statement.
type AsmCheck = fn(&Unit<'_>, &mut Vec<Diagnostic>);

/// The findings for one target that was asked for, or for the default. What is made of a statement is dropped as soon
/// as it is judged: only what other statements depend on is kept.
fn for_target(
    subject: &Subject<'_>,
    target: Option<Target>,
    coverage: &mut coverage::Builder,
) -> Vec<Diagnostic> {
    let Subject { source, file, config, .. } = *subject;
    let mut shared = Shared::default();
    let mut summaries = HashMap::new();
    let mut judged = Vec::new();
    let mut protocols: Vec<Aim> = Vec::new();
    // What a kernel does by wrappers of included files is seen with them.
    let may_take_part = kernels::has_plain_protocol(source) || kernels::may_call_wrappers(source);
    let mut said =
        Said { config, diagnostics: Vec::new(), seen: HashSet::new(), expansions: Expansions::default() };
    let checks: Vec<AsmCheck> = asked(&config.levels, |check| match check {
        Check::Asm(check) => Some(check),
        _ => None,
    });
    for (id, statement) in file.ids().zip(&file.statements) {
        let chosen = subject.choose(statement, target);
        coverage.note(statement, &chosen);
        let Choice::Unit(unit) = chosen else { continue };
        if file.statements.len() > 1 {
            shared.add(&unit);
        }
        if target.is_none()
            && let Some(found) = guard::finding(subject, &unit)
        {
            said.add(found, None);
        }
        // What a kernel needs may be said by any of its statements.
        if protocols.len() < MAX_AIMS
            && protocols.iter().all(|aim| aim.target != unit.aim.target)
            && unit.statement.host.is_cuda()
            && (may_take_part || unit.has_protocol())
        {
            protocols.push(unit.aim);
        }
        summaries.insert(id, stream::summary(&unit));
        let mut found = of_all_choices(&unit, target.is_some(), &checks);
        // There may be many: those that are certain are grouped at once.
        let undeclared =
            found.extract_if(.., |found| matches!(found, Found::Undeclared(_))).collect::<Vec<_>>();
        if !undeclared.is_empty() {
            judged.push(Judged { statement, found: undeclared });
        }
        for found in found {
            if let Found::Plain(found) = found {
                said.add(found, Some(statement));
            }
        }
    }
    let words = OnceCell::new();
    let has_word = |word: &str| words.get_or_init(|| unit::words_of_file(source, file)).contains(word);
    for Judged { statement, found } in judged {
        let surroundings = || subject.surroundings();
        for found in found.into_iter().filter_map(|found| found.resolved(&shared, has_word, surroundings)) {
            said.add(found, Some(statement));
        }
    }
    let mut diagnostics = said.finish(subject);
    let units = FileUnits { source, file, summaries };
    let checks = asked(&config.levels, |check| match check {
        Check::AsmFile(check) => Some(check),
        _ => None,
    });
    for check in checks {
        check(&units, &mut diagnostics);
    }
    if !protocols.is_empty() {
        let of_aim = |aim: &Aim| (aim.target, Release::of(Some(aim.version), config.toolkit));
        let aims: Vec<(Target, Release)> = protocols.iter().map(of_aim).collect();
        let headers =
            if kernels::may_call_wrappers(source) { (subject.included.headers)() } else { Vec::new() };
        diagnostics.extend(kernels::findings(source, file, &headers, &aims, &config.levels));
    }
    diagnostics
}

/// Targets that the kernels of a file are tried for.
const MAX_AIMS: usize = 4;

/// The checks of the rules that are on, as far as they are of the kind that `kind` gives.
fn asked<C>(levels: &Levels, kind: impl Fn(Check) -> Option<C>) -> Vec<C> {
    levels.asked().filter_map(|rule| kind(rule.check)).collect()
}

/// What was found, each thing once.
struct Said<'c> {
    config: &'c CudaConfig,
    diagnostics: Vec<Diagnostic>,
    /// What was found in statements where they stand.
    seen: HashSet<(Span, &'static str)>,
    expansions: Expansions,
}

impl Said<'_> {
    /// Adds what is found, in a statement if there is one.
    fn add(&mut self, found: Diagnostic, statement: Option<&AsmStatement>) {
        if !is_wanted(&found, self.config) {
            return;
        }
        match statement.filter(|statement| statement.used_at.is_some()) {
            Some(statement) => self.expansions.add(found, statement),
            None => {
                self.seen.insert((found.span, found.code));
                self.diagnostics.push(found);
            }
        }
    }

    fn finish(self, subject: &Subject<'_>) -> Vec<Diagnostic> {
        let Self { mut diagnostics, seen, expansions, .. } = self;
        let alone = OnceCell::new();
        // The macro by itself has said the same.
        let is_new = |found: &Diagnostic, other: Option<&OtherMacro>| match other {
            None => !seen.contains(&(found.span, found.code)),
            Some(OtherMacro { name, .. }) => {
                let alone = alone.get_or_init(|| others::alone(subject.declarations, subject.config));
                !alone.contains(&(name.clone(), found.code))
            }
        };
        diagnostics.extend(expansions.finish(subject.file, is_new));
        diagnostics
    }
}

/// What is found in a statement, whatever the values of its constants.
fn of_all_choices(unit: &Unit<'_>, requested: bool, checks: &[AsmCheck]) -> Vec<Found> {
    let mut found = of_unit(unit, requested, checks);
    for other in &unit.alternatives {
        if found.is_empty() {
            break;
        }
        let others = of_unit(other, requested, checks);
        let said: HashMap<(Span, &'static str), &Found> =
            others.iter().map(|found| (found.key(), found)).collect();
        found.retain_mut(|found| {
            let same = said.get(&found.key());
            same.is_some_and(|other| {
                found.also_depends_on(other);
                true
            })
        });
        found.iter_mut().flat_map(Found::parts).for_each(|found| found.fix = None);
    }
    found
}

/// What is found in a statement, for one choice of values for its constants.
fn of_unit(unit: &Unit<'_>, requested: bool, checks: &[AsmCheck]) -> Vec<Found> {
    let mut found = Vec::new();
    translate::findings(unit, requested, &mut found);
    let mut of_rules = Vec::new();
    for check in checks {
        check(unit, &mut of_rules);
    }
    found.extend(of_rules.into_iter().map(Found::Plain));
    for found in found.iter_mut().flat_map(Found::parts) {
        if unit.aim.windows && found.class == Class::Invalid {
            found.severity = found.severity.min(Severity::Warning);
        }
        if let Some(toolkit) = unit.aim.older_toolkit {
            found
                .notes
                .push(format!("verified for CUDA {toolkit}, the newest that the conditions around it allow"));
        }
    }
    found
}

/// Findings where macros are used: what several uses have in common is told once.
#[derive(Default)]
struct Expansions {
    found: Vec<Expansion>,
    /// By place, rule and what is said but for the names in it.
    known: HashMap<(Place, &'static str, String), usize>,
}

/// A finding in a macro.
struct Expansion {
    finding: Diagnostic,
    /// The first use that it was found in.
    call: Span,
    /// How many other uses have it.
    others: u32,
    /// The macro, where another file has it.
    other: Option<OtherMacroId>,
}

/// Where something is found in a macro.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    /// In the source.
    Here(Span),
    /// In a statement of a macro of another file, whose uses all stand elsewhere.
    InOther(OtherMacroId, u32),
}

impl Expansions {
    fn add(&mut self, found: Diagnostic, statement: &AsmStatement) {
        let call = statement.used_at.unwrap_or(statement.keyword);
        let unquoted: String = found.message.split('`').step_by(2).collect();
        let place = match statement.other_macro {
            Some(other) if found.span == statement.keyword => Place::InOther(other, statement.ordinal),
            _ => Place::Here(found.span),
        };
        let index = *self.known.entry((place, found.code, unquoted)).or_insert(self.found.len());
        match self.found.get_mut(index) {
            Some(first) => {
                first.others += u32::from(first.call != call);
                first.finding.severity = first.finding.severity.max(found.severity);
            }
            None => {
                let other = statement.other_macro;
                self.found.push(Expansion { finding: found, call, others: 0, other });
            }
        }
    }

    /// Those that are new.
    fn finish(
        self,
        file: &CudaFile,
        is_new: impl Fn(&Diagnostic, Option<&OtherMacro>) -> bool,
    ) -> impl Iterator<Item = Diagnostic> {
        self.found.into_iter().filter_map(move |Expansion { finding, call, others, other }| {
            let other = other.map(|id| file.other_macro(id));
            if !is_new(&finding, other) {
                return None;
            }
            let mut found = at_use(finding, call);
            if let Some(other) = other {
                found = found.with_note(others::place(other));
            }
            Some(match others {
                0 => found,
                1 => found.with_note("and in 1 other expansion of the macro"),
                _ => found.with_note(format!("and in {others} other expansions of the macro")),
            })
        })
    }
}

/// Whether a finding is for the user: style is a matter of taste in an asm statement, and much of it stands in
/// headers of others, so it is told only where it was asked for.
fn is_wanted(found: &Diagnostic, config: &CudaConfig) -> bool {
    let own = found.rule.starts_with("asm-");
    found.class != Class::Style || own || config.levels.of(found.rule, found.class).is_some()
}

/// A finding in a macro, with the use that brought it out.
fn at_use(found: Diagnostic, call: Span) -> Diagnostic {
    if found.span.start <= call.start && call.end <= found.span.end {
        return found;
    }
    found.with_secondary(call, "where the macro is used here")
}

/// The same finding for several targets, or for several variants of a statement, is told once, and the loudest.
fn merged(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|found| (found.span, found.code));
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut seen: HashMap<(Span, &'static str, String), usize> = HashMap::new();
    for found in diagnostics {
        let key = (found.span, found.code, found.message.clone());
        match seen.get(&key) {
            Some(&index) => kept[index].severity = kept[index].severity.max(found.severity),
            None => {
                seen.insert(key, kept.len());
                kept.push(found);
            }
        }
    }
    kept
}

/// A source with all that is known of it before its statements are looked at.
struct Subject<'a> {
    source: &'a str,
    file: &'a CudaFile,
    config: &'a CudaConfig,
    conditions: Conditions<'a>,
    truths: RefCell<HashMap<(Target, Release), Rc<Truths>>>,
    functions_with_ptx: OnceCell<HashSet<FunctionId>>,
    siblings: Rc<Siblings<'a>>,
    /// What [`Subject::compiled_for`] has answered.
    compiled: RefCell<HashMap<Asked, Option<Compiled>>>,
    /// What [`Subject::excluding`] has answered.
    excluding: RefCell<HashMap<ConditionId, ConditionId>>,
    included: Included<'a>,
    /// What the statements were read with.
    declarations: &'a Declarations,
    surroundings: OnceCell<Surroundings>,
}

/// What a statement is verified as.
enum Choice<'a> {
    /// A unit.
    Unit(Box<Unit<'a>>),
    /// It is not compiled for any target that comes into question.
    Excluded,
    /// It is no PTX.
    NotPtx,
}

impl<'a> Subject<'a> {
    fn new(source: &'a str, file: &'a CudaFile, config: &'a CudaConfig, included: Included<'a>) -> Self {
        Self {
            source,
            file,
            config,
            conditions: file.conditions_of(source),
            truths: RefCell::default(),
            functions_with_ptx: OnceCell::new(),
            siblings: Rc::new(Siblings::new(file)),
            compiled: RefCell::default(),
            excluding: RefCell::default(),
            included,
            declarations: others::none(),
            surroundings: OnceCell::new(),
        }
    }

    fn surroundings(&self) -> &Surroundings {
        self.surroundings.get_or_init(self.included.names)
    }

    fn truths(&self, target: Target, release: Release) -> Rc<Truths> {
        let known = self.truths.borrow().get(&(target, release)).cloned();
        known.unwrap_or_else(|| {
            let truths = Rc::new(self.conditions.truths(&values(target, release)));
            self.truths.borrow_mut().insert((target, release), Rc::clone(&truths));
            truths
        })
    }

    /// The statement for a target and a release; none where it is not compiled for them.
    fn unit(&self, statement: &'a AsmStatement, target: Target, release: Release) -> Option<Unit<'a>> {
        let truths = self.truths(target, release);
        if truths.exclude(statement) {
            return None;
        }
        let compiled = truths.of(statement.condition);
        let aim = Aim {
            target,
            version: release.version,
            compiled,
            windows: truths.is_for_windows(statement.condition),
            older_toolkit: release.toolkit.filter(|_| release != self.release()),
        };
        // All other hosts hand their templates to LLVM.
        let compiler = if statement.host.is_cuda() { self.config.compiler } else { Compiler::Clang };
        Some(Unit::new(self.source, self.file, &self.siblings, statement, aim, compiler))
    }

    /// The release that was asked for, or the newest.
    fn release(&self) -> Release {
        Release::of(self.config.version, self.config.toolkit)
    }

    /// The releases that a statement is tried with: where none but older ones compile it, the newest of them.
    fn releases(&self) -> impl Iterator<Item = Release> {
        let by_toolkit = self.config.version.is_none()
            && toolkit::MACROS.iter().any(|name| self.conditions.depend_on(name));
        std::iter::once(self.release()).chain(toolkit::older().filter(move |_| by_toolkit))
    }

    fn is_ptx(&self, unit: &Unit<'_>) -> bool {
        let functions = || self.functions_with_ptx.get_or_init(|| origin::functions_with_ptx(self.file));
        origin::is_ptx(unit, |function| functions().contains(&function))
    }

    /// What compiles the statements below a condition, of which there may be any number: the first release that does for
    /// some target, and these targets.
    fn compiled_for(&self, condition: ConditionId, target: Option<Target>) -> Option<Compiled> {
        let known = self.compiled.borrow().get(&(condition, target)).cloned();
        known.unwrap_or_else(|| {
            let compiled = self.compiled_where(target, |truths| truths.of(condition) != Truth::False);
            self.compiled.borrow_mut().insert((condition, target), compiled.clone());
            compiled
        })
    }

    /// The first release in which `holds` is true for some target, and these targets.
    fn compiled_where(&self, target: Option<Target>, holds: impl Fn(&Truths) -> bool) -> Option<Compiled> {
        let targets: Vec<Target> = target.map_or_else(|| default_targets().collect(), |target| vec![target]);
        self.releases().find_map(|release| {
            let is_compiled = |target: &Target| holds(&self.truths(*target, release));
            let targets: Rc<[Target]> = targets.iter().copied().filter(is_compiled).collect();
            (!targets.is_empty()).then_some((release, targets))
        })
    }

    fn choose(&self, statement: &'a AsmStatement, target: Option<Target>) -> Choice<'a> {
        let compiled = match statement.branches.as_slice() {
            [] => self.compiled_for(statement.condition, target),
            _ => self.compiled_where(target, |truths| !truths.exclude(statement)),
        };
        match (compiled, target) {
            (None, _) => Choice::Excluded,
            (Some((release, _)), Some(target)) => self.requested(statement, target, release),
            (Some((release, targets)), None) => self.by_default(statement, &targets, release),
        }
    }

    fn requested(&self, statement: &'a AsmStatement, target: Target, release: Release) -> Choice<'a> {
        match self.unit(statement, target, release) {
            Some(unit) if self.is_ptx(&unit) => Choice::Unit(Box::new(unit)),
            Some(_) => Choice::NotPtx,
            None => Choice::Excluded,
        }
    }

    fn by_default(&self, statement: &'a AsmStatement, targets: &[Target], release: Release) -> Choice<'a> {
        let mut first: Option<Unit<'a>> = None;
        for &target in targets {
            let Some(unit) = self.unit(statement, target, release) else { continue };
            if first.is_none() && !self.is_ptx(&unit) {
                return Choice::NotPtx;
            }
            let needs_another = translate::needs_another_target;
            if !needs_another(&unit) || unit.alternatives.iter().any(|other| !needs_another(other)) {
                return Choice::Unit(Box::new(unit));
            }
            first = first.or(Some(unit));
        }
        first.map_or(Choice::Excluded, |unit| Choice::Unit(Box::new(unit)))
    }

    /// The outermost condition that keeps what lies below `condition` from being compiled.
    fn excluding(&self, condition: ConditionId) -> Option<ConditionId> {
        let target = self.config.targets.first().copied().or_else(|| default_targets().next())?;
        let truths = self.truths(target, self.release());
        let mut known = self.excluding.borrow_mut();
        let mut passed = Vec::new();
        let mut around = Some(condition);
        let mut outermost = None;
        while let Some(condition) = around.filter(|condition| truths.of(*condition) == Truth::False) {
            if let Some(answer) = known.get(&condition) {
                outermost = Some(*answer);
                break;
            }
            passed.push(condition);
            around = self.file.conditions[condition.index()].parent;
        }
        outermost = outermost.or(passed.last().copied());
        known.extend(passed.into_iter().zip(outermost.into_iter().cycle()));
        outermost
    }
}

fn values(target: Target, release: Release) -> MacroValues {
    let feature = match target.suffix() {
        Suffix::Plain => Feature::Base,
        Suffix::Family => Feature::Family,
        Suffix::Architecture => Feature::Architecture,
    };
    let version = release.version;
    MacroValues {
        sm: Some(u32::from(target.number())),
        feature,
        toolkit: release.toolkit.map(|toolkit| (toolkit.major, toolkit.minor)),
        ptx_version: Some(u32::from(version.major()) * 100 + u32::from(version.minor()) * 10),
    }
}

/// So many of them are tried for kernels whose asm statements stand elsewhere.
const NEWEST: usize = 4;

/// A condition, and the target that was asked for.
type Asked = (ConditionId, Option<Target>);

/// A release, and the targets that it compiles something for.
type Compiled = (Release, Rc<[Target]>);

/// The targets that are tried without a request, the first before all others: `sm_90a`, then newer ones, which
/// newer branches are for, then older ones.
fn default_targets() -> impl Iterator<Item = Target> {
    let newer = ["sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_110a", "sm_120a", "sm_121a", "sm_90"];
    let older = Target::all().rev().filter(|target| target.number() < 90);
    newer.into_iter().filter_map(Target::parse).chain(older)
}
