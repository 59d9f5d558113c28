//! `cuda::pipeline` and the copies of `memcpy_async`. CUDA C++ Programming Guide, section "Asynchronous Data Copies using
//! cuda::pipeline".
//!
//! A pipeline of a thread is its groups of `cp.async`. One of a block has two `mbarrier` objects for each stage, at which all
//! threads arrive.

use ptx_syntax::cuda::body::{Expression, ExpressionKind, TemplateArgument, TypeName};

use super::types::{Group, ROLE, Ty};
use super::value::{Held, Register, Value};
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
/// What the bytes of a bulk copy are a multiple of, and the first target that has such copies.
const BULK: u64 = 16;
const FIRST_WITH_BULK: u16 = 90;
/// Copies of a thread that are written one after the other.
const MAX_COPIES: u64 = 16;
/// Warps of a block, and the bytes of what each of them counts, and of the smallest copy.
const MAX_WARPS: u64 = 32;
const COUNT: u64 = 4;
/// The stages of a pipeline.
const MAX_STAGES: u64 = 64;

impl<'s> Lowering<'_, 's> {
    /// The type of the memory that the threads of a pipeline share.
    pub(super) fn pipeline_state(&mut self, given: &[TemplateArgument<'s>]) -> Result<Ty, Unclear> {
        let [_, stages] = given else { return Err(Unclear) };
        let stages = self.constant_argument(stages)?;
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
            [group, state, roles @ ..] if roles.len() <= 1 => {
                if self.value(group)?.ty != Ty::Group(Group::Block) {
                    return Err(Unclear);
                }
                let state = self.value(state)?;
                let Ty::Pointer(of, _) = &state.ty else { return Err(Unclear) };
                let &Ty::Bytes(size, OBJECT) = &**of else { return Err(Unclear) };
                let state = self.shared_address(&state)?;
                let stages = size / STAGE;
                let fill = match roles {
                    [roles] => Some(self.those_who_fill(roles)?),
                    _ => None,
                };
                self.make_objects(&state, stages, fill)?;
                let fills = (self.counter(0)?, self.counter(1)?);
                let uses = (self.counter(0)?, self.counter(0)?);
                Pipeline::OfBlock { state, stages, fills, uses }
            }
            _ => return Err(Unclear),
        };
        self.pipelines.push(made);
        Ok(Value::group(Group::Pipeline(self.pipelines.len() - 1)))
    }

    /// One thread makes the objects of all stages, and all meet. `fill` is how many threads fill, where the others use.
    fn make_objects(&mut self, state: &str, stages: u64, fill: Option<Value>) -> Result<(), Unclear> {
        let rank = self.thread_rank()?;
        let rank = self.operand(&rank, 32)?;
        let all = self.size_of_block()?;
        let (full, empty) = match fill {
            Some(fill) => (fill.clone(), self.computed("-", all, fill)?),
            None => (all.clone(), all),
        };
        let counts = [self.operand(&full, 32)?, self.operand(&empty, 32)?];
        let (condition, after) = (self.predicate()?, self.label());
        self.emit(&format!("setp.ne.u32 %c_p{condition}, {rank}, 0;"));
        self.emit(&format!("@%c_p{condition} bra {after};"));
        for object in 0..2 * stages {
            let count = &counts[(object % 2) as usize];
            self.emit(&format!("mbarrier.init.shared.b64 [{state}+{}], {count};", object * OBJECT));
        }
        self.place_label(&after);
        self.emit("barrier.sync 0;");
        Ok(())
    }

    /// How many threads of the block fill the stages: the number that is given, or those that say so of themselves.
    fn those_who_fill(&mut self, roles: &Expression<'s>) -> Result<Value, Unclear> {
        let roles = self.value(roles)?;
        match roles.ty {
            Ty::Integer { is_bool: true, .. } if roles.number().is_none() => self.counted(&roles),
            Ty::Integer { is_bool: false, .. } => self.converted(roles, &Ty::UINT),
            _ => Err(Unclear),
        }
    }

    /// How many threads of the block something is true for: each warp counts its own, and all add these up.
    fn counted(&mut self, truth: &Value) -> Result<Value, Unclear> {
        let counts = format!("c_counts_{}", self.shared.len());
        self.shared.push((counts.clone(), MAX_WARPS * COUNT, COUNT));
        let rank = self.thread_rank()?;
        let rank = self.operand(&rank, 32)?;
        let (all, truth) = (self.threads_of_block()?, self.operand(truth, 32)?);
        let (holds, others) = (self.predicate()?, self.predicate()?);
        let [votes, count, sum] = [self.fresh(32)?, self.fresh(32)?, self.fresh(32)?].map(Register::name);
        let [own, at, end] = [self.fresh(64)?, self.fresh(64)?, self.fresh(64)?].map(Register::name);
        self.emit(&format!("setp.ne.u32 %c_p{holds}, {truth}, 0;"));
        self.emit(&format!("vote.sync.ballot.b32 {votes}, %c_p{holds}, 0xffffffff;"));
        self.emit(&format!("popc.b32 {count}, {votes};"));
        self.emit(&format!("shr.u32 {votes}, {rank}, 5;"));
        self.emit(&format!("mul.wide.u32 {own}, {votes}, {COUNT};"));
        self.emit(&format!("mov.b64 {at}, {counts};"));
        self.emit(&format!("add.u64 {own}, {own}, {at};"));
        self.emit(&format!("and.b32 {votes}, {rank}, 31;"));
        self.emit(&format!("setp.ne.u32 %c_p{others}, {votes}, 0;"));
        self.emit(&format!("@!%c_p{others} st.shared.u32 [{own}], {count};"));
        self.emit("barrier.sync 0;");
        self.emit(&format!("add.u32 {votes}, {all}, 31;"));
        self.emit(&format!("shr.u32 {votes}, {votes}, 5;"));
        self.emit(&format!("mul.wide.u32 {end}, {votes}, {COUNT};"));
        self.emit(&format!("add.u64 {end}, {end}, {at};"));
        self.emit(&format!("mov.b32 {sum}, 0;"));
        let again = self.label();
        self.place_label(&again);
        self.emit(&format!("ld.shared.u32 {count}, [{at}];"));
        self.emit(&format!("add.u32 {sum}, {sum}, {count};"));
        self.emit(&format!("add.u64 {at}, {at}, {COUNT};"));
        self.emit(&format!("setp.lt.u64 %c_p{others}, {at}, {end};"));
        self.emit(&format!("@%c_p{others} bra {again};"));
        let to = self.fresh(32)?;
        self.emit(&format!("mov.b32 {}, {sum};", to.name()));
        Ok(Value { ty: Ty::UINT, held: Held::Register(to) })
    }

    fn threads_of_block(&mut self) -> Result<String, Unclear> {
        let all = self.size_of_block()?;
        self.operand(&all, 32)
    }

    /// How many threads the block has.
    pub(super) fn size_of_block(&mut self) -> Result<Value, Unclear> {
        let mut all = self.special_register("ntid.x")?;
        if !self.has_rows() {
            return Ok(all);
        }
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
        // It may come back before what it waits for has happened, and says whether.
        if matches!(name, "consumer_wait_for" | "consumer_wait_until") {
            self.of_pipeline(number, "consumer_wait", &[])?;
            return Ok(Value::constant(1, Ty::BOOL));
        }
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
        let [left] = template else { return Err(Unclear) };
        let left = self.constant_argument(left)?;
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
        let before = self.mark();
        let first = self.value(given.first().ok_or(Unclear)?)?;
        let (group, rest) = match first.ty {
            Ty::Group(group) => (Some(group), &given[1..]),
            // Where it copies to is computed below.
            _ => {
                self.back_to(before);
                (None, given)
            }
        };
        // With layouts of both, what lies between is the number of the first, and it is as many as the smaller of them.
        let listed = match (group, rest) {
            (Some(_), [to, _, from, count]) if self.is_integer(&rest[1])? => Some((to, from, count)),
            _ => None,
        };
        let (to, from, bytes, told) = match (listed, rest) {
            (Some((to, from, count)), _) => (to, from, count, &rest[..0]),
            (None, [to, from, bytes, told @ ..]) => (to, from, bytes, told),
            _ => return Err(Unclear),
        };
        let (bytes, aligned) = self.bytes_of_copy(bytes)?;
        let to = self.pointer(to)?;
        let bytes = match (&listed, &to.ty) {
            (Some(_), Ty::Pointer(of, _)) => {
                let size = of.size()?;
                let bytes = self.computed("*", bytes, Value::constant(size, Ty::UINT))?;
                self.converted(bytes, &Ty::UINT)?
            }
            _ => bytes,
        };
        let to = self.shared_address(&to)?;
        let from = self.value(from)?;
        let from = Self::decayed(from);
        let from = self.operand(&from, 64)?;
        let barrier = match told {
            [told] => self.barrier(told, false)?,
            _ => None,
        };
        // The first of the threads copies all in one.
        let is_bulk = aligned.is_multiple_of(BULK)
            && bytes.number().is_none_or(|bytes| bytes.is_multiple_of(BULK))
            && self.aim.target.number() >= FIRST_WITH_BULK;
        if let Some(barrier) = barrier.as_ref().filter(|_| is_bulk && group.is_none()) {
            let address = self.shared_address(barrier)?;
            let bytes = self.operand(&bytes, 32)?;
            self.emit(&format!("mbarrier.expect_tx.relaxed.cta.shared.b64 [{address}], {bytes};"));
            self.emit(&format!(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{from}], {bytes}, [{address}];"
            ));
            return Ok(());
        }
        let own = match group {
            None => None,
            Some(Group::Block) => Some((self.thread_rank()?, self.size_of_block()?)),
            Some(group @ (Group::Warp | Group::Part(_))) => {
                Some((self.of_group(group, "thread_rank", &[])?, self.of_group(group, "size", &[])?))
            }
            Some(_) => return Err(Unclear),
        };
        match (bytes.number(), own) {
            (Some(bytes), own) => {
                let unit = [16, 8, 4].into_iter().find(|unit| bytes.is_multiple_of(*unit)).ok_or(Unclear)?;
                match own {
                    None if bytes / unit <= MAX_COPIES => {
                        for at in (0..bytes).step_by(unit as usize) {
                            self.emit(&format!(
                                "cp.async.ca.shared.global [{to}+{at}], [{from}+{at}], {unit};"
                            ));
                        }
                    }
                    own => self.copies_in_turn((&to, &from), bytes, unit, own)?,
                }
            }
            (None, own) => self.copy_of_some(&to, &from, own)?,
        }
        match told {
            [] if group.is_some() => self.emit("cp.async.commit_group;"),
            [told] => {
                if let Some(barrier) = barrier {
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

    /// Whether an argument is a number.
    fn is_integer(&mut self, argument: &Expression<'s>) -> Result<bool, Unclear> {
        let mark = self.mark();
        let value = self.value(argument)?;
        self.back_to(mark);
        Ok(matches!(Self::decayed(value).ty, Ty::Integer { .. }))
    }

    /// The bytes of a copy, and the alignment that `aligned_size_t<16>(bytes)` tells of.
    fn bytes_of_copy(&mut self, of: &Expression<'s>) -> Result<(Value, u64), Unclear> {
        let inner = aligned_size(of);
        let aligned = match &of.kind {
            ExpressionKind::Call(callee, _) => match &callee.kind {
                ExpressionKind::Name("aligned_size_t", template) => {
                    let [align] = template.as_slice() else { return Err(Unclear) };
                    self.constant_argument(align)?
                }
                _ => 1,
            },
            _ => 1,
        };
        let bytes = self.value(inner)?;
        Ok((self.converted(bytes, &Ty::UINT)?, aligned))
    }

    /// A copy of as many bytes as the kernel is told: the first of them stand for all, and the first thread copies them.
    fn copy_of_some(&mut self, to: &str, from: &str, own: Option<(Value, Value)>) -> Result<(), Unclear> {
        let end = self.label();
        if let Some((rank, _)) = own {
            let rank = self.operand(&rank, 32)?;
            let condition = self.predicate()?;
            self.emit(&format!("setp.ne.u32 %c_p{condition}, {rank}, 0;"));
            self.emit(&format!("@%c_p{condition} bra {end};"));
        }
        self.emit(&format!("cp.async.ca.shared.global [{to}], [{from}], {COUNT};"));
        self.place_label(&end);
        Ok(())
    }

    /// Copies one unit after the other. `own` is the rank of a thread in a group and the number of its threads, among which
    /// the units go round.
    fn copies_in_turn(
        &mut self,
        (to, from): (&str, &str),
        bytes: u64,
        unit: u64,
        own: Option<(Value, Value)>,
    ) -> Result<(), Unclear> {
        let (at, step, condition) = (self.fresh(32)?, self.fresh(32)?, self.predicate()?);
        let (again, end) = (self.label(), self.label());
        let (at, step) = (at.name(), step.name());
        match own {
            Some((rank, all)) => {
                let (rank, all) = (self.operand(&rank, 32)?, self.operand(&all, 32)?);
                self.emit(&format!("mul.lo.u32 {at}, {rank}, {unit};"));
                self.emit(&format!("mul.lo.u32 {step}, {all}, {unit};"));
            }
            None => {
                self.emit(&format!("mov.b32 {at}, 0;"));
                self.emit(&format!("mov.b32 {step}, {unit};"));
            }
        }
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
        let Ty::Group(group @ (Group::Block | Group::Warp | Group::Part(_))) = self.value(group)?.ty else {
            return Err(Unclear);
        };
        let left = match template {
            [] => 0,
            [left] => self.constant_argument(left)?,
            _ => return Err(Unclear),
        };
        self.emit(&format!("cp.async.wait_group {left};"));
        self.of_group(group, "sync", &[])?;
        Ok(())
    }
}

/// Whether a constant of the type of roles is that of who fills; none where it is another constant.
pub(super) fn role(owner: &TypeName<'_>, name: &str) -> Option<bool> {
    let (TypeName::Named(owner, _) | TypeName::Scoped(_, owner, _)) = owner else { return None };
    match name {
        "producer" if *owner == ROLE => Some(true),
        "consumer" if *owner == ROLE => Some(false),
        _ => None,
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
