//! `cuda::ptx`: functions that are one instruction each. CUDA C++ Core Libraries, section "PTX".

use ptx_syntax::cuda::body::{Expression, ExpressionKind, FloatKind, TypeName};

use super::types::{Space, Ty};
use super::value::{Held, Place, Value};
use super::{Binding, Lowering, Unclear};

/// What the names begin with of arguments that choose a form of the instruction.
const CHOICES: [&str; 6] = ["sem_", "scope_", SPACE, OPERATION, GROUP, KIND];

/// The same of those that tell where something lies.
const SPACE: &str = "space_";

/// The same of those that choose what is done.
const OPERATION: &str = "op_";

/// The same of those that tell how many blocks take part, and what matrices are made of.
pub(super) const GROUP: &str = "cta_group_";
pub(super) const KIND: &str = "kind_";

/// What the names of functions begin with that read special registers.
const OF_SPECIAL: &str = "get_sreg_";

/// The copies of four rows of a matrix, into shared memory and out of it.
const GATHER: &str = "cp_async_bulk_tensor_tile_gather4";
const SCATTER: &str = "cp_async_bulk_tensor_tile_scatter4";

/// The same of those by which lanes of a warp tell each other what they have.
const OF_LANES: &str = "shfl_sync_";

/// What the names of tests end with that ask for a parity.
const OF_PARITY: &str = "_parity";

/// The special registers of 32 bits that have a function.
const SPECIALS: [&str; 20] = [
    "tid",
    "ntid",
    "ctaid",
    "nctaid",
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
];

/// Those whose numbers nobody knows, and whether they have 64 bits.
const UNKNOWN_SPECIALS: [(&str, bool); 13] = [
    ("clock", false),
    ("clock_hi", false),
    ("clock64", true),
    ("globaltimer", true),
    ("globaltimer_lo", false),
    ("globaltimer_hi", false),
    ("gridid", true),
    ("is_explicit_cluster", false),
    ("dynamic_smem_size", false),
    ("total_smem_size", false),
    ("aggr_smem_size", false),
    ("reserved_smem_offset_begin", false),
    ("reserved_smem_offset_end", false),
];

/// What the names of functions begin with that are of an object.
const OF_OBJECTS: &str = "mbarrier_";

impl<'s> Lowering<'_, 's> {
    /// The instruction that a function is; none where the name is no such.
    pub(super) fn of_instructions(
        &mut self,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Option<Value>, Unclear> {
        // The primitives of `cuda_awbarrier_primitives.h` have the same names.
        let name = name.strip_prefix("__").filter(|own| own.starts_with(OF_OBJECTS)).unwrap_or(name);
        let chosen: Vec<Option<String>> = given.iter().map(|each| self.form(each)).collect();
        let choices: Vec<&str> = chosen.iter().flatten().map(String::as_str).collect();
        let rest = given.iter().zip(&chosen).filter(|(_, choice)| choice.is_none());
        let rest: Vec<&Expression<'s>> = rest.map(|(each, _)| each).collect();
        let nothing = Ok(Some(Value::unknown(Ty::Void)));
        let is_wide = choices.contains(&"scope_cluster");
        let scope = if is_wide { "cluster" } else { "cta" };
        let is_relaxed = choices.contains(&"sem_relaxed");
        let spaces: Vec<&str> = choices.iter().copied().filter(|each| each.starts_with(SPACE)).collect();
        let (to_space, from_space) = (spaces.first().copied(), spaces.get(1).copied());
        let is_from_global = from_space == Some("space_global");
        let pair = choices.iter().find_map(|choice| choice.strip_prefix(GROUP));
        let pair = pair.map_or(String::new(), |blocks| format!(".cta_group::{blocks}"));
        let sem = if is_relaxed { "relaxed" } else { "release" };
        match (name, rest.as_slice()) {
            ("mbarrier_init", [object, count]) => {
                let (object, count) = (self.in_shared(object)?, self.number(count, 32)?);
                self.emit(&format!("mbarrier.init.shared.b64 [{object}], {count};"));
            }
            ("mbarrier_arrive", [object, count @ ..]) if count.len() <= 1 => {
                // The object of another block has no token.
                if choices.contains(&"space_cluster") {
                    let object = self.in_cluster(object)?;
                    let count = self.count(count)?;
                    self.emit(&format!(
                        "mbarrier.arrive.{sem}.cluster.shared::cluster.b64 _, [{object}]{count};"
                    ));
                    return nothing;
                }
                let object = self.in_shared(object)?;
                let count = self.count(count)?;
                let token = self.fresh(64)?;
                let to = token.name();
                self.emit(&format!("mbarrier.arrive.{sem}.{scope}.shared::cta.b64 {to}, [{object}]{count};"));
                return Ok(Some(Value { ty: Ty::SIZE, held: Held::Register(token) }));
            }
            ("mbarrier_arrive_no_complete", [object, count]) => {
                let (object, count) = (self.in_shared(object)?, self.number(count, 32)?);
                let token = self.fresh(64)?;
                let to = token.name();
                self.emit(&format!("mbarrier.arrive.noComplete.shared.b64 {to}, [{object}], {count};"));
                return Ok(Some(Value { ty: Ty::SIZE, held: Held::Register(token) }));
            }
            ("mbarrier_arrive_expect_tx", [object, bytes]) if choices.contains(&"space_cluster") => {
                let (object, bytes) = (self.in_cluster(object)?, self.number(bytes, 32)?);
                self.emit(&format!(
                    "mbarrier.arrive.expect_tx.{sem}.cluster.shared::cluster.b64 _, [{object}], {bytes};"
                ));
            }
            ("mbarrier_arrive_expect_tx", [object, bytes]) => {
                let (object, bytes) = (self.in_shared(object)?, self.number(bytes, 32)?);
                let token = self.fresh(64)?;
                let to = token.name();
                self.emit(&format!(
                    "mbarrier.arrive.expect_tx.{sem}.{scope}.shared::cta.b64 {to}, [{object}], {bytes};"
                ));
                return Ok(Some(Value { ty: Ty::SIZE, held: Held::Register(token) }));
            }
            ("mbarrier_arrive_and_drop" | "mbarrier_arrive_drop", [object, count @ ..])
                if count.len() <= 1 =>
            {
                if choices.contains(&"space_cluster") {
                    let (object, count) = (self.in_cluster(object)?, self.count(count)?);
                    self.emit(&format!(
                        "mbarrier.arrive_drop.{sem}.cluster.shared::cluster.b64 _, [{object}]{count};"
                    ));
                    return nothing;
                }
                let (object, count, token) = (self.in_shared(object)?, self.count(count)?, self.fresh(64)?);
                let to = token.name();
                self.emit(&format!(
                    "mbarrier.arrive_drop.{sem}.{scope}.shared::cta.b64 {to}, [{object}]{count};"
                ));
                return Ok(Some(Value { ty: Ty::SIZE, held: Held::Register(token) }));
            }
            ("elect_sync", [mask]) => {
                let mask = self.number(mask, 32)?;
                let (is_one, to) = (self.predicate()?, self.fresh(32)?);
                self.emit(&format!("elect.sync _|%c_p{is_one}, {mask};"));
                self.emit(&format!("selp.b32 {}, 1, 0, %c_p{is_one};", to.name()));
                self.truths.insert(to.number, is_one);
                return Ok(Some(Value { ty: Ty::BOOL, held: Held::Register(to) }));
            }
            ("mbarrier_inval", [object]) => {
                let object = self.in_shared(object)?;
                self.emit(&format!("mbarrier.inval.shared.b64 [{object}];"));
            }
            ("mbarrier_token_pending_count", [token]) => {
                self.value(token)?;
                return Ok(Some(Value::unknown(Ty::UINT)));
            }
            ("mbarrier_expect_tx", [object, bytes]) if choices.contains(&"space_cluster") => {
                let (object, bytes) = (self.in_cluster(object)?, self.number(bytes, 32)?);
                self.emit(&format!(
                    "mbarrier.expect_tx.relaxed.{scope}.shared::cluster.b64 [{object}], {bytes};"
                ));
            }
            ("mbarrier_expect_tx", [object, bytes]) => {
                let (object, bytes) = (self.in_shared(object)?, self.number(bytes, 32)?);
                self.emit(&format!(
                    "mbarrier.expect_tx.relaxed.{scope}.shared::cta.b64 [{object}], {bytes};"
                ));
            }
            (
                "mbarrier_try_wait_parity"
                | "mbarrier_test_wait_parity"
                | "mbarrier_try_wait"
                | "mbarrier_test_wait",
                [object, phase, ..],
            ) => {
                let object = self.in_shared(object)?;
                let phase = self.number(phase, if name.ends_with(OF_PARITY) { 32 } else { 64 })?;
                let done = self.predicate()?;
                let asks = match (name.contains("try"), name.ends_with(OF_PARITY)) {
                    (true, true) => "try_wait.parity",
                    (true, false) => "try_wait",
                    (false, true) => "test_wait.parity",
                    (false, false) => "test_wait",
                };
                // Who says nothing has acquired in the scope of the block.
                let order = match (choices.is_empty(), is_relaxed) {
                    (true, _) => String::new(),
                    (false, true) => format!(".relaxed.{scope}"),
                    (false, false) => format!(".acquire.{scope}"),
                };
                self.emit(&format!(
                    "mbarrier.{asks}{order}.shared::cta.b64 %c_p{done}, [{object}], {phase};"
                ));
                let to = self.fresh(32)?;
                self.emit(&format!("selp.b32 {}, 1, 0, %c_p{done};", to.name()));
                return Ok(Some(Value { ty: Ty::BOOL, held: Held::Register(to) }));
            }
            ("fence_mbarrier_init", []) => self.emit("fence.mbarrier_init.release.cluster;"),
            ("fence_proxy_async", []) => self.emit(match choices.as_slice() {
                ["space_shared"] => "fence.proxy.async.shared::cta;",
                ["space_global"] => "fence.proxy.async.global;",
                ["space_cluster"] => "fence.proxy.async.shared::cluster;",
                _ => "fence.proxy.async;",
            }),
            ("cp_async_bulk", [to, from, bytes, barrier]) if is_from_global => {
                let (to, from) = (self.in_shared(to)?, self.number(from, 64)?);
                let (bytes, barrier) = (self.number(bytes, 32)?, self.in_shared(barrier)?);
                self.emit(&format!(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{from}], {bytes}, [{barrier}];"
                ));
            }
            ("cp_async_bulk", [to, from, bytes]) if to_space == Some("space_global") => {
                let (to, from) = (self.number(to, 64)?, self.in_shared(from)?);
                let bytes = self.number(bytes, 32)?;
                self.emit(&format!("cp.async.bulk.global.shared::cta.bulk_group [{to}], [{from}], {bytes};"));
            }
            // To another block of the cluster.
            ("cp_async_bulk", [to, from, bytes, barrier]) if choices == ["space_cluster", "space_shared"] => {
                let (to, from) = (self.in_cluster(to)?, self.in_shared(from)?);
                let (bytes, barrier) = (self.number(bytes, 32)?, self.in_cluster(barrier)?);
                self.emit(&format!(
                    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{to}], [{from}], {bytes}, [{barrier}];"
                ));
            }
            ("cp_async_bulk", [to, from, bytes, barrier, blocks])
                if choices == ["space_cluster", "space_global"] =>
            {
                let (to, from) = (self.in_shared(to)?, self.number(from, 64)?);
                let (bytes, barrier) = (self.number(bytes, 32)?, self.in_shared(barrier)?);
                let blocks = self.blocks_of_mask(blocks)?;
                self.emit(&format!(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [{to}], [{from}], {bytes}, [{barrier}], {blocks};"
                ));
            }
            ("cp_async_bulk_tensor" | GATHER, [to, map, at, barrier, blocks])
                if spaces == ["space_cluster", "space_global"] =>
            {
                let (to, map) = (self.in_shared(to)?, self.number(map, 64)?);
                let ((dimensions, mode), at) = self.coordinates(name, at)?;
                let (barrier, blocks) = (self.in_shared(barrier)?, self.blocks_of_mask(blocks)?);
                self.emit(&format!(
                    "cp.async.bulk.tensor.{dimensions}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes.multicast::cluster{pair} [{to}], [{map}, {{{at}}}], [{barrier}], {blocks};"
                ));
            }
            ("cp_reduce_async_bulk", [to, from, bytes]) if choices.starts_with(&["space_global"]) => {
                let pointer = self.pointer(to)?;
                let Ty::Pointer(of, _) = &pointer.ty else { return Err(Unclear) };
                let kind =
                    kind_of_reduction(of.plain(), operation(&choices).ok_or(Unclear)?).ok_or(Unclear)?;
                let (to, from) = (self.operand(&pointer, 64)?, self.in_shared(from)?);
                let bytes = self.number(bytes, 32)?;
                self.emit(&format!(
                    "cp.reduce.async.bulk.global.shared::cta.bulk_group.{kind} [{to}], [{from}], {bytes};"
                ));
            }
            ("cp_reduce_async_bulk_tensor", [map, at, from]) if choices.starts_with(&["space_global"]) => {
                let operation = operation(&choices).ok_or(Unclear)?;
                let map = self.number(map, 64)?;
                let (((dimensions, mode), at), from) = (self.coordinates(name, at)?, self.in_shared(from)?);
                self.emit(&format!(
                    "cp.reduce.async.bulk.tensor.{dimensions}d.global.shared::cta.{operation}.{mode}.bulk_group [{map}, {{{at}}}], [{from}];"
                ));
            }
            ("cp_async_bulk_tensor" | GATHER, [to, map, at, barrier]) if is_from_global => {
                let (to, map) = (self.in_shared(to)?, self.number(map, 64)?);
                let ((dimensions, mode), at) = self.coordinates(name, at)?;
                let barrier = self.in_shared(barrier)?;
                self.emit(&format!(
                    "cp.async.bulk.tensor.{dimensions}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes{pair} [{to}], [{map}, {{{at}}}], [{barrier}];"
                ));
            }
            ("cp_async_bulk_tensor" | SCATTER, [map, at, from]) if to_space == Some("space_global") => {
                let map = self.number(map, 64)?;
                let (((dimensions, mode), at), from) = (self.coordinates(name, at)?, self.in_shared(from)?);
                self.emit(&format!(
                    "cp.async.bulk.tensor.{dimensions}d.global.shared::cta.{mode}.bulk_group [{map}, {{{at}}}], [{from}];"
                ));
            }
            ("st_async", [to, value, barrier]) => {
                let (to, given) = (self.in_cluster(to)?, self.elements(value)?);
                let barrier = self.in_cluster(barrier)?;
                let ((bits, operands), vector) = (&given, vector_of(given.1.len())?);
                let operands = braced(operands);
                self.emit(&format!(
                    "st.async.shared::cluster.mbarrier::complete_tx::bytes.{vector}b{bits} [{to}], {operands}, [{barrier}];"
                ));
            }
            ("red_async", [to, value, barrier]) => {
                let value = self.value(value)?;
                let value = Self::decayed(value);
                let kind = kind_of_reduction(value.ty.plain(), operation(&choices).ok_or(Unclear)?);
                let (kind, bits) = (kind.ok_or(Unclear)?, value.ty.register().ok_or(Unclear)?);
                let value = self.operand(&value, bits)?;
                let (to, barrier) = (self.in_cluster(to)?, self.in_cluster(barrier)?);
                self.emit(&format!(
                    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{kind} [{to}], {value}, [{barrier}];"
                ));
            }
            ("cp_async_mbarrier_arrive", [object]) => {
                let object = self.in_shared(object)?;
                self.emit(&format!("cp.async.mbarrier.arrive.shared.b64 [{object}];"));
            }
            ("cp_async_mbarrier_arrive_noinc", [object]) => {
                let object = self.in_shared(object)?;
                self.emit(&format!("cp.async.mbarrier.arrive.noinc.shared.b64 [{object}];"));
            }
            ("setmaxnreg_inc" | "setmaxnreg_dec", [count]) => {
                let count = self.immediate(count)?;
                let way = name.trim_start_matches("setmaxnreg_");
                self.emit(&format!("setmaxnreg.{way}.sync.aligned.u32 {count};"));
            }
            ("fence_proxy_async_generic_sync_restrict" | "fence_sync_restrict", []) => {
                // What is released lies in the block, what is acquired anywhere in the cluster.
                let proxy = if name.contains("proxy") { "proxy.async::generic." } else { "" };
                self.emit(&match choices.contains(&"sem_acquire") {
                    true => format!("fence.{proxy}acquire.sync_restrict::shared::cluster.cluster;"),
                    false => format!("fence.{proxy}release.sync_restrict::shared::cta.cluster;"),
                });
            }
            ("fence", []) => {
                let part = |start: &str| choices.iter().find_map(|choice| choice.strip_prefix(start));
                let (Some(sem), Some(scope)) = (part("sem_"), part("scope_")) else { return Ok(None) };
                self.emit(&format!("fence.{sem}.{scope};"));
            }
            ("cp_async_bulk_commit_group", []) => self.emit("cp.async.bulk.commit_group;"),
            ("cp_async_bulk_wait_group" | "cp_async_bulk_wait_group_read", [count]) => {
                let count = self.immediate(count)?;
                self.emit(&match name.ends_with("read") {
                    true => format!("cp.async.bulk.wait_group.read {count};"),
                    false => format!("cp.async.bulk.wait_group {count};"),
                });
            }
            ("barrier_cluster_arrive", []) => self.emit(match choices.as_slice() {
                ["sem_relaxed"] => "barrier.cluster.arrive.relaxed;",
                _ => "barrier.cluster.arrive;",
            }),
            ("barrier_cluster_wait", []) => self.emit("barrier.cluster.wait;"),
            _ if let Some(register) = name.strip_prefix(OF_SPECIAL).filter(|_| rest.is_empty()) => {
                if let Some((_, is_wide)) = UNKNOWN_SPECIALS.iter().find(|(known, _)| *known == register) {
                    return Ok(Some(Value::unknown(if *is_wide { Ty::SIZE } else { Ty::UINT })));
                }
                let extents = ["_x", "_y", "_z"].iter().find(|extent| register.ends_with(*extent));
                let register = match extents {
                    Some(extent) => format!("{}.{}", register.trim_end_matches(extent), &extent[1..]),
                    None => register.to_owned(),
                };
                if !SPECIALS.contains(&register.split('.').next().unwrap_or_default()) {
                    return Ok(None);
                }
                let to = self.fresh(32)?;
                self.emit(&format!("mov.u32 {}, %{register};", to.name()));
                return Ok(Some(Value { ty: Ty::UINT, held: Held::Register(to) }));
            }
            _ if let Some(how) = name.strip_prefix(OF_LANES) => {
                return self.shuffled_with_limits(how, &rest).map(Some);
            }
            _ => {
                return match self.of_forms(name, &choices, &rest)? {
                    Some(value) => Ok(Some(value)),
                    None => self.of_tensor_memory(name, &choices, &rest),
                };
            }
        }
        nothing
    }

    /// What an argument chooses a form of an instruction by, as it stands there or was passed on.
    pub(super) fn form(&self, argument: &Expression<'s>) -> Option<String> {
        let ExpressionKind::Name(name, _) = argument.kind else { return None };
        match self.binding(name) {
            Some(Binding::Choice(choice)) => Some(choice.clone()),
            Some(_) => None,
            None => CHOICES.iter().any(|start| name.starts_with(start)).then(|| name.to_owned()),
        }
    }

    /// A number that the type of an argument tells: `n32_t<0>{}` or `n32_t<0>()`.
    pub(super) fn immediate(&mut self, argument: &Expression<'s>) -> Result<u64, Unclear> {
        let number = match &argument.kind {
            ExpressionKind::List(Some(TypeName::Named(_, number)), _) => number,
            ExpressionKind::Call(callee, given) if given.is_empty() => match &callee.kind {
                ExpressionKind::Name(_, number) => number,
                _ => return Err(Unclear),
            },
            _ => return Err(Unclear),
        };
        let [number] = number.as_slice() else { return Err(Unclear) };
        self.constant_argument(number)
    }

    /// The operand of a count that may be left out, with the comma before it.
    fn count(&mut self, count: &[&Expression<'s>]) -> Result<String, Unclear> {
        match count {
            [count] => Ok(format!(", {}", self.number(count, 32)?)),
            _ => Ok(String::new()),
        }
    }

    /// The bits of each element of an argument, which may be an array, and the operands.
    pub(super) fn elements(&mut self, argument: &Expression<'s>) -> Result<(u32, Vec<String>), Unclear> {
        let mark = self.mark();
        let values = match self.place(argument) {
            Ok(Place::Parts(parts, Ty::Array(..))) => {
                parts.iter().map(|part| self.read(part)).collect::<Result<Vec<Value>, _>>()?
            }
            _ => {
                self.back_to(mark);
                vec![self.value(argument)?]
            }
        };
        let bits = values.first().and_then(|value| value.ty.register()).ok_or(Unclear)?;
        let operands = values.iter().map(|value| self.operand(value, bits)).collect::<Result<_, _>>()?;
        Ok((bits, operands))
    }

    /// An operand with the blocks of a cluster that get a copy, as a mask.
    pub(super) fn blocks_of_mask(&mut self, blocks: &Expression<'s>) -> Result<String, Unclear> {
        let blocks = self.number(blocks, 32)?;
        let to = format!("%c_h{}", self.half()?);
        self.emit(&format!("cvt.u16.u32 {to}, {blocks};"));
        Ok(to)
    }

    /// How many dimensions a copy of tensors has, which rows it takes, and the operands of an array of coordinates.
    fn coordinates(
        &mut self,
        name: &str,
        at: &Expression<'s>,
    ) -> Result<((usize, &'static str), String), Unclear> {
        let Place::Parts(parts, Ty::Array(..)) = self.place(at)? else { return Err(Unclear) };
        let mut operands = Vec::new();
        for part in &parts {
            let value = self.read(part)?;
            operands.push(self.operand(&value, 32)?);
        }
        // Four rows of a matrix have a column, and a number each.
        let mode = match name {
            GATHER => (2, "tile::gather4"),
            SCATTER => (2, "tile::scatter4"),
            _ => (parts.len(), "tile"),
        };
        Ok((mode, operands.join(", ")))
    }

    /// An operand with a number of a given width, or with an address as a generic one.
    pub(super) fn number(&mut self, expression: &Expression<'s>, bits: u32) -> Result<String, Unclear> {
        let value = self.value(expression)?;
        let value = Self::decayed(value);
        self.operand(&value, bits)
    }

    /// An operand with an address in the shared memory of the block.
    pub(super) fn in_shared(&mut self, expression: &Expression<'s>) -> Result<String, Unclear> {
        let pointer = self.pointer(expression)?;
        self.shared_address(&pointer)
    }

    /// An operand with an address in the shared memory of the cluster.
    pub(super) fn in_cluster(&mut self, expression: &Expression<'s>) -> Result<String, Unclear> {
        let pointer = self.pointer(expression)?;
        if matches!(pointer.ty, Ty::Pointer(_, Space::Shared)) {
            return self.operand(&pointer, 64);
        }
        let generic = self.operand(&pointer, 64)?;
        let to = self.fresh(64)?;
        self.emit(&format!("cvta.to.shared::cluster.u64 {}, {generic};", to.name()));
        Ok(to.name())
    }
}

/// What says how many elements an instruction has, before their type.
fn vector_of(count: usize) -> Result<String, Unclear> {
    match count {
        1 => Ok(String::new()),
        2 | 4 => Ok(format!("v{count}.")),
        _ => Err(Unclear),
    }
}

/// One operand, or several in braces.
fn braced(operands: &[String]) -> String {
    match operands {
        [only] => only.clone(),
        all => format!("{{{}}}", all.join(", ")),
    }
}

/// The operation that a choice names.
pub(super) fn operation<'c>(choices: &[&'c str]) -> Option<&'c str> {
    choices.iter().find_map(|choice| choice.strip_prefix(OPERATION))
}

/// The words for what a reduction does with elements of a type.
pub(super) fn kind_of_reduction(of: &Ty, operation: &str) -> Option<String> {
    let sign = |signed: &bool| if *signed { 's' } else { 'u' };
    Some(match (of, operation) {
        (
            Ty::Integer { bits: bits @ (32 | 64), .. },
            "and" | "or" | "xor" | "and_op" | "or_op" | "xor_op",
        ) => {
            format!("{}.b{bits}", operation.trim_end_matches(OF_OPERATOR))
        }
        (Ty::Integer { bits: 32, .. }, "inc" | "dec") => format!("{operation}.u32"),
        // Of numbers with a sign it is the same sum.
        (Ty::Integer { bits: bits @ 64, .. }, "add") => format!("{operation}.u{bits}"),
        (Ty::Integer { bits: bits @ (32 | 64), signed, .. }, "add" | "min" | "max") => {
            format!("{operation}.{}{bits}", sign(signed))
        }
        (Ty::Float(bits @ (32 | 64), _), "add") => format!("add.f{bits}"),
        (Ty::Float(bits @ 16, FloatKind::Half | FloatKind::BFloat), "add") => {
            format!("{operation}.noftz.f{bits}")
        }
        (Ty::Float(16, FloatKind::Half | FloatKind::BFloat), "min" | "max") => format!("{operation}.f16"),
        _ => return None,
    })
}

/// What the names of operations end with that are words of C++.
const OF_OPERATOR: &str = "_op";
