//! The text under construction, and the small pieces that everything else is made of.

use ptx_ir::ir::{Body, Module, Register, Symbol};

/// Gathers the text of a module: a statement a line, without indentation.
pub(super) struct Printer<'m> {
    pub module: &'m Module,
    out: String,
}

impl<'m> Printer<'m> {
    pub fn new(module: &'m Module) -> Self {
        Self { module, out: String::new() }
    }

    pub fn finish(self) -> String {
        self.out
    }

    /// Appends text.
    pub fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Appends a name.
    pub fn symbol(&mut self, symbol: Symbol) {
        let module = self.module;
        self.out.push_str(module.name(symbol));
    }

    /// Appends parts with a separator between them.
    pub fn separated<T>(&mut self, parts: impl IntoIterator<Item = T>, mut print: impl FnMut(&mut Self, T)) {
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            print(self, part);
        }
    }

    /// Appends a register, or an element of a vector register, by its name.
    pub fn register(&mut self, body: &Body, register: Register) {
        let Some(group) = body.group(register) else { return self.text("_") };
        let number = register.0 - group.first.0;
        let elements = u32::from(group.elements.max(1));
        self.symbol(group.name);
        if group.range.is_some() {
            self.text(&(number / elements).to_string());
        }
        if elements > 1 {
            self.text(ELEMENTS[(number % elements) as usize & 3]);
        }
    }

    /// Appends a vector register as a whole.
    pub fn vector_register(&mut self, body: &Body, first: Register) {
        let Some(group) = body.group(first) else { return self.text("_") };
        self.symbol(group.name);
        if group.range.is_some() {
            let number = first.0 - group.first.0;
            self.text(&(number / u32::from(group.elements.max(1))).to_string());
        }
    }
}

/// The elements of a vector register; `.r .g .b .a` are other names of the same.
const ELEMENTS: [&str; 4] = [".x", ".y", ".z", ".w"];
