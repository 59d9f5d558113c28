//! `tcgen05.fence`: what orders tensor operations of one thread with those of others, besides the object that they meet at.
//!
//! Many kernels fence nowhere, and the tensor core does what they expect. So a fence is missing only in a kernel that has
//! others like it.

use super::clock::Row;
use super::fault::{Fault, FaultKind, Part};
use super::machine::Machine;
use super::program::Action;
use super::tensor_order::{Used, bit, note};

impl Machine<'_> {
    /// A thread orders its tensor operations with those before, or after, a meeting.
    pub(super) fn fence_tensor(&mut self, warp: usize, after: bool) {
        let last = self.warps[warp].met[0].filter(|&at| self.is_barrier(at));
        let own = &mut self.warps[warp].tensor_order;
        if after {
            own.met = None;
            if let Some(met) = last.filter(|_| own.passed.is_empty()) {
                note(&mut own.fenced_meetings, met);
            }
            for passed in std::mem::take(&mut own.passed) {
                note(&mut own.fenced_tests, passed.1);
                note(&mut own.fenced, passed);
            }
        } else {
            own.has_fenced_before = true;
            if let Some(used) = &mut own.used {
                used.is_fenced = true;
            }
        }
    }

    /// Whether an instruction is a barrier of the block.
    fn is_barrier(&self, instruction: u32) -> bool {
        let mut steps = self.program.steps.iter().filter(|step| step.instruction == instruction);
        steps.any(|step| matches!(step.action, Action::Barrier { .. }))
    }

    /// A test of an object passed.
    pub(super) fn passes_tensor(&mut self, warp: usize, object: usize, test: u32) {
        if self.program.fences_tensor {
            note(&mut self.warps[warp].tensor_order.passed, (object, test));
        }
    }

    /// A warp arrives at an object.
    pub(super) fn tells_tensor(&mut self, warp: usize, object: usize, arrival: u32) {
        if let Some(used) = self.warps[warp].tensor_order.used {
            let told = &mut self.objects[object].tensor;
            told.comes(warp);
            if !used.is_fenced {
                told.unfenced = Some((warp, arrival, used.instruction));
            }
        }
    }

    /// A warp has come to a barrier of the block.
    pub(super) fn meets_tensor(&mut self, warp: usize, barrier: u32) {
        if self.program.fences_tensor {
            self.warps[warp].tensor_order.met = Some(barrier);
        }
    }

    /// Whether other warps have fenced loads or stores of tensor memory that this operation has to follow, and have met this one since.
    fn comes_after_fenced(&self, warp: usize, writes: bool) -> bool {
        let (own, warps) = (&self.warps[warp], self.warps.len());
        self.warps.iter().enumerate().any(|(index, other)| {
            index != warp
                && other.block == own.block
                && other.tensor_order.used.is_some_and(|used| {
                    let is_before = own.clock.get(warps, Row::Events, index) >= used.event;
                    used.is_fenced && is_before && (writes || used.writes)
                })
        })
    }

    /// A warp uses tensor memory; matrix operations, which are none of a thread, need no fence before they tell of their end.
    pub(super) fn uses_tensor(&mut self, warp: usize, instruction: u32, stores: Option<bool>) {
        if !self.program.fences_tensor {
            return;
        }
        if let Some(barrier) = self.warps[warp].tensor_order.met.take()
            && self.comes_after_fenced(warp, stores.unwrap_or(true))
        {
            note(&mut self.warps[warp].tensor_order.met_unfenced, (instruction, barrier));
        }
        let own = &mut self.warps[warp];
        let event = own.event;
        let own = &mut own.tensor_order;
        if let Some(writes) = stores {
            own.used = Some(Used { instruction, event, writes, is_fenced: false });
        }
        let passed = std::mem::take(&mut own.passed);
        // Its own operations are in order, and a fence belongs after the last wait.
        let is_of_others =
            |(object, _): &&(usize, u32)| self.objects[*object].tensor.comers & !bit(warp) != 0;
        if let Some(&(_, test)) = passed.iter().rev().find(is_of_others) {
            note(&mut own.unfenced, (instruction, test));
        }
        for (object, test) in std::mem::take(&mut own.fenced) {
            match self.objects[object].tensor.unfenced {
                Some((other, arrival, used)) if other != warp => note(&mut own.untold, (arrival, used, test)),
                _ => {}
            }
        }
    }

    /// Fences that some waits or arrivals of the kernel lack and others have.
    pub(super) fn tell_of_tensor_fences(&mut self) {
        if !self.program.fences_tensor || self.faults.iter().any(|fault| fault.kind.may_follow()) {
            return;
        }
        let orders = || self.warps.iter().map(|warp| &warp.tensor_order);
        let has_fenced = |test: u32| orders().any(|order| order.fenced_tests.contains(&test));
        let example = orders().find_map(|order| order.fenced_tests.first().copied());
        // Who fences at the barriers before and after all operations alone may have had these from elsewhere; at two, not.
        let both = || orders().find(|order| order.fenced_meetings.len() > 1);
        let example = example.or_else(|| both().and_then(|order| order.fenced_meetings.first().copied()));
        let mut faults = Vec::new();
        if let Some(example) = example {
            for &(operation, test) in orders().flat_map(|order| &order.unfenced) {
                if !has_fenced(test) {
                    let fault = Fault::new(FaultKind::TensorUnfenced, operation).with(test, Part::Wait);
                    faults.push(fault.with(example, Part::OtherWait));
                }
            }
        }
        let has_met = |barrier: u32| orders().any(|order| order.fenced_meetings.contains(&barrier));
        let places = orders().flat_map(|order| &order.met_unfenced);
        let mut apart: Vec<(u32, u32)> = places.copied().filter(|(_, barrier)| !has_met(*barrier)).collect();
        apart.sort_unstable();
        for (operation, barrier) in apart.into_iter().take(1) {
            let fault = Fault::new(FaultKind::TensorUnfenced, operation).with(barrier, Part::Wait);
            faults.push(fault.with_some(example, Part::OtherWait));
        }
        if orders().any(|order| order.has_fenced_before) {
            for &(arrival, used, test) in orders().flat_map(|order| &order.untold) {
                let fault = Fault::new(FaultKind::TensorUntold, arrival).with(used, Part::Access);
                faults.push(fault.with(test, Part::OtherWait));
            }
        }
        // One wait is followed by many loads.
        faults.dedup_by_key(|fault| fault.others.first().copied());
        faults.into_iter().for_each(|fault| self.tell(fault));
    }
}
