//! Which numbers come of memory of which nothing is known, and which of these go only as far as that.
//!
//! What a loop counts from a loaded number on has a distance from that number which is known, whatever was loaded: such a
//! distance may choose a barrier or a place.

/// What of a register depends on what memory is assumed to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Assumed {
    /// The lanes in which it does.
    pub(super) lanes: u32,
    pub(super) dependence: Dependence,
}

/// One execution of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded(pub(super) u32);

/// Lists in memory, a bit for each, and one for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists(u32);

impl Lists {
    const OTHERS: Self = Self(1 << 31);

    /// A list by its number.
    pub(super) fn one(number: Option<u8>) -> Self {
        number.and_then(|number| 1_u32.checked_shl(number.into())).map_or(Self::OTHERS, Self)
    }

    /// All of both.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is known of all of them where they are.
    pub(super) const fn are_known(self) -> bool {
        self.0 & Self::OTHERS.0 == 0
    }

    /// Whether there are none.
    pub(super) const fn are_none(self) -> bool {
        self.0 == 0
    }
}

/// What a number depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dependence {
    /// The lists of which it depends on an element.
    pub(super) lists: Lists,
    /// The load from whose number it is a known distance away, in all lanes alike or not.
    pub(super) from: Option<Loaded>,
}

impl Dependence {
    /// On nothing that is assumed.
    pub(super) const NONE: Self = Self { lists: Lists(0), from: None };

    /// Of a result that depends on what is assumed, or not.
    pub(super) const fn of(assumed: bool) -> Self {
        if assumed { Self { lists: Lists::OTHERS, from: None } } else { Self::NONE }
    }

    /// Of what a load has brought.
    pub(super) const fn on(load: Loaded, lists: Lists) -> Self {
        Self { lists, from: Some(load) }
    }

    /// Whether it is on nothing.
    pub(super) const fn is_none(self) -> bool {
        self.lists.0 == 0
    }

    /// The same without a known distance.
    pub(super) const fn in_any_way(self) -> Self {
        Self { from: None, ..self }
    }
}

impl Assumed {
    /// The same after lanes of a mask have written the register.
    pub(super) fn write(&mut self, mask: u32, alive: u32, dependence: Dependence) {
        let others = self.lanes & alive & !mask;
        if dependence.is_none() {
            self.lanes &= !mask;
            return;
        }
        self.lanes |= mask;
        if others == 0 {
            self.dependence = dependence;
            return;
        }
        let known = self.dependence;
        self.dependence = Dependence {
            lists: known.lists.with(dependence.lists),
            from: known.from.filter(|_| known.from == dependence.from),
        };
    }
}
