//! What is known at a place of the host: constants, and what templates and lambdas around it are called with.

use std::cmp::Reverse;
use std::rc::Rc;

use ptx_syntax::Span;
use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, Function, Program, Statement, StatementKind, TypeName, Variable,
};

use super::scope::CALL;
use super::types::Ty;
use super::value::{Place, Value};
use super::{Binding, Frame, Lowering, Unclear};

/// Uses that are tried.
pub(super) const MAX_TRIED: usize = 8;
/// Expressions that the type of an argument is looked for through.
pub(super) const MAX_STEPS: usize = 16;
/// Lambdas around a place.
const MAX_LAMBDAS: usize = 8;
/// Functions that pass a lambda on.
const MAX_PASSED: usize = 3;

/// What the functions of the host call, and the lambdas that their variables are.
#[derive(Default)]
pub(super) struct Calls<'a, 's> {
    all: Vec<&'a Expression<'s>>,
    lambdas: Vec<(usize, &'s str)>,
}

impl<'a, 's> Lowering<'a, 's> {
    /// Does something where the constants are known of the function of the host around a place.
    pub(super) fn in_host<T>(
        &mut self,
        at: Span,
        left: usize,
        work: impl Fn(&mut Self) -> Result<T, Unclear>,
    ) -> Result<T, Unclear> {
        let left = left.checked_sub(1).ok_or(Unclear)?;
        let host = self.host_of(at);
        let bindings = match host {
            Some(host) => self.bindings_of_use(host, left).unwrap_or_default(),
            None => Vec::new(),
        };
        let owner = host.and_then(|host| host.owner);
        let given = owner.and_then(|owner| self.structure_of_use(owner, left));
        let first_name = self.names.len();
        self.frames.push(Frame { first_name, structure: owner, ..Frame::default() });
        if let (Some(owner), Some(given)) = (owner, given) {
            self.bind_template(owner, &given);
        }
        self.names.extend(bindings);
        self.constants_before(host.map_or(&[][..], |host| &host.body), at);
        if host.is_some() {
            self.bind_lambdas_around(at, left);
        }
        let mark = self.mark();
        let mut done = work(self);
        // Where it is done for each of a pack, the first one stands for all.
        let firsts: Vec<(&'s str, Binding)> = self.names[first_name.min(self.names.len())..]
            .iter()
            .filter_map(|(name, binding)| match binding {
                Binding::Pack(all) => Some((*name, all.first()?.clone())),
                _ => None,
            })
            .collect();
        if done.is_err() && !firsts.is_empty() {
            self.back_to(mark);
            self.names.extend(firsts);
            done = work(self);
        }
        self.frames.truncate(self.frames.len().saturating_sub(1));
        self.names.truncate(first_name);
        done
    }

    /// Makes known what the lambdas around a place are called with, and the constants in them.
    fn bind_lambdas_around(&mut self, at: Span, left: usize) {
        let program = self.program;
        let lambdas = program.lambdas.iter().enumerate();
        let mut around: Vec<(usize, &'a Function<'s>)> =
            lambdas.filter(|(_, lambda)| is_inside(at, lambda.extent)).collect();
        // Those in others are read first.
        around.sort_by_key(|(number, lambda)| (Reverse(lambda.extent.len()), Reverse(*number)));
        for (number, lambda) in around.into_iter().take(MAX_LAMBDAS) {
            if !lambda.parameters.is_empty() || !lambda.template.is_empty() {
                self.bind_lambda(number, lambda, left);
            }
            self.constants_before(&lambda.body, at);
        }
    }

    /// Makes known what the first call of a lambda that is understood gives it.
    fn bind_lambda(&mut self, number: usize, lambda: &'a Function<'s>, left: usize) {
        for call in self.calls_of_lambda(number, lambda).into_iter().take(MAX_TRIED) {
            let ExpressionKind::Call(callee, given) = &call.kind else { continue };
            let template = match &callee.kind {
                ExpressionKind::Name(_, template) | ExpressionKind::Member { template, .. } => &template[..],
                _ => &[],
            };
            let mark = self.mark();
            let found = self.in_host(call.span, left, |this| {
                let bindings = this.first_bindings(&lambda.template, template)?;
                let types = given.iter().map(|each| this.type_in_host(call.span, each, MAX_STEPS));
                Ok((bindings, types.collect::<Vec<_>>()))
            });
            self.back_to(mark);
            let Ok((bindings, types)) = found else { continue };
            if bindings.is_empty() && types.iter().all(Option::is_none) {
                continue;
            }
            self.names.extend(bindings);
            for (parameter, ty) in lambda.parameters.iter().zip(types) {
                let Some(ty) = ty else { continue };
                let mark = self.mark();
                if self.deduce(lambda, &parameter.ty, &ty).is_err() {
                    self.back_to(mark);
                }
                let place = self.made(&ty).unwrap_or(Place::Unknown(ty));
                self.names.push((parameter.name, Binding::Place(place)));
            }
            return;
        }
    }

    /// The calls of a lambda, by the variable that it is, or in the functions that it is passed to.
    fn calls_of_lambda(&mut self, number: usize, lambda: &Function<'s>) -> Vec<&'a Expression<'s>> {
        let (calls, program) = (self.calls_of_host(), self.program);
        let name = calls.lambdas.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
        let Some(host) = self.host_of(lambda.extent) else { return Vec::new() };
        let mut found = Vec::new();
        let is_it = |of: &Expression<'s>| match &of.kind {
            ExpressionKind::Lambda(known) => *known == number,
            ExpressionKind::Name(known, _) => Some(*known) == name && is_inside(of.span, host.extent),
            _ => false,
        };
        called_by(program, &calls.all, &is_it, host.extent, &mut found, MAX_PASSED);
        found
    }

    /// What the first call of an object that is understood says about the parameters of the template that its operator is.
    fn bindings_of_object(
        &mut self,
        function: &'a Function<'s>,
        left: usize,
    ) -> Option<Vec<(&'s str, Binding)>> {
        let (calls, program) = (self.calls_of_host(), self.program);
        let name = program.structure(function.owner?).name;
        let is_object = |ty: &TypeName<'s>| matches!(ty, TypeName::Named(known, _) if *known == name);
        let is_made = |of: &Expression<'s>| match &of.kind {
            ExpressionKind::List(Some(ty), _) | ExpressionKind::Cast(ty, _) => is_object(ty),
            ExpressionKind::Call(callee, _) => {
                matches!(callee.kind, ExpressionKind::Name(known, _) if known == name)
            }
            _ => false,
        };
        let is_it = |of: &Expression<'s>| match &of.kind {
            ExpressionKind::Name(known, _) => self.host_of(of.span).is_some_and(|host| {
                let mut variables = Vec::new();
                host.body.iter().for_each(|each| declared_before(each, of.span, &mut variables));
                let variable = variables.into_iter().rev().find(|each| each.name == *known);
                variable.is_some_and(|each| is_object(&each.ty) || each.value.as_ref().is_some_and(&is_made))
            }),
            _ => is_made(of),
        };
        let mut found = Vec::new();
        called_by(program, &calls.all, &is_it, Span::new(0, u32::MAX), &mut found, MAX_PASSED);
        found.into_iter().take(MAX_TRIED).find_map(|call| {
            let ExpressionKind::Call(callee, given) = &call.kind else { return None };
            let template = match &callee.kind {
                ExpressionKind::Member { template, name: CALL, .. } => &template[..],
                _ => &[],
            };
            let mark = self.mark();
            let found = self.in_host(call.span, left, |this| {
                let bound = this.bound(&function.template, template, false)?;
                let types: Vec<_> =
                    given.iter().map(|each| this.type_in_host(call.span, each, MAX_STEPS)).collect();
                let first_name = this.names.len();
                this.frames.push(Frame { first_name, ..Frame::default() });
                this.names.extend(bound);
                this.deduced(function, &types)
            });
            self.back_to(mark);
            found.ok()
        })
    }

    /// What the first call of a function of the host that is understood says about the parameters of its template.
    pub(super) fn bindings_of_call(
        &mut self,
        function: &'a Function<'s>,
        left: usize,
    ) -> Option<Vec<(&'s str, Binding)>> {
        if function.is_device || left == 0 {
            return None;
        }
        if function.name == CALL {
            return self.bindings_of_object(function, left);
        }
        let calls = self.calls_of_host();
        let is_call = |call: &&&'a Expression<'s>| {
            let ExpressionKind::Call(callee, given) = &call.kind else { return false };
            let is_named = match &callee.kind {
                ExpressionKind::Name(name, template)
                | ExpressionKind::Scoped { name, template, .. }
                | ExpressionKind::Member { name, template, .. } => {
                    *name == function.name && template.is_empty()
                }
                _ => false,
            };
            is_named && given.len() <= function.parameters.len() && !is_inside(call.span, function.extent)
        };
        let all: Vec<&'a Expression<'s>> =
            calls.all.iter().filter(is_call).take(MAX_TRIED).copied().collect();
        all.into_iter().find_map(|call| {
            let ExpressionKind::Call(_, given) = &call.kind else { return None };
            let mark = self.mark();
            let found = self.in_host(call.span, left, |this| {
                let types: Vec<_> =
                    given.iter().map(|each| this.type_in_host(call.span, each, MAX_STEPS)).collect();
                let first_name = this.names.len();
                this.frames.push(Frame { first_name, ..Frame::default() });
                this.deduced(function, &types)
            });
            self.back_to(mark);
            found.ok()
        })
    }

    /// The calls in all functions of the host.
    fn calls_of_host(&mut self) -> Rc<Calls<'a, 's>> {
        if let Some(known) = &self.calls_of_host {
            return Rc::clone(known);
        }
        let mut calls = Calls::default();
        let program = self.program;
        for function in program.functions.iter().filter(|each| !each.is_device && !each.is_kernel) {
            calls.add_statements(program, &function.body);
        }
        let calls = Rc::new(calls);
        self.calls_of_host = Some(Rc::clone(&calls));
        calls
    }

    /// Notes the numbers that statements declare which a place may see. All that a macro makes stands where it is used.
    fn constants_before(&mut self, all: &'a [Statement<'s>], at: Span) {
        let is_before = |span: Span| span.start < at.start || span == at;
        for statement in all.iter().filter(|statement| is_before(statement.span)) {
            self.constants_of(statement);
            // What is declared in a block is seen there.
            if !is_inside(at, statement.span) {
                continue;
            }
            match &statement.kind {
                StatementKind::Block(all) => self.constants_before(all, at),
                StatementKind::If { then, otherwise, .. } => {
                    for each in std::iter::once(then).chain(otherwise) {
                        self.constants_before(std::slice::from_ref(each), at);
                    }
                }
                StatementKind::Loop { body, .. }
                | StatementKind::DoWhile(body, _)
                | StatementKind::Each(_, _, body) => {
                    self.constants_before(std::slice::from_ref(body), at);
                }
                StatementKind::Switch(_, parts) => {
                    parts.iter().for_each(|(_, all)| self.constants_before(all, at));
                }
                _ => {}
            }
        }
    }

    /// Notes the numbers that a statement of the host declares.
    fn constants_of(&mut self, statement: &'a Statement<'s>) {
        if let StatementKind::Alias(name, ty) = &statement.kind {
            self.named_here(name, ty);
        }
        let StatementKind::Declare(variables) = &statement.kind else { return };
        for variable in variables {
            let Some(value) = &variable.value else { continue };
            let mark = self.mark();
            let is_extents = is_extents(&variable.ty)
                || matches!(&value.kind, ExpressionKind::List(Some(ty), _) | ExpressionKind::Cast(ty, _) if is_extents(ty));
            if is_extents {
                let found = self.extents(value);
                self.back_to(mark);
                if let Ok(found) = found {
                    let ty = Ty::Array(Rc::new(Ty::UINT), found.len() as u64);
                    let extent = |extent: u64| Place::Fixed(Value::constant(extent, Ty::UINT));
                    let place = Place::Parts(found.into_iter().map(extent).collect(), ty);
                    self.names.push((variable.name, Binding::Place(place)));
                }
                continue;
            }
            let found = self.value(value);
            self.back_to(mark);
            if let Ok(value) = found
                && value.number().is_some()
            {
                self.names.push((variable.name, Binding::Place(Place::Fixed(value))));
            }
        }
    }
}

impl<'a, 's> Calls<'a, 's> {
    fn add_statements(&mut self, program: &'a Program<'s>, all: &'a [Statement<'s>]) {
        for statement in all {
            self.add_statement(program, statement);
        }
    }

    fn add_statement(&mut self, program: &'a Program<'s>, statement: &'a Statement<'s>) {
        match &statement.kind {
            StatementKind::Declare(variables) => {
                for variable in variables {
                    let Some(value) = &variable.value else { continue };
                    if let ExpressionKind::Lambda(number) = value.kind {
                        self.lambdas.push((number, variable.name));
                    }
                    self.add(program, value);
                }
            }
            StatementKind::Expression(value)
            | StatementKind::Bind(_, value)
            | StatementKind::Return(Some(value)) => self.add(program, value),
            StatementKind::Block(all) => self.add_statements(program, all),
            StatementKind::If { condition, then, otherwise } => {
                self.add(program, condition);
                self.add_statement(program, then);
                otherwise.iter().for_each(|otherwise| self.add_statement(program, otherwise));
            }
            StatementKind::Loop { first, body, .. } => {
                first.iter().for_each(|first| self.add_statement(program, first));
                self.add_statement(program, body);
            }
            StatementKind::Each(_, _, body) | StatementKind::DoWhile(body, _) => {
                self.add_statement(program, body);
            }
            StatementKind::Switch(_, parts) => {
                parts.iter().for_each(|(_, all)| self.add_statements(program, all));
            }
            _ => {}
        }
    }

    fn add(&mut self, program: &'a Program<'s>, of: &'a Expression<'s>) {
        match &of.kind {
            ExpressionKind::Call(callee, given) => {
                self.all.push(of);
                self.add(program, callee);
                given.iter().for_each(|each| self.add(program, each));
            }
            ExpressionKind::Lambda(number) => {
                // A lambda has those in it before itself.
                if let Some(lambda) = program.lambdas.get(*number) {
                    self.add_statements(program, &lambda.body);
                }
            }
            ExpressionKind::Binary(_, one, other) | ExpressionKind::Assign(_, one, other) => {
                self.add(program, one);
                self.add(program, other);
            }
            ExpressionKind::Choice(one, other, third) => {
                for each in [one, other, third] {
                    self.add(program, each);
                }
            }
            ExpressionKind::Unary(_, of)
            | ExpressionKind::Cast(_, of)
            | ExpressionKind::Expand(of)
            | ExpressionKind::Member { object: of, .. }
            | ExpressionKind::Fold(_, of, ..) => self.add(program, of),
            ExpressionKind::List(_, all) => all.iter().for_each(|each| self.add(program, each)),
            _ => {}
        }
    }
}

/// Adds the calls of a lambda or of an object, or of the parameter that it is in a function, and those in functions that it is
/// passed to.
fn called_by<'a, 's>(
    program: &'a Program<'s>,
    calls: &[&'a Expression<'s>],
    is_it: &dyn Fn(&Expression<'s>) -> bool,
    within: Span,
    found: &mut Vec<&'a Expression<'s>>,
    left: usize,
) {
    for call in calls.iter().copied().filter(|call| is_inside(call.span, within)) {
        let ExpressionKind::Call(callee, given) = &call.kind else { continue };
        let is_own = match &callee.kind {
            ExpressionKind::Member { object, name: CALL, .. } => is_it(object) || is_passed(object, is_it),
            _ => is_it(callee) || is_passed(callee, is_it),
        };
        if is_own {
            found.push(call);
        }
        let Some(left) = left.checked_sub(1) else { continue };
        let at = given.iter().position(|each| is_it(each) || is_passed(each, is_it));
        let (
            Some(at),
            ExpressionKind::Name(to, _)
            | ExpressionKind::Scoped { name: to, .. }
            | ExpressionKind::Member { name: to, .. },
        ) = (at, &callee.kind)
        else {
            continue;
        };
        for function in program.functions.iter().filter(|each| each.name == *to && !each.is_kernel) {
            let Some(parameter) = function.parameters.get(at) else { continue };
            let extent = function.extent;
            let is_parameter = |of: &Expression<'s>| {
                matches!(of.kind, ExpressionKind::Name(known, _) if known == parameter.name)
                    && is_inside(of.span, extent)
            };
            called_by(program, calls, &is_parameter, extent, found, left);
        }
    }
}

/// Whether an expression passes something on: `std::forward<F>(f)`.
fn is_passed<'s>(of: &Expression<'s>, is_it: &dyn Fn(&Expression<'s>) -> bool) -> bool {
    let ExpressionKind::Call(callee, given) = &of.kind else { return false };
    let [only] = given.as_slice() else { return false };
    matches!(callee.kind, ExpressionKind::Name("move" | "forward", _)) && is_it(only)
}

/// Whether one place is in another.
pub(super) const fn is_inside(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Adds the variables that are declared in a statement before a place, and that it may see.
pub(super) fn declared_before<'a, 's>(
    statement: &'a Statement<'s>,
    at: Span,
    to: &mut Vec<&'a Variable<'s>>,
) {
    let span = statement.span;
    if span.start >= at.start {
        return;
    }
    // What is declared in a block is seen there.
    let is_around = at.end <= span.end;
    match &statement.kind {
        StatementKind::Declare(variables) => to.extend(variables),
        StatementKind::Block(all) if is_around => {
            all.iter().for_each(|each| declared_before(each, at, to));
        }
        StatementKind::If { then, otherwise, .. } if is_around => {
            declared_before(then, at, to);
            otherwise.iter().for_each(|otherwise| declared_before(otherwise, at, to));
        }
        StatementKind::Loop { first, body, .. } if is_around => {
            first.iter().for_each(|first| declared_before(first, at, to));
            declared_before(body, at, to);
        }
        StatementKind::DoWhile(body, _) if is_around => declared_before(body, at, to),
        StatementKind::Each(variable, _, body) if is_around => {
            to.push(variable);
            declared_before(body, at, to);
        }
        StatementKind::Switch(_, parts) if is_around => {
            parts.iter().flat_map(|(_, all)| all).for_each(|each| declared_before(each, at, to));
        }
        _ => {}
    }
}

/// Whether a type is the one of the extents of grids and blocks.
fn is_extents(ty: &TypeName<'_>) -> bool {
    matches!(ty, TypeName::Named("dim3", _))
}
