//! Expressions as instructions.

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, FloatKind, MEMBER_POINTER, TypeName};

use super::pack::is_pack;
use super::types::{Space, Ty, vector_index};
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    /// A number that is known before the kernel runs.
    pub(super) fn constant(&mut self, expression: &Expression<'s>) -> Result<u64, Unclear> {
        let length = self.text.len();
        let value = self.value(expression)?;
        let value = self.number_of_object(value)?;
        // What needs instructions is none.
        if self.text.len() != length {
            return Err(Unclear);
        }
        value.number().ok_or(Unclear)
    }

    /// An alignment in bytes.
    pub(super) fn alignment(&mut self, expression: &Expression<'s>) -> Result<u64, Unclear> {
        let align = match &expression.kind {
            // That of a type, which looks like a constant.
            ExpressionKind::Name(name, given) if !self.program.constants.contains_key(name) => {
                match self.constant(expression) {
                    Ok(align) => align,
                    Err(_) => self.ty(&TypeName::Named(name, given.clone()))?.layout()?.1,
                }
            }
            _ => self.constant(expression)?,
        };
        // More tells nothing else of the places of what lies there.
        align.is_power_of_two().then_some(align.min(MAX_ALIGN)).ok_or(Unclear)
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expression: &Expression<'s>) -> Result<Value, Unclear> {
        self.deeper()?;
        let before = std::mem::replace(&mut self.span, expression.span);
        let found = self.value_within(expression);
        self.span = before;
        self.shallower();
        found
    }

    fn value_within(&mut self, expression: &Expression<'s>) -> Result<Value, Unclear> {
        Ok(match &expression.kind {
            ExpressionKind::Number { value, bits, signed } => {
                Value::constant(*value, Ty::Integer { bits: *bits, signed: *signed, is_bool: false })
            }
            ExpressionKind::Float(bits) => Value::unknown(Ty::Float(*bits, FloatKind::Plain)),
            ExpressionKind::Bool(value) => Value::constant(u64::from(*value), Ty::BOOL),
            ExpressionKind::Text => Value::unknown(Ty::Any),
            ExpressionKind::Scoped { owner, name, .. } => {
                let named = match owner {
                    TypeName::Named(alias, given) if given.is_empty() => self.program.aliases.get(alias),
                    _ => None,
                };
                if let Some(fills) = super::pipeline::role(named.unwrap_or(owner), name) {
                    return Ok(Value::constant(u64::from(fills), Ty::BOOL));
                }
                if let (TypeName::Named(of, types), "value") = (owner, *name)
                    && (of.starts_with("is_") || matches!(*of, "extent" | "rank" | "tuple_size"))
                    && self.program.structure_in(None, of).is_none()
                {
                    return self.of_template(of, types);
                }
                if let Some(member) = self.member_of(owner, name)? {
                    return self.read(&member);
                }
                return match self.ty(owner)? {
                    // A static method as a value.
                    Ty::Structure(members) if !self.methods(&members, name).0.is_empty() => {
                        self.value_of_member(owner, name).ok_or(Unclear)
                    }
                    Ty::Structure(members) => self.constant_of(&members, name),
                    Ty::Integer { .. } => self.constant_of_enumeration(name),
                    _ => Err(Unclear),
                };
            }
            ExpressionKind::Name(name, given) if !given.is_empty() => return self.of_template(name, given),
            ExpressionKind::Name(..) | ExpressionKind::Index(..) => {
                let place = self.place(expression)?;
                self.read(&place)?
            }
            ExpressionKind::Member { object, name, .. } => {
                if let Some(value) = self.special(object, name) {
                    return value;
                }
                let place = self.place(expression)?;
                self.read(&place)?
            }
            ExpressionKind::Call(callee, given) => {
                let value = self.called(callee, given)?;
                self.referred_value(value)?
            }
            ExpressionKind::Unary(operator, of) => self.unary(operator, of, expression)?,
            ExpressionKind::Postfix(operator, of) => {
                let place = self.place(of)?;
                if let Ty::Structure(members) = place.ty().clone() {
                    // The number that tells it from the other operator.
                    let zero = Expression::zero(expression.span);
                    let value = self.method(place, &members, operator, &[], &[zero]);
                    return self.referred_value(value?);
                }
                if matches!(place.ty(), Ty::Atomic(..)) {
                    let one = Value::constant(1, Ty::INT);
                    return self.operator_of_atomic(&place, &operator[..1], one, true);
                }
                let old = self.read(&place)?;
                let old = self.copied(old)?;
                let operator = if *operator == "++" { "+" } else { "-" };
                let new = self.computed(operator, old.clone(), Value::constant(1, Ty::INT))?;
                self.write(&place, new)?;
                old
            }
            ExpressionKind::Binary(operator, left, right) => self.binary(operator, left, right)?,
            ExpressionKind::Assign("()", to, from) => {
                if !self.refers(to, from)? {
                    self.begun(to, from)?;
                }
                Value::unknown(Ty::Void)
            }
            ExpressionKind::Assign(operator, to, from) => {
                let operator = *operator;
                // A value in braces has the type of what it is assigned to.
                let value = match &from.kind {
                    ExpressionKind::List(None, _) => {
                        let place = self.place(to)?;
                        match place.ty().plain().clone() {
                            // It may be made of its own elements.
                            ty @ Ty::Vector(..) => self.filled_vector(&place, &ty, from)?,
                            _ => self.initialize(&place, from)?,
                        }
                        // Nobody reads it once more.
                        if matches!(place, Place::Memory { .. }) {
                            return Ok(Value::unknown(place.ty().plain().clone()));
                        }
                        return self.read(&place);
                    }
                    _ => self.value(from)?,
                };
                if self.assigned_to_all(to, &value)? {
                    return Ok(Value::unknown(Ty::Void));
                }
                let place = self.place(to)?;
                if let Ty::Structure(members) = place.ty().clone()
                    && let Some(value) = self.assigned_object(place.clone(), &members, operator, from)?
                {
                    return self.referred_value(value);
                }
                if matches!(place.ty(), Ty::Atomic(..)) {
                    return self.operator_of_atomic(&place, operator, value, false);
                }
                let value = match operator {
                    "" => value,
                    operator => {
                        let old = self.read(&place)?;
                        self.computed(operator, old, value)?
                    }
                };
                self.write(&place, value.clone())?;
                value
            }
            ExpressionKind::Choice(condition, then, otherwise) => self.choice(condition, then, otherwise)?,
            ExpressionKind::Cast(to, of) => self.cast(to, of)?,
            ExpressionKind::SizeOfType(ty) => {
                let mark = self.mark();
                let ty = match self.ty(ty) {
                    Ok(ty) => ty,
                    // It reads as a type, and is a member: `sizeof(Storage::data)`.
                    Err(Unclear) => {
                        self.back_to(mark);
                        self.type_of_member(ty, expression.span)?
                    }
                };
                Value::constant(ty.size()?, Ty::SIZE)
            }
            ExpressionKind::SizeOfPack(name) => match self.binding(name) {
                Some(super::Binding::Pack(all)) => Value::constant(all.len() as u64, Ty::SIZE),
                _ => return Err(Unclear),
            },
            ExpressionKind::AlignOfType(ty) => {
                let ty = self.ty(ty)?;
                Value::constant(ty.layout()?.1, Ty::SIZE)
            }
            ExpressionKind::Fold(operator, of, other, is_left) => {
                self.fold(operator, of, other.as_deref(), *is_left)?
            }
            ExpressionKind::SizeOf(of) => {
                // Nothing of it is computed.
                let ty = self.type_of(of)?;
                Value::constant(ty.size()?, Ty::SIZE)
            }
            ExpressionKind::List(Some(ty), parts) if parts.iter().any(is_pack) => {
                let names = self.names.len();
                let parts = self.without_dots(parts)?;
                let kind = ExpressionKind::List(Some(ty.clone()), parts);
                let value = self.value(&expression.with(kind));
                self.names.truncate(names);
                value?
            }
            ExpressionKind::List(Some(ty), parts) => {
                match (self.ty_of_object(ty, expression)?, parts.as_slice()) {
                    (ty, [only]) if ty.register().is_some() => {
                        let value = self.value(only)?;
                        self.converted(value, &ty)?
                    }
                    (ty, []) if matches!(ty, Ty::Integer { .. } | Ty::Pointer(..)) => Value::constant(0, ty),
                    (Ty::Structure(members), _) => {
                        self.may_be_made(&Ty::Structure(Rc::clone(&members)))?;
                        let place = self.made(&Ty::Structure(Rc::clone(&members)))?;
                        self.constructed(&place, &members, Some(expression))?;
                        self.read(&place)?
                    }
                    (ty, _) => {
                        let place = self.made(&ty)?;
                        self.initialize(&place, expression)?;
                        self.read(&place)?
                    }
                }
            }
            ExpressionKind::Lambda(_) => {
                let lambda = self.lambda(expression).ok_or(Unclear)?;
                self.value_of_lambda(&lambda)
            }
            ExpressionKind::List(None, _) | ExpressionKind::Unknown => {
                return Err(Unclear);
            }
            ExpressionKind::New(at, ty, given) => self.placed(at, ty, given)?,
            ExpressionKind::Expand(_) => return Err(Unclear),
        })
    }

    /// A constant of a structure, or of one that it is derived of.
    fn constant_of(&mut self, members: &Rc<super::types::Members>, name: &str) -> Result<Value, Unclear> {
        let program = self.program;
        let structure = program.structure(members.structure);
        if !structure.constants.iter().any(|(known, _)| *known == name) {
            self.deeper()?;
            for base in &members.bases {
                if let Ok(found) = self.constant_of(base, name) {
                    self.shallower();
                    return Ok(found);
                }
            }
            self.shallower();
            return self.constant_of_enumeration(name);
        }
        self.inside(members, None, |lowering| match lowering.binding(name) {
            Some(super::Binding::Place(Place::Fixed(value))) => Ok(value.clone()),
            // An array of numbers.
            Some(super::Binding::Place(place @ Place::Parts(_, ty))) => {
                Ok(Value { ty: ty.clone(), held: Held::Place(Rc::new(place.clone())) })
            }
            _ => Err(Unclear),
        })
    }

    /// Does something with the names that are known in a structure, and of an object of it where there is one.
    pub(super) fn inside<R>(
        &mut self,
        members: &Rc<super::types::Members>,
        object: Option<&Place>,
        does: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let first_name = self.names.len();
        let known = object.map(|place| (Some(place.clone()), Rc::clone(members)));
        self.frames.push(super::Frame { first_name, object: known, ..super::Frame::default() });
        for (outer, given) in &members.around {
            self.bind_template(*outer, given);
        }
        self.bind_template(members.structure, &members.given);
        self.bind_sizes(members);
        if let Some(place) = object {
            // What one member begins with may name those before it.
            let depth = self.depth;
            let _ = self.bind_members(place, members);
            self.depth = depth;
        }
        let found = does(self);
        self.frames.pop();
        self.names.truncate(first_name);
        found
    }

    /// What a function gives: of a reference what is there.
    fn referred_value(&mut self, value: Value) -> Result<Value, Unclear> {
        match self.referred.take() {
            Some(place) => self.read(&place),
            None => Ok(value),
        }
    }

    /// A constant of an enumeration, whose names are those of the file.
    fn constant_of_enumeration(&mut self, name: &str) -> Result<Value, Unclear> {
        let constant = self.program.constants.get(name).ok_or(Unclear)?.as_ref().ok_or(Unclear)?;
        let first_name = self.names.len();
        self.frames.push(super::Frame { first_name, ..super::Frame::default() });
        let found = self.value(constant);
        self.frames.pop();
        found
    }

    fn unary(
        &mut self,
        operator: &str,
        of: &Expression<'s>,
        whole: &Expression<'s>,
    ) -> Result<Value, Unclear> {
        match operator {
            "&" => {
                if let Some(part) = self.part_of_array(of)? {
                    return Ok(part);
                }
                if let ExpressionKind::Scoped { owner, name, .. } = &of.kind
                    && let Some(member) = self.value_of_member(owner, name)
                {
                    return Ok(member);
                }
                let place = self.place(of)?;
                // A function is called by its address as by its name.
                if matches!(place.ty(), Ty::Callable(_)) {
                    return self.read(&place);
                }
                return Ok(Self::address_of(place));
            }
            "*" => {
                let place = self.place(whole)?;
                return self.read(&place);
            }
            "++" | "--" => {
                let place = self.place(of)?;
                if let Ty::Structure(members) = place.ty().clone() {
                    let value = self.method(place, &members, operator, &[], &[]);
                    return self.referred_value(value?);
                }
                if matches!(place.ty(), Ty::Atomic(..)) {
                    let one = Value::constant(1, Ty::INT);
                    return self.operator_of_atomic(&place, &operator[..1], one, false);
                }
                let old = self.read(&place)?;
                let operator = if operator == "++" { "+" } else { "-" };
                let new = self.computed(operator, old, Value::constant(1, Ty::INT))?;
                self.write(&place, new.clone())?;
                return Ok(new);
            }
            _ => {}
        }
        let value = self.value(of)?;
        if let Ty::Structure(members) = value.ty.clone()
            && !self.methods(&members, operator).0.is_empty()
        {
            let place = self.place(of)?;
            let value = self.method(place, &members, operator, &[], &[])?;
            return self.referred_value(value);
        }
        match operator {
            "!" => {
                let truth = self.truth(value)?;
                self.computed("==", truth, Value::constant(0, Ty::INT))
            }
            "~" => self.computed("^", value, Value::constant(u64::MAX, Ty::INT)),
            "-" => self.computed("-", Value::constant(0, Ty::INT), value),
            _ => Ok(value),
        }
    }

    /// The address of an element of an array that is in no memory: of the array from there on.
    fn part_of_array(&mut self, of: &Expression<'s>) -> Result<Option<Value>, Unclear> {
        let ExpressionKind::Index(array, index) = &of.kind else { return Ok(None) };
        let length = self.text.len();
        let Ok(Place::Parts(parts, Ty::Array(element, _))) = self.place(array) else {
            self.take_back(length);
            return Ok(None);
        };
        let index = self.value(index)?;
        let ty = Ty::Pointer(Rc::clone(&element), Space::Generic);
        let place = match index.number().and_then(|number| usize::try_from(number).ok()) {
            Some(from) => {
                let parts = parts.get(from..).ok_or(Unclear)?.to_vec();
                let count = parts.len() as u64;
                Place::Parts(parts, Ty::Array(element, count))
            }
            // Any of them may be meant.
            None => {
                let count = parts.len() as u64;
                let whole = Place::Parts(parts, Ty::Array(Rc::clone(&element), count));
                Place::Alias(Rc::new(whole), (*element).clone())
            }
        };
        Ok(Some(Value { ty, held: Held::Place(Rc::new(place)) }))
    }

    fn binary(
        &mut self,
        operator: &str,
        left: &Expression<'s>,
        right: &Expression<'s>,
    ) -> Result<Value, Unclear> {
        match operator {
            "," => {
                self.value(left)?;
                self.value(right)
            }
            MEMBER_POINTER => {
                let (object, _, name) = self.member_by_pointer(left, right)?;
                let member = self.member(object, &name)?;
                self.read(&member)
            }
            "&&" | "||" => {
                let first = self.value(left)?;
                let first = self.truth(first)?;
                let is_and = operator == "&&";
                if let Some(number) = first.number() {
                    if (number != 0) != is_and {
                        return Ok(first);
                    }
                    let second = self.value(right)?;
                    return self.truth(second);
                }
                let result = self.in_register(&first, 32)?;
                let kept = self.fresh(32)?;
                self.emit(&format!("mov.b32 {}, {};", kept.name(), result.name()));
                let end = self.label();
                let kept_value = Value { ty: Ty::BOOL, held: Held::Register(kept) };
                self.branch(&kept_value, !is_and, &end)?;
                let second = self.value(right)?;
                let second = self.truth(second)?;
                let operand = self.operand(&second, 32)?;
                self.emit(&format!("mov.b32 {}, {operand};", kept.name()));
                self.place_label(&end);
                Ok(kept_value)
            }
            _ => {
                let length = self.text.len();
                let (of_left, of_right) = (self.value(left)?, self.value(right)?);
                if self.program.has_operators
                    && [&of_left, &of_right].iter().any(|each| matches!(each.ty, Ty::Structure(_)))
                {
                    if !self.has_operator(operator, [&of_left, &of_right]) {
                        let left = self.number_of_object(of_left)?;
                        let right = self.number_of_object(of_right)?;
                        return self.computed(operator, left, right);
                    }
                    self.take_back(length);
                    let value = self.operator_of(operator, left, right)?;
                    return self.referred_value(value);
                }
                self.computed(operator, of_left, of_right)
            }
        }
    }

    /// The place that an expression names.
    pub(super) fn place(&mut self, expression: &Expression<'s>) -> Result<Place, Unclear> {
        self.deeper()?;
        let before = std::mem::replace(&mut self.span, expression.span);
        let found = self.place_within(expression);
        self.span = before;
        self.shallower();
        found
    }

    fn place_within(&mut self, expression: &Expression<'s>) -> Result<Place, Unclear> {
        match &expression.kind {
            ExpressionKind::Name(name, given) if given.is_empty() => self.named(name),
            ExpressionKind::Choice(condition, then, otherwise) => {
                let [first, second] =
                    [then, otherwise].map(|each| each.with(ExpressionKind::Unary("&", each.clone())));
                let mark = self.mark();
                match self.choice(condition, &first, &second).and_then(|pointer| self.pointed(pointer)) {
                    Ok(place) => return Ok(place),
                    Err(Unclear) => self.back_to(mark),
                }
                if let Some(place) = self.chosen_of_two(condition, then, otherwise)? {
                    return Ok(place);
                }
                // Of objects in registers the chosen one is a copy.
                Ok(Place::Fixed(self.value(expression)?))
            }
            ExpressionKind::Index(array, index) => {
                let array = match self.place(array) {
                    Ok(place) if let Ty::Structure(members) = place.ty().clone() => {
                        return self.element_of_object(place, &members, index);
                    }
                    Ok(Place::Parts(parts, ty)) => return self.element(&parts, &ty, index),
                    Ok(Place::Unknown(Ty::Array(of, _))) => return Ok(Place::Unknown((*of).clone())),
                    Ok(Place::Alias(place, Ty::Array(of, _))) => {
                        self.value(index)?;
                        return Ok(Place::Alias(place, (*of).clone()));
                    }
                    Ok(place) => self.read(&place)?,
                    Err(Unclear) => return Err(Unclear),
                };
                let array = Self::decayed(array);
                if let Held::Place(place) = &array.held {
                    return match (&**place, &array.ty) {
                        (Place::Parts(parts, ty @ Ty::Array(of, _)), Ty::Pointer(to, _)) if of == to => {
                            self.element(parts, ty, index)
                        }
                        (place, Ty::Pointer(to, _)) => {
                            let index = self.value(index)?;
                            let offset = index.number().and_then(|index| index.checked_mul(to.size().ok()?));
                            Ok(match offset {
                                Some(offset) => self.taken_for(place, offset, to),
                                None => aliased(place, to),
                            })
                        }
                        _ => Err(Unclear),
                    };
                }
                if array.ty == Ty::Any {
                    self.value(index)?;
                    return Ok(Place::Unknown(Ty::Any));
                }
                let Ty::Pointer(of, _) = array.ty.clone() else { return Err(Unclear) };
                let index = self.value(index)?;
                let index = self.number_of_object(index)?;
                let of = self.whole((*of).clone())?;
                let address = self.moved(&array, &of, index, "+")?;
                Ok(Place::Memory { address, ty: of })
            }
            ExpressionKind::Unary("*", pointer) => self.target_of(pointer, "*"),
            ExpressionKind::Binary(MEMBER_POINTER, object, pointer) => {
                let (object, _, name) = self.member_by_pointer(object, pointer)?;
                self.member(object, &name)
            }
            ExpressionKind::Scoped { owner, name, .. }
                if let Some(member) = self.member_of(owner, name)? =>
            {
                Ok(member)
            }
            ExpressionKind::Member { object, name, arrow, .. } => {
                let object = if *arrow { self.target_of(object, "->")? } else { self.place(object)? };
                self.member(object, name)
            }
            ExpressionKind::Cast(TypeName::Reference(to), of) => self.place_as(to, of),
            ExpressionKind::List(Some(to), given)
                if let [of] = given.as_slice()
                    && let Ok(ty @ Ty::Atomic(..)) = self.ty(to) =>
            {
                self.as_atomic(of, &ty)
            }
            ExpressionKind::Cast(to, of) if let Ok(ty @ Ty::Atomic(..)) = self.ty(to) => {
                self.as_atomic(of, &ty)
            }
            ExpressionKind::Call(callee, given) => {
                if let Some(element) = self.element_of_tuple(callee, given)? {
                    return Ok(element);
                }
                let value = self.called(callee, given)?;
                Ok(self.referred.take().unwrap_or(Place::Fixed(value)))
            }
            ExpressionKind::Unary("++" | "--", of) => {
                self.value(expression)?;
                self.place(of)
            }
            ExpressionKind::Assign(_, to, _) => {
                self.value(expression)?;
                self.place(to)
            }
            ExpressionKind::Unknown => Err(Unclear),
            // A value that has a place of its own.
            _ => Ok(Place::Fixed(self.value(expression)?)),
        }
    }

    /// What a pointer points to.
    pub(super) fn pointed(&mut self, pointer: Value) -> Result<Place, Unclear> {
        let pointer = Self::decayed(pointer);
        if let Held::Place(place) = &pointer.held {
            return match (&**place, &pointer.ty) {
                (Place::Parts(parts, Ty::Array(of, _)), Ty::Pointer(to, _)) if of == to => {
                    parts.first().cloned().ok_or(Unclear)
                }
                (place, Ty::Pointer(to, _)) if place.ty() == &**to => Ok(place.clone()),
                (place, Ty::Pointer(to, _)) => Ok(self.taken_for(place, 0, to)),
                _ => Err(Unclear),
            };
        }
        match pointer.ty.clone() {
            Ty::Any => Ok(Place::Unknown(Ty::Any)),
            Ty::Callable(_) => Ok(Place::Fixed(pointer)),
            Ty::Pointer(of, _) => {
                let ty = self.whole((*of).clone())?;
                Ok(Place::Memory { address: pointer, ty })
            }
            _ => Err(Unclear),
        }
    }

    /// A member of an object; where that is a reference, what it refers to.
    pub(super) fn member(&mut self, object: Place, name: &str) -> Result<Place, Unclear> {
        let object = match object {
            Place::Fixed(Value { held: Held::Place(place), .. }) => (*place).clone(),
            other => other,
        };
        if let Ty::Structure(members) = object.ty()
            && members.all.iter().all(|(known, ..)| known != name)
        {
            let members = Rc::clone(members);
            return self.constant_of(&members, name).map(Place::Fixed);
        }
        let is_reference = object.ty().has_reference(name);
        let member = self.member_itself(object, name)?;
        if !is_reference {
            return Ok(member);
        }
        let pointer = self.read(&member)?;
        self.pointed(pointer)
    }

    /// Makes a member that is a reference refer to something. Says whether it is one.
    fn refers(&mut self, to: &Expression<'s>, from: &Expression<'s>) -> Result<bool, Unclear> {
        let ExpressionKind::Name(name, _) = &to.kind else { return Ok(false) };
        let Some((Some(object), _)) = self.frames.last().and_then(|frame| frame.object.clone()) else {
            return Ok(false);
        };
        if !object.ty().has_reference(name) {
            return Ok(false);
        }
        let from = match &from.kind {
            ExpressionKind::List(None, given) => match given.as_slice() {
                [only] => only,
                _ => return Err(Unclear),
            },
            _ => from,
        };
        // A pipeline is made here.
        let to = self.place_or_made(from)?;
        let member = self.member_itself(object.clone(), name)?;
        self.write(&member, Self::address_of(to))?;
        let member = self.member(object, name)?;
        self.names.push((name, super::Binding::Place(member)));
        Ok(true)
    }

    pub(super) fn member_itself(&mut self, object: Place, name: &str) -> Result<Place, Unclear> {
        let found = |members: &super::types::Members| {
            members.all.iter().position(|(known, ..)| known == name).ok_or(Unclear)
        };
        Ok(match object {
            Place::Memory { address, ty: Ty::Volatile(of) } => {
                let member = self.member_itself(Place::Memory { address, ty: (*of).clone() }, name)?;
                match member {
                    Place::Memory { address, ty } => Place::Memory { address, ty: ty.volatile() },
                    other => other,
                }
            }
            Place::Parts(parts, Ty::Structure(members)) if members.is_union => {
                self.part_of_union(parts.first().ok_or(Unclear)?, &members, found(&members)?)
            }
            Place::Parts(parts, Ty::Structure(members)) => {
                parts.get(found(&members)?).cloned().ok_or(Unclear)?
            }
            Place::Parts(parts, Ty::Vector(..)) => {
                let index = vector_index(name).and_then(|index| parts.get(index as usize));
                index.cloned().ok_or(Unclear)?
            }
            // Two halves are one number.
            Place::Memory { address, ty: Ty::Float(32, kind) } if matches!(name, "x" | "y") => {
                let half = Rc::new(Ty::Float(16, kind));
                let index = vector_index(name).ok_or(Unclear)?;
                let address = self.moved(&address, &half, Value::constant(index, Ty::SIZE), "+")?;
                Place::Memory { address, ty: (*half).clone() }
            }
            Place::Register(_, Ty::Float(32, kind))
            | Place::Fixed(Value { ty: Ty::Float(32, kind), .. })
            | Place::Unknown(Ty::Float(32, kind))
                if matches!(name, "x" | "y") =>
            {
                Place::Unknown(Ty::Float(16, kind))
            }
            Place::Memory { address, ty: Ty::Structure(members) } => {
                let (_, ty, offset) = &members.all[found(&members)?];
                let bytes = Value::constant(*offset, Ty::SIZE);
                let address = self.moved(&address, &Ty::BOOL, bytes, "+")?;
                Place::Memory { address, ty: ty.clone() }
            }
            Place::Memory { address, ty: Ty::Vector(of, count) } => {
                let index = vector_index(name).filter(|index| *index < u64::from(count)).ok_or(Unclear)?;
                let address = self.moved(&address, &of, Value::constant(index, Ty::SIZE), "+")?;
                Place::Memory { address, ty: (*of).clone() }
            }
            Place::Unknown(Ty::Structure(members)) => Place::Unknown(members.all[found(&members)?].1.clone()),
            Place::Unknown(Ty::Vector(of, _)) => Place::Unknown((*of).clone()),
            Place::Fixed(Value { held: Held::Place(place), .. }) => {
                self.deeper()?;
                let found = self.member_itself((*place).clone(), name);
                self.shallower();
                return found;
            }
            Place::Fixed(Value { ty: Ty::Vector(of, _), .. }) => Place::Fixed(Value::unknown((*of).clone())),
            Place::Unknown(Ty::Any) | Place::Fixed(Value { ty: Ty::Any, .. }) => Place::Unknown(Ty::Any),
            Place::Alias(of, _) => Place::Alias(of, Ty::Any),
            _ => return Err(Unclear),
        })
    }

    /// An element of an array that is in no memory.
    fn element(&mut self, parts: &[Place], ty: &Ty, index: &Expression<'s>) -> Result<Place, Unclear> {
        let Ty::Array(of, _) = ty else { return Err(Unclear) };
        let index = self.value(index)?;
        let index = self.number_of_object(index)?;
        if let Some(number) = index.number() {
            return usize::try_from(number).ok().and_then(|at| parts.get(at)).cloned().ok_or(Unclear);
        }
        // Which one it is decides when the kernel runs.
        match &**of {
            Ty::Integer { .. } | Ty::Pointer(..) => self.chosen(parts, of, &index),
            // Any of its parts may be meant.
            Ty::Array(..) | Ty::Structure(_) | Ty::Vector(..) => {
                let whole = Place::Parts(parts.to_vec(), ty.clone());
                Ok(Place::Alias(Rc::new(whole), (**of).clone()))
            }
            other => Ok(self.any_of(parts, other)),
        }
    }

    /// One of several numbers, of which nothing is known but that an operation may still write it.
    fn any_of(&self, parts: &[Place], ty: &Ty) -> Place {
        let all = Place::Parts(parts.to_vec(), Ty::Array(Rc::new(ty.clone()), parts.len() as u64));
        match self.in_flight(&all) {
            Some(_) => Place::Alias(Rc::new(all), ty.clone()),
            None => Place::Unknown(ty.clone()),
        }
    }

    /// A number of several, chosen by an index: it can be read, and it is written by [`Lowering::write`] of all.
    fn chosen(&mut self, parts: &[Place], of: &Ty, index: &Value) -> Result<Place, Unclear> {
        if parts.len() > MAX_CHOSEN {
            return Ok(self.any_of(parts, of));
        }
        let mut registers = Vec::new();
        for part in parts {
            registers.push(match (part, of.register()) {
                (Place::Register(register, _), _) => *register,
                // Of constants, which nobody writes.
                (Place::Fixed(value), Some(bits)) if value.number().is_some() => {
                    self.in_register(value, bits)?
                }
                _ => return Ok(Place::Unknown(of.clone())),
            });
        }
        let index = self.in_register(index, 32).or(Err(Unclear))?;
        Ok(Place::Chosen { registers, index, ty: of.clone() })
    }
}

/// A place that is read and written as another type.
fn aliased(place: &Place, ty: &Ty) -> Place {
    match place {
        Place::Unknown(_) => Place::Unknown(ty.clone()),
        other => Place::Alias(Rc::new(other.clone()), ty.clone()),
    }
}

/// An alignment is no larger.
const MAX_ALIGN: u64 = 4096;

/// So many elements one is chosen of.
const MAX_CHOSEN: usize = 32;
