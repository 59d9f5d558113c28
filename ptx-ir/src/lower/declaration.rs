//! Declarations: variables, parameters, registers, initialisers.

use super::expression::{self, Constant};
use super::names::Entity;
use super::{Context, messages};
use crate::arena::{Handle, Symbol};
use crate::ir::{
    Definition, Function, FunctionKind, Initializer, Item, Linkage, Operand, Pointer, Statement, Variable,
};
use crate::space::StateSpace;
use crate::types::{Type, TypeKind};
use ptx_syntax::ast::{self, Declarator, Operand as Node, OperandKind, SpecifierKind};
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

/// What stands in front of the names of a declaration.
#[derive(Clone, Debug, Default)]
pub(super) struct Specifiers {
    pub linkage: Option<Linkage>,
    space: Option<StateSpace>,
    ty: Option<Type>,
    elements: u8,
    align: Option<u32>,
    pointer: Option<Pointer>,
    pub attributes: Vec<(Symbol, Vec<u64>)>,
    /// An `.align` behind the type, which only parameters of kernels may have.
    late_align: Option<Span>,
    /// Whether a word was not understood, which has been reported.
    damaged: bool,
}

/// Where a declaration stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Module,
    Local,
    Parameter,
}

impl Context<'_> {
    pub(super) fn specifiers(&mut self, run: ast::Run) -> Specifiers {
        self.specifiers_of(run, true)
    }

    /// Attributes of a declaration without a name are looked at and forgotten.
    fn specifiers_of(&mut self, run: ast::Run, named: bool) -> Specifiers {
        let tree = self.tree;
        let mut result = Specifiers { elements: 1, ..Specifiers::default() };
        for specifier in &tree.specifiers[run.range()] {
            let text = self.text(specifier.span);
            match specifier.kind {
                SpecifierKind::Linkage => {
                    if let Some(earlier) = result.linkage {
                        let earlier = earlier.as_str();
                        self.report(messages::declaration(
                            specifier.span,
                            format!("a second linkage, after `{earlier}`"),
                        ));
                    }
                    if result.ty.is_some() || result.space.is_some() || result.align.is_some() {
                        self.report(
                            messages::declaration(
                                specifier.span,
                                format!("`{text}` stands behind other words"),
                            )
                            .with_help("the linkage is the first word of a declaration"),
                        );
                    }
                    result.linkage = Linkage::parse(text);
                }
                SpecifierKind::StateSpace => self.state_space(specifier.span, text, &mut result),
                SpecifierKind::Align => {
                    let value =
                        specifier.operand.and_then(|index| self.integer_of(tree.operands[index as usize]));
                    let value = value.and_then(|value| u32::try_from(value).ok());
                    if value.is_none() {
                        self.report(messages::declaration(
                            specifier.span,
                            "expected an alignment, an integer of 32 bits",
                        ));
                    }
                    if result.ty.is_some() && result.pointer.is_none() {
                        result.late_align = Some(specifier.span);
                    } else if result.elements > 1 && result.pointer.is_none() {
                        self.report(behind_the_type(specifier.span, text));
                    }
                    match &mut result.pointer {
                        Some(pointer) if pointer.align.is_some() => {
                            self.report(messages::declaration(specifier.span, "a second `.align` of `.ptr`"));
                        }
                        Some(pointer) => pointer.align = value,
                        None => result.align = value,
                    }
                }
                SpecifierKind::Attribute => {
                    if result.ty.is_some() {
                        self.report(
                            messages::declaration(specifier.span, "`.attribute` stands behind the type")
                                .with_help("it belongs between the state space and the type"),
                        );
                    }
                    match specifier.operand {
                        Some(index) if named => {
                            self.attributes(tree.operands[index as usize], &mut result.attributes);
                        }
                        Some(index) => self.attributes_of_nothing(tree.operands[index as usize]),
                        None => {}
                    }
                }
                SpecifierKind::Word => self.word(specifier.span, text, &mut result),
            }
        }
        result
    }

    /// A state space: of the variable, or of what a pointer points to.
    fn state_space(&mut self, span: Span, text: &str, result: &mut Specifiers) {
        let slot = match &mut result.pointer {
            Some(Pointer { align: Some(_), .. }) => {
                self.report(
                    messages::declaration(span, format!("`{text}` stands behind `.align`"))
                        .with_help("the order is type, `.ptr`, state space, `.align`, name"),
                );
                return;
            }
            Some(pointer) => &mut pointer.space,
            None => {
                if result.ty.is_some() || result.elements > 1 {
                    self.report(behind_the_type(span, text));
                }
                &mut result.space
            }
        };
        match *slot {
            None => *slot = StateSpace::parse(text),
            Some(earlier) => {
                self.report(
                    messages::declaration(span, format!("a second state space, after `{earlier}`"))
                        .with_help(format!("remove `{text}`, or `{earlier}`")),
                );
            }
        }
    }

    fn word(&mut self, span: Span, text: &str, result: &mut Specifiers) {
        match text {
            ".ptr" | ".v2" | ".v4"
                if text == ".ptr" && result.pointer.is_some() || text != ".ptr" && result.elements > 1 =>
            {
                self.report(messages::declaration(span, format!("`{text}` stands here twice")));
            }
            ".v2" | ".v4" if result.ty.is_some() => {
                self.report(behind_the_type(span, text));
            }
            ".ptr" if result.ty.is_none() => {
                self.report(
                    messages::declaration(span, "`.ptr` stands in front of the type")
                        .with_help("the order is type, `.ptr`, state space, `.align`, name"),
                );
                result.pointer = Some(Pointer { space: None, align: None, object: None });
            }
            ".ptr" if result.late_align.is_some() => {
                self.report(
                    messages::declaration(span, "`.ptr` stands behind `.align`")
                        .with_help("the order is type, `.ptr`, state space, `.align`, name"),
                );
            }
            ".ptr" => result.pointer = Some(Pointer { space: None, align: None, object: None }),
            ".v2" => result.elements = 2,
            ".v4" => result.elements = 4,
            _ => match (Type::parse(text), StateSpace::parse(text)) {
                (Some(ty @ (Type::Texref | Type::Samplerref | Type::Surfref)), _)
                    if result.pointer.is_some() =>
                {
                    if let Some(pointer) = &mut result.pointer {
                        pointer.object = Some(ty);
                    }
                }
                (Some(ty), _) => {
                    if let Some(earlier) = result.ty {
                        self.report(messages::declaration(span, format!("a second type, after `{earlier}`")));
                    }
                    result.ty = Some(ty);
                }
                (None, Some(space)) => match &mut result.pointer {
                    Some(pointer) => pointer.space = Some(space),
                    None => result.space = Some(space),
                },
                (None, None) => {
                    result.damaged = true;
                    self.report(messages::declaration(
                        span,
                        format!("`{text}` is no type and no part of a declaration"),
                    ));
                }
            },
        }
    }

    fn attributes_of_nothing(&mut self, list: Node) {
        let tree = self.tree;
        for attribute in tree.children(list) {
            let word = if attribute.kind == OperandKind::Apply {
                tree.children(*attribute).first()
            } else {
                Some(attribute)
            };
            let Some(word) = word.map(|word| word.span) else { continue };
            let text = self.text(word);
            if !matches!(text, ".managed" | ".unified") {
                self.report(messages::declaration(word, format!("there is no attribute `{text}`")));
            }
        }
    }

    fn attributes(&mut self, list: Node, result: &mut Vec<(Symbol, Vec<u64>)>) {
        let tree = self.tree;
        for attribute in tree.children(list) {
            let (word, arguments) = match attribute.kind {
                OperandKind::Apply => match tree.children(*attribute) {
                    [word, arguments @ ..] => (*word, arguments),
                    [] => continue,
                },
                _ => (*attribute, &[][..]),
            };
            let name = self.intern(word.span);
            if let Some(wrong) = arguments.iter().find(|node| node.kind == OperandKind::Negate) {
                self.report(messages::declaration(wrong.span, "an attribute takes no negative number"));
            }
            let values = arguments.iter().filter_map(|node| self.integer_of(*node)).map(|value| value as u64);
            let values: Vec<u64> = values.collect();
            result.push((name, values));
        }
    }

    /// Sizes are numbers as they stand: ptxas takes no expression there.
    fn literal(&self, node: Node) -> Option<i64> {
        matches!(node.kind, OperandKind::Integer | OperandKind::Name).then(|| self.integer_of(node)).flatten()
    }

    fn integer_of(&self, node: Node) -> Option<i64> {
        match expression::evaluate(self.tree, self.source, node) {
            Ok(Constant::Integer { bits, .. }) => Some(bits as i64),
            Ok(Constant::WarpSize) => Some(32),
            _ => None,
        }
    }

    pub(super) fn module_declaration(&mut self, index: u32) {
        let declaration = self.tree.declarations[index as usize];
        let mut specifiers = self.specifiers_of(declaration.specifiers, declaration.declarators.count > 0);
        self.refuse_late_align(&specifiers);
        self.require_space(&mut specifiers, declaration.span, StateSpace::Global);
        self.require_type_of_nothing(&specifiers, &declaration);
        self.function = None;
        self.names.clear();
        let tree = self.tree;
        for declarator in &tree.declarators[declaration.declarators.range()] {
            let Some((handle, count)) =
                self.declared_variable(&specifiers, declarator, declaration.span, Place::Module)
            else {
                continue;
            };
            for step in 0..count {
                let handle = Handle::new(handle.index() as u32 + step);
                self.define_variable(handle, declarator.name);
                if step == 0 {
                    self.module.items.push(Item::Variable(handle));
                }
            }
            self.initialize(handle, count, declarator);
        }
    }

    fn define_variable(&mut self, handle: Handle<Variable>, name: Span) {
        let symbol = self.variable(handle).name;
        match self.module.names.insert(symbol, Definition::Variable(handle)) {
            None => {}
            Some(Definition::Variable(earlier)) => {
                let both = [self.variable(earlier).linkage, self.variable(handle).linkage];
                if !may_repeat(both) {
                    let earlier = self.variable(earlier).span;
                    self.report(messages::duplicate(name, "variable", self.text(name), earlier));
                }
            }
            Some(Definition::Function(earlier)) => {
                // The first declaration stays.
                self.module.names.insert(symbol, Definition::Function(earlier));
                let earlier = self.module.functions[earlier].span;
                self.report(messages::duplicate(name, "variable", self.text(name), earlier));
            }
        }
    }

    /// Even a declaration without a name has a type.
    fn require_type_of_nothing(&mut self, specifiers: &Specifiers, declaration: &ast::Declaration) {
        if declaration.declarators.count == 0 {
            self.declared_type(specifiers, declaration.span);
        }
    }

    fn refuse_late_align(&mut self, specifiers: &Specifiers) {
        if let Some(span) = specifiers.late_align {
            self.report(
                messages::declaration(span, "`.align` stands behind the type")
                    .with_help("the order is state space, `.align`, type, name"),
            );
        }
    }

    /// A declaration without a state space is reported once and then taken for one of `usual`, so that its names are
    /// known.
    fn require_space(&mut self, specifiers: &mut Specifiers, whole: Span, usual: StateSpace) {
        if specifiers.space.is_some() || specifiers.damaged {
            return;
        }
        specifiers.space = Some(usual);
        let what = match usual {
            StateSpace::Param => "this parameter has no state space",
            _ => "this declaration has no state space",
        };
        self.report(
            messages::declaration(whole, what).with_help(format!("begin it with `{usual}`")).with_fix(
                format!("insert `{usual}`"),
                Applicability::Likely,
                vec![Edit { span: Span::at(whole.start), replacement: format!("{usual} ") }],
            ),
        );
    }

    pub(super) fn local_declaration(&mut self, index: u32) {
        let declaration = self.tree.declarations[index as usize];
        let mut specifiers = self.specifiers_of(declaration.specifiers, declaration.declarators.count > 0);
        self.refuse_late_align(&specifiers);
        self.require_space(&mut specifiers, declaration.span, StateSpace::Reg);
        self.require_type_of_nothing(&specifiers, &declaration);
        let tree = self.tree;
        for declarator in &tree.declarators[declaration.declarators.range()] {
            if specifiers.space == Some(StateSpace::Reg) {
                self.local_registers(&specifiers, declarator, declaration.span);
                continue;
            }
            let Some((handle, count)) =
                self.declared_variable(&specifiers, declarator, declaration.span, Place::Local)
            else {
                continue;
            };
            self.body.statements.push(Statement::Variable(handle));
            let text = self.text(declarator.name);
            let declared = if declarator.range.is_some() {
                self.names.declare_variables(text, declarator.name, count, handle)
            } else {
                self.names.declare(text, declarator.name, Entity::Variable(handle))
            };
            self.check_declared(declared, declarator.name, "variable");
            self.initialize(handle, count, declarator);
        }
    }

    /// The initial value of variables that are declared by now, since it may be their own address.
    fn initialize(&mut self, first: Handle<Variable>, count: u32, declarator: &Declarator) {
        let Some(index) = declarator.initializer else { return };
        let value = self.initializer(self.tree.operands[index as usize], 0);
        for step in 0..count {
            let handle = Handle::new(first.index() as u32 + step);
            self.module.variables[handle].initializer = Some(value.clone());
        }
    }

    fn local_registers(&mut self, specifiers: &Specifiers, declarator: &Declarator, whole: Span) {
        let Some(ty) = self.register_type(specifiers, whole) else { return };
        if let Some(linkage) = specifiers.linkage {
            let linkage = linkage.as_str();
            self.report(messages::declaration(whole, format!("a register cannot be `{linkage}`")));
        }
        if let Some(align) = specifiers.align.filter(|align| !align.is_power_of_two()) {
            self.report(messages::alignment(declarator.name, align));
        }
        self.check_name(declarator.name);
        if declarator.initializer.is_some() || declarator.dimensions.count > 0 {
            self.report(messages::declaration(
                declarator.span,
                "a register has no dimensions and no initial value",
            ));
        }
        let range = self.range(declarator);
        let group = self.declare_registers(declarator.name, range, ty, specifiers.elements);
        self.body.statements.push(Statement::Registers(group));
    }

    /// `WARP_SZ` is a number, whatever stands around it.
    pub(super) fn check_reserved(&mut self, name: Span) {
        if self.text(name) == "WARP_SZ" {
            self.report(messages::declaration(name, "`WARP_SZ` is a constant and cannot be declared"));
        }
    }

    /// `_` is a name of parameters only.
    pub(super) fn check_name(&mut self, name: Span) {
        self.check_reserved(name);
        if self.text(name) == "_" {
            self.report(messages::declaration(
                name,
                "`_` is no name: it stands for a result that is thrown away",
            ));
        }
    }

    /// The type of a declaration; none where that has been reported.
    fn declared_type(&mut self, specifiers: &Specifiers, whole: Span) -> Option<Type> {
        if specifiers.ty.is_none() && !specifiers.damaged {
            self.report(messages::declaration(whole, "this declaration has no type"));
        }
        specifiers.ty
    }

    fn register_type(&mut self, specifiers: &Specifiers, whole: Span) -> Option<Type> {
        let ty = self.declared_type(specifiers, whole)?;
        if ty.is_register_type() {
            return Some(ty);
        }
        self.report(
            messages::declaration(whole, format!("a register cannot have the type `{ty}`")).with_help(
                format!("declare a `.b{}` register: instructions say what its bits mean", ty.bits().max(8)),
            ),
        );
        None
    }

    /// `N` of `name<N>`.
    fn range(&mut self, declarator: &Declarator) -> Option<u32> {
        let node = self.tree.operands[declarator.range? as usize];
        match self.literal(node).map(u32::try_from) {
            Some(Ok(count)) => Some(count),
            _ => {
                self.report(messages::declaration(node.span, "expected the number of names, an integer"));
                Some(0)
            }
        }
    }

    /// A parameter, which is declared in the names of the body too, where there is one.
    pub(super) fn parameter(
        &mut self,
        index: u32,
        kind: FunctionKind,
        in_body: bool,
    ) -> Option<Handle<Variable>> {
        let declaration = self.tree.declarations[index as usize];
        let mut specifiers = self.specifiers(declaration.specifiers);
        if kind != FunctionKind::Entry {
            self.refuse_late_align(&specifiers);
        }
        self.require_space(&mut specifiers, declaration.span, StateSpace::Param);
        let declarator = self.tree.declarators[declaration.declarators.first as usize];
        self.check_reserved(declarator.name);
        let (handle, count) =
            self.declared_variable(&specifiers, &declarator, declaration.span, Place::Parameter)?;
        if declarator.initializer.is_some() {
            self.report(messages::declaration(declarator.span, "a parameter has no initial value"));
        }
        let (ty, elements) = (self.variable(handle).ty, self.variable(handle).elements);
        let text = self.text(declarator.name);
        if !in_body || text == "_" {
            return Some(handle);
        }
        if specifiers.space == Some(StateSpace::Reg) {
            let range = declarator.range.is_some().then_some(count);
            self.declare_registers(declarator.name, range, ty, elements);
        } else {
            let declared = self.names.declare(text, declarator.name, Entity::Variable(handle));
            self.check_declared(declared, declarator.name, "parameter");
        }
        Some(handle)
    }

    /// Makes the variable of a declarator; `name<N>` makes several, with consecutive handles.
    fn declared_variable(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        whole: Span,
        place: Place,
    ) -> Option<(Handle<Variable>, u32)> {
        let space = specifiers.space?;
        let ty = self.declared_type(specifiers, whole)?;
        if place != Place::Parameter {
            self.check_name(declarator.name);
        }
        if space != StateSpace::Reg && !ty.is_register_type() && ty.kind() != TypeKind::Opaque {
            self.report(
                messages::declaration(whole, format!("a variable cannot have the type `{ty}`")).with_help(
                    format!("declare it as `.b{}`: instructions say what its bits mean", ty.bits().max(8)),
                ),
            );
        }
        let dimensions = self.dimensions(declarator);
        let range = self.range(declarator);
        let variable = Variable {
            name: self.intern(declarator.name),
            index: range,
            space,
            linkage: specifiers.linkage,
            ty,
            elements: specifiers.elements,
            dimensions,
            align: specifiers.align,
            pointer: specifiers.pointer,
            attributes: specifiers.attributes.clone(),
            initializer: None,
            function: if place == Place::Module { None } else { self.function },
            is_parameter: place == Place::Parameter,
            span: declarator.name,
            declaration: whole,
        };
        self.push_variables(variable, range)
    }

    fn push_variables(&mut self, variable: Variable, range: Option<u32>) -> Option<(Handle<Variable>, u32)> {
        /// Nobody declares more parametrised variables than this; registers are another thing.
        const MOST_VARIABLES: u32 = 1 << 16;
        let Some(count) = range else { return Some((self.module.variables.push(variable), 1)) };
        if count > MOST_VARIABLES {
            self.report(messages::declaration(
                variable.span,
                format!("more than {MOST_VARIABLES} variables at once"),
            ));
            return None;
        }
        let base = self.module.name(variable.name).to_owned();
        let mut first = None;
        for number in 0..count {
            // A module-level name is found by its whole spelling.
            let name = self.module.symbols.intern(&format!("{base}{number}"));
            let handle =
                self.module.variables.push(Variable { name, index: Some(number), ..variable.clone() });
            first = first.or(Some(handle));
        }
        Some((first?, count))
    }

    fn dimensions(&mut self, declarator: &Declarator) -> Vec<Option<u64>> {
        let tree = self.tree;
        let nodes = &tree.operands[declarator.dimensions.range()];
        nodes.iter().map(|bracket| self.dimension(*bracket)).collect()
    }

    fn dimension(&mut self, bracket: Node) -> Option<u64> {
        let size = *self.tree.children(bracket).first()?;
        match self.literal(size).map(u64::try_from) {
            Some(Ok(size)) => Some(size),
            _ => {
                self.report(messages::declaration(
                    size.span,
                    "expected the size of the array, an integer constant",
                ));
                Some(1)
            }
        }
    }

    fn initializer(&mut self, node: Node, depth: u32) -> Initializer {
        const MOST_DEPTH: u32 = 64;
        if depth > MOST_DEPTH {
            self.report(messages::declaration(node.span, "this initialiser nests too deeply"));
            return Initializer::Unknown;
        }
        let tree = self.tree;
        match node.kind {
            OperandKind::Vector => Initializer::List(
                tree.children(node).iter().map(|child| self.initializer(*child, depth + 1)).collect(),
            ),
            OperandKind::Field => self.field(node),
            OperandKind::Apply => self.applied(node, depth),
            OperandKind::Name | OperandKind::Binary(_) | OperandKind::Dotted => self.symbolic(node, depth),
            _ => self.constant_initializer(node),
        }
    }

    fn constant_initializer(&mut self, node: Node) -> Initializer {
        match expression::evaluate(self.tree, self.source, node) {
            Ok(constant) => match constant.operand() {
                Operand::Integer { bits, negative } => Initializer::Integer { bits, negative },
                Operand::Decimal(value) => Initializer::Decimal(value),
                Operand::SingleBits(bits) => Initializer::SingleBits(bits),
                Operand::DoubleBits(bits) => Initializer::DoubleBits(bits),
                Operand::WarpSize => Initializer::Integer { bits: 32, negative: false },
                _ => Initializer::Unknown,
            },
            Err(trouble) => {
                self.report(messages::trouble(&trouble));
                Initializer::Unknown
            }
        }
    }

    /// A name or `generic(name)`, with an offset perhaps.
    fn symbolic(&mut self, node: Node, depth: u32) -> Initializer {
        let mut offset = 0_i64;
        let mut rest = node;
        while let OperandKind::Binary(ast::BinaryOperator::Add) = rest.kind {
            let [left, right] = self.tree.children(rest) else { break };
            let Some(value) = self.integer_of(*right) else { break };
            offset = offset.wrapping_add(value);
            rest = *left;
        }
        if rest.kind == OperandKind::Apply {
            let mut inner = self.applied(rest, depth + 1);
            match &mut inner {
                Initializer::Variable { mask: Some(_), .. } | Initializer::Function { mask: Some(_), .. } => {
                    self.report(messages::declaration(node.span, "a mask takes no offset behind it"));
                }
                Initializer::Variable { offset: base, .. } => *base = base.wrapping_add(offset),
                _ => {}
            }
            return inner;
        }
        if rest.kind != OperandKind::Name || self.text(rest.span) == "WARP_SZ" {
            return self.constant_initializer(node);
        }
        let local = self.names.find(self.text(rest.span)).map(Self::entity);
        match local.or_else(|| self.module_name(self.text(rest.span))) {
            Some(Operand::Variable { variable, .. }) => {
                Initializer::Variable { variable, offset, generic: false, mask: None }
            }
            Some(Operand::Function(function)) => {
                if rest.span != node.span {
                    self.report(messages::declaration(
                        node.span,
                        "the address of a function takes no offset",
                    ));
                }
                Initializer::Function { function, generic: false, mask: None }
            }
            _ => {
                self.undeclared(rest.span);
                Initializer::Unknown
            }
        }
    }

    /// `generic(x)` and `0xff00(x)`.
    fn applied(&mut self, node: Node, depth: u32) -> Initializer {
        let [function, argument] = self.tree.children(node) else {
            self.report(messages::declaration(node.span, "expected one argument"));
            return Initializer::Unknown;
        };
        let (function, argument) = (*function, *argument);
        let mut inner = self.initializer(argument, depth + 1);
        let new_mask = match function.kind {
            OperandKind::Integer => match expression::integer(self.text(function.span)) {
                Constant::Integer { bits, .. } => Some(bits),
                _ => None,
            },
            _ => None,
        };
        if new_mask.is_none() && self.text(function.span) != "generic" {
            self.report(
                messages::declaration(
                    function.span,
                    format!("`{}` is no operator", self.text(function.span)),
                )
                .with_help("an address may be wrapped in `generic( )` or in a mask such as `0xff( )`"),
            );
            return Initializer::Unknown;
        }
        if new_mask.is_none() && argument.kind != OperandKind::Name {
            self.report(
                messages::declaration(argument.span, "expected a name alone within `generic( )`")
                    .with_help("an offset stands behind it, as in `generic(x)+4`"),
            );
        }
        match &mut inner {
            Initializer::Variable { generic, mask, .. } | Initializer::Function { generic, mask, .. } => {
                match new_mask {
                    Some(bits) => *mask = Some(bits),
                    None => *generic = true,
                }
                inner
            }
            Initializer::Integer { bits, .. } if new_mask.is_some() => {
                let mask = new_mask.unwrap_or(u64::MAX);
                let bits = (*bits & mask).checked_shr(mask.trailing_zeros()).unwrap_or(0);
                Initializer::Integer { bits, negative: false }
            }
            Initializer::Unknown => Initializer::Unknown,
            _ => {
                self.report(messages::declaration(
                    argument.span,
                    "expected the name of a variable or function",
                ));
                Initializer::Unknown
            }
        }
    }

    fn field(&mut self, node: Node) -> Initializer {
        let [name, value] = self.tree.children(node) else { return Initializer::Unknown };
        let (name, value) = (*name, *value);
        let symbol = self.intern(name.span);
        match value.kind {
            OperandKind::Name => Initializer::Field(symbol, self.intern(value.span)),
            _ => match self.integer_of(value) {
                Some(number) => Initializer::NumberField(symbol, number),
                None if value.kind == OperandKind::Float => {
                    let number: f64 = self.text(value.span).parse().unwrap_or(0.0);
                    Initializer::NumberField(symbol, number as i64)
                }
                None => {
                    self.report(messages::declaration(value.span, "expected a name or an integer"));
                    Initializer::Unknown
                }
            },
        }
    }

    /// The handle a function will get.
    pub(super) fn next_function(&self) -> Handle<Function> {
        Handle::new(self.module.functions.len() as u32)
    }
}

fn behind_the_type(span: Span, text: &str) -> Diagnostic {
    messages::declaration(span, format!("`{text}` stands behind the type"))
        .with_help("the order is state space, `.align`, vector, type, name")
}

/// Whether a module may have both declarations of a name. What exactly has to agree is the verifier's business.
fn may_repeat([earlier, later]: [Option<Linkage>; 2]) -> bool {
    matches!(earlier, Some(Linkage::Extern | Linkage::Common | Linkage::Weak))
        || matches!(later, Some(Linkage::Extern | Linkage::Common))
}
