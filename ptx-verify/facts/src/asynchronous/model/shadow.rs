//! Who has read and written what of shared memory, and what is still running there.
//!
//! Memory is looked at in cells of 64 bytes; a cell knows of each access which of its bytes it touches.

use std::cell::LazyCell;
use std::ops;

use rustc_hash::FxHashSet;

use super::clock::{Clock, Row};
use super::table::Table;

/// Bytes of a cell.
const CELL: u64 = 64;
/// Operations that read one cell at a time.
const MAX_READERS: usize = 16;
/// Cells of one access that are looked at.
const MAX_CELLS: u64 = 4_096;

/// An access of a warp through the generic proxy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) warp: u32,
    /// Which of its events it is.
    pub(super) event: u32,
    pub(super) instruction: u32,
    /// The lanes that take part, each for itself.
    lanes: u32,
    bytes: u64,
}

/// What a warp does between two meetings with others.
#[derive(Clone, Debug)]
pub(super) struct Go {
    /// Its events.
    pub(super) events: ops::Range<u32>,
    /// How many meetings there were since, as far as is known.
    pub(super) since: usize,
}

/// What a warp does at a place of which only the variable is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anywhere {
    pub(super) warp: u32,
    pub(super) event: u32,
    pub(super) instruction: u32,
    /// Where it may be.
    pub(super) range: (u64, u64),
}

/// What runs on its own in a cell.
#[derive(Clone, Copy, Debug)]
struct Running {
    flight: u32,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    writes: Vec<Touch>,
    reads: Vec<Touch>,
    copied_here: Vec<Running>,
    read_by: Vec<Running>,
    /// The bytes that anything was ever written to.
    written: u64,
}

impl Cell {
    /// The bytes that some instructions, ascending, have written. Once all from a byte on are found, others are not looked for.
    fn written_by(&self, writers: &[u32], from: u64) -> u64 {
        let wanted = u64::MAX << from;
        let (mut found, mut last) = (0, None);
        for touch in &self.writes {
            // Mostly many warps write a cell with few instructions.
            if touch.bytes & !found == 0 {
                continue;
            }
            if last != Some(touch.instruction) {
                if writers.binary_search(&touch.instruction).is_err() {
                    continue;
                }
                last = Some(touch.instruction);
            }
            found |= touch.bytes;
            if found & wanted == wanted {
                break;
            }
        }
        found
    }

    /// A write of some of its bytes that the start of an operation which reads them need not see.
    fn unseen(&self, who: Who<'_>, bytes: u64, own: &Flight, fences: &[LaneFence]) -> Option<Clash> {
        let row = match own.completion {
            Completion::Group { row: Row::Wgmma | Row::Tcgen05, .. } => Row::Fenced,
            _ => Row::FencedByWriter,
        };
        self.writes.iter().filter(|touch| touch.bytes & bytes != 0).find_map(|touch| {
            let is_fenced = || {
                who.clock.get(who.warps, row, touch.warp as usize) >= touch.event
                    || fences.iter().any(|fence| fence.is_of(touch, who))
            };
            match () {
                () if !who.knows(touch) => {
                    Some(Clash::Written { warp: touch.warp, instruction: touch.instruction })
                }
                () if own.proxy && !is_fenced() => {
                    Some(Clash::Unfenced { warp: touch.warp, instruction: touch.instruction })
                }
                () => None,
            }
        })
    }
}

/// When an operation is known to be complete.
#[derive(Clone, Copy, Debug)]
pub(super) enum Completion {
    /// When so many of a group of its warp are.
    Group { row: Row, count: u32 },
    /// When so many phases of an object are; none yet where it is not complete.
    Phase { object: u32, phase: Option<u32> },
}

/// An operation that runs on its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) instruction: u32,
    pub(super) warp: u32,
    /// Which event of the warp started it.
    pub(super) event: u32,
    pub(super) completion: Completion,
    /// Whether it goes through the asynchronous proxy.
    pub(super) proxy: bool,
}

/// Where a copy writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Landing {
    pub(super) block: usize,
    pub(super) place: u64,
    pub(super) flight: u32,
}

impl Touch {
    /// One of all bytes, wherever it is.
    pub(super) const fn whole(warp: u32, event: u32, instruction: u32) -> Self {
        Self { warp, event, instruction, lanes: 0, bytes: u64::MAX }
    }

    /// Whether another warp has done it to some of these bytes, and this one does not know of it.
    pub(super) fn is_apart(&self, who: Who<'_>, bytes: u64) -> bool {
        self.bytes & bytes != 0 && !who.knows(self)
    }
}

impl Flight {
    /// Whether it is a matrix operation on tensor memory: those of a block are in order.
    const fn is_of_tensor(&self) -> bool {
        matches!(self.completion, Completion::Group { row: Row::Tcgen05, .. })
    }

    /// Whether it is known to be complete.
    pub(super) fn is_observed(&self, clock: &Clock, warps: usize) -> bool {
        match self.completion {
            Completion::Group { row, count } => clock.get(warps, row, self.warp as usize) >= count,
            Completion::Phase { object, phase } => {
                phase.is_some_and(|phase| clock.phases(warps, object as usize) > phase)
            }
        }
    }
}

/// What an access meets that it is not ordered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// An operation that may still write there.
    Copied(u32),
    /// An operation that may still read there.
    ReadBy(u32),
    /// A read by another warp, at this instruction, before this event of it.
    Read { warp: u32, event: u32, instruction: u32 },
    /// A write by another warp.
    Written { warp: u32, instruction: u32 },
    /// A write that the asynchronous proxy need not see.
    Unfenced { warp: u32, instruction: u32 },
}

/// The shared memory of a block.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    cells: Table<Cell>,
    fences: Vec<LaneFence>,
}

/// Fences of a part of a warp that are kept, the last ones.
const MAX_FENCES: usize = 64;

/// A fence of the asynchronous proxy by lanes of a warp of which others have written something that is not fenced.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneFence {
    pub(super) warp: u32,
    pub(super) lanes: u32,
    pub(super) event: u32,
}

impl LaneFence {
    /// Whether all lanes of a write have fenced it, and this one knows that.
    fn is_of(&self, touch: &Touch, who: Who<'_>) -> bool {
        let known = who.clock.get(who.warps, Row::Events, self.warp as usize);
        self.warp == touch.warp
            && touch.lanes != 0
            && touch.lanes & !self.lanes == 0
            && (touch.event..=known).contains(&self.event)
    }
}

/// Who accesses, and what it knows.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    pub(super) warp: u32,
    /// Its lanes, where each acts for itself.
    pub(super) lanes: u32,
    pub(super) clock: &'a Clock,
    pub(super) warps: usize,
}

impl Who<'_> {
    fn knows(&self, touch: &Touch) -> bool {
        touch.warp == self.warp || self.clock.get(self.warps, Row::Events, touch.warp as usize) >= touch.event
    }
}

/// The cells of a range with the bytes of each.
pub(super) fn cells(start: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = start.saturating_add(bytes.max(1));
    let last = ((end - 1) / CELL).min(start / CELL + MAX_CELLS);
    (start / CELL..=last).map(move |cell| {
        let from = start.saturating_sub(cell * CELL).min(CELL);
        let to = (end - cell * CELL).min(CELL);
        let below = |count: u64| if count >= CELL { u64::MAX } else { (1 << count) - 1 };
        (cell, below(to) & !below(from))
    })
}

/// A block, a place in its shared memory, and how many bytes from there.
pub(super) type Range = (usize, u64, u64);

/// A block, a cell of its shared memory, and which bytes of it.
pub(super) type Piece = (usize, (u64, u64));

/// Rows of a matrix that lanes read one after the other.
const ROWS: usize = 8;

/// The cells of ranges: what lanes access in one cell near each other is one piece.
pub(super) fn pieces(ranges: &[Range]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(ranges.len());
    for &(block, place, bytes) in ranges {
        for (index, bytes) in cells(place, bytes) {
            let mut last = pieces.iter_mut().rev().take(ROWS);
            match last.find(|(of, (known, _))| *known == index && *of == block) {
                Some((_, (_, all))) => *all |= bytes,
                None => pieces.push((block, (index, bytes))),
            }
        }
    }
    pieces
}

/// Whether bytes of a cell may be in a range.
pub(super) const fn overlaps((index, bytes): (u64, u64), (start, end): (u64, u64)) -> bool {
    let first = index * CELL + bytes.trailing_zeros() as u64;
    let after = (index + 1) * CELL - bytes.leading_zeros() as u64;
    bytes != 0 && first < end && start < after
}

impl Shadow {
    /// A read or a write through the generic proxy, of some bytes of cells.
    pub(super) fn access(
        &mut self,
        who: Who<'_>,
        pieces: impl IntoIterator<Item = (u64, u64)>,
        writes: bool,
        (event, instruction): (u32, u32),
        flights: &[Flight],
    ) -> Option<Clash> {
        let mut clash = None;
        for (index, bytes) in pieces {
            let cell = self.cells.entry(index);
            for running in &cell.copied_here {
                if running.bytes & bytes != 0
                    && !flights[running.flight as usize].is_observed(who.clock, who.warps)
                {
                    clash = clash.or(Some(Clash::Copied(running.flight)));
                }
            }
            if writes {
                for running in &cell.read_by {
                    if running.bytes & bytes != 0
                        && !flights[running.flight as usize].is_observed(who.clock, who.warps)
                    {
                        clash = clash.or(Some(Clash::ReadBy(running.flight)));
                    }
                }
            }
            cell.written |= if writes { bytes } else { 0 };
            let touches = if writes { &mut cell.writes } else { &mut cell.reads };
            // The last access counts of each byte. Of many warps that come to one cell few have been there before.
            let (mut is_known, mut at) = (false, 0);
            while let Some(own) = touches[at..].iter().position(|touch| touch.warp == who.warp) {
                at += own;
                let touch = &mut touches[at];
                if touch.event == event && touch.instruction == instruction {
                    touch.bytes |= bytes;
                    is_known = true;
                } else {
                    touch.bytes &= !bytes;
                }
                match touch.bytes {
                    0 => drop(touches.remove(at)),
                    _ => at += 1,
                }
            }
            if !is_known {
                touches.push(Touch { warp: who.warp, event, instruction, lanes: who.lanes, bytes });
            }
        }
        clash
    }

    /// Whether some warps have accessed a place.
    pub(super) fn is_touched(&self, (start, bytes): (u64, u64), by: impl Fn(u32) -> bool) -> bool {
        cells(start, bytes).filter_map(|(index, bytes)| Some((self.cells.get(index)?, bytes))).any(
            |(cell, bytes)| {
                let mut touches = cell.writes.iter().chain(&cell.reads);
                touches.any(|touch| touch.bytes & bytes != 0 && by(touch.warp))
            },
        )
    }

    /// Whether a place was accessed from several blocks, and written from one of them.
    pub(super) fn is_written_apart(&self, block_of: impl Fn(u32) -> usize) -> bool {
        self.cells.values().any(|cell| {
            let by_another = |write: &Touch, other: &Touch| {
                write.bytes & other.bytes != 0 && block_of(write.warp) != block_of(other.warp)
            };
            let mut writes = cell.writes.iter();
            writes.any(|write| cell.writes.iter().chain(&cell.reads).any(|other| by_another(write, other)))
        })
    }

    /// Whether anything was ever written to a place.
    pub(super) fn is_written(&self, place: u64) -> bool {
        cells(place, 1)
            .all(|(index, bytes)| self.cells.get(index).is_some_and(|cell| cell.written & bytes != 0))
    }

    /// Whether threads have stored at a place, and no copy since.
    pub(super) fn is_stored(&self, place: u64) -> bool {
        cells(place, 1).all(|(index, bytes)| {
            let stores = |cell: &Cell| cell.writes.iter().any(|touch| touch.bytes & bytes != 0);
            self.cells.get(index).is_some_and(stores)
        })
    }

    /// An access of another warp that is not ordered with this one, of which one writes and the other reads, and whether
    /// that is the write. It is none where each warp stores all that it reads, with an instruction of `alike`: the others store
    /// the same with it.
    pub(super) fn race(
        &self,
        who: Who<'_>,
        pieces: impl IntoIterator<Item = (u64, u64)>,
        writes: bool,
        instruction: u32,
        alike: &FxHashSet<u32>,
    ) -> Option<(Touch, bool)> {
        pieces.into_iter().find_map(|(index, bytes)| {
            let cell = self.cells.get(index)?;
            let has_stored = |warp: u32, store: u32, bytes: u64| {
                let own = cell.writes.iter().filter(|own| own.warp == warp && own.instruction == store);
                alike.contains(&store) && bytes & !own.fold(0, |all, own| all | own.bytes) == 0
            };
            let others = if writes { &cell.reads } else { &cell.writes };
            let other = others.iter().find(|touch| {
                let (reader, store) =
                    if writes { (touch.warp, instruction) } else { (who.warp, touch.instruction) };
                let both = touch.bytes & bytes;
                both != 0
                    && touch.instruction != instruction
                    && !who.knows(touch)
                    && !has_stored(reader, store, both)
            });
            other.map(|touch| (*touch, !writes))
        })
    }

    /// Whether a warp of some has written a part of a cell that this one does not know of.
    pub(super) fn written_by_others(
        &self,
        who: Who<'_>,
        (index, bytes): (u64, u64),
        wanted: impl Fn(u32) -> bool,
    ) -> bool {
        self.cells.get(index).is_some_and(|cell| {
            let mut writes = cell.writes.iter();
            writes.any(|touch| touch.bytes & bytes != 0 && !who.knows(touch) && wanted(touch.warp))
        })
    }

    /// A write of some of the bytes of a cell.
    pub(super) fn write_of(
        &self,
        (index, bytes): (u64, u64),
        wanted: impl Fn(&Touch) -> bool,
    ) -> Option<Touch> {
        let cell = self.cells.get(index)?;
        cell.writes.iter().find(|touch| touch.bytes & bytes != 0 && wanted(touch)).copied()
    }

    /// Whether a warp has read a part of a cell since it wrote there.
    pub(super) fn is_read_by(&self, warp: u32, (index, bytes): (u64, u64)) -> bool {
        self.cells
            .get(index)
            .is_some_and(|cell| cell.reads.iter().any(|touch| touch.warp == warp && touch.bytes & bytes != 0))
    }

    /// A read or a write of some of the bytes of a cell.
    pub(super) fn touch_of(
        &self,
        (index, bytes): (u64, u64),
        wanted: impl Fn(&Touch) -> bool,
    ) -> Option<Touch> {
        let cell = self.cells.get(index)?;
        let mut touches = cell.writes.iter().chain(&cell.reads);
        touches.find(|touch| touch.bytes & bytes != 0 && wanted(touch)).copied()
    }

    /// A read or a write in a range that another warp has done, and that this one does not know of.
    pub(super) fn touch_apart(
        &self,
        who: Who<'_>,
        (start, end): (u64, u64),
        wanted: impl Fn(&Touch) -> bool,
    ) -> Option<Touch> {
        let range = start / CELL..=end / CELL;
        let cells = self.cells.iter().filter(|(index, _)| range.contains(index));
        let touches = cells
            .flat_map(|(index, cell)| cell.writes.iter().chain(&cell.reads).map(move |touch| (index, touch)));
        let apart = touches.filter(|(index, touch)| {
            !who.knows(touch) && overlaps((*index, touch.bytes), (start, end)) && wanted(touch)
        });
        apart.map(|(_, touch)| *touch).min_by_key(|touch| (touch.instruction, touch.warp))
    }

    /// How many bytes from a place on were written by the instructions that have written the first of them, from the least
    /// to the most, and by others in the same intervals, where the intervals of writes are told.
    pub(super) fn written_run(
        &self,
        start: u64,
        (least, most): (u64, u64),
        interval: impl Fn(&Touch) -> Option<usize>,
    ) -> u64 {
        let first = || {
            let cells =
                cells(start, least).filter_map(|(index, bytes)| Some((self.cells.get(index)?, bytes)));
            cells.flat_map(|(cell, bytes)| cell.writes.iter().filter(move |touch| touch.bytes & bytes != 0))
        };
        let (mut writers, mut last) = (Vec::new(), None);
        for touch in first() {
            if last.replace(touch.instruction) != Some(touch.instruction) {
                insert(&mut writers, touch.instruction);
            }
        }
        // Who has written in the same intervals is asked where the first of them have not.
        let intervals = || {
            let mut intervals = Vec::new();
            for touch in first() {
                if let Some(interval) = interval(touch) {
                    insert(&mut intervals, (touch.warp, interval));
                }
            }
            intervals
        };
        let intervals = LazyCell::new(intervals);
        let mut run = 0;
        while run < most {
            let (index, byte) = ((start + run) / CELL, (start + run) % CELL);
            let Some(cell) = self.cells.get(index) else { break };
            let written = cell.written_by(&writers, byte) >> byte;
            let here = u64::from(written.trailing_ones()).min(CELL - byte);
            run += here;
            if here < CELL - byte {
                let is_next = |touch: &&Touch| {
                    let is_here = touch.bytes >> (byte + here) & 1 != 0;
                    let interval = is_here.then(|| interval(touch)).flatten();
                    interval.is_some_and(|interval| intervals.binary_search(&(touch.warp, interval)).is_ok())
                };
                let Some(next) = cell.writes.iter().find(is_next) else { break };
                insert(&mut writers, next.instruction);
            }
        }
        run.clamp(least, most.max(least))
    }

    /// How many bytes from a place on, to the most, the instructions have written that have written the first of them, where each
    /// warp has done so in one go: `go` tells the one that a write belongs to. Warps that have written none of the first bytes have
    /// not met more others since than those.
    pub(super) fn written_in_one_go(
        &self,
        start: u64,
        (least, most): (u64, u64),
        go: impl Fn(&Touch) -> Go,
    ) -> u64 {
        let (mut writers, mut goes) = (Vec::new(), Vec::new());
        let has_come = |touch: &Touch, goes: &mut Vec<(u32, Go)>, limit: usize| match goes
            .iter()
            .find(|(warp, _)| *warp == touch.warp)
        {
            Some((_, own)) => own.events.contains(&touch.event),
            None => {
                let own = go(touch);
                let is_of_these = own.since <= limit;
                if is_of_these {
                    goes.push((touch.warp, own));
                }
                is_of_these
            }
        };
        for (index, bytes) in cells(start, least) {
            let writes = self.cells.get(index).map(|cell| &cell.writes[..]).unwrap_or_default();
            for touch in writes.iter().filter(|touch| touch.bytes & bytes != 0) {
                insert(&mut writers, touch.instruction);
                has_come(touch, &mut goes, usize::MAX);
            }
        }
        let limit = goes.iter().map(|(_, own)| own.since).max().unwrap_or(usize::MAX);
        let mut run = 0;
        while run < most {
            let (index, byte) = ((start + run) / CELL, (start + run) % CELL);
            let Some(cell) = self.cells.get(index) else { break };
            let wanted = u64::MAX << byte;
            let mut found = 0;
            for touch in &cell.writes {
                let is_new = touch.bytes & !found & wanted != 0;
                if is_new
                    && writers.binary_search(&touch.instruction).is_ok()
                    && has_come(touch, &mut goes, limit)
                {
                    found |= touch.bytes;
                }
            }
            let here = u64::from((found >> byte).trailing_ones()).min(CELL - byte);
            run += here;
            if here < CELL - byte {
                break;
            }
        }
        run.clamp(least, most.max(least))
    }

    /// Takes note of a fence by lanes.
    pub(super) fn fence(&mut self, fence: LaneFence) {
        if self.fences.len() == MAX_FENCES {
            self.fences.remove(0);
        }
        self.fences.push(fence);
    }

    /// The first write of a range if the start of an operation which reads it comes later, and no fence lies between.
    pub(super) fn unfenced_write(
        &self,
        who: Who<'_>,
        (start, bytes): (u64, u64),
        own: &Flight,
    ) -> Option<Clash> {
        let unseen = |(index, bytes)| {
            self.cells.get(index).and_then(|cell: &Cell| cell.unseen(who, bytes, own, &self.fences))
        };
        cells(start, bytes).find_map(unseen).filter(|clash| matches!(clash, Clash::Unfenced { .. }))
    }

    /// A write, or a read, by other lanes of a warp, after one of its events.
    pub(super) fn touched_by_others(
        &self,
        writes: bool,
        warp: u32,
        (start, bytes): (u64, u64),
        since: u32,
        lanes: u32,
    ) -> Option<u32> {
        cells(start, bytes).find_map(|(index, bytes)| {
            let by_others = |touch: &&Touch| {
                let is_later = touch.warp == warp && touch.event > since;
                is_later && touch.lanes & !lanes != 0 && touch.bytes & bytes != 0
            };
            let cell = self.cells.get(index)?;
            let touches = if writes { &cell.writes } else { &cell.reads };
            touches.iter().find(by_others).map(|touch| touch.instruction)
        })
    }

    /// The start of an operation that reads.
    pub(super) fn start_read(
        &mut self,
        who: Who<'_>,
        (start, bytes): (u64, u64),
        flight: u32,
        flights: &[Flight],
    ) -> Option<Clash> {
        let mut clash = None;
        let own = &flights[flight as usize];
        for (index, bytes) in cells(start, bytes) {
            let cell = self.cells.entry(index);
            clash = clash.or_else(|| cell.unseen(who, bytes, own, &self.fences));
            for running in cell.copied_here.iter().filter(|running| running.bytes & bytes != 0) {
                if !flights[running.flight as usize].is_observed(who.clock, who.warps) {
                    clash = clash.or(Some(Clash::Copied(running.flight)));
                }
            }
            cell.read_by.retain(|running| {
                !flights[running.flight as usize].is_observed(who.clock, who.warps)
                    || running.bytes & !bytes != 0
            });
            if cell.read_by.len() == MAX_READERS {
                // The last ones are the last to complete.
                cell.read_by.remove(0);
            }
            cell.read_by.push(Running { flight, bytes });
        }
        clash
    }

    /// The start of an operation that writes.
    pub(super) fn start_write(
        &mut self,
        who: Who<'_>,
        (start, bytes): (u64, u64),
        flight: u32,
        flights: &[Flight],
    ) -> Option<Clash> {
        let mut clash = None;
        for (index, bytes) in cells(start, bytes) {
            let cell = self.cells.entry(index);
            for running in cell.copied_here.iter().filter(|running| running.bytes & bytes != 0) {
                let other = &flights[running.flight as usize];
                // Lanes write next to each other, and all warps may do the same.
                let own = &flights[flight as usize];
                let same = other.instruction == own.instruction
                    && (other.warp != who.warp || other.event == own.event)
                    || other.is_of_tensor() && own.is_of_tensor();
                if !same && !other.is_observed(who.clock, who.warps) {
                    clash = clash.or(Some(Clash::Copied(running.flight)));
                }
            }
            for running in cell.read_by.iter().filter(|running| running.bytes & bytes != 0) {
                if !flights[running.flight as usize].is_observed(who.clock, who.warps) {
                    clash = clash.or(Some(Clash::ReadBy(running.flight)));
                }
            }
            for touch in cell.reads.iter().filter(|touch| touch.bytes & bytes != 0 && !who.knows(touch)) {
                let Touch { warp, event, instruction, .. } = *touch;
                clash = clash.or(Some(Clash::Read { warp, event, instruction }));
            }
            for touch in cell.writes.iter().filter(|touch| touch.bytes & bytes != 0 && !who.knows(touch)) {
                clash = clash.or(Some(Clash::Written { warp: touch.warp, instruction: touch.instruction }));
            }
            cell.written |= bytes;
            // What was there before is settled, or has been told.
            let keep = |own: u64| own & !bytes != 0;
            cell.reads.retain(|touch| keep(touch.bytes));
            cell.writes.retain(|touch| keep(touch.bytes));
            cell.read_by.retain(|running| keep(running.bytes));
            cell.copied_here.retain_mut(|running| {
                running.bytes &= !bytes;
                running.bytes != 0
            });
            // The lanes of one operation write next to each other.
            match cell.copied_here.last_mut().filter(|running| running.flight == flight) {
                Some(running) => running.bytes |= bytes,
                None => cell.copied_here.push(Running { flight, bytes }),
            }
        }
        clash
    }

    /// The first of some operations that may still read this memory.
    pub(super) fn still_read(
        &self,
        who: Who<'_>,
        flights: &[Flight],
        wanted: impl Fn(&Flight) -> bool,
    ) -> Option<u32> {
        let running = self.cells.values().flat_map(|cell| &cell.read_by);
        let open = running.filter(|running| {
            let flight = &flights[running.flight as usize];
            wanted(flight) && !flight.is_observed(who.clock, who.warps)
        });
        open.map(|running| running.flight).min()
    }

    /// The operations that may still write this memory.
    pub(super) fn still_written(&self, who: Who<'_>, flights: &[Flight]) -> Option<u32> {
        let running = self.cells.values().flat_map(|cell| &cell.copied_here);
        let open = running.filter(|running| {
            let flight = &flights[running.flight as usize];
            !flight.is_of_tensor() && !flight.is_observed(who.clock, who.warps)
        });
        open.map(|running| running.flight).min()
    }
}

/// Puts something into a sorted list that does not have it yet.
fn insert<T: Ord>(list: &mut Vec<T>, item: T) {
    if let Err(at) = list.binary_search(&item) {
        list.insert(at, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shared_where_one_block_writes_and_another_comes() {
        let clock = Clock::new(4);
        let mut shadow = Shadow::default();
        let mut access = |warp: u32, start: u64, writes: bool| {
            let who = Who { warp, lanes: 0, clock: &clock, warps: 4 };
            shadow.access(who, cells(start, 4), writes, (1, 0), &[]);
            shadow.is_written_apart(|warp| warp as usize / 2)
        };
        assert!(!access(0, 0, true), "one warp");
        assert!(!access(1, 0, false), "another one of its block");
        assert!(!access(2, 4, true), "another block, next to it");
        assert!(!access(0, 64, false) && !access(2, 64, false), "nobody writes there");
        assert!(access(3, 0, false), "another block reads what was written");
    }
}
