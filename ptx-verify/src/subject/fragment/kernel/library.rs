//! What CUDA's headers offer in place of asm: `cuda::barrier`, bulk copies, primitives of pipelines. CUDA C++ Programming
//! Guide, section "Asynchronous Data Copies".

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, TemplateArgument};

use super::types::{Space, Ty};
use super::value::{Held, Place, Value};
use super::{ANYTHING, Lowering, Unclear};

/// Bytes that are filled one after the other.
const MAX_FILLED: u64 = 128;

impl<'s> Lowering<'_, 's> {
    /// The address of a `cuda::barrier`, if the object is one.
    pub(super) fn barrier(&mut self, object: &Expression<'s>, arrow: bool) -> Result<Option<Value>, Unclear> {
        let length = self.text.len();
        let found = if arrow {
            self.value(object).ok().map(|pointer| match &pointer.ty {
                Ty::Pointer(of, _) if **of == Ty::Barrier => Some(pointer),
                _ => None,
            })
        } else {
            self.place(object).ok().map(|place| match place {
                Place::Memory { address, ty: Ty::Barrier } => Some(address),
                _ => None,
            })
        };
        let found = found.flatten();
        if found.is_none() {
            self.take_back(length);
        }
        Ok(found)
    }

    pub(super) fn of_barrier(
        &mut self,
        barrier: &Value,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let address = self.shared_address(barrier)?;
        match (name, given) {
            ("arrive", []) => self.arrived(&address, ""),
            ("arrive", [count]) => {
                let count = self.value(count)?;
                let count = self.operand(&count, 32)?;
                self.arrived(&address, &format!(", {count}"))
            }
            ("wait", [token]) => {
                let token = self.value(token)?;
                self.wait(&address, &token)
            }
            ("wait_parity", [parity]) => {
                let parity = self.value(parity)?;
                let parity = self.operand(&parity, 32)?;
                self.wait_for("try_wait.parity", &address, &parity)
            }
            // It may come back before.
            (
                "try_wait_parity_for" | "try_wait_parity_until" | "try_wait_for" | "try_wait_until",
                [phase, _],
            ) => {
                let is_parity = name.starts_with("try_wait_parity");
                let phase = self.value(phase)?;
                let phase = self.operand(&phase, if is_parity { 32 } else { 64 })?;
                let asks = if is_parity { "try_wait.parity" } else { "try_wait" };
                let (done, to) = (self.predicate()?, self.fresh(32)?);
                self.emit(&format!("mbarrier.{asks}.shared.b64 %c_p{done}, [{address}], {phase};"));
                self.emit(&format!("selp.b32 {}, 1, 0, %c_p{done};", to.name()));
                self.truths.insert(to.number, done);
                Ok(Value { ty: Ty::BOOL, held: Held::Register(to) })
            }
            ("arrive_and_wait", []) => {
                let token = self.arrived(&address, "")?;
                self.wait(&address, &token)
            }
            // Its destructor.
            ("~", []) => {
                self.emit(&format!("mbarrier.inval.shared.b64 [{address}];"));
                Ok(Value::unknown(Ty::Void))
            }
            ("arrive_and_drop", []) => {
                let token = self.fresh(64)?;
                self.emit(&format!("mbarrier.arrive_drop.shared.b64 {}, [{address}];", token.name()));
                Ok(Value::unknown(Ty::Void))
            }
            _ => Err(Unclear),
        }
    }

    /// `wmma::load_matrix_sync` and `wmma::store_matrix_sync`: 16 rows, of which each lane reads or writes a part.
    fn of_matrix(
        &mut self,
        pointer: &Expression<'s>,
        stride: &Expression<'s>,
        is_store: bool,
    ) -> Result<(), Unclear> {
        let pointer = self.value(pointer)?;
        let pointer = Self::decayed(pointer);
        let stride = self.value(stride)?;
        let Ty::Pointer(of, _) = pointer.ty.clone() else { return Err(Unclear) };
        // Nothing is said of what lies in no memory that is followed.
        if !matches!(pointer.held, Held::Register(_)) {
            return Ok(());
        }
        let half = of.size()?.checked_mul(8).ok_or(Unclear)?;
        let lane = self.special_register("laneid")?;
        let row = self.computed("&", lane.clone(), Value::constant(15, Ty::UINT))?;
        let column = self.computed(">>", lane, Value::constant(4, Ty::UINT))?;
        let column = self.computed("*", column, Value::constant(8, Ty::UINT))?;
        let above = self.computed("*", row, stride)?;
        let index = self.computed("+", above, column)?;
        let at = self.moved(&pointer, &of, index, "+")?;
        let (space, base) = (super::memory::space_of(&at), self.operand(&at, 64)?);
        // Rows begin at multiples of 16 bytes.
        let unit = if half % 16 == 0 { 16 } else { 4 };
        for offset in (0..half).step_by(unit) {
            let mut all = Vec::new();
            for _ in 0..unit / 4 {
                all.push(if is_store { "0".to_owned() } else { self.fresh(32)?.name() });
            }
            let (vector, all) = super::memory::listed(&all);
            self.emit(&match is_store {
                true => format!("st{space}{vector}.b32 [{base}+{offset}], {all};"),
                false => format!("ld{space}{vector}.b32 {all}, [{base}+{offset}];"),
            });
        }
        Ok(())
    }

    pub(super) fn arrived(&mut self, address: &str, count: &str) -> Result<Value, Unclear> {
        let token = self.fresh(64)?;
        self.emit(&format!("mbarrier.arrive.shared.b64 {}, [{address}]{count};", token.name()));
        Ok(Value { ty: Ty::SIZE, held: Held::Register(token) })
    }

    fn wait(&mut self, address: &str, token: &Value) -> Result<Value, Unclear> {
        let token = self.operand(token, 64)?;
        self.wait_for("try_wait", address, &token)
    }

    pub(super) fn wait_for(&mut self, word: &str, address: &str, phase: &str) -> Result<Value, Unclear> {
        let (again, done) = (self.label(), self.predicate()?);
        self.place_label(&again);
        self.emit(&format!("mbarrier.{word}.shared.b64 %c_p{done}, [{address}], {phase};"));
        self.emit(&format!("@!%c_p{done} bra {again};"));
        Ok(Value::unknown(Ty::Void))
    }

    /// An operand with the address of something in shared memory.
    pub(super) fn shared_address(&mut self, pointer: &Value) -> Result<String, Unclear> {
        match &pointer.ty {
            Ty::Pointer(_, Space::Shared) => self.operand(pointer, 64),
            Ty::Pointer(..) => {
                let generic = self.operand(pointer, 64)?;
                let to = self.fresh(64)?;
                self.emit(&format!("cvta.to.shared.u64 {}, {generic};", to.name()));
                Ok(to.name())
            }
            _ => Err(Unclear),
        }
    }

    /// The pointer that an expression is, or of a barrier its address.
    pub(super) fn pointer(&mut self, expression: &Expression<'s>) -> Result<Value, Unclear> {
        if let Some(barrier) = self.barrier(expression, false)? {
            return Ok(barrier);
        }
        let value = self.value(expression)?;
        Ok(Self::decayed(value))
    }

    /// A function of the headers; none where the name is no such.
    pub(super) fn of_library(
        &mut self,
        name: &str,
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
    ) -> Result<Option<Value>, Unclear> {
        let nothing = Ok(Some(Value::unknown(Ty::Void)));
        match (name, given) {
            ("init", [barrier, count]) => {
                let barrier = self.pointer(barrier)?;
                let address = self.shared_address(&barrier)?;
                let count = self.value(count)?;
                let count = self.operand(&count, 32)?;
                self.emit(&format!("mbarrier.init.shared.b64 [{address}], {count};"));
            }
            ("barrier_arrive_tx", [barrier, count, bytes]) => {
                if self.constant(count)? != 1 {
                    return Err(Unclear);
                }
                let barrier = self.pointer(barrier)?;
                let address = self.shared_address(&barrier)?;
                let bytes = self.value(bytes)?;
                let bytes = self.operand(&bytes, 32)?;
                let token = self.fresh(64)?;
                self.emit(&format!(
                    "mbarrier.arrive.expect_tx.shared.b64 {}, [{address}], {bytes};",
                    token.name()
                ));
                return Ok(Some(Value { ty: Ty::SIZE, held: Held::Register(token) }));
            }
            ("barrier_expect_tx", [barrier, bytes]) => {
                let barrier = self.pointer(barrier)?;
                let address = self.shared_address(&barrier)?;
                let bytes = self.value(bytes)?;
                let bytes = self.operand(&bytes, 32)?;
                self.emit(&format!("mbarrier.expect_tx.relaxed.cta.shared.b64 [{address}], {bytes};"));
            }
            ("barrier_native_handle", [barrier]) => {
                let barrier = self.pointer(barrier)?;
                let Ty::Pointer(_, space) = barrier.ty else { return Err(Unclear) };
                let ty = Ty::Pointer(Rc::new(Ty::SIZE), space);
                return Ok(Some(Value { ty, held: barrier.held }));
            }
            ("aligned_size_t", [bytes]) => return self.value(bytes).map(Some),
            ("fill_fragment", [_, value]) => {
                self.value(value)?;
            }
            ("mma_sync", [_, _, _, _]) if template.is_empty() => {}
            ("load_matrix_sync", [_, pointer, stride, ..]) => self.of_matrix(pointer, stride, false)?,
            ("store_matrix_sync", [pointer, _, stride, _]) => self.of_matrix(pointer, stride, true)?,
            ("fence_proxy_async_shared_cta", []) => self.emit("fence.proxy.async.shared::cta;"),
            ("cp_async_bulk_commit_group", []) => self.emit("cp.async.bulk.commit_group;"),
            ("cp_async_bulk_wait_group_read" | "cp_async_bulk_wait_group", []) => {
                let [count] = template else { return Err(Unclear) };
                let count = self.constant_argument(count)?;
                self.emit(&match name.ends_with("read") {
                    true => format!("cp.async.bulk.wait_group.read {count};"),
                    false => format!("cp.async.bulk.wait_group {count};"),
                });
            }
            ("cp_async_bulk_global_to_shared" | "memcpy_async_tx", [to, from, bytes, barrier]) => {
                let bytes = super::pipeline::aligned_size(bytes);
                let to = self.pointer(to)?;
                let to = self.shared_address(&to)?;
                let from = self.value(from)?;
                let from = self.operand(&from, 64)?;
                let bytes = self.value(bytes)?;
                let bytes = self.operand(&bytes, 32)?;
                let barrier = self.pointer(barrier)?;
                let barrier = self.shared_address(&barrier)?;
                self.emit(&format!(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{from}], {bytes}, [{barrier}];"
                ));
            }
            ("cp_async_bulk_shared_to_global", [to, from, bytes]) => {
                let to = self.value(to)?;
                let to = self.operand(&to, 64)?;
                let from = self.pointer(from)?;
                let from = self.shared_address(&from)?;
                let bytes = self.value(bytes)?;
                let bytes = self.operand(&bytes, 32)?;
                self.emit(&format!("cp.async.bulk.global.shared::cta.bulk_group [{to}], [{from}], {bytes};"));
            }
            (_, [to, map, .., barrier]) if tensor(name, "_global_to_shared").is_some() => {
                let dimensions = tensor(name, "_global_to_shared").ok_or(Unclear)?;
                if given.len() != dimensions + 3 {
                    return Err(Unclear);
                }
                let to = self.pointer(to)?;
                let to = self.shared_address(&to)?;
                let (map, at) = self.tensor_place(map, &given[2..2 + dimensions])?;
                let barrier = self.pointer(barrier)?;
                let barrier = self.shared_address(&barrier)?;
                self.emit(&format!(
                    "cp.async.bulk.tensor.{dimensions}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{to}], [{map}, {{{at}}}], [{barrier}];"
                ));
            }
            (_, [map, .., from]) if tensor(name, "_shared_to_global").is_some() => {
                let dimensions = tensor(name, "_shared_to_global").ok_or(Unclear)?;
                if given.len() != dimensions + 2 {
                    return Err(Unclear);
                }
                let (map, at) = self.tensor_place(map, &given[1..=dimensions])?;
                let from = self.pointer(from)?;
                let from = self.shared_address(&from)?;
                self.emit(&format!(
                    "cp.async.bulk.tensor.{dimensions}d.global.shared::cta.tile.bulk_group [{map}, {{{at}}}], [{from}];"
                ));
            }
            ("__pipeline_memcpy_async", [to, from, bytes] | [to, from, bytes, _]) => {
                let bytes = self.constant(bytes)?;
                let to = self.pointer(to)?;
                let to = self.shared_address(&to)?;
                let from = self.value(from)?;
                let from = Self::decayed(from);
                let from = self.operand(&from, 64)?;
                if !matches!(bytes, 4 | 8 | 16) {
                    return Err(Unclear);
                }
                self.emit(&format!("cp.async.ca.shared.global [{to}], [{from}], {bytes};"));
            }
            ("make_pipeline", _) => return self.made_pipeline(given).map(Some),
            ("pipeline_consumer_wait_prior", [pipeline]) => self.waited_prior(template, pipeline)?,
            // Who waits at the barrier waits for what the thread has copied.
            ("pipeline_producer_commit", [pipeline, barrier]) => {
                self.value(pipeline)?;
                let barrier = self.pointer(barrier)?;
                let address = self.shared_address(&barrier)?;
                self.emit(&format!("cp.async.mbarrier.arrive.shared.b64 [{address}];"));
            }
            ("memcpy_async", _) => self.copied_async(given)?,
            ("wait" | "wait_prior", [group]) => self.waited_by_block(template, group)?,
            ("__pipeline_arrive_on", [object]) => {
                let object = self.pointer(object)?;
                let object = self.shared_address(&object)?;
                self.emit(&format!("cp.async.mbarrier.arrive.shared.b64 [{object}];"));
            }
            ("__pipeline_commit", []) => self.emit("cp.async.commit_group;"),
            ("__pipeline_wait_prior", [count]) => {
                let count = self.constant(count)?;
                self.emit(&format!("cp.async.wait_group {count};"));
            }
            // What is set in memory of a thread is not followed.
            ("memcpy" | "__builtin_memcpy", [to, from, bytes]) => {
                let (to, from) = (self.value(to)?, self.value(from)?);
                let Ok(bytes) = self.constant(bytes) else {
                    // How much of a variable of the thread it fills is not known.
                    self.value(bytes)?;
                    let Held::Place(place) = &to.held else { return Err(Unclear) };
                    self.forget(place)?;
                    return nothing;
                };
                self.copied_bits(&Self::decayed(to), &Self::decayed(from), bytes)?;
            }
            ("swap", [one, other]) => {
                let (one, other) = (self.place(one)?, self.place(other)?);
                let kept = self.read(&one)?;
                let kept = self.kept(kept, false)?;
                let value = self.read(&other)?;
                self.write(&one, value)?;
                let value = self.read(&kept)?;
                self.write(&other, value)?;
            }
            ("bit_cast", [from]) => {
                let [to, ..] = template else { return Err(Unclear) };
                let super::Binding::Type(ty) = self.template_argument(to, true)? else { return Err(Unclear) };
                let value = self.value(from)?;
                let from = self.kept(value, false)?;
                let place = self.taken_for(&from, 0, &ty);
                let found = self.read(&place)?;
                return Ok(Some(found));
            }
            ("memset" | "memcpy", [to, ..]) => {
                let to = self.value(to)?;
                if let (Held::Register(_), [_, with, bytes]) = (&to.held, given) {
                    self.value(with)?;
                    let bytes = self.constant(bytes)?;
                    return self.set_bytes(&to, bytes).map(Some);
                }
                let Held::Place(place) = &to.held else { return Err(Unclear) };
                for each in &given[1..] {
                    if !matches!(each.kind, ExpressionKind::Number { .. } | ExpressionKind::SizeOf(_)) {
                        self.value(each)?;
                    }
                }
                self.forget(place)?;
            }
            _ => return Ok(None),
        }
        nothing
    }

    /// Bytes in memory that get a number: which one is not followed, but of words of nothing.
    fn set_bytes(&mut self, to: &Value, bytes: u64) -> Result<Value, Unclear> {
        if bytes > MAX_FILLED {
            return Err(Unclear);
        }
        let (space, base) = (super::memory::space_of(to), self.operand(to, 64)?);
        let unit = if bytes.is_multiple_of(4) { 4 } else { 1 };
        let zero = self.fresh(32)?.name();
        self.emit(&format!("ld.const.b32 {zero}, [{ANYTHING}];"));
        for at in (0..bytes).step_by(unit as usize) {
            self.emit(&format!("st{space}.b{} [{base}+{at}], {zero};", unit * 8));
        }
        Ok(Value::unknown(Ty::Void))
    }

    /// The operands of a tensor's map and of a place in it.
    fn tensor_place(
        &mut self,
        map: &Expression<'s>,
        at: &[Expression<'s>],
    ) -> Result<(String, String), Unclear> {
        let map = self.value(map)?;
        let map = self.operand(&map, 64)?;
        let mut places = Vec::new();
        for place in at {
            let place = self.value(place)?;
            places.push(self.operand(&place, 32)?);
        }
        Ok((map, places.join(", ")))
    }
}

/// The dimensions of a copy of tensors, by the name of its function.
fn tensor(name: &str, direction: &str) -> Option<usize> {
    let dimensions =
        name.strip_prefix("cp_async_bulk_tensor_")?.strip_suffix(direction)?.strip_suffix('d')?;
    dimensions.parse().ok().filter(|dimensions| (1..=5).contains(dimensions))
}
