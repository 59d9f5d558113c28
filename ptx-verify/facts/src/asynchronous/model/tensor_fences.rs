//! `tcgen05.fence`: what orders tensor operations of one thread with those of others, besides the object that they meet at.
//!
//! Many kernels fence nowhere, and the tensor core does what they expect. So a fence is missing only in a kernel that has
//! others like it.

use super::fault::{Fault, FaultKind, Part};
use super::machine::Machine;
use super::program::Action;
use super::tensor_order::{bit, note};

impl Machine<'_> {
    /// A thread orders its tensor operations with those before, or after, a meeting.
    pub(super) fn fence_tensor(&mut self, warp: usize, after: bool) {
        let last = self.warps[warp].met[0].filter(|&at| self.is_barrier(at));
        let own = &mut self.warps[warp].tensor_order;
        if after {
            if let Some(met) = last.filter(|_| own.passed.is_empty()) {
                note(&mut own.fenced_meetings, met);
            }
            for passed in std::mem::take(&mut own.passed) {
                note(&mut own.fenced_tests, passed.1);
                note(&mut own.fenced, passed);
            }
        } else {
            own.has_fenced_before = true;
            if let Some((_, is_fenced)) = &mut own.used {
                *is_fenced = true;
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
        if let Some((used, is_fenced)) = self.warps[warp].tensor_order.used {
            let told = &mut self.objects[object].tensor;
            told.comes(warp);
            if !is_fenced {
                told.unfenced = Some((warp, arrival, used));
            }
        }
    }

    /// A warp uses tensor memory; matrix operations need no fence before they tell of their end.
    pub(super) fn uses_tensor(&mut self, warp: usize, instruction: u32, is_matrix: bool) {
        if !self.program.fences_tensor {
            return;
        }
        let own = &mut self.warps[warp].tensor_order;
        if !is_matrix {
            own.used = Some((instruction, false));
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
