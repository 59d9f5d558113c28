//! What the types of arguments say about the parameters of templates.

use ptx_syntax::cuda::body::{ArrayLength, Expression, ExpressionKind, Function, TemplateArgument, TypeName};

use super::types::{Given, Ty};
use super::value::{Place, Value};
use super::{Binding, Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    /// What an argument of the template of a type says about the parameters of a function's template.
    fn deduce_argument(&mut self, function: &Function<'s>, parameter: &TemplateArgument<'s>, known: &Given) {
        let name = match parameter {
            // All that is left, where the structure has a pack there.
            TemplateArgument::Type(TypeName::Expand(of)) if matches!(known, Given::Pack(_)) => match &**of {
                TypeName::Named(name, given) if given.is_empty() => name,
                _ => return,
            },
            TemplateArgument::Value(Expression { kind: ExpressionKind::Expand(of), .. })
                if matches!(known, Given::Pack(_)) =>
            {
                match &of.kind {
                    ExpressionKind::Name(name, given) if given.is_empty() => name,
                    _ => return,
                }
            }
            _ if matches!(known, Given::Pack(_)) => return,
            TemplateArgument::Type(TypeName::Named(name, given)) if given.is_empty() => name,
            TemplateArgument::Value(Expression { kind: ExpressionKind::Name(name, given), .. })
                if given.is_empty() =>
            {
                name
            }
            _ => return,
        };
        let own = function.template.iter().map(|each| each.name).find(|each| each == name);
        if let Some(name) = own.filter(|name| self.binding(name).is_none()) {
            self.names.push((name, Binding::of(known)));
        }
    }

    /// What the type of an argument says about the parameters of a template.
    pub(super) fn deduce(
        &mut self,
        function: &Function<'s>,
        parameter: &TypeName<'s>,
        argument: &Ty,
    ) -> Result<(), Unclear> {
        self.deeper()?;
        match (parameter, argument) {
            (TypeName::Named("index_sequence" | "integer_sequence", given), Ty::Sequence(all)) => {
                self.deduce_sequence(function, given, all);
            }
            (TypeName::Named(name, given), Ty::Structure(members))
                if let Some(parameters) = self.program.templates_of_aliases.get(name)
                    && let Some(TypeName::Named(aliased, arguments)) = self.program.aliases.get(name)
                    && *aliased == members.name =>
            {
                // What stands where the other name has its parameters.
                for (argument, known) in arguments.iter().zip(&members.given) {
                    let of = match argument {
                        TemplateArgument::Type(TypeName::Named(of, _)) => of,
                        TemplateArgument::Value(Expression { kind: ExpressionKind::Name(of, _), .. }) => of,
                        _ => continue,
                    };
                    let at = parameters.iter().position(|parameter| parameter.name == *of);
                    if let Some(own) = at.and_then(|at| given.get(at)) {
                        self.deduce_argument(function, own, known);
                    }
                }
            }
            (TypeName::Named(name, given), Ty::Structure(members)) if !given.is_empty() => {
                let structure = self.program.structure(members.structure);
                let own = function.template.iter().find(|each| each.is_type && each.name == *name);
                let of_template = own.filter(|own| self.binding(own.name).is_none()).map(|own| own.name);
                if let Some(name) = of_template.filter(|_| structure.specialized.is_none()) {
                    self.names.push((name, Binding::Type(Ty::Template(members.structure))));
                    for (parameter, known) in given.iter().zip(&members.given) {
                        self.deduce_argument(function, parameter, known);
                    }
                }
                // Those of a specialisation are others than those of its template.
                let is_same = structure.name == *name && structure.specialized.is_none();
                // An object of another structure may be one of a base.
                if own.is_none() && structure.name != *name {
                    for base in &members.bases {
                        self.deduce(function, parameter, &Ty::Structure(std::rc::Rc::clone(base)))?;
                    }
                }
                for (parameter, known) in given.iter().zip(&members.given).filter(|_| is_same) {
                    self.deduce_argument(function, parameter, known);
                }
            }
            (TypeName::Named(name, _), ty) => {
                let is_own = function.template.iter().any(|each| each.is_type && each.name == *name);
                if is_own && self.binding(name).is_none() {
                    let name = function.template.iter().map(|each| each.name).find(|each| each == name);
                    self.names.push((name.ok_or(Unclear)?, Binding::Type(ty.clone())));
                }
            }
            (TypeName::Reference(of), ty) => self.deduce(function, of, ty)?,
            (TypeName::Volatile(of), ty) => self.deduce(function, of, ty.plain())?,
            (TypeName::Pointer(of), Ty::Pointer(to, _)) => self.deduce(function, of, to)?,
            (TypeName::Array(of, ArrayLength(length)), Ty::Array(to, count)) => {
                self.deduce(function, of, to)?;
                if let Some(ExpressionKind::Name(name, _)) = length.as_ref().map(|length| &length.kind) {
                    let own = function.template.iter().map(|each| each.name).find(|each| each == name);
                    if let Some(name) = own.filter(|name| self.binding(name).is_none()) {
                        let count = Value::constant(*count, Ty::SIZE);
                        self.names.push((name, Binding::Place(Place::Fixed(count))));
                    }
                }
            }
            _ => {}
        }
        self.shallower();
        Ok(())
    }
}
