//! What the toolkit knows of instructions, special registers and directives, for people and for programs.

use std::fmt::Write;
use std::sync::Arc;

use ptx_ir::directive::DirectiveKind;
use ptx_ir::isa::{
    self, FormId, Instance, OpcodeId, OperandSpec, Pattern, Role, SpellingProblem, opcodes, resolve,
};
use ptx_ir::special::{SpecialRegister, Varies};
use ptx_ir::target::{Suffix, Target, TargetSet};
use ptx_ir::version::Version;
use ptx_syntax::{Class, Diagnostic, Severity, Span};
use ptx_verify::Config;
use serde_json::{Value, json};

use crate::example;

/// No more of the ways in which operands can be given to a spelling are shown.
const MAX_WAYS: usize = 8;

/// Something that the toolkit knows under a name.
pub enum Entry {
    /// A form of an instruction, and what it is for the spelling that was asked about.
    Form(FormId, Asked),
    /// A special register.
    Register(SpecialRegister),
    /// A directive.
    Directive(DirectiveKind),
}

/// What a form is for a spelling; nothing where only an opcode was asked about.
#[derive(Default)]
pub struct Asked {
    /// The operands, in each of the ways in which they can be given.
    ways: Vec<String>,
    /// An example.
    example: Option<String>,
}

/// What there is under a name: the forms of an opcode or a spelling, a special register (`%tid`; all for `%`), a directive
/// (`.reg`; all for `.`). Empty where there is nothing.
pub fn entries(word: &str) -> Vec<Entry> {
    match word {
        "%" => return SpecialRegister::all().map(Entry::Register).collect(),
        "." => return DirectiveKind::all().map(Entry::Directive).collect(),
        _ => {}
    }
    if word.starts_with('%') {
        return SpecialRegister::parse(word).map(Entry::Register).into_iter().collect();
    }
    if word.starts_with('.') {
        return DirectiveKind::parse(word).map(Entry::Directive).into_iter().collect();
    }
    let instances = if word.contains('.') { resolve(word).instances } else { Arc::default() };
    let asked = |form: FormId| {
        // Of a form that has the spelling in part nothing more is known than of the form.
        let of_form = || instances.iter().filter(|instance| instance.form == form);
        let mut ways: Vec<String> = of_form().map(operands).collect();
        ways.dedup();
        ways.truncate(MAX_WAYS);
        let written = example_of(form);
        let is_meant = |example: &String| spelling_of(example) == word;
        let example = written.filter(is_meant).or_else(|| {
            let example = of_form().next().and_then(example::of_instance);
            example.map(|example| example.statement)
        });
        Asked { ways, example }
    };
    forms(word).into_iter().flatten().map(|form| Entry::Form(form, asked(form))).collect()
}

/// All forms, by opcode.
pub fn all_forms() -> impl Iterator<Item = Entry> {
    let forms = opcodes().flat_map(OpcodeId::forms).filter(|form| !form.is_narrowed());
    forms.map(|form| Entry::Form(form, Asked::default()))
}

impl Entry {
    /// Where it is.
    pub fn targets(&self) -> TargetSet {
        match self {
            Self::Form(form, _) => form.requirement().1,
            Self::Register(register) => register.targets(),
            Self::Directive(directive) => directive.targets(),
        }
    }

    /// Whether the manual has it.
    pub fn is_in_manual(&self) -> bool {
        !matches!(self, Self::Form(form, _) if form.beyond_manual().is_some())
    }

    /// What the assembler takes of it beyond the manual, or refuses.
    fn tolerances(&self) -> Vec<String> {
        match self {
            Self::Form(form, _) => form.tolerances(),
            Self::Register(_) | Self::Directive(_) => Vec::new(),
        }
    }

    /// For programs, with what the assembler takes beyond the manual.
    pub fn json_with_tolerances(&self) -> Value {
        let mut value = self.json();
        value["manual"] = json!(self.is_in_manual());
        value["tolerances"] = json!(self.tolerances());
        value
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Self::Form(form, asked) => {
                let (version, targets) = form.requirement();
                let shown = form.to_string();
                let needs = shown.lines().skip(2).map(str::trim).filter(|line| !line.contains(" = { "));
                let modifiers = form
                    .slots()
                    .map(|slot| json!({"name": slot.name, "values": slot.values, "optional": slot.optional}));
                json!({
                    "opcode": form.opcode().name(),
                    "section": form.section(),
                    "syntax": form.syntax(),
                    "purpose": form.purpose(),
                    "example": asked.example.clone().or_else(|| example_of(*form)),
                    "version": version.to_string(),
                    "targets": targets.to_string(),
                    "modifiers": modifiers.collect::<Vec<_>>(),
                    "needs": needs.collect::<Vec<_>>(),
                    "operands": asked.ways,
                    "takes": form.operand_kinds(),
                    "differs": form.deviations().collect::<Vec<_>>(),
                })
            }
            Self::Register(register) => json!({
                "register": register.name(),
                "purpose": register.purpose(),
                "type": register.ty().to_string(),
                "elements": register.elements(),
                "varies": varies(*register),
                "range": register.range(),
                "version": register.min_version().to_string(),
                "targets": register.targets().to_string(),
            }),
            Self::Directive(directive) => json!({
                "directive": directive.word(),
                "syntax": directive.syntax(),
                "purpose": directive.purpose(),
                "places": places(*directive),
                "version": directive.min_version().to_string(),
                "targets": directive.targets().to_string(),
                "until": directive.until().map(|(version, _)| version.to_string()),
                "excludes": directive.excludes().iter().map(|each| each.word()).collect::<Vec<_>>(),
                "needs": directive.needs().iter().map(|each| each.word()).collect::<Vec<_>>(),
            }),
        }
    }

    /// For people, without the section. What a form does is told where it is given.
    fn text(&self, does: Option<&str>) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Form(form, Asked { ways, example }) => {
                let shown = form.to_string();
                let (syntax, needs) = shown.split_once('\n').unwrap_or((&shown, ""));
                let _ = writeln!(text, "{syntax}");
                if let Some(does) = does {
                    let _ = writeln!(text, "    {does}");
                }
                if let Some(example) = example.clone().or_else(|| example_of(*form)) {
                    let _ = writeln!(text, "    for example {example}");
                }
                // What the operands are: of the spelling that was asked about, else of all that the form has.
                if ways.is_empty() {
                    let kinds = form.operand_kinds();
                    kinds.iter().for_each(|kind| text.push_str(&format!("    operands {kind}\n")));
                }
                ways.iter().for_each(|way| text.push_str(&format!("    operands {way}\n")));
                let _ = write!(text, "{needs}");
                for deviation in form.deviations() {
                    let _ = writeln!(text, "    differs from ptxas: {deviation}");
                }
                writeln!(text)
            }
            Self::Register(register) => {
                let vector = match register.elements() {
                    1 => String::new(),
                    count => format!(".v{count} "),
                };
                let _ = writeln!(text, ".sreg {vector}{} {};", register.ty(), register.name());
                let _ = writeln!(text, "    {}", register.purpose());
                let _ = writeln!(text, "    {}", varies(*register));
                if let Some((low, high)) = register.range() {
                    let _ = writeln!(text, "    from {low} to {high}");
                }
                writeln!(text, "    since PTX {}, {}", register.min_version(), register.targets())
            }
            Self::Directive(directive) => writeln!(text, "{}", describe(*directive)),
        };
        text
    }
}

/// An example of a form: the one that is written for it, else one that the table makes.
fn example_of(form: FormId) -> Option<String> {
    let is_of_form = |example: &&str| {
        let (statement, instances) = (without_guard(example), resolve(spelling_of(example)).instances);
        // Of several forms with the spelling the first is meant that has such operands.
        let operands = statement.split_once(' ').map_or("", |(_, operands)| operands.trim_end_matches(';'));
        instances.iter().find(|each| is_written(each, operands)).is_some_and(|instance| instance.form == form)
    };
    let written = form.example().filter(is_of_form).map(str::to_owned);
    written.or_else(|| example::of(form).map(|example| example.statement))
}

/// A statement without its guard.
fn without_guard(statement: &str) -> &str {
    let guarded = statement.split_once(' ').filter(|(guard, _)| guard.starts_with('@'));
    guarded.map_or(statement, |(_, statement)| statement)
}

/// The opcode of a statement with its modifiers.
fn spelling_of(statement: &str) -> &str {
    without_guard(statement).split([' ', ';']).next().unwrap_or_default()
}

/// Whether the operands of a statement are written as an instance has them: as many, in braces, in brackets, as pairs.
fn is_written(instance: &Instance, operands: &str) -> bool {
    let mut depth = 0;
    let outside = |character: char| {
        depth += i32::from("{[(".contains(character)) - i32::from("}])".contains(character));
        depth == 0 && character == ','
    };
    let written: Vec<&str> = operands.split(outside).map(str::trim).filter(|text| !text.is_empty()).collect();
    let required = instance.operands.iter().filter(|spec| !spec.optional).count();
    let fits = |(text, spec): (&&str, &OperandSpec)| match spec.pattern {
        Pattern::Vector { .. } => text.starts_with('{'),
        Pattern::Address | Pattern::Bracket => text.starts_with('['),
        Pattern::Pair => text.contains('|'),
        Pattern::List => text.starts_with('('),
        Pattern::Value | Pattern::NegatableValue | Pattern::Selectable { .. } => {
            !text.starts_with(['{', '[', '(']) && !text.contains('|')
        }
    };
    (required..=instance.operands.len()).contains(&written.len())
        && (written.len() < instance.operands.len() || written.iter().zip(&instance.operands).all(fits))
}

/// Who reads the same value of a special register.
fn varies(register: SpecialRegister) -> &'static str {
    match register.varies() {
        Varies::Thread => "differs between the threads of a warp",
        Varies::Lane => "differs between the threads of a warp, in the same way in every warp",
        Varies::Warp => "the same for the threads of a warp",
        Varies::Block => "the same for the threads of a block",
        Varies::Cluster => "the same for the threads of a cluster",
        Varies::Launch => "the same for all threads of a launch",
        Varies::Time => "changes by itself",
    }
}

/// Where a directive may be.
fn places(directive: DirectiveKind) -> Vec<&'static str> {
    let places = directive.places();
    let all = [
        (places.module, "at module level"),
        (places.kernel, "between the header of a kernel and its body"),
        (places.function, "between the header of a function and its body"),
        (places.body, "in a body"),
        (places.attribute, "in `.attribute(…)`"),
    ];
    all.into_iter().filter_map(|(is, place)| is.then_some(place)).collect()
}

/// How a directive is written, what it is for, where it may be, and what it needs.
pub fn describe(directive: DirectiveKind) -> String {
    let mut text = format!("{}\n    {}", directive.syntax(), directive.purpose());
    let _ = write!(text, "\n    {}", places(directive).join(", or "));
    let words = |kinds: &[DirectiveKind]| kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", ");
    if !directive.needs().is_empty() {
        let _ = write!(text, "\n    needs {}", words(directive.needs()));
    }
    if !directive.excludes().is_empty() {
        let _ = write!(text, "\n    excludes {}", words(directive.excludes()));
    }
    let _ = write!(text, "\n    since PTX {}, {}", directive.min_version(), directive.targets());
    if let Some((last, now)) = directive.until() {
        let _ = write!(text, "; until PTX {last}, then {}", now.word());
    }
    text
}

/// Entries as a text, the forms of each section of the manual below its title. What several forms do is told with the first.
pub fn text_of(entries: &[Entry]) -> String {
    text(entries, false)
}

/// The same with what the assembler takes beyond the manual.
pub fn text_with_tolerances(entries: &[Entry]) -> String {
    text(entries, true)
}

fn text(entries: &[Entry], tolerances: bool) -> String {
    let mut text = String::new();
    let mut section = "";
    let mut told: Option<&str> = None;
    for entry in entries {
        let Entry::Form(form, _) = entry else {
            text.push_str(&entry.text(None));
            continue;
        };
        if form.section() != section {
            (section, told) = (form.section(), None);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}{section}\n", if text.is_empty() { "" } else { "\n" });
        }
        let does = form.purpose();
        text.push_str(&entry.text(does.filter(|_| does != told)));
        if tolerances {
            let said = entry.tolerances();
            if !said.is_empty() {
                text.truncate(text.trim_end().len());
                text.push('\n');
                said.iter().for_each(|each| text.push_str(&format!("    ptxas: {each}\n")));
                text.push('\n');
            }
        }
        told = does;
    }
    text
}

/// The text for a name, for an editor.
pub fn markdown(word: &str) -> Option<String> {
    let text = text_of(&entries(word));
    (!text.is_empty()).then(|| format!("```ptx\n{}\n```\n", text.trim_end()))
}

/// The list of all instructions, by section of the manual: those that have a form for the target.
pub fn list(target: Option<Target>) -> String {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for opcode in opcodes() {
        for form in
            opcode.forms().filter(|form| target.is_none_or(|target| form.requirement().1.contains(target)))
        {
            let section = form.section();
            let at = sections.iter().position(|(known, _)| *known == section).unwrap_or_else(|| {
                sections.push((section, Vec::new()));
                sections.len() - 1
            });
            if sections[at].1.last() != Some(&opcode.name()) {
                sections[at].1.push(opcode.name());
            }
        }
    }
    sections.sort();
    let mut text = String::new();
    for (section, names) in sections {
        let _ = writeln!(text, "{section}\n    {}\n", names.join(", "));
    }
    text
}

/// No more names that are spelled alike are offered.
const MAX_ALIKE: usize = 6;

/// The names that are spelled like `word`, which nothing has: opcodes, with the modifiers of `word` where they have these,
/// directives, or special registers.
pub fn alike(word: &str) -> Vec<String> {
    let mut found: Vec<String> = if word.starts_with('%') {
        let names = || SpecialRegister::all().map(SpecialRegister::name);
        isa::alike(word, names()).into_iter().map(str::to_owned).collect()
    } else if word.starts_with('.') {
        isa::alike(word, DirectiveKind::all().map(DirectiveKind::word))
            .into_iter()
            .map(str::to_owned)
            .collect()
    } else {
        let (opcode, modifiers) = word.split_at(word.find(['.', ' ']).unwrap_or(word.len()));
        let mut found = Vec::new();
        for name in isa::alike(opcode, opcodes().map(OpcodeId::name)) {
            let whole = format!("{name}{modifiers}");
            let fits = !modifiers.is_empty() && resolve(&whole).problem.is_none();
            found.push((!fits, if fits { whole } else { name.to_owned() }));
        }
        // Those that have the modifiers come first.
        found.sort_by_key(|(lacks, _)| *lacks);
        found.into_iter().map(|(_, name)| name).collect()
    };
    found.truncate(MAX_ALIKE);
    found
}

/// What is wrong with a spelling that no instruction has: the finding that it gets in a module, without place. `None`
/// where an instruction has it, or where it is the beginning of a longer one: `ld.global` is no instruction, and the
/// forms that have `.global` are a good answer.
pub fn misspelled(word: &str) -> Option<Diagnostic> {
    let opcode = OpcodeId::parse(word.split('.').next()?)?;
    match resolve(word).problem? {
        SpellingProblem::UnknownOpcode { .. } => return None,
        // An opcode of several words lacks all that comes after it.
        problem
            if (isa::name(word) == word || matches!(problem, SpellingProblem::MissingModifier { .. }))
                && !with_all_modifiers(opcode, word).is_empty() =>
        {
            return None;
        }
        _ => {}
    }
    let version = Version::LATEST;
    let target = Target::all().rfind(|target| target.suffix() == Suffix::Plain)?;
    let before = format!(".version {version}\n.target {target}\n.address_size 64\n.func f()\n{{ ");
    let span = Span::new(before.len() as u32, (before.len() + word.len()) as u32);
    let module = format!("{before}{word};\n}}\n");
    let found = ptx_verify::check(&module, &Config::default()).into_iter();
    found
        .filter(|found| span.start <= found.span.start && found.span.end <= span.end)
        .find(|found| found.class == Class::Invalid && found.severity == Severity::Error)
}

/// The forms that have the spelling; where none has it, those that know all of its modifiers; where none
/// does, all of the opcode. `None` where there is no such opcode.
fn forms(word: &str) -> Option<Vec<FormId>> {
    let opcode = OpcodeId::parse(word.split('.').next()?)?;
    let all: Vec<FormId> = opcode.forms().filter(|form| !form.is_narrowed()).collect();
    if !word.contains('.') {
        return Some(all);
    }
    let instances = resolve(word).instances;
    let found = instances.iter().map(|instance| instance.form);
    let mut exact: Vec<FormId> = found.filter(|form| !form.is_narrowed()).collect();
    exact.dedup();
    if !exact.is_empty() {
        return Some(exact);
    }
    let mut some = with_all_modifiers(opcode, word);
    // Forms that begin with an opcode of several words have it; others have its words somewhere.
    let begins = |form: &FormId| form.syntax().starts_with(word);
    if isa::name(word) == word && some.iter().any(begins) {
        some.retain(begins);
    }
    Some(if some.is_empty() { all } else { some })
}

/// The forms of an opcode that know all modifiers of a spelling.
fn with_all_modifiers(opcode: OpcodeId, word: &str) -> Vec<FormId> {
    let modifiers: Vec<String> = word.split('.').skip(1).map(|part| format!(".{part}")).collect();
    let knows =
        |form: &FormId, modifier: &String| form.slots().any(|slot| slot.values.contains(&modifier.as_str()));
    let forms = opcode.forms().filter(|form| !form.is_narrowed());
    forms.filter(|form| modifiers.iter().all(|each| knows(form, each))).collect()
}

/// What the operands of an instance are, in their order.
fn operands(instance: &Instance) -> String {
    instance.operands.iter().map(operand).collect::<Vec<_>>().join(", ")
}

/// `d: .u32`, `[a]: address in global`, `{d}: 4 × .f32`, `{, c}` where it may be left out.
pub fn operand(spec: &OperandSpec) -> String {
    let limits = isa::limits(spec.ranges);
    let ty = match (spec.ty, limits.is_empty()) {
        (Some(ty), true) => format!(": {ty}"),
        (Some(ty), false) => format!(": {ty} in {limits}"),
        (None, true) => String::new(),
        (None, false) => format!(": {limits}"),
    };
    let name = spec.name;
    let text = match spec.pattern {
        Pattern::Value | Pattern::Selectable { .. } => format!("{name}{ty}"),
        Pattern::NegatableValue => format!("{{!}}{name}{ty}"),
        Pattern::Vector { count } => match spec.ty {
            Some(ty) => format!("{{{name}}}: {count} × {ty}"),
            None => format!("{{{name}}}: {count}"),
        },
        Pattern::Address => {
            let space = spec.access.and_then(|access| access.space);
            let space =
                space.map_or_else(|| "generic address".to_owned(), |space| format!("address in {space}"));
            let bytes = spec.access.map_or(0, |access| access.bytes);
            let bytes = if bytes > 0 { format!(", {bytes} bytes") } else { String::new() };
            format!("[{name}]: {space}{bytes}")
        }
        Pattern::Pair => parts(spec, "", "|", ""),
        Pattern::Bracket => parts(spec, "[", ", ", "]"),
        Pattern::List => format!("({name}, …)"),
    };
    let text = if spec.role == Role::Both { format!("{text} (read and written)") } else { text };
    if spec.optional { format!("{{{text}}}") } else { text }
}

fn parts(spec: &OperandSpec, open: &str, between: &str, close: &str) -> String {
    let parts: Vec<String> = spec.children.iter().map(operand).collect();
    format!("{open}{}{close}", parts.join(between))
}

#[cfg(test)]
mod tests {
    use ptx_ir::isa::{FormId, OpcodeId, opcodes, resolve};
    use ptx_syntax::{Class, Severity};
    use ptx_verify::Config;

    use super::{entries, misspelled, spelling_of};

    fn forms() -> impl Iterator<Item = FormId> {
        opcodes().flat_map(OpcodeId::forms)
    }

    #[test]
    fn the_table_says_of_each_form_what_it_does() {
        let without: Vec<&str> =
            forms().filter(|form| form.purpose().is_none()).map(FormId::syntax).collect();
        assert_eq!(without, Vec::<&str>::new());
    }

    #[test]
    fn every_example_is_right_and_of_a_form_that_it_is_told_of() {
        let mut examples: Vec<&str> = forms().filter_map(FormId::example).collect();
        examples.sort_unstable();
        examples.dedup();
        assert!(examples.len() > 150, "{}", examples.len());
        for example in examples {
            let instances = resolve(spelling_of(example)).instances;
            let is_told = |form: FormId| form.example() == Some(example);
            assert!(instances.iter().any(|instance| is_told(instance.form)), "{example}");
            let errors = ["sm_90a", "sm_100a", "sm_120a"].map(|target| errors(target, example));
            assert!(errors.iter().any(Vec::is_empty), "{example}: {errors:?}");
        }
    }

    fn errors(target: &str, statement: &str) -> Vec<String> {
        let text = format!(
            ".version 9.3\n.target {target}\n.address_size 64\n\
             .func (.param .b32 o) callee(.param .b32 i) {{ ret; }}\n\
             .visible .entry k() {{\n\
             .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %rq<3>;\n\
             .reg .f32 %f<9>; .reg .f64 %fd<3>;\n\
             targets: .branchtargets label;\n\
             {statement}\nlabel: ret;\n}}\n"
        );
        let found = ptx_verify::check(&text, &Config::default()).into_iter();
        let wrong = found.filter(|found| found.class == Class::Invalid && found.severity == Severity::Error);
        wrong.map(|found| found.message).collect()
    }

    #[test]
    fn an_opcode_of_several_words_is_no_mistake() {
        for word in ["tcgen05.mma", "tcgen05.ld", "cp.async.bulk.tensor", "cp.async", "wmma.mma", "tex.level"]
        {
            assert!(misspelled(word).is_none(), "{word}");
            assert!(entries(word).iter().all(|entry| entry.text(None).starts_with(word)), "{word}");
        }
        assert!(misspelled("tcgen05.mmma").is_some());
    }
}
