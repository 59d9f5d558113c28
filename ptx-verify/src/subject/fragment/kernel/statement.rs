//! Statements as instructions.

use std::rc::Rc;

use ptx_syntax::Span;
use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, Function, Statement, StatementKind, TypeName, Variable,
};

use super::pack::is_pack;
use super::types::{Members, Space, Ty};
use super::value::{Held, Place, Value};
use super::{Binding, Lowering, Unclear};

/// A part of a `switch`: its labels and its statements.
type Part<'s> = (Vec<Option<Expression<'s>>>, Vec<Statement<'s>>);

/// Turns of a loop that are written one after the other.
pub(super) const MAX_TURNS: u32 = 32;
/// Bytes that they may be.
const MAX_UNROLLED: usize = 40_000;
/// The same where no asm statement is in them, if the loop can be one: long kernels are followed in part only.
const MAX_UNROLLED_DATA: usize = 4_000;

/// The variable that counts the turns of a loop, what it begins with, and what each turn adds.
fn counter<'l, 's>(
    first: &'l Statement<'s>,
    step: &Expression<'s>,
) -> Option<(&'l Variable<'s>, &'l Expression<'s>, u64)> {
    let StatementKind::Declare(variables) = &first.kind else { return None };
    let [variable] = variables.as_slice() else { return None };
    let is_counter =
        |of: &Expression<'s>| matches!(of.kind, ExpressionKind::Name(name, _) if name == variable.name);
    let by = match &step.kind {
        ExpressionKind::Unary("++", of) | ExpressionKind::Postfix("++", of) if is_counter(of) => 1,
        ExpressionKind::Unary("--", of) | ExpressionKind::Postfix("--", of) if is_counter(of) => u64::MAX,
        ExpressionKind::Assign(operator @ ("+" | "-"), of, by) if is_counter(of) => match by.kind {
            ExpressionKind::Number { value, .. } if *operator == "+" => value,
            ExpressionKind::Number { value, .. } => value.wrapping_neg(),
            _ => return None,
        },
        _ => return None,
    };
    Some((variable, variable.value.as_ref()?, by))
}

/// Whether an expression makes an object that becomes what it begins.
fn makes_object(value: &Expression<'_>) -> bool {
    matches!(
        value.kind,
        ExpressionKind::List(Some(_), _) | ExpressionKind::Cast(..) | ExpressionKind::Call(..)
    )
}

/// Whether all that comes to some instructions traps before it goes elsewhere.
fn traps(text: &str) -> bool {
    let mut words = text.lines().map(str::trim_start);
    words
        .find(|line| line.starts_with(TRAP) || line.contains(BRANCH))
        .is_some_and(|line| line.starts_with(TRAP))
}

/// What ends a kernel, and what goes elsewhere.
const TRAP: &str = "trap;";
const BRANCH: &str = "bra ";

/// What an alignment that nobody asks for is, for memory whose size is not known.
const ALIGN_OF_DYNAMIC: u64 = 16;

impl<'s> Lowering<'_, 's> {
    /// Statements with a scope of their own.
    pub(super) fn statements(&mut self, all: &[Statement<'s>]) -> Result<(), Unclear> {
        let (names, objects) = (self.names.len(), self.objects());
        for (index, statement) in all.iter().enumerate() {
            self.statement(statement)?;
            // Nobody comes to what follows, where it has no label.
            if self.has_returned && !all[index..].iter().any(super::scope::has_label) {
                break;
            }
        }
        self.end_scope(objects)?;
        self.names.truncate(names);
        Ok(())
    }

    fn statement(&mut self, statement: &Statement<'s>) -> Result<(), Unclear> {
        self.deeper()?;
        self.span = statement.span;
        let done = self.statement_within(statement);
        if done.is_err() && self.trouble.is_none() {
            self.trouble = Some(self.call().unwrap_or(statement.span));
        }
        self.shallower();
        done
    }

    fn scoped(&mut self, statement: &Statement<'s>) -> Result<(), Unclear> {
        let (names, objects) = (self.names.len(), self.objects());
        self.statement(statement)?;
        self.end_scope(objects)?;
        self.names.truncate(names);
        Ok(())
    }

    fn statement_within(&mut self, statement: &Statement<'s>) -> Result<(), Unclear> {
        match &statement.kind {
            StatementKind::Nothing => {}
            StatementKind::Alias(name, ty) => self.named_here(name, ty),
            StatementKind::Unknown => return Err(Unclear),
            StatementKind::Expression(expression) => {
                self.value(expression)?;
            }
            StatementKind::Block(all) => self.statements(all)?,
            StatementKind::Declare(variables) => {
                for variable in variables {
                    self.declaration(variable)?;
                }
            }
            StatementKind::Bind(names, value) => {
                let place = self.place(value)?;
                let place = match place {
                    Place::Fixed(Value { held: Held::Place(place), .. }) => (*place).clone(),
                    other => other,
                };
                for (name, part) in names.iter().zip(self.parts_of_place(&place, names.len())?) {
                    self.names.push((name, Binding::Place(part)));
                }
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.value(condition)?;
                let condition = self.truth(condition)?;
                if let Some(number) = condition.number() {
                    let taken = if number != 0 { Some(then) } else { otherwise.as_ref() };
                    return taken.map_or(Ok(()), |taken| self.scoped(taken));
                }
                let (other, end) = (self.label(), self.label());
                let (before, mark) = (self.mark(), self.mark());
                self.branch(&condition, false, &other)?;
                let from = self.text.len();
                self.scoped(then)?;
                self.has_returned = false;
                // Who traps ends the kernel: a right program goes the other way.
                if traps(&self.text[from..]) {
                    self.back_to(mark);
                    return otherwise.as_ref().map_or(Ok(()), |otherwise| self.scoped(otherwise));
                }
                if otherwise.is_some() {
                    self.emit(&format!("bra {end};"));
                }
                self.place_label(&other);
                if let Some(otherwise) = otherwise {
                    let from = self.text.len();
                    self.scoped(otherwise)?;
                    self.has_returned = false;
                    if traps(&self.text[from..]) {
                        self.back_to(before);
                        return self.scoped(then);
                    }
                }
                self.place_label(&end);
            }
            StatementKind::Loop { first, condition, step, body } => {
                let names = self.names.len();
                let (first, condition, step) = (first.as_deref(), condition.as_ref(), step.as_ref());
                let (before, start, templates) = (self.mark(), self.text.len(), self.templates.len());
                let mut is_done = self.unrolled(first, condition, step, body)?;
                let is_data = is_done && self.templates.len() == templates;
                if is_data && self.text.len() - start > MAX_UNROLLED_DATA {
                    self.back_to(before);
                    let before = self.mark();
                    if self.rolled(first, condition, step, body).is_ok() {
                        self.names.truncate(names);
                        return Ok(());
                    }
                    self.back_to(before);
                    is_done = self.unrolled(first, condition, step, body)?;
                }
                if !is_done {
                    self.rolled(first, condition, step, body)?;
                    self.names.truncate(names);
                }
            }
            StatementKind::Each(variable, of, body) => self.each(variable, of, body)?,
            StatementKind::Switch(value, parts) => self.switch(value, parts)?,
            StatementKind::DoWhile(body, condition) => {
                let (again, next, end) = (self.label(), self.label(), self.label());
                self.place_label(&again);
                self.in_loop(&next, &end, body)?;
                self.place_label(&next);
                self.span = condition.span;
                let value = self.value(condition)?;
                let value = self.truth(value)?;
                self.branch(&value, true, &again)?;
                self.place_label(&end);
            }
            StatementKind::Return(value) => self.returned(value.as_ref())?,
            StatementKind::Break | StatementKind::Continue => {
                let is_break = matches!(statement.kind, StatementKind::Break);
                let frame = self.frames.last().ok_or(Unclear)?;
                let (next, end, within) = frame.loops.last().ok_or(Unclear)?;
                let to = if is_break { end } else { next };
                if to.is_empty() {
                    return Err(Unclear);
                }
                let (jump, objects) = (format!("bra {to};"), *within);
                // `continue` in a `switch` leaves the objects of the loop around as well.
                let all = frame.loops.iter().rev().find(|(other, ..)| other == to).map(|(.., all)| *all);
                let objects = if is_break { objects } else { all.unwrap_or(objects).min(objects) };
                self.destroy_down_to(objects)?;
                self.emit(&jump);
            }
            StatementKind::Label(name) => self.label_of_source(name)?,
            StatementKind::Goto(name) => self.goto(name)?,
            StatementKind::Asm(id, operands) => self.asm(*id, operands)?,
        }
        Ok(())
    }

    fn switch(&mut self, value: &Expression<'s>, parts: &[Part<'s>]) -> Result<(), Unclear> {
        let value = self.value(value)?;
        let value = self.copied(value)?;
        let end = self.label();
        let labels: Vec<String> = parts.iter().map(|_| self.label()).collect();
        let mut other = &end;
        for ((cases, _), label) in parts.iter().zip(&labels) {
            for case in cases {
                let Some(case) = case else {
                    other = label;
                    continue;
                };
                let case = self.value(case)?;
                let is_this = self.computed("==", value.clone(), case)?;
                match is_this.number() {
                    Some(0) => {}
                    Some(_) => self.emit(&format!("bra {label};")),
                    None => self.branch(&is_this, true, label)?,
                }
            }
        }
        let jump = format!("bra {other};");
        self.emit(&jump);
        // `continue` is of the loop around.
        let frame = self.frames.last_mut().ok_or(Unclear)?;
        let next = frame.loops.last().map_or_else(String::new, |(next, ..)| next.clone());
        let own = frame.objects.len();
        frame.loops.push((next, end.clone(), own));
        let (names, objects) = (self.names.len(), self.objects());
        for ((_, statements), label) in parts.iter().zip(&labels) {
            self.place_label(label);
            for statement in statements {
                self.statement(statement)?;
            }
            self.has_returned = false;
            // One that a part declares is no object of the next one.
            if self.objects() > objects {
                return Err(Unclear);
            }
        }
        self.names.truncate(names);
        self.frames.last_mut().ok_or(Unclear)?.loops.pop();
        self.place_label(&end);
        Ok(())
    }

    fn rolled(
        &mut self,
        first: Option<&Statement<'s>>,
        condition: Option<&Expression<'s>>,
        step: Option<&Expression<'s>>,
        body: &Statement<'s>,
    ) -> Result<(), Unclear> {
        if let Some(first) = first {
            self.statement(first)?;
        }
        self.repeated(condition, step, body)
    }

    pub(super) fn repeated(
        &mut self,
        condition: Option<&Expression<'s>>,
        step: Option<&Expression<'s>>,
        body: &Statement<'s>,
    ) -> Result<(), Unclear> {
        let (again, next, end) = (self.label(), self.label(), self.label());
        self.place_label(&again);
        if let Some(condition) = condition {
            self.span = condition.span;
            let value = self.value(condition)?;
            let value = self.truth(value)?;
            match value.number() {
                Some(0) => return Ok(()),
                Some(_) => {}
                None => self.branch(&value, false, &end)?,
            }
        }
        self.in_loop(&next, &end, body)?;
        self.place_label(&next);
        if let Some(step) = step {
            self.span = step.span;
            self.value(step)?;
        }
        // The round ends where its text does.
        if matches!(body.kind, StatementKind::Block(_)) && !body.span.is_empty() {
            self.span = Span::new(body.span.end - 1, body.span.end);
        }
        self.emit(&format!("bra {again};"));
        self.place_label(&end);
        Ok(())
    }

    /// Writes the turns of a short loop one after the other, as compilers do: what its counter chooses is known then. Says
    /// whether that was done.
    fn unrolled(
        &mut self,
        first: Option<&Statement<'s>>,
        condition: Option<&Expression<'s>>,
        step: Option<&Expression<'s>>,
        body: &Statement<'s>,
    ) -> Result<bool, Unclear> {
        let (Some(first), Some(condition), Some(step)) = (first, condition, step) else { return Ok(false) };
        let Some((variable, value, by)) = counter(first, step) else { return Ok(false) };
        if super::scope::has_label(body) {
            return Ok(false);
        }
        let before = self.mark();
        let attempt = self.turns(variable, value, condition, by, body);
        match attempt {
            Ok(true) => Ok(true),
            // It is no such loop, or its body sets the counter.
            Ok(false) | Err(Unclear) => {
                self.back_to(before);
                Ok(false)
            }
        }
    }

    fn turns(
        &mut self,
        variable: &Variable<'s>,
        value: &Expression<'s>,
        condition: &Expression<'s>,
        by: u64,
        body: &Statement<'s>,
    ) -> Result<bool, Unclear> {
        let ty = self.ty(&variable.ty)?;
        if !matches!(ty, Ty::Integer { .. }) {
            return Ok(false);
        }
        let value = self.value(value)?;
        let Some(mut number) = value.number() else { return Ok(false) };
        let names = self.names.len();
        let end = self.label();
        let start = self.text.len();
        for turn in 0.. {
            let now = self.converted(Value::constant(number, ty.clone()), &ty)?;
            number = now.number().ok_or(Unclear)?;
            self.names.push((variable.name, Binding::Place(Place::Fixed(now))));
            let holds = self.value(condition)?;
            let holds = self.truth(holds)?;
            match holds.number() {
                Some(0) => break,
                Some(_) if turn < MAX_TURNS && self.text.len() - start < MAX_UNROLLED => {}
                _ => return Ok(false),
            }
            let next = self.label();
            self.in_loop(&next, &end, body)?;
            self.place_label(&next);
            self.names.truncate(names);
            number = number.wrapping_add(by);
        }
        self.names.truncate(names);
        self.place_label(&end);
        Ok(true)
    }

    pub(super) fn in_loop(&mut self, next: &str, end: &str, body: &Statement<'s>) -> Result<(), Unclear> {
        let labels = (next.to_owned(), end.to_owned(), self.objects());
        self.frames.last_mut().ok_or(Unclear)?.loops.push(labels);
        self.scoped(body)?;
        self.has_returned = false;
        self.frames.last_mut().ok_or(Unclear)?.loops.pop();
        Ok(())
    }

    fn returned(&mut self, value: Option<&Expression<'s>>) -> Result<(), Unclear> {
        self.is_elided = value.is_some_and(makes_object);
        let result = self.frames.last().and_then(|frame| frame.result.clone());
        let pointer = self.frames.last().and_then(|frame| frame.pointer.clone());
        if self.frames.last().is_some_and(|frame| frame.returns_place) {
            let place = self.place(value.ok_or(Unclear)?)?;
            if result.is_some() {
                return Err(Unclear);
            }
            // Which of several it is does not change any more.
            let place = match place {
                Place::Chosen { registers, index, ty } => {
                    let kept = self.fresh(32)?;
                    self.emit(&format!("mov.b32 {}, {};", kept.name(), index.name()));
                    Place::Chosen { registers, index: kept, ty }
                }
                other => other,
            };
            self.frames.last_mut().ok_or(Unclear)?.result = Some(place);
        } else if let (None, Some(pointer), Some(value)) = (&result, pointer, value) {
            let value = self.value(value)?;
            let value = self.converted(Self::decayed(value), &pointer)?;
            let place = self.kept(value, false)?;
            self.frames.last_mut().ok_or(Unclear)?.result = Some(place);
        } else if let (Some(result), Some(value)) = (&result, value) {
            match result.ty().clone() {
                // A list is what its constructor gets.
                Ty::Structure(members) if matches!(value.kind, ExpressionKind::List(..)) => {
                    self.constructed(result, &members, Some(value))?;
                }
                Ty::Structure(members) if self.is_made_by(&members, value) => {
                    let given = value.with(ExpressionKind::List(None, vec![value.clone()]));
                    self.constructed(result, &members, Some(&given))?;
                }
                _ => self.initialize(result, value)?,
            }
        } else if let Some(value) = value {
            self.value(value)?;
        }
        self.is_elided = false;
        let result =
            self.frames.last().and_then(|frame| frame.result.as_ref().map(|result| result.ty().clone()));
        // Which object is destroyed, and which becomes the result, is not known.
        if self.objects() > 0 && result.is_some_and(|ty| self.is_destructible(&ty)) {
            return Err(Unclear);
        }
        self.destroy_down_to(0)?;
        let end = self.frames.last().map(|frame| frame.end.clone()).ok_or(Unclear)?;
        self.emit(&format!("bra {end};"));
        self.has_returned = true;
        Ok(())
    }

    pub(super) fn declaration(&mut self, variable: &Variable<'s>) -> Result<(), Unclear> {
        self.is_elided = variable.value.as_ref().is_some_and(makes_object);
        let place = match &variable.ty {
            _ if variable.is_shared => self.shared_variable(variable)?,
            // It lies in global memory.
            _ if variable.is_static && !variable.is_constant => {
                self.device_variable(variable)?.ok_or(Unclear)?
            }
            TypeName::Reference(of) => {
                let lambda = self.lambda_of(variable.value.as_ref());
                if let Some(lambda) = lambda.filter(|_| **of == TypeName::Auto) {
                    self.names.push((variable.name, Binding::Lambda(lambda)));
                    return Ok(());
                }
                self.reference(of, variable)?
            }
            // `auto*` is the type of the pointer that it begins with.
            named if named.is_told_by_value() => {
                if let Some(lambda) = self.lambda_of(variable.value.as_ref()) {
                    self.names.push((variable.name, Binding::Lambda(lambda)));
                    return Ok(());
                }
                let value = variable.value.as_ref().ok_or(Unclear)?;
                if let Some(place) = self.atomic_place(value)? {
                    self.is_elided = false;
                    self.names.push((variable.name, Binding::Place(place)));
                    return Ok(());
                }
                let at = value.span;
                let value = self.value(value)?;
                self.kept_pointer(Self::decayed(value), variable.is_constant, at)?
            }
            named => {
                let ty = match (self.ty_of_variable(named, variable), variable.value.as_ref()) {
                    (Ok(ty), value) if value.is_none() || !matches!(ty, Ty::Group(_)) => ty,
                    // `cg::thread_block block = cg::this_thread_block();`
                    (_, Some(value)) => {
                        let value = self.value(value)?;
                        if !matches!(value.ty, Ty::Group(_) | Ty::Callable(_)) {
                            return Err(Unclear);
                        }
                        self.names.push((variable.name, Binding::Place(Place::Fixed(value))));
                        return Ok(());
                    }
                    (_, None) => return Err(Unclear),
                };
                self.variable(variable, ty)?
            }
        };
        self.is_elided = false;
        let is_own =
            !variable.is_shared && !variable.is_static && !matches!(variable.ty, TypeName::Reference(_));
        if is_own && self.is_destructible(place.ty()) {
            self.declare_object(&place)?;
        }
        self.names.push((variable.name, Binding::Place(place)));
        Ok(())
    }

    fn variable(&mut self, variable: &Variable<'s>, ty: Ty) -> Result<Place, Unclear> {
        // What is known of a constant object, arguments of templates may be.
        if let (true, Ty::Structure(_), Some(value)) = (variable.is_constant, &ty, &variable.value)
            && matches!(value.kind, ExpressionKind::List(..))
        {
            let mark = self.mark();
            if let Ok(place) = self.constant_of_type(&ty, value) {
                return Ok(place);
            }
            self.back_to(mark);
        }
        if let (true, Ty::Structure(_), Some(value)) = (variable.is_constant, &ty, &variable.value)
            && matches!(value.kind, ExpressionKind::Call(..))
        {
            let (mark, length) = (self.mark(), self.text.len());
            let object = self.value(value).ok().and_then(|value| self.known_object(&value));
            if let Some(place) = object.filter(|place| *place.ty() == ty && self.text.len() == length) {
                return Ok(place);
            }
            self.back_to(mark);
        }
        if let Ty::Structure(members) = &ty
            && self.is_constructed(members, variable.value.as_ref())
        {
            if let Some(copied) = self.copy_of(&ty, variable.value.as_ref())? {
                return Ok(copied);
            }
            let place = self.made(&ty)?;
            let members = Rc::clone(members);
            self.constructed(&place, &members, variable.value.as_ref())?;
            return Ok(place);
        }
        let Some(value) = &variable.value else { return self.made(&ty) };
        if matches!(ty, Ty::Atomic(..)) {
            let value = match &value.kind {
                ExpressionKind::List(None, given) if given.len() == 1 => &given[0],
                _ => value,
            };
            return self.as_atomic(value, &ty);
        }
        if let (Ty::Array(of, 0), ExpressionKind::List(own, parts)) = (&ty, &value.kind)
            && parts.iter().any(is_pack)
        {
            let names = self.names.len();
            let parts = self.without_dots(parts)?;
            let place = self.made(&Ty::Array(Rc::clone(of), parts.len() as u64))?;
            self.initialize(&place, &value.with(ExpressionKind::List(own.clone(), parts)))?;
            self.names.truncate(names);
            return Ok(place);
        }
        let ty = match (ty, &value.kind) {
            // The list says how long it is.
            (Ty::Array(of, 0), ExpressionKind::List(_, parts)) => Ty::Array(of, parts.len() as u64),
            (ty, _) => ty,
        };
        let is_list = matches!(value.kind, ExpressionKind::List(..));
        if !is_list && matches!(ty, Ty::Integer { .. } | Ty::Pointer(..)) {
            let at = value.span;
            let value = self.value(value)?;
            let value = self.converted(value, &ty)?;
            return self.kept_pointer(value, variable.is_constant, at);
        }
        let place = self.made(&ty)?;
        self.initialize(&place, value)?;
        Ok(place)
    }

    /// A copy of an object of the same type; none where a value is no such.
    fn copy_of(&mut self, ty: &Ty, value: Option<&Expression<'s>>) -> Result<Option<Place>, Unclear> {
        let is_list = |value: &&Expression<'s>| matches!(value.kind, ExpressionKind::List(..));
        let Some(value) = value.filter(|value| !is_list(value)) else { return Ok(None) };
        let mark = self.mark();
        // Copies of what has a destructor have constructors of their own.
        if self.is_destructible(ty) && !makes_object(value) {
            return Ok(None);
        }
        match self.value(value) {
            Ok(found) if found.ty == *ty => {
                let place = self.made(ty)?;
                self.write(&place, found)?;
                Ok(Some(place))
            }
            Ok(_) | Err(Unclear) => {
                self.back_to(mark);
                Ok(None)
            }
        }
    }

    /// Whether a structure is made of what a list or a constructor says, and is no copy of another one.
    fn is_constructed(&self, members: &Members, value: Option<&Expression<'s>>) -> bool {
        let is_list = value.is_none_or(|value| matches!(value.kind, ExpressionKind::List(..)));
        let is_maker = |function: &Function<'_>| {
            function.owner == Some(members.structure) && function.name == members.name
        };
        is_list || self.program.functions.iter().any(is_maker) || self.base_that_makes(members).is_some()
    }

    /// A variable that begins with a value; a constant is that value.
    pub(super) fn kept(&mut self, value: Value, is_constant: bool) -> Result<Place, Unclear> {
        // A pointer to what is in no memory stays what it is.
        let is_fixed = (is_constant && value.number().is_some())
            || matches!(value.ty, Ty::Group(_) | Ty::Callable(_) | Ty::Any)
            || (matches!(value.held, Held::Place(_)) && matches!(value.ty, Ty::Pointer(..)));
        if is_fixed {
            return Ok(Place::Fixed(value));
        }
        let place = self.made(&value.ty)?;
        self.write(&place, value)?;
        Ok(place)
    }

    fn reference(&mut self, of: &TypeName<'s>, variable: &Variable<'s>) -> Result<Place, Unclear> {
        let value = variable.value.as_ref().ok_or(Unclear)?;
        let place = self.place(value)?;
        if *of == TypeName::Auto {
            return Ok(place);
        }
        let ty = self.ty_in_memory(of)?;
        match place {
            Place::Memory { address, .. } => Ok(Place::Memory { address, ty }),
            other if *other.ty() == ty || variable.is_constant => Ok(other),
            _ => Err(Unclear),
        }
    }

    /// Which instance of a template the function is that is being translated: what the parameters stand for.
    fn instance(&self) -> String {
        let Some(frame) = self.frames.last() else { return String::new() };
        let is_own = |function: &&Function<'s>| Some(function.span) == frame.function && !function.is_kernel;
        let function = self.program.functions.iter().find(is_own);
        let template = function.map_or(&[][..], |function| &function.template);
        let given = template.iter().filter_map(|each| self.binding(each.name)?.given().ok());
        let of_object = frame.object.iter().flat_map(|(_, members)| members.given.iter().cloned());
        let all: Vec<_> = of_object.chain(given).collect();
        if all.is_empty() { String::new() } else { format!("{all:?}") }
    }

    /// A variable in shared memory: one for each declaration, whoever comes to it.
    pub(super) fn shared_variable(&mut self, variable: &Variable<'s>) -> Result<Place, Unclear> {
        if variable.value.is_some() {
            return Err(Unclear);
        }
        let ty = self.ty_in_memory(&variable.ty)?;
        let (size, own) = ty.layout()?;
        let asked = match &variable.align {
            Some(asked) => self.alignment(asked)?,
            None if size == 0 => ALIGN_OF_DYNAMIC,
            None => 1,
        };
        let align = own.max(asked);
        let name = if size == 0 { "c_dynamic".to_owned() } else { format!("c_{}", variable.name) };
        // All names of dynamic memory are one.
        let key = match size {
            0 => (0, 0, String::new()),
            // Each instance of a template has variables of its own.
            _ => (std::ptr::from_ref(variable).addr(), size, self.instance()),
        };
        let index = match self.shared_by_place.get(&key) {
            Some(index) => *index,
            None => {
                let index = self.shared.len();
                let name = if size == 0 { name } else { format!("{name}_{index}") };
                self.shared.push((name, size, align));
                self.shared_by_place.insert(key, index);
                index
            }
        };
        let known = self.shared.get_mut(index).ok_or(Unclear)?;
        known.2 = known.2.max(align);
        let name = known.0.clone();
        let address = self.fresh(64)?;
        self.emit(&format!("mov.b64 {}, {name};", address.name()));
        let pointer = Ty::Pointer(Rc::new(ty.clone()), Space::Shared);
        Ok(Place::Memory { address: Value { ty: pointer, held: Held::Register(address) }, ty })
    }
}
