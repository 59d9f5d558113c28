//! From operands to the shapes that the instruction table matches.

use super::{Body, FunctionKind, Module, Operand, Variable};
use crate::isa::{Class, ClassSet, Shape, ShapeFlags, ShapeKind};
use crate::space::StateSpace;
use crate::types::Type;

impl Module {
    /// The operand class of the name of a variable.
    #[must_use]
    pub fn variable_class(&self, variable: &Variable) -> Class {
        match variable.ty {
            // An array of them is memory to instructions.
            _ if !variable.dimensions.is_empty() => {}
            Type::Texref => return Class::Texref,
            Type::Samplerref => return Class::Samplerref,
            Type::Surfref => return Class::Surfref,
            _ => {}
        }
        match variable.space.base() {
            StateSpace::Const => Class::Const,
            StateSpace::Global => Class::Global,
            StateSpace::Local => Class::Local,
            StateSpace::Shared => Class::Shared,
            StateSpace::Tex => Class::Tex,
            StateSpace::Param => self.parameter_class(variable),
            _ => Class::Unknown,
        }
    }

    fn parameter_class(&self, variable: &Variable) -> Class {
        let Some(function) = variable.function else { return Class::Param };
        match (variable.is_parameter, self.functions[function].kind) {
            (true, FunctionKind::Entry) => Class::ParamEntry,
            (true, FunctionKind::Function | FunctionKind::Prototype) => Class::ParamFunc,
            (false, _) => Class::Param,
        }
    }

    /// Appends the shape of an operand to `shapes`, and those of its parts to `children`.
    #[inline]
    pub fn push_shape(
        &self,
        body: &Body,
        operand: Operand,
        shapes: &mut Vec<Shape>,
        children: &mut Vec<Shape>,
    ) {
        let shape = match operand {
            Operand::Register { class, .. } => Shape::value(class),
            _ => self.other_shape(body, operand, children),
        };
        shapes.push(shape);
    }

    /// The number for the shape of a register of a class.
    #[inline(always)]
    pub(crate) const fn register_key(class: Class) -> u16 {
        VALUE | class as u16
    }

    /// The number for the shape of an address in a register.
    #[inline]
    pub(crate) const fn register_address_key(class: Class, offset: i32, zero: bool) -> u16 {
        ADDRESS | if zero || offset != 0 { OFFSET } else { 0 } | class as u16
    }

    /// The number for the shape of an integer without a sign.
    pub(crate) const INTEGER_KEY: u16 = VALUE | Class::Integer as u16;

    /// A number for the shape of an operand, never 0: operands of equal numbers have equal shapes, but for the value
    /// of an immediate. None for an operand that consists of several unlike ones.
    pub(crate) fn shape_key(&self, body: &Body, operand: Operand) -> Option<u16> {
        const NEGATED: u16 = 3 << 8;
        const VECTOR: u16 = 4 << 8;
        const WITH_PREDICATE: u16 = 5 << 8;
        const WITH_SINK: u16 = 6 << 8;
        const MAX_ELEMENTS: u32 = 8;
        let displaced = |offset: i64| if offset == 0 { 0 } else { OFFSET };
        Some(match operand {
            Operand::Register { class, .. } => Self::register_key(class),
            Operand::Negated { class, .. } => NEGATED | class as u16,
            Operand::Integer { negative, .. } => {
                VALUE | if negative { Class::NegativeInteger } else { Class::Integer } as u16
            }
            Operand::Decimal(_) => VALUE | Class::Decimal as u16,
            Operand::SingleBits(_) => VALUE | Class::SingleBits as u16,
            Operand::DoubleBits(_) => VALUE | Class::DoubleBits as u16,
            Operand::Label(_) => VALUE | Class::Label as u16,
            Operand::Sink => VALUE | Class::Sink as u16,
            Operand::Special(register) => VALUE | Class::special(register.reads()) as u16,
            Operand::Variable { variable, offset, zero: _ } => {
                VALUE | displaced(offset) | self.variable_class(&self.variables[variable]) as u16
            }
            Operand::RegisterAddress { class, offset, zero, unified: false, .. } => {
                Self::register_address_key(class, offset, zero)
            }
            Operand::VariableAddress { variable, offset } => {
                ADDRESS | displaced(offset) | self.variable_class(&self.variables[variable]) as u16
            }
            Operand::Vector(run) if (1..=MAX_ELEMENTS).contains(&run.count) => {
                let elements = body.children(run);
                let Some(Operand::Register { class: first, .. }) = elements.first() else { return None };
                let alike =
                    |element: &Operand| matches!(element, Operand::Register { class, .. } if class == first);
                if !elements.iter().all(alike) {
                    return None;
                }
                VECTOR | (run.count as u16) << 11 | *first as u16
            }
            Operand::Pair(run) => match body.children(run) {
                [Operand::Register { class, .. }, Operand::Register { class: Class::RegPred, .. }] => {
                    WITH_PREDICATE | *class as u16
                }
                [Operand::Register { class, .. }, Operand::Sink] => WITH_SINK | *class as u16,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn other_shape(&self, body: &Body, operand: Operand, children: &mut Vec<Shape>) -> Shape {
        match operand {
            Operand::Register { class, .. } => Shape::value(class),
            Operand::VectorRegister { class, count, .. } => {
                Shape::vector(class.into(), u16::from(count)).with_flags(ShapeFlags::VECTOR_REGISTER)
            }
            Operand::Negated { class, .. } => Shape::negated(class),
            Operand::Selected { class, selector, .. } => {
                Shape { immediate: selector.bits(), ..Shape::of(ShapeKind::Selected, class.into(), 1) }
            }
            Operand::Minus { class, selector: None, .. } => Shape::value(class).with_flags(ShapeFlags::MINUS),
            Operand::Minus { class, selector: Some(selector), .. } => {
                Shape { immediate: selector.bits(), ..Shape::of(ShapeKind::Selected, class.into(), 1) }
                    .with_flags(ShapeFlags::MINUS)
            }
            Operand::Special(register) => Shape::value(Class::special(register.reads())),
            Operand::Sum { class, .. } => Shape::value(class).with_flags(SUM),
            Operand::SpecialSum { register, .. } => {
                Shape::value(Class::special(register.reads())).with_flags(SUM)
            }
            Operand::Element { variable, is_value, .. } => {
                let class = self.variable_class(&self.variables[variable]);
                match is_value {
                    true => Shape::value(class).with_flags(ShapeFlags::ELEMENT),
                    false => Shape::address(class),
                }
                .with_flags(ShapeFlags::OFFSET)
            }
            Operand::Integer { bits, negative } => {
                let class = if negative { Class::NegativeInteger } else { Class::Integer };
                Shape { immediate: bits as i64, ..Shape::value(class) }
            }
            Operand::Decimal(value) => fraction(Class::Decimal, value),
            Operand::SingleBits(bits) => fraction(Class::SingleBits, f64::from(f32::from_bits(bits))),
            Operand::DoubleBits(bits) => fraction(Class::DoubleBits, f64::from_bits(bits)),
            Operand::WarpSize => Shape::value(Class::WarpSize),
            Operand::Sink => Shape::value(Class::Sink),
            Operand::Variable { variable, offset, zero: _ } => {
                let shape = Shape::value(self.variable_class(&self.variables[variable]));
                if offset == 0 { shape } else { shape.with_flags(ShapeFlags::OFFSET) }
            }
            Operand::Function(function) => Shape::value(match self.functions[function].kind {
                FunctionKind::Entry => Class::Kernel,
                FunctionKind::Function | FunctionKind::Prototype => Class::Function,
            }),
            Operand::Prototype(_) => Shape::value(Class::CallPrototype),
            Operand::Label(_) => Shape::value(Class::Label),
            Operand::Targets(list) => Shape::value(match body.targets[list].kind {
                super::TargetListKind::Branch => Class::BranchTargets,
                super::TargetListKind::Call => Class::CallTargets,
            }),
            Operand::RegisterAddress { class, offset, zero, unified, .. } => {
                let mut shape = Shape::address(class);
                if offset != 0 || zero {
                    shape = shape.with_flags(ShapeFlags::OFFSET);
                }
                if unified { shape.with_flags(ShapeFlags::UNIFIED) } else { shape }
            }
            Operand::VariableAddress { variable, offset } => {
                let shape = Shape::address(self.variable_class(&self.variables[variable]));
                if offset == 0 { shape } else { shape.with_flags(ShapeFlags::OFFSET) }
            }
            Operand::ConstantAddress { address } => {
                let class = if address < 0 { Class::NegativeInteger } else { Class::Integer };
                Shape { immediate: address, ..Shape::address(class) }
            }
            Operand::Vector(run) => {
                let elements = body.children(run);
                let (first, rest) = elements.split_at(run.count.min(1) as usize);
                let (first, rest) = (self.union_of(body, first), self.union_of(body, rest));
                let all = first.union(rest);
                let flags = if all.has_several() { self.clashes(body, elements) } else { ShapeFlags::NONE };
                let is_number = !first.is_empty() && first.is_subset(ClassSet::IMMEDIATES);
                let measure = if is_number { self.measure(body, elements) } else { ClassSet::NONE };
                let among = |classes: ClassSet| match all.intersect(classes).is_empty() {
                    true => 0,
                    false => self.places_of(classes, body, elements),
                };
                Shape::vector(all, counted(run))
                    .with_elements(first, rest, measure)
                    .with_bits(among(ClassSet::IMMEDIATES), among(Class::RegPred.into()))
                    .with_flags(flags)
            }
            Operand::Pair(run) => self.parts(body, ShapeKind::Pair, run, children),
            Operand::Bracket(run) => self.parts(body, ShapeKind::Bracket, run, children),
            Operand::List(run) => self.parts(body, ShapeKind::List, run, children),
            Operand::Unknown(_) => Shape::value(Class::Unknown),
        }
    }

    fn union_of(&self, body: &Body, elements: &[Operand]) -> ClassSet {
        let mut union = ClassSet::NONE;
        for &element in elements {
            let classes = match element {
                Operand::Register { class, .. } => class.into(),
                // What is no single value fits in no vector, and neither does one with a sign or an offset.
                Operand::Vector(_)
                | Operand::Pair(_)
                | Operand::Bracket(_)
                | Operand::List(_)
                | Operand::Negated { .. }
                | Operand::Minus { .. }
                | Operand::Sum { .. }
                | Operand::SpecialSum { .. }
                | Operand::Element { .. }
                | Operand::RegisterAddress { .. }
                | Operand::VariableAddress { .. }
                | Operand::ConstantAddress { .. } => ClassSet::from(Class::CallPrototype),
                _ => self.other_shape(body, element, &mut Vec::new()).classes,
            };
            union = union.union(classes);
        }
        union
    }

    /// The class of the element that says how wide a brace list is that begins with a number: the last one of another
    /// width than the first, else the first.
    #[cold]
    fn measure(&self, body: &Body, elements: &[Operand]) -> ClassSet {
        let class = |element: &Operand| self.union_of(body, std::slice::from_ref(element));
        let width =
            |classes: ClassSet| ClassSet::ELEMENT_WIDTHS.iter().position(|each| classes.is_subset(*each));
        let first = elements.first().map_or(ClassSet::NONE, class);
        let differs = |classes: &ClassSet| width(*classes).is_some_and(|other| Some(other) != width(first));
        elements.iter().rev().map(class).find(differs).unwrap_or(first)
    }

    /// Which of the first eight elements are of some classes.
    #[cold]
    fn places_of(&self, wanted: ClassSet, body: &Body, elements: &[Operand]) -> u8 {
        let is_wanted = |element| {
            let classes = self.union_of(body, std::slice::from_ref(element));
            !classes.is_empty() && classes.is_subset(wanted)
        };
        let found = elements.iter().take(8).enumerate().filter(|(_, element)| is_wanted(element));
        found.fold(0, |places, (index, _)| places | 1 << index)
    }

    /// Whether neighbours in a brace list are of different kinds. Plain bits go with each, and `_` is no neighbour.
    #[cold]
    fn clashes(&self, body: &Body, elements: &[Operand]) -> ShapeFlags {
        let mut flags = ShapeFlags::NONE;
        let mut before = None;
        for (index, element) in elements.iter().enumerate() {
            let classes = self.union_of(body, std::slice::from_ref(element));
            if classes == Class::Sink.into() {
                continue;
            }
            let kind = ClassSet::KINDS.iter().position(|kind| classes.is_subset(*kind));
            if before.is_some() && kind.is_some() && before != kind {
                let behind = if index > 1 { ShapeFlags::REST_CLASH } else { ShapeFlags::NONE };
                flags = flags.with(ShapeFlags::CLASH).with(behind);
            }
            before = kind;
        }
        flags
    }

    fn parts(&self, body: &Body, kind: ShapeKind, run: super::Run, children: &mut Vec<Shape>) -> Shape {
        // Parts of parts go after all parts of this operand, so that these stay next to each other.
        let shapes: Vec<Shape> =
            body.children(run).iter().map(|part| self.other_shape(body, *part, children)).collect();
        let first = children.len() as u32;
        children.extend(shapes);
        Shape::of(kind, ClassSet::NONE, counted(run)).with_children(first)
    }
}

/// How many elements or parts there are. No operand takes so many as the highest number that fits, and it stands for
/// all above.
fn counted(run: super::Run) -> u16 {
    run.count.try_into().unwrap_or(u16::MAX)
}

/// What the number for the shape of a single value has.
const VALUE: u16 = 1 << 8;
const ADDRESS: u16 = 2 << 8;
const OFFSET: u16 = 1 << 11;

/// What a sum of a register and a constant says of itself: no register alone.
const SUM: ShapeFlags = ShapeFlags::SUM.with(ShapeFlags::OFFSET);

/// A floating-point immediate, which is compared as a double.
fn fraction(class: Class, value: f64) -> Shape {
    Shape { immediate: value.to_bits() as i64, ..Shape::value(class) }
}

#[cfg(test)]
mod tests {
    use super::{Operand, Shape};

    #[test]
    fn long_lists_do_not_count_as_short_ones() {
        for count in [65_535, 65_537, 65_538, 65_540, 131_074] {
            let list = vec!["%r1"; count].join(",");
            let text = format!(
                ".version 8.6\n.target sm_90a\n.address_size 64\n.func f()\n{{\n.reg .b32 %r<3>;\n.reg .b64 %d;\n\
                 mov.b64 %d, {{{list}}};\n}}\n"
            );
            let lowered = crate::lower::lower(&ptx_syntax::parse(&text).tree, &text);
            let module = lowered.module;
            let (_, function) = module.functions.iter().next().unwrap();
            let body = function.body.as_ref().unwrap();
            let (handle, instruction) = body.instructions.iter().next().unwrap();
            let operand = body.operands(handle)[1];
            assert!(matches!(operand, Operand::Vector(run) if run.count as usize == count));
            let (mut shapes, mut children): (Vec<Shape>, Vec<Shape>) = (Vec::new(), Vec::new());
            module.push_shape(body, operand, &mut shapes, &mut children);
            assert_eq!(shapes[0].count, u16::MAX);
            assert!(module.instance(instruction).is_none(), "{count}");
        }
    }
}
