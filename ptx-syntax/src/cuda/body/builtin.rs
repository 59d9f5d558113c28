//! Expressions that compilers know besides those of C++.

use super::{Expression, ExpressionKind, Function, Parser, StatementKind, TemplateArgument, TypeName};

impl<'s> Parser<'s> {
    /// `offsetof(T, a.b)`: the address of a member of what lies at 0.
    pub(super) fn offset_of(&mut self) -> Expression<'s> {
        let (span, end) = (self.span(), self.after_group(self.at + 1));
        self.at += 2;
        let base = self.base_type(&mut super::types::Specifiers::default());
        let ty = self.pointers(base);
        if !self.accept(",") || !self.is_name(0) {
            return self.unknown();
        }
        let zero = Box::new(Expression::zero(span));
        let pointer = ExpressionKind::Cast(TypeName::Pointer(Box::new(ty)), zero);
        let object = Box::new(Expression::made(pointer, span, 1));
        let (name, template) = (self.text(), Vec::new());
        self.at += 1;
        let member = ExpressionKind::Member { object, name, arrow: true, template };
        let of = self.postfix(Expression::made(member, span, 2));
        if self.at + 1 != end {
            return self.unknown();
        }
        self.at = end;
        let depth = of.depth;
        let address = Expression::made(ExpressionKind::Unary("&", Box::new(of)), span, depth);
        let size = TypeName::Integer { bits: 64, signed: false };
        Expression::made(ExpressionKind::Cast(size, Box::new(address)), span, depth + 1)
    }

    /// `__builtin_bit_cast(T, a)`, as the function of the standard library.
    pub(super) fn bit_cast(&mut self) -> Expression<'s> {
        let (span, end) = (self.span(), self.after_group(self.at + 1));
        self.at += 2;
        let base = self.base_type(&mut super::types::Specifiers::default());
        let ty = self.pointers(base);
        if !self.accept(",") {
            return self.unknown();
        }
        let of = self.assignment();
        if self.at + 1 != end {
            return self.unknown();
        }
        self.at = end;
        let depth = of.depth;
        let name = ExpressionKind::Name("bit_cast", vec![TemplateArgument::Type(ty)]);
        let callee = Expression::made(name, span, 0);
        Expression::made(ExpressionKind::Call(Box::new(callee), vec![of]), span, depth)
    }

    /// `({ …; a; })` is what a lambda gives that is called at once, its `{` comes next.
    pub(super) fn statements_as_value(&mut self, end: usize) -> Expression<'s> {
        let (span, from) = (self.span(), self.at);
        // What leaves the function around, or a loop, is no part of a lambda.
        let leaves = ["return", "break", "continue", "goto"];
        let last = (end.saturating_sub(1)).min(self.tokens.len());
        if self.tokens[from..last].iter().any(|token| leaves.contains(&token.text)) {
            return self.unknown();
        }
        let mut body = self.block();
        if self.at + 1 != end {
            return self.unknown();
        }
        self.at = end;
        if let Some(last) = body.last_mut()
            && let StatementKind::Expression(value) = &last.kind
        {
            last.kind = StatementKind::Return(Some(value.clone()));
        }
        self.program.lambdas.push(Function::lambda(span, body));
        let lambda = ExpressionKind::Lambda(self.program.lambdas.len() - 1);
        let callee = Expression::made(lambda, span, 0);
        Expression::made(ExpressionKind::Call(Box::new(callee), Vec::new()), span, 1)
    }
}

impl<'s> Function<'s> {
    /// One without a name that takes nothing.
    #[must_use]
    pub const fn lambda(span: crate::Span, body: Vec<super::Statement<'s>>) -> Self {
        Self {
            name: "",
            owner: None,
            span,
            is_kernel: false,
            is_device: true,
            template: Vec::new(),
            specialized: None,
            conditions: Vec::new(),
            captures: Vec::new(),
            is_mutable: false,
            copies: Vec::new(),
            mentions: Vec::new(),
            returns: TypeName::Auto,
            parameters: Vec::new(),
            launch_bounds: Vec::new(),
            max_registers: None,
            cluster: Vec::new(),
            extent: span,
            body,
        }
    }
}
