//! Cooperative groups: who the threads are, and how they wait for each other. CUDA C++ Programming Guide, section
//! "Cooperative Groups".

use std::rc::Rc;

use memchr::memmem;
use ptx_syntax::cuda::body::{Expression, ExpressionKind, TemplateArgument};

use super::types::{Group, Space, Ty};
use super::value::{Held, Place, Register, Value};
use super::{Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    pub(super) fn of_group(
        &mut self,
        group: Group,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        let nothing = Value::unknown(Ty::Void);
        match (group, name) {
            (Group::Pipeline(number), _) => return self.of_pipeline(number, name, given),
            (Group::Block, "sync") => self.emit("barrier.sync 0;"),
            // They meet where they wait: what lies between is taken to come before.
            (Group::Block | Group::Grid, "barrier_arrive") => {
                return Ok(Value::unknown(Ty::Any));
            }
            (Group::Block | Group::Grid, "barrier_wait") => return self.of_group(group, "sync", &[]),
            (Group::Grid, "cluster_rank") => return self.rank_of("clusterid", "nclusterid"),
            (Group::Grid, "num_clusters") => return self.product_of("nclusterid"),
            // The blocks wait for each other, and see then what all have written.
            (Group::Grid, "sync") => {
                self.emit("barrier.sync 0;");
                self.emit("fence.acq_rel.gpu;");
                self.emit("barrier.sync 0;");
            }
            (Group::Grid, "is_valid") => return Ok(Value::constant(1, Ty::BOOL)),
            (Group::Grid, "block_rank") => return self.rank_of("ctaid", "nctaid"),
            (Group::Grid, "num_blocks") => return self.product_of("nctaid"),
            (Group::Grid | Group::Cluster, "thread_rank") => {
                let rank = self.of_group(group, "block_rank", &[])?;
                let threads = self.size_of_block()?;
                let first = self.computed("*", rank, threads)?;
                let own = self.thread_rank()?;
                return self.computed("+", first, own);
            }
            (Group::Grid | Group::Cluster, "size" | "num_threads") => {
                let blocks = self.of_group(group, "num_blocks", &[])?;
                let threads = self.size_of_block()?;
                return self.computed("*", blocks, threads);
            }
            (
                Group::Block | Group::Cluster | Group::Grid,
                "thread_index" | "group_index" | "group_dim" | "dim_threads" | "block_index" | "dim_blocks"
                | "cluster_index" | "dim_clusters",
            ) => return Ok(Value::unknown(Ty::Vector(Rc::new(Ty::UINT), 3))),
            (Group::Cluster, "query_shared_rank") => {
                for each in given {
                    self.value(each)?;
                }
                return Ok(Value::unknown(Ty::UINT));
            }
            (Group::Coalesced(_), "shfl") if let [value, lane] = given => {
                let (value, lane) = (self.value(value)?, self.value(lane)?);
                // Which lane has a number in the group is not computed for others than the first.
                if lane.number() != Some(0) {
                    return Ok(Value::unknown(value.ty));
                }
                let mask = self.mask_of(group)?;
                let first = self.of_bits("__ffs", std::slice::from_ref(&mask))?.ok_or(Unclear)?;
                let first = self.computed("-", first, Value::constant(1, Ty::INT))?;
                return self.shuffled(name, &mask, value, (&first, 32));
            }
            (Group::Warp | Group::Part(_), "shfl" | "shfl_down" | "shfl_up" | "shfl_xor")
                if let [value, by] = given =>
            {
                let (value, by) = (self.value(value)?, self.value(by)?);
                let threads = if let Group::Part(threads) = group { threads } else { 32 };
                let mask = self.mask_of(group)?;
                return self.shuffled(name, &mask, value, (&by, u64::from(threads)));
            }
            (Group::Warp | Group::Part(_) | Group::Coalesced(_), "any" | "all") if let [given] = given => {
                let given = self.value(given)?;
                let mask = self.mask_of(group)?;
                return self.vote(name, &mask, given);
            }
            (Group::Warp, "ballot") if let [given] = given => {
                let given = self.value(given)?;
                let mask = self.mask_of(group)?;
                return self.vote(name, &mask, given);
            }
            (
                Group::Warp | Group::Part(_) | Group::Coalesced(_),
                "shfl_down" | "shfl_up" | "shfl_xor" | "any" | "all" | "ballot" | "match_any" | "match_all",
            ) => {
                let mut ty = Ty::UINT;
                for (index, each) in given.iter().enumerate() {
                    let value = self.value(each)?;
                    if index == 0 && name.starts_with("shfl") {
                        ty = value.ty;
                    }
                }
                return Ok(Value::unknown(ty));
            }
            (Group::Coalesced(_), "meta_group_rank" | "meta_group_size") => {
                return Ok(Value::unknown(Ty::UINT));
            }
            (Group::Warp | Group::Part(_), "meta_group_rank") => {
                let threads = if let Group::Part(threads) = group { threads } else { 32 };
                let rank = self.thread_rank()?;
                return self.computed("/", rank, Value::constant(u64::from(threads), Ty::UINT));
            }
            (Group::Warp | Group::Part(_), "meta_group_size") => {
                let threads = if let Group::Part(threads) = group { threads } else { 32 };
                let all = self.size_of_block()?;
                return self.computed("/", all, Value::constant(u64::from(threads), Ty::UINT));
            }
            (Group::Part(_) | Group::Coalesced(_), "sync") => self.emit("bar.warp.sync 0xffffffff;"),
            (Group::Part(threads), "thread_rank") => {
                let lane = self.special_register("laneid")?;
                return self.computed("%", lane, Value::constant(u64::from(threads), Ty::UINT));
            }
            (Group::Part(threads), "size" | "num_threads") => {
                return Ok(Value::constant(u64::from(threads), Ty::UINT));
            }
            (Group::Coalesced(_), "thread_rank" | "size" | "num_threads") => {
                let mut mask = self.mask_of(group)?;
                if name == "thread_rank" {
                    let before = self.special_register("lanemask_lt")?;
                    mask = self.computed("&", mask, before)?;
                }
                let count = self.of_bits("__popc", &[mask])?.ok_or(Unclear)?;
                return self.converted(count, &Ty::UINT);
            }
            (Group::Warp, "sync") => self.emit("bar.warp.sync 0xffffffff;"),
            (Group::Cluster, "sync") => {
                self.emit("barrier.cluster.arrive;");
                self.emit("barrier.cluster.wait;");
            }
            (Group::Cluster, "barrier_arrive") => self.emit("barrier.cluster.arrive;"),
            (Group::Cluster, "barrier_wait") => self.emit("barrier.cluster.wait;"),
            (Group::Cluster, "block_rank") => return self.special_register("cluster_ctarank"),
            (Group::Cluster, "num_blocks") => return self.special_register("cluster_nctarank"),
            (Group::Cluster, "map_shared_rank") => {
                let [pointer, rank] = given else { return Err(Unclear) };
                let pointer = self.value(pointer)?;
                let pointer = Self::decayed(pointer);
                // One that an object keeps is a generic address.
                let Ty::Pointer(of, Space::Shared | Space::Generic) = &pointer.ty else {
                    return Err(Unclear);
                };
                let ty = Ty::Pointer(Rc::clone(of), Space::Generic);
                let generic = self.generic(pointer)?;
                let rank = self.value(rank)?;
                let (from, rank) = (self.operand(&generic, 64)?, self.operand(&rank, 32)?);
                let to = self.fresh(64)?;
                self.emit(&format!("mapa.u64 {}, {from}, {rank};", to.name()));
                return Ok(Value { ty, held: Held::Register(to) });
            }
            (Group::Block, "thread_rank") => return self.thread_rank(),
            (Group::Block, "size" | "num_threads") => return self.size_of_block(),
            (Group::Warp, "thread_rank") => return self.special_register("laneid"),
            (Group::Warp, "size" | "num_threads") => return Ok(Value::constant(32, Ty::UINT)),
            _ => return Err(Unclear),
        }
        Ok(nothing)
    }

    /// The group that an object of a type stands for, where the type alone tells.
    pub(super) fn group_type(
        &mut self,
        name: &str,
        given: &[TemplateArgument<'s>],
    ) -> Result<Group, Unclear> {
        Ok(match name {
            "thread_block" => Group::Block,
            "cluster_group" => Group::Cluster,
            "grid_group" => Group::Grid,
            "thread_block_tile" => match self.constant_argument(given.first().ok_or(Unclear)?)? {
                32 => Group::Warp,
                threads @ (1 | 2 | 4 | 8 | 16) => Group::Part(threads as u32),
                _ => return Err(Unclear),
            },
            _ => return Err(Unclear),
        })
    }

    /// `labeled_partition` and `binary_partition`: the lanes of a group for which a value is the same.
    pub(super) fn parted(&mut self, name: &str, of: &Value, by: &Value) -> Result<Value, Unclear> {
        let Ty::Group(group @ (Group::Warp | Group::Part(_) | Group::Coalesced(_))) = of.ty else {
            return Err(Unclear);
        };
        let mask = self.mask_of(group)?;
        let by = if name == "binary_partition" { self.truth(by.clone())? } else { by.clone() };
        let (mask, by) = (self.operand(&mask, 32)?, self.operand(&by, 32)?);
        let to = self.fresh(32)?;
        self.emit(&format!("match.any.sync.b32 {}, {by}, {mask};", to.name()));
        Ok(Value::group(Group::Coalesced(to.number)))
    }

    /// The group of a type that qualifies the name of a function: `cg::thread_block::sync()`.
    pub(super) fn group_before(&self, callee: &Expression<'s>) -> Option<Group> {
        if !self.is_qualified(callee.span) {
            return None;
        }
        let after = self.aim.source.get(callee.span.start as usize..)?;
        let mut names = after.get(..after.find('(')?)?.rsplit("::").map(str::trim);
        match names.nth(1)? {
            "thread_block" => Some(Group::Block),
            "cluster_group" => Some(Group::Cluster),
            "grid_group" => Some(Group::Grid),
            _ => None,
        }
    }

    /// The lanes of a group.
    fn mask_of(&mut self, group: Group) -> Result<Value, Unclear> {
        Ok(match group {
            Group::Coalesced(number) => {
                Value { ty: Ty::UINT, held: Held::Register(Register { number, bits: 32 }) }
            }
            Group::Part(threads @ 1..=16) => {
                let lane = self.special_register("laneid")?;
                let first = Value::constant(u64::from(!(threads - 1)), Ty::UINT);
                let first = self.computed("&", lane, first)?;
                let all = Value::constant((1 << threads) - 1, Ty::UINT);
                self.computed("<<", all, first)?
            }
            _ => Value::constant(u64::from(u32::MAX), Ty::UINT),
        })
    }

    /// The number of the thread in its block, x first.
    pub(super) fn thread_rank(&mut self) -> Result<Value, Unclear> {
        if self.has_rows() { self.rank_of("tid", "ntid") } else { self.special_register("tid.x") }
    }

    /// Whether the source asks for more than one extent of a block. Where none does, blocks are launched as one row, and who counts
    /// its threads may say how long that is.
    pub(super) fn has_rows(&self) -> bool {
        const ASKS: [&str; 6] =
            ["threadIdx.y", "threadIdx.z", "blockDim.y", "blockDim.z", "thread_index", "dim_threads"];
        let own = self.aim.source.get(self.aim.base as usize..).unwrap_or_default();
        ASKS.iter().any(|asks| memmem::find(own.as_bytes(), asks.as_bytes()).is_some())
    }

    /// A place among all in three extents, x first.
    fn rank_of(&mut self, own: &str, all: &str) -> Result<Value, Unclear> {
        let mut rank = self.special_register(&format!("{own}.z"))?;
        for extent in ["y", "x"] {
            let count = self.special_register(&format!("{all}.{extent}"))?;
            let own = self.special_register(&format!("{own}.{extent}"))?;
            let above = self.computed("*", rank, count)?;
            rank = self.computed("+", above, own)?;
        }
        Ok(rank)
    }

    fn product_of(&mut self, all: &str) -> Result<Value, Unclear> {
        let mut product = self.special_register(&format!("{all}.x"))?;
        if all == "ntid" && !self.has_rows() {
            return Ok(product);
        }
        for extent in ["y", "z"] {
            let count = self.special_register(&format!("{all}.{extent}"))?;
            product = self.computed("*", product, count)?;
        }
        Ok(product)
    }

    /// What the lanes of a warp compute together: none of them waits for what others do in memory.
    pub(super) fn of_all_lanes(
        &mut self,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Option<Value>, Unclear> {
        let (group, value) = match (name, given) {
            ("reduce" | "inclusive_scan" | "exclusive_scan", [group, value] | [group, value, _]) => {
                (group, value)
            }
            // What of an atomic object the lanes of a group change together.
            (
                "reduce_update_async" | "inclusive_scan_update" | "exclusive_scan_update",
                [group, object, value] | [group, object, value, _],
            ) => {
                let group = self.value(group)?;
                let value = self.value(value)?;
                let is_known =
                    matches!(group.ty, Ty::Group(Group::Warp | Group::Part(_) | Group::Coalesced(_)));
                let place = self.place(object)?;
                if !is_known || !matches!(place.ty(), Ty::Atomic(..)) {
                    return Err(Unclear);
                }
                self.changed_somehow(&place, Value::unknown(value.ty.clone()))?;
                return Ok(Some(Value::unknown(value.ty)));
            }
            // The first lane stores what all have.
            ("reduce_store_async", [group, to, value] | [group, to, value, _]) => {
                let Ty::Group(group) = self.value(group)?.ty else { return Err(Unclear) };
                self.value(value)?;
                let pointer = self.pointer(to)?;
                let place = self.pointed(pointer)?;
                let rank = self.of_group(group, "thread_rank", &[])?;
                let rank = self.operand(&rank, 32)?;
                let (condition, after) = (self.predicate()?, self.label());
                self.emit(&format!("setp.ne.u32 %c_p{condition}, {rank}, 0;"));
                self.emit(&format!("@%c_p{condition} bra {after};"));
                self.write(&place, Value::unknown(place.ty().plain().clone()))?;
                self.place_label(&after);
                return Ok(Some(Value::unknown(Ty::Void)));
            }
            ("sync", [group]) => {
                let Ty::Group(group) = self.value(group)?.ty else { return Err(Unclear) };
                return self.of_group(group, "sync", &[]).map(Some);
            }
            _ => return Ok(None),
        };
        let group = self.value(group)?;
        let is_known = matches!(group.ty, Ty::Group(Group::Warp | Group::Part(_) | Group::Coalesced(_)));
        let value = self.value(value)?;
        let is_number = matches!(value.ty, Ty::Integer { .. } | Ty::Float(..) | Ty::Vector(..) | Ty::Any);
        if is_known && is_number { Ok(Some(Value::unknown(value.ty))) } else { Err(Unclear) }
    }

    /// `threadIdx.x` and its kin.
    pub(super) fn special(&mut self, object: &Expression<'s>, name: &str) -> Option<Result<Value, Unclear>> {
        let register = match &object.kind {
            ExpressionKind::Name(name, _) => extents_called(name)?,
            ExpressionKind::Call(callee, given) if given.is_empty() => self.extents_of_group(callee)?,
            _ => return None,
        };
        if !matches!(name, "x" | "y" | "z") {
            return Some(Err(Unclear));
        }
        Some(self.fresh(32).map(|to| {
            self.emit(&format!("mov.u32 {}, %{register}.{name};", to.name()));
            Value { ty: Ty::UINT, held: Held::Register(to) }
        }))
    }

    /// The same as a whole: `const uint3 at = threadIdx;`
    pub(super) fn special_extents(&mut self, name: &str) -> Option<Result<Place, Unclear>> {
        let register = extents_called(name)?;
        let part = |each| {
            let to = self.special_register(&format!("{register}.{each}"))?;
            Ok(Place::Fixed(to))
        };
        let parts = ["x", "y", "z"].into_iter().map(part).collect::<Result<Vec<_>, _>>();
        Some(parts.map(|parts| Place::Parts(parts, Ty::Vector(Rc::new(Ty::UINT), 3))))
    }

    /// The registers that `block.thread_index()` and its kin tell of.
    fn extents_of_group(&mut self, callee: &Expression<'s>) -> Option<&'static str> {
        let ExpressionKind::Member { object, name, arrow: false, .. } = &callee.kind else { return None };
        if !matches!(
            *name,
            "thread_index"
                | "group_index"
                | "group_dim"
                | "dim_threads"
                | "block_index"
                | "dim_blocks"
                | "cluster_index"
                | "dim_clusters"
        ) {
            return None;
        }
        let mark = self.mark();
        let group = self.value(object).map(|group| group.ty);
        self.back_to(mark);
        let Ok(Ty::Group(group)) = group else { return None };
        Some(match (group, *name) {
            (Group::Block, "thread_index") => "tid",
            (Group::Block, "group_index") | (Group::Grid, "block_index") => "ctaid",
            (Group::Block, "group_dim" | "dim_threads") => "ntid",
            (Group::Grid, "group_dim" | "dim_blocks") => "nctaid",
            (Group::Grid, "cluster_index") => "clusterid",
            (Group::Grid, "dim_clusters") => "nclusterid",
            (Group::Cluster, "block_index") => "cluster_ctaid",
            (Group::Cluster, "dim_blocks") => "cluster_nctaid",
            _ => return None,
        })
    }
}

/// The register that a variable of CUDA tells of.
fn extents_called(name: &str) -> Option<&'static str> {
    Some(match name {
        "threadIdx" => "tid",
        "blockDim" => "ntid",
        "blockIdx" => "ctaid",
        "gridDim" => "nctaid",
        _ => return None,
    })
}
