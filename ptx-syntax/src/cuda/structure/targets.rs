//! Target macros of `<nv/target>`, whose arguments are conditions and code.

use super::{Builder, MAX_DEPTH, Until};
use crate::Span;
use crate::cuda::condition::{Condition, ConditionKind};
use crate::cuda::model::{ConditionId, RegionKind};

impl Builder<'_> {
    /// The arguments of `NV_IF_TARGET`, `NV_IF_ELSE_TARGET` and `NV_DISPATCH_TARGET`: conditions and code.
    pub(super) fn targets(&mut self) {
        if self.text() != "(" || self.depth > MAX_DEPTH {
            return;
        }
        let around = self.target;
        let parent = self.condition_here();
        let mut previous = None;
        self.at += 1;
        loop {
            let start = self.offset();
            if self.text() == "(" {
                // Code without a condition before it: what happens otherwise.
                self.target =
                    Some(self.add_condition(ConditionKind::Else, Span::at(start), parent, previous));
                self.target_code();
                self.target = around;
            } else {
                self.flat_until_comma();
                let span = Span::new(start, self.last_end().max(start));
                let condition = self.add_condition(ConditionKind::Target, span, parent, previous);
                previous = Some(condition);
                self.accept(",");
                // A macro that several branches define has put more than one group here.
                while self.text() == "(" && self.at < self.tokens.len() {
                    self.target = Some(condition);
                    self.target_code();
                    self.target = around;
                }
            }
            self.flat_until_comma();
            if !self.accept(",") {
                break;
            }
        }
        self.accept(")");
    }

    pub(super) fn target_code(&mut self) {
        let before = self.open_region(RegionKind::MacroArgument);
        self.depth += 1;
        self.at += 1;
        self.items(Until::Parenthesis);
        self.accept(")");
        self.depth -= 1;
        self.close_region(before);
    }

    pub(super) fn flat_until_comma(&mut self) {
        while self.at < self.tokens.len() {
            match self.text() {
                "," | ")" | "}" | ";" => return,
                "(" | "[" => self.group(),
                "{" => self.brace(self.at),
                _ => self.single(),
            }
        }
    }

    pub(super) fn condition_here(&mut self) -> ConditionId {
        let here = self.token().map_or(0, |token| token.condition);
        self.target.unwrap_or(ConditionId(here))
    }

    pub(super) fn add_condition(
        &mut self,
        kind: ConditionKind,
        expression: Span,
        parent: ConditionId,
        previous: Option<ConditionId>,
    ) -> ConditionId {
        let id = ConditionId(self.file.conditions.len() as u32);
        self.file.conditions.push(Condition { kind, expression, parent: Some(parent), previous, choices: 1 });
        id
    }
}
