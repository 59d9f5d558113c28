//! Gives every name of the files its meaning and checks that the parts fit together.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::class::{Class, ClassSet};
use crate::lexer::Fault;
use crate::model::{
    ABSENT, Access, Condition, Count, Deviation, Form, Gate, Ignored, Operand, Pattern, Rule, Slot, SpaceRef,
};
use crate::model::{Spare, Table, TypeRef, Variant};
use crate::operands::{CountName, Kind, OperandClause, TypeName};
use crate::parser::{Atom, ClassLine, Clause, CountsDefinition, File, FormDefinition, Item, SlotDefinition};
use crate::syntax::{Drawing, Place, Syntax};
use crate::types::Type;

/// Resolves all files.
pub fn resolve(files: &[File]) -> Result<Table, Fault> {
    let mut shared = Shared::default();
    for file in files {
        shared.read_classes(file)?;
    }
    shared.finish();
    let mut forms = Vec::new();
    for file in files {
        let mut slots = BTreeMap::new();
        let mut counts = BTreeMap::new();
        for item in &file.items {
            match item {
                Item::Slot(slot) => drop(slots.insert(slot.name.clone(), slot.clone())),
                Item::Counts(table) => drop(counts.insert(table.name.clone(), table.clone())),
                Item::Form(definition) => {
                    let group = Group::new(&shared, &file.name, definition, &slots, &counts)?;
                    for syntax in definition.syntaxes.iter().flat_map(|syntax| group.split(syntax)) {
                        forms.push(group.form(&syntax)?);
                    }
                }
                Item::Classes(_)
                | Item::Operand(_)
                | Item::Names(_)
                | Item::Repeatable(_)
                | Item::Together(_)
                | Item::Ignored(_) => {}
            }
        }
    }
    forms.sort_by(|one, other| one.root.cmp(&other.root));
    let element_tables = (shared.variant("element").unwrap_or(0), shared.variant("exact").unwrap_or(0));
    shared.names.sort();
    check_opcodes(&shared, files, &forms)?;
    Ok(Table {
        forms,
        variants: shared.variants,
        element_tables,
        addresses: shared.addresses,
        names: shared.names,
        repeatable: shared.repeatable,
        together: shared.together,
        ignored: shared.ignored,
    })
}

/// A syntax line without and with an optional operand; the line itself where it has no such operand.
fn split_at(syntax: &Syntax, name: &str) -> Vec<Syntax> {
    let Some(index) = syntax.operands.iter().position(|place| place.optional && place.name == name) else {
        return vec![syntax.clone()];
    };
    let (mut without, mut with) = (syntax.clone(), syntax.clone());
    without.operands.remove(index);
    with.operands[index].optional = false;
    with.operands[index].required = true;
    let drawn = format!("{{, {name}}}");
    without.text = syntax.text.replace(&drawn, "");
    with.text = syntax.text.replace(&drawn, &format!(", {name}"));
    vec![without, with]
}

/// Whether all of some operands are among those of a line.
fn has_all(names: &[&str], operands: &[String]) -> bool {
    operands.iter().all(|operand| names.contains(&operand.as_str()))
}

/// The names of operands and of their parts.
fn operand_names<'a>(places: &'a [Place], names: &mut Vec<&'a str>) {
    for place in places {
        names.push(&place.name);
        operand_names(&place.parts, names);
    }
}

/// What a named kind of operand takes: its type, and the classes for outputs and for inputs.
struct NamedKind {
    ty: Option<Type>,
    places: u128,
    sources: u128,
}

/// Checks that the lists of ignored modifiers name opcodes that there are.
fn check_opcodes(shared: &Shared, files: &[File], forms: &[Form]) -> Result<(), Fault> {
    for file in files {
        for item in &file.items {
            let Item::Ignored(list) = item else { continue };
            let is_known = |name: &&String| {
                shared.names.contains(name) || forms.iter().any(|form| form.root == name.as_str())
            };
            if let Some(unknown) = list.names.iter().find(|name| !is_known(name)) {
                return Err(Fault::new(&file.name, list.line, format!("no opcode is called `{unknown}`")));
            }
        }
    }
    Ok(())
}

/// Class tables and named kinds, which all files share.
#[derive(Default)]
struct Shared {
    names: Vec<String>,
    repeatable: Vec<String>,
    together: Vec<Vec<String>>,
    ignored: Vec<Ignored>,
    tables: Vec<String>,
    lines: Vec<BTreeMap<Type, (u128, u128)>>,
    variants: Vec<[(u128, u128); Type::ALL.len()]>,
    kinds: BTreeMap<String, NamedKind>,
    addresses: Vec<(String, u128)>,
}

impl Shared {
    fn read_classes(&mut self, file: &File) -> Result<(), Fault> {
        for item in &file.items {
            match item {
                Item::Classes(table) if table.name == "address" => {
                    for line in &table.lines {
                        let bits = classes(&file.name, line.line, &line.places)?;
                        self.addresses.push((line.name.clone(), bits));
                    }
                }
                Item::Classes(table) => {
                    let lines = table.lines.iter().map(|line| type_line(&file.name, line));
                    self.tables.push(table.name.clone());
                    self.lines.push(lines.collect::<Result<_, _>>()?);
                }
                Item::Operand(line) => {
                    let ty =
                        line.ty.as_deref().map(|name| parse_type(&file.name, line.line, name)).transpose()?;
                    let places = classes(&file.name, line.line, &line.places)?;
                    let sources = places | classes(&file.name, line.line, &line.sources)?;
                    self.kinds.insert(line.name.clone(), NamedKind { ty, places, sources });
                }
                Item::Names(names) => self.names.extend_from_slice(names),
                Item::Repeatable(modifiers) => self.repeatable.extend_from_slice(modifiers),
                Item::Together(modifiers) => self.together.push(modifiers.clone()),
                Item::Ignored(list) => self.ignored.push(list.clone()),
                Item::Slot(_) | Item::Counts(_) | Item::Form(_) => {}
            }
        }
        Ok(())
    }

    /// Fills what a variant does not mention from the variant `default`.
    fn finish(&mut self) {
        let empty = BTreeMap::new();
        let default = self.tables.iter().position(|name| name == "default");
        let default = default.map_or(&empty, |index| &self.lines[index]);
        for lines in &self.lines {
            let bits = |ty: &Type| lines.get(ty).or(default.get(ty)).copied().unwrap_or_default();
            self.variants.push(std::array::from_fn(|index| bits(&Type::ALL[index])));
        }
        // Named kinds bring their classes themselves: the last table is empty.
        self.variants.push([(0, 0); Type::ALL.len()]);
    }

    fn variant(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|each| each == name)
    }
}

fn type_line(file: &str, line: &ClassLine) -> Result<(Type, (u128, u128)), Fault> {
    let ty = parse_type(file, line.line, &line.name)?;
    let places = classes(file, line.line, &line.places)?;
    Ok((ty, (places, places | classes(file, line.line, &line.sources)?)))
}

fn parse_type(file: &str, line: usize, name: &str) -> Result<Type, Fault> {
    Type::parse(name).ok_or_else(|| Fault::new(file, line, format!("`{name}` is not a type")))
}

/// The bits of classes by their names: a register type, or a word of [`CLASS_WORDS`].
fn classes(file: &str, line: usize, names: &[String]) -> Result<u128, Fault> {
    let mut set = ClassSet::NONE;
    for name in names {
        let more = class(name).ok_or_else(|| Fault::new(file, line, format!("`{name}` is not a class")))?;
        set = set.union(more);
    }
    Ok(set.bits())
}

fn class(name: &str) -> Option<ClassSet> {
    if let Some(register) = Type::parse(&format!(".{name}")).and_then(Class::register) {
        return Some(register.into());
    }
    CLASS_WORDS.iter().find(|(word, _)| *word == name).map(|(_, classes)| ClassSet::of(classes))
}

const CLASS_WORDS: [(&str, &[Class]); 61] = [
    ("int", &[Class::Integer, Class::NegativeInteger, Class::WarpSize]),
    ("positive", &[Class::Integer]),
    ("negative", &[Class::NegativeInteger]),
    ("warp-size", &[Class::WarpSize]),
    ("float", &[Class::Decimal, Class::SingleBits, Class::DoubleBits]),
    ("decimal", &[Class::Decimal]),
    ("0f", &[Class::SingleBits]),
    ("0d", &[Class::DoubleBits]),
    ("%tid", &[Class::SpecialNarrowVector]),
    ("%clusterid", &[Class::SpecialVector]),
    ("%tid_x", &[Class::SpecialNarrow]),
    ("%laneid", &[Class::SpecialWord]),
    ("%clock64", &[Class::SpecialDouble]),
    ("%gridid", &[Class::SpecialAny]),
    ("%is_explicit_cluster", &[Class::SpecialPredicate]),
    ("global", &[Class::Global]),
    ("const", &[Class::Const]),
    ("shared", &[Class::Shared]),
    ("local", &[Class::Local]),
    ("param", &[Class::Param]),
    ("param-entry", &[Class::ParamEntry]),
    ("param-func", &[Class::ParamFunc]),
    ("texref", &[Class::Texref]),
    ("samplerref", &[Class::Samplerref]),
    ("surfref", &[Class::Surfref]),
    ("tex", &[Class::Tex]),
    ("function", &[Class::Function]),
    ("kernel", &[Class::Kernel]),
    ("label", &[Class::Label]),
    ("branchtargets", &[Class::BranchTargets]),
    ("calltargets", &[Class::CallTargets]),
    ("callprototype", &[Class::CallPrototype]),
    ("sink", &[Class::Sink]),
    ("code", &[Class::Function, Class::Kernel]),
    ("expr", &[Class::AddressExpression]),
    ("braces", &[Class::Braces]),
    ("lists", &[Class::Lists]),
    ("ordinary", &[Class::Ordinary]),
    ("anything", &[Class::Anything]),
    ("naked", &[Class::NoBraces]),
    ("discard", &[Class::Discard]),
    ("longer", &[Class::Longer]),
    ("minus", &[Class::Minus]),
    ("unified", &[Class::Unified]),
    ("layer", &[Class::Layer]),
    ("packed", &[Class::Packed]),
    ("shorter", &[Class::Shorter]),
    ("strict", &[Class::Strict]),
    ("typed", &[Class::Typed]),
    ("whole", &[Class::Whole]),
    ("mixed", &[Class::Mixed]),
    ("sized", &[Class::SizedFractions, Class::SizedIntegers]),
    ("sized-fractions", &[Class::SizedFractions]),
    ("sized-integers", &[Class::SizedIntegers]),
    ("led", &[Class::Led]),
    ("negated", &[Class::Negated]),
    ("narrow", &[Class::RegB8, Class::RegU8, Class::RegS8, Class::RegB16, Class::RegU16, Class::RegS16]),
    ("special32", &[Class::SpecialNarrow, Class::SpecialWord, Class::SpecialAny]),
    ("special64", &[Class::SpecialDouble, Class::SpecialAny]),
    ("variable", &[Class::Global, Class::Const, Class::Shared, Class::Local, Class::ParamEntry]),
    ("opaque", &[Class::Texref, Class::Samplerref, Class::Surfref]),
];

/// Syntax lines and the clauses they share.
struct Group<'a> {
    shared: &'a Shared,
    file: &'a str,
    definition: &'a FormDefinition,
    slots: BTreeMap<String, SlotDefinition>,
    counts: BTreeMap<String, CountsDefinition>,
    /// The slots of every syntax line, to tell a name of another line from a mistake.
    all_slots: Vec<Slot>,
}

impl<'a> Group<'a> {
    fn new(
        shared: &'a Shared,
        file: &'a str,
        definition: &'a FormDefinition,
        slots: &BTreeMap<String, SlotDefinition>,
        counts: &BTreeMap<String, CountsDefinition>,
    ) -> Result<Self, Fault> {
        let (slots, counts) = (slots.clone(), counts.clone());
        let mut group = Self { shared, file, definition, slots, counts, all_slots: Vec::new() };
        for clause in &definition.clauses {
            match clause {
                Clause::Slot(slot) => {
                    let used = definition
                        .syntaxes
                        .iter()
                        .any(|syntax| syntax.pieces.iter().any(|(piece, _)| piece[1..] == slot.name));
                    if !used {
                        return Err(group.fault(slot.line, format!("no syntax line has `.{}`", slot.name)));
                    }
                    group.slots.insert(slot.name.clone(), slot.clone());
                }
                Clause::Counts(table) => drop(group.counts.insert(table.name.clone(), table.clone())),
                Clause::Operand(clause) => group.check_operand_name(clause)?,
                Clause::Rule { .. }
                | Clause::Gate { .. }
                | Clause::Effect { .. }
                | Clause::Deviation { .. }
                | Clause::Idle(_)
                | Clause::Ignores { .. }
                | Clause::FixedOrder
                | Clause::Mode { .. }
                | Clause::Misread { .. } => {}
            }
        }
        group.all_slots = definition.syntaxes.iter().flat_map(|syntax| group.form_slots(syntax)).collect();
        Ok(group)
    }

    fn fault(&self, line: usize, message: impl Into<String>) -> Fault {
        Fault::new(self.file, line, message)
    }

    fn check_operand_name(&self, clause: &OperandClause) -> Result<(), Fault> {
        fn has(places: &[Place], name: &str) -> bool {
            places.iter().any(|place| place.name == name || has(&place.parts, name))
        }
        let sized = match &clause.kind {
            Kind::Address { sized, .. } => sized.as_ref(),
            _ => None,
        };
        for name in std::iter::once(&clause.name).chain(sized) {
            if !self.definition.syntaxes.iter().any(|syntax| has(&syntax.operands, name)) {
                return Err(self.fault(clause.line, format!("no syntax line has an operand `{name}`")));
            }
        }
        Ok(())
    }

    /// The values of the slot that a word names, else the word.
    fn named_values(&self, word: &str) -> Vec<String> {
        self.slots.get(&word[1..]).map_or_else(|| vec![word.to_owned()], |slot| slot.values.clone())
    }

    fn form_slots(&self, syntax: &Syntax) -> Vec<Slot> {
        let slot = |(piece, optional): &(String, bool)| {
            let name = piece[1..].to_owned();
            let values =
                self.slots.get(&name).map_or_else(|| vec![piece.clone()], |slot| slot.values.clone());
            Slot { name, values, optional: *optional }
        };
        syntax.pieces.iter().map(slot).collect()
    }

    fn form(&self, syntax: &Syntax) -> Result<Form, Fault> {
        let mut form = Form {
            section: self.definition.section.clone(),
            root: syntax.root.clone(),
            syntax: syntax.text.clone(),
            place: format!("{}:{}", syntax.file, syntax.line),
            slots: self.form_slots(syntax),
            rules: Vec::new(),
            gates: Vec::new(),
            operands: Vec::new(),
            effects: Vec::new(),
            deviations: Vec::new(),
            idle: Vec::new(),
            spare: Vec::new(),
            strict_order: false,
            texture_mode: None,
            narrowed: syntax.narrowed,
            misread: None,
            bracket: None,
        };
        if let Some(slot) = form.slots.iter().find(|slot| slot.values.len() > 60) {
            return Err(self.fault(syntax.line, format!("`.{}` has more than 60 values", slot.name)));
        }
        let mut names = Vec::new();
        operand_names(&syntax.operands, &mut names);
        for clause in &self.definition.clauses {
            self.clause(&mut form, syntax, &names, clause)?;
        }
        form.operands = syntax
            .operands
            .iter()
            .map(|place| self.operand(&form.slots, syntax, place))
            .collect::<Result<_, _>>()?;
        // An operand that was split off is there, so its modifiers are.
        for place in syntax.operands.iter().filter(|place| place.required) {
            let then = form.operands.iter().find(|operand| operand.name == place.name);
            let then = then.map(|operand| operand.when.clone()).unwrap_or_default();
            form.rules.push(Rule { when: Vec::new(), then, needs: true });
        }
        Ok(form)
    }

    /// The syntax line without and with each optional operand that has requirements of its own: what an
    /// instruction needs then follows from its form.
    fn split(&self, syntax: &Syntax) -> Vec<Syntax> {
        let mut lines = vec![syntax.clone()];
        for clause in &self.definition.clauses {
            let Clause::Gate { operands, classes, .. } = clause else { continue };
            let (Some(name), true) = (operands.first(), classes.is_empty()) else { continue };
            lines = lines.iter().flat_map(|line| split_at(line, name)).collect();
        }
        lines.into_iter().flat_map(|line| self.narrow(line)).collect()
    }

    /// The syntax line, and where some classes of its operands ask for more than the others, the line for these
    /// others after it.
    fn narrow(&self, line: Syntax) -> Vec<Syntax> {
        let mut names = Vec::new();
        operand_names(&line.operands, &mut names);
        let narrows = |clause: &Clause| match clause {
            Clause::Gate { operands, classes, .. } => !classes.is_empty() && has_all(&names, operands),
            _ => false,
        };
        if self.definition.clauses.iter().any(narrows) {
            let narrowed = Syntax { narrowed: true, ..line.clone() };
            return vec![line, narrowed];
        }
        vec![line]
    }

    /// The classes that an operand of a narrowed line does not have.
    fn narrowed_classes(&self, syntax: &Syntax, name: &str) -> Result<u128, Fault> {
        let mut names = Vec::new();
        operand_names(&syntax.operands, &mut names);
        let mut bits = 0;
        for clause in &self.definition.clauses {
            let Clause::Gate { operands, classes: words, line, .. } = clause else { continue };
            if syntax.narrowed && has_all(&names, operands) && operands.iter().any(|each| each == name) {
                bits |= classes(self.file, *line, words)?;
            }
        }
        Ok(bits)
    }

    /// `names` are the operands of the form's syntax line.
    fn clause(&self, form: &mut Form, syntax: &Syntax, names: &[&str], clause: &Clause) -> Result<(), Fault> {
        match clause {
            Clause::Rule { when, then, needs } => {
                let (when, then) = (self.condition(&form.slots, when)?, self.condition(&form.slots, then)?);
                let Some(when) = when else { return Ok(()) };
                match then {
                    Some(then) => form.rules.push(Rule { when, then, needs: *needs }),
                    None if *needs => form.rules.push(Rule { when, then: vec![(0, 0)], needs: true }),
                    None => {}
                }
            }
            Clause::Gate { operands, .. } if !has_all(names, operands) => {}
            Clause::Gate { classes, .. } if !classes.is_empty() && form.narrowed => {}
            Clause::Gate { operands: _, classes: _, line: _, when, version, until, targets } => {
                if let Some(when) = self.condition(&form.slots, when)? {
                    form.gates.push(Gate { when, version: *version, until: *until, targets: targets.bits() });
                }
            }
            Clause::Effect { words, when, line } => {
                if let Some(when) = self.condition(&form.slots, when)? {
                    crate::writer::effects(words).map_err(|message| self.fault(*line, message))?;
                    form.effects.push((when, words.clone()));
                }
            }
            Clause::Deviation { classes: names, reason, when, line } => {
                let classes = classes(self.file, *line, names)?;
                if let Some(when) = self.condition(&form.slots, when)? {
                    form.deviations.push(Deviation { when, classes, reason: reason.clone() });
                }
            }
            Clause::Idle(when) => form.idle.extend(self.condition(&form.slots, when)?),
            Clause::Ignores { words, ahead, length, when, version, targets } => {
                if let Some(when) = self.condition(&form.slots, when)? {
                    let words = words.iter().flat_map(|word| self.named_values(word)).collect();
                    let targets = targets.bits();
                    let (ahead, length, version) = (*ahead, *length, *version);
                    form.spare.push(Spare { words, ahead, length, when, version, targets });
                }
            }
            Clause::FixedOrder => form.strict_order = true,
            Clause::Mode { mode, operand } => {
                let about =
                    operand.as_ref().is_none_or(|(name, there)| names.contains(&name.as_str()) == *there);
                if about {
                    form.texture_mode = Some(mode);
                }
            }
            Clause::Misread { how, bracket } => {
                form.misread = Some(how.clone());
                form.bracket = bracket
                    .as_ref()
                    .and_then(|name| syntax.operands.iter().position(|place| place.name == *name));
            }
            Clause::Slot(_) | Clause::Counts(_) | Clause::Operand(_) => {}
        }
        Ok(())
    }

    /// The masks of a condition; `None` where it can never hold for this syntax line, because it is about
    /// modifiers of another line of the group.
    fn condition(&self, slots: &[Slot], atoms: &[Atom]) -> Result<Option<Condition>, Fault> {
        let mut masks = Vec::new();
        for atom in atoms {
            match self.atom(slots, atom)? {
                Some(mask) => masks.push(mask),
                None if atom.values.is_empty() => {}
                None => return Ok(None),
            }
        }
        Ok(Some(masks))
    }

    /// The masks of a condition without the values that this form does not have; `None` where nothing is left.
    fn known_condition(&self, slots: &[Slot], atoms: &[Atom]) -> Option<Condition> {
        let mut masks = Vec::new();
        for atom in atoms {
            let mut rest = atom.clone();
            let known = |slot: &Slot, value: &String| {
                atom.slot.as_ref().is_none_or(|name| *name == slot.name) && slot.values.contains(value)
            };
            rest.values.retain(|value| slots.iter().any(|slot| known(slot, value)));
            if rest.values.is_empty() && !atom.values.is_empty() {
                return None;
            }
            masks.push(self.atom(slots, &rest).ok()??);
        }
        Some(masks)
    }

    fn atom(&self, slots: &[Slot], atom: &Atom) -> Result<Option<(usize, u64)>, Fault> {
        let holds = |slot: &Slot| match &atom.slot {
            Some(name) => slot.name == *name,
            None => atom.values.iter().all(|value| slot.values.contains(value)),
        };
        let mut found = slots.iter().enumerate().filter(|(_, slot)| holds(slot));
        let Some((index, slot)) = found.next() else {
            let known = self.all_slots.iter().any(holds)
                || atom.slot.is_none() && atom.values.iter().all(|value| self.known_value(value));
            let what = atom.slot.as_deref().map_or_else(|| atom.values.join("|"), |name| format!(".{name}"));
            return if known {
                Ok(None)
            } else {
                Err(self.fault(atom.line, format!("the form has no `{what}`")))
            };
        };
        if let (None, Some((_, other))) = (&atom.slot, found.next()) {
            let message =
                format!("`{}` may be `{}` or `{}`: say which", atom.values.join("|"), slot.name, other.name);
            return Err(self.fault(atom.line, message));
        }
        if atom.values.is_empty() {
            return Ok(Some((index, ABSENT)));
        }
        let mut mask = 0;
        for value in &atom.values {
            let place = slot.values.iter().position(|each| each == value);
            let place =
                place.ok_or_else(|| self.fault(atom.line, format!("`.{}` has no `{value}`", slot.name)))?;
            mask |= 1 << place;
        }
        Ok(Some((index, mask)))
    }

    fn known_value(&self, value: &String) -> bool {
        self.all_slots.iter().any(|slot| slot.values.contains(value))
    }

    fn operand(&self, slots: &[Slot], syntax: &Syntax, place: &Place) -> Result<Operand, Fault> {
        let mut operand = Operand {
            name: place.name.clone(),
            optional: place.optional,
            when: Vec::new(),
            variants: Vec::new(),
        };
        if !place.parts.is_empty() {
            let parts = place.parts.iter().map(|part| self.operand(slots, syntax, part));
            let parts = Rc::new(parts.collect::<Result<Vec<_>, _>>()?);
            let pattern = if place.drawing == Drawing::Pair { Pattern::Pair } else { Pattern::Bracket };
            let role = if place.drawing == Drawing::Pair { "Destination" } else { "Source" };
            operand.variants.push(Variant { parts, ..Variant::plain(role, pattern) });
            let conditional =
                place.parts.iter().all(|part| self.clauses(&part.name).any(|clause| !clause.with.is_empty()));
            if conditional {
                operand.when = operand.variants[0].parts[0].when.clone();
            }
            return Ok(operand);
        }
        for clause in self.clauses(&place.name) {
            if !clause.with.is_empty() {
                // An operand that comes with a modifier is there or it is not, unless the clause says otherwise.
                operand.optional &= clause.optional;
                let never = vec![(0, 0)];
                operand.when = self.condition(slots, &clause.with)?.unwrap_or(never);
            }
            let narrowed = self.narrowed_classes(syntax, &place.name)?;
            let variant = self.variant(slots, place, clause)?;
            operand.variants.extend(variant.map(|each| Variant { minus: each.minus | narrowed, ..each }));
        }
        if operand.variants.is_empty() {
            return Err(
                self.fault(syntax.line, format!("no clause says what the operand `{}` is", place.name))
            );
        }
        Ok(operand)
    }

    fn clauses<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b OperandClause> {
        self.definition.clauses.iter().filter_map(move |clause| match clause {
            Clause::Operand(clause) if clause.name == name => Some(&**clause),
            _ => None,
        })
    }

    fn variant(
        &self,
        slots: &[Slot],
        place: &Place,
        clause: &OperandClause,
    ) -> Result<Option<Variant>, Fault> {
        let Some(when) = self.condition(slots, &clause.when)? else { return Ok(None) };
        let plus = classes(self.file, clause.line, &clause.plus)?;
        let minus = classes(self.file, clause.line, &clause.minus)?;
        let mut variant = Variant {
            when,
            plus,
            minus,
            ranges: clause.ranges.clone(),
            ..Variant::plain(clause.role, Pattern::Value)
        };
        variant.pattern = self.pattern(slots, place, clause)?;
        if let Kind::Address { space, reads, writes, size, sized, aligned } = &clause.kind {
            let space = self.space(slots, clause, space.as_deref())?;
            variant.plus |= self.base_classes(&space);
            let size = match size {
                None => None,
                Some((vector, ty)) => {
                    let vector =
                        vector.as_deref().map(|name| self.slot_index(slots, clause, name)).transpose()?;
                    Some((vector, self.type_ref(slots, clause, ty)?.0))
                }
            };
            let (reads, writes, sized, aligned) = (*reads, *writes, sized.clone(), *aligned);
            variant.access = Some(Access { space, reads, writes, size, sized, aligned });
            variant.table = self.shared.variants.len() - 1;
            return Ok(Some(variant));
        }
        let (ty, named) = self.type_ref(slots, clause, &clause.ty)?;
        variant.ty = ty;
        variant.table = match (&clause.variant, named) {
            (None, Some(bits)) => {
                variant.plus |= bits;
                self.shared.variants.len() - 1
            }
            (Some(_), Some(_)) => {
                return Err(self.fault(clause.line, "a named kind of operand has no variants"));
            }
            (name, None) => {
                let name = name.as_deref().unwrap_or("default");
                let fault = || self.fault(clause.line, format!("no class table is called `{name}`"));
                self.shared.variant(name).ok_or_else(fault)?
            }
        };
        Ok(Some(variant))
    }

    fn pattern(&self, slots: &[Slot], place: &Place, clause: &OperandClause) -> Result<Pattern, Fault> {
        let pattern = match &clause.kind {
            Kind::Value => Pattern::Value,
            Kind::Negatable => Pattern::Negatable,
            Kind::Vector(count) => Pattern::Vector(self.count(slots, clause, count)?),
            Kind::Address { .. } => Pattern::Address,
            Kind::Selectable(selectors) => Pattern::Selectable(selectors),
        };
        match (place.drawing, pattern) {
            (Drawing::Address, pattern @ Pattern::Address) => Ok(pattern),
            (Drawing::List, Pattern::Value) => Ok(Pattern::List),
            (Drawing::Plain, Pattern::Address) => {
                Err(self
                    .fault(clause.line, format!("`{}` is drawn without `[]` in the syntax line", place.name)))
            }
            (Drawing::Plain, pattern) => Ok(pattern),
            (Drawing::Address, Pattern::Value) => Ok(Pattern::Address),
            _ => {
                Err(self
                    .fault(clause.line, format!("`{}` is drawn otherwise in the syntax line", place.name)))
            }
        }
    }

    fn count(&self, slots: &[Slot], clause: &OperandClause, count: &CountName) -> Result<Count, Fault> {
        let name = match count {
            CountName::Fixed(count) => return Ok(Count::Fixed(*count)),
            CountName::Name(name) => name,
        };
        if name.starts_with('.') {
            return Ok(Count::Slot(self.slot_index(slots, clause, name)?));
        }
        let table = self.counts.get(name);
        let table = table.ok_or_else(|| self.fault(clause.line, format!("no `counts {name}` is defined")))?;
        let mut lines = Vec::new();
        for (when, count) in &table.lines {
            if let Some(when) = self.known_condition(slots, when) {
                lines.push((when, *count));
            }
        }
        if lines.is_empty() {
            return Err(self.fault(table.line, format!("no line of `counts {name}` is about this form")));
        }
        Ok(Count::Table(lines))
    }

    fn slot_index(&self, slots: &[Slot], clause: &OperandClause, name: &str) -> Result<usize, Fault> {
        let bare = name.trim_start_matches('.');
        let index = slots.iter().position(|slot| slot.name == bare);
        index.ok_or_else(|| self.fault(clause.line, format!("the syntax line has no `.{bare}`")))
    }

    /// The type, and for a named kind of operand its classes.
    fn type_ref(
        &self,
        slots: &[Slot],
        clause: &OperandClause,
        name: &TypeName,
    ) -> Result<(TypeRef, Option<u128>), Fault> {
        match name {
            TypeName::None => Ok((TypeRef::None, None)),
            TypeName::Slot(slot) => Ok((TypeRef::Slot(self.type_slot(slots, clause, slot)?), None)),
            TypeName::Widened(slot) => Ok((TypeRef::Widened(self.type_slot(slots, clause, slot)?), None)),
            TypeName::Word(word) => {
                if let Some(ty) = Type::parse(&format!(".{word}")) {
                    return Ok((TypeRef::Fixed(ty), None));
                }
                let kind = self.shared.kinds.get(word);
                let kind = kind.ok_or_else(|| {
                    self.fault(clause.line, format!("`{word}` is neither a type nor a kind of operand"))
                })?;
                let ty = kind.ty.map_or(TypeRef::None, TypeRef::Fixed);
                Ok((ty, Some(if clause.role == "Source" { kind.sources } else { kind.places })))
            }
        }
    }

    fn type_slot(&self, slots: &[Slot], clause: &OperandClause, name: &str) -> Result<usize, Fault> {
        let index = self.slot_index(slots, clause, name)?;
        match slots[index].values.iter().find(|value| Type::parse(value).is_none()) {
            None => Ok(index),
            Some(value) => {
                Err(self.fault(clause.line, format!("`{name}` is used as a type, but `{value}` is none")))
            }
        }
    }

    fn space(&self, slots: &[Slot], clause: &OperandClause, name: Option<&str>) -> Result<SpaceRef, Fault> {
        let Some(name) = name else { return Ok(SpaceRef::None) };
        match slots.iter().position(|slot| slot.name == name[1..] && (slot.values.len() > 1 || slot.optional))
        {
            Some(index) => Ok(SpaceRef::Slot(index)),
            None if self.shared.addresses.iter().any(|(space, _)| space == name) => {
                Ok(SpaceRef::Fixed(name.to_owned()))
            }
            None => Err(self
                .fault(clause.line, format!("`{name}` is neither a slot nor a space of `classes address`"))),
        }
    }

    /// The classes of the base where they do not depend on a slot.
    fn base_classes(&self, space: &SpaceRef) -> u128 {
        let name = match space {
            SpaceRef::None => "generic",
            SpaceRef::Fixed(name) => name,
            SpaceRef::Slot(_) => return 0,
        };
        self.shared.addresses.iter().find(|(each, _)| each == name).map_or(0, |(_, bits)| *bits)
    }
}

impl Variant {
    fn plain(role: &'static str, pattern: Pattern) -> Self {
        Self {
            when: Vec::new(),
            role,
            pattern,
            ty: TypeRef::None,
            table: 0,
            plus: 0,
            minus: 0,
            ranges: Vec::new(),
            access: None,
            parts: Rc::new(Vec::new()),
        }
    }
}
