//! Specialisations of templates.

use std::rc::Rc;

use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, FloatKind, Function, StructureId, TemplateArgument, TemplateParameter,
    TypeName,
};

use super::types::{Given, Ty};
use super::{Binding, Lowering, Unclear};

/// What the parameters of a specialisation stand for, as far as it is known.
type Bound<'s> = Vec<(&'s str, Given)>;

impl<'a, 's> Lowering<'a, 's> {
    /// The structure that the arguments of a template choose, and what its own parameters stand for.
    pub(super) fn specialized(
        &mut self,
        id: StructureId,
        given: Vec<Given>,
    ) -> Result<(StructureId, Vec<Given>), Unclear> {
        let program = self.program;
        let structure = program.structure(id);
        let all = program.specializations(structure.outer, structure.name);
        let mut found: Vec<(StructureId, Vec<Given>)> = Vec::new();
        for each in all {
            let own = program.structure(*each);
            let patterns = own.specialized.as_ref().ok_or(Unclear)?;
            let Some(bound) = self.fits(&own.template, patterns, &given)? else { continue };
            let of = |parameter: &TemplateParameter<'s>| {
                let known = bound.iter().find(|(name, _)| *name == parameter.name);
                known.map(|(_, given)| given.clone()).ok_or(Unclear)
            };
            let own_given = own.template.iter().map(of).collect::<Result<Vec<_>, _>>()?;
            found.push((*each, own_given));
        }
        // The one without parameters is for nothing else.
        if found.len() > 1 {
            found.retain(|(_, given)| given.is_empty());
            if found.len() != 1 {
                return Err(Unclear);
            }
        }
        let (chosen, own) = found.pop().unwrap_or((id, given));
        if program.structure(chosen).is_known { Ok((chosen, own)) } else { Err(Unclear) }
    }

    /// What the parameters of a specialisation stand for where its patterns fit what is given.
    fn fits(
        &mut self,
        parameters: &[TemplateParameter<'s>],
        patterns: &[TemplateArgument<'s>],
        given: &[Given],
    ) -> Result<Option<Bound<'s>>, Unclear> {
        // What a pack stands for is spread.
        let mut flat: Vec<&Given> = Vec::new();
        for each in given {
            match each {
                Given::Pack(all) => flat.extend(all),
                other => flat.push(other),
            }
        }
        let mut bound = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            let pack = match pattern {
                TemplateArgument::Type(TypeName::Expand(of)) => match &**of {
                    TypeName::Named(name, _) => Some(*name),
                    _ => return Err(Unclear),
                },
                TemplateArgument::Value(value) => match &value.kind {
                    ExpressionKind::Expand(of) => match of.kind {
                        ExpressionKind::Name(name, _) => Some(name),
                        _ => return Err(Unclear),
                    },
                    _ => None,
                },
                TemplateArgument::Type(_) => None,
            };
            if let Some(name) = pack {
                if index + 1 != patterns.len() {
                    return Err(Unclear);
                }
                let rest = flat.get(index..).unwrap_or_default();
                bound.push((name, Given::Pack(rest.iter().map(|each| (*each).clone()).collect())));
                return Ok(Some(bound));
            }
            let Some(given) = flat.get(index) else { return Ok(None) };
            self.deeper()?;
            let is_fit = self.fits_one(parameters, pattern, given, &mut bound)?;
            self.shallower();
            if !is_fit {
                return Ok(None);
            }
        }
        Ok((patterns.len() == flat.len()).then_some(bound))
    }

    fn fits_one(
        &mut self,
        parameters: &[TemplateParameter<'s>],
        pattern: &TemplateArgument<'s>,
        given: &Given,
        bound: &mut Bound<'s>,
    ) -> Result<bool, Unclear> {
        let name = match pattern {
            TemplateArgument::Type(TypeName::Named(name, of)) if of.is_empty() => Some(*name),
            TemplateArgument::Value(value) => match &value.kind {
                ExpressionKind::Name(name, of) if of.is_empty() => Some(*name),
                _ => None,
            },
            TemplateArgument::Type(_) => None,
        };
        if let Some(parameter) =
            parameters.iter().find(|each| Some(each.name) == name && !each.name.is_empty())
        {
            if let Some((_, known)) = bound.iter().find(|(name, _)| *name == parameter.name) {
                return Ok(Self::is_same(known, given));
            }
            bound.push((parameter.name, given.clone()));
            return Ok(true);
        }
        match (pattern, given) {
            (TemplateArgument::Type(ty), Given::Type(given)) => self.fits_type(parameters, ty, given, bound),
            (TemplateArgument::Value(value), Given::Type(given)) => match &value.kind {
                ExpressionKind::Name(name, of) => {
                    self.fits_type(parameters, &TypeName::Named(name, of.clone()), given, bound)
                }
                _ => Err(Unclear),
            },
            // `Role::Producer` reads as a type.
            (number_or_type, Given::Number(number, ty)) => {
                let own = self.number_argument(number_or_type)?;
                let own = self.converted(own, ty)?;
                Ok(own.number().ok_or(Unclear)? == *number)
            }
            _ => Err(Unclear),
        }
    }

    fn fits_type(
        &mut self,
        parameters: &[TemplateParameter<'s>],
        pattern: &TypeName<'s>,
        given: &Ty,
        bound: &mut Bound<'s>,
    ) -> Result<bool, Unclear> {
        self.deeper()?;
        let is_fit = match (pattern, given) {
            (TypeName::Named(name, of), _)
                if of.is_empty() && parameters.iter().any(|each| each.name == *name) =>
            {
                let pattern = TemplateArgument::Type(pattern.clone());
                self.fits_one(parameters, &pattern, &Given::Type(given.clone()), bound)
            }
            (TypeName::Pointer(of), Ty::Pointer(to, _)) => self.fits_type(parameters, of, to, bound),
            (TypeName::Volatile(of), Ty::Volatile(to)) => self.fits_type(parameters, of, to, bound),
            (TypeName::Named(name, patterns), Ty::Structure(members)) if !patterns.is_empty() => {
                let structure = self.program.structure(members.structure);
                if structure.name != *name {
                    Ok(false)
                } else if structure.specialized.is_some() {
                    Err(Unclear)
                } else {
                    let found = self.fits(parameters, patterns, &Rc::clone(members).given)?;
                    found.map_or(Ok(false), |found| {
                        bound.extend(found);
                        Ok(true)
                    })
                }
            }
            _ => {
                let own = self.ty(pattern)?;
                Ok(Self::is_same(&Given::Type(own), &Given::Type(given.clone())))
            }
        };
        self.shallower();
        is_fit
    }

    /// What arguments of a template are where no parameters tell: types as far as they can be, else numbers.
    pub(super) fn types_or_numbers(
        &mut self,
        template: &[TemplateArgument<'s>],
    ) -> Result<Vec<Given>, Unclear> {
        let mut given = Vec::new();
        for argument in template {
            let mark = self.mark();
            let found = self.template_argument(argument, true);
            if found.is_err() {
                self.back_to(mark);
            }
            given.push(found.or_else(|_| self.template_argument(argument, false))?.given()?);
        }
        Ok(given)
    }

    /// Whether two arguments are the same.
    fn is_same(one: &Given, other: &Given) -> bool {
        match (one, other) {
            (Given::Type(a), Given::Type(b)) => a == b,
            (Given::Number(a, _), Given::Number(b, _)) => a == b,
            (Given::Object(a, _), Given::Object(b, _)) => a == b,
            (Given::Pack(a), Given::Pack(b)) => a == b,
            _ => false,
        }
    }

    /// The functions that a call may mean: a specialisation is meant where the arguments of its template are given.
    pub(super) fn without_specializations(
        &mut self,
        all: Vec<&'a Function<'s>>,
        template: &[TemplateArgument<'s>],
        arguments: &[Expression<'s>],
    ) -> Result<Vec<&'a Function<'s>>, Unclear> {
        if all.iter().all(|each| each.specialized.is_none()) {
            return Ok(all);
        }
        let primary: Vec<&'a Function<'s>> =
            all.iter().filter(|each| each.specialized.is_none()).copied().collect();
        let specialized = all.iter().filter(|each| each.specialized.is_some());
        let given = match primary.as_slice() {
            // What is deduced is that of the parameters.
            [_] | [] if template.is_empty() => {
                let specialized: Vec<&'a Function<'s>> = specialized.copied().collect();
                let found = self.taking_types(&specialized, arguments)?;
                return match found.as_slice() {
                    [] if !primary.is_empty() => Ok(primary),
                    [_] => Ok(found),
                    _ => Err(Unclear),
                };
            }
            [first] if template.len() < first.template.len() => return Err(Unclear),
            [first] => {
                let given = self.first_bindings(&first.template, template)?;
                given.iter().map(|(_, binding)| binding.given()).collect::<Result<Vec<_>, _>>()?
            }
            // It is declared and has no body.
            [] => self.types_or_numbers(template)?,
            _ => return Err(Unclear),
        };
        let mut found = Vec::new();
        for each in specialized {
            let patterns = each.specialized.as_ref().ok_or(Unclear)?;
            if self.fits(&[], patterns, &given)?.is_some() {
                found.push(*each);
            }
        }
        match found.as_slice() {
            [] if !primary.is_empty() => Ok(primary),
            [_] => Ok(found),
            _ => Err(Unclear),
        }
    }

    /// `is_same_v<A, B>` and its kin.
    pub(super) fn of_template(
        &mut self,
        name: &str,
        given: &[TemplateArgument<'s>],
    ) -> Result<super::value::Value, Unclear> {
        if let Some((parameters, value)) = self.program.templates_of_constants.get(name) {
            let bindings = self.template_bindings(parameters, given)?;
            let first_name = self.names.len();
            self.frames.push(super::Frame { first_name, ..super::Frame::default() });
            self.names.extend(bindings);
            let found = self.value(value);
            self.frames.pop();
            self.names.truncate(first_name);
            return found.and_then(|found| found.number().map(|_| found).ok_or(Unclear));
        }
        if let Some(function) = self.value_of_function(name, given)? {
            return Ok(function);
        }
        let plain = name.strip_suffix("_v").unwrap_or(name);
        if let [of] = given
            && let Some(is_such) = self.trait_of_type(plain, of)?
        {
            return Ok(super::value::Value::constant(u64::from(is_such), Ty::BOOL));
        }
        if let [of] = given
            && let Some(number) = self.number_of_type(plain, of)?
        {
            return Ok(super::value::Value::constant(number, Ty::SIZE));
        }
        let [one, other] = given else { return Err(Unclear) };
        if !matches!(plain, "is_same" | "same_as") {
            return Err(Unclear);
        }
        let one = self.template_argument(one, true)?;
        let other = self.template_argument(other, true)?;
        let is_same = Self::is_same(&one.given()?, &other.given()?);
        Ok(super::value::Value::constant(u64::from(is_same), Ty::BOOL))
    }

    /// How long an array is, how many extents it has, or how many elements a tuple has.
    fn number_of_type(&mut self, name: &str, of: &TemplateArgument<'s>) -> Result<Option<u64>, Unclear> {
        if !matches!(name, "extent" | "rank" | "tuple_size") {
            return Ok(None);
        }
        let Binding::Type(ty) = self.template_argument(of, true)? else { return Err(Unclear) };
        Ok(Some(match (name, &ty) {
            ("extent", Ty::Array(_, count)) => *count,
            ("extent", _) => 0,
            ("rank", _) => {
                let (mut of, mut rank) = (&ty, 0);
                while let Ty::Array(inner, _) = of {
                    (of, rank) = (&**inner, rank + 1);
                }
                rank
            }
            (_, Ty::Structure(members)) => match (members.name.as_str(), members.given.get(1)) {
                ("array", Some(Given::Number(count, _))) => *count,
                ("tuple" | "pair", _) => members.all.len() as u64,
                _ => return Err(Unclear),
            },
            _ => return Err(Unclear),
        }))
    }

    /// What the standard library says of a type; none where a name is no such trait, or the type may be another one.
    fn trait_of_type(&mut self, name: &str, of: &TemplateArgument<'s>) -> Result<Option<bool>, Unclear> {
        let is_such: fn(&Ty) -> bool = match name {
            "is_integral" | "integral" => |ty| matches!(ty, Ty::Integer { .. }),
            "is_floating_point" | "floating_point" => |ty| matches!(ty, Ty::Float(32 | 64, FloatKind::Plain)),
            "is_arithmetic" => |ty| matches!(ty, Ty::Integer { .. } | Ty::Float(32 | 64, FloatKind::Plain)),
            "is_pointer" => |ty| matches!(ty, Ty::Pointer(..)),
            "is_void" => |ty| *ty == Ty::Void,
            "is_array" => |ty| matches!(ty, Ty::Array(..)),
            "signed_integral" => |ty| matches!(ty, Ty::Integer { signed: true, .. }),
            "unsigned_integral" => |ty| matches!(ty, Ty::Integer { signed: false, .. }),
            "is_signed" => |ty| matches!(ty, Ty::Integer { signed: true, .. } | Ty::Float(..)),
            "is_unsigned" => |ty| matches!(ty, Ty::Integer { signed: false, .. }),
            _ => return Ok(None),
        };
        let Binding::Type(ty) = self.template_argument(of, true)? else { return Err(Unclear) };
        if matches!(ty, Ty::Any) { Err(Unclear) } else { Ok(Some(is_such(ty.plain()))) }
    }

    /// The type of an expression of which nothing is computed.
    pub(super) fn type_of(&mut self, of: &Expression<'s>) -> Result<Ty, Unclear> {
        let mark = self.mark();
        let before = std::mem::replace(&mut self.is_unevaluated, true);
        let is_elided = self.is_elided;
        let found = self.place(of).map(|place| place.ty().clone());
        self.is_unevaluated = before;
        self.is_elided = is_elided;
        self.back_to(mark);
        found
    }

    /// What a template of the standard library makes of types; none where a name is no such.
    pub(super) fn of_trait(
        &mut self,
        name: &str,
        given: &[TemplateArgument<'s>],
    ) -> Result<Option<Ty>, Unclear> {
        let chosen = match (name.strip_suffix("_t").unwrap_or(name), given) {
            (
                "remove_reference" | "remove_cv" | "remove_cvref" | "remove_const" | "decay" | "add_const"
                | "type_identity" | "underlying_type",
                [of],
            ) => of,
            // Whether it holds has chosen the function.
            ("enable_if", [_]) => return Ok(Some(Ty::Void)),
            ("enable_if", [_, of]) => of,
            ("conditional", [condition, then, otherwise]) => {
                if self.constant_argument(condition)? != 0 {
                    then
                } else {
                    otherwise
                }
            }
            _ => return Ok(None),
        };
        match self.template_argument(chosen, true)? {
            Binding::Type(ty) => Ok(Some(ty)),
            _ => Err(Unclear),
        }
    }

    /// What the first parameters of a template stand for, as many as are given.
    pub(super) fn first_bindings(
        &mut self,
        parameters: &[TemplateParameter<'s>],
        given: &[TemplateArgument<'s>],
    ) -> Result<Vec<(&'s str, Binding)>, Unclear> {
        self.bound(parameters, given, false)
    }
}
