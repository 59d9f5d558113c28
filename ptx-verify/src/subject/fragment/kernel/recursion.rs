//! Functions that call themselves with numbers that are known, which end them.

use ptx_syntax::Span;
use ptx_syntax::cuda::body::{Expression, Function, Parameter, TypeName};

use super::types::Ty;
use super::value::{Place, Value};
use super::{Lambda, Lowering, Unclear};

impl<'a, 's> Lowering<'a, 's> {
    /// Whether a function calls itself: a lambda does if it is given itself.
    pub(super) fn calls_itself(&mut self, function: &'a Function<'s>, given: &[Expression<'s>]) -> bool {
        if function.name.is_empty() {
            let lambdas: Vec<_> = given.iter().filter_map(|each| self.lambda(each)).collect();
            let is_own = |lambda: &Lambda| {
                self.program.lambdas.get(lambda.number).is_some_and(|known| known.span == function.span)
            };
            return lambdas.iter().any(is_own);
        }
        if let Some(known) = self.recursive.get(&function.span) {
            return *known;
        }
        let found = self.words_of(function).any(|(word, _)| word == function.name);
        self.recursive.insert(function.span, found);
        found
    }

    /// The words of a function's body, with what follows each.
    fn words_of(&self, function: &Function<'s>) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a, 's> {
        let Span { start, end } = function.extent;
        let body: &'a str = self.aim.source.get(start as usize..end as usize).unwrap_or_default();
        let is_part = |each: char| each.is_alphanumeric() || each == '_';
        let mut rest = body;
        std::iter::from_fn(move || {
            rest = &rest[rest.find(is_part)?..];
            let (word, after) = rest.split_at(rest.find(|each| !is_part(each)).unwrap_or(rest.len()));
            rest = after;
            Some((word, after.trim_start()))
        })
    }

    /// The number that an argument of a function is which calls itself, where the function leaves it as it is.
    pub(super) fn known_argument(
        &mut self,
        function: &'a Function<'s>,
        parameter: &Parameter<'s>,
        argument: Option<&Place>,
    ) -> Option<Result<Value, Unclear>> {
        let Some(Place::Fixed(value)) = argument else { return None };
        value.number()?;
        let is_changed = |(word, after): (&str, &str)| {
            let is_assigned = after.starts_with('=') && !after.starts_with("==");
            let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
            let is_compared = after.starts_with("<=") || after.starts_with(">=");
            let is_operated = operator.len() < after.len() && operator.starts_with('=') && !is_compared;
            let is_counted = after.starts_with("++") || after.starts_with("--");
            word == parameter.name && (is_assigned || is_operated || is_counted)
        };
        if matches!(parameter.ty, TypeName::Reference(_)) || self.words_of(function).any(is_changed) {
            return None;
        }
        let value = value.clone();
        Some(match parameter.ty {
            TypeName::Auto => Ok(value),
            _ => self.ty(&parameter.ty).and_then(|ty| match ty {
                Ty::Integer { .. } => self.converted(value, &ty),
                _ => Err(Unclear),
            }),
        })
    }
}
