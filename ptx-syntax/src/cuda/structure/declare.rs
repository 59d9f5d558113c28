//! Declares the names of declarations in the current scope.

use super::Builder;
use crate::cuda::ctype::{self, CType};
use crate::cuda::declare::{Declared, Reader};
use crate::cuda::expression;
use crate::cuda::model::Parameter;
use crate::cuda::scan::Token;
use crate::cuda::scope::{Meaning, Value};

impl Builder<'_> {
    /// Declares the names that the tokens from `start` to `end` introduce, if they are a declaration.
    pub(super) fn declare(&mut self, start: usize, end: usize) {
        let end = end.min(self.tokens.len());
        let Some(tokens) = self.tokens.get(start..end).filter(|tokens| tokens.len() > 1) else { return };
        let reader = self.reader(tokens);
        match reader.text(0) {
            "using" => return self.declare_alias(start, end),
            "typedef" => return self.declare_typedef(start, end),
            "template" | "namespace" | "static_assert" | "friend" => return,
            _ => {}
        }
        let Some((base, at)) = reader.specifiers(0) else { return };
        // A call, an assignment or another expression; but not `auto [a, b] = …` and `int (&a)[2] = …`.
        let wrapped =
            || matches!(reader.text(at + 1), "&" | "*") && reader.text(reader.after_group(at)) == "[";
        let expression = match reader.text(at) {
            "(" => !wrapped(),
            "[" => reader.text(0) != "auto",
            "." | "->" | "=" | "+=" => true,
            _ => false,
        };
        if at == 0 || (at < 2 && expression) {
            return;
        }
        let in_code = self.in_code();
        let any = |words: &[&str]| (0..at).any(|index| words.contains(&reader.text(index)));
        let constant = any(&["const", "constexpr", "__const__"]);
        // What a constant of a function is made of may differ from call to call.
        let same = any(&["constexpr"]) || (constant && !in_code);
        // What has no value of its own may be zero, or be shared.
        let stored = any(&["static", "extern", "__shared__", "thread_local", "__constant__", "__device__"]);
        let automatic = any(&["auto"]);
        let mut found = reader.declarators(&base, at);
        if automatic {
            for declared in &mut found {
                declared.ctype = self.deduced(tokens, declared);
            }
        }
        for declared in found {
            let plain = matches!(declared.ctype, CType::Bool | CType::Integer { .. } | CType::Float { .. });
            let changes = in_code && plain && !constant && !declared.called;
            let scalar = plain
                || matches!(declared.ctype, CType::Pointer(_) | CType::Array(_))
                || declared.ctype.is_structure_of_cuda();
            let unset =
                in_code && scalar && !constant && !stored && !declared.called && !declared.initialized;
            let value = match (unset, changes) {
                _ if same && plain && !declared.called => Value::Constant,
                (true, true) => Value::Unset,
                (true, false) => Value::UnsetAggregate,
                (false, true) => Value::Changes,
                (false, false) => Value::Unknown,
            };
            let meaning = if declared.called && !in_code {
                Meaning::Function(declared.ctype)
            } else {
                Meaning::Value(declared.ctype)
            };
            let (name, at) = (declared.name.text(self.source), declared.name.start);
            self.scopes.declare_value(self.scope, name, at, meaning, value);
        }
    }

    /// The type of a variable that is declared `auto`: that of its initializer. A pointer `auto *` and what has no
    /// initializer here are left as they are.
    fn deduced(&self, tokens: &[Token], declared: &Declared) -> CType {
        let unknown = || declared.ctype.clone();
        if declared.ctype != CType::Unknown {
            return unknown();
        }
        let Some(name) = tokens.iter().position(|token| token.span == declared.name) else {
            return unknown();
        };
        let reader = self.reader(tokens);
        let inside = match reader.text(name + 1) {
            "=" if reader.text(name + 2) != "{" => name + 2..reader.after_initializer(name + 2),
            "(" | "{" => name + 2..reader.after_group(name + 1).saturating_sub(1),
            _ => return unknown(),
        };
        let value = tokens.get(inside).unwrap_or(&[]);
        expression::type_of(self.source, &self.scopes, self.scope, value)
    }

    /// `using name = type;`
    pub(super) fn declare_alias(&mut self, start: usize, end: usize) {
        let tokens = &self.tokens[start..end];
        let reader = self.reader(tokens);
        let stop = tokens.len() - usize::from(reader.text(tokens.len() - 1) == ";");
        if reader.text(2) == "=" && stop > 3 {
            let inner = Reader { tokens: &tokens[3..stop], ..reader };
            let ctype = inner.whole_type().unwrap_or_default();
            let name = tokens[1].span;
            self.scopes.declare(self.scope, name.text(self.source), name.start, Meaning::Type(ctype));
        } else if reader.text(1) != "namespace" {
            // `using other::name;` brings in something that is not known.
            let name = tokens[stop.saturating_sub(1)].span;
            let text = name.text(self.source);
            if ctype::standard(text).is_none() {
                self.scopes.declare(self.scope, text, name.start, Meaning::Type(CType::Unknown));
            }
        }
    }

    pub(super) fn declare_typedef(&mut self, start: usize, end: usize) {
        let tokens = &self.tokens[start..end];
        let reader = self.reader(tokens);
        let Some((base, at)) = reader.specifiers(1) else { return };
        for declared in reader.declarators(&base, at) {
            let ctype = if declared.called { CType::Unknown } else { declared.ctype };
            let name = declared.name;
            self.scopes.declare(self.scope, name.text(self.source), name.start, Meaning::Type(ctype));
        }
    }

    pub(super) fn declare_parameters(&mut self, tokens: &[Token]) -> Vec<Parameter> {
        let parameters = self.reader(tokens).parameters();
        for parameter in parameters.iter().filter(|parameter| !parameter.name.is_empty()) {
            let meaning = Meaning::Value(parameter.ctype.clone());
            self.scopes.declare(self.scope, parameter.name.text(self.source), parameter.name.start, meaning);
        }
        parameters
    }
}
