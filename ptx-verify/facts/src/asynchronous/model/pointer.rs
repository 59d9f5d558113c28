//! Places in global memory, and what atomic operations put there.

use ptx_ir::isa::Update;

use crate::values::number::mask as low_bits;

/// Where global memory begins: each pointer that a kernel gets is one to a place of its own.
pub(super) const FIRST_GLOBAL: u64 = 1 << 46;
/// The bits of an address within such a place.
pub(super) const PLACE_BITS: u32 = 34;
/// Where the place of a pointer begins.
pub(super) const fn place(index: u64) -> u64 {
    FIRST_GLOBAL + (index << PLACE_BITS)
}

/// What an atomic operation puts in the place of a number.
pub(super) fn updated(
    update: Update,
    (bits, signed): (u32, bool),
    old: u64,
    given: u64,
    other: Option<u64>,
) -> Option<u64> {
    let mask = low_bits(bits);
    let (old, given) = (old & mask, given & mask);
    let wide = |number: u64| ((number << (64 - bits)) as i64) >> (64 - bits);
    let is_less = if signed { wide(given) < wide(old) } else { given < old };
    let new = match update {
        Update::Add => old.wrapping_add(given),
        Update::And => old & given,
        Update::Or => old | given,
        Update::Xor => old ^ given,
        Update::Exchange => given,
        Update::CompareExchange if old == given => other? & mask,
        Update::CompareExchange => old,
        Update::Increment if old >= given => 0,
        Update::Increment => old + 1,
        Update::Decrement if old == 0 || old > given => given,
        Update::Decrement => old - 1,
        Update::Minimum => {
            if is_less {
                given
            } else {
                old
            }
        }
        Update::Maximum => {
            if is_less {
                old
            } else {
                given
            }
        }
        _ => return None,
    };
    Some(new & mask)
}
