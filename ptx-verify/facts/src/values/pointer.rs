//! What addresses point into, found for the values that are asked about.
//!
//! Most addresses are a sum with the address of a variable, or with what a conversion has made, in it. Where values join,
//! what they point into is that of all that join; loops are followed until nothing changes.

use ptx_ir::ir::{Handle, Variable};
use ptx_ir::isa::Computation;
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashMap;

use super::graph::{Kind, ValueId};
use super::linear::{Base, BaseId, Form, Sum};
use super::propagate::Engine;

/// What an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A variable.
    Variable(Handle<Variable>),
    /// The variable of another block of the cluster, through `mapa`.
    Mapped(Handle<Variable>),
    /// Whatever a kernel parameter points to.
    Pointee(Handle<Variable>),
    /// Something of that state space.
    Unknown,
}

/// How an address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// As an offset in its state space.
    Space,
    /// As a generic address.
    Generic,
    /// One or the other.
    Unknown,
}

/// Where an address points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// What it points into.
    pub object: Object,
    /// The state space that it points into.
    pub space: StateSpace,
    /// How it is written.
    pub notation: Notation,
}

/// What is known of whether a value is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was seen yet.
    Unset,
    /// An address.
    Pointer(Pointer),
    /// Anything.
    Any,
}

impl State {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unset, state) | (state, Self::Unset) => state,
            (Self::Pointer(one), Self::Pointer(other)) if one.space == other.space => {
                Self::Pointer(Pointer {
                    object: if one.object == other.object { one.object } else { Object::Unknown },
                    space: one.space,
                    notation: if one.notation == other.notation { one.notation } else { Notation::Unknown },
                })
            }
            _ => Self::Any,
        }
    }

    /// A sum of terms of which each is an address or a number.
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unset, _) | (_, Self::Unset) => Self::Unset,
            (Self::Pointer(_), Self::Pointer(_)) => Self::Any,
            (Self::Pointer(pointer), Self::Any) | (Self::Any, Self::Pointer(pointer)) => {
                Self::Pointer(pointer)
            }
            (Self::Any, Self::Any) => Self::Any,
        }
    }

    fn with_object(self, change: impl Fn(Pointer) -> Pointer) -> Self {
        match self {
            Self::Pointer(pointer) => Self::Pointer(change(pointer)),
            Self::Unset | Self::Any => self,
        }
    }
}

/// Operations on operations are followed so deep.
const MAX_DEPTH: usize = 6;
/// Sums that are looked at for one question; where it takes more, nothing is known.
const MAX_SUMS: usize = 2048;

/// Answers what addresses point into, and keeps the answers.
pub(crate) struct Pointers<'e, 'f, 'm> {
    engine: &'e Engine<'f, 'm>,
    known: FxHashMap<ValueId, State>,
    /// The values that the answer to this question may change for.
    open: Vec<ValueId>,
    /// How many sums may still be looked at for it.
    left: usize,
}

impl<'e, 'f, 'm> Pointers<'e, 'f, 'm> {
    pub(crate) fn new(engine: &'e Engine<'f, 'm>) -> Self {
        Self { engine, known: FxHashMap::default(), open: Vec::new(), left: 0 }
    }

    /// Where a sum points to; none where it may be something else.
    pub(crate) fn of(&mut self, form: Form) -> Option<Pointer> {
        self.open.clear();
        self.left = MAX_SUMS;
        let mut state = self.sum(form, MAX_DEPTH);
        // Values that were met for the first time are followed, with those that are met there in turn.
        let mut changed = !self.open.is_empty();
        while changed && self.left > 0 {
            changed = false;
            let mut next = 0;
            while next < self.open.len() && self.left > 0 {
                changed |= self.follow(self.open[next]);
                next += 1;
            }
        }
        if !self.open.is_empty() {
            state = self.sum(form, MAX_DEPTH);
        }
        if self.left == 0 {
            for value in self.open.drain(..) {
                self.known.insert(value, State::Any);
            }
            return None;
        }
        match state {
            State::Pointer(pointer) => Some(pointer),
            State::Unset | State::Any => None,
        }
    }

    /// Looks at what joins in a value; whether that says more than before.
    fn follow(&mut self, value: ValueId) -> bool {
        let engine = self.engine;
        let mut state = State::Unset;
        let mut join = |pointers: &mut Self, input: ValueId| {
            if let Some(fact) = engine.values.of(input) {
                state = state.join(pointers.sum(fact.form, MAX_DEPTH));
            }
        };
        match engine.graph.kind(value) {
            Kind::Joined { block } => {
                for (position, &input) in engine.graph.inputs(value).iter().enumerate() {
                    let from_start = position >= engine.graph.predecessor_count(block);
                    if from_start || engine.values.is_taken(engine.graph, block, position) {
                        join(self, input);
                    }
                }
            }
            Kind::Guarded { new, old, .. } => {
                join(self, new);
                join(self, old);
            }
            _ => state = State::Any,
        }
        let known = self.known.insert(value, state);
        known != Some(state)
    }

    fn value(&mut self, value: ValueId) -> State {
        if let Some(state) = self.known.get(&value) {
            return *state;
        }
        if !matches!(self.engine.graph.kind(value), Kind::Joined { .. } | Kind::Guarded { .. }) {
            return State::Any;
        }
        self.known.insert(value, State::Unset);
        self.open.push(value);
        State::Unset
    }

    fn sum(&mut self, form: Form, depth: usize) -> State {
        let Some(left) = self.left.checked_sub(1) else { return State::Any };
        self.left = left;
        let sum: Sum = *self.engine.values.forms.sum(form);
        let terms = sum.terms().map(|(base, factor)| match factor {
            1 => self.base(base, depth),
            _ => State::Any,
        });
        terms.fold(State::Any, State::plus)
    }

    fn base(&mut self, base: BaseId, depth: usize) -> State {
        let forms = &self.engine.values.forms;
        let variables = &self.engine.facts.module.variables;
        match forms.what(base) {
            Base::Symbol { variable, generic } => State::Pointer(Pointer {
                object: Object::Variable(variable),
                space: variables[variable].space.base(),
                notation: if generic { Notation::Generic } else { Notation::Space },
            }),
            Base::Loaded { variable, offset: 0, ty }
                if ty.bits() >= self.engine.facts.module.header.address_bits() =>
            {
                let space = variables[variable].pointer.and_then(|pointer| pointer.space);
                space.map_or(State::Any, |space| {
                    State::Pointer(Pointer {
                        object: Object::Pointee(variable),
                        space: space.base(),
                        notation: Notation::Unknown,
                    })
                })
            }
            Base::Value(value) => self.value(value),
            Base::Operation { computes, detail, operands } => {
                self.operation(computes, detail >> 16, operands, depth)
            }
            _ => State::Any,
        }
    }

    fn operation(&mut self, computes: Computation, more: u64, operands: [Form; 3], depth: usize) -> State {
        use Computation as C;
        let Some(depth) = depth.checked_sub(1) else { return State::Any };
        let [a, b, c] = operands;
        match computes {
            C::ToGeneric => self.converted(a, more, Notation::Generic, depth),
            C::FromGeneric => self.converted(a, more, Notation::Space, depth),
            C::MapRank => {
                let in_space = more != 0;
                self.sum(a, depth).with_object(|pointer| Pointer {
                    object: match pointer.object {
                        Object::Variable(variable) => Object::Mapped(variable),
                        object => object,
                    },
                    notation: if in_space { Notation::Space } else { pointer.notation },
                    ..pointer
                })
            }
            C::Select => self.sum(b, depth).join(self.sum(c, depth)),
            C::Convert => self.sum(a, depth),
            C::Subtract => match self.sum(b, depth) {
                State::Any => self.sum(a, depth),
                State::Unset => State::Unset,
                State::Pointer(_) => State::Any,
            },
            C::Add => self.sum(a, depth).plus(self.sum(b, depth)),
            // Aligning an address moves it within the same object.
            C::And => {
                let forms = &self.engine.values.forms;
                let is_number = |form: Form| forms.sum(form).value().is_some();
                match (is_number(a), is_number(b)) {
                    (false, true) => self.sum(a, depth),
                    (true, false) => self.sum(b, depth),
                    _ => State::Any,
                }
            }
            _ => State::Any,
        }
    }

    /// What a conversion makes: where that is not the inverse of another, the address has lost what it pointed into.
    fn converted(&mut self, of: Form, space: u64, notation: Notation, depth: usize) -> State {
        let Some(space) = StateSpace::ALL.into_iter().find(|each| *each as u64 == space) else {
            return State::Any;
        };
        match self.sum(of, depth) {
            State::Unset => State::Unset,
            State::Pointer(pointer) if pointer.space == space => {
                State::Pointer(Pointer { notation, ..pointer })
            }
            State::Pointer(_) | State::Any => {
                State::Pointer(Pointer { object: Object::Unknown, space, notation })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Notation, Object, Pointer};
    use crate::FunctionFacts;
    use crate::values::{Graph, Values};
    use ptx_ir::ir::Handle;
    use ptx_ir::space::StateSpace;

    const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 8 .b8 s[64];\n\
                        .global .align 8 .b8 g[64];\n.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .u32 n)\n\
                        {\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n";

    /// What is known of the last register that the text writes: where it points to, its distance from there where the
    /// sum has one term, and its low bits that are known.
    fn last(text: &str) -> (Option<Pointer>, Option<u64>, u32) {
        let text = format!("{HEAD}{text}\nret;\n}}\n");
        let module = ptx_ir::lower::lower(&ptx_syntax::parse(&text).tree, &text).module;
        let facts = FunctionFacts::new(&module, Handle::new(0)).unwrap();
        let graph = Graph::new(&facts);
        let values = Values::new(&facts, &graph);
        let mut written = (0..facts.uses().all().len()).filter_map(|at| graph.written(at));
        let value = graph.after(written.next_back().unwrap());
        let fact = values.of(value).unwrap();
        let sum = values.forms().sum(fact.form);
        let distance = (sum.terms().count() == 1).then_some(sum.offset());
        (values.pointers(&facts, &graph)[value.index()], distance, fact.number.known_low())
    }

    fn shared(object: Object, notation: Notation) -> Option<Pointer> {
        Some(Pointer { object, space: StateSpace::Shared, notation })
    }

    const S: Object = Object::Variable(Handle::new(0));

    #[test]
    fn conversions_keep_the_variable_and_the_distance() {
        let there = "mov.u64 %rd1, s; add.u64 %rd2, %rd1, 12; cvta.shared.u64 %rd3, %rd2;";
        assert_eq!(last(there), (shared(S, Notation::Generic), Some(12), 3));
        let back = format!("{there} sub.u64 %rd4, %rd3, 4; cvta.to.shared.u64 %rd5, %rd4;");
        assert_eq!(last(&back), (shared(S, Notation::Space), Some(8), 3));
        let wrong = last("mov.u64 %rd1, g; cvta.shared.u64 %rd2, %rd1;");
        assert_eq!(wrong.0, shared(Object::Unknown, Notation::Generic));
        let mapped = "mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 3; add.u32 %r3, %r2, 4;";
        let other = Object::Mapped(Handle::new(0));
        assert_eq!(last(mapped), (shared(other, Notation::Space), Some(4), 3));
    }

    #[test]
    fn addresses_in_words_are_counted_modulo_their_width() {
        let text = "mov.u32 %r1, s; mov.u32 %r2, -4; add.u32 %r3, %r1, %r2; add.u32 %r4, %r3, 0x10;";
        assert_eq!(last(text), (shared(S, Notation::Space), Some(12), 3));
    }

    #[test]
    fn what_joins_points_where_all_of_it_points() {
        let condition = "ld.param.u32 %r9, [n]; setp.eq.u32 %p1, %r9, 0;";
        let some = format!("{condition} mov.u64 %rd1, s; @%p1 add.u64 %rd1, %rd1, 8;");
        assert_eq!(last(&some), (shared(S, Notation::Space), Some(0), 3));
        let either = format!("{condition} mov.u64 %rd1, s; @%p1 mov.u64 %rd1, g;");
        assert_eq!(last(&either).0, None);
        let in_loop =
            format!("{condition} mov.u32 %r1, s; L: add.u32 %r1, %r1, 4; @%p1 bra L; mov.u32 %r2, %r1;");
        assert_eq!((last(&in_loop).0, last(&in_loop).2), (shared(S, Notation::Space), 2));
        let chosen =
            format!("{condition} mov.u32 %r1, s; add.u32 %r2, %r1, %r9; selp.b32 %r3, %r1, %r2, %p1;");
        assert_eq!(last(&chosen).0, shared(S, Notation::Space));
        let aligned = "mov.u32 %r1, s; ld.param.u32 %r9, [n]; add.u32 %r2, %r1, %r9; and.b32 %r3, %r2, -16;";
        assert_eq!((last(aligned).0, last(aligned).2), (shared(S, Notation::Space), 4));
    }

    #[test]
    fn parameters_promise_what_they_point_to() {
        let object = Object::Pointee(Handle::new(2));
        let expected = Pointer { object, space: StateSpace::Global, notation: Notation::Unknown };
        assert_eq!(last("ld.param.u64 %rd1, [p];"), (Some(expected), Some(0), 4));
        assert_eq!(last("ld.param.u32 %r1, [p];").0, None);
    }

    #[test]
    fn lanes_are_no_columns_unless_rows_are_whole_warps() {
        let text =
            format!("{HEAD}mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r3, %laneid;\nret;\n}}\n");
        let module = ptx_ir::lower::lower(&ptx_syntax::parse(&text).tree, &text).module;
        let facts = FunctionFacts::new(&module, Handle::new(0)).unwrap();
        let graph = Graph::new(&facts);
        let same = |values: Values| {
            let written: Vec<_> = (0..facts.uses().all().len()).filter_map(|at| graph.written(at)).collect();
            values.of(written[1]).map(|fact| fact.form) == values.of(written[2]).map(|fact| fact.form)
        };
        assert!(same(Values::of_whole_warps(&facts, &graph)));
        assert!(!same(Values::new(&facts, &graph)));
    }
}
