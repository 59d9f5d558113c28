//! What has to be known of a function elsewhere: which parameters it looks at, whether it may act on operations that run
//! on their own, and which threads have to come together in it on every path.
//!
//! A function is verified without the bodies of those that it calls: they are in other pieces of the text, on other
//! threads or dropped by then. So a small [`Digest`] of each body is kept. It is made when the body is verified, or
//! before that when somebody asks; the body is then lowered once more. A digest depends on the text only, so it does not
//! matter who makes it, and the findings are the same for any number of threads. To lower all bodies first, and verify
//! them in a second pass, would cost every text what only calls need.
//!
//! A function that is only declared, or that is called through a register, may do anything. What functions that call
//! each other do together is the least that their instructions make them do.

use ptx_facts::FunctionFacts;
use ptx_facts::uniformity::{Level, needed_on_every_path};
use ptx_facts::values::Graph;
use std::sync::OnceLock;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use ptx_ir::ir::{Body, Function, FunctionKind, Handle, Instruction, Module, Operand, Symbol, Variable};
use ptx_ir::isa::words::CTA_GROUPS;
use ptx_ir::isa::{AsyncGroup, Control, Convergence, Instance};
use ptx_ir::lower::lower;
use ptx_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::subject::module::Features;
use crate::subject::outline::Outline;

/// Where the bodies of functions are.
pub(crate) trait Bodies: Sync {
    /// Shows the body of a function, where it has one, with the module that the body belongs to.
    fn show(&self, function: Handle<Function>, look: &mut dyn FnMut(&Module, &Body));

    /// Shows what another text is as the body of a function, where nothing is wrong with it, with the place that its places
    /// count from. `source` is the text that the function is in.
    fn show_text(
        &self,
        function: Handle<Function>,
        source: &str,
        text: &str,
        look: &mut dyn FnMut(&Module, &Body, u32),
    );
}

/// A module that was lowered as a whole has all bodies.
impl Bodies for Module {
    fn show(&self, function: Handle<Function>, look: &mut dyn FnMut(&Module, &Body)) {
        if let Some(body) = &self.functions[function].body {
            look(self, body);
        }
    }

    fn show_text(
        &self,
        function: Handle<Function>,
        source: &str,
        text: &str,
        look: &mut dyn FnMut(&Module, &Body, u32),
    ) {
        let Some(place) = self.functions[function].body.as_ref().map(|body| body.span) else { return };
        let (before, after) = (source.get(..place.start as usize), source.get(place.end as usize..));
        let (Some(before), Some(after)) = (before, after) else { return };
        let changed = format!("{before}{text}{after}");
        let parse = ptx_syntax::parse(&changed);
        let lowered = lower(&parse.tree, &changed);
        let end = place.start + text.len() as u32;
        let is_in_text = |at: Span| (place.start..end).contains(&at.start);
        let is_wrong = lowered.problems.iter().any(|problem| is_in_text(problem.span));
        let body = lowered.module.functions.get(function).and_then(|function| function.body.as_ref());
        if let Some(body) = body.filter(|_| parse.errors.is_empty() && !is_wrong) {
            look(&lowered.module, body, place.start);
        }
    }
}

/// What others have to know of the body of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Digest {
    /// The definitions that it calls, each once, in order of the text.
    pub(crate) callees: Vec<Handle<Function>>,
    /// The first instruction of each group of [`CTA_GROUPS`].
    pub(crate) groups: [Option<Span>; CTA_GROUPS.len()],
    /// Whether it calls something that is not known.
    calls_unknown: bool,
    /// Whether an instruction acts on operations that run on their own, or waits for other threads, and on which groups.
    acts: Acts,
    /// Whether an instruction has to be reached by several threads together.
    meets: bool,
    /// The parameters that an instruction names.
    looked_at: FxHashSet<Handle<Variable>>,
}

/// What a function may do to operations that run on their own.
#[derive(Clone, Debug, Default)]
struct Acts {
    /// Whether it does anything to them, or waits for other threads.
    any: bool,
    /// Whether it does what is not known.
    unknown: bool,
    /// Whether it accesses memory that may be shared.
    accesses: bool,
    /// The groups that it acts on.
    groups: Vec<AsyncGroup>,
}

impl Acts {
    fn add(&mut self, other: &Self) {
        self.any |= other.any;
        self.unknown |= other.unknown;
        self.accesses |= other.accesses;
        other.groups.iter().for_each(|group| self.add_group(*group));
    }

    fn add_group(&mut self, group: AsyncGroup) {
        if !self.groups.contains(&group) {
            self.groups.push(group);
        }
    }
}

/// The summaries of a module.
pub(crate) struct Summaries<'a> {
    bodies: &'a dyn Bodies,
    /// The functions with bodies by their names; a call may name a declaration.
    definitions: FxHashMap<Symbol, Handle<Function>>,
    digests: Vec<OnceLock<Digest>>,
    acts: Vec<OnceLock<Acts>>,
    needed: Vec<OnceLock<Option<Level>>>,
    outlines: Vec<OnceLock<Option<Outline>>>,
}

impl<'a> Summaries<'a> {
    /// `module` declares the functions whose bodies there are.
    pub(crate) fn new(module: &Module, bodies: &'a dyn Bodies) -> Self {
        let functions = module.functions.iter();
        let with_body = functions.filter(|(_, function)| function.body.is_some());
        let definitions = with_body.map(|(handle, function)| (function.name, handle)).collect();
        let count = module.functions.len();
        Self {
            bodies,
            definitions,
            digests: empty(count),
            acts: empty(count),
            needed: empty(count),
            outlines: empty(count),
        }
    }

    /// The definition that a call goes to; none where that is not known.
    pub(crate) fn called(
        &self,
        module: &Module,
        body: &Body,
        call: Handle<Instruction>,
    ) -> Option<Handle<Function>> {
        body.operands(call).iter().find_map(|operand| match operand {
            Operand::Function(function) => self.definitions.get(&module.functions[*function].name).copied(),
            _ => None,
        })
    }

    /// Whether any instruction reads or writes a parameter, or takes its address.
    pub(crate) fn looks_at(&self, module: &Module, parameter: Handle<Variable>) -> bool {
        let owner = module.variables[parameter].function;
        owner.is_none_or(|function| self.digest(function).looked_at.contains(&parameter))
    }

    /// Whether a call may start or wait for operations that run on their own, or wait for other threads.
    pub(crate) fn acts(&self, module: &Module, body: &Body, call: Handle<Instruction>) -> bool {
        match self.called(module, body, call) {
            Some(callee) => self.function_acts(callee),
            None => !is_system_call(module, body, call),
        }
    }

    /// Whether a call may do something to the operations of a group.
    pub(crate) fn acts_on(
        &self,
        module: &Module,
        body: &Body,
        call: Handle<Instruction>,
        group: AsyncGroup,
    ) -> bool {
        match self.called(module, body, call).map(|callee| self.acts_of(callee)) {
            Some(Some(acts)) => acts.unknown || acts.groups.contains(&group),
            Some(None) => true,
            None => !is_system_call(module, body, call),
        }
    }

    /// Whether a call of a function that is known may access shared memory.
    pub(crate) fn accesses(&self, module: &Module, body: &Body, call: Handle<Instruction>) -> bool {
        let callee = self.called(module, body, call);
        callee.and_then(|callee| self.acts_of(callee)).is_some_and(|acts| acts.accesses)
    }

    /// The same as [`acts`](Self::acts) of a function.
    pub(crate) fn function_acts(&self, callee: Handle<Function>) -> bool {
        self.acts_of(callee).is_none_or(|acts| acts.any || acts.unknown)
    }

    fn acts_of(&self, callee: Handle<Function>) -> Option<&Acts> {
        let known = |function: Handle<Function>| self.acts[function.index()].get();
        for component in self.components(callee, |function| known(function).is_some()) {
            let mut acts = Acts::default();
            for &function in &component {
                let digest = self.digest(function);
                acts.add(&digest.acts);
                acts.unknown |= digest.calls_unknown;
                digest.callees.iter().filter_map(|&callee| known(callee)).for_each(|of| acts.add(of));
            }
            for function in component {
                self.acts[function.index()].get_or_init(|| acts.clone());
            }
        }
        known(callee)
    }

    /// From which variance of its callers on it is a danger to call a function; none where it is not.
    pub(crate) fn needed(&self, module: &Module, function: Handle<Function>) -> Option<Level> {
        let definition = *self.definitions.get(&module.functions[function].name)?;
        let known = |function: Handle<Function>| self.needed[function.index()].get().copied();
        for component in self.components(definition, |function| known(function).is_some()) {
            // Another thread may be at the same functions: what it has found of some must not change what others need.
            let mut together: FxHashMap<_, _> = component.iter().map(|&function| (function, None)).collect();
            for function in component {
                let of_callee =
                    |callee| together.get(&callee).copied().unwrap_or_else(|| known(callee).flatten());
                let needed = self.needed_by(function, of_callee);
                together.insert(function, needed);
            }
            for (function, needed) in together {
                self.needed[function.index()].get_or_init(|| needed);
            }
        }
        known(definition).flatten()
    }

    /// What others have to know of a function.
    pub(crate) fn digest(&self, function: Handle<Function>) -> &Digest {
        self.digests[function.index()].get_or_init(|| {
            let mut digest = Digest::default();
            self.bodies.show(function, &mut |module, body| digest = self.digest_of(module, function, body));
            digest
        })
    }

    /// What has to be known of a function to put it in place of a call; none where that cannot be.
    pub(crate) fn outline(&self, function: Handle<Function>) -> Option<&Outline> {
        let made = self.outlines[function.index()].get_or_init(|| {
            let mut outline = None;
            self.bodies.show(function, &mut |module, body| {
                outline = self.outline_of(module, function, body);
            });
            outline
        });
        made.as_ref()
    }

    /// The same of a body that somebody has at hand.
    pub(crate) fn outline_of(
        &self,
        module: &Module,
        function: Handle<Function>,
        body: &Body,
    ) -> Option<Outline> {
        let called = |call| self.called(module, body, call);
        let acts = |call| self.acts(module, body, call);
        Outline::of(module, function, body, called, acts, |spelling| {
            Features::of(spelling).has(Features::PROTOCOL)
        })
    }

    /// Shows what another text is as the body of a function, as [`Bodies::show_text`].
    pub(crate) fn show_text(
        &self,
        function: Handle<Function>,
        source: &str,
        text: &str,
        look: &mut dyn FnMut(&Module, &Body, u32),
    ) {
        self.bodies.show_text(function, source, text, look);
    }

    /// Keeps what others have to know of a body that somebody has at hand.
    pub(crate) fn keep(&self, module: &Module, function: Handle<Function>, body: &Body, features: Features) {
        let is_called = module.functions[function].kind == FunctionKind::Function;
        let digest =
            || match is_called || features.has(Features::CALLS) || features.has(Features::ASYNCHRONOUS) {
                true => self.digest_of(module, function, body),
                false => Digest::default(),
            };
        self.digests[function.index()].get_or_init(digest);
    }

    fn digest_of(&self, module: &Module, function: Handle<Function>, body: &Body) -> Digest {
        let mut digest = Digest::default();
        let mut seen = FxHashSet::default();
        for (handle, instruction) in body.instructions.iter() {
            let Some(instance) = module.instance(instruction) else {
                digest.acts.unknown = true;
                continue;
            };
            let effects = &instance.effects;
            digest.acts.any |= effects.asynchronous.is_some() || effects.barrier;
            digest.acts.accesses |= instance.may_access_shared;
            if let Some((group, _)) = effects.asynchronous {
                digest.acts.add_group(group);
            }
            digest.meets |= effects.convergence != Convergence::None;
            if let Some(group) = group_of(instance) {
                digest.groups[group].get_or_insert_with(|| body.span(handle));
            }
            if effects.control == Control::Call {
                match self.called(module, body, handle) {
                    Some(callee) if seen.insert(callee) => digest.callees.push(callee),
                    Some(_) => {}
                    None => digest.calls_unknown |= !is_system_call(module, body, handle),
                }
            }
        }
        let is_parameter = |variable: &Handle<Variable>| {
            let variable = &module.variables[*variable];
            variable.is_parameter && variable.function == Some(function)
        };
        let named = body.operands.iter().chain(&body.children).filter_map(|operand| match operand {
            Operand::Variable { variable, .. }
            | Operand::VariableAddress { variable, .. }
            | Operand::Element { variable, .. } => Some(*variable),
            _ => None,
        });
        digest.looked_at = named.filter(is_parameter).collect();
        digest
    }

    /// A function and those that it reaches by calls, without those that are `known`. Those that call each other are
    /// together, in order of the text; callees come before their callers.
    fn components(
        &self,
        start: Handle<Function>,
        known: impl Fn(Handle<Function>) -> bool,
    ) -> Vec<Vec<Handle<Function>>> {
        if known(start) {
            return Vec::new();
        }
        let mut graph = DiGraph::<Handle<Function>, ()>::new();
        let mut nodes = FxHashMap::default();
        nodes.insert(start, graph.add_node(start));
        let mut next = 0;
        while next < graph.node_count() {
            let node = NodeIndex::new(next);
            for &callee in &self.digest(graph[node]).callees {
                if !known(callee) {
                    let to = *nodes.entry(callee).or_insert_with(|| graph.add_node(callee));
                    graph.add_edge(node, to, ());
                }
            }
            next += 1;
        }
        let in_order = |component: Vec<NodeIndex>| {
            let mut functions: Vec<_> = component.into_iter().map(|node| graph[node]).collect();
            functions.sort_unstable();
            functions
        };
        kosaraju_scc(&graph).into_iter().map(in_order).collect()
    }

    /// What a function needs, where that of its callees is known.
    fn needed_by(
        &self,
        function: Handle<Function>,
        of_callee: impl Fn(Handle<Function>) -> Option<Level>,
    ) -> Option<Level> {
        let digest = self.digest(function);
        if !digest.meets && digest.callees.iter().all(|&callee| of_callee(callee).is_none()) {
            return None;
        }
        let mut needed = None;
        self.bodies.show(function, &mut |module, body| {
            let facts = FunctionFacts::of_body(module, function, body);
            let graph = Graph::new(&facts);
            let of_call = |call: u32| of_callee(self.called(module, body, Handle::new(call))?);
            needed = needed_on_every_path(&facts, &graph, of_call);
        });
        needed
    }
}

fn empty<T>(count: usize) -> Vec<OnceLock<T>> {
    (0..count).map(|_| OnceLock::new()).collect()
}

/// Which of the groups an instruction works with tensor memory for.
fn group_of(instance: &Instance) -> Option<usize> {
    match instance.effects.asynchronous? {
        (AsyncGroup::Tcgen05 | AsyncGroup::Tcgen05Allocation, _) => {
            CTA_GROUPS.iter().position(|group| instance.has(group))
        }
        _ => None,
    }
}

/// Functions of the driver, which every kernel may call without a definition in sight. They wait for nobody. (CUDA's
/// "PTX Writer's Guide to Interoperability", system calls.)
const SYSTEM_CALLS: [&str; 5] = ["malloc", "free", "vprintf", "__assertfail", "__assert_fail"];

/// Whether a call is one of the driver.
fn is_system_call(module: &Module, body: &Body, call: Handle<Instruction>) -> bool {
    body.operands(call).iter().any(|operand| match operand {
        Operand::Function(function) => {
            let function = &module.functions[*function];
            function.body.is_none() && SYSTEM_CALLS.contains(&module.name(function.name))
        }
        _ => false,
    })
}
