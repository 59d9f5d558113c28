//! Functions whose arguments are all known: what they give is computed before the kernel runs.

use std::rc::Rc;

use ptx_syntax::Span;
use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, Function, Statement, StatementKind, TypeName, Variable,
};

use super::types::{Members, Ty};
use super::value::{Held, Place, Value};
use super::{Binding, Lowering, Unclear};

/// Steps of one such call.
const MAX_STEPS: u32 = 4_000;

/// How a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

/// What the variables of a function hold.
struct Run<'s> {
    variables: Vec<(&'s str, Value)>,
    /// The type of what it gives, where it says so.
    result: Option<Ty>,
    steps: u32,
}

impl<'a, 's> Lowering<'a, 's> {
    /// What a function gives, where its arguments and all that it does are numbers that are known.
    pub(super) fn known_result(
        &mut self,
        function: &'a Function<'s>,
        bindings: &[(&'s str, Binding)],
        given: &[Expression<'s>],
        object: Option<(Option<Place>, Rc<Members>)>,
    ) -> Result<Option<Value>, Unclear> {
        // The arguments may tell what the parameters of a template are.
        let is_deduced = |ty: &TypeName<'s>| matches!(ty, TypeName::Named(name, _) if function.template.iter().any(|each| each.name == *name));
        let is_number =
            |ty: &TypeName<'s>| matches!(ty, TypeName::Integer { .. } | TypeName::Bool) || is_deduced(ty);
        let is_taken = |ty: &TypeName<'s>| match ty {
            // Who only gives something back leaves what it refers to as it is.
            TypeName::Reference(of) => (is_number(of) || is_object(of)) && is_one_return(&function.body),
            ty => is_number(ty) || is_object(ty),
        };
        let are_plain = given.len() == function.parameters.len()
            && function.parameters.iter().all(|each| !each.is_pack && is_taken(&each.ty));
        // A method may call what it gives by a name of its structure.
        let is_of_structure = object.is_some() && matches!(function.returns, TypeName::Named(..));
        let gives_number =
            function.returns == TypeName::Auto || is_number(&function.returns) || is_of_structure;
        // An object that the function changes on the way; what only gives one back is followed as it is.
        let gives_object = is_object(&function.returns) && !is_one_return(&function.body);
        if !(gives_number || gives_object) || !are_plain || !is_plain(&function.body) {
            return Ok(None);
        }
        let mark = self.mark();
        let mut values = Vec::new();
        for argument in given {
            let length = self.text.len();
            let value = self.value(argument)?;
            let is_number = value.number().is_some() && matches!(value.ty, Ty::Integer { .. });
            let is_known = is_number || self.known_object(&value).is_some();
            if self.text.len() != length || !is_known {
                self.back_to(mark);
                return Ok(None);
            }
            values.push(value);
        }
        let first_name = self.names.len();
        // Of its object only the constants are known, where it is no constant itself.
        let around = object.map(|(place, members)| {
            let is_known = |place: &Place| super::constants::numbers(place, &mut Vec::new()).is_ok();
            (place.filter(is_known), members)
        });
        self.frames.push(super::Frame { first_name, object: around.clone(), ..super::Frame::default() });
        if let Some((place, members)) = &around {
            let bound = self.bind_structure(members).and_then(|()| match place {
                Some(place) => {
                    let this = Self::address_of(place.clone());
                    self.names.push(("this", Binding::Place(Place::Fixed(this))));
                    self.bind_members(place, members)
                }
                None => Ok(()),
            });
            if bound.is_err() {
                self.back_to(mark);
                return Ok(None);
            }
        }
        self.names.extend(bindings.iter().cloned());
        let Ok(variables) = self.variables_of(function, values) else {
            self.back_to(mark);
            return Ok(None);
        };
        let result = match &function.returns {
            TypeName::Auto => None,
            returns => self.ty(returns).ok(),
        };
        let mut run = Run { variables, result, steps: 0 };
        let found = self.run_all(&mut run, &function.body);
        let returned = match found {
            Ok(Flow::Return(value)) if self.known_object(&value).is_some() => match &run.result {
                Some(ty) if *ty != value.ty => Err(Unclear),
                _ => Ok(value),
            },
            Ok(Flow::Return(value)) => match &function.returns {
                TypeName::Auto => Ok(value),
                returns => {
                    let ty = self.ty(returns).ok().filter(|ty| matches!(ty, Ty::Integer { .. }));
                    ty.ok_or(Unclear).and_then(|ty| self.converted(value, &ty))
                }
            },
            _ => Err(Unclear),
        };
        self.back_to(mark);
        Ok(returned.ok().filter(|value| value.number().is_some() || self.known_object(value).is_some()))
    }

    /// What the parameters of a function hold, and its template stands for.
    fn variables_of(
        &mut self,
        function: &'a Function<'s>,
        values: Vec<Value>,
    ) -> Result<Vec<(&'s str, Value)>, Unclear> {
        for (parameter, value) in function.parameters.iter().zip(&values) {
            self.deduce(function, &parameter.ty, &value.ty)?;
        }
        for parameter in &function.template {
            if self.binding(parameter.name).is_none() {
                let default = parameter.default.as_ref().ok_or(Unclear)?;
                let binding = self.template_argument(default, parameter.is_type)?;
                self.names.push((parameter.name, binding));
            }
        }
        let mut variables = Vec::new();
        for (parameter, value) in function.parameters.iter().zip(values) {
            let ty = match &parameter.ty {
                TypeName::Reference(of) => self.ty(of)?,
                ty => self.ty(ty)?,
            };
            // Nobody changes an object.
            if let Some(object) = self.known_object(&value)
                && value.ty == ty
            {
                self.names.push((parameter.name, Binding::Place(object)));
                continue;
            }
            if !matches!(ty, Ty::Integer { .. }) {
                return Err(Unclear);
            }
            variables.push((parameter.name, self.converted(value, &ty)?));
        }
        Ok(variables)
    }

    /// The place of an object whose numbers are all known.
    pub(super) fn known_object(&self, value: &Value) -> Option<Place> {
        let (Held::Place(place), Ty::Structure(_) | Ty::Array(..)) = (&value.held, &value.ty) else {
            return None;
        };
        super::constants::numbers(place, &mut Vec::new()).ok()?;
        Some((**place).clone())
    }

    /// The value of an expression that changes nothing, where it has a number.
    fn run_constant(&mut self, run: &Run<'s>, expression: &Expression<'s>) -> Result<Value, Unclear> {
        let (names, length) = (self.names.len(), self.text.len());
        self.bind_variables(run);
        let value = self.value(expression);
        self.names.truncate(names);
        if self.text.len() == length { value } else { Err(Unclear) }
    }

    /// Makes the variables known as what they hold now.
    fn bind_variables(&mut self, run: &Run<'s>) {
        for (name, value) in &run.variables {
            let place = self.known_object(value).unwrap_or_else(|| Place::Fixed(value.clone()));
            self.names.push((name, Binding::Place(place)));
        }
    }

    /// The object that a list or another one is, as one of a type.
    fn run_object(&mut self, run: &Run<'s>, ty: &Ty, from: &Expression<'s>) -> Result<Value, Unclear> {
        let (names, length) = (self.names.len(), self.text.len());
        self.bind_variables(run);
        let found = match &from.kind {
            ExpressionKind::List(..) => self.constant_of_type(ty, from).map(Self::object_at),
            _ => self.value(from),
        };
        self.names.truncate(names);
        let value = found.ok().filter(|_| self.text.len() == length).ok_or(Unclear)?;
        self.known_object(&value).filter(|place| place.ty() == ty).ok_or(Unclear)?;
        Ok(value)
    }

    fn object_at(place: Place) -> Value {
        Value { ty: place.ty().clone(), held: Held::Place(Rc::new(place)) }
    }

    fn run_all(&mut self, run: &mut Run<'s>, all: &'a [Statement<'s>]) -> Result<Flow, Unclear> {
        let count = run.variables.len();
        for statement in all {
            let flow = self.run(run, statement)?;
            if !matches!(flow, Flow::Next) {
                run.variables.truncate(count);
                return Ok(flow);
            }
        }
        run.variables.truncate(count);
        Ok(Flow::Next)
    }

    fn run(&mut self, run: &mut Run<'s>, statement: &'a Statement<'s>) -> Result<Flow, Unclear> {
        run.steps += 1;
        self.deeper()?;
        let done = if run.steps > MAX_STEPS { Err(Unclear) } else { self.run_one(run, statement) };
        self.shallower();
        done
    }

    fn run_one(&mut self, run: &mut Run<'s>, statement: &'a Statement<'s>) -> Result<Flow, Unclear> {
        match &statement.kind {
            StatementKind::Nothing => {}
            StatementKind::Alias(name, ty) => self.named_here(name, ty),
            StatementKind::Block(all) => return self.run_all(run, all),
            StatementKind::Declare(variables) => {
                for variable in variables {
                    self.run_declaration(run, variable)?;
                }
            }
            StatementKind::Expression(expression) => {
                self.run_value(run, expression)?;
            }
            StatementKind::If { condition, then, otherwise } => {
                if self.run_truth(run, condition)? {
                    return self.run(run, then);
                } else if let Some(otherwise) = otherwise {
                    return self.run(run, otherwise);
                }
            }
            StatementKind::Loop { first, condition, step, body } => {
                let count = run.variables.len();
                if let Some(first) = first {
                    self.run(run, first)?;
                }
                loop {
                    if let Some(condition) = condition
                        && !self.run_truth(run, condition)?
                    {
                        break;
                    }
                    match self.run(run, body)? {
                        Flow::Break => break,
                        flow @ Flow::Return(_) => return Ok(flow),
                        Flow::Next | Flow::Continue => {}
                    }
                    if let Some(step) = step {
                        self.run_value(run, step)?;
                    }
                }
                run.variables.truncate(count);
            }
            StatementKind::Each(variable, of, body) => {
                let (names, length) = (self.names.len(), self.text.len());
                let Place::Parts(parts, Ty::Array(..)) = self.place(of)? else { return Err(Unclear) };
                if self.text.len() != length {
                    return Err(Unclear);
                }
                for part in parts {
                    super::constants::numbers(&part, &mut Vec::new())?;
                    self.names.push((variable.name, Binding::Place(part)));
                    let flow = self.run(run, body);
                    self.names.truncate(names);
                    match flow? {
                        Flow::Break => break,
                        flow @ Flow::Return(_) => return Ok(flow),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            StatementKind::Return(Some(value)) => {
                return Ok(Flow::Return(match run.result.clone() {
                    Some(ty @ Ty::Structure(_)) => self.run_object(run, &ty, value)?,
                    _ => self.run_value(run, value)?,
                }));
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Continue => return Ok(Flow::Continue),
            _ => return Err(Unclear),
        }
        Ok(Flow::Next)
    }

    fn run_declaration(&mut self, run: &mut Run<'s>, variable: &'a Variable<'s>) -> Result<(), Unclear> {
        let object = match &variable.ty {
            TypeName::Auto => None,
            ty => self.ty(ty).ok().filter(|ty| matches!(ty, Ty::Structure(_) | Ty::Array(..))),
        };
        if let Some(ty) = object {
            let nothing =
                Expression::zero(variable_span(variable)).with(ExpressionKind::List(None, Vec::new()));
            let value = self.run_object(run, &ty, variable.value.as_ref().unwrap_or(&nothing))?;
            run.variables.push((variable.name, value));
            return Ok(());
        }
        let value = variable.value.as_ref().ok_or(Unclear)?;
        let value = match &value.kind {
            ExpressionKind::List(None, given) => match given.as_slice() {
                [] => Value::constant(0, Ty::INT),
                [only] => self.run_value(run, only)?,
                _ => return Err(Unclear),
            },
            _ => self.run_value(run, value)?,
        };
        let value = match &variable.ty {
            TypeName::Auto => value,
            ty => {
                let ty = self.ty(ty)?;
                self.converted(value, &ty)?
            }
        };
        run.variables.push((variable.name, value));
        Ok(())
    }

    fn run_truth(&mut self, run: &mut Run<'s>, condition: &Expression<'s>) -> Result<bool, Unclear> {
        let value = self.run_value(run, condition)?;
        Ok(value.number().ok_or(Unclear)? != 0)
    }

    fn run_value(&mut self, run: &mut Run<'s>, expression: &Expression<'s>) -> Result<Value, Unclear> {
        run.steps += 1;
        self.deeper()?;
        let value = if run.steps > MAX_STEPS { Err(Unclear) } else { self.run_value_within(run, expression) };
        self.shallower();
        let value = value?;
        value.number().ok_or(Unclear)?;
        Ok(value)
    }

    fn run_value_within(&mut self, run: &mut Run<'s>, expression: &Expression<'s>) -> Result<Value, Unclear> {
        match &expression.kind {
            ExpressionKind::Name(name, given) if given.is_empty() => {
                let own = run.variables.iter().rev().find(|(known, _)| known == name);
                match own {
                    Some((_, value)) => Ok(value.clone()),
                    None => {
                        let length = self.text.len();
                        let value = self.value(expression)?;
                        if self.text.len() == length { Ok(value) } else { Err(Unclear) }
                    }
                }
            }
            ExpressionKind::Number { .. } | ExpressionKind::Bool(_) | ExpressionKind::SizeOfType(_) => {
                self.value(expression)
            }
            ExpressionKind::Binary("&&", one, other) => {
                let both = self.run_truth(run, one)? && self.run_truth(run, other)?;
                Ok(Value::constant(u64::from(both), Ty::BOOL))
            }
            ExpressionKind::Binary("||", one, other) => {
                let any = self.run_truth(run, one)? || self.run_truth(run, other)?;
                Ok(Value::constant(u64::from(any), Ty::BOOL))
            }
            ExpressionKind::Binary(operator, one, other) if *operator != "," => {
                let (one, other) = (self.run_value(run, one)?, self.run_value(run, other)?);
                self.computed(operator, one, other)
            }
            ExpressionKind::Unary(operator @ ("-" | "~" | "!"), of) => {
                let value = self.run_value(run, of)?;
                match *operator {
                    "-" => self.computed("-", Value::constant(0, Ty::INT), value),
                    "~" => self.computed("^", value, Value::constant(u64::MAX, Ty::INT)),
                    _ => Ok(Value::constant(u64::from(value.number() == Some(0)), Ty::BOOL)),
                }
            }
            ExpressionKind::Unary(operator @ ("++" | "--"), of) => {
                let one = Value::constant(1, Ty::INT);
                self.run_change(run, of, if *operator == "++" { "+" } else { "-" }, one)
            }
            ExpressionKind::Postfix(operator, of) => {
                let old = self.run_value(run, of)?;
                let one = Value::constant(1, Ty::INT);
                self.run_change(run, of, if *operator == "++" { "+" } else { "-" }, one)?;
                Ok(old)
            }
            ExpressionKind::Assign(operator, to, from) if *operator != "()" => {
                let value = self.run_value(run, from)?;
                self.run_change(run, to, operator, value)
            }
            ExpressionKind::Choice(condition, then, otherwise) => {
                let taken = if self.run_truth(run, condition)? { then } else { otherwise };
                self.run_value(run, taken)
            }
            ExpressionKind::Cast(to, of) => {
                let ty = self.ty(to)?;
                let value = self.run_value(run, of)?;
                self.converted(value, &ty)
            }
            // Of a method what it gives, and of a constant a part.
            ExpressionKind::Call(callee, given)
                if given.is_empty() && matches!(callee.kind, ExpressionKind::Member { .. }) =>
            {
                self.run_constant(run, expression)
            }
            ExpressionKind::Member { .. } | ExpressionKind::Index(..) | ExpressionKind::Scoped { .. } => {
                self.run_constant(run, expression)
            }
            ExpressionKind::Call(callee, given) => self.run_call(run, callee, given),
            _ => Err(Unclear),
        }
    }

    fn run_call(
        &mut self,
        run: &mut Run<'s>,
        callee: &Expression<'s>,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let mut values = Vec::new();
        for each in given {
            values.push(self.run_value(run, each)?);
        }
        // The arguments get names, as if they stood in the program.
        let names = self.names.len();
        let mut named = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let name = *ARGUMENTS.get(index).ok_or(Unclear)?;
            self.names.push((name, Binding::Place(Place::Fixed(value))));
            named.push(Expression::named(name, callee.span));
        }
        let length = self.text.len();
        let value = self.called(callee, &named);
        self.names.truncate(names);
        if self.text.len() == length { value } else { Err(Unclear) }
    }

    /// Changes a number in an object, or in an array.
    fn run_change_of_part(
        &mut self,
        run: &mut Run<'s>,
        to: &Expression<'s>,
        operator: &str,
        by: Value,
    ) -> Result<Value, Unclear> {
        let old = self.run_constant(run, to)?;
        old.number().ok_or(Unclear)?;
        let ty = old.ty.clone();
        let new = if operator.is_empty() { by } else { self.computed(operator, old, by)? };
        let new = self.converted(new, &ty)?;
        new.number().ok_or(Unclear)?;
        // Which variable, and which parts of it, the last first.
        let (mut path, mut of) = (Vec::new(), to);
        let name = loop {
            match &of.kind {
                ExpressionKind::Member { object, name, arrow: false, .. } => {
                    path.push(Step::Member(name));
                    of = object;
                }
                ExpressionKind::Index(array, index) => {
                    let index = self.run_value(run, index)?.number().ok_or(Unclear)?;
                    path.push(Step::Element(usize::try_from(index).map_err(|_| Unclear)?));
                    of = array;
                }
                ExpressionKind::Name(name, _) => break *name,
                _ => return Err(Unclear),
            }
        };
        let at = run.variables.iter().rposition(|(known, _)| *known == name).ok_or(Unclear)?;
        let mut whole = self.known_object(&run.variables[at].1).ok_or(Unclear)?;
        let mut part = &mut whole;
        for step in path.iter().rev() {
            let Place::Parts(parts, ty) = part else { return Err(Unclear) };
            let index = match (step, &*ty) {
                (Step::Member(name), Ty::Structure(members)) if !members.is_union => {
                    members.all.iter().position(|(known, ..)| known == name).ok_or(Unclear)?
                }
                (Step::Element(index), Ty::Array(..)) => *index,
                _ => return Err(Unclear),
            };
            part = parts.get_mut(index).ok_or(Unclear)?;
        }
        *part = Place::Fixed(new.clone());
        run.variables[at].1 = Self::object_at(whole);
        Ok(new)
    }

    fn run_change(
        &mut self,
        run: &mut Run<'s>,
        to: &Expression<'s>,
        operator: &str,
        by: Value,
    ) -> Result<Value, Unclear> {
        if matches!(to.kind, ExpressionKind::Member { .. } | ExpressionKind::Index(..)) {
            return self.run_change_of_part(run, to, operator, by);
        }
        let ExpressionKind::Name(name, _) = to.kind else { return Err(Unclear) };
        let at = run.variables.iter().rposition(|(known, _)| *known == name).ok_or(Unclear)?;
        let old = run.variables[at].1.clone();
        let ty = old.ty.clone();
        let new = if operator.is_empty() { by } else { self.computed(operator, old, by)? };
        let new = self.converted(new, &ty)?;
        run.variables[at].1 = new.clone();
        Ok(new)
    }
}

/// A part of an object.
enum Step<'s> {
    Member(&'s str),
    Element(usize),
}

/// Where a variable is declared, as far as it says.
fn variable_span(variable: &Variable<'_>) -> Span {
    variable.value.as_ref().map_or(Span::new(0, 0), |value| value.span)
}

/// The arguments of a call in such a function.
const ARGUMENTS: [&str; 8] = ["$a", "$b", "$c", "$d", "$e", "$f", "$g", "$h"];

/// Whether a type may be that of an object.
const fn is_object(ty: &TypeName<'_>) -> bool {
    matches!(ty, TypeName::Named(..) | TypeName::Scoped(..))
}

/// Whether a function only gives something back.
fn is_one_return(body: &[Statement<'_>]) -> bool {
    matches!(body, [only] if matches!(only.kind, StatementKind::Return(Some(_))))
}

/// Whether nothing in a body is a statement that only kernels execute.
fn is_plain(body: &[Statement<'_>]) -> bool {
    fn is_so(statement: &Statement<'_>) -> bool {
        match &statement.kind {
            StatementKind::Block(all) => all.iter().all(is_so),
            StatementKind::If { then, otherwise, .. } => {
                is_so(then) && otherwise.as_ref().is_none_or(|otherwise| is_so(otherwise))
            }
            StatementKind::Loop { body, .. } | StatementKind::Each(_, _, body) => is_so(body),
            StatementKind::Nothing
            | StatementKind::Alias(..)
            | StatementKind::Declare(_)
            | StatementKind::Expression(_)
            | StatementKind::Return(_)
            | StatementKind::Break
            | StatementKind::Continue => true,
            _ => false,
        }
    }
    body.iter().all(is_so)
}
