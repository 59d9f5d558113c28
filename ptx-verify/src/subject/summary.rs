//! What callers have to know of the functions of a module: which parameters are looked at, whether operations that
//! run on their own may be waited for, and which threads have to come together on every way.
//!
//! Each is found once for the module, when a rule first asks. A function that is only declared, or that is called
//! through a register, may do anything. What functions that call each other do together is the least that their
//! instructions make them do.

use std::sync::OnceLock;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;
use ptx_ir::ir::{Body, Function, Handle, Instruction, Module, Operand, Symbol, Variable};
use ptx_ir::isa::{Control, Convergence};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dataflow::FunctionFacts;
use crate::facts::uniformity::{Level, needed_on_every_path};
use crate::facts::values::{Graph, Values};

/// The summaries of a module.
#[derive(Default)]
pub(crate) struct Summaries {
    callees: OnceLock<Callees>,
    looked_at: OnceLock<Vec<bool>>,
    acts: OnceLock<Vec<bool>>,
    needed: OnceLock<Vec<Option<Level>>>,
}

/// Who calls whom.
struct Callees {
    /// The functions with bodies by their names; a call may name a declaration.
    definitions: FxHashMap<Symbol, Handle<Function>>,
    /// From callers to callees; one node a function.
    graph: DiGraph<(), ()>,
    /// For each function whether it calls something that is not known.
    unknown: Vec<bool>,
}

impl Callees {
    fn of(module: &Module) -> Self {
        let with_body = || module.functions.iter().filter(|(_, function)| function.body.is_some());
        let definitions = with_body().map(|(handle, function)| (function.name, handle)).collect();
        let mut graph = DiGraph::with_capacity(module.functions.len(), 0);
        for _ in module.functions.handles() {
            graph.add_node(());
        }
        let mut callees = Self { definitions, graph, unknown: vec![false; module.functions.len()] };
        let mut seen = FxHashSet::default();
        for (caller, function) in with_body() {
            let Some(body) = &function.body else { continue };
            seen.clear();
            for call in calls(module, body) {
                match callees.called(module, body, call) {
                    // One edge a callee. To ask the graph whether there is one would go over all edges of the caller.
                    Some(callee) if seen.insert(callee) => {
                        let (from, to) = (NodeIndex::new(caller.index()), NodeIndex::new(callee.index()));
                        callees.graph.add_edge(from, to, ());
                    }
                    Some(_) => {}
                    None => callees.unknown[caller.index()] = true,
                }
            }
        }
        callees
    }

    /// The definition that a call goes to.
    fn called(&self, module: &Module, body: &Body, call: Handle<Instruction>) -> Option<Handle<Function>> {
        body.operands(call).iter().find_map(|operand| match operand {
            Operand::Function(function) => self.definitions.get(&module.functions[*function].name).copied(),
            _ => None,
        })
    }
}

/// The calls of a body.
fn calls(module: &Module, body: &Body) -> impl Iterator<Item = Handle<Instruction>> {
    body.instructions.iter().filter_map(|(handle, instruction)| {
        let effects = &module.instance(instruction)?.effects;
        (effects.control == Control::Call).then_some(handle)
    })
}

impl Summaries {
    fn callees(&self, module: &Module) -> &Callees {
        self.callees.get_or_init(|| Callees::of(module))
    }

    /// The definition that a call goes to; none where that is not known.
    pub(crate) fn called(
        &self,
        module: &Module,
        body: &Body,
        call: Handle<Instruction>,
    ) -> Option<Handle<Function>> {
        self.callees(module).called(module, body, call)
    }

    /// Whether any instruction reads or writes a variable, or takes its address.
    pub(crate) fn looks_at(&self, module: &Module, variable: Handle<Variable>) -> bool {
        let all = self.looked_at.get_or_init(|| {
            let mut looked_at = vec![false; module.variables.len()];
            for body in module.functions.iter().filter_map(|(_, function)| function.body.as_ref()) {
                for operand in body.operands.iter().chain(&body.children) {
                    if let Operand::Variable { variable, .. }
                    | Operand::VariableAddress { variable, .. }
                    | Operand::Element { variable, .. } = operand
                    {
                        looked_at[variable.index()] = true;
                    }
                }
            }
            looked_at
        });
        all.get(variable.index()).is_none_or(|looked_at| *looked_at)
    }

    /// Whether a call may start or wait for operations that run on their own, or wait for other threads.
    pub(crate) fn acts(&self, module: &Module, body: &Body, call: Handle<Instruction>) -> bool {
        let Some(callee) = self.called(module, body, call) else { return true };
        let all = self.acts.get_or_init(|| {
            let callees = self.callees(module);
            let mut acts: Vec<bool> = module
                .functions
                .iter()
                .map(|(handle, function)| {
                    callees.unknown[handle.index()]
                        || function.body.as_ref().is_some_and(|body| acts_itself(module, body))
                })
                .collect();
            // From callees to callers.
            let mut pending: Vec<usize> = (0..acts.len()).filter(|&function| acts[function]).collect();
            while let Some(function) = pending.pop() {
                let callers = callees.graph.neighbors_directed(NodeIndex::new(function), petgraph::Incoming);
                for caller in callers {
                    if !std::mem::replace(&mut acts[caller.index()], true) {
                        pending.push(caller.index());
                    }
                }
            }
            acts
        });
        all.get(callee.index()).is_none_or(|acts| *acts)
    }

    /// From which variance of its callers on it is a danger to call a function; none where it is not.
    pub(crate) fn needed(&self, module: &Module, function: Handle<Function>) -> Option<Level> {
        let all = self.needed.get_or_init(|| {
            let callees = self.callees(module);
            let mut needed = vec![None; module.functions.len()];
            // Callees come before their callers, except where they call each other.
            let mut order = DfsPostOrder::empty(&callees.graph);
            for start in callees.graph.node_indices() {
                order.move_to(start);
                while let Some(node) = order.next(&callees.graph) {
                    let function = Handle::new(node.index() as u32);
                    needed[node.index()] = needed_by(module, callees, function, &needed);
                }
            }
            needed
        });
        let callees = self.callees(module);
        let definition = callees.definitions.get(&module.functions[function].name)?;
        all.get(definition.index()).copied().flatten()
    }
}

/// Whether an instruction of the body acts on operations that run on their own, or waits for other threads.
fn acts_itself(module: &Module, body: &Body) -> bool {
    body.instructions.iter().any(|(_, instruction)| {
        module
            .instance(instruction)
            .is_none_or(|instance| instance.effects.asynchronous.is_some() || instance.effects.barrier)
    })
}

/// What a function needs, where that of its callees is known.
fn needed_by(
    module: &Module,
    callees: &Callees,
    function: Handle<Function>,
    needed: &[Option<Level>],
) -> Option<Level> {
    let body = module.functions[function].body.as_ref()?;
    let meets = body.instructions.iter().any(|(_, instruction)| {
        module.instance(instruction).is_some_and(|instance| instance.effects.convergence != Convergence::None)
    });
    let node = NodeIndex::new(function.index());
    if !meets && callees.graph.neighbors(node).all(|callee| needed[callee.index()].is_none()) {
        return None;
    }
    let facts = FunctionFacts::new(module, function)?;
    let of_call = |call: u32| {
        let callee = callees.called(module, body, Handle::new(call))?;
        needed[callee.index()]
    };
    let graph = Graph::new(&facts);
    let values = Values::of_whole_warps(&facts, &graph);
    needed_on_every_path(&facts, &graph, values, of_call)
}
