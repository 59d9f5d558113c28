//! Where kernels are launched, and with how many threads: `name<…><<<grid, threads>>>(…)`, and the functions of the runtime
//! that take a kernel and a configuration.

use super::tokens::Kind;
use super::top::ABOVE_SHIFT;
use super::{Expression, ExpressionKind, Launch, Parser, TemplateArgument};
use crate::Span;

/// Tokens before a launch in which its configuration is looked for, and after its name in which the kernel is.
const MAX_BEFORE: usize = 600;
const MAX_CALL: usize = 32;
/// Words before the name of a constant.
const MAX_SPECIFIERS: usize = 6;
/// Calls of a function that launches what it is given.
const MAX_CALLS: usize = 64;
/// The attribute that lets a kernel begin before the one launched before it has ended.
const BEGINS_EARLY: &str = "cudaLaunchAttributeProgrammaticStreamSerialization";
/// The extents of a cluster.
const EXTENTS: [&str; 3] = ["x", "y", "z"];

impl<'s> Launch<'s> {
    fn of(name: &'s str, span: Span, template: Vec<TemplateArgument<'s>>) -> Self {
        let (cluster, arguments, is_configured) = (Vec::new(), Vec::new(), false);
        Self { name, span, template, threads: None, cluster, arguments, is_configured, begins_early: false }
    }
}

impl<'s> Parser<'s> {
    /// Finds launches, and other uses of templates of functions, `name<…>`.
    pub(super) fn launches(&mut self) {
        let of_template = self.program.functions.iter().filter(|function| !function.template.is_empty());
        let mut names: Vec<&'s str> = of_template.map(|function| function.name).collect();
        names.extend(self.kernels());
        names.sort_unstable();
        names.dedup();
        let owners = self.owners_of_hosts();
        for at in 0..self.tokens.len() {
            if self.tokens[at].kind != Kind::Identifier {
                continue;
            }
            let types = self.types.len();
            let text = self.tokens[at].text;
            let is_used = names.binary_search(&text).is_ok()
                || owners.binary_search(&text).is_ok()
                || text.starts_with("cudaLaunch")
                || self.tokens.get(at + 1).is_some_and(|next| next.text == "<<");
            if is_used {
                let own = self.types_around(self.tokens[at].place());
                self.types.extend(own);
            }
            self.launch_at(at, &names, &owners);
            self.types.truncate(types);
        }
        self.at = 0;
    }

    /// The types that are parameters of the template of the function around a place: `k<T::value><<<…>>>(…)`.
    fn types_around(&self, place: Span) -> Vec<&'s str> {
        let is_around = |extent: Span| extent.start <= place.start && place.end <= extent.end;
        let around = self.program.functions.iter().chain(&self.program.lambdas);
        let around = around.filter(|function| !function.template.is_empty() && is_around(function.extent));
        around
            .flat_map(|function| &function.template)
            .filter(|each| each.is_type)
            .map(|each| each.name)
            .collect()
    }

    /// The launch, or the use of a template, that a name begins.
    fn launch_at(&mut self, at: usize, names: &[&'s str], owners: &[&'s str]) {
        let token = self.tokens[at];
        match token.text {
            "cudaLaunchKernelEx" => self.configured(at, names),
            BEGINS_EARLY => {
                self.program.has_early_launches = true;
            }
            "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" => self.by_arguments(at, names),
            _ => {}
        }
        self.at = at + 1;
        let is_launch = |this: &Self| this.text() == "<<" && this.ahead(1) == "<";
        let (name, template) = match names.binary_search(&token.text) {
            Ok(_) if is_launch(self) => (token.text, Some(Vec::new())),
            Ok(_) => {
                self.names_template = true;
                let found = self.template_arguments();
                self.names_template = false;
                (token.text, found)
            }
            // `auto kernel = name<…>; kernel<<<…>>>(…);`
            Err(_) if is_launch(self) => {
                let Some(kernel) = self.kernel_of_variable(at, token.text, names) else { return };
                self.at = at + 1;
                (kernel.name, Some(kernel.template))
            }
            // `name<…>::launch(…)`
            Err(_) if self.text() == "<" && owners.binary_search(&token.text).is_ok() => {
                (token.text, self.template_arguments())
            }
            Err(_) => return,
        };
        let Some(template) = template else { return };
        // `(name<…>)<<<…>>>`, as macros write it.
        let closing = self.tokens[self.at..].iter().take_while(|token| token.text == ")").count();
        let is_after = |at: usize| {
            self.tokens
                .get(self.at + closing + at)
                .is_some_and(|next| next.text == if at == 0 { "<<" } else { "<" })
        };
        if is_after(0) && is_after(1) {
            self.at += closing;
        }
        let template = self.known_constants(at, template);
        let (mut threads, mut arguments) = (None, Vec::new());
        if is_launch(self) {
            self.at += 2;
            // The grid.
            self.binary(ABOVE_SHIFT);
            threads = self.accept(",").then(|| self.binary(ABOVE_SHIFT));
            arguments = self.after_configuration();
        } else if template.is_empty() {
            return;
        }
        let place = token.place();
        let launch = Launch { threads, arguments, ..Launch::of(name, place, template) };
        self.program.launches.push(launch);
    }

    /// The templates of structures that have methods of the host, by name and in order.
    fn owners_of_hosts(&self) -> Vec<&'s str> {
        let hosts = self.program.functions.iter().filter(|each| !each.is_device && !each.is_kernel);
        let owners = hosts.filter_map(|each| Some(self.program.structure(each.owner?)));
        let mut names: Vec<&'s str> =
            owners.filter(|owner| !owner.template.is_empty()).map(|owner| owner.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The kernel that a variable stands for which is declared before a place.
    fn kernel_of_variable(&mut self, at: usize, name: &str, names: &[&'s str]) -> Option<Launch<'s>> {
        let declared = self.declared_before(at, name)?;
        self.kernel_argument(declared + 2, names)
    }

    /// Where a variable is declared or assigned last that is seen at a place.
    fn declared_before(&self, at: usize, name: &str) -> Option<usize> {
        let mut closed = 0_u32;
        for before in (at.saturating_sub(MAX_BEFORE)..at).rev() {
            let token = self.tokens[before];
            match token.text {
                _ if !token.is_plain() => {}
                // What is declared in a block that has ended is not seen.
                "}" => closed += 1,
                "{" => closed = closed.saturating_sub(1),
                text if text == name && closed == 0 => {
                    let is_member = before > 0 && matches!(self.tokens[before - 1].text, "." | "->" | "::");
                    if !is_member && self.tokens.get(before + 1).is_some_and(|next| next.text == "=") {
                        return Some(before);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Arguments of a template with the constants in them that several functions have by the same name.
    fn known_constants(
        &mut self,
        at: usize,
        mut template: Vec<TemplateArgument<'s>>,
    ) -> Vec<TemplateArgument<'s>> {
        let end = self.at;
        for argument in &mut template {
            let TemplateArgument::Value(value) = argument else { continue };
            let ExpressionKind::Name(name, _) = value.kind else { continue };
            if !matches!(self.program.constants_of_functions.get(name), Some(None)) {
                continue;
            }
            let Some(declared) = self.declared_before(at, name) else { continue };
            let near = declared.saturating_sub(MAX_SPECIFIERS)..declared;
            let specifiers = self.tokens.get(near).unwrap_or_default().iter().rev();
            let mut specifiers = specifiers.take_while(|token| !matches!(token.text, ";" | "{" | "}"));
            if specifiers.any(|token| token.text == "constexpr") {
                self.at = declared + 2;
                *value = self.assignment();
            }
        }
        self.at = end;
        template
    }

    /// The arguments of a launch, of whose configuration the shared memory and the stream may still come.
    fn after_configuration(&mut self) -> Vec<Expression<'s>> {
        while self.accept(",") {
            self.binary(ABOVE_SHIFT);
        }
        let is_end = self.text() == ">" && self.ahead(1) == ">" && self.ahead(2) == ">";
        if !is_end || self.ahead(3) != "(" {
            return Vec::new();
        }
        self.at += 3;
        self.arguments()
    }

    /// The kernel that is an argument after a place, with the arguments of its template; what follows it is next.
    fn kernel_argument(&mut self, from: usize, names: &[&'s str]) -> Option<Launch<'s>> {
        let near = self.tokens.get(from..)?.iter().take(MAX_CALL);
        let found = near
            .take_while(|token| !matches!(token.text, ";" | "}"))
            .position(|token| token.kind == Kind::Identifier && names.binary_search(&token.text).is_ok())?;
        let token = self.tokens[from + found];
        self.at = from + found + 1;
        self.names_template = true;
        let template = if self.text() == "<" { self.template_arguments() } else { Some(Vec::new()) };
        self.names_template = false;
        let template = template?;
        Some(Launch::of(token.text, token.place(), template))
    }

    /// `cudaLaunchKernel(kernel, grid, threads, …)`
    fn by_arguments(&mut self, at: usize, names: &[&'s str]) {
        let Some(mut launch) = self.kernel_argument(at + 1, names) else { return };
        // Of a cast around it.
        while self.accept(")") {}
        if !self.accept(",") {
            return;
        }
        self.assignment();
        if self.accept(",") {
            launch.threads = Some(self.assignment());
            self.program.launches.push(launch);
        }
    }

    /// `cudaLaunchKernelEx(&config, kernel, …)`, with what was assigned to the configuration before.
    fn configured(&mut self, at: usize, names: &[&'s str]) {
        self.at = at + 1;
        if !self.accept("(") {
            return;
        }
        self.accept("&");
        let (config, after) = (self.text(), self.at + 1);
        let place = self.tokens[at].place();
        let Some(host) =
            self.program.functions.iter().position(|function| {
                function.extent.start <= place.start && place.end <= function.extent.end
            })
        else {
            return;
        };
        let mut kernel = self.kernel_argument(after, names);
        if kernel.is_none() {
            let variable = self.tokens.get(after + 1).filter(|token| token.kind == Kind::Identifier).copied();
            kernel = variable.and_then(|variable| {
                let kernel = self.kernel_of_variable(at, variable.text, names)?;
                Some(Launch { span: variable.place(), ..kernel })
            });
        }
        let start = self.program.functions[host].extent.start;
        let first = self.tokens.partition_point(|token| token.place().start < start);
        let first = first.min(at).max(at.saturating_sub(MAX_BEFORE));
        let begins_early = self.tokens[first..at].iter().any(|token| token.text == BEGINS_EARLY);
        let mut threads = self.assigned(first..at, &[config, ".", "blockDim", "="]);
        if threads.is_none() {
            threads = self.begun_with(first..at, config);
        }
        let whole = self.assigned(first..at, &["clusterDim", "="]);
        let cluster = match whole.map(|whole| whole.kind) {
            Some(ExpressionKind::List(_, extents)) => extents,
            Some(_) => Vec::new(),
            None => {
                let extents = EXTENTS.map(|of| self.assigned(first..at, &["clusterDim", ".", of, "="]));
                extents.into_iter().map_while(|extent| extent).collect()
            }
        };
        self.at = at + 1;
        let mut arguments = self.arguments();
        let given = arguments.split_off(2.min(arguments.len()));
        match (kernel, arguments.get(1)) {
            (Some(kernel), _) => {
                let is_configured = true;
                let launch =
                    Launch { threads, cluster, arguments: given, is_configured, begins_early, ..kernel };
                self.program.launches.push(launch);
            }
            (None, Some(kernel)) => {
                let ExpressionKind::Name(kernel, _) = kernel.kind else { return };
                let made = Launch {
                    threads,
                    cluster,
                    arguments: given,
                    is_configured: true,
                    begins_early,
                    ..Launch::of(kernel, place, Vec::new())
                };
                self.passed_on(host, made, names);
            }
            (None, None) => {}
        }
    }

    /// Launches of kernels that are passed to a function of the host, which launches what it is given: one for each call.
    fn passed_on(&mut self, host: usize, made: Launch<'s>, names: &[&'s str]) {
        let Launch { name: kernel, threads, cluster, arguments: given, begins_early, .. } = made;
        let function = &self.program.functions[host];
        let (name, extent) = (function.name, function.extent);
        let parameters: Vec<(&'s str, bool)> =
            function.parameters.iter().map(|each| (each.name, each.is_pack)).collect();
        let position = |name: &str| parameters.iter().position(|(known, _)| *known == name);
        let Some(of_kernel) = position(kernel) else { return };
        let is_call = |at: &usize| {
            let (token, next) = (self.tokens[*at], self.tokens.get(at + 1));
            let is_inside = extent.start <= token.place().start && token.place().end <= extent.end;
            token.text == name && next.is_some_and(|next| matches!(next.text, "(" | "<")) && !is_inside
        };
        let calls: Vec<usize> = (0..self.tokens.len()).filter(is_call).take(MAX_CALLS).collect();
        for at in calls {
            self.at = at + 1;
            if self.text() == "<" {
                match self.after_angles(self.at) {
                    Some(end) => self.at = end,
                    None => continue,
                }
            }
            if self.text() != "(" {
                continue;
            }
            let all = self.arguments();
            let Some(kernel) = all.get(of_kernel) else { continue };
            let ExpressionKind::Name(of, template) = &unary(kernel).kind else { continue };
            if names.binary_search(of).is_err() {
                continue;
            }
            // What the function says of its parameters is what they are here; of its own variables nothing is known.
            let named = |each: &Expression<'s>, name: &str| match position(name) {
                Some(index) => all.get(index).cloned(),
                None => self.program.constants.contains_key(name).then(|| each.clone()),
            };
            let here = |each: &Expression<'s>| seen_by_caller(each, &named);
            let threads = threads.as_ref().and_then(here);
            let cluster = cluster.iter().map(here).collect::<Option<Vec<_>>>().unwrap_or_default();
            let mut arguments = Vec::new();
            for each in &given {
                match &each.kind {
                    ExpressionKind::Expand(_) => {
                        let pack = parameters.iter().position(|(_, is_pack)| *is_pack);
                        arguments.extend(pack.and_then(|from| all.get(from..)).unwrap_or_default().to_vec());
                        break;
                    }
                    _ => arguments.push(here(each).unwrap_or_else(|| each.with(ExpressionKind::Unknown))),
                }
            }
            let launch = Launch {
                threads,
                cluster,
                arguments,
                is_configured: true,
                begins_early,
                ..Launch::of(of, kernel.span, template.clone())
            };
            self.program.launches.push(launch);
        }
    }

    /// What was assigned last, by the tokens before it.
    fn assigned(&mut self, range: std::ops::Range<usize>, words: &[&str]) -> Option<Expression<'s>> {
        let is_it = |at: &usize| {
            let here = self.tokens.get(*at..*at + words.len());
            here.is_some_and(|here| here.iter().map(|token| token.text).eq(words.iter().copied()))
        };
        let found = range.rev().find(is_it)?;
        self.at = found + words.len();
        let mut value = if self.text() == "{" { self.list(None) } else { self.assignment() };
        // `a = b = 1`
        while let ExpressionKind::Assign("", _, from) = value.kind {
            value = *from;
        }
        Some(value)
    }

    /// The threads in the list that a configuration begins with.
    fn begun_with(&mut self, range: std::ops::Range<usize>, config: &str) -> Option<Expression<'s>> {
        let is_it = |at: &usize| {
            let words = self.tokens.get(*at..*at + 2);
            words.is_some_and(|words| words[0].text == "cudaLaunchConfig_t" && words[1].text == config)
        };
        let found = range.rev().find(is_it)?;
        self.at = found + 2;
        self.accept("=");
        if self.text() != "{" {
            return None;
        }
        let ExpressionKind::List(_, parts) = self.list(None).kind else { return None };
        parts.into_iter().nth(1)
    }
}

/// An expression of a function as one who calls it says it; none where it has names that are not known there.
fn seen_by_caller<'s>(
    of: &Expression<'s>,
    named: &impl Fn(&Expression<'s>, &str) -> Option<Expression<'s>>,
) -> Option<Expression<'s>> {
    match &of.kind {
        ExpressionKind::Number { .. } => Some(of.clone()),
        ExpressionKind::Name(name, given) if given.is_empty() => named(of, name),
        ExpressionKind::Cast(ty, inner) => {
            let inner = Box::new(seen_by_caller(inner, named)?);
            Some(of.with(ExpressionKind::Cast(ty.clone(), inner)))
        }
        ExpressionKind::List(ty, parts) => {
            let parts = parts.iter().map(|part| seen_by_caller(part, named)).collect::<Option<_>>()?;
            Some(of.with(ExpressionKind::List(ty.clone(), parts)))
        }
        _ => None,
    }
}

/// A function without the `&` before it.
fn unary<'e, 's>(of: &'e Expression<'s>) -> &'e Expression<'s> {
    match &of.kind {
        ExpressionKind::Unary("&", of) => of,
        _ => of,
    }
}
