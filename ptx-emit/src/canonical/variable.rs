//! Declarations: variables, parameters, registers, and initialisers.

use super::number;
use super::printer::Printer;
use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Handle, Initializer, Linkage, Member, Module, RegisterGroup, Symbol, Variable};
use ptx_ir::types::Type;

impl Printer<'_> {
    /// The declared name. Of the variables of a parametrised declaration `name<3>`, only the first is in the list of
    /// statements.
    fn declared_name(&mut self, handle: Handle<Variable>) {
        let variable = &self.module.variables[handle];
        let name = self.module.name(variable.name);
        match variable.member {
            Some(Member { number: 0, count }) => {
                self.text(name.strip_suffix('0').unwrap_or(name));
                self.text(&format!("<{count}>"));
            }
            _ => self.text(name),
        }
    }

    /// A declaration without its `;`: `.visible .global .align 4 .u32 name[2] = {1, 2}`.
    pub fn variable(&mut self, handle: Handle<Variable>) {
        let module: &Module = self.module;
        let variable = &module.variables[handle];
        self.linkage(variable.linkage);
        self.text(variable.space.as_str());
        self.attributes(&variable.attributes);
        if let Some(align) = variable.align {
            self.text(&format!(" .align {align}"));
        }
        self.element_type(variable.ty, variable.elements);
        if let Some(pointer) = variable.pointer {
            self.text(" .ptr");
            if let Some(space) = pointer.space {
                self.text(" ");
                self.text(space.as_str());
            }
            if let Some(align) = pointer.align {
                self.text(&format!(" .align {align}"));
            }
            if let Some(object) = pointer.object {
                self.text(" ");
                self.text(object.as_str());
            }
        }
        self.text(" ");
        self.declared_name(handle);
        for dimension in &variable.dimensions {
            match dimension {
                Some(size) => self.text(&format!("[{size}]")),
                None => self.text("[]"),
            }
        }
        if let Some(initializer) = &variable.initializer {
            self.text(" = ");
            self.initializer(initializer, variable.ty);
        }
    }

    /// `.reg .v2 .f32 %v<4>`
    pub fn register_group(&mut self, group: &RegisterGroup) {
        self.text(DirectiveKind::Reg.word());
        self.element_type(group.ty, group.elements);
        self.text(" ");
        self.symbol(group.name);
        if let Some(range) = group.range {
            self.text(&format!("<{range}>"));
        }
    }

    fn element_type(&mut self, ty: Type, elements: u8) {
        if elements > 1 {
            self.text(&format!(" .v{elements}"));
        }
        self.text(" ");
        self.text(ty.as_str());
    }

    pub fn linkage(&mut self, linkage: Option<Linkage>) {
        if let Some(linkage) = linkage {
            self.text(linkage.as_str());
            self.text(" ");
        }
    }

    /// ` .attribute(.managed, .unified(1, 2))`
    pub fn attributes(&mut self, attributes: &[(Symbol, Vec<u64>)]) {
        if attributes.is_empty() {
            return;
        }
        self.text(" .attribute(");
        self.separated(attributes, |printer, (name, arguments)| {
            printer.symbol(*name);
            if !arguments.is_empty() {
                printer.text("(");
                printer.separated(arguments, |printer, argument| printer.text(&argument.to_string()));
                printer.text(")");
            }
        });
        self.text(")");
    }

    fn initializer(&mut self, initializer: &Initializer, ty: Type) {
        match initializer {
            Initializer::Integer { bits, negative } => self.text(&number::integer(*bits, *negative)),
            Initializer::Decimal(value) => self.text(&number::decimal(*value, Some(ty))),
            Initializer::SingleBits(bits) => self.text(&number::single(*bits)),
            Initializer::DoubleBits(bits) => self.text(&number::double(*bits)),
            Initializer::Variable { variable, offset, generic, mask } => {
                self.wrapped(
                    *generic,
                    *mask,
                    |printer| {
                        printer.symbol(printer.module.variables[*variable].name);
                    },
                    *offset,
                );
            }
            Initializer::Function { function, generic, mask } => {
                self.wrapped(
                    *generic,
                    *mask,
                    |printer| printer.symbol(printer.module.functions[*function].name),
                    0,
                );
            }
            Initializer::List(parts) => {
                self.text("{");
                self.separated(parts, |printer, part| printer.initializer(part, ty));
                self.text("}");
            }
            Initializer::Field(name, value) => {
                self.symbol(*name);
                self.text(" = ");
                self.symbol(*value);
            }
            Initializer::NumberField(name, value) => {
                self.symbol(*name);
                self.text(&format!(" = {value}"));
            }
            Initializer::Unknown => self.text("_"),
        }
    }

    /// `0xff00(generic(name)+8)`
    fn wrapped(&mut self, generic: bool, mask: Option<u64>, name: impl FnOnce(&mut Self), offset: i64) {
        if let Some(mask) = mask {
            self.text(&format!("0x{mask:X}("));
        }
        if generic {
            self.text("generic(");
        }
        name(self);
        if generic {
            self.text(")");
        }
        self.offset(offset);
        if mask.is_some() {
            self.text(")");
        }
    }
}
