//! The table after every name has its meaning: what the writer prints.

use crate::types::Type;
use crate::version::Version;

/// All forms and what they share.
pub struct Table {
    /// The forms, in the order of the files.
    pub forms: Vec<Form>,
    /// The class tables, one for each variant: bits of the classes by type, outputs first, inputs second.
    pub variants: Vec<[(u128, u128); Type::ALL.len()]>,
    /// The numbers of the class tables for elements of brace lists, and for lists without plain bits.
    pub element_tables: (usize, usize),
    /// The classes of the base of an address, by space.
    pub addresses: Vec<(String, u128)>,
    /// The class tables of the manual.
    pub manual_variants: Vec<[(u128, u128); Type::ALL.len()]>,
    /// The manual's classes of the base of an address, by space.
    pub manual_addresses: Vec<(String, u128)>,
    /// Why the assembler takes (`+`) or refuses (`-`) classes.
    pub reasons: Vec<(char, u128, String)>,
    /// The opcodes of several words, sorted.
    pub names: Vec<String>,
    /// The modifiers that may be there several times.
    pub repeatable: Vec<String>,
    /// The lists of modifiers that keep their order among each other.
    pub together: Vec<Vec<String>>,
    /// The lists of modifiers that are asked for by what they are, with the constants that they become.
    pub words: Vec<(&'static str, Vec<String>)>,
    /// The lists of modifiers that the assembler takes and does not look at.
    pub ignored: Vec<Ignored>,
}

/// Modifiers that the assembler takes and does not look at.
#[derive(Clone)]
pub struct Ignored {
    /// Where the list begins.
    pub line: usize,
    /// Whether any number of them may be there, not only one.
    pub any: bool,
    /// Whether the opcodes are those that do look at them.
    pub but: bool,
    /// The opcodes, in words as the assembler reads them; none for all that have none of the modifiers.
    pub names: Vec<String>,
    /// The modifiers.
    pub modifiers: Vec<String>,
}

/// One syntax line with its clauses.
pub struct Form {
    /// The manual's section.
    pub section: String,
    /// The opcode up to its first dot.
    pub root: String,
    /// The syntax line as it is in the file, for printing.
    pub syntax: String,
    /// The file, for messages.
    pub file: String,
    /// The line, for messages.
    pub line: usize,
    /// The modifiers, in canonical order.
    pub slots: Vec<Slot>,
    /// How many of them are words of the opcode.
    pub opcode_words: usize,
    /// Which values go together.
    pub rules: Vec<Rule>,
    /// What needs which version and target.
    pub gates: Vec<Gate>,
    /// The operands, in order.
    pub operands: Vec<Operand>,
    /// Effects and when they hold.
    pub effects: Vec<(Condition, Vec<String>)>,
    /// Disagreements with the assembler that are on purpose.
    pub deviations: Vec<Deviation>,
    /// Values that the assembler takes and that do nothing.
    pub idle: Vec<Condition>,
    /// Words that the assembler takes besides the slots and that do nothing.
    pub spare: Vec<Spare>,
    /// Whether the assembler takes the modifiers in the canonical order only.
    pub strict_order: bool,
    /// The texturing mode that has it: `Unified` or `Independent`; none for both.
    pub texture_mode: Option<&'static str>,
    /// Whether it lacks the operands that ask for more of version and target.
    pub narrowed: bool,
    /// What is beyond the manual, and why the table has it: modifiers, or without a condition the form.
    pub beyond: Vec<(Condition, String)>,
    /// What it does.
    pub does: Option<Does>,
    /// What the assembler makes of it, where that is something else.
    pub misread: Option<String>,
    /// The index of the operand that was meant to be in brackets.
    pub bracket: Option<usize>,
}

/// What a form does.
#[derive(Clone)]
pub struct Does {
    /// Half a sentence.
    pub what: String,
    /// A statement that shows more than the form.
    pub example: Option<String>,
}

/// A disagreement with the assembler that is on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Deviation {
    /// The values for which it holds.
    pub when: Condition,
    /// The classes of which an operand must be; none: any operand will do.
    pub classes: u128,
    /// Why.
    pub reason: String,
}

/// Words that the assembler takes besides the modifiers of a form and that do nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Spare {
    /// The words, with their dots.
    pub words: Vec<String>,
    /// How many types may be after one that is a type.
    pub ahead: u8,
    /// Whether the number in a word must be the length of all brace lists.
    pub length: bool,
    /// The values with which it is so.
    pub when: Condition,
    /// The first version.
    pub version: Version,
    /// The targets, as the bits of a target set.
    pub targets: u64,
}

/// A place for a modifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What the file calls it.
    pub name: String,
    /// The values, each with its dots.
    pub values: Vec<String>,
    /// Whether it may be left out.
    pub optional: bool,
}

/// The bit of a mask that stands for "left out".
pub const ABSENT: u64 = 1 << 63;

/// Slots and the values they may have, as bit masks; all must hold.
pub type Condition = Vec<(usize, u64)>;

/// `when only with then`, or `when not with then`.
#[derive(Clone, PartialEq, Eq)]
pub struct Rule {
    /// The values it is about.
    pub when: Condition,
    /// The values they need or exclude.
    pub then: Condition,
    /// Whether `then` is needed rather than excluded.
    pub needs: bool,
}

/// A requirement.
#[derive(Clone, PartialEq, Eq)]
pub struct Gate {
    /// The operands that bring it by being there.
    pub present: Vec<String>,
    /// The values that bring it.
    pub when: Condition,
    /// The first version.
    pub version: Version,
    /// The last version.
    pub until: Version,
    /// The targets, as the bits of a target set.
    pub targets: u64,
    /// Whether an operand brings it.
    pub of_operand: bool,
    /// The operands that bring it where they are of `classes`; none where it does not depend on classes.
    pub operands: Vec<String>,
    /// The classes; none where it only tells how other operands are judged.
    pub classes: u128,
    /// Whether the assembler has it beside what the manual says.
    pub amended: bool,
}

/// An operand: where it is and what it may be.
#[derive(Clone, PartialEq, Eq)]
pub struct Operand {
    /// Its name.
    pub name: String,
    /// Whether it may be left out.
    pub optional: bool,
    /// What it is for, as the name of a `Purpose`.
    pub purpose: Option<&'static str>,
    /// The values with which it is there.
    pub when: Condition,
    /// What it is, by the values of the modifiers; the first whose condition holds counts.
    pub variants: Vec<Variant>,
    /// What it is by the manual.
    pub manual: Vec<Variant>,
    /// Why the assembler differs, where its classes do not say it.
    pub reasons: Vec<String>,
}

/// What an operand is.
#[derive(Clone, PartialEq, Eq)]
pub struct Variant {
    /// The values for which it holds.
    pub when: Condition,
    /// `Source`, `Destination` or `Both`.
    pub role: &'static str,
    /// The outer form.
    pub pattern: Pattern,
    /// The type.
    pub ty: TypeRef,
    /// The number of the class table.
    pub table: usize,
    /// Classes taken besides those of the table.
    pub plus: u128,
    /// Classes of the table that are not taken.
    pub minus: u128,
    /// Allowed values of an integer immediate: low, high, step.
    pub ranges: Vec<(i64, i64, i64)>,
    /// What happens at an address.
    pub access: Option<Access>,
    /// The parts of a pair or a bracket.
    pub parts: std::rc::Rc<Vec<Operand>>,
}

/// The outer form of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A single value.
    Value,
    /// A predicate that may be negated.
    Negatable,
    /// A brace list.
    Vector(Count),
    /// `[base+offset]`
    Address,
    /// `a|b`
    Pair,
    /// `[a, b]`
    Bracket,
    /// `(a, b)`
    List,
    /// A value with a selector, by the name of the selector's kind.
    Selectable(&'static str),
}

/// How many elements a brace list has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// Always as many.
    Fixed(u16),
    /// As the first number in the slot's value says; a single value where the slot is left out.
    Slot(usize),
    /// As the first line says whose condition holds.
    Table(Vec<(Condition, u16)>),
}

/// The type of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// None, as for a label; the classes are in `plus`.
    None,
    /// Always the same.
    Fixed(Type),
    /// The value of a slot.
    Slot(usize),
    /// The type of twice the width of the slot's value.
    Widened(usize),
}

/// What happens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The space: none for generic, a fixed one, or the value of a slot.
    pub space: SpaceRef,
    /// Whether it is read.
    pub reads: bool,
    /// Whether it is written.
    pub writes: bool,
    /// Whether the size is that of the form's vector and type slots.
    pub size: Option<(Option<usize>, TypeRef)>,
    /// The operand that says how many bytes.
    pub sized: Option<String>,
    /// The alignment that the address needs, where it is not that of the size.
    pub aligned: i64,
}

/// The space of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpaceRef {
    /// Generic.
    None,
    /// Always the same, spelled with its dot.
    Fixed(String),
    /// The value of a slot, generic where it is left out.
    Slot(usize),
}
