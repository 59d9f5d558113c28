//! Declarations: variables, parameters, registers.

use super::expression::{self, Constant};
use super::members::Members;
use super::names::Entity;
use super::problem::Problem;
use super::specifiers::Specifiers;
use super::{Context, messages};
use crate::arena::Handle;
use crate::ir::{Definition, Function, FunctionKind, Item, Linkage, Member, Statement, Variable};
use crate::space::StateSpace;
use crate::types::{Type, TypeKind};
use ptx_syntax::ast::{self, Declarator, Operand as Node, OperandKind};
use ptx_syntax::{Applicability, Edit, Located, Span};

/// Where a declaration is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Module,
    Local,
    Parameter,
}

/// The variables of a declarator.
struct Declared {
    /// The first; the others follow it.
    first: Handle<Variable>,
    /// For `name<N>`, the `N` and the numbers of the variables.
    group: Option<(u32, Vec<u32>)>,
}

impl Declared {
    fn handles(&self) -> impl Iterator<Item = Handle<Variable>> + use<> {
        let (first, count) =
            (self.first.index(), self.group.as_ref().map_or(1, |(_, numbers)| numbers.len()));
        (first..first + count).map(|index| Handle::new(index as u32))
    }
}

impl Context<'_, '_> {
    /// Sizes are numbers as they are: ptxas takes no expression there.
    pub(super) fn literal(&self, node: Node) -> Option<i64> {
        matches!(node.kind, OperandKind::Integer | OperandKind::Name).then(|| self.integer_of(node)).flatten()
    }

    pub(super) fn integer_of(&self, node: Node) -> Option<i64> {
        match expression::evaluate(self.tree, self.source, node, self.room) {
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
            let Some(declared) =
                self.declared_variable(&specifiers, declarator, declaration.span, Place::Module)
            else {
                continue;
            };
            let is_named = declarator.range.is_none() || !ends_with_digit(self.text(declarator.name));
            for (step, handle) in declared.handles().enumerate() {
                if is_named {
                    self.define_variable(handle, declarator.name);
                }
                if step == 0 {
                    self.module.items.push(Item::Variable(handle));
                }
            }
            self.initialize(&declared, declarator);
        }
    }

    fn define_variable(&mut self, handle: Handle<Variable>, name: Span) {
        let symbol = self.variable(handle).name;
        match self.define(symbol, Definition::Variable(handle)) {
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
                self.define(symbol, Definition::Function(earlier));
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
            self.bad_declaration(
                messages::fault(span, "`.align` is after the type")
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
        self.bad_declaration(
            messages::fault(whole, what).with_help(format!("begin it with `{usual}`")).with_fix(
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
            let Some(declared) =
                self.declared_variable(&specifiers, declarator, declaration.span, Place::Local)
            else {
                continue;
            };
            let handle = declared.first;
            self.body.statements.push(Statement::Variable(handle));
            let (text, name) = (self.text(declarator.name), declarator.name);
            let known = match &declared.group {
                Some((count, numbers)) => {
                    self.names.declare_variables(text, name, *count, handle, numbers.clone())
                }
                None => self.names.declare(text, name, Entity::Variable(handle)),
            };
            self.check_declared(known, name, "variable");
            self.initialize(&declared, declarator);
        }
    }

    /// The initial value of variables that are declared by now, since it may be their own address.
    fn initialize(&mut self, declared: &Declared, declarator: &Declarator) {
        let Some(index) = declarator.initializer else { return };
        let value = self.initializer(self.tree.operands[index as usize], 0);
        // A table is not copied where there is one variable.
        for handle in declared.handles().skip(1) {
            self.module.variables[handle].initializer = Some(value.clone());
        }
        self.module.variables[declared.first].initializer = Some(value);
    }

    fn local_registers(&mut self, specifiers: &Specifiers, declarator: &Declarator, whole: Span) {
        let Some(ty) = self.register_type(specifiers, whole) else { return };
        if let Some(linkage) = specifiers.linkage {
            let linkage = linkage.as_str();
            self.bad_declaration(messages::fault(whole, format!("a register cannot be `{linkage}`")));
        }
        if let Some(align) = specifiers.align.filter(|align| !align.is_power_of_two()) {
            self.report(Located { span: declarator.name, what: Problem::BadAlignment(align) });
        }
        if let Some(&(attribute, _)) = specifiers.attributes.first() {
            let what = format!("a register cannot be `{}`", self.module.name(attribute));
            self.bad_declaration(messages::fault(whole, what));
        }
        self.check_name(declarator.name);
        if declarator.initializer.is_some() || declarator.dimensions.count > 0 {
            self.bad_declaration(messages::fault(
                declarator.span,
                "a register has no dimensions and no initial value",
            ));
        }
        let range = self.range(declarator);
        let group = self.declare_registers(declarator.name, range, ty, specifiers.elements);
        self.body.statements.push(Statement::Registers(group));
    }

    /// `WARP_SZ` is a number, whatever is around it.
    pub(super) fn check_reserved(&mut self, name: Span) {
        if self.text(name) == "WARP_SZ" {
            self.bad_declaration(messages::fault(name, "`WARP_SZ` is a constant and cannot be declared"));
        }
    }

    /// `_` is a name of parameters only.
    pub(super) fn check_name(&mut self, name: Span) {
        self.check_reserved(name);
        if self.text(name) == "_" {
            self.bad_declaration(messages::fault(
                name,
                "`_` is no name: it stands for a result that is thrown away",
            ));
        }
    }

    /// The type of a declaration; none where that has been reported.
    fn declared_type(&mut self, specifiers: &Specifiers, whole: Span) -> Option<Type> {
        if specifiers.ty.is_none() && !specifiers.damaged {
            self.bad_declaration(messages::fault(whole, "this declaration has no type"));
        }
        specifiers.ty
    }

    fn register_type(&mut self, specifiers: &Specifiers, whole: Span) -> Option<Type> {
        let ty = self.declared_type(specifiers, whole)?;
        if ty.is_register_type() {
            return Some(ty);
        }
        self.bad_declaration(
            messages::fault(whole, format!("a register cannot have the type `{ty}`")).with_help(format!(
                "declare a `.b{}` register: instructions say what its bits mean",
                ty.bits().max(8)
            )),
        );
        None
    }

    /// `N` of `name<N>`.
    fn range(&mut self, declarator: &Declarator) -> Option<u32> {
        let node = self.tree.operands[declarator.range? as usize];
        match self.literal(node).map(u32::try_from) {
            Some(Ok(count)) => Some(count),
            _ => {
                self.bad_declaration(messages::fault(node.span, "expected the number of names, an integer"));
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
        let declared =
            self.declared_variable(&specifiers, &declarator, declaration.span, Place::Parameter)?;
        let handle = declared.first;
        if declarator.initializer.is_some() {
            self.bad_declaration(messages::fault(declarator.span, "a parameter has no initial value"));
        }
        let (ty, elements) = (self.variable(handle).ty, self.variable(handle).elements);
        let text = self.text(declarator.name);
        if !in_body || text == "_" {
            return Some(handle);
        }
        if specifiers.space == Some(StateSpace::Reg) {
            let range = declared.group.map(|(count, _)| count);
            self.declare_registers(declarator.name, range, ty, elements);
        } else {
            let declared = self.names.declare(text, declarator.name, Entity::Variable(handle));
            self.check_declared(declared, declarator.name, "parameter");
        }
        Some(handle)
    }

    /// Makes the variables of a declarator.
    fn declared_variable(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        whole: Span,
        place: Place,
    ) -> Option<Declared> {
        let space = specifiers.space?;
        let ty = self.declared_type(specifiers, whole)?;
        if place != Place::Parameter {
            self.check_name(declarator.name);
        }
        let in_register = space == StateSpace::Reg && place != Place::Parameter;
        if !in_register && !ty.is_register_type() && ty.kind() != TypeKind::Opaque {
            self.bad_declaration(
                messages::fault(whole, format!("a variable cannot have the type `{ty}`")).with_help(format!(
                    "declare it as `.b{}`: instructions say what its bits mean",
                    ty.bits().max(8)
                )),
            );
        }
        let dimensions = self.dimensions(declarator);
        let range = self.range(declarator);
        let variable = Variable {
            name: self.intern(declarator.name),
            member: None,
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
        self.push_variables(variable, range, place)
    }

    fn push_variables(&mut self, variable: Variable, range: Option<u32>, place: Place) -> Option<Declared> {
        let Some(count) = range else {
            return Some(Declared { first: self.module.variables.push(variable), group: None });
        };
        let base = self.text(variable.span);
        let members = match place {
            Place::Module => self.members.get_or_insert_with(|| Members::of(self.source)),
            Place::Local | Place::Parameter => {
                let extent = self.extent.text(self.source);
                self.local_members.get_or_insert_with(|| Members::of_function(extent))
            }
        };
        let Some(numbers) = members.take(base, count) else {
            let owner = if place == Place::Module { "module" } else { "function" };
            let what = format!(
                "the declarations `name<N>` of this {owner} have more variables that are named than can be kept"
            );
            self.bad_declaration(messages::fault(variable.span, what));
            return None;
        };
        let mut first = None;
        for &number in &numbers {
            // A module-level name is found by its whole spelling.
            let name = self.module.symbols.intern(&format!("{base}{number}"));
            let member = Some(Member { number, count });
            let handle = self.module.variables.push(Variable { name, member, ..variable.clone() });
            first = first.or(Some(handle));
        }
        Some(Declared { first: first?, group: Some((count, numbers)) })
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
                self.bad_declaration(messages::fault(
                    size.span,
                    "expected the size of the array, an integer constant",
                ));
                Some(1)
            }
        }
    }

    /// The handle a function will get.
    pub(super) fn next_function(&self) -> Handle<Function> {
        Handle::new(self.module.functions.len() as u32)
    }
}

/// Whether `name<N>` declares names that nobody can write: all digits at the end of a name are its number.
fn ends_with_digit(name: &str) -> bool {
    name.ends_with(|last: char| last.is_ascii_digit())
}

/// Whether a module may have both declarations of a name. What exactly has to agree is the verifier's business.
fn may_repeat([earlier, later]: [Option<Linkage>; 2]) -> bool {
    matches!(earlier, Some(Linkage::Extern | Linkage::Common | Linkage::Weak))
        || matches!(later, Some(Linkage::Extern | Linkage::Common))
}
