//! `cuda::pipeline` and the copies of `memcpy_async`. CUDA C++ Programming Guide, section "Asynchronous Data Copies using
//! cuda::pipeline".
//!
//! A pipeline of a thread is its groups of `cp.async`. One of a block has two `mbarrier` objects for each stage, at which all
//! threads arrive.

use ptx_syntax::cuda::body::{Expression, ExpressionKind, TemplateArgument};

use super::types::{Group, Ty};
use super::value::{Register, Value};
use super::{Lowering, Unclear};

/// A pipeline with the registers that say where it stands.
#[derive(Clone, Debug)]
pub(super) enum Pipeline {
    /// How many groups the thread has not waited for.
    OfThread(Register),
    /// Of a block: where its objects are, and the stage and the parity of those who fill and of those who use.
    OfBlock { state: String, stages: u64, fills: (Register, Register), uses: (Register, Register) },
}

/// Bytes of the objects of a stage.
const STAGE: u64 = 16;
/// Bytes of one of them.
const OBJECT: u64 = 8;
/// Groups that a thread may leave when it waits.
const MAX_GROUPS: u64 = 8;
/// Copies of a thread that are written one after the other.
const MAX_COPIES: u64 = 16;
/// The stages of a pipeline.
const MAX_STAGES: u64 = 64;

impl<'s> Lowering<'_, 's> {
    /// The type of the memory that the threads of a pipeline share.
    pub(super) fn pipeline_state(&mut self, given: &[TemplateArgument<'s>]) -> Result<Ty, Unclear> {
        let [_, TemplateArgument::Value(stages)] = given else { return Err(Unclear) };
        let stages = self.constant(stages)?;
        if !(1..=MAX_STAGES).contains(&stages) {
            return Err(Unclear);
        }
        Ok(Ty::Bytes(stages * STAGE, OBJECT))
    }

    fn counter(&mut self, first: u32) -> Result<Register, Unclear> {
        let to = self.fresh(32)?;
        self.emit(&format!("mov.b32 {}, {first};", to.name()));
        Ok(to)
    }

    /// `make_pipeline`, for the thread or with memory of the block.
    pub(super) fn made_pipeline(&mut self, given: &[Expression<'s>]) -> Result<Value, Unclear> {
        let made = match given {
            [] => Pipeline::OfThread(self.counter(0)?),
            [group, state] => {
                if self.value(group)?.ty != Ty::Group(Group::Block) {
                    return Err(Unclear);
                }
                let state = self.value(state)?;
                let Ty::Pointer(of, _) = &state.ty else { return Err(Unclear) };
                let &Ty::Bytes(size, OBJECT) = &**of else { return Err(Unclear) };
                let state = self.shared_address(&state)?;
                let stages = size / STAGE;
                self.make_objects(&state, stages)?;
                let fills = (self.counter(0)?, self.counter(1)?);
                let uses = (self.counter(0)?, self.counter(0)?);
                Pipeline::OfBlock { state, stages, fills, uses }
            }
            _ => return Err(Unclear),
        };
        self.pipelines.push(made);
        Ok(Value::group(Group::Pipeline(self.pipelines.len() - 1)))
    }

    /// One thread makes the objects of all stages, and all meet.
    fn make_objects(&mut self, state: &str, stages: u64) -> Result<(), Unclear> {
        let rank = self.thread_rank()?;
        let rank = self.operand(&rank, 32)?;
        let (condition, after, count) = (self.predicate()?, self.label(), self.threads_of_block()?);
        self.emit(&format!("setp.ne.u32 %c_p{condition}, {rank}, 0;"));
        self.emit(&format!("@%c_p{condition} bra {after};"));
        for object in 0..2 * stages {
            self.emit(&format!("mbarrier.init.shared.b64 [{state}+{}], {count};", object * OBJECT));
        }
        self.place_label(&after);
        self.emit("barrier.sync 0;");
        Ok(())
    }

    fn threads_of_block(&mut self) -> Result<String, Unclear> {
        let all = self.size_of_block()?;
        self.operand(&all, 32)
    }

    /// How many threads the block has.
    pub(super) fn size_of_block(&mut self) -> Result<Value, Unclear> {
        let mut all = self.special_register("ntid.x")?;
        for extent in ["ntid.y", "ntid.z"] {
            let count = self.special_register(extent)?;
            all = self.computed("*", all, count)?;
        }
        Ok(all)
    }

    /// The address of an object of the stage in a register.
    fn object(&mut self, state: &str, stage: Register, offset: u64) -> Result<String, Unclear> {
        let (wide, to) = (self.fresh(64)?, self.fresh(64)?);
        self.emit(&format!("mul.wide.u32 {}, {}, {STAGE};", wide.name(), stage.name()));
        self.emit(&format!("add.u64 {}, {state}, {};", to.name(), wide.name()));
        if offset > 0 {
            self.emit(&format!("add.u64 {0}, {0}, {offset};", to.name()));
        }
        Ok(to.name())
    }

    /// Goes on to the next stage.
    fn turn(&mut self, (stage, parity): (Register, Register), stages: u64) -> Result<(), Unclear> {
        let condition = self.predicate()?;
        let (stage, parity) = (stage.name(), parity.name());
        self.emit(&format!("add.u32 {stage}, {stage}, 1;"));
        self.emit(&format!("setp.eq.u32 %c_p{condition}, {stage}, {stages};"));
        self.emit(&format!("@%c_p{condition} mov.b32 {stage}, 0;"));
        self.emit(&format!("@%c_p{condition} xor.b32 {parity}, {parity}, 1;"));
        Ok(())
    }

    /// A method of a pipeline.
    pub(super) fn of_pipeline(
        &mut self,
        number: usize,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        if !given.is_empty() {
            return Err(Unclear);
        }
        match (self.pipelines.get(number).cloned().ok_or(Unclear)?, name) {
            (_, "quit") => {}
            (Pipeline::OfThread(_), "producer_acquire" | "consumer_release") => {}
            (Pipeline::OfThread(pending), "producer_commit") => {
                self.emit("cp.async.commit_group;");
                self.emit(&format!("add.u32 {0}, {0}, 1;", pending.name()));
            }
            (Pipeline::OfThread(pending), "consumer_wait") => {
                for left in 0..MAX_GROUPS {
                    let condition = self.predicate()?;
                    self.emit(&format!("setp.eq.u32 %c_p{condition}, {}, {};", pending.name(), left + 1));
                    self.emit(&format!("@%c_p{condition} cp.async.wait_group {left};"));
                }
                self.emit(&format!("sub.u32 {0}, {0}, 1;", pending.name()));
            }
            (Pipeline::OfBlock { state, fills, .. }, "producer_acquire") => {
                let object = self.object(&state, fills.0, OBJECT)?;
                self.wait_for("try_wait.parity", &object, &fills.1.name())?;
            }
            (Pipeline::OfBlock { state, fills, stages, .. }, "producer_commit") => {
                let object = self.object(&state, fills.0, 0)?;
                self.emit(&format!("cp.async.mbarrier.arrive.noinc.shared.b64 [{object}];"));
                self.turn(fills, stages)?;
            }
            (Pipeline::OfBlock { state, uses, .. }, "consumer_wait") => {
                let object = self.object(&state, uses.0, 0)?;
                self.wait_for("try_wait.parity", &object, &uses.1.name())?;
            }
            (Pipeline::OfBlock { state, uses, stages, .. }, "consumer_release") => {
                let object = self.object(&state, uses.0, OBJECT)?;
                self.arrived(&object, "")?;
                self.turn(uses, stages)?;
            }
            _ => return Err(Unclear),
        }
        Ok(Value::unknown(Ty::Void))
    }

    /// `pipeline_consumer_wait_prior<N>(pipeline)`
    pub(super) fn waited_prior(
        &mut self,
        template: &[TemplateArgument<'s>],
        pipeline: &Expression<'s>,
    ) -> Result<(), Unclear> {
        let [TemplateArgument::Value(left)] = template else { return Err(Unclear) };
        let left = self.constant(left)?;
        let Ty::Group(Group::Pipeline(number)) = self.value(pipeline)?.ty else { return Err(Unclear) };
        let Some(Pipeline::OfThread(pending)) = self.pipelines.get(number).cloned() else {
            return Err(Unclear);
        };
        self.emit(&format!("cp.async.wait_group {left};"));
        self.emit(&format!("mov.b32 {}, {left};", pending.name()));
        Ok(())
    }

    /// `memcpy_async`, by a thread or by all of the block, which a pipeline or a barrier is told of, or a group of its own.
    pub(super) fn copied_async(&mut self, given: &[Expression<'s>]) -> Result<(), Unclear> {
        let first = self.value(given.first().ok_or(Unclear)?)?;
        let (group, rest) = match first.ty {
            Ty::Group(group) => (Some(group), &given[1..]),
            _ => (None, given),
        };
        let [to, from, bytes, told @ ..] = rest else { return Err(Unclear) };
        let bytes = self.constant(aligned_size(bytes))?;
        let to = self.pointer(to)?;
        let to = self.shared_address(&to)?;
        let from = self.value(from)?;
        let from = Self::decayed(from);
        let from = self.operand(&from, 64)?;
        match group {
            None => self.copies_of_thread(&to, &from, bytes)?,
            Some(Group::Block) => self.copies_of_block(&to, &from, bytes)?,
            Some(_) => return Err(Unclear),
        }
        match told {
            [] if group.is_some() => self.emit("cp.async.commit_group;"),
            [told] => {
                if let Some(barrier) = self.barrier(told, false)? {
                    let address = self.shared_address(&barrier)?;
                    self.emit(&format!("cp.async.mbarrier.arrive.shared.b64 [{address}];"));
                } else if !matches!(self.value(told)?.ty, Ty::Group(Group::Pipeline(_))) {
                    return Err(Unclear);
                }
            }
            _ => return Err(Unclear),
        }
        Ok(())
    }

    fn copies_of_thread(&mut self, to: &str, from: &str, bytes: u64) -> Result<(), Unclear> {
        let unit = [16, 8, 4].into_iter().find(|unit| bytes.is_multiple_of(*unit)).ok_or(Unclear)?;
        if bytes / unit > MAX_COPIES {
            return Err(Unclear);
        }
        for at in (0..bytes).step_by(unit as usize) {
            self.emit(&format!("cp.async.ca.shared.global [{to}+{at}], [{from}+{at}], {unit};"));
        }
        Ok(())
    }

    /// Each thread copies every so many units.
    fn copies_of_block(&mut self, to: &str, from: &str, bytes: u64) -> Result<(), Unclear> {
        let unit = [16, 8, 4].into_iter().find(|unit| bytes.is_multiple_of(*unit)).ok_or(Unclear)?;
        let rank = self.thread_rank()?;
        let (rank, all) = (self.operand(&rank, 32)?, self.threads_of_block()?);
        let (at, step, condition) = (self.fresh(32)?, self.fresh(32)?, self.predicate()?);
        let (again, end) = (self.label(), self.label());
        let (at, step) = (at.name(), step.name());
        self.emit(&format!("mul.lo.u32 {at}, {rank}, {unit};"));
        self.emit(&format!("mul.lo.u32 {step}, {all}, {unit};"));
        self.place_label(&again);
        self.emit(&format!("setp.ge.u32 %c_p{condition}, {at}, {bytes};"));
        self.emit(&format!("@%c_p{condition} bra {end};"));
        let (wide, target, source) = (self.fresh(64)?, self.fresh(64)?, self.fresh(64)?);
        let (wide, target, source) = (wide.name(), target.name(), source.name());
        self.emit(&format!("cvt.u64.u32 {wide}, {at};"));
        self.emit(&format!("add.u64 {target}, {to}, {wide};"));
        self.emit(&format!("add.u64 {source}, {from}, {wide};"));
        self.emit(&format!("cp.async.ca.shared.global [{target}], [{source}], {unit};"));
        self.emit(&format!("add.u32 {at}, {at}, {step};"));
        self.emit(&format!("bra {again};"));
        self.place_label(&end);
        Ok(())
    }

    /// `wait(block)` and `wait_prior<N>(block)` of cooperative groups.
    pub(super) fn waited_by_block(
        &mut self,
        template: &[TemplateArgument<'s>],
        group: &Expression<'s>,
    ) -> Result<(), Unclear> {
        if self.value(group)?.ty != Ty::Group(Group::Block) {
            return Err(Unclear);
        }
        let left = match template {
            [] => 0,
            [TemplateArgument::Value(left)] => self.constant(left)?,
            _ => return Err(Unclear),
        };
        self.emit(&format!("cp.async.wait_group {left};"));
        self.emit("barrier.sync 0;");
        Ok(())
    }
}

/// The bytes in `aligned_size_t<16>(bytes)`, or what stands without it.
pub(super) fn aligned_size<'e, 's>(bytes: &'e Expression<'s>) -> &'e Expression<'s> {
    match &bytes.kind {
        ExpressionKind::Call(callee, inner)
            if matches!(callee.kind, ExpressionKind::Name("aligned_size_t", _)) && inner.len() == 1 =>
        {
            &inner[0]
        }
        _ => bytes,
    }
}
