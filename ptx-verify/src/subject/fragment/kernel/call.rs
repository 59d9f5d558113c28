//! Calls of functions of the file, which are inlined.

use std::rc::Rc;

use ptx_syntax::Span;
use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, Function, MEMBER_POINTER, Parameter, Statement, StatementKind,
    TemplateArgument, TypeName,
};

use super::member::{MAX_BASES, base_of};
use super::pack::is_pack;
use super::scope::{CALL, DESTRUCTOR};
use super::types::{Members, ORDERS_AND_SCOPES, Space, Ty};
use super::value::{Held, Place, Value};
use super::{Binding, Call, Frame, Lambda, Lowering, MAX_CALLS, Unclear};

impl<'a, 's> Lowering<'a, 's> {
    pub(super) fn called(
        &mut self,
        callee: &Expression<'s>,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        if given.iter().any(is_pack) {
            let names = self.names.len();
            let given = self.without_dots(given)?;
            let value = self.called(callee, &given);
            self.names.truncate(names);
            return value;
        }
        match &callee.kind {
            ExpressionKind::Lambda(_) => {
                let lambda = self.lambda(callee).ok_or(Unclear)?;
                self.called_lambda(lambda, &[], given)
            }
            ExpressionKind::Member { object, name: CALL, arrow: false, template }
                if let Some(lambda) = self.lambda(object) =>
            {
                self.called_lambda(lambda, template, given)
            }
            ExpressionKind::Name(name, template) => {
                if let Some(Binding::Lambda(lambda)) = self.binding(name) {
                    let lambda = lambda.clone();
                    return self.called_lambda(lambda, template, given);
                }
                if let Some(
                    Binding::Place(Place::Fixed(Value { ty: Ty::Callable(of), .. }))
                    | Binding::Place(
                        Place::Memory { ty: Ty::Callable(of), .. } | Place::Unknown(Ty::Callable(of)),
                    )
                    | Binding::Type(Ty::Callable(of)),
                ) = self.binding(name)
                {
                    let of = Rc::clone(of);
                    return self.called_value(&of, template, given);
                }
                if let Some(Binding::Place(place @ Place::Link(_, Ty::Function))) = self.binding(name) {
                    let place = place.clone();
                    return self.called_object(place, given);
                }
                if let Some(Binding::Place(place)) = self.binding(name)
                    && let Ty::Structure(members) = place.ty().clone()
                {
                    let place = place.clone();
                    return self.method(place, &members, "()", template, given);
                }
                if let Some(group) = self.group_before(callee) {
                    return self.of_group(group, name, given);
                }
                // After the name of a namespace it is no method, where there is such a function.
                let is_outside = self.is_qualified(callee.span)
                    && self.program.functions.iter().any(|each| each.owner.is_none() && each.name == *name);
                if let Some((place, members)) =
                    self.frames.last().and_then(|frame| frame.object.clone()).filter(|_| !is_outside)
                {
                    let (own, owner) = self.methods(&members, name);
                    if !own.is_empty() {
                        self.next_whole = self.frames.last().and_then(|frame| frame.whole.clone());
                        return self.inlined(&own, template, given, Some((place, owner)), None);
                    }
                }
                let own: Vec<&'a Function<'s>> = self
                    .program
                    .functions
                    .iter()
                    .filter(|function| function.owner.is_none() && function.name == *name)
                    .collect();
                if !own.is_empty() && self.takes_one_of(&own, given)? {
                    return self.inlined(&own, template, given, None, None);
                }
                // `std::make_index_sequence<4>()`
                if given.is_empty()
                    && !template.is_empty()
                    && let Some(sequence) = self.sequence(name, template)?
                {
                    let place = self.made(&sequence)?;
                    return self.read(&place);
                }
                self.of_cuda(name, template, given)
            }
            ExpressionKind::Scoped { owner, name, template } => {
                let members = match self.ty(owner)? {
                    Ty::Structure(members) => members,
                    // `cg::thread_block::sync()`
                    Ty::Group(group) => return self.of_group(group, name, given),
                    // How many may arrive, or the ticks of a clock.
                    Ty::Barrier if given.is_empty() => return Ok(Value::unknown(Ty::SIZE)),
                    _ => return Err(Unclear),
                };
                let (own, owner) = self.methods(&members, name);
                // A base's method, for the object that this is one of.
                let frame = self.frames.last();
                let object = frame.and_then(|frame| frame.object.clone());
                let base = object.as_ref().and_then(|(_, around)| base_of(around, &owner));
                let place = object.and_then(|(place, _)| place.filter(|_| base.is_some()));
                self.next_whole = frame.and_then(|frame| frame.whole.clone()).filter(|_| place.is_some());
                let owner = base.unwrap_or(owner);
                self.inlined(&own, template, given, Some((place, owner)), None)
            }
            ExpressionKind::Member { object, name, arrow, template } => {
                if let Some(barrier) = self.barrier(object, *arrow)? {
                    return self.of_barrier(&barrier, name, given);
                }
                let place = if *arrow { self.target_of(object, "->")? } else { self.place(object)? };
                if *name == DESTRUCTOR {
                    return self.destroyed_by_name(&place);
                }
                match place.ty().clone() {
                    Ty::Group(group) => self.of_group(group, name, given),
                    Ty::Atomic(..) => self.of_atomic(&place, name, given),
                    // Of `cuda::annotated_ptr`.
                    Ty::Pointer(..) if *name == "get" && given.is_empty() => self.read(&place),
                    Ty::Structure(members) if self.is_member_object(&members, name) => {
                        let object = self.member(place, name)?;
                        self.called_object(object, given)
                    }
                    Ty::Structure(members) => self.method(place, &members, name, template, given),
                    _ => Err(Unclear),
                }
            }
            ExpressionKind::Binary(MEMBER_POINTER, object, pointer) => {
                let (object, members, name) = self.member_by_pointer(object, pointer)?;
                match self.is_member_object(&members, &name) {
                    true => {
                        let object = self.member(object, &name)?;
                        self.called_object(object, given)
                    }
                    false => self.method(object, &members, &name, &[], given),
                }
            }
            // An object of an array, or what a function gives.
            _ => {
                let object = self.place(callee)?;
                self.called_object(object, given)
            }
        }
    }

    /// The methods of a structure by their name, and the structure that has them: itself, or one that it is derived of.
    pub(super) fn methods(&self, members: &Rc<Members>, name: &str) -> (Vec<&'a Function<'s>>, Rc<Members>) {
        let mut pending = vec![Rc::clone(members)];
        let mut left = MAX_BASES;
        while let Some(each) = pending.pop().filter(|_| left > 0) {
            left -= 1;
            let is_such =
                |function: &&'a Function<'s>| function.owner == Some(each.structure) && function.name == name;
            let own: Vec<&'a Function<'s>> = self.program.functions.iter().filter(is_such).collect();
            if !own.is_empty() {
                return (own, each);
            }
            pending.extend(each.bases.iter().rev().cloned());
        }
        (Vec::new(), Rc::clone(members))
    }

    /// A call of a method of an object.
    pub(super) fn method(
        &mut self,
        place: Place,
        members: &Rc<Members>,
        name: &str,
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let (own, owner) = self.methods(members, name);
        self.next_whole = Some(place.clone());
        let place = self.as_base(place, members, &owner)?;
        self.inlined(&own, template, given, Some((Some(place), owner)), None)
    }

    /// An object as one of a structure that its own is derived of.
    pub(super) fn as_base(
        &mut self,
        place: Place,
        members: &Rc<Members>,
        base: &Rc<Members>,
    ) -> Result<Place, Unclear> {
        if Rc::ptr_eq(members, base) || members == base {
            return Ok(place);
        }
        if members.is_union || base.is_union {
            return Err(Unclear);
        }
        let ty = Ty::Structure(Rc::clone(base));
        let (first, _, at) = match base.all.first() {
            Some((name, ..)) => members
                .all
                .iter()
                .enumerate()
                .find_map(|(index, (known, ty, at))| (known == name).then_some((index, ty, *at)))
                .ok_or(Unclear)?,
            None => (0, &ty, 0),
        };
        match place {
            Place::Memory { address, .. } => {
                let address = self.moved(&address, &Ty::BOOL, Value::constant(at, Ty::SIZE), "+")?;
                Ok(Place::Memory { address, ty })
            }
            Place::Parts(parts, _) => {
                let own = parts.get(first..first + base.all.len()).ok_or(Unclear)?.to_vec();
                Ok(Place::Parts(own, ty))
            }
            _ => Err(Unclear),
        }
    }

    pub(super) fn called_lambda(
        &mut self,
        lambda: Lambda,
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let function = self.program.lambdas.get(lambda.number).ok_or(Unclear)?;
        let program = self.program;
        let captures = &program.lambdas.get(lambda.number).ok_or(Unclear)?.captures;
        let names = || captures.iter().map(|each| each.name).chain(function.mentions.iter().copied());
        let captured = lambda
            .captured
            .into_iter()
            .filter_map(|(name, binding)| Some((names().find(|each| *each == name)?, binding)));
        let seen = Seen { names: lambda.names, hidden: lambda.hidden, captured: captured.collect() };
        self.inlined(&[function], template, given, lambda.object, Some(seen))
    }

    /// A call of a function of the file, or of a lambda that sees the names of `seen`, as if it stood here.
    pub(super) fn inlined(
        &mut self,
        named: &[&'a Function<'s>],
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
        object: Option<(Option<Place>, Rc<Members>)>,
        seen: Option<Seen<'s>>,
    ) -> Result<Value, Unclear> {
        let whole = self.next_whole.take();
        // One of several that is not understood may be the one that is meant.
        if named.len() > 1 && named.iter().any(|function| is_not_understood(function)) {
            return Err(Unclear);
        }
        let fitting: Vec<&'a Function<'s>> =
            named.iter().filter(|each| takes_as_many(each, given)).copied().collect();
        let fitting = self.without_specializations(fitting, template, given)?;
        let fitting = match fitting.len() {
            0 | 1 => fitting,
            _ => {
                let fitting = fitting.into_iter().filter(|function| takes_template(function, template));
                self.enabled(fitting.collect(), template, given)?
            }
        };
        let function = match fitting.as_slice() {
            [only] => only,
            _ => {
                let owner = object.as_ref().map(|(_, members)| Rc::clone(members));
                self.overload(&fitting, given, owner.as_ref())?
            }
        };
        self.calls += 1;
        if self.calls > MAX_CALLS || function.is_kernel {
            return Err(Unclear);
        }
        // What is given, seen from here.
        let bindings: Vec<(&'s str, Binding)> = match function.specialized {
            Some(_) => Vec::new(),
            None => self.first_bindings(&function.template, template)?,
        };
        let turn = self.frames.iter().filter(|frame| frame.function == Some(function.span)).count();
        // A template may go on with other or fewer arguments, which end it at last; so may that of the structure it is in.
        let is_other = |frame: &&Frame| match (&frame.object, &object) {
            (Some((_, known)), Some((_, own))) => !own.given.is_empty() && known != own,
            _ => false,
        };
        let mut same = self.frames.iter().filter(|frame| frame.function == Some(function.span));
        let takes_any = function.parameters.last().is_some_and(|last| last.is_pack);
        let goes_on = !bindings.is_empty() || takes_any || same.all(|frame| is_other(&frame));
        // Numbers that are known end it as well.
        let is_recursive = turn > 0 || self.calls_itself(function, given);
        let goes_on =
            goes_on || function.parameters.iter().any(|each| !matches!(each.ty, TypeName::Reference(_)));
        if turn > 0 && (!goes_on || turn > MAX_RECURSION) {
            return Err(Unclear);
        }
        if given.iter().all(|each| !matches!(each.kind, ExpressionKind::Lambda(_)))
            && seen.is_none()
            && let Some(value) = self.known_result(function, &bindings, given, object.clone())?
        {
            return Ok(value);
        }
        let mut arguments = Vec::new();
        let mut lambdas: Vec<(&'s str, Binding)> = Vec::new();
        let all_parameters = function.parameters.iter();
        let left = given.len().saturating_sub(function.parameters.len());
        let of_pack = function.parameters.last().filter(|last| last.is_pack);
        let all_parameters = all_parameters.chain(std::iter::repeat_n(of_pack, left).flatten());
        let mut of_pack: Vec<Binding> = Vec::new();
        let given: Vec<Expression<'s>> = all_parameters
            .clone()
            .zip(given)
            .map(|(parameter, argument)| self.made_of(parameter, listed_as(&parameter.ty, argument)))
            .collect();
        let given = given.as_slice();
        for (parameter, argument) in all_parameters.zip(given) {
            if parameter.is_pack {
                let binding = match self.without_place(argument) {
                    Some(binding) => binding,
                    None => Binding::Place(match parameter.ty {
                        TypeName::Reference(_) => self.place_or_made(argument)?,
                        _ => {
                            let value = self.value(argument)?;
                            self.kept(Self::decayed(value), false)?
                        }
                    }),
                };
                of_pack.push(binding);
                continue;
            }
            if let Some(binding) = self.without_place(argument) {
                lambdas.push((parameter.name, binding));
                arguments.push(Place::Unknown(Ty::Any));
                continue;
            }
            arguments.push(match parameter.ty {
                TypeName::Reference(_) => self.place_or_made(argument)?,
                _ => match self.atomic_place(argument)? {
                    Some(place) => place,
                    None => {
                        let value = self.value(argument)?;
                        Place::Fixed(Self::decayed(value))
                    }
                },
            });
        }
        // Of an included file no place can be shown.
        let is_included = function.span.start < self.aim.base;
        let is_lambda = function.name.is_empty();
        let length = self.names.len();
        // A lambda sees the names around it, and the object.
        let first_name = seen.as_ref().map_or(length, |seen| seen.names.start);
        let (hidden, captured) = match seen {
            Some(Seen { names, mut hidden, captured }) => {
                hidden.push(names.end..length);
                (hidden, captured)
            }
            None => (Vec::new(), Vec::new()),
        };
        self.names.extend(captured);
        let known = bindings.len();
        self.names.extend(bindings);
        let (from, site) = (self.text.len() as u32, self.span);
        let end = self.label();
        self.frames.push(Frame {
            function: Some(function.span),
            structure: None,
            object: object.clone(),
            whole,
            call: (is_wrapper(&function.body) || is_included).then_some(self.span),
            first_name,
            hidden,
            result: None,
            returns_place: false,
            pointer: None,
            end: end.clone(),
            ..Frame::default()
        });
        if let Some((place, members)) = object.as_ref().filter(|_| !is_lambda) {
            self.bind_object(place.as_ref(), members)?;
        }
        for (parameter, argument) in function.parameters.iter().zip(&arguments) {
            if let Some((_, binding)) = lambdas.iter().find(|(name, _)| *name == parameter.name) {
                if let Binding::Lambda(lambda) = binding
                    && !function.template.is_empty()
                {
                    let ty = self.value_of_lambda(&lambda.clone()).ty;
                    self.deduce(function, &parameter.ty, &ty)?;
                }
                continue;
            }
            self.deduce(function, &parameter.ty, argument.ty())?;
        }
        for parameter in function.template.iter().skip(known) {
            if parameter.is_pack && self.binding(parameter.name).is_none() {
                let all = Self::deduced_pack(function, parameter.name, &of_pack)?;
                self.names.push((parameter.name, Binding::Pack(all)));
            }
            if self.binding(parameter.name).is_none() {
                if parameter.is_type && parameter.default.is_none() && !lambdas.is_empty() {
                    // The type of a lambda has no name.
                    continue;
                }
                let default = parameter.default.as_ref().ok_or(Unclear)?;
                let binding = self.template_argument(default, parameter.is_type)?;
                self.names.push((parameter.name, binding));
            }
        }
        for (index, parameter) in function.parameters.iter().enumerate() {
            if parameter.is_pack {
                self.names.push((parameter.name, Binding::Pack(std::mem::take(&mut of_pack))));
                continue;
            }
            if let Some(lambda) = lambdas.iter().find(|(name, _)| *name == parameter.name) {
                self.names.push(lambda.clone());
                continue;
            }
            let argument = arguments.get(index).cloned();
            let place = match self.known_argument(function, parameter, argument.as_ref()) {
                Some(known) if is_recursive => Place::Fixed(known?),
                _ => self.parameter(parameter, argument)?,
            };
            self.names.push((parameter.name, Binding::Place(place)));
        }
        // What a lambda returns, the first `return` tells.
        let is_told_later = function.returns.is_told_by_value();
        let is_reference = self.is_reference(&function.returns);
        let returns = match &function.returns {
            _ if is_told_later => Ty::Any,
            _ if is_reference => Ty::Void,
            ty => self.ty(ty)?,
        };
        // A reference of C++, or `cuda::atomic_ref`.
        let is_atomic = matches!(returns, Ty::Atomic(..));
        let returns_place = is_atomic || is_reference;
        let returns = if is_atomic { Ty::Void } else { returns };
        let result = match &returns {
            Ty::Void | Ty::Pointer(..) | Ty::Any => None,
            ty => Some(self.made(ty)?),
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.result = result;
            frame.returns_place = returns_place;
            frame.pointer = matches!(returns, Ty::Pointer(..) | Ty::Any).then_some(returns);
        }
        let span = self.span;
        self.statements(&function.body)?;
        self.has_returned = false;
        self.all_labels_are_placed()?;
        self.span = span;
        self.place_label(&end);
        let (to, is_small) = (self.text.len() as u32, statements_of(&function.body) <= MAX_OF_SMALL);
        let last = function.extent.end;
        let end_of_function = Span::new(last.saturating_sub(1), last);
        self.inlined.push(Call { from, to, span: site, end: end_of_function, is_small });
        let result = self.frames.pop().and_then(|frame| frame.result);
        self.names.truncate(length);
        match result {
            Some(place) if returns_place => {
                let nothing = Value::unknown(place.ty().clone());
                self.referred = Some(place);
                Ok(nothing)
            }
            Some(result) => self.read(&result),
            None => Ok(Value::unknown(Ty::Void)),
        }
    }

    /// An argument; where the parameter is an object with a constructor for one of another type, the object that this makes.
    fn made_of(&mut self, parameter: &Parameter<'s>, argument: Expression<'s>) -> Expression<'s> {
        if parameter.is_pack || matches!(parameter.ty, TypeName::Reference(_) | TypeName::Auto) {
            return argument;
        }
        let Ok(Ty::Structure(members)) = self.ty(&parameter.ty) else { return argument };
        if !self.is_made_by(&members, &argument) {
            return argument;
        }
        let made = ExpressionKind::List(Some(parameter.ty.clone()), vec![argument.clone()]);
        argument.with(made)
    }

    /// Whether a constructor makes an object of what is no object itself.
    pub(super) fn is_made_by(&mut self, members: &Rc<Members>, argument: &Expression<'s>) -> bool {
        let makes = |function: &&Function<'s>| {
            function.parameters.first().is_some_and(|first| !first.is_pack)
                && function.parameters.iter().skip(1).all(|each| each.default.is_some())
        };
        self.makers(members).iter().any(makes)
            && !matches!(self.type_of(argument), Ok(Ty::Structure(_) | Ty::Any) | Err(_))
    }

    /// The place that an argument names which is passed by reference; of what has none, a place that is made for it.
    pub(super) fn place_or_made(&mut self, argument: &Expression<'s>) -> Result<Place, Unclear> {
        let mark = self.mark();
        if let Ok(place) = self.place(argument) {
            return Ok(place);
        }
        self.back_to(mark);
        let value = self.value(argument)?;
        let value = Self::decayed(value);
        if let Held::Place(place) = &value.held
            && *place.ty() == value.ty
        {
            return Ok((**place).clone());
        }
        self.kept(value, true)
    }

    /// What a method sees of its object: the parameters of its template, its members, and `this`.
    fn bind_object(&mut self, place: Option<&Place>, members: &Rc<Members>) -> Result<(), Unclear> {
        self.bind_structure(members)?;
        let Some(place) = place else { return Ok(()) };
        let ty = Rc::new(Ty::Structure(Rc::clone(members)));
        let this = match place {
            Place::Memory { address, .. } => {
                let space = match address.ty {
                    Ty::Pointer(_, space) => space,
                    _ => Space::Generic,
                };
                Value { ty: Ty::Pointer(ty, space), held: address.held.clone() }
            }
            other => Value { ty: Ty::Pointer(ty, Space::Generic), held: Held::Place(Rc::new(other.clone())) },
        };
        self.names.push(("this", Binding::Place(Place::Fixed(this))));
        self.bind_members(place, members)
    }

    /// The parameters of the template of a structure and of its bases, and their constants.
    pub(super) fn bind_structure(&mut self, members: &Rc<Members>) -> Result<(), Unclear> {
        self.deeper()?;
        for (outer, given) in &members.around {
            self.bind_template(*outer, given);
        }
        for base in &members.bases {
            self.bind_structure(base)?;
        }
        self.bind_template(members.structure, &members.given);
        self.bind_sizes(members);
        self.shallower();
        Ok(())
    }

    /// Makes the constants of a structure known that ask for the sizes of its members.
    pub(super) fn bind_sizes(&mut self, members: &Rc<Members>) {
        let structure = self.program.structure(members.structure);
        let is_missing = |name: &str| self.binding(name).is_none();
        let missing: Vec<_> = structure.constants.iter().filter(|(name, _)| is_missing(name)).collect();
        for (name, value) in missing {
            let mark = self.mark();
            for member in &structure.members {
                if let Some((_, ty, _)) = members.all.iter().find(|(known, ..)| known == member.name) {
                    self.names.push((member.name, Binding::Place(Place::Unknown(ty.clone()))));
                }
            }
            let found = self.value(value);
            self.back_to(mark);
            if let Ok(value) = found
                && value.number().is_some()
            {
                self.names.push((name, Binding::Place(Place::Fixed(value))));
            }
        }
    }

    pub(super) fn bind_members(&mut self, place: &Place, members: &Rc<Members>) -> Result<(), Unclear> {
        self.deeper()?;
        for base in &members.bases {
            self.bind_members(place, base)?;
        }
        let structure = self.program.structure(members.structure);
        for member in &structure.members {
            if super::types::is_unnamed(member.name) {
                let mut inner = Vec::new();
                self.named_inside(&member.ty, &mut inner)?;
                for name in inner {
                    let part = self.member(place.clone(), name)?;
                    self.names.push((name, Binding::Place(part)));
                }
                continue;
            }
            // Before the constructor has begun it, a reference refers to nothing.
            if let Ok(Place::Link(of, ty)) = self.member_itself(place.clone(), member.name)
                && ty != Ty::Function
                && of.borrow().is_none()
            {
                continue;
            }
            let part = self.member(place.clone(), member.name)?;
            self.names.push((member.name, Binding::Place(part)));
        }
        self.shallower();
        Ok(())
    }

    /// The members of a structure without a name, and of those in it.
    fn named_inside(&mut self, of: &TypeName<'s>, all: &mut Vec<&'s str>) -> Result<(), Unclear> {
        let Ty::Structure(inner) = self.ty(of)? else { return Err(Unclear) };
        self.deeper()?;
        let program = self.program;
        for each in &program.structure(inner.structure).members {
            match super::types::is_unnamed(each.name) {
                true => self.named_inside(&each.ty, all)?,
                false => all.push(each.name),
            }
        }
        self.shallower();
        Ok(())
    }

    /// Where a parameter is in the function: a reference is the argument itself, and others are copies of it.
    fn parameter(&mut self, parameter: &Parameter<'s>, argument: Option<Place>) -> Result<Place, Unclear> {
        if !matches!(parameter.ty, TypeName::Reference(_))
            && argument.as_ref().is_some_and(|argument| self.is_destructible(argument.ty()))
        {
            return Err(Unclear);
        }
        let Some(argument) = argument else {
            let default = parameter.default.as_ref().ok_or(Unclear)?;
            let value = self.value(&listed_as(&parameter.ty, default))?;
            let ty = match &parameter.ty {
                TypeName::Reference(of) => self.ty(of)?,
                ty => self.ty(ty)?,
            };
            let value = self.converted(value, &ty)?;
            let place = self.made(&value.ty)?;
            self.write(&place, value)?;
            return Ok(place);
        };
        if let TypeName::Reference(of) = &parameter.ty {
            if **of == TypeName::Auto || matches!(argument.ty(), Ty::Group(_) | Ty::Callable(_)) {
                return Ok(argument);
            }
            let ty = self.ty_in_memory(of)?;
            // An object is one of each structure that its own is derived of.
            if let (Ty::Structure(own), Ty::Structure(wanted)) = (argument.ty().clone(), &ty)
                && own != *wanted
                && let Some(base) = base_of(&own, wanted)
            {
                let argument = match argument {
                    Place::Fixed(Value { held: Held::Place(place), .. }) => (*place).clone(),
                    other => other,
                };
                return self.as_base(argument, &own, &base);
            }
            let is_same = match (argument.ty(), &ty) {
                (Ty::Pointer(a, _), Ty::Pointer(b, _)) => a == b,
                (a, b) => a == b,
            };
            return match argument {
                Place::Memory { address, ty: own } if own == *ty.plain() => Ok(Place::Memory { address, ty }),
                // A value that is only read.
                Place::Fixed(value) => Ok(Place::Fixed(self.converted(value, &ty)?)),
                other if is_same => Ok(other),
                other => {
                    let value = self.read(&other)?;
                    Ok(Place::Fixed(self.converted(value, &ty)?))
                }
            };
        }
        if matches!(argument.ty(), Ty::Callable(_)) {
            return Ok(argument);
        }
        // What refers to an atomic object is copied, or what the object holds is given.
        if matches!(argument.ty(), Ty::Atomic(..)) {
            let is_plain = matches!(self.ty(&parameter.ty), Ok(ty) if !matches!(ty, Ty::Atomic(..)));
            if !is_plain {
                return Ok(argument);
            }
            let value = self.loaded_atomic(&argument)?;
            return self.parameter(parameter, Some(Place::Fixed(value)));
        }
        let Place::Fixed(value) = argument else { return Err(Unclear) };
        // It points to what is in no memory.
        if matches!((&value.held, &value.ty), (Held::Place(_), Ty::Pointer(..))) {
            return Ok(Place::Fixed(value));
        }
        if parameter.ty.is_told_by_value() {
            let place = self.made(&value.ty)?;
            self.write(&place, value)?;
            return Ok(place);
        }
        if matches!(value.ty, Ty::Group(_)) {
            return Ok(Place::Fixed(value));
        }
        let ty = self.ty(&parameter.ty)?;
        let value = self.converted(value, &ty)?;
        if value.ty == Ty::Any {
            return Ok(Place::Unknown(ty));
        }
        // What chooses an instruction is known in the function as well.
        if matches!(&parameter.ty, TypeName::Named(name, _) if ORDERS_AND_SCOPES.contains(name))
            && value.number().is_some()
        {
            return Ok(Place::Fixed(value));
        }
        // A number stays one: a template may take it on.
        let place = self.made(&value.ty)?;
        self.write(&place, value)?;
        Ok(place)
    }
}

/// Whether a function takes as many arguments.
pub(super) fn takes_as_many(function: &Function<'_>, given: &[Expression<'_>]) -> bool {
    let is_needed = |parameter: &&Parameter<'_>| parameter.default.is_none() && !parameter.is_pack;
    let needed = function.parameters.iter().filter(is_needed).count();
    let is_open = function.parameters.last().is_some_and(|last| last.is_pack);
    given.len() >= needed && (is_open || given.len() <= function.parameters.len())
}

/// Whether the template of a function takes this number of arguments, and those it is not given may be known.
fn takes_template(function: &Function<'_>, given: &[TemplateArgument<'_>]) -> bool {
    if function.template.iter().any(|each| each.is_pack) || given.iter().any(super::pack::spreads) {
        return true;
    }
    let mut missing = function.template.iter().skip(given.len());
    given.len() <= function.template.len()
        && missing.all(|each| each.default.is_some() || !function.parameters.is_empty())
}

/// An argument; a list without a type has that of the parameter.
fn listed_as<'s>(ty: &TypeName<'s>, argument: &Expression<'s>) -> Expression<'s> {
    match (&argument.kind, ty) {
        (ExpressionKind::List(None, parts), TypeName::Reference(of)) if **of != TypeName::Auto => {
            argument.with(ExpressionKind::List(Some((**of).clone()), parts.clone()))
        }
        (ExpressionKind::List(None, parts), ty) if *ty != TypeName::Auto => {
            argument.with(ExpressionKind::List(Some(ty.clone()), parts.clone()))
        }
        _ => argument.clone(),
    }
}

/// Whether nobody knows what a function does, nor what it takes.
pub(super) fn is_not_understood(function: &Function<'_>) -> bool {
    matches!(function.body.as_slice(), [only] if matches!(only.kind, StatementKind::Unknown))
}

/// What a lambda that is called sees.
pub(super) struct Seen<'s> {
    names: std::ops::Range<usize>,
    hidden: Vec<std::ops::Range<usize>>,
    captured: Vec<(&'s str, Binding)>,
}

/// Calls of a template in itself.
const MAX_RECURSION: usize = 40;

/// Statements of a function that is called for one thing.
const MAX_OF_WRAPPER: usize = 8;

/// Statements of a function that does one thing, such as a wait in a loop.
const MAX_OF_SMALL: usize = 3;

/// Whether a function is so short that what it does is done where it is called.
fn is_wrapper(body: &[Statement<'_>]) -> bool {
    statements_of(body) <= MAX_OF_WRAPPER
}

fn statements_of(body: &[Statement<'_>]) -> usize {
    fn count(statement: &Statement<'_>) -> usize {
        1 + match &statement.kind {
            StatementKind::Block(all) => all.iter().map(count).sum(),
            StatementKind::If { then, otherwise, .. } => {
                count(then) + otherwise.as_ref().map_or(0, |otherwise| count(otherwise))
            }
            StatementKind::Loop { body, .. }
            | StatementKind::DoWhile(body, _)
            | StatementKind::Each(_, _, body) => count(body),
            StatementKind::Switch(_, parts) => parts.iter().flat_map(|(_, all)| all).map(count).sum(),
            _ => 0,
        }
    }
    body.iter().map(count).sum()
}
