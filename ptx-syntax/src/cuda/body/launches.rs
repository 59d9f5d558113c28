//! Where kernels are launched, and with how many threads: `name<…><<<grid, threads>>>(…)`, and the functions of the runtime
//! that take a kernel and a configuration.

use super::tokens::Kind;
use super::top::ABOVE_SHIFT;
use super::{Expression, ExpressionKind, Launch, Parser, TemplateArgument};
use crate::Span;

/// Tokens before a launch in which its configuration is looked for, and after its name in which the kernel is.
const MAX_BEFORE: usize = 600;
const MAX_CALL: usize = 32;
/// The extents of a cluster.
const EXTENTS: [&str; 3] = ["x", "y", "z"];

impl<'s> Launch<'s> {
    fn of(name: &'s str, span: Span, template: Vec<TemplateArgument<'s>>) -> Self {
        let (cluster, arguments) = (Vec::new(), Vec::new());
        Self { name, span, template, threads: None, cluster, arguments, is_configured: false }
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
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.kind != Kind::Identifier {
                continue;
            }
            match token.text {
                "cudaLaunchKernelEx" => self.configured(at, &names),
                "cudaLaunchAttributeProgrammaticStreamSerialization" => {
                    self.program.has_early_launches = true;
                }
                "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" => self.by_arguments(at, &names),
                _ => {}
            }
            if names.binary_search(&token.text).is_err() {
                continue;
            }
            self.at = at + 1;
            let is_launch = |this: &Self| this.text() == "<<" && this.ahead(1) == "<";
            let template = if is_launch(self) { Some(Vec::new()) } else { self.template_arguments() };
            let Some(template) = template else { continue };
            let (mut threads, mut arguments) = (None, Vec::new());
            if is_launch(self) {
                self.at += 2;
                // The grid.
                self.binary(ABOVE_SHIFT);
                threads = self.accept(",").then(|| self.binary(ABOVE_SHIFT));
                arguments = self.after_configuration();
            } else if template.is_empty() {
                continue;
            }
            let place = token.place();
            let launch = Launch { threads, arguments, ..Launch::of(token.text, place, template) };
            self.program.launches.push(launch);
        }
        self.at = 0;
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
        let template = if self.text() == "<" { self.template_arguments()? } else { Vec::new() };
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
        let Some(mut launch) = self.kernel_argument(after, names) else { return };
        let host = self.program.functions.iter().find(|function| {
            function.extent.start <= launch.span.start && launch.span.end <= function.extent.end
        });
        let Some(start) = host.map(|host| host.extent.start) else { return };
        let first = self.tokens.partition_point(|token| token.place().start < start);
        let first = first.min(at).max(at.saturating_sub(MAX_BEFORE));
        launch.threads = self.assigned(first..at, &[config, ".", "blockDim", "="]);
        if launch.threads.is_none() {
            launch.threads = self.begun_with(first..at, config);
        }
        let whole = self.assigned(first..at, &["clusterDim", "="]);
        launch.cluster = match whole.map(|whole| whole.kind) {
            Some(ExpressionKind::List(_, extents)) => extents,
            Some(_) => Vec::new(),
            None => {
                let extents = EXTENTS.map(|of| self.assigned(first..at, &["clusterDim", ".", of, "="]));
                extents.into_iter().map_while(|extent| extent).collect()
            }
        };
        launch.is_configured = true;
        self.at = at + 1;
        launch.arguments = self.arguments();
        // The configuration and the kernel come first.
        launch.arguments.drain(..2.min(launch.arguments.len()));
        self.program.launches.push(launch);
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
