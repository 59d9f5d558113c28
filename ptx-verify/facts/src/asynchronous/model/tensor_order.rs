//! What is known of the order of tensor operations: of a warp, and of an object that threads meet at.

/// Tests of a warp without a fence since that are remembered.
const MAX_PASSED: usize = 8;

/// How the tensor operations of a warp are ordered with those of others.
#[derive(Debug, Default)]
pub(super) struct TensorOrder {
    /// The tests that passed since it fenced, or used tensor memory, last: object and instruction.
    pub(super) passed: Vec<(usize, u32)>,
    /// Those after which it has fenced, and not used tensor memory yet.
    pub(super) fenced: Vec<(usize, u32)>,
    /// Its last load or store.
    pub(super) used: Option<Used>,
    /// The last barrier of the block that it has waited at, if it has neither fenced nor used tensor memory since.
    pub(super) met: Option<u32>,
    /// Operations after a barrier without a fence between, before which others have fenced what they stored, or loaded there.
    pub(super) met_unfenced: Vec<(u32, u32)>,
    /// Tests after which it ever fenced.
    pub(super) fenced_tests: Vec<u32>,
    /// Barriers of the block after which it ever fenced.
    pub(super) fenced_meetings: Vec<u32>,
    /// Whether it ever fenced before it told others something.
    pub(super) has_fenced_before: bool,
    /// Operations after a test without a fence between.
    pub(super) unfenced: Vec<(u32, u32)>,
    /// Arrivals of others without a fence, each with what they used before and where this warp fenced.
    pub(super) untold: Vec<(u32, u32, u32)>,
}

/// A load from tensor memory, or a store there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    pub(super) instruction: u32,
    pub(super) event: u32,
    pub(super) writes: bool,
    /// Whether its warp has fenced since.
    pub(super) is_fenced: bool,
}

/// What an object tells of tensor operations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TellsTensor {
    /// The warps that have used tensor memory and ever came to it, as bits.
    pub(super) comers: u128,
    /// The warp of an arrival after a load or a store without a fence between, and the two.
    pub(super) unfenced: Option<(usize, u32, u32)>,
}

impl TellsTensor {
    /// A warp that has used tensor memory comes to it, or has it told of its matrix operations.
    pub(super) const fn comes(&mut self, warp: usize) {
        self.comers |= bit(warp);
    }
}

/// The bit of a warp.
pub(super) const fn bit(warp: usize) -> u128 {
    if warp < u128::BITS as usize { 1 << warp } else { 0 }
}

/// Adds what a short list does not have yet.
pub(super) fn note<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if list.len() < MAX_PASSED && !list.contains(&item) {
        list.push(item);
    }
}
