//! The values of a register in the lanes of a warp.

/// Lanes of a warp.
pub(super) const LANES: usize = 32;
/// All of them, as a mask.
pub(super) const ALL: u32 = u32::MAX;

/// What each lane has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing is known of any.
    Unknown,
    /// All lanes have the same number.
    Uniform(u64),
    /// Each has its own.
    Lanes(Box<Lanes>),
}

/// A number for each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// The numbers; 0 where nothing is known.
    numbers: [u64; LANES],
    /// The lanes of which they are known.
    known: u32,
}

impl Value {
    /// A number for each lane, by its function.
    pub(super) fn by_lane(number: impl Fn(u32) -> u64) -> Self {
        let mut numbers = [0; LANES];
        numbers.iter_mut().zip(0..).for_each(|(each, lane)| *each = number(lane));
        Self::Lanes(Box::new(Lanes { numbers, known: ALL }))
    }

    /// What a lane has, where that is known.
    pub(super) fn lane(&self, lane: u32) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Uniform(number) => Some(*number),
            Self::Lanes(lanes) => {
                (lanes.known >> lane & 1 != 0).then(|| lanes.numbers[lane as usize % LANES])
            }
        }
    }

    /// The number that all lanes of a mask have.
    pub(super) fn all(&self, mask: u32) -> Option<u64> {
        match self {
            Self::Unknown => None,
            Self::Uniform(number) => Some(*number),
            Self::Lanes(_) => {
                let mut lanes = lanes(mask).map(|lane| self.lane(lane));
                let first = lanes.next()??;
                lanes.all(|other| other == Some(first)).then_some(first)
            }
        }
    }

    /// The lanes of a mask in which a predicate holds; none where that is not known of one of them.
    pub(super) fn holds(&self, mask: u32) -> Option<u32> {
        match self {
            Self::Unknown => None,
            Self::Uniform(number) => Some(if number & 1 != 0 { mask } else { 0 }),
            Self::Lanes(own) => {
                if own.known & mask != mask {
                    return None;
                }
                Some(
                    lanes(mask)
                        .filter(|&lane| own.numbers[lane as usize] & 1 != 0)
                        .fold(0, |all, lane| all | 1 << lane),
                )
            }
        }
    }

    /// Takes another value in the lanes of a mask.
    pub(super) fn set(&mut self, new: Self, mask: u32, alive: u32) {
        if mask & alive == alive {
            *self = new;
            return;
        }
        if *self == new {
            return;
        }
        if let (Self::Lanes(own), Self::Uniform(number), true) = (&mut *self, &new, mask.is_power_of_two()) {
            own.numbers[mask.trailing_zeros() as usize % LANES] = *number;
            own.known |= mask;
            if let Some(simplest) = own.simplest(alive) {
                *self = simplest;
            }
            return;
        }
        // A thread alone that does the work of all changes its own lane again and again.
        let mut own = match std::mem::replace(self, Self::Unknown) {
            Self::Lanes(own) => own,
            Self::Uniform(number) => Box::new(Lanes { numbers: [number; LANES], known: ALL }),
            Self::Unknown => Box::new(Lanes { numbers: [0; LANES], known: 0 }),
        };
        for lane in lanes(mask) {
            let number = new.lane(lane);
            own.numbers[lane as usize % LANES] = number.unwrap_or(0);
            own.known = own.known & !(1 << lane) | u32::from(number.is_some()) << lane;
        }
        *self = own.simplest(alive).unwrap_or(Self::Lanes(own));
    }

    /// The numbers of all lanes, where those of a mask are known.
    #[inline]
    pub(super) fn numbers(&self, mask: u32) -> Option<[u64; LANES]> {
        match self {
            Self::Unknown => None,
            Self::Uniform(number) => Some([*number; LANES]),
            Self::Lanes(own) => (own.known & mask == mask).then_some(own.numbers),
        }
    }

    /// Takes a number for each lane in the lanes of a mask.
    pub(super) fn set_lanes(&mut self, mut numbers: [u64; LANES], mask: u32, alive: u32) {
        if mask != ALL {
            let others = (0..).zip(&mut numbers).filter(|(lane, _)| mask >> lane & 1 == 0);
            others.for_each(|(_, number)| *number = 0);
        }
        if let Self::Lanes(own) = self
            && mask & alive == alive
        {
            **own = Lanes { numbers, known: mask };
            if let Some(simplest) = own.simplest(mask) {
                *self = simplest;
            }
            return;
        }
        self.set(Lanes { numbers, known: mask }.settled(mask), mask, alive);
    }

    /// A function of the value, lane by lane.
    pub(super) fn mapped(&self, mask: u32, function: impl Fn(u64) -> u64) -> Self {
        let own = match self {
            Self::Unknown => return Self::Unknown,
            Self::Uniform(number) => return Self::Uniform(function(*number)),
            Self::Lanes(own) => own,
        };
        if mask.is_power_of_two() {
            let known = self.lane(mask.trailing_zeros());
            return known.map_or(Self::Unknown, |number| Self::Uniform(function(number)));
        }
        let mut result = Lanes { numbers: [0; LANES], known: own.known & mask };
        for lane in 0..LANES {
            if result.known >> lane & 1 != 0 {
                result.numbers[lane] = function(own.numbers[lane]);
            }
        }
        result.settled(mask)
    }

    /// A function of several values, lane by lane.
    pub(super) fn of<const N: usize>(
        inputs: [&Self; N],
        mask: u32,
        function: impl Fn([u64; N]) -> Option<u64>,
    ) -> Self {
        if inputs.iter().any(|input| matches!(input, Self::Unknown)) {
            return Self::Unknown;
        }
        if inputs.iter().all(|input| matches!(input, Self::Uniform(_))) {
            let numbers = inputs.map(|input| input.lane(0).unwrap_or_default());
            return function(numbers).map_or(Self::Unknown, Self::Uniform);
        }
        if mask.is_power_of_two() {
            // A thread alone does much of what a protocol is made of.
            let mut numbers = [0; N];
            for (number, input) in numbers.iter_mut().zip(inputs) {
                match input.lane(mask.trailing_zeros()) {
                    Some(value) => *number = value,
                    None => return Self::Unknown,
                }
            }
            return function(numbers).map_or(Self::Unknown, Self::Uniform);
        }
        let mut known = mask;
        let sources = inputs.map(|input| match input {
            Self::Lanes(own) => {
                known &= own.known;
                Err(&own.numbers)
            }
            _ => Ok(input.lane(0).unwrap_or_default()),
        });
        let mut result = Lanes { numbers: [0; LANES], known: 0 };
        for lane in lanes(known) {
            let numbers = sources.map(|source| match source {
                Ok(number) => number,
                Err(numbers) => numbers[lane as usize % LANES],
            });
            if let Some(value) = function(numbers) {
                result.numbers[lane as usize % LANES] = value;
                result.known |= 1 << lane;
            }
        }
        result.settled(mask)
    }
}

impl Lanes {
    /// What is known of all lanes that count, where that is one number, or nothing.
    fn simplest(&self, alive: u32) -> Option<Value> {
        if self.known & alive == 0 {
            return Some(Value::Unknown);
        }
        if self.known & alive != alive {
            return None;
        }
        let first = self.numbers[alive.trailing_zeros() as usize % LANES];
        let is_one = lanes(alive).all(|lane| self.numbers[lane as usize] == first);
        is_one.then_some(Value::Uniform(first))
    }

    /// The simplest value that is the same in the lanes that count.
    fn settled(self, alive: u32) -> Value {
        self.simplest(alive).unwrap_or_else(|| Value::Lanes(Box::new(self)))
    }
}

/// The lanes of a mask, ascending.
pub(super) fn lanes(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(lane)
    })
}
