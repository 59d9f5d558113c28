//! Functions that give references to arrays.

use super::tokens::Kind;
use super::types::Specifiers;
use super::{Parser, StructureId, TemplateParameter, TypeName};

impl<'s> Parser<'s> {
    /// A function that gives a reference to an array, `T (&name(…))[N] {…}`, a method where it has an owner; none where no such
    /// one stands here.
    pub(super) fn function_of_array(
        &mut self,
        owner: Option<StructureId>,
        start: usize,
        template: &[TemplateParameter<'s>],
    ) -> Option<bool> {
        let (end, open) = self.end_of_head(start);
        let open = open?;
        let text = |at: usize| self.tokens.get(at).map_or("", |token| token.text);
        let (name, lengths) = (*self.tokens.get(open + 2)?, self.after_group(open));
        let is_such = text(open + 1) == "&"
            && name.kind == Kind::Identifier
            && text(open + 3) == "("
            && self.after_group(open + 3) + 1 == lengths
            && text(lengths) == "["
            && text(end) == "{";
        if !is_such {
            return None;
        }
        self.at = start;
        let mut specifiers = Specifiers::default();
        let base = self.base_type(&mut specifiers);
        let base = self.pointers(base);
        let is_head = self.at == open;
        self.at = lengths;
        let (_, array) = self.declarator(base);
        if !is_head || self.at != end {
            self.at = self.after_group(end);
            if let Some(owner) = owner {
                self.unknown_method(owner, name.text, name.place());
            }
            return Some(true);
        }
        let functions = self.program.functions.len();
        let returns = TypeName::Reference(Box::new(array));
        self.named_function(
            (name.text, name.place()),
            (returns, specifiers),
            (open + 3, end),
            template.to_vec(),
        );
        match (self.program.functions.get_mut(functions), owner) {
            (Some(function), _) => function.owner = owner,
            (None, Some(owner)) => self.unknown_method(owner, name.text, name.place()),
            (None, None) => {}
        }
        Some(true)
    }
}
