//! How a kernel is launched: the arguments of its template, and the threads of its blocks.

use ptx_ir::isa::{Event, Instance};
use ptx_ir::occupancy::registers_left;
use ptx_syntax::Span;
use ptx_syntax::cuda;
use ptx_syntax::cuda::body::{
    Expression, ExpressionKind, FloatKind, Function, Launch, Statement, StatementKind, Structure,
    StructureId, TemplateArgument, TypeName,
};

use super::host::{MAX_STEPS, MAX_TRIED, declared_before, is_inside};
use super::types::{Given, Space, Ty};
use super::value::Place;
use super::{Binding, Frame, Lowering, Unclear, has_instruction};

impl<'a, 's> Lowering<'a, 's> {
    /// What the parameters of a function's template stand for: what the first use says that is understood, or else what they
    /// say themselves. `left` is how many templates are followed from one to the other.
    pub(super) fn bindings_of_use(
        &mut self,
        function: &'a Function<'s>,
        left: usize,
    ) -> Result<Vec<(&'s str, Binding)>, Unclear> {
        if function.template.is_empty() {
            return Ok(Vec::new());
        }
        let program = self.program;
        let says = |each: &&Launch<'s>| !each.template.is_empty() || !each.arguments.is_empty();
        let uses = program.launches.iter().filter(|each| each.name == function.name).filter(says);
        for each in uses.take(MAX_TRIED) {
            let mark = self.mark();
            let found = self.in_host(each.span, left, |this| this.bindings(function, each));
            self.back_to(mark);
            if found.is_ok() {
                return found;
            }
        }
        if let Some(found) = self.bindings_of_call(function, left) {
            return Ok(found);
        }
        // All may have a value of their own.
        let mut bindings = Vec::new();
        for parameter in &function.template {
            let default = parameter.default.as_ref().ok_or(Unclear)?;
            bindings.push((parameter.name, self.template_argument(default, parameter.is_type)?));
        }
        Ok(bindings)
    }

    /// The same of the template of a structure that has a method of the host.
    pub(super) fn structure_of_use(&mut self, id: StructureId, left: usize) -> Option<Vec<Given>> {
        let program = self.program;
        let structure = program.structure(id);
        if structure.template.is_empty() {
            return None;
        }
        let is_use = |each: &&Launch<'s>| each.name == structure.name && !each.template.is_empty();
        program.launches.iter().filter(is_use).take(MAX_TRIED).find_map(|each| {
            let mark = self.mark();
            // Templates that use each other are not followed far.
            let found = self.in_host(each.span, left.min(2), |this| {
                let all = this.template_bindings(&structure.template, &each.template)?;
                all.iter().map(|(_, binding)| binding.given()).collect::<Result<Vec<_>, _>>()
            });
            self.back_to(mark);
            found.ok()
        })
    }

    fn bindings(
        &mut self,
        function: &'a Function<'s>,
        launch: &'a Launch<'s>,
    ) -> Result<Vec<(&'s str, Binding)>, Unclear> {
        let mark = self.mark();
        let given = self.template_bindings(&function.template, &launch.template);
        if given.is_ok() || launch.arguments.is_empty() {
            return given;
        }
        self.back_to(mark);
        let given = self.bound(&function.template, &launch.template, false)?;
        let types: Vec<Option<Ty>> = launch
            .arguments
            .iter()
            .map(|argument| self.type_in_host(launch.span, argument, MAX_STEPS))
            .collect();
        // The parameters of the host's template may have the same names.
        let first_name = self.names.len();
        self.frames.push(Frame { first_name, ..Frame::default() });
        self.names.extend(given);
        let all = self.deduced(function, &types);
        self.frames.pop();
        self.names.truncate(first_name);
        all
    }

    /// What the parameters of a template stand for where the arguments of the function have these types.
    pub(super) fn deduced(
        &mut self,
        function: &'a Function<'s>,
        types: &[Option<Ty>],
    ) -> Result<Vec<(&'s str, Binding)>, Unclear> {
        for (parameter, ty) in function.parameters.iter().zip(types) {
            if let Some(ty) = ty {
                self.deduce(function, &parameter.ty, ty)?;
            }
        }
        let mut all = Vec::new();
        for parameter in &function.template {
            let binding = match self.binding(parameter.name) {
                Some(binding) => binding.clone(),
                None => {
                    let default = parameter.default.as_ref().ok_or(Unclear)?;
                    let binding = self.template_argument(default, parameter.is_type)?;
                    self.names.push((parameter.name, binding.clone()));
                    binding
                }
            };
            all.push((parameter.name, binding));
        }
        Ok(all)
    }

    /// The type of an argument of a launch, where that is written.
    pub(super) fn type_in_host(&mut self, at: Span, of: &Expression<'s>, left: usize) -> Option<Ty> {
        let left = left.checked_sub(1)?;
        let mark = self.mark();
        let mark_of_call = self.mark();
        let named = |this: &mut Self, ty: &TypeName<'s>| {
            let found = this.ty(ty).ok();
            this.back_to(mark);
            found
        };
        match &of.kind {
            ExpressionKind::Number { bits, signed, .. } => {
                Some(Ty::Integer { bits: *bits, signed: *signed, is_bool: false })
            }
            ExpressionKind::Float(bits) => Some(Ty::Float(*bits, FloatKind::Plain)),
            ExpressionKind::Lambda(_) => {
                let found = self.value(of).ok().map(|value| value.ty);
                self.back_to(mark_of_call);
                found
            }
            ExpressionKind::Cast(ty, _) | ExpressionKind::List(Some(ty), _) => named(self, ty),
            ExpressionKind::Unary("&", of) => {
                let to = self.type_in_host(at, of, left)?;
                Some(Ty::Pointer(std::rc::Rc::new(to), Space::Generic))
            }
            // A pointer that is moved on.
            ExpressionKind::Binary("+" | "-", of, _) => {
                self.type_in_host(at, of, left).filter(|ty| matches!(ty, Ty::Pointer(..)))
            }
            ExpressionKind::Call(function, _) => match &function.kind {
                ExpressionKind::Name(name, given) => named(self, &TypeName::Named(name, given.clone())),
                // Tensors of PyTorch have no type of their own.
                ExpressionKind::Member { name, template, .. } if name.ends_with("data_ptr") => {
                    let [TemplateArgument::Type(ty)] = &template[..] else { return None };
                    Some(Ty::Pointer(std::rc::Rc::new(named(self, ty)?), Space::Generic))
                }
                _ => None,
            }
            .or_else(|| {
                // What a function of the file gives to such constants.
                let found = self.value(of).ok().map(|value| value.ty);
                self.back_to(mark_of_call);
                found.filter(|ty| matches!(ty, Ty::Structure(_) | Ty::Integer { .. }))
            }),
            ExpressionKind::Name(name, given) if given.is_empty() => {
                let host = self.host_of(at)?;
                let parameter = host.parameters.iter().find(|parameter| parameter.name == *name);
                let mut variables = Vec::new();
                host.body.iter().for_each(|statement| declared_before(statement, at, &mut variables));
                let variable = variables.into_iter().rev().find(|variable| variable.name == *name);
                match (variable, parameter) {
                    (Some(variable), _) if variable.ty == TypeName::Auto => {
                        self.type_in_host(at, variable.value.as_ref()?, left)
                    }
                    (Some(variable), _) => named(self, &variable.ty),
                    (None, Some(parameter)) => named(self, &parameter.ty),
                    // A parameter of a lambda.
                    (None, None) => match self.binding(name)? {
                        Binding::Place(place) => Some(place.ty().clone()),
                        _ => None,
                    },
                }
            }
            _ => None,
        }
    }

    /// The function that a launch is in.
    pub(super) fn host_of(&self, at: Span) -> Option<&'a Function<'s>> {
        let program = self.program;
        program.functions.iter().find(|function| is_inside(at, function.extent))
    }

    /// The threads of a block, as the first launch says that is understood, or else the kernel.
    pub(super) fn threads_of_launch(&mut self, function: &'a Function<'s>) -> Option<Vec<u64>> {
        let program = self.program;
        for launch in program.launches.iter().filter(|launch| launch.name == function.name).take(MAX_TRIED) {
            let Some(threads) = &launch.threads else { continue };
            let mark = self.mark();
            let found = self.in_host(launch.span, super::MAX_USES, |this| this.extents(threads));
            self.back_to(mark);
            if found.is_ok() {
                return found.ok();
            }
        }
        let threads: Option<&Expression<'s>> = function.launch_bounds.first();
        threads.and_then(|threads| self.constant(threads).ok()).map(|threads| vec![threads])
    }

    /// What kernels that are launched before do with what a parameter points to, where this one may begin before they have ended:
    /// the same variable of the host is given to both.
    pub(super) fn use_before(&self, function: &'a Function<'s>, index: usize) -> Option<Use> {
        if !self.program.has_early_launches || !matches!(function.parameters[index].ty, TypeName::Pointer(_))
        {
            return None;
        }
        let launches = &self.program.launches;
        let own = launches.iter().filter(|launch| launch.is_configured && launch.name == function.name);
        own.take(MAX_TRIED)
            .filter_map(|launch| {
                let given = variable(launch.arguments.get(index)?)?;
                let host = self.host_of(launch.span)?;
                // Others begin when it has ended, or when it says so.
                let before = self.others_before(host, launch);
                let before =
                    before.into_iter().map_while(|other| Some((other, self.kernel_that_lets_begin(other)?)));
                let uses = before.filter_map(|(other, kernel)| {
                    if other.name == launch.name {
                        return None;
                    }
                    let given_too =
                        |(given_there, _): &(&Expression<'s>, _)| variable(given_there) == Some(given);
                    let mut same = other.arguments.iter().zip(&kernel.parameters).filter(given_too);
                    let is_pointer = |ty: &TypeName<'s>| matches!(ty, TypeName::Pointer(_));
                    let (_, parameter) = same.find(|(_, parameter)| is_pointer(&parameter.ty))?;
                    Some(if parameter.is_constant { Use::Read } else { Use::Written })
                });
                uses.max()
            })
            .max()
    }

    /// Whether a kernel may begin while the one runs that the host launches before it: its launch lets it, and the other one
    /// does not hold it back.
    pub(super) fn begins_early(&self, function: &'a Function<'s>) -> bool {
        let launches = &self.program.launches;
        let own = launches.iter().filter(|launch| launch.begins_early && launch.name == function.name);
        own.take(MAX_TRIED).any(|launch| {
            let Some(host) = self.host_of(launch.span) else { return false };
            let before = self.others_before(host, launch);
            let is_repeated = || host.body.iter().any(|each| loop_around(each, launch.span).is_some());
            match before.first() {
                Some(other) => self.kernel_that_lets_begin(other).is_some(),
                None => is_repeated() && self.lets_begin(function, MAX_WRAPPERS),
            }
        })
    }

    /// The other launches of the same function of the host, those first that come last before one.
    fn others_before(&self, host: &Function<'s>, launch: &Launch<'s>) -> Vec<&'a Launch<'s>> {
        let is_launch = |other: &&Launch<'s>| {
            let is_told = other.threads.is_some() || other.is_configured;
            is_told && self.host_of(other.span).is_some_and(|around| around.span == host.span)
        };
        let mut all: Vec<&Launch<'s>> = self.program.launches.iter().filter(is_launch).collect();
        all.sort_by_key(|each| each.span.start);
        launched_before(&host.body, launch, &all)
    }

    /// The kernel of a launch, where those that depend on it need not wait until it has ended.
    fn kernel_that_lets_begin(&self, launch: &Launch<'s>) -> Option<&'a Function<'s>> {
        let mut functions = self.program.functions.iter();
        let kernel = functions.find(|each| each.is_kernel && each.name == launch.name)?;
        self.lets_begin(kernel, MAX_WRAPPERS).then_some(kernel)
    }

    /// Whether a function lets the grids begin that depend on its own, by itself or through functions that it calls.
    fn lets_begin(&self, function: &Function<'s>, left: usize) -> bool {
        let (aim, extent) = (&self.aim, function.extent);
        let is_inside = |span: Span| extent.start <= span.start && span.end <= extent.end;
        let begins = |instance: &Instance| instance.effects.event == Some(Event::GridBegin);
        // Macros stand elsewhere.
        let mut own = aim
            .file
            .statements
            .iter()
            .filter(|statement| is_inside(statement.used_at.unwrap_or(statement.span)));
        if own.any(|statement| has_instruction(&statement.template.text, begins)) {
            return true;
        }
        let Some(body) = aim.source.get(extent.start as usize..extent.end as usize) else { return false };
        if calls(body, LETS_BEGIN) {
            return true;
        }
        let Some(left) = left.checked_sub(1) else { return false };
        let others =
            self.program.functions.iter().filter(|other| !other.is_kernel && other.span != function.span);
        others.filter(|other| calls(body, other.name)).any(|other| self.lets_begin(other, left))
    }

    /// The blocks of a cluster, as the kernel says, or else all launches that tell of their threads.
    pub(super) fn cluster_of(&mut self, function: &'a Function<'s>) -> Result<Vec<u64>, Unclear> {
        if !function.cluster.is_empty() {
            return function.cluster.iter().map(|extent| self.constant(extent)).collect();
        }
        let program = self.program;
        let is_own = |launch: &&Launch<'s>| launch.name == function.name && launch.threads.is_some();
        let mut known: Option<Vec<u64>> = None;
        for launch in program.launches.iter().filter(is_own).take(MAX_TRIED) {
            let mark = self.mark();
            let found = self.in_host(launch.span, super::MAX_USES, |this| {
                launch.cluster.iter().map(|extent| this.constant(extent)).collect::<Result<Vec<u64>, _>>()
            });
            self.back_to(mark);
            let found = found.unwrap_or_default();
            if known.as_ref().is_some_and(|known| *known != found) {
                return Ok(Vec::new());
            }
            known = Some(found);
        }
        let is_possible = |extents: &Vec<u64>| {
            let all = extents.iter().try_fold(1_u64, |all, each| all.checked_mul(*each));
            all.is_some_and(|all| (1..=MAX_CLUSTER).contains(&all))
        };
        Ok(known.filter(is_possible).unwrap_or_default())
    }

    /// The extents that a number says, or a `dim3`.
    pub(super) fn extents(&mut self, of: &Expression<'s>) -> Result<Vec<u64>, Unclear> {
        match &of.kind {
            ExpressionKind::List(_, given) if (1..=3).contains(&given.len()) => {
                given.iter().map(|each| self.constant(each)).collect()
            }
            ExpressionKind::Cast(TypeName::Named("dim3", _), of) => Ok(vec![self.constant(of)?]),
            ExpressionKind::Name(name, given) if given.is_empty() => match self.binding(name) {
                Some(Binding::Place(Place::Parts(extents, _))) => {
                    let number = |place: &Place| match place {
                        Place::Fixed(value) => value.number().ok_or(Unclear),
                        _ => Err(Unclear),
                    };
                    extents.iter().map(number).collect()
                }
                _ => Ok(vec![self.constant(of)?]),
            },
            _ => Ok(vec![self.constant(of)?]),
        }
    }

    /// How many registers a thread begins with, as the kernel says.
    pub(super) fn first_registers(&mut self, function: &'a Function<'s>) -> Option<u32> {
        let mut given = |expression: &'a Expression<'s>| u32::try_from(self.constant(expression).ok()?).ok();
        if let Some(registers) = &function.max_registers {
            return given(registers);
        }
        let [threads, blocks, ..] = &function.launch_bounds[..] else { return None };
        registers_left(given(threads)?, given(blocks)?)
    }

    /// Makes known what the parameters of the template of a structure stand for, its constants, and the types in it.
    pub(super) fn bind_template(&mut self, id: StructureId, given: &[Given]) {
        let structure = self.program.structure(id);
        for (parameter, given) in structure.template.iter().zip(given) {
            self.names.push((parameter.name, Binding::of(given)));
        }
        // A type in it may name the structure itself.
        let around = || self.binding_of.iter().filter(|(each, _)| *each == id);
        // A template may name itself with fewer arguments.
        if around().all(|(_, known)| known != given) && around().count() < MAX_NESTED {
            self.binding_of.push((id, given.to_vec()));
            self.bind_constants(structure);
            self.binding_of.pop();
        }
    }

    /// Makes the constants of a structure known, and the types in it, as far as they are understood.
    fn bind_constants(&mut self, structure: &'a Structure<'s>) {
        let (mut types, mut numbers) =
            (vec![false; structure.aliases.len()], vec![false; structure.constants.len()]);
        // A type may need a constant, and a constant the size of a type.
        for _ in 0..MAX_ROUNDS {
            let mut is_new = false;
            for ((name, ty), is_bound) in structure.aliases.iter().zip(&mut types) {
                if *is_bound {
                    continue;
                }
                let mark = self.mark();
                let found = self.ty(ty);
                self.back_to(mark);
                if let Ok(ty) = found {
                    self.names.push((name, Binding::Type(ty)));
                    (*is_bound, is_new) = (true, true);
                }
            }
            for ((name, value), is_bound) in structure.constants.iter().zip(&mut numbers) {
                if *is_bound {
                    continue;
                }
                let mark = self.mark();
                let found = self.constant_place(value);
                self.back_to(mark);
                let is_known = |place: &Place| match place {
                    Place::Fixed(value) => value.number().is_some(),
                    Place::Parts(..) => true,
                    _ => false,
                };
                if let Some(place) = found.ok().filter(is_known) {
                    self.names.push((name, Binding::Place(place)));
                    (*is_bound, is_new) = (true, true);
                }
            }
            if !is_new || types.iter().chain(&numbers).all(|is_bound| *is_bound) {
                return;
            }
        }
    }
}

/// The launches of a function before one of them, the last first: after those before it in the text those at the end of
/// the loop that it is in.
fn launched_before<'l, 's>(
    body: &[Statement<'s>],
    launch: &Launch<'s>,
    all: &[&'l Launch<'s>],
) -> Vec<&'l Launch<'s>> {
    let at = all.partition_point(|each| each.span.start < launch.span.start);
    let mut before: Vec<&Launch<'s>> = all[..at].iter().rev().copied().collect();
    if let Some(around) = body.iter().find_map(|statement| loop_around(statement, launch.span)) {
        let is_in_it = |each: &&&'l Launch<'s>| {
            around.start <= each.span.start && each.span.end <= around.end && each.span != launch.span
        };
        let first = before.partition_point(|each| around.start <= each.span.start);
        before.splice(first..first, all[at..].iter().filter(is_in_it).rev().copied());
    }
    before
}

/// Where the body of the innermost loop stands that something is in.
fn loop_around(statement: &Statement<'_>, inner: Span) -> Option<Span> {
    let is_around = |span: Span| span.start <= inner.start && inner.end <= span.end;
    match &statement.kind {
        StatementKind::Block(all) if is_around(statement.span) => {
            all.iter().find_map(|each| loop_around(each, inner))
        }
        StatementKind::If { then, otherwise, .. } => loop_around(then, inner)
            .or_else(|| otherwise.as_ref().and_then(|otherwise| loop_around(otherwise, inner))),
        StatementKind::Loop { body, .. }
        | StatementKind::DoWhile(body, _)
        | StatementKind::Each(_, _, body) => {
            loop_around(body, inner).or_else(|| is_around(body.span).then_some(body.span))
        }
        _ => None,
    }
}

/// What another kernel does with what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    Read,
    Written,
}

/// The variable that an argument is, whatever type it is given as.
fn variable<'s>(argument: &Expression<'s>) -> Option<&'s str> {
    match &argument.kind {
        ExpressionKind::Name(name, given) if given.is_empty() => Some(name),
        ExpressionKind::Cast(_, of) => variable(of),
        _ => None,
    }
}

/// The function of CUDA that lets those begin that depend on a kernel.
const LETS_BEGIN: &str = "cudaTriggerProgrammaticLaunchCompletion";
/// Functions through which it is looked for.
const MAX_WRAPPERS: usize = 3;

/// Whether a text calls a function by its name, outside comments.
fn calls(text: &str, name: &str) -> bool {
    let is_of_name = |character: char| character.is_alphanumeric() || character == '_';
    let mut comments = None;
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], text[at + name.len()..].trim_start());
        after.starts_with('(') && !before.ends_with(is_of_name) && {
            let comments = comments.get_or_insert_with(|| cuda::comments(text));
            !comments.iter().any(|comment| (comment.start..comment.end).contains(&(at as u32)))
        }
    })
}

/// No cluster has more blocks.
const MAX_CLUSTER: u64 = 16;
/// How often the types and constants of a structure are looked at that need each other.
const MAX_ROUNDS: u32 = 3;
/// How often a template is in itself.
const MAX_NESTED: usize = 6;

#[cfg(test)]
mod tests {
    use super::calls;

    #[test]
    fn comments_call_nothing() {
        assert!(calls("{ /* first */ trigger (); }", "trigger"));
        assert!(!calls("{ /* trigger();\n trigger() */ its_trigger(); // trigger()\n }", "trigger"));
    }
}
