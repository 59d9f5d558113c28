//! A module, as rules see it.

use std::sync::OnceLock;

use ptx_ir::ir::{Function, Handle, Item, Module};
use ptx_ir::isa::{AsyncGroup, Control, Convergence};
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_syntax::Span;

use super::mentions::Mentions;
use super::producer::{Printed, Producer};
use super::summary::Summaries;

/// What the user wants to know besides what the module says itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// The device that the module is to be loaded on.
    pub(crate) target: Option<Target>,
    /// The PTX version of the assembler or driver.
    pub(crate) version: Option<Version>,
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
    pub(crate) shared: &'a Shared,
}

/// What is computed once for a module, when the first function needs it.
#[derive(Default)]
pub(crate) struct Shared {
    features: OnceLock<Features>,
    mentions: OnceLock<Vec<Mentions>>,
    summaries: Summaries,
    producer: OnceLock<Option<Producer>>,
}

/// What there is among the instructions of a module, so that nothing is looked for in vain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// Calls.
    pub(crate) calls: bool,
    /// Uses of the carry flag.
    pub(crate) carry: bool,
    /// Instructions that threads have to reach together.
    pub(crate) convergence: bool,
    /// Anything that acts on operations that run on their own.
    pub(crate) asynchronous: bool,
    /// Among them, uses of `mbarrier` objects.
    pub(crate) mbarrier: bool,
    /// Sections of debugging data, which may name anything.
    pub(crate) sections: bool,
}

impl Features {
    fn of(module: &Module) -> Self {
        let sections = module.items.iter().any(|item| matches!(item, Item::Section(_)));
        let mut features = Self { sections, ..Self::default() };
        let instances = module.spellings.iter().flat_map(|(_, spelling)| &spelling.resolved.instances);
        for effects in instances.map(|instance| &instance.effects) {
            features.calls |= effects.control == Control::Call;
            features.carry |= effects.carry.is_some();
            features.convergence |= effects.convergence != Convergence::None;
            features.asynchronous |= effects.asynchronous.is_some();
            features.mbarrier |= matches!(effects.asynchronous, Some((AsyncGroup::Mbarrier, _)));
        }
        features
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
        *self.shared.features.get_or_init(|| Features::of(self.module))
    }

    /// Where a function names something that is no register and no number.
    pub(crate) fn mentions(&self, function: Handle<Function>) -> &'a Mentions {
        &self.shared.mentions.get_or_init(|| Mentions::of_module(self.module))[function.index()]
    }

    /// What is known of the functions that are called.
    pub(crate) fn summaries(&self) -> &'a Summaries {
        &self.shared.summaries
    }

    /// Whether the compiler that made the module prints such a thing whatever the program.
    pub(crate) fn is_printed(&self, what: Printed<'_>) -> bool {
        let producer = *self.shared.producer.get_or_init(|| Producer::of(self.source));
        producer.is_some_and(|producer| producer.prints(what))
    }

    /// The text of a place.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        span.text(self.source)
    }
}
