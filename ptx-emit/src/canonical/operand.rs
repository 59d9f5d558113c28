//! Instructions and their operands.

use super::number;
use super::printer::Printer;
use ptx_ir::ir::{Body, Guard, Handle, Instruction, Module, Operand, Symbol, Variable};
use ptx_ir::isa::{Instance, OperandSpec, Selector};
use ptx_ir::types::Type;

impl<'m> Printer<'m> {
    /// `@%p1 add.u32 %r1, %r2, 1;`
    pub fn instruction(&mut self, body: &Body, handle: Handle<Instruction>) {
        let instruction = &body.instructions[handle];
        if let Some(guard) = instruction.guard {
            self.guard(body, guard);
        }
        let module = self.module;
        let instance = self.instance(instruction);
        match instance {
            Some(instance) => self.text(&instance.canonical),
            None => self.text(&module.spellings[instruction.spelling].text),
        }
        let operands = body.operands(handle);
        if !operands.is_empty() {
            self.text(" ");
        }
        let places = instance.map(|instance| places(module, body, instance, operands));
        self.separated(operands.iter().enumerate(), |printer, (index, operand)| {
            let place = places.as_ref().and_then(|places| places.get(index).copied());
            let spec = instance.zip(place).and_then(|(instance, place)| instance.operands.get(place));
            printer.operand(body, *operand, spec);
        });
        self.text(";");
    }

    fn instance(&self, instruction: &Instruction) -> Option<&'m Instance> {
        let module = self.module;
        let spelling = &module.spellings[instruction.spelling];
        spelling.resolved.instances.get(usize::from(instruction.instance?))
    }

    fn guard(&mut self, body: &Body, guard: Guard) {
        self.text(if guard.negated { "@!" } else { "@" });
        match guard.register {
            Some(register) => self.register(body, register),
            None => self.text("_"),
        }
        self.text(" ");
    }

    /// Prints an operand; `spec` is what the instruction wants there.
    pub fn operand(&mut self, body: &Body, operand: Operand, spec: Option<&OperandSpec>) {
        match operand {
            Operand::Register { register, class: _ } => self.register(body, register),
            Operand::VectorRegister { first, class: _, count: _ } => self.vector_register(body, first),
            Operand::Negated { register, class: _ } => {
                self.text("!");
                self.register(body, register);
            }
            Operand::Selected { register, class: _, selector } => {
                self.register(body, register);
                self.selector(selector);
            }
            Operand::Minus { register, class: _, selector } => {
                self.text("-");
                self.register(body, register);
                if let Some(selector) = selector {
                    self.selector(selector);
                }
            }
            Operand::Sum { register, class: _, offset } => {
                self.register(body, register);
                self.text(&format!("+{offset}"));
            }
            Operand::Special(register) => self.text(register.name()),
            Operand::SpecialSum { register, offset } => self.text(&format!("{}+{offset}", register.name())),
            Operand::Element { variable, index, class: _, offset, is_value: _ } => {
                self.symbol(self.module.variables[variable].name);
                self.text("[");
                self.register(body, index);
                self.offset(i64::from(offset));
                self.text("]");
            }
            Operand::Integer { .. }
            | Operand::Decimal(_)
            | Operand::SingleBits(_)
            | Operand::DoubleBits(_)
            | Operand::WarpSize => self.constant(operand, spec.and_then(|spec| spec.ty)),
            Operand::Sink => self.text("_"),
            Operand::Variable { variable, offset, zero } => {
                self.variable_with_offset(variable, offset);
                self.zero(zero);
            }
            Operand::Function(function) | Operand::Prototype(function) => {
                self.symbol(self.module.functions[function].name);
            }
            Operand::Label(label) => self.symbol(body.labels[label].name),
            Operand::Targets(list) => self.name_or_sink(body.targets[list].name),
            Operand::RegisterAddress { base, class: _, offset, zero, unified } => {
                self.text("[");
                self.register(body, base);
                self.zero(zero);
                self.offset(i64::from(offset));
                self.text(if unified { "].unified" } else { "]" });
            }
            Operand::VariableAddress { variable, offset } => {
                self.text("[");
                self.variable_with_offset(variable, offset);
                self.text("]");
            }
            Operand::ConstantAddress { address } => self.text(&format!("[{address}]")),
            Operand::Vector(_) | Operand::Pair(_) | Operand::Bracket(_) | Operand::List(_) => {
                self.composite(body, operand, spec);
            }
            Operand::Unknown(name) => self.name_or_sink(name),
        }
    }

    fn composite(&mut self, body: &Body, operand: Operand, spec: Option<&OperandSpec>) {
        let (run, open, separator, close) = match operand {
            Operand::Vector(run) => (run, "{", ", ", "}"),
            Operand::Pair(run) => (run, "", "|", ""),
            Operand::Bracket(run) => (run, "[", ", ", "]"),
            Operand::List(run) => (run, "(", ", ", ")"),
            _ => return,
        };
        self.text(open);
        for (index, &child) in body.children(run).iter().enumerate() {
            if index > 0 {
                self.text(separator);
            }
            // The elements of a vector have no description of their own: they are what the vector is.
            let spec = match operand {
                Operand::Vector(_) => spec,
                _ => spec.and_then(|spec| spec.children.get(index)),
            };
            self.operand(body, child, spec);
        }
        self.text(close);
    }

    fn constant(&mut self, operand: Operand, ty: Option<Type>) {
        match operand {
            Operand::Integer { bits, negative } => self.text(&number::integer(bits, negative)),
            Operand::Decimal(value) => self.text(&number::decimal(value, ty)),
            Operand::SingleBits(bits) => self.text(&number::single(bits)),
            Operand::DoubleBits(bits) => self.text(&number::double(bits)),
            _ => self.text("WARP_SZ"),
        }
    }

    fn selector(&mut self, selector: Selector) {
        self.text(&selector.to_string());
    }

    fn variable_with_offset(&mut self, variable: Handle<Variable>, offset: i64) {
        self.symbol(self.module.variables[variable].name);
        self.offset(offset);
    }

    /// An offset of 0 that makes a difference.
    fn zero(&mut self, is_written: bool) {
        if is_written {
            self.text("+0");
        }
    }

    /// `+8`, `+-8`: a sign after the plus is the only form that the assembler takes.
    pub fn offset(&mut self, offset: i64) {
        if offset != 0 {
            self.text(&format!("+{offset}"));
        }
    }

    fn name_or_sink(&mut self, name: Option<Symbol>) {
        match name {
            Some(name) => self.symbol(name),
            None => self.text("_"),
        }
    }
}

/// For each operand the place of its description in the instance.
fn places(module: &Module, body: &Body, instance: &Instance, operands: &[Operand]) -> Vec<usize> {
    if operands.len() == instance.operands.len() {
        return (0..operands.len()).collect();
    }
    let (mut shapes, mut children) = (Vec::new(), Vec::new());
    for &operand in operands {
        module.push_shape(body, operand, &mut shapes, &mut children);
    }
    instance.align(&shapes, &children).unwrap_or_default()
}
