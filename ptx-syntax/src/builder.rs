//! What the grammar's actions call: children are gathered on stacks and moved into the tree's arrays
//! when their parent is known, so that the children of a node end up next to each other.

use crate::Span;
use crate::ast::{
    BinaryOperator, Body, Declaration, Declarator, Function, FunctionKind, Guard, Item, Operand, OperandKind,
    Run, Section, Specifier, SpecifierKind, Statement, StatementKind, Tree,
};

/// State of a parse.
#[derive(Default)]
pub struct Builder {
    /// What was built so far.
    pub tree: Tree,
    operands: Vec<Operand>,
    operators: Vec<BinaryOperator>,
    specifiers: Vec<Specifier>,
    declarators: Vec<Declarator>,
    /// Statements from here on belong to the item that is being parsed.
    mark: u32,
    returns: Option<Run>,
    parameters: Option<Run>,
    prototype_returns: Option<Run>,
    prototype_parameters: Option<Run>,
    header: Option<Header>,
}

impl Builder {
    /// Makes room for the tree of a text of `bytes` bytes. Pages that stay unused cost no memory.
    pub fn reserve(&mut self, bytes: usize) {
        self.tree.statements.reserve(bytes / 16);
        self.tree.operands.reserve(bytes / 7);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.abandon();
        self.header = None;
        self.mark = 0;
        let Tree { items, functions, sections, declarations, declarators, specifiers, statements, operands } =
            &mut self.tree;
        items.clear();
        functions.clear();
        sections.clear();
        declarations.clear();
        declarators.clear();
        specifiers.clear();
        statements.clear();
        operands.clear();
    }

    /// Forgets what an abandoned parse left on the stacks; the tree keeps what was complete.
    pub fn abandon(&mut self) {
        self.operands.clear();
        self.operators.clear();
        self.specifiers.clear();
        self.declarators.clear();
        (self.returns, self.parameters) = (None, None);
        (self.prototype_returns, self.prototype_parameters) = (None, None);
    }

    /// Begins a tree beside the one that there is; gives what [`Self::take_back`] is to be told.
    pub fn set_aside(&mut self) -> (Tree, u32) {
        (std::mem::take(&mut self.tree), std::mem::take(&mut self.mark))
    }

    /// Returns to the tree that was set aside.
    pub fn take_back(&mut self, (tree, mark): (Tree, u32)) {
        self.abandon();
        self.header = None;
        (self.tree, self.mark) = (tree, mark);
    }

    /// Where the stacks and the tree's operands end now.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark {
            operands: self.operands.len(),
            specifiers: self.specifiers.len(),
            declarators: self.declarators.len(),
            tree_operands: self.tree.operands.len(),
        }
    }

    /// Forgets the statement that was begun at the mark.
    pub fn return_to(&mut self, mark: Mark) {
        self.operands.truncate(mark.operands);
        self.specifiers.truncate(mark.specifiers);
        self.declarators.truncate(mark.declarators);
        self.tree.operands.truncate(mark.tree_operands);
    }

    #[inline]
    pub fn leaf(&mut self, kind: OperandKind, span: Span) {
        self.operands.push(Operand { span, first: 0, count: 0, kind });
    }

    /// Makes the last `count` operands the children of a new one.
    pub fn node(&mut self, kind: OperandKind, span: Span, count: u32) {
        let run = self.take_operands(count);
        self.operands.push(Operand { span, first: run.first, count, kind });
    }

    /// A prefix operator at `operator` over the last operand.
    pub fn prefix(&mut self, kind: OperandKind, operator: Span) {
        let end = self.operands.last().map_or(operator, |operand| operand.span);
        self.node(kind, operator.to(end), 1);
    }

    /// `function(arguments)`: the function lies below its `count` arguments.
    pub fn apply(&mut self, count: u32, close: Span) {
        let at = self.operands.len() - count as usize - 1;
        let span = self.operands[at].span.to(close);
        self.node(OperandKind::Apply, span, count + 1);
    }

    /// `(.type) operand`: word and operand are the last two.
    pub fn cast(&mut self, open: Span) {
        let end = self.operands.last().map_or(open, |operand| operand.span);
        self.node(OperandKind::Cast, open.to(end), 2);
    }

    /// `name = value`: they are the last two.
    pub fn field(&mut self) {
        let at = self.operands.len() - 2;
        let span = self.operands[at].span.to(self.operands[at + 1].span);
        self.node(OperandKind::Field, span, 2);
    }

    /// `[…].word` over the last operand.
    pub fn bracket_suffix(&mut self, word: Span) {
        let Some(&bracket) = self.operands.last() else { return };
        self.leaf(OperandKind::DotWord, word);
        self.node(OperandKind::BracketSuffix, bracket.span.to(word), 2);
    }

    /// `name[index]`: they are the last two.
    pub fn index(&mut self, close: Span) {
        let span = self.operands[self.operands.len() - 2].span.to(close);
        self.node(OperandKind::Index, span, 2);
    }

    pub fn operator(&mut self, operator: BinaryOperator) {
        self.operators.push(operator);
    }

    /// Resolves a chain of `count` operators and `count + 1` operands by precedence.
    pub fn chain(&mut self, count: u32) {
        let operands = self.operands.split_off(self.operands.len() - count as usize - 1);
        let operators = self.operators.split_off(self.operators.len() - count as usize);
        let mut waiting: Vec<BinaryOperator> = Vec::with_capacity(operators.len());
        let mut rest = operands.into_iter();
        self.operands.extend(rest.next());
        for (operator, operand) in operators.into_iter().zip(rest) {
            while let Some(&top) = waiting.last()
                && top.precedence() >= operator.precedence()
            {
                waiting.pop();
                self.binary(top);
            }
            waiting.push(operator);
            self.operands.push(operand);
        }
        while let Some(operator) = waiting.pop() {
            self.binary(operator);
        }
    }

    pub fn binary(&mut self, operator: BinaryOperator) {
        let at = self.operands.len() - 2;
        let span = self.operands[at].span.to(self.operands[at + 1].span);
        self.node(OperandKind::Binary(operator), span, 2);
    }

    pub fn conditional(&mut self) {
        let at = self.operands.len() - 3;
        let span = self.operands[at].span.to(self.operands[at + 2].span);
        self.node(OperandKind::Conditional, span, 3);
    }

    fn take_operands(&mut self, count: u32) -> Run {
        let at = self.operands.len() - count as usize;
        let first = self.tree.operands.len() as u32;
        self.tree.operands.extend_from_slice(&self.operands[at..]);
        self.operands.truncate(at);
        Run { first, count }
    }

    fn take_operand(&mut self) -> u32 {
        self.take_operands(1).first
    }

    pub fn statement(&mut self, kind: StatementKind, word: Span, span: Span, operands: u32) {
        let operands = self.take_operands(operands);
        self.tree.statements.push(Statement { span, word, operands, kind });
    }

    /// A statement whose end is that of its last operand.
    pub fn open_statement(&mut self, word: Span, operands: u32) {
        let end =
            if operands == 0 { word } else { self.operands.last().map_or(word, |operand| operand.span) };
        self.statement(StatementKind::Directive, word, word.to(end), operands);
    }

    /// A line of data that ends with `last`. What is in it is not kept: it may be most of a file, and nothing asks
    /// for more than its text.
    pub fn data(&mut self, word: Span, last: Span) {
        self.statement(StatementKind::Data, word, word.to(last), 0);
    }

    /// A line of data whose last `count` operands were built.
    pub fn data_of_operands(&mut self, word: Span, count: u32) {
        let last = self.operands.last().map_or(word, |operand| operand.span);
        let at = self.operands.len() - count as usize;
        let mut keep = self.tree.operands.len();
        let mut pending = self.operands.split_off(at);
        while let Some(operand) = pending.pop() {
            if operand.count > 0 {
                let first = operand.first as usize;
                keep = keep.min(first);
                pending.extend_from_slice(&self.tree.operands[first..first + operand.count as usize]);
            }
        }
        self.tree.operands.truncate(keep);
        self.data(word, last);
    }

    /// An instruction; the guard, where there is one, was pushed before its operands.
    pub fn instruction(&mut self, guard: (Guard, Span), word: Span, operands: u32, end: Span) {
        let (guard, at) = guard;
        let (start, extra) = if guard == Guard::None { (word, 0) } else { (at, 1) };
        self.statement(StatementKind::Instruction(guard), word, start.to(end), operands + extra);
    }

    pub fn specifier(&mut self, kind: SpecifierKind, span: Span) {
        self.specifiers.push(Specifier { span, kind, operand: None });
    }

    /// A specifier whose operand is the last one.
    pub fn specifier_with_operand(&mut self, kind: SpecifierKind, start: Span) {
        let span = start.to(self.operands.last().map_or(start, |operand| operand.span));
        let operand = Some(self.take_operand());
        self.specifiers.push(Specifier { span, kind, operand });
    }

    pub fn declarator(&mut self, name: Span, range: Option<Span>, dimensions: u32, initialized: bool) {
        let mut end = range.unwrap_or(name);
        let initializer = initialized.then(|| {
            end = self.operands.last().map_or(end, |operand| operand.span);
            self.take_operand()
        });
        if dimensions > 0 && !initialized {
            end = self.operands.last().map_or(end, |operand| operand.span);
        }
        let dimensions = self.take_operands(dimensions);
        let range = range.is_some().then(|| self.take_operand());
        self.declarators.push(Declarator { name, span: name.to(end), range, dimensions, initializer });
    }

    fn take_specifiers(&mut self, count: u32) -> Run {
        let at = self.specifiers.len() - count as usize;
        let first = self.tree.specifiers.len() as u32;
        self.tree.specifiers.extend(self.specifiers.drain(at..));
        Run { first, count }
    }

    /// A declaration of `specifiers` and `declarators`; it ends at `end` or else at its last name.
    pub fn declaration(&mut self, specifiers: u32, declarators: u32, end: Option<Span>) -> u32 {
        let specifiers = self.take_specifiers(specifiers);
        let at = self.declarators.len() - declarators as usize;
        let first = self.tree.declarators.len() as u32;
        self.tree.declarators.extend(self.declarators.drain(at..));
        let start = self.tree.specifiers.get(specifiers.first as usize).map_or(Span::default(), |s| s.span);
        let last = self.tree.declarators.last().map_or(start, |declarator| declarator.span);
        let span = start.to(end.unwrap_or(last));
        let declarators = Run { first, count: declarators };
        self.tree.declarations.push(Declaration { span, specifiers, declarators });
        self.tree.declarations.len() as u32 - 1
    }

    pub fn declaration_statement(&mut self, specifiers: u32, declarators: u32, end: Span) {
        let first = self.declaration(specifiers, declarators, Some(end));
        let span = self.tree.declarations[first as usize].span;
        let operands = Run { first, count: 0 };
        self.tree.statements.push(Statement { span, word: span, operands, kind: StatementKind::Declaration });
    }

    pub fn returns(&mut self, count: u32) {
        self.returns = Some(self.last_declarations(count));
    }

    pub fn parameters(&mut self, count: u32) {
        self.parameters = Some(self.last_declarations(count));
    }

    pub fn prototype_returns(&mut self, count: u32) {
        self.prototype_returns = Some(self.last_declarations(count));
    }

    pub fn prototype_parameters(&mut self, count: u32) {
        self.prototype_parameters = Some(self.last_declarations(count));
    }

    fn last_declarations(&self, count: u32) -> Run {
        Run { first: self.tree.declarations.len() as u32 - count, count }
    }

    /// The header of a function is complete; it waits here, since the parser's stack is faster with small values.
    pub fn header(&mut self, kind: FunctionKind, specifiers: u32, keyword: Span, name: Span, end: Span) {
        self.header = Some(Header { kind, specifiers, keyword, name, end });
    }

    /// A function; `directives` statements lie before those of the body.
    pub fn function(&mut self, directives: u32, body: Option<Span>, end: Span) {
        let Some(header) = self.header.take() else { return };
        let specifiers = self.take_specifiers(header.specifiers);
        let start = match specifiers.count {
            0 => header.keyword,
            _ => self.tree.specifiers[specifiers.first as usize].span.to(header.keyword),
        };
        let first = self.mark;
        let from = first + directives;
        let statements = Run { first: from, count: self.tree.statements.len() as u32 - from };
        self.tree.functions.push(Function {
            span: start.to(end),
            header: start.to(header.end),
            kind: header.kind,
            specifiers,
            name: header.name,
            returns: self.returns.take(),
            parameters: self.parameters.take(),
            directives: Run { first, count: directives },
            body: body.map(|span| Body { span, statements }),
        });
        self.item(Item::Function(self.tree.functions.len() as u32 - 1));
    }

    /// `.callprototype`: the statement, and its signature as a function without a body.
    pub fn prototype(&mut self, keyword: Span, name: Span, directives: u32, end: Span) {
        let first = self.tree.statements.len() as u32 - directives;
        let index = self.tree.functions.len() as u32;
        self.tree.functions.push(Function {
            span: keyword.to(end),
            header: keyword.to(end),
            kind: FunctionKind::Prototype,
            specifiers: Run::default(),
            name,
            returns: self.prototype_returns.take(),
            parameters: self.prototype_parameters.take(),
            directives: Run { first, count: directives },
            body: None,
        });
        self.tree.statements.push(Statement {
            span: keyword.to(end),
            word: keyword,
            operands: Run { first: index, count: 0 },
            kind: StatementKind::CallPrototype,
        });
    }

    /// A function whose header could not be read: what is known is its name, and its body from here on.
    pub fn damaged_function(&mut self, kind: FunctionKind, span: Span, name: Span) {
        self.header(kind, 0, span, name, name);
        (self.returns, self.parameters) = (None, None);
        self.function(0, None, span);
    }

    /// The function that was parsed last.
    pub fn last_function(&self) -> Option<usize> {
        self.tree.functions.iter().rposition(|function| function.kind != FunctionKind::Prototype)
    }

    /// Gives a function, which was parsed as a declaration, the statements made since.
    pub fn set_body(&mut self, function: Option<usize>, span: Span) {
        let statements = Run { first: self.mark, count: self.tree.statements.len() as u32 - self.mark };
        if let Some(function) = function.and_then(|index| self.tree.functions.get_mut(index)) {
            function.body = Some(Body { span, statements });
            function.span = function.span.to(span);
        }
        self.mark = self.tree.statements.len() as u32;
    }

    /// Begins an item within the body of another; gives what [`Self::end_inner`] is to be told.
    pub fn begin_inner(&mut self) -> u32 {
        std::mem::replace(&mut self.mark, self.tree.statements.len() as u32)
    }

    /// Returns to the outer body.
    pub fn end_inner(&mut self, outer: u32) {
        self.mark = outer;
    }

    pub fn section(&mut self, keyword: Span, name: Span, end: Span) {
        let statements = Run { first: self.mark, count: self.tree.statements.len() as u32 - self.mark };
        self.tree.sections.push(Section { span: keyword.to(end), name, statements });
        self.item(Item::Section(self.tree.sections.len() as u32 - 1));
    }

    pub fn module_directive(&mut self) {
        self.item(Item::Directive(self.tree.statements.len() as u32 - 1));
    }

    pub fn module_declaration(&mut self, specifiers: u32, declarators: u32, end: Span) {
        let index = self.declaration(specifiers, declarators, Some(end));
        self.item(Item::Declaration(index));
    }

    fn item(&mut self, item: Item) {
        self.tree.items.push(item);
        self.mark = self.tree.statements.len() as u32;
    }
}

/// A place in what was built so far.
#[derive(Clone, Copy)]
pub struct Mark {
    operands: usize,
    specifiers: usize,
    declarators: usize,
    tree_operands: usize,
}

/// The parts of a function header that the grammar hands to [`Builder::function`].
#[derive(Clone, Copy)]
struct Header {
    kind: FunctionKind,
    specifiers: u32,
    keyword: Span,
    name: Span,
    end: Span,
}
