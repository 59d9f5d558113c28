//! Operators of structures, and how their objects begin.

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, Function, TypeName};

use super::scope::CALL;
use super::types::{Given, Members, Space, Ty};
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

/// The name of an operator that gives another type.
const CONVERSION: &str = "operator";

impl<'a, 's> Lowering<'a, 's> {
    /// The constructors of a structure.
    pub(super) fn makers(&self, members: &Members) -> Vec<&'a Function<'s>> {
        let is_maker = |function: &&'a Function<'s>| {
            function.owner == Some(members.structure) && function.name == members.name
        };
        self.program.functions.iter().filter(is_maker).collect()
    }

    /// What a pointer points to, or an object which says so by an operator.
    pub(super) fn target_of(&mut self, pointer: &Expression<'s>, operator: &str) -> Result<Place, Unclear> {
        let mark = self.mark();
        let value = self.value(pointer)?;
        let Ty::Structure(members) = value.ty.clone() else { return self.pointed(value) };
        let object = match (&pointer.kind, value.held) {
            // Of one that stands somewhere the place counts, and what is there is not read.
            (ExpressionKind::Name(..) | ExpressionKind::Member { .. } | ExpressionKind::Index(..), _) => {
                self.back_to(mark);
                self.place(pointer)?
            }
            (_, Held::Place(place)) => (*place).clone(),
            _ => return Err(Unclear),
        };
        let value = self.method(object, &members, operator, &[], &[])?;
        match (operator, self.referred.take()) {
            ("->", Some(place)) => {
                let pointer = self.read(&place)?;
                self.pointed(pointer)
            }
            ("->", None) => self.pointed(value),
            (_, Some(place)) => Ok(place),
            (_, None) => Ok(Place::Fixed(value)),
        }
    }

    /// A call of an object.
    pub(super) fn called_object(
        &mut self,
        object: Place,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let object = match object {
            Place::Fixed(Value { held: Held::Place(place), .. }) => (*place).clone(),
            other => other,
        };
        match object.ty().clone() {
            Ty::Callable(of) => self.called_value(&of, &[], given),
            Ty::Structure(members) => self.method(object, &members, CALL, &[], given),
            Ty::Function => match self.read(&object)?.ty {
                Ty::Callable(of) => self.called_value(&of, &[], given),
                _ => Err(Unclear),
            },
            _ => Err(Unclear),
        }
    }

    /// Whether a name is the one of a member, and of no method.
    pub(super) fn is_member_object(&self, members: &Rc<Members>, name: &str) -> bool {
        members.all.iter().any(|(known, ..)| known == name) && self.methods(members, name).0.is_empty()
    }

    /// What a constructor begins a member or a base with.
    pub(super) fn begun(&mut self, to: &Expression<'s>, from: &Expression<'s>) -> Result<(), Unclear> {
        let ExpressionKind::Name(name, _) = to.kind else { return Err(Unclear) };
        let object = self.frames.last().and_then(|frame| frame.object.clone());
        let Some((Some(object), members)) = object else { return Err(Unclear) };
        // Another constructor does the work.
        if name == members.name {
            return self.constructed(&object, &members, Some(from));
        }
        if let Some(base) = self.base_called(&members, name) {
            let part = self.as_base(object, &members, &base)?;
            return self.constructed(&part, &base, Some(from));
        }
        let place = self.member_itself(object, name)?;
        match place.ty().clone() {
            Ty::Structure(inner) if !self.makers(&inner).is_empty() => {
                let is_list = matches!(from.kind, ExpressionKind::List(None, _));
                if !is_list {
                    let mark = self.mark();
                    match self.value(from) {
                        Ok(value) if value.ty == Ty::Structure(Rc::clone(&inner)) => {
                            return self.write(&place, value);
                        }
                        _ => self.back_to(mark),
                    }
                }
                self.constructed(&place, &inner, Some(from))
            }
            _ => self.initialize(&place, from),
        }
    }

    /// Whether members of a structure that has no constructor begin with what they say.
    pub(super) fn has_values(&self, members: &Members) -> bool {
        let structure = self.program.structure(members.structure);
        self.makers(members).is_empty()
            && !members.is_union
            && structure.members.iter().any(|member| member.value.is_some())
    }

    /// The base that a structure calls so: by its own name, by another one, or by that of a parameter of the template.
    pub(super) fn base_called(&self, members: &Members, name: &str) -> Option<Rc<Members>> {
        let structure = self.program.structure(members.structure);
        let alias = structure.aliases.iter().find(|(known, _)| *known == name).map(|(_, ty)| ty);
        let aliased = match alias {
            Some(TypeName::Named(aliased, _) | TypeName::Scoped(_, aliased, _)) => Some(*aliased),
            _ => None,
        };
        let position = structure.template.iter().position(|each| each.name == name);
        let given = match position.and_then(|index| members.given.get(index)) {
            Some(Given::Type(Ty::Structure(given))) => Some(given),
            _ => None,
        };
        let is_meant = |base: &&Rc<Members>| {
            base.name == aliased.unwrap_or(name) || given.is_some_and(|given| given == *base)
        };
        members.bases.iter().find(is_meant).cloned()
    }

    /// What a method of an object gives as another type; none where there is no such.
    pub(super) fn given_by_object(&mut self, value: &Value, to: &Ty) -> Result<Option<Value>, Unclear> {
        let Ty::Structure(members) = value.ty.clone() else { return Ok(None) };
        let (own, owner) = self.methods(&members, CONVERSION);
        let [only] = own.as_slice() else { return if own.is_empty() { Ok(None) } else { Err(Unclear) } };
        let Held::Place(place) = &value.held else { return Err(Unclear) };
        let place = self.as_base((**place).clone(), &members, &owner)?;
        let value = self.inlined(&[*only], &[], &[], Some((Some(place), owner)), None)?;
        if matches!(value.ty, Ty::Structure(_)) {
            return Err(Unclear);
        }
        self.converted(value, to).map(Some)
    }

    /// The number that an object is where one is wanted; other values stay what they are.
    pub(super) fn number_of_object(&mut self, value: Value) -> Result<Value, Unclear> {
        if !matches!(value.ty, Ty::Structure(_)) {
            return Ok(value);
        }
        self.given_by_object(&value, &Ty::Any)?.ok_or(Unclear)
    }

    /// Whether an operator is known for one of two operands that is an object.
    pub(super) fn has_operator(&self, operator: &str, operands: [&Value; 2]) -> bool {
        let is_free = |function: &Function<'_>| function.owner.is_none() && function.name == operator;
        let has_own = |value: &&Value| match &value.ty {
            Ty::Structure(members) => !self.methods(members, operator).0.is_empty(),
            _ => false,
        };
        operands.iter().any(has_own) || self.program.functions.iter().any(is_free)
    }

    /// Whether an object gives another type.
    pub(super) fn gives_another(&self, members: &Rc<Members>) -> bool {
        self.program.has_operators && !self.methods(members, CONVERSION).0.is_empty()
    }

    /// An assignment by an operator of the object; none where it is a copy.
    pub(super) fn assigned_object(
        &mut self,
        place: Place,
        members: &Rc<Members>,
        operator: &str,
        from: &Expression<'s>,
    ) -> Result<Option<Value>, Unclear> {
        let name = match operator {
            "" => "=",
            "+" => "+=",
            "-" => "-=",
            "*" => "*=",
            "/" => "/=",
            "%" => "%=",
            "&" => "&=",
            "|" => "|=",
            "^" => "^=",
            "<<" => "<<=",
            ">>" => ">>=",
            _ => return Err(Unclear),
        };
        let has_own = !self.methods(members, name).0.is_empty();
        if name == "=" && !has_own {
            return Ok(None);
        }
        self.method(place, members, name, &[], std::slice::from_ref(from)).map(Some)
    }

    /// An operator of two operands, one of which is an object.
    pub(super) fn operator_of(
        &mut self,
        operator: &str,
        left: &Expression<'s>,
        right: &Expression<'s>,
    ) -> Result<Value, Unclear> {
        let length = self.text.len();
        let place = self.place_or_made(left)?;
        if let Ty::Structure(members) = place.ty().clone()
            && !self.methods(&members, operator).0.is_empty()
        {
            return self.method(place, &members, operator, &[], std::slice::from_ref(right));
        }
        self.take_back(length);
        let is_such = |function: &&'a Function<'s>| function.owner.is_none() && function.name == operator;
        let own: Vec<&'a Function<'s>> = self.program.functions.iter().filter(is_such).collect();
        if own.is_empty() {
            return Err(Unclear);
        }
        self.inlined(&own, &[], &[left.clone(), right.clone()], None, None)
    }

    /// `a[i]` of an object.
    pub(super) fn element_of_object(
        &mut self,
        place: Place,
        members: &Rc<Members>,
        index: &Expression<'s>,
    ) -> Result<Place, Unclear> {
        // Which element of `std::array` is meant, decides when the kernel runs.
        if members.name == "array" && members.all.len() == 1 {
            let name = members.all[0].0.clone();
            let inner = self.member(place, &name)?;
            self.names.push(("$array", super::Binding::Place(inner)));
            let array = Expression::named("$array", index.span);
            let kind = ExpressionKind::Index(Box::new(array), Box::new(index.clone()));
            let found = self.place(&index.with(kind));
            self.names.pop();
            return found;
        }
        // What has no such operator may give a pointer.
        if self.methods(members, "[").0.is_empty() && self.gives_another(members) {
            let value = self.read(&place)?;
            let pointer = self.given_by_object(&value, &Ty::Any)?.ok_or(Unclear)?;
            self.names.push(("$array", super::Binding::Place(Place::Fixed(pointer))));
            let array = Expression::named("$array", index.span);
            let kind = ExpressionKind::Index(Box::new(array), Box::new(index.clone()));
            let found = self.place(&index.with(kind));
            self.names.pop();
            return found;
        }
        let value = self.method(place, members, "[", &[], std::slice::from_ref(index))?;
        Ok(self.referred.take().unwrap_or(Place::Fixed(value)))
    }

    /// `std::get<1>(a)` as the place that it is, of a tuple or a pair; none where it is no such.
    pub(super) fn element_of_tuple(
        &mut self,
        callee: &Expression<'s>,
        given: &[Expression<'s>],
    ) -> Result<Option<Place>, Unclear> {
        let (ExpressionKind::Name("get", template), [of]) = (&callee.kind, given) else { return Ok(None) };
        let ([index], ExpressionKind::Name(..)) = (template.as_slice(), &of.kind) else { return Ok(None) };
        if self.program.functions.iter().any(|function| function.name == "get") {
            return Ok(None);
        }
        let Place::Parts(parts, Ty::Structure(members)) = self.place(of)? else { return Ok(None) };
        if members.is_union || !members.bases.is_empty() {
            return Ok(None);
        }
        let index = usize::try_from(self.constant_argument(index)?).or(Err(Unclear))?;
        Ok(parts.get(index).cloned())
    }

    /// `std::tie(a, b) = c`: each gets one of the members. Says whether it is that.
    pub(super) fn assigned_to_all(&mut self, to: &Expression<'s>, value: &Value) -> Result<bool, Unclear> {
        let ExpressionKind::Call(callee, given) = &to.kind else { return Ok(false) };
        let is_own = self.program.functions.iter().any(|function| function.name == "tie");
        if is_own || !matches!(callee.kind, ExpressionKind::Name("tie", _)) {
            return Ok(false);
        }
        let Held::Place(place) = &value.held else { return Err(Unclear) };
        let parts = self.parts_of_place(place, given.len())?;
        for (each, part) in given.iter().zip(&parts) {
            if matches!(each.kind, ExpressionKind::Name("ignore", _)) {
                continue;
            }
            let (to, value) = (self.place(each)?, self.read(part)?);
            self.write(&to, value)?;
        }
        Ok(true)
    }

    /// Gives an array or a structure in memory the values of a list.
    pub(super) fn fill_memory(&mut self, place: &Place, given: &[Expression<'s>]) -> Result<(), Unclear> {
        let Place::Memory { address, ty } = place else { return Err(Unclear) };
        match ty {
            Ty::Structure(members) if given.len() == members.all.len() => self.filled(place, members, given),
            Ty::Array(of, count) if given.len() as u64 == *count => {
                for (index, each) in given.iter().enumerate() {
                    let index = Value::constant(index as u64, Ty::SIZE);
                    let space = match address.ty {
                        Ty::Pointer(_, space) => space,
                        _ => Space::Generic,
                    };
                    let pointer = Value { ty: Ty::Pointer(Rc::clone(of), space), held: address.held.clone() };
                    let at = self.moved(&pointer, of, index, "+")?;
                    self.initialize(&Place::Memory { address: at, ty: (**of).clone() }, each)?;
                }
                Ok(())
            }
            _ => match given {
                [only] => {
                    let value = self.value(only)?;
                    self.write(place, value)
                }
                _ => Err(Unclear),
            },
        }
    }
}
