//! Loops in which threads only compute, and read and write shared memory: where what they compute goes on by the same in each
//! round, two rounds tell what all of them do, and those between are taken at once.
//!
//! Nobody waits in such a loop and nobody is told anything, so that all of its accesses are one event for others.

/// A loop whose rounds can be taken at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leap {
    pub(super) head: u32,
    /// The step that goes back there.
    pub(super) back: u32,
    /// The registers that rounds hand on with something added that is the same in each, and their bits.
    pub(super) even: Vec<(u32, u32)>,
    /// Those that they hand on in another way.
    pub(super) uneven: Vec<u32>,
    /// All that rounds write.
    pub(super) written: Vec<u32>,
    /// Steps that compare what goes on evenly.
    pub(super) asked: Vec<u32>,
}

/// Which turns of loops a warp has executed.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// How many of each loop that is left early.
    pub(super) skimmed: Vec<u32>,
    /// The last of each loop whose rounds can be taken at once.
    pub(super) rounds: Vec<Round>,
    /// Steps of the warp.
    pub(super) executed: u32,
}

impl Turns {
    /// Counts a step of the warp.
    pub(super) const fn count(&mut self) {
        self.executed = self.executed.wrapping_add(1);
    }
}

/// The last round of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    /// When it ended, and the lanes that took part.
    pub(super) end: u32,
    pub(super) mask: u32,
    /// How many there were one after the other.
    pub(super) count: u32,
}
