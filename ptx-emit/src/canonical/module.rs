//! The module: its header, then its items in the order of the source.

use super::printer::Printer;
use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{AddressSize, Function, FunctionKind, Handle, Item, Module, Section, Variable};

impl Printer<'_> {
    /// Everything, an item a line.
    pub fn print_module(&mut self) {
        let module: &Module = self.module;
        self.header();
        self.text("\n");
        module.items.iter().for_each(|item| self.item(item));
    }

    /// An item, with its line end.
    pub fn item(&mut self, item: &Item) {
        let module: &Module = self.module;
        match item {
            Item::Variable(variable) => {
                self.variable(*variable);
                self.text(";\n");
            }
            Item::Function(function) => self.function(&module.functions[*function]),
            Item::Directive(directive) => {
                self.directive(directive);
                self.text("\n");
            }
            Item::Alias { name, target, span: _ } => {
                self.text(".alias ");
                self.symbol(*name);
                self.text(", ");
                self.symbol(*target);
                self.text(";\n");
            }
            Item::Section(section) => self.section(section),
        }
    }

    /// `.version`, `.target` and `.address_size`, a line each.
    pub fn header(&mut self) {
        let header = &self.module.header;
        self.text(&format!(".version {}\n.target {}", header.version, header.target.name_in(header.version)));
        for (option, _) in &header.options {
            self.text(", ");
            self.symbol(*option);
        }
        self.text(match header.address_size {
            Some(AddressSize::Bits32) => "\n.address_size 32\n",
            Some(AddressSize::Bits64) => "\n.address_size 64\n",
            None => "\n",
        });
    }

    /// A function with its body, or a declaration of one.
    pub fn function(&mut self, function: &Function) {
        self.linkage(function.linkage);
        self.text(match function.kind {
            FunctionKind::Entry => DirectiveKind::Entry.word(),
            FunctionKind::Function | FunctionKind::Prototype => DirectiveKind::Func.word(),
        });
        self.attributes(&function.attributes);
        self.text(" ");
        if !function.returns.is_empty() {
            self.parameter_list(&function.returns);
            self.text(" ");
        }
        self.symbol(function.name);
        self.parameter_list(&function.parameters);
        for directive in &function.directives {
            self.text("\n");
            self.directive(directive);
        }
        match &function.body {
            Some(body) => {
                self.text("\n");
                self.body(body);
            }
            None => self.text(";\n"),
        }
    }

    /// `(.param .b32 a, .param .b32 b)`.
    pub fn parameter_list(&mut self, parameters: &[Handle<Variable>]) {
        self.text("(");
        self.separated(parameters, |printer, parameter| printer.variable(*parameter));
        self.text(")");
    }

    fn section(&mut self, section: &Section) {
        self.symbol(section.word);
        if section.name != section.word {
            self.text(" ");
            self.symbol(section.name);
        }
        // The text of other languages brings its own line ends.
        let lines = if section.name == section.word { " {" } else { " {\n" };
        self.text(lines);
        self.text(&section.text);
        self.text("}\n");
    }
}
