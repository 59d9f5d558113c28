//! Which of several functions with one name is called.

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, Function, TemplateArgument, TypeName};

use super::call::{is_not_understood, takes_as_many};
use super::types::{Members, Space, Ty};
use super::{Frame, Lowering, Unclear};

impl<'a, 's> Lowering<'a, 's> {
    /// The one of several functions whose parameters have just the types of what is given.
    pub(super) fn overload(
        &mut self,
        fitting: &[&'a Function<'s>],
        given: &[Expression<'s>],
        owner: Option<&Rc<Members>>,
    ) -> Result<&'a Function<'s>, Unclear> {
        let types = self.types_of(given)?;
        // The parameters of methods see the types of their structure.
        match owner {
            Some(owner) => self.inside(owner, None, |lowering| lowering.taking(fitting, &types)),
            None => self.taking(fitting, &types),
        }
    }

    fn taking(
        &mut self,
        fitting: &[&'a Function<'s>],
        types: &[Option<Ty>],
    ) -> Result<&'a Function<'s>, Unclear> {
        let (mut found, mut near, mut is_near_clear): (Option<&'a Function<'s>>, _, _) = (None, None, true);
        let mut of_template: Vec<&'a Function<'s>> = Vec::new();
        for function in fitting {
            if !function.template.is_empty() {
                if self.takes_deduced(function, types) {
                    of_template.push(function);
                }
                continue;
            }
            let (mut is_same, mut is_near) = (true, true);
            for (parameter, ty) in function.parameters.iter().zip(types) {
                let declared = match &parameter.ty {
                    TypeName::Reference(of) => self.ty(of),
                    ty => self.ty(ty),
                };
                let Some(ty) = ty else {
                    let is_listed = matches!(declared, Ok(Ty::Structure(_) | Ty::Vector(..) | Ty::Array(..)));
                    (is_near, is_same) = (is_near && is_listed, is_same && is_listed);
                    continue;
                };
                let ty = &taken_as(&parameter.ty, ty);
                is_near &= match (&declared, ty) {
                    (Ok(Ty::Integer { .. }), Ty::Integer { .. }) => true,
                    // Any pointer becomes one to nothing that is known.
                    (Ok(Ty::Pointer(of, _)), Ty::Pointer(..)) if **of == Ty::Void => true,
                    (Ok(declared), ty) => declared == ty,
                    (Err(Unclear), _) => false,
                };
                // What is pointed to may be taken for `volatile`.
                is_same &= match (declared, ty) {
                    (Ok(Ty::Pointer(a, _)), Ty::Pointer(b, _)) => a.plain() == b.plain(),
                    (Ok(declared), ty) => declared == *ty,
                    (Err(Unclear), _) => false,
                };
            }
            if is_same {
                match found {
                    None => found = Some(*function),
                    // The one for constant objects does the same.
                    Some(known) if takes_the_same(known, function) && !are_of_namespaces(known, function) => {
                    }
                    Some(_) => return Err(Unclear),
                }
            }
            if is_near {
                let is_same_one = |known: &'a Function<'s>| {
                    takes_the_same(known, function) && !are_of_namespaces(known, function)
                };
                is_near_clear &= near.is_none_or(is_same_one);
                near = near.or(Some(*function));
            }
        }
        // What a template takes as it is comes before what has to become another type.
        if let (None, [only]) = (found, of_template.as_slice()) {
            return Ok(only);
        }
        // Integers become others where only one function takes them.
        found.or(near.filter(|_| is_near_clear)).ok_or(Unclear)
    }

    /// Whether one of the file's functions may be meant where CUDA has one of the same name: `make_float4(float)` is added to that
    /// of four numbers, and `fminf(float2, float2)` to that of two.
    pub(super) fn takes_one_of(
        &mut self,
        own: &[&'a Function<'s>],
        given: &[Expression<'s>],
    ) -> Result<bool, Unclear> {
        let fitting: Vec<&'a Function<'s>> =
            own.iter().filter(|each| takes_as_many(each, given)).copied().collect();
        let takes_vectors = |function: &&'a Function<'s>| {
            let mut types = function.parameters.iter().map(|parameter| match &parameter.ty {
                TypeName::Reference(of) => &**of,
                ty => ty,
            });
            types.any(|ty| matches!(ty, TypeName::Vector(..)))
        };
        if fitting.is_empty() || !fitting.iter().all(takes_vectors) {
            return Ok(!fitting.is_empty() || own.iter().any(|each| is_not_understood(each)));
        }
        // Numbers do not become vectors.
        let types = self.types_of(given)?;
        let takes = |function: &&'a Function<'s>| {
            function.parameters.iter().zip(&types).all(|(parameter, ty)| {
                let declared = match &parameter.ty {
                    TypeName::Reference(of) => &**of,
                    ty => ty,
                };
                !matches!(
                    (declared, ty),
                    (TypeName::Vector(..), Some(Ty::Integer { .. } | Ty::Float(..) | Ty::Pointer(..)))
                )
            })
        };
        Ok(fitting.iter().any(takes))
    }

    /// Those of several functions whose conditions hold, where they have some.
    pub(super) fn enabled(
        &mut self,
        fitting: Vec<&'a Function<'s>>,
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
    ) -> Result<Vec<&'a Function<'s>>, Unclear> {
        // One that takes just these comes before one that takes any number.
        let takes_any =
            |function: &&'a Function<'s>| function.parameters.last().is_some_and(|last| last.is_pack);
        let mut fitting = fitting;
        if fitting.iter().any(takes_any) && !fitting.iter().all(takes_any) {
            fitting.retain(|function| !takes_any(function));
        }
        if fitting.iter().all(|function| function.conditions.is_empty()) {
            return Ok(fitting);
        }
        let types = self.types_of(given)?;
        let mut all = Vec::new();
        for function in fitting {
            let mark = self.mark();
            let is_enabled = self.is_enabled(function, template, &types);
            self.back_to(mark);
            // One of which that is not known may be the one that is meant.
            if is_enabled? {
                all.push(function);
            }
        }
        // The one that asks for something comes before one that takes all.
        if all.len() > 1 && all.iter().filter(|each| !each.conditions.is_empty()).count() == 1 {
            all.retain(|each| !each.conditions.is_empty() || each.template.is_empty());
        }
        Ok(all)
    }

    /// Whether the conditions of a template hold for what it is given.
    fn is_enabled(
        &mut self,
        function: &'a Function<'s>,
        template: &[TemplateArgument<'s>],
        types: &[Option<Ty>],
    ) -> Result<bool, Unclear> {
        if function.conditions.is_empty() {
            return Ok(true);
        }
        let bindings = self.first_bindings(&function.template, template)?;
        self.names.extend(bindings);
        for (parameter, ty) in function.parameters.iter().zip(types) {
            if let Some(ty) = ty {
                self.deduce(function, &parameter.ty, &taken_as(&parameter.ty, ty))?;
            }
        }
        for condition in &function.conditions {
            if self.constant(condition)? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The types of what is given, of arrays their own; none where it is that of the parameter.
    fn types_of(&mut self, given: &[Expression<'s>]) -> Result<Vec<Option<Ty>>, Unclear> {
        let mark = self.mark();
        let mut types = Vec::new();
        for argument in given {
            types.push(match argument.kind {
                ExpressionKind::List(None, _) => None,
                _ => {
                    let value = self.value(argument)?;
                    Some(value.ty)
                }
            });
        }
        self.back_to(mark);
        Ok(types)
    }

    /// Those of some specialisations whose parameters have just the types of what is given.
    pub(super) fn taking_types(
        &mut self,
        all: &[&'a Function<'s>],
        given: &[Expression<'s>],
    ) -> Result<Vec<&'a Function<'s>>, Unclear> {
        let types = self.types_of(given)?.into_iter().collect::<Option<Vec<_>>>().ok_or(Unclear)?;
        if types.contains(&Ty::Any) {
            return Err(Unclear);
        }
        let mut found = Vec::new();
        for each in all {
            let mut takes = true;
            for (parameter, ty) in each.parameters.iter().zip(&types) {
                let declared = match &parameter.ty {
                    TypeName::Reference(of) => self.ty(of)?,
                    ty => self.ty(ty)?,
                };
                takes &= match (&declared, &taken_as(&parameter.ty, ty)) {
                    (Ty::Pointer(a, _), Ty::Pointer(b, _)) => a.plain() == b.plain(),
                    (declared, ty) => declared == ty,
                };
            }
            if takes {
                found.push(*each);
            }
        }
        Ok(found)
    }

    /// Whether the parameters of a template are known where its function gets values of these types, and it takes them as they
    /// are.
    fn takes_deduced(&mut self, function: &'a Function<'s>, types: &[Option<Ty>]) -> bool {
        if function.owner.is_some() {
            return false;
        }
        let mark = self.mark();
        let first_name = self.names.len();
        self.frames.push(Frame { first_name, ..Frame::default() });
        let given = || function.parameters.iter().zip(types);
        let takes = given().all(|(parameter, ty)| match ty {
            Some(ty) => self.deduce(function, &parameter.ty, &taken_as(&parameter.ty, ty)).is_ok(),
            None => true,
        }) && given().all(|(parameter, ty)| {
            let declared = match &parameter.ty {
                TypeName::Reference(of) => self.ty(of),
                ty => self.ty(ty),
            };
            let ty = ty.as_ref().map(|ty| taken_as(&parameter.ty, ty));
            match (declared, ty) {
                (Ok(Ty::Pointer(a, _)), Some(Ty::Pointer(b, _))) => a.plain() == b.plain(),
                (Ok(declared), Some(ty)) => declared == ty,
                _ => false,
            }
        });
        self.back_to(mark);
        takes
    }
}

/// What a parameter takes of an argument: of an array the pointer to its first element, where it is no reference to an array.
fn taken_as(parameter: &TypeName<'_>, ty: &Ty) -> Ty {
    match (parameter, ty) {
        (TypeName::Reference(of), Ty::Array(..)) if matches!(**of, TypeName::Array(..)) => ty.clone(),
        (_, Ty::Array(of, _)) => Ty::Pointer(Rc::clone(of), Space::Generic),
        _ => ty.clone(),
    }
}

/// Whether two functions that take the same can only be of two namespaces: nobody knows which is meant.
fn are_of_namespaces(one: &Function<'_>, other: &Function<'_>) -> bool {
    let refers = |function: &Function<'_>| {
        let mut parameters = function.parameters.iter();
        parameters.any(|each| matches!(each.ty, TypeName::Reference(_) | TypeName::Pointer(_)))
    };
    one.owner.is_none() && other.owner.is_none() && one.span != other.span && !refers(one) && !refers(other)
}

/// Whether two functions have parameters of the same types.
fn takes_the_same(one: &Function<'_>, other: &Function<'_>) -> bool {
    one.parameters.len() == other.parameters.len()
        && one.parameters.iter().zip(&other.parameters).all(|(one, other)| one.ty == other.ty)
}
