//! A module, as rules see it.

use ptx_facts::asynchronous::model::Executions;
use ptx_facts::mentions::Used;
use std::ops::BitOrAssign;
use std::sync::{LazyLock, OnceLock};

use ptx_ir::ir::{Function, Handle, Header, Item, Module, Spelling, Variable};
use ptx_ir::isa::{AsyncGroup, Computation, Control, Convergence, Event, Mode};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use ptx_ir::target::{Target, TargetSet};
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
    /// What executions of its kernels have shown.
    pub(crate) executions: Executions,
    producer: OnceLock<Option<Producer>>,
    has_sections: bool,
    special_registers_may_be_missing: OnceLock<bool>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(module: &Module, bodies: &'a dyn Bodies) -> Self {
        Self {
            summaries: Summaries::new(module, bodies),
            executions: Executions::default(),
            producer: OnceLock::new(),
            special_registers_may_be_missing: OnceLock::new(),
            has_sections: module.items.iter().any(|item| matches!(item, Item::Section(_))),
        }
    }
}

/// Whether there is a special register that the version or target of a module does not have.
fn special_registers_may_be_missing(header: &Header) -> bool {
    /// What has all: from which version on, and the targets.
    static ALL: LazyLock<(Option<Version>, TargetSet)> = LazyLock::new(|| {
        let version = SpecialRegister::all().map(SpecialRegister::min_version).max();
        let targets = SpecialRegister::all().map(SpecialRegister::targets);
        (version, targets.fold(TargetSet::ALL, TargetSet::intersect))
    });
    let (version, targets) = &*ALL;
    version.is_some_and(|version| header.version < version) || !targets.contains(header.target)
}

/// What there is among instructions, so that nothing is looked for in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Features(u16);

impl Features {
    /// Calls.
    pub(crate) const CALLS: Self = Self(1 << 0);
    /// Atomic operations.
    pub(crate) const ATOMICS: Self = Self(1 << 1);
    /// Uses of the carry flag.
    pub(crate) const CARRY: Self = Self(1 << 2);
    /// Instructions that threads have to reach together, and calls, since a function may have such.
    pub(crate) const CONVERGENCE: Self = Self(1 << 3);
    /// Anything that acts on operations that run on their own.
    pub(crate) const ASYNCHRONOUS: Self = Self(1 << 4);
    /// The same, or anything that threads of several roles or blocks meet at.
    pub(crate) const PROTOCOL: Self = Self(1 << 5);
    /// Barriers at which all threads of the block wait, or as many as an operand says.
    pub(crate) const BARRIERS: Self = Self(1 << 7);
    /// Stores that others see at once and that order nothing.
    pub(crate) const FLAGS: Self = Self(1 << 8);
    /// Something changes tensor maps.
    pub(crate) const TENSOR_MAPS: Self = Self(1 << 13);
    /// Among them, uses of `mbarrier` objects.
    pub(crate) const MBARRIER: Self = Self(1 << 9);
    /// Loads of what nobody writes while the kernel runs.
    pub(crate) const READ_ONLY_LOADS: Self = Self(1 << 10);
    /// `testp` without what it tests.
    pub(crate) const BARE_TESTS: Self = Self(1 << 11);
    /// Accesses of `.param::func`.
    pub(crate) const FUNCTION_PARAMETERS: Self = Self(1 << 12);
    /// Shifts and divisions.
    pub(crate) const AMOUNTS: Self = Self(1 << 14);
    /// Waits for the grids that a launch depends on, or something that lets those begin that depend on this one.
    pub(crate) const GRIDS: Self = Self(1 << 6);

    /// Whether one of these is there.
    pub(crate) const fn has(self, which: Self) -> bool {
        self.0 & which.0 != 0
    }

    /// What the instructions of a spelling may be.
    pub(crate) fn of(spelling: &Spelling) -> Self {
        let mut features = Self::default();
        let mut note = |which: Self, is_there: bool| {
            if is_there {
                features |= which;
            }
        };
        note(Self::FUNCTION_PARAMETERS, spelling.text.contains(StateSpace::ParamFunc.as_str()));
        for instance in spelling.resolved.instances.iter() {
            let effects = &instance.effects;
            let is_call = effects.control == Control::Call;
            let meets = matches!(
                effects.event,
                Some(
                    Event::BarrierArrive | Event::ClusterArrive | Event::TakeRegisters | Event::GiveRegisters
                )
            );
            let is_flag = instance.is(Mode::Relaxed) || instance.is(Mode::Release);
            note(Self::READ_ONLY_LOADS, instance.is_read_only_load());
            note(Self::BARE_TESTS, instance.is(Mode::Untested));
            note(Self::AMOUNTS, effects.computes.is_some_and(Computation::has_amount));
            note(Self::CALLS, is_call);
            note(Self::TENSOR_MAPS, effects.event.is_some_and(Event::concerns_maps));
            note(Self::ATOMICS, effects.atomic);
            note(Self::CARRY, effects.carry.is_some());
            note(Self::CONVERGENCE, is_call || effects.convergence != Convergence::None);
            note(Self::ASYNCHRONOUS, effects.asynchronous.is_some());
            note(Self::GRIDS, matches!(effects.event, Some(Event::GridWait | Event::GridBegin)));
            note(Self::BARRIERS, effects.event == Some(Event::BarrierSync));
            note(Self::FLAGS, effects.writes_memory && is_flag);
            note(Self::PROTOCOL, effects.asynchronous.is_some() || meets);
            note(Self::MBARRIER, matches!(effects.asynchronous, Some((AsyncGroup::Mbarrier, _))));
        }
        features
    }
}

impl BitOrAssign for Features {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
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
