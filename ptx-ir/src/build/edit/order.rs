//! The statements of a body while it is edited: a list, so that nothing moves where something is inserted.

use crate::arena::Handle;
use crate::ir::{Body, Instruction, Label, Statement, Variable};
use rustc_hash::FxHashMap;

/// A place in the list: directly before a statement, or at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(u32);

/// The end of the list, which is before its first statement too.
pub(super) const END: Node = Node(0);

#[derive(Clone, Copy, Debug)]
struct Entry {
    statement: Statement,
    before: Node,
    after: Node,
    /// The block that it is in; for `{` and `}` the block around them.
    block: u32,
    /// The block that `{` opens or `}` closes.
    inner: u32,
}

/// The statements in their order.
#[derive(Debug)]
pub(super) struct Order {
    entries: Vec<Entry>,
    instructions: Vec<Node>,
    labels: Vec<Node>,
    variables: FxHashMap<Handle<Variable>, Node>,
    /// The block around each block.
    parents: Vec<u32>,
}

impl Order {
    /// The statements of a body, its blocks numbered in the order of the text.
    pub(super) fn new(body: &Body) -> Self {
        let end = Entry { statement: Statement::Close, before: END, after: END, block: 0, inner: 0 };
        let mut order = Self {
            entries: vec![end],
            instructions: Vec::new(),
            labels: Vec::new(),
            variables: FxHashMap::default(),
            parents: vec![0],
        };
        order.insert(END, 0, &body.statements);
        order
    }

    /// Inserts statements, whose blocks are new and are numbered in their order.
    pub(super) fn insert(&mut self, at: Node, mut block: u32, statements: &[Statement]) {
        for &statement in statements {
            let node = Node(self.entries.len() as u32);
            let mut inner = 0;
            match statement {
                Statement::Open => {
                    inner = self.parents.len() as u32;
                    self.parents.push(block);
                }
                Statement::Close => {
                    inner = block;
                    block = self.parent(block);
                }
                Statement::Instruction(instruction) => {
                    note(&mut self.instructions, instruction.index(), node);
                }
                Statement::Label(label) => note(&mut self.labels, label.index(), node),
                Statement::Variable(variable) => {
                    self.variables.insert(variable, node);
                }
                _ => {}
            }
            let before = self.entries[at.0 as usize].before;
            self.entries.push(Entry { statement, before, after: at, block, inner });
            self.entries[before.0 as usize].after = node;
            self.entries[at.0 as usize].before = node;
            if statement == Statement::Open {
                block = inner;
            }
        }
    }

    pub(super) fn remove(&mut self, node: Node) {
        let Entry { before, after, statement, .. } = self.entries[node.0 as usize];
        self.entries[before.0 as usize].after = after;
        self.entries[after.0 as usize].before = before;
        match statement {
            Statement::Instruction(instruction) => self.instructions[instruction.index()] = END,
            Statement::Variable(variable) => {
                self.variables.remove(&variable);
            }
            _ => {}
        }
    }

    /// The place before an instruction; none where it was removed.
    pub(super) fn instruction(&self, instruction: Handle<Instruction>) -> Option<Node> {
        self.instructions.get(instruction.index()).copied().filter(|node| *node != END)
    }

    /// The place before a label.
    pub(super) fn label(&self, label: Handle<Label>) -> Option<Node> {
        self.labels.get(label.index()).copied().filter(|node| *node != END)
    }

    /// The place before the declaration of a variable.
    pub(super) fn variable(&self, variable: Handle<Variable>) -> Option<Node> {
        self.variables.get(&variable).copied()
    }

    /// The statements from the declaration of a variable to the end of its block.
    pub(super) fn in_scope_of(
        &self,
        variable: Handle<Variable>,
    ) -> Option<impl Iterator<Item = (Statement, Node)>> {
        let mut node = self.variable(variable)?;
        let outer = self.entries[node.0 as usize].block;
        Some(std::iter::from_fn(move || {
            let statement = self.statement(node)?;
            if statement == Statement::Close && self.entries[node.0 as usize].inner == outer {
                return None;
            }
            let found = (statement, node);
            node = self.after(node);
            Some(found)
        }))
    }

    /// The place behind the statement at a place.
    pub(super) fn after(&self, node: Node) -> Node {
        self.entries[node.0 as usize].after
    }

    /// The statement behind a place; none at the end.
    pub(super) fn statement(&self, node: Node) -> Option<Statement> {
        (node != END).then(|| self.entries[node.0 as usize].statement)
    }

    /// The block that what is inserted at a place is in.
    pub(super) fn block_at(&self, node: Node) -> u32 {
        let Entry { statement, block, inner, .. } = self.entries[node.0 as usize];
        if statement == Statement::Close { inner } else { block }
    }

    /// The block around a block; 0 is its own.
    pub(super) fn parent(&self, block: u32) -> u32 {
        self.parents[block as usize]
    }

    /// How many blocks there are.
    pub(super) const fn blocks(&self) -> u32 {
        self.parents.len() as u32
    }

    /// The statements, each with its block.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Node, Statement, u32)> {
        let mut node = self.after(END);
        std::iter::from_fn(move || {
            let statement = self.statement(node)?;
            let found = (node, statement, self.entries[node.0 as usize].block);
            node = self.after(node);
            Some(found)
        })
    }

    /// The number of each block in the order in which they open.
    pub(super) fn opened(&self) -> Vec<u32> {
        let opens = self.iter().filter(|(_, statement, _)| *statement == Statement::Open);
        opens.map(|(node, ..)| self.entries[node.0 as usize].inner).collect()
    }
}

fn note(nodes: &mut Vec<Node>, index: usize, node: Node) {
    if nodes.len() <= index {
        nodes.resize(index + 1, END);
    }
    nodes[index] = node;
}
