//! The table as text, one line a form, so that a test can keep it under version control and a change of the table
//! shows what it changed.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write as _};

use super::class::{Class, ClassSet};
use super::table::{
    ADDRESSES, CLASSES, Condition, Count, Effect, FORMS, Form, GateRule, IGNORED, Ignored, NAMES, Operand,
    PatternTemplate, REPEATABLE, Rule, SpaceRef, Spare, TOGETHER, TypeRef, Variant, texts,
};
use crate::target::TargetSet;
use crate::types::Type;
use crate::version::Version;

/// The whole table: the class tables, what the assembler insists on, and every form with its modifiers, rules,
/// requirements, effects and operands.
#[must_use]
pub fn dump() -> String {
    let mut text = String::new();
    for (index, table) in CLASSES.iter().enumerate() {
        for (ty, (places, sources)) in Type::ALL.iter().zip(table) {
            if places | sources != 0 {
                let more = ClassSet::from_bits(sources & !places);
                let _ = writeln!(
                    text,
                    "/{index} {ty}: {} | {}",
                    Classes(ClassSet::from_bits(*places)),
                    Classes(more)
                );
            }
        }
    }
    for (space, bits) in &ADDRESSES {
        let _ = writeln!(text, "addr {space}: {}", Classes(ClassSet::from_bits(*bits)));
    }
    let _ = writeln!(text, "names: {}\nrepeatable: {}", NAMES.join(" "), REPEATABLE.join(" "));
    for list in &TOGETHER {
        let _ = writeln!(text, "together: {}", list.join(" "));
    }
    for Ignored { any, but, names, modifiers } in &IGNORED {
        let (any, but) = (if *any { " any" } else { "" }, if *but { " but" } else { "" });
        let _ = writeln!(text, "ignored{any}{but}: {} {{ {} }}", names.join(" "), modifiers.join(" "));
    }
    // In what order the forms of an opcode are in the files is no part of what they mean.
    let mut forms: Vec<&Form> = FORMS.iter().collect();
    forms.sort_by_key(|form| (form.opcode, form.syntax.as_str()));
    for form in forms {
        let _ = writeln!(text, "{}", Line(form));
    }
    text
}

/// Classes by name, with names for those that often are together.
struct Classes(ClassSet);

const SHORT: [(&str, &[Class]); 5] = [
    ("int", &[Class::Integer, Class::NegativeInteger, Class::WarpSize]),
    ("float", &[Class::Decimal, Class::SingleBits, Class::DoubleBits]),
    ("i16", &[Class::RegB16, Class::RegU16, Class::RegS16]),
    ("i32", &[Class::RegB32, Class::RegU32, Class::RegS32]),
    ("i64", &[Class::RegB64, Class::RegU64, Class::RegS64]),
];

impl Display for Classes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut words = Vec::new();
        for (word, classes) in SHORT {
            let set = ClassSet::of(classes);
            if set.is_subset(rest) {
                words.push(word);
                rest = rest.without(set);
            }
        }
        words.extend(
            rest.iter().map(|class| class.register_type().map_or(class.name(), |ty| &ty.as_str()[1..])),
        );
        formatter.write_str(&words.join(" "))
    }
}

/// A form on one line.
struct Line(&'static Form);

impl Line {
    /// `.a|.b ss=…`: the values that a condition is about.
    fn condition(&self, condition: Condition) -> String {
        let tests = condition.iter().map(|&(slot, mask)| {
            let slot = &self.0.slots[slot as usize];
            let values = slot.values.iter().enumerate().filter(|(index, _)| mask >> index & 1 != 0);
            let mut values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
            let absent = format!("no .{}", slot.name);
            if mask >> 63 != 0 {
                values.push(&absent);
            }
            if values.is_empty() { "never".to_owned() } else { values.join("|") }
        });
        tests.collect::<Vec<_>>().join(" ")
    }

    fn ty(&self, ty: TypeRef) -> String {
        let slot = |slot: u8| format!(".{}", self.0.slots[slot as usize].name);
        match ty {
            TypeRef::None => String::new(),
            TypeRef::Fixed(ty) => ty.as_str()[1..].to_owned(),
            TypeRef::Slot(index) => slot(index),
            TypeRef::Widened(index) => format!("wide({})", slot(index)),
        }
    }

    /// A length; where it depends on modifiers, for each choice of them that the rules and `within` allow. In which
    /// words the table says it is no part of what it means.
    fn count(&self, count: Count, within: Condition) -> String {
        let lines = match count {
            Count::Fixed(count) => return count.to_string(),
            Count::Slot(slot) => return format!(".{}", self.0.slots[slot as usize].name),
            Count::Table(lines) => lines,
        };
        let asked: BTreeSet<u8> =
            lines.into_iter().flat_map(|(when, _)| *when).map(|(slot, _)| *slot).collect();
        let mut choices: Vec<Vec<(u8, u64)>> = vec![Vec::new()];
        for slot in asked {
            let values = 0..self.0.slots[slot as usize].values.len();
            let with = |choice: &Vec<(u8, u64)>, value: usize| {
                choice.iter().copied().chain([(slot, 1 << value)]).collect::<Vec<_>>()
            };
            choices = choices
                .iter()
                .flat_map(|choice| values.clone().map(move |value| with(choice, value)))
                .collect();
        }
        let chosen = |choice: &[(u8, u64)], slot: u8| {
            choice.iter().find(|(each, _)| *each == slot).map(|(_, mask)| *mask)
        };
        let holds = |choice: &[(u8, u64)], when: Condition| {
            when.iter().all(|&(slot, mask)| chosen(choice, slot).is_some_and(|value| value & mask != 0))
        };
        let fails = |choice: &[(u8, u64)], when: Condition| {
            when.iter().any(|&(slot, mask)| chosen(choice, slot).is_some_and(|value| value & mask == 0))
        };
        let is_allowed = |choice: &[(u8, u64)]| {
            let is_broken = |rule: &Rule| {
                let then = if rule.needs { fails(choice, rule.then) } else { holds(choice, rule.then) };
                holds(choice, rule.when) && then
            };
            !fails(choice, within) && !self.0.rules.iter().any(is_broken)
        };
        let mut found = Vec::new();
        for choice in choices.iter().filter(|choice| is_allowed(choice)) {
            if let Some((_, count)) = lines.iter().find(|(when, _)| holds(choice, *when)) {
                let values = choice
                    .iter()
                    .map(|&(slot, mask)| self.0.slots[slot as usize].values[mask.ilog2() as usize].as_str());
                found.push(format!("{}={count}", values.collect::<Vec<_>>().join(" ")));
            }
        }
        found.join(", ")
    }

    fn rule(&self, rule: &Rule) -> String {
        let word = if rule.needs { "only" } else { "not" };
        format!("; {} {word} with {}", self.condition(rule.when), self.condition(rule.then))
    }

    fn gate(&self, gate: &GateRule) -> String {
        let mut text = format!("; {}", self.condition(gate.when));
        if gate.version > Version::OLDEST {
            let _ = write!(text, " since {}", gate.version);
        }
        if gate.until < Version::LATEST {
            let _ = write!(text, " until {}", gate.until);
        }
        let targets = TargetSet::from_bits(gate.targets);
        if targets != TargetSet::ALL {
            let _ = write!(text, " on {targets:#}");
        }
        text
    }

    fn operand(&self, operand: &Operand) -> String {
        let variants: Vec<String> = operand.variants.iter().map(|variant| self.variant(variant)).collect();
        let optional = if operand.optional { "?" } else { "" };
        let with = self.condition(operand.when);
        let with = if with.is_empty() { with } else { format!(" with {with}") };
        let purpose = operand.purpose.map(|purpose| format!(" as {purpose:?}")).unwrap_or_default();
        format!("{}{optional}{with}{purpose}: {}", operand.name, variants.join(" / "))
    }

    fn variant(&self, variant: &Variant) -> String {
        let Variant { when, role, pattern, ty, table, plus, minus, ranges, access, parts } = variant;
        let mut text = format!("{role:?} ").to_lowercase();
        text += &match pattern {
            PatternTemplate::Value => String::new(),
            PatternTemplate::Negatable => "!".to_owned(),
            PatternTemplate::Vector(count) => format!("vec({}) ", self.count(*count, *when)),
            PatternTemplate::Address => "addr ".to_owned(),
            PatternTemplate::Pair => "pair ".to_owned(),
            PatternTemplate::Bracket => "bracket ".to_owned(),
            PatternTemplate::List => "list ".to_owned(),
            PatternTemplate::Selectable(selectors) => format!("{selectors:?} "),
        };
        let _ = write!(text, "{}/{table}", self.ty(*ty));
        for (sign, bits) in [('+', *plus), ('-', *minus)] {
            if bits != 0 {
                let _ = write!(text, " {sign}({})", Classes(ClassSet::from_bits(bits)));
            }
        }
        for range in *ranges {
            let _ = write!(text, " {}..{} step {}", range.low, range.high, range.step);
        }
        if let Some(access) = access {
            let space = match access.space {
                SpaceRef::None => "generic".to_owned(),
                SpaceRef::Fixed(name) => name.as_str().to_owned(),
                SpaceRef::Slot(slot) => format!(".{}", self.0.slots[slot as usize].name),
            };
            let _ = write!(text, " in {space}");
            text += match (access.reads, access.writes) {
                (true, true) => " update",
                (true, false) => " read",
                (false, true) => " write",
                (false, false) => "",
            };
            if let Some((vector, ty)) = access.size {
                let vector = vector.map_or(String::new(), |slot| {
                    format!("{} x ", self.count(Count::Slot(slot), Condition::EMPTY))
                });
                let _ = write!(text, " of {vector}{}", self.ty(ty));
            }
            if let Some(sized) = access.sized {
                let _ = write!(text, " sized {sized}");
            }
            if access.aligned != 0 {
                let _ = write!(text, " aligned {}", access.aligned);
            }
        }
        if !parts.is_empty() {
            let parts: Vec<String> = parts.iter().map(|part| self.operand(part)).collect();
            let _ = write!(text, "({})", parts.join(", "));
        }
        if !when.is_empty() {
            let _ = write!(text, " if {}", self.condition(*when));
        }
        text
    }
}

impl Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Where a form is in the files, and in what section, is no part of what it means.
        let Form {
            section: _,
            opcode: _,
            syntax,
            place: _,
            strict_order,
            texture_mode,
            narrowed,
            does: _,
            example: _,
            misread,
            bracket,
            beyond: _,
            deviations,
            idle,
            spare,
            slots,
            rules,
            gates,
            effects,
            operands,
        } = self.0;
        write!(formatter, "{syntax}")?;
        for slot in slots.iter().filter(|slot| slot.values.len() > 1) {
            write!(formatter, " .{}={{{}}}", slot.name, texts(slot.values).collect::<Vec<_>>().join(" "))?;
        }
        let lines = rules.iter().map(|rule| self.rule(rule));
        sorted(lines).iter().try_for_each(|line| formatter.write_str(line))?;
        let lines = gates.iter().map(|gate| self.gate(gate));
        sorted(lines).iter().try_for_each(|line| formatter.write_str(line))?;
        let lines = effects.iter().flat_map(|(when, list)| {
            let when = self.condition(*when);
            let when = if when.is_empty() { when } else { format!(" if {when}") };
            list.iter().map(move |each| format!("; effect {}{when}", effect(each)))
        });
        sorted(lines).iter().try_for_each(|line| formatter.write_str(line))?;
        for when in *idle {
            write!(formatter, "; {} without effect", self.condition(*when))?;
        }
        for Spare { words, ahead, length, when, version, targets } in *spare {
            write!(formatter, "; ignores {}", texts(*words).collect::<Vec<_>>().join("|"))?;
            if *ahead > 0 {
                write!(formatter, " ahead of {ahead}")?;
            }
            if *length {
                write!(formatter, " as length")?;
            }
            let when = self.condition(*when);
            write!(formatter, "{}{when}", if when.is_empty() { "" } else { " if " })?;
            if *version > Version::OLDEST {
                write!(formatter, " since {version}")?;
            }
            let targets = TargetSet::from_bits(*targets);
            if targets != TargetSet::ALL {
                write!(formatter, " on {targets:#}")?;
            }
        }
        for deviation in *deviations {
            write!(formatter, "; deviation {} {:?}", Classes(deviation.classes), deviation.reason)?;
        }
        if *strict_order {
            write!(formatter, "; fixed order")?;
        }
        if let Some(mode) = texture_mode {
            write!(formatter, "; in {}", mode.name())?;
        }
        if *narrowed {
            write!(formatter, "; narrowed")?;
        }
        if let Some(how) = misread {
            write!(formatter, "; misread {how:?}")?;
            if let Some(place) = bracket {
                write!(formatter, " [{place}]")?;
            }
        }
        for operand in *operands {
            write!(formatter, "; {}", self.operand(operand))?;
        }
        Ok(())
    }
}

/// Rules, requirements and effects hold together, in whatever order they are written.
fn sorted(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    lines
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::CarryIn => "carry-in".to_owned(),
        Effect::CarryOut => "carry-out".to_owned(),
        Effect::Chain(chain) => format!("chain-{chain:?}"),
        Effect::Control(control) => format!("{control:?}"),
        Effect::Atomic => "atomic".to_owned(),
        Effect::Volatile => "volatile".to_owned(),
        Effect::Barrier => "barrier".to_owned(),
        Effect::Convergence(convergence) => format!("{convergence:?}"),
        Effect::ThreadDependent => "thread-dependent".to_owned(),
        Effect::AsyncProxy => "async-proxy".to_owned(),
        Effect::ReadsMemory => "reads-memory".to_owned(),
        Effect::WritesMemory => "writes-memory".to_owned(),
        Effect::Async(group, action) => format!("async {group:?} {action:?}"),
        Effect::Computes(computation) => format!("computes {computation:?}"),
        Effect::Compares(comparison) => format!("compares {comparison:?}"),
        Effect::Updates(update) => format!("updates {update:?}"),
        Effect::Means(mode) => format!("means {mode:?}"),
        Effect::Event(event) => format!("event {event:?}"),
    }
}
