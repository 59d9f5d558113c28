//! The parameters of templates.

use super::conditions::asked_for;
use super::top::ABOVE_SHIFT;
use super::types::Specifiers;
use super::{Parser, TemplateArgument, TemplateParameter};

impl<'s> Parser<'s> {
    pub(super) fn template(&mut self) -> Vec<TemplateParameter<'s>> {
        self.at += 1;
        let mut parameters = self.template_parameters();
        if let Some(asked) = self.requirement()
            && let Some(last) = parameters.last_mut()
        {
            last.conditions.push(asked);
        }
        parameters
    }

    /// `<…>` with the parameters of a template.
    pub(super) fn template_parameters(&mut self) -> Vec<TemplateParameter<'s>> {
        let Some(end) = self.after_parameters(self.at).filter(|_| self.text() == "<") else {
            return Vec::new();
        };
        self.at += 1;
        let mut parameters = Vec::new();
        while self.at + 1 < end {
            // `template <typename> class A`
            if self.text() == "template"
                && let Some(after) = self.after_parameters(self.at + 1)
            {
                self.at = after;
            }
            let span = self.span();
            let mut conditions = Vec::new();
            let concept = self.concept_of_parameter();
            // `typename A::type` is the type of a value.
            let is_word = matches!(self.text(), "typename" | "class");
            let is_type = concept.is_some() || (is_word && !(self.is_name(1) && self.ahead(2) == "::"));
            if is_type {
                self.at += usize::from(concept.is_none());
            } else {
                let base = self.base_type(&mut Specifiers::default());
                let ty = self.pointers(base);
                asked_for(&ty, span, &mut conditions);
            }
            let is_pack = self.accept("...");
            let mut name = "";
            // `void (*name)(…)` is a function.
            if self.text() == "(" && matches!(self.ahead(1), "*" | "&") && self.is_name(2) {
                name = self.ahead(2);
                self.at = self.after_group(self.at);
                if self.text() == "(" {
                    self.at = self.after_group(self.at);
                }
            }
            if self.is_name(0) {
                name = self.text();
                self.at += 1;
            }
            if is_type && !name.is_empty() {
                self.types.push(name);
            }
            let mut default = None;
            if self.accept("=") {
                let to = self.end_of_argument(end);
                default = match if is_type { self.whole_type(to) } else { None } {
                    Some(ty) => Some(TemplateArgument::Type(ty)),
                    None => Some(TemplateArgument::Value(self.binary(ABOVE_SHIFT))),
                };
                self.at = to;
            }
            if let Some(TemplateArgument::Type(ty)) = &default {
                asked_for(ty, span, &mut conditions);
            }
            conditions.extend(concept.map(|concept| Self::asked(concept, name, span)));
            parameters.push(TemplateParameter { name, is_type, is_pack, default, conditions });
            if !self.accept(",") {
                break;
            }
        }
        self.at = end;
        parameters
    }

    fn end_of_argument(&self, end: usize) -> usize {
        let mut at = self.at;
        while at + 1 < end && !(self.tokens[at].is_plain() && self.tokens[at].text == ",") {
            at = match self.tokens[at].text {
                "(" | "[" | "{" if self.tokens[at].is_plain() => self.after_group(at),
                // The commas of `Pair<A, B>` are its own.
                "<" if self.tokens[at].is_plain() => {
                    self.after_angles(at).filter(|after| *after < end).unwrap_or(at + 1)
                }
                _ => at + 1,
            };
        }
        at.min(end.saturating_sub(1))
    }
}
