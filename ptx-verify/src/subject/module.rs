//! A module, as rules see it.

use ptx_facts::mentions::Used;
use std::ops::BitOrAssign;
use std::sync::OnceLock;

use ptx_ir::ir::{Function, Handle, Header, Item, Module, Spelling, Variable};
use ptx_ir::isa::{AsyncGroup, Control, Convergence, Event, Mode};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::Span;

use super::producer::{Printed, Producer};
use super::summary::{Bodies, Summaries};

/// What the user wants to know besides what the module says itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// The device that the module is to be loaded on.
    pub(crate) target: Option<Target>,
    /// The PTX version of the assembler or driver.
    pub(crate) version: Option<Version>,
    /// The range of the text that is known of a function. What is declared before it is set when it begins, and
    /// instructions behind it stand for what others make of its results.
    pub(crate) fragment: Option<Span>,
}

/// A module and what it is verified for.
#[derive(Clone, Copy)]
pub(crate) struct ModuleContext<'a> {
    /// The module.
    pub(crate) module: &'a Module,
    /// The text that its spans refer to; empty for a module made by the builder.
    pub(crate) source: &'a str,
    /// What the user asked for.
    pub(crate) wanted: Wanted,
    /// What is known once for all functions.
    pub(crate) shared: &'a Shared<'a>,
    /// What is being looked at.
    pub(crate) part: Part<'a>,
}

/// A part of a module: all of it, what it declares without its bodies, or one body.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// Whether the declarations of the module belong to it, or only those that a body adds.
    pub(crate) has_module: bool,
    /// What there is among its instructions. Those of all bodies belong to the module.
    pub(crate) features: Features,
    /// What its instructions and initial values name. What all bodies name belongs to the module.
    pub(crate) used: &'a Used,
}

/// What is known once for all functions of a module.
pub(crate) struct Shared<'a> {
    pub(crate) summaries: Summaries<'a>,
    producer: OnceLock<Option<Producer>>,
    has_sections: bool,
    special_registers_may_be_missing: OnceLock<bool>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(module: &Module, bodies: &'a dyn Bodies) -> Self {
        Self {
            summaries: Summaries::new(module, bodies),
            producer: OnceLock::new(),
            special_registers_may_be_missing: OnceLock::new(),
            has_sections: module.items.iter().any(|item| matches!(item, Item::Section(_))),
        }
    }
}

/// Whether there is a special register that the version or target of a module does not have.
fn special_registers_may_be_missing(header: &Header) -> bool {
    SpecialRegister::all().any(|register| {
        header.version < register.min_version() || !register.targets().contains(header.target)
    })
}

/// What there is among instructions, so that nothing is looked for in vain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// Calls.
    pub(crate) calls: bool,
    /// Uses of the carry flag.
    pub(crate) carry: bool,
    /// Instructions that threads have to reach together, and calls, since a function may have such.
    pub(crate) convergence: bool,
    /// Anything that acts on operations that run on their own.
    pub(crate) asynchronous: bool,
    /// The same, or anything that threads of several roles or blocks meet at.
    pub(crate) protocol: bool,
    /// Waits for the grids that a launch depends on.
    pub(crate) grids: bool,
    /// Barriers at which all threads of the block wait, or as many as an operand says.
    pub(crate) barriers: bool,
    /// Stores that others see at once and that order nothing.
    pub(crate) flags: bool,
    /// Among them, uses of `mbarrier` objects.
    pub(crate) mbarrier: bool,
    /// Loads of what nobody writes while the kernel runs.
    pub(crate) read_only_loads: bool,
    /// `testp` without what it tests.
    pub(crate) bare_tests: bool,
    /// Accesses of `.param::func`.
    pub(crate) function_parameters: bool,
}

impl Features {
    /// What the instructions of a spelling may be.
    pub(crate) fn of(spelling: &Spelling) -> Self {
        let mut features = Self {
            function_parameters: spelling.text.contains(StateSpace::ParamFunc.as_str()),
            ..Self::default()
        };
        for instance in spelling.resolved.instances.iter() {
            let effects = &instance.effects;
            features.read_only_loads |= instance.is_read_only_load();
            features.bare_tests |= instance.is(Mode::Untested);
            let is_call = effects.control == Control::Call;
            features.calls |= is_call;
            features.carry |= effects.carry.is_some();
            features.convergence |= is_call || effects.convergence != Convergence::None;
            features.asynchronous |= effects.asynchronous.is_some();
            let meets = matches!(
                effects.event,
                Some(
                    Event::BarrierArrive | Event::ClusterArrive | Event::TakeRegisters | Event::GiveRegisters
                )
            );
            features.grids |= effects.event == Some(Event::GridWait);
            features.barriers |= effects.event == Some(Event::BarrierSync);
            features.flags |= effects.writes_memory
                && (instance.is(Mode::Relaxed)
                    || instance.is(Mode::Release) && instance.is(Mode::BlockScope));
            features.protocol |= effects.asynchronous.is_some() || meets;
            features.mbarrier |= matches!(effects.asynchronous, Some((AsyncGroup::Mbarrier, _)));
        }
        features
    }
}

impl BitOrAssign for Features {
    fn bitor_assign(&mut self, other: Self) {
        self.calls |= other.calls;
        self.carry |= other.carry;
        self.convergence |= other.convergence;
        self.asynchronous |= other.asynchronous;
        self.protocol |= other.protocol;
        self.barriers |= other.barriers;
        self.grids |= other.grids;
        self.flags |= other.flags;
        self.mbarrier |= other.mbarrier;
        self.read_only_loads |= other.read_only_loads;
        self.bare_tests |= other.bare_tests;
        self.function_parameters |= other.function_parameters;
    }
}

impl<'a> ModuleContext<'a> {
    /// The PTX version whose features may be used: that of the module.
    pub(crate) fn version(&self) -> Version {
        self.module.header.version
    }

    /// The target whose features may be used: that of the module.
    pub(crate) fn target(&self) -> Target {
        self.module.header.target
    }

    /// What there is among the instructions.
    pub(crate) fn features(&self) -> Features {
        self.part.features
    }

    /// Whether there are sections of debugging data, which may name anything.
    pub(crate) fn has_sections(&self) -> bool {
        self.shared.has_sections
    }

    /// The variables and parameters, in order; `name<N>` counts once.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (Handle<Variable>, &'a Variable)> {
        self.all_variables().filter(|(_, variable)| variable.member.is_none_or(|member| member.number == 0))
    }

    /// The variables and parameters, in order, with all that the text names of `name<N>`.
    pub(crate) fn all_variables(&self) -> impl Iterator<Item = (Handle<Variable>, &'a Variable)> {
        let all = self.part.has_module.then(|| self.module.variables.iter());
        let own = (!self.part.has_module).then(|| self.module.variables.own());
        all.into_iter().flatten().chain(own.into_iter().flatten())
    }

    /// The functions, kernels and prototypes, in order.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (Handle<Function>, &'a Function)> {
        let all = self.part.has_module.then(|| self.module.functions.iter());
        let own = (!self.part.has_module).then(|| self.module.functions.own());
        all.into_iter().flatten().chain(own.into_iter().flatten())
    }

    /// What stands at module level, in order.
    pub(crate) fn items(&self) -> impl Iterator<Item = &'a Item> {
        // Not filtered one by one: a body with declarations of its own would look at all of the module for each rule.
        let items: &[Item] = if self.part.has_module { &self.module.items } else { &[] };
        items.iter()
    }

    /// What is known of the functions that are called.
    pub(crate) fn summaries(&self) -> &'a Summaries<'a> {
        &self.shared.summaries
    }

    /// Whether the compiler that made the module prints such a thing whatever the program.
    pub(crate) fn is_printed(&self, what: Printed<'_>) -> bool {
        let producer = *self.shared.producer.get_or_init(|| Producer::of(self.source));
        producer.is_some_and(|producer| producer.prints(what))
    }

    /// Whether there is a special register that the module's version or target does not have.
    pub(crate) fn special_registers_may_be_missing(&self) -> bool {
        let known = &self.shared.special_registers_may_be_missing;
        *known.get_or_init(|| special_registers_may_be_missing(&self.module.header))
    }

    /// The text of a place.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        span.text(self.source)
    }
}
