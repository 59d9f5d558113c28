//! Functions of CUDA that are known: groups of threads, barriers, shuffles, atomic operations, and those that only compute.

use std::rc::Rc;

use ptx_syntax::cuda::body::{Expression, ExpressionKind, FloatKind, TemplateArgument};

use super::types::{Group, Space, Ty};
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    pub(super) fn special_register(&mut self, name: &str) -> Result<Value, Unclear> {
        let to = self.fresh(32)?;
        self.emit(&format!("mov.u32 {}, %{name};", to.name()));
        Ok(Value { ty: Ty::UINT, held: Held::Register(to) })
    }

    pub(super) fn of_cuda(
        &mut self,
        name: &'s str,
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        if let Some(value) = self.of_library(name, template, given)? {
            return Ok(value);
        }
        if let Some(value) = self.of_instructions(name, given)? {
            return Ok(value);
        }
        if let Some(value) = self.of_random(name, given)? {
            return Ok(value);
        }
        let nothing = Value::unknown(Ty::Void);
        // What need not be computed, for nobody asks what becomes of it.
        if matches!(
            name,
            "printf" | "assert" | "__nanosleep" | "__builtin_assume" | "__assume" | "__prof_trigger"
        ) {
            return Ok(nothing);
        }
        if let Some(value) = self.of_all_lanes(name, given)? {
            return Ok(value);
        }
        if let [of] = given
            && (name == "atomic_ref" || self.program.aliases.contains_key(name))
            && let Ok(ty @ Ty::Atomic(..)) = self.named_type(name, template)
        {
            self.referred = Some(self.as_atomic(of, &ty)?);
            return Ok(nothing);
        }
        if let Some(value) = self.of_free_atomics(name, given)? {
            return Ok(value);
        }
        // What they say of the cache tells nothing of the memory.
        match (name, given) {
            ("invoke", [of, given @ ..]) => return self.called(of, given),
            ("associate_access_property", [pointer, _]) => return self.value(pointer),
            ("apply_access_property", [pointer, bytes, _]) => {
                self.value(pointer)?;
                self.value(bytes)?;
                return Ok(nothing);
            }
            _ => {}
        }
        let mut values = Vec::new();
        for each in given {
            // Its type is that of the parameter.
            if let ExpressionKind::List(None, parts) = &each.kind {
                for part in parts {
                    self.value(part)?;
                }
                values.push(Value::unknown(Ty::Any));
                continue;
            }
            let value = self.value(each)?;
            values.push(Self::decayed(value));
        }
        if let Some(value) = self.of_lanes(name, &values)? {
            return Ok(value);
        }
        if let Some(value) = self.of_bits(name, &values)? {
            return Ok(value);
        }
        match name {
            "__syncthreads" => self.emit("bar.sync 0;"),
            "__syncthreads_or" | "__syncthreads_and" | "__syncthreads_count" => {
                return self.voted(name, values);
            }
            "__syncwarp" => match values.first().filter(|mask| !matches!(mask.held, Held::Unknown)) {
                Some(mask) => {
                    let mask = self.operand(mask, 32)?;
                    self.emit(&format!("bar.warp.sync {mask};"));
                }
                None => self.emit("bar.warp.sync 0xffffffff;"),
            },
            "__threadfence" => self.emit("membar.gl;"),
            "__threadfence_block" => self.emit("membar.cta;"),
            "__threadfence_system" => self.emit("membar.sys;"),
            "__trap" => self.emit("trap;"),
            "cudaGridDependencySynchronize" => self.emit("griddepcontrol.wait;"),
            "cudaTriggerProgrammaticLaunchCompletion" => self.emit("griddepcontrol.launch_dependents;"),
            "this_thread_block" => return Ok(Value::group(Group::Block)),
            "this_cluster" => return Ok(Value::group(Group::Cluster)),
            "this_grid" => return Ok(Value::group(Group::Grid)),
            "tiled_partition" => {
                let threads = match (template, values.as_slice()) {
                    ([threads, ..], _) => self.constant_argument(threads)?,
                    ([], [_, threads]) => threads.number().ok_or(Unclear)?,
                    _ => return Err(Unclear),
                };
                return match threads {
                    32 => Ok(Value::group(Group::Warp)),
                    1 | 2 | 4 | 8 | 16 => Ok(Value::group(Group::Part(threads as u32))),
                    _ => Err(Unclear),
                };
            }
            "labeled_partition" | "binary_partition" => {
                let [group, by] = values.as_slice() else { return Err(Unclear) };
                return self.parted(name, group, by);
            }
            "coalesced_threads" => {
                let mask = self.fresh(32)?;
                self.emit(&format!("activemask.b32 {};", mask.name()));
                return Ok(Value::group(Group::Coalesced(mask.number)));
            }
            // What is said of a value is not looked at.
            "__builtin_expect" | "__builtin_assume_aligned" => {
                return values.into_iter().next().ok_or(Unclear);
            }
            // Control does not come there.
            "__builtin_unreachable" | "unreachable" => {}
            "get" if let ([index], [of]) = (template, values.as_slice()) => {
                let Ty::Structure(members) = &of.ty else { return Err(Unclear) };
                let index = usize::try_from(self.constant_argument(index)?).or(Err(Unclear))?;
                let (name, ..) = members.all.get(index).ok_or(Unclear)?;
                let Held::Place(place) = &of.held else { return Err(Unclear) };
                let part = self.member((**place).clone(), name)?;
                return self.read(&part);
            }
            "__cluster_barrier_arrive" => self.emit("barrier.cluster.arrive;"),
            "__cluster_barrier_arrive_relaxed" => self.emit("barrier.cluster.arrive.relaxed;"),
            "__clusterRelativeBlockRank" => return self.special_register("cluster_ctarank"),
            "__clusterSizeInBlocks" => return self.special_register("cluster_nctarank"),
            "__clusterRelativeBlockIdx" => return self.extents_of("cluster_ctaid"),
            "__clusterDim" => return self.extents_of("cluster_nctaid"),
            "__clusterIdx" => return self.extents_of("clusterid"),
            "__clusterGridDimInClusters" => return self.extents_of("nclusterid"),
            "__clusterDimIsSpecified" => return Ok(Value::unknown(Ty::BOOL)),
            "__cluster_query_shared_rank" => return Ok(Value::unknown(Ty::UINT)),
            "__cluster_map_shared_rank" if given.len() == 2 => {
                return self.of_group(Group::Cluster, "map_shared_rank", given);
            }
            _ if let Some(space) =
                SPACES.iter().find_map(|(asks, space)| (*asks == name).then_some(*space)) =>
            {
                let [pointer] = values.as_slice() else { return Err(Unclear) };
                return self.is_in_space(pointer, space);
            }
            "__cluster_barrier_wait" => self.emit("barrier.cluster.wait;"),
            "__cvta_generic_to_shared" => return self.address_in_shared(values),
            "__cvta_generic_to_global"
            | "__cvta_generic_to_grid_constant"
            | "__cvta_generic_to_constant"
            | "__cvta_generic_to_local" => {
                let [pointer] = values.as_slice() else { return Err(Unclear) };
                return Ok(Value { ty: Ty::SIZE, held: pointer.held.clone() });
            }
            "min" | "max" | "umin" | "umax" | "llmin" | "llmax" | "ullmin" | "ullmax" => {
                let mut values = values.into_iter();
                let (Some(a), Some(b)) = (values.next(), values.next()) else { return Err(Unclear) };
                return self.computed(&name[name.len() - 3..], a, b);
            }
            "__ldg" | "__ldcg" | "__ldca" | "__ldcs" | "__ldlu" | "__ldcv" => {
                let [pointer] = values.as_slice() else { return Err(Unclear) };
                let Ty::Pointer(of, Space::Generic | Space::Global) = &pointer.ty else {
                    return Err(Unclear);
                };
                if !matches!(pointer.held, Held::Register(_)) {
                    return Ok(Value::unknown((**of).clone()));
                }
                // What is read so lies in global memory.
                let words = match name {
                    "__ldg" => ".global.nc".to_owned(),
                    _ => format!(".global.{}", &name[4..]),
                };
                return self.load_as(pointer, of, &words);
            }
            "__stcg" | "__stcs" | "__stwb" | "__stwt" => {
                let mut values = values.into_iter();
                let (Some(pointer), Some(value), None) = (values.next(), values.next(), values.next()) else {
                    return Err(Unclear);
                };
                let Ty::Pointer(of, Space::Generic | Space::Global) = &pointer.ty else {
                    return Err(Unclear);
                };
                let ty = (**of).clone();
                // Of some variables in global memory nobody has the address.
                if matches!(pointer.held, Held::Register(_)) {
                    self.write(&Place::Memory { address: pointer, ty }, value)?;
                }
            }
            _ if name.starts_with("atomic") => return self.atomic(name, values),
            "move" | "forward" => {
                let [value] = values.as_slice() else { return Err(Unclear) };
                return Ok(value.clone());
            }
            // What a surface holds is not followed.
            _ if name.starts_with("surf") => {
                for value in &values {
                    if let (Ty::Pointer(..), Held::Place(place)) = (&value.ty, &value.held) {
                        self.forget(place)?;
                    }
                }
                return Ok(Value::unknown(Ty::Any));
            }
            _ if is_pure(name) => {
                // Where a pointer says, a number is left.
                for value in values.iter().filter(|value| !matches!(value.held, Held::Place(_))) {
                    self.used(value.clone())?;
                }
                // It sees nothing but its arguments.
                // Fractions that it leaves somewhere are not followed.
                let plain = name.trim_start_matches('_');
                let leaves = LEAVES.iter().any(|start| plain.starts_with(start));
                let mut is_safe = true;
                for value in &values {
                    is_safe &= match (&value.ty, &value.held) {
                        (Ty::Pointer(to, _), _) if matches!(**to, Ty::Float(..)) => leaves,
                        (Ty::Pointer(..), Held::Place(place)) if leaves => self.forget(place).is_ok(),
                        (Ty::Pointer(..) | Ty::Group(_), _) => false,
                        _ => true,
                    };
                }
                return if is_safe { Ok(Value::unknown(type_of_result(plain))) } else { Err(Unclear) };
            }
            _ => return Err(Unclear),
        }
        Ok(nothing)
    }

    /// The three numbers of a register with extents.
    fn extents_of(&mut self, register: &str) -> Result<Value, Unclear> {
        let mut parts = Vec::new();
        for extent in ["x", "y", "z"] {
            let part = self.special_register(&format!("{register}.{extent}"))?;
            parts.push(self.kept(part, false)?);
        }
        let ty = Ty::Vector(Rc::new(Ty::UINT), 3);
        Ok(Value { ty: ty.clone(), held: Held::Place(Rc::new(Place::Parts(parts, ty))) })
    }

    /// Whether an address lies in a state space.
    fn is_in_space(&mut self, pointer: &Value, space: &str) -> Result<Value, Unclear> {
        let Ty::Pointer(_, known) = &pointer.ty else { return Err(Unclear) };
        if *known == Space::Shared {
            return Ok(Value::constant(u64::from(space.starts_with("shared")), Ty::BOOL));
        }
        if !matches!(pointer.held, Held::Register(_)) || space.is_empty() {
            return Ok(Value::unknown(Ty::BOOL));
        }
        let address = self.operand(pointer, 64)?;
        let (holds, to) = (self.predicate()?, self.fresh(32)?);
        self.emit(&format!("isspacep.{space} %c_p{holds}, {address};"));
        self.emit(&format!("selp.b32 {}, 1, 0, %c_p{holds};", to.name()));
        self.truths.insert(to.number, holds);
        Ok(Value { ty: Ty::BOOL, held: Held::Register(to) })
    }

    fn address_in_shared(&mut self, values: Vec<Value>) -> Result<Value, Unclear> {
        let mut values = values.into_iter();
        let (Some(pointer), None) = (values.next(), values.next()) else { return Err(Unclear) };
        match &pointer.ty {
            Ty::Pointer(_, Space::Shared) => {
                let name = self.operand(&pointer, 64)?;
                let to = self.fresh(64)?;
                self.emit(&format!("mov.b64 {}, {name};", to.name()));
                Ok(Value { ty: Ty::SIZE, held: Held::Register(to) })
            }
            Ty::Pointer(..) => {
                let name = self.operand(&pointer, 64)?;
                let to = self.fresh(64)?;
                self.emit(&format!("cvta.to.shared.u64 {}, {name};", to.name()));
                Ok(Value { ty: Ty::SIZE, held: Held::Register(to) })
            }
            _ => Err(Unclear),
        }
    }
}

/// What asks in which state space an address lies.
const SPACES: [(&str, &str); 6] = [
    ("__isShared", "shared"),
    ("__isClusterShared", "shared::cluster"),
    ("__isGlobal", "global"),
    ("__isConstant", "const"),
    ("__isLocal", "local"),
    ("__isGridConstant", ""),
];

/// What the names of functions begin with that leave a number where a pointer says.
const LEAVES: [&str; 4] = ["sincos", "modf", "frexp", "remquo"];

/// The type of what a conversion of CUDA gives, as far as its name says it; `plain` is the name without what it begins with.
fn type_of_result(plain: &str) -> Ty {
    let Some((_, to)) = plain.split_once('2').filter(|(from, _)| !from.is_empty()) else { return Ty::Any };
    let to = to.trim_start_matches('2');
    let to = to.split_once('_').map_or(to, |(to, _)| to);
    match to {
        "half" => Ty::Float(16, FloatKind::Half),
        "half2" => Ty::Float(32, FloatKind::Half),
        "bfloat16" => Ty::Float(16, FloatKind::BFloat),
        "bfloat162" => Ty::Float(32, FloatKind::BFloat),
        "float" => Ty::FLOAT,
        _ => Ty::Any,
    }
}

/// Functions of CUDA that compute something of their arguments and do nothing else: those of warps are none that others
/// wait for.
fn is_pure(name: &str) -> bool {
    let of_warp = ["__shfl", "__ballot", "__any", "__all", "__match", "__reduce", "__activemask", "__vote"];
    let intrinsic = name.starts_with("__") && !name.contains("sync") && !name.contains("cluster");
    let plain = if name == "isinf" { name } else { name.strip_suffix('f').unwrap_or(name) };
    // Those of numbers of 16 bits, one or two of them.
    let of_half = name.strip_prefix("h2").or_else(|| name.strip_prefix('h')).unwrap_or_default();
    let of_half = matches!(
        of_half,
        "exp"
            | "exp2"
            | "exp10"
            | "log"
            | "log2"
            | "log10"
            | "sqrt"
            | "rsqrt"
            | "rcp"
            | "sin"
            | "cos"
            | "tanh"
            | "ceil"
            | "floor"
            | "rint"
            | "trunc"
    );
    let of_texture = ["tex1D", "tex2D", "tex3D", "texCubemap"].iter().any(|read| name.starts_with(read));
    intrinsic
        || of_half
        || of_texture
        || of_warp.iter().any(|prefix| name.starts_with(prefix))
        || matches!(
            plain,
            "exp"
                | "frexp"
                | "remquo"
                | "exp2"
                | "exp10"
                | "expm1"
                | "log"
                | "log2"
                | "log10"
                | "log1p"
                | "sqrt"
                | "rsqrt"
                | "cbrt"
                | "acosh"
                | "asinh"
                | "atanh"
                | "atan2pi"
                | "cospi"
                | "sinpi"
                | "tanpi"
                | "sincospi"
                | "rcbrt"
                | "rhypot"
                | "remainder"
                | "ldexp"
                | "scalbn"
                | "logb"
                | "ilogb"
                | "erfinv"
                | "modf"
                | "erfcinv"
                | "erfcx"
                | "lgamma"
                | "tgamma"
                | "normcdfinv"
                | "norm3d"
                | "rnorm3d"
                | "norm4d"
                | "rnorm4d"
                | "j0"
                | "j1"
                | "y0"
                | "y1"
                | "cyl_bessel_i0"
                | "cyl_bessel_i1"
                | "nextafter"
                | "llrint"
                | "llround"
                | "fdivide"
                | "saturate"
                | "sin"
                | "cos"
                | "tan"
                | "sincos"
                | "asin"
                | "acos"
                | "atan"
                | "atan2"
                | "sinh"
                | "cosh"
                | "tanh"
                | "fabs"
                | "fma"
                | "fmax"
                | "fmin"
                | "fmod"
                | "fdim"
                | "floor"
                | "ceil"
                | "round"
                | "rint"
                | "trunc"
                | "nearbyint"
                | "lrint"
                | "lround"
                | "pow"
                | "hypot"
                | "copysign"
                | "abs"
                | "erf"
                | "erfc"
                | "isnan"
                | "isinf"
                | "isfinite"
                | "signbit"
                | "clock"
                | "clock64"
                | "normcdf"
        )
        || name.starts_with("make_")
        || matches!(name, "fma" | "half2float" | "float2half" | "min" | "max")
}
