//! Sums of multiples as text: `4·%tid.x + %r2 of 7 - 8`.

use ptx_verify::facts::FunctionFacts;
use ptx_verify::facts::values::linear::{Base, BaseId, Form, Sum};
use ptx_verify::facts::values::{Graph, Kind, ValueId, Values, Variable};

use super::operand::register;

/// Operations within operations that are written out.
const MAX_DEPTH: usize = 2;

/// The sum that a value is; none where that is a number, or nothing but the value itself.
pub fn sum_text(facts: &FunctionFacts<'_>, graph: &Graph, values: &Values, value: ValueId) -> Option<String> {
    let sum = values.forms().sum(values.of(value)?.form);
    let alone = match sum.terms().next() {
        None => true,
        Some((base, factor)) => {
            let is_own = match values.forms().what(base) {
                Base::Value(own) => own == value,
                Base::Symbol { .. } | Base::Code(_) => true,
                _ => false,
            };
            is_own && factor == 1 && sum.count() == 1
        }
    };
    (!alone).then(|| Writer { facts, graph, values }.sum(sum, 0))
}

struct Writer<'w, 'm> {
    facts: &'w FunctionFacts<'m>,
    graph: &'w Graph,
    values: &'w Values,
}

impl Writer<'_, '_> {
    fn sum(&self, sum: &Sum, depth: usize) -> String {
        let all = u64::MAX >> (64 - sum.width());
        // One bit has no sign.
        let sign = if sum.width() == 1 { 0 } else { 1_u64 << (sum.width() - 1) };
        let mut text = String::new();
        let mut add = |number: u64, what: Option<String>| {
            let negative = number & sign != 0;
            let size = if negative { number.wrapping_neg() & all } else { number };
            text += match (text.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text += &match what {
                Some(base) if size == 1 => base,
                Some(base) => format!("{size}·{base}"),
                None => size.to_string(),
            };
        };
        for (base, factor) in sum.terms() {
            add(factor, Some(self.base(base, depth)));
        }
        if sum.offset() != 0 || sum.count() == 0 {
            add(sum.offset(), None);
        }
        text
    }

    fn base(&self, base: BaseId, depth: usize) -> String {
        let module = self.facts.module;
        match self.values.forms().what(base) {
            Base::Value(value) => self.value(value),
            Base::Special(special) => special.name().to_owned(),
            Base::Lane => "lane".to_owned(),
            Base::Warp => "first of the warp".to_owned(),
            Base::Rows(threads, _) => format!("first of the warp in rows of {threads}"),
            Base::Symbol { variable, .. } => module.name(module.variables[variable].name).to_owned(),
            Base::Code(function) => module.name(module.functions[function].name).to_owned(),
            Base::Loaded { variable, offset, .. } => {
                let name = module.name(module.variables[variable].name);
                if offset == 0 { format!("[{name}]") } else { format!("[{name}+{offset}]") }
            }
            Base::Steps(value) => format!("turns of {}", self.value(value)),
            Base::Unknown(_) => "something".to_owned(),
            Base::Operation { .. } if depth == MAX_DEPTH => "…".to_owned(),
            Base::Operation { computes, operands, .. } => {
                let known = operands.iter().filter(|operand| **operand != Form::NONE);
                let operands: Vec<String> =
                    known.map(|&operand| self.sum(self.values.forms().sum(operand), depth + 1)).collect();
                format!("{computes:?}({})", operands.join(", "))
            }
        }
    }

    /// A register, and which of its values.
    fn value(&self, value: ValueId) -> String {
        let name = match self.graph.variable(value) {
            Variable::Register(number) => register(self.facts.module, self.facts.body, number),
            Variable::Carry => "carry".to_owned(),
        };
        match self.graph.kind(value) {
            Kind::Undefined | Kind::Opaque => name,
            Kind::Entry => format!("{name} at entry"),
            Kind::Computed { instruction, .. } => format!("{name} of {instruction}"),
            Kind::Guarded { instruction, .. } => format!("{name} after {instruction}"),
            Kind::Joined { block } => format!("{name} before {}", self.facts.cfg.instructions(block).start),
        }
    }
}
