//! The static table that `build.rs` makes of `isa/*.isa`, as it is in the program.
//!
//! It has no references. The system would have to set each of them when a program begins, which takes half a
//! millisecond.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use super::class::ClassSet;
use super::effects::{
    AsyncAction, AsyncGroup, Chain, Comparison, Computation, Control, Convergence, Event, Mode, Update,
};
use super::instance::{ImmediateRange, OpcodeId, Purpose, Role, Selectors};
use crate::platform::TextureMode;
use crate::types::Type;
use crate::version::Version;

/// Some of the elements of one type that the table has, all of which lie in one array.
pub(super) struct List<T> {
    first: u16,
    count: u16,
    of: PhantomData<T>,
}

/// What the table has lists of.
pub(super) trait Listed: Sized + 'static {
    /// All elements of all lists.
    fn all() -> &'static [Self];
}

impl<T> List<T> {
    pub const EMPTY: Self = Self::new(0, 0);

    const fn new(first: u16, count: u16) -> Self {
        Self { first, count, of: PhantomData }
    }

    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<T: Listed> List<T> {
    pub fn slice(self) -> &'static [T] {
        &T::all()[usize::from(self.first)..][..usize::from(self.count)]
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T: Listed> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.slice()
    }
}

impl<T: Listed> IntoIterator for List<T> {
    type Item = &'static T;
    type IntoIter = std::slice::Iter<'static, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice().iter()
    }
}

/// A text of the table: a part of one long text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    first: u32,
    length: u16,
}

impl Text {
    pub fn as_str(self) -> &'static str {
        &TEXTS[self.first as usize..][..usize::from(self.length)]
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

/// The texts of a list.
pub(super) fn texts(
    list: List<Text>,
) -> impl DoubleEndedIterator<Item = &'static str> + ExactSizeIterator + Clone {
    list.into_iter().map(|text| text.as_str())
}

/// Slots and the values they may have as bit masks, bit 63 for "left out"; all must hold.
pub(super) type Condition = List<(u8, u64)>;

/// The index that stands for "left out" among the values of a slot.
pub(super) const ABSENT: u8 = 63;

/// A root opcode and its forms.
pub(super) struct Opcode {
    pub name: &'static str,
    pub first: u16,
    pub count: u16,
}

/// One syntax line.
pub(super) struct Form {
    pub section: Text,
    pub opcode: OpcodeId,
    pub syntax: Text,
    pub place: Text,
    pub strict_order: bool,
    pub texture_mode: Option<TextureMode>,
    pub narrowed: bool,
    pub does: Option<Text>,
    /// A statement that shows it, where one says more than the form.
    pub example: Option<Text>,
    pub misread: Option<Text>,
    pub bracket: Option<u8>,
    pub beyond: List<(Condition, Text)>,
    pub deviations: List<Deviation>,
    pub idle: List<Condition>,
    pub spare: List<Spare>,
    pub slots: List<Slot>,
    pub rules: List<Rule>,
    pub gates: List<GateRule>,
    pub effects: List<(Condition, List<Effect>)>,
    pub operands: List<Operand>,
}

/// A disagreement with NVIDIA's assembler that is on purpose.
pub(super) struct Deviation {
    pub when: Condition,
    pub classes: ClassSet,
    pub reason: Text,
}

/// Modifiers that the assembler takes and does not look at: one of them or any number, with the opcodes named, with
/// all others, or where none is named with those that have none of the modifiers.
pub(super) struct Ignored {
    pub any: bool,
    pub but: bool,
    pub names: &'static [&'static str],
    pub modifiers: &'static [&'static str],
}

/// Words that the assembler takes besides the modifiers of a form and that do nothing.
pub(super) struct Spare {
    pub words: List<Text>,
    pub ahead: u8,
    pub length: bool,
    pub when: Condition,
    pub version: Version,
    pub targets: u64,
}

/// A place for a modifier.
pub(super) struct Slot {
    pub name: Text,
    pub values: List<Text>,
    pub optional: bool,
}

/// `when only with then`, or `when not with then`.
pub(super) struct Rule {
    pub when: Condition,
    pub then: Condition,
    pub needs: bool,
}

/// What some values need of version and target.
pub(super) struct GateRule {
    pub when: Condition,
    pub version: Version,
    pub until: Version,
    pub targets: u64,
    /// The operands that bring it by being there.
    pub present: List<Text>,
    /// The operands that bring it where they are of `classes`; none where it does not depend on classes.
    pub operands: List<Text>,
    pub classes: ClassSet,
    /// Whether the assembler has it beside what the manual says.
    pub amended: bool,
}

impl GateRule {
    /// Whether the manual has it of the whole form, whatever the modifiers and operands are.
    pub const fn is_of_form(&self) -> bool {
        !self.amended && self.when.is_empty() && self.operands.is_empty()
    }
}

/// An operand of a form.
pub(super) struct Operand {
    pub name: Text,
    pub optional: bool,
    pub purpose: Option<Purpose>,
    pub when: Condition,
    pub variants: List<Variant>,
    pub manual: List<Manual>,
    pub reasons: List<Text>,
}

/// What the manual says of an operand for some values of the modifiers, where only its classes may differ.
pub(super) struct Manual {
    pub when: Condition,
    pub role: Role,
    pub ty: TypeRef,
    pub table: u8,
    pub plus: u128,
    pub minus: u128,
    pub space: SpaceRef,
}

/// What an operand is for some values of the modifiers.
pub(super) struct Variant {
    pub when: Condition,
    pub role: Role,
    pub pattern: PatternTemplate,
    pub ty: TypeRef,
    pub table: u8,
    pub plus: u128,
    pub minus: u128,
    pub ranges: List<ImmediateRange>,
    pub access: Option<AccessTemplate>,
    pub parts: List<Operand>,
}

/// The outer form of an operand.
#[derive(Clone, Copy)]
pub(super) enum PatternTemplate {
    Value,
    Negatable,
    Vector(Count),
    Address,
    Pair,
    Bracket,
    List,
    Selectable(Selectors),
}

/// How many elements a brace list has.
#[derive(Clone, Copy)]
pub(super) enum Count {
    Fixed(u16),
    Slot(u8),
    Table(List<(Condition, u16)>),
}

/// The type of an operand.
#[derive(Clone, Copy)]
pub(super) enum TypeRef {
    None,
    Fixed(Type),
    Slot(u8),
    Widened(u8),
}

/// What happens at an address.
pub(super) struct AccessTemplate {
    pub space: SpaceRef,
    pub reads: bool,
    pub writes: bool,
    pub size: Option<(Option<u8>, TypeRef)>,
    pub sized: Option<Text>,
    pub aligned: u32,
}

/// The space of an address.
pub(super) enum SpaceRef {
    None,
    Fixed(Text),
    Slot(u8),
}

/// One effect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    CarryIn,
    CarryOut,
    Chain(Chain),
    Control(Control),
    Atomic,
    Volatile,
    Barrier,
    Convergence(Convergence),
    ThreadDependent,
    AsyncProxy,
    ReadsMemory,
    WritesMemory,
    Async(AsyncGroup, AsyncAction),
    Computes(Computation),
    Compares(Comparison),
    Updates(Update),
    Means(Mode),
    Event(Event),
}

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// The forms of an opcode, with their indices.
pub(super) fn forms_of(opcode: OpcodeId) -> impl Iterator<Item = (u16, &'static Form)> {
    let Opcode { first, count, .. } = OPCODES[opcode.0 as usize];
    (first..first + count).map(|index| (index, &FORMS[index as usize]))
}

/// Whether every mask of a condition has the bit of its slot's value.
pub(super) fn holds(condition: Condition, values: &[u8]) -> bool {
    condition.iter().all(|&(slot, mask)| mask >> values[slot as usize] & 1 != 0)
}

/// Whether the rules of a form allow a choice of values.
pub(super) fn allows(form: &Form, values: &[u8]) -> bool {
    form.rules.iter().all(|rule| !holds(rule.when, values) || holds(rule.then, values) == rule.needs)
}
