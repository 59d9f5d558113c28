//! Memory as objects of bytes; each bit knows whether it is defined.

use super::program::{Object, Space};
use super::value::{Origins, Value, mask};

/// Generic addresses of shared memory begin here.
pub(super) const SHARED_WINDOW: u64 = 0x7f00_0000_0000;
/// Generic addresses of local memory begin here.
pub(super) const LOCAL_WINDOW: u64 = 0x7e00_0000_0000;
const WINDOW: u64 = 1 << 32;

/// An object in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its first address.
    pub address: u64,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// A bit that is set here is undefined.
    pub undefined: Vec<u8>,
}

impl Buffer {
    /// One in which everything is defined.
    #[must_use]
    pub fn defined(address: u64, bytes: Vec<u8>) -> Self {
        let undefined = vec![0; bytes.len()];
        Self { address, bytes, undefined }
    }

    pub(super) fn of(object: &Object) -> Self {
        let size = object.size as usize;
        let (mut bytes, mut undefined) = (vec![0xa5; size], vec![0xff; size]);
        for (index, byte) in object.initial.iter().enumerate().take(size) {
            (bytes[index], undefined[index]) = (*byte, 0);
        }
        Self { address: object.address, bytes, undefined }
    }

    /// The index of the first byte of an access that is wholly inside.
    fn inside(&self, address: u64, size: u64) -> Option<usize> {
        let offset = address.checked_sub(self.address)?;
        (offset.checked_add(size)? <= self.bytes.len() as u64).then_some(offset as usize)
    }

    pub(super) fn load(&self, at: usize, width: u32) -> Value {
        let (mut bits, mut undefined) = (0, 0);
        for index in (0..width as usize / 8).rev() {
            bits = bits << 8 | u64::from(self.bytes[at + index]);
            undefined = undefined << 8 | u64::from(self.undefined[at + index]);
        }
        Value { bits, undefined, origins: Origins::NONE }
    }

    pub(super) fn store(&mut self, at: usize, width: u32, value: Value) {
        let (bits, undefined) = (value.bits & mask(width), value.undefined & mask(width));
        for index in 0..width as usize / 8 {
            self.bytes[at + index] = (bits >> (8 * index)) as u8;
            self.undefined[at + index] = (undefined >> (8 * index)) as u8;
        }
    }
}

/// The buffer of an access, and where in it.
pub(super) fn find(buffers: &[Buffer], address: u64, size: u64) -> Option<(usize, usize)> {
    buffers.iter().enumerate().find_map(|(index, buffer)| Some((index, buffer.inside(address, size)?)))
}

/// The space of a generic address, and the address in it.
pub(super) const fn resolve(space: Space, address: u64) -> (Space, u64) {
    match space {
        Space::Generic if address >= SHARED_WINDOW && address - SHARED_WINDOW < WINDOW => {
            (Space::Shared, address - SHARED_WINDOW)
        }
        Space::Generic if address >= LOCAL_WINDOW && address - LOCAL_WINDOW < WINDOW => {
            (Space::Local, address - LOCAL_WINDOW)
        }
        Space::Generic => (Space::Global, address),
        Space::Shared | Space::Local => (space, address & (WINDOW - 1)),
        Space::Global | Space::Parameter => (space, address),
    }
}

/// What is added to an address of a space to make it generic.
pub(super) const fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Generic | Space::Global | Space::Parameter => 0,
    }
}
