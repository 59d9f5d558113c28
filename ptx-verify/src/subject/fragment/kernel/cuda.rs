//! Functions of CUDA that are known: groups of threads, barriers, shuffles, atomic operations, and those that only compute.

use ptx_syntax::cuda::body::{Expression, ExpressionKind, TemplateArgument, TypeName};

use super::types::{Group, Space, Ty};
use super::value::{Held, Place, Value};
use super::{ANYTHING, Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    pub(super) fn special_register(&mut self, name: &str) -> Result<Value, Unclear> {
        let to = self.fresh(32)?;
        self.emit(&format!("mov.u32 {}, %{name};", to.name()));
        Ok(Value { ty: Ty::UINT, held: Held::Register(to) })
    }

    pub(super) fn of_cuda(
        &mut self,
        name: &str,
        template: &[TemplateArgument<'s>],
        given: &[Expression<'s>],
    ) -> Result<Value, Unclear> {
        if let Some(value) = self.of_library(name, template, given)? {
            return Ok(value);
        }
        if let Some(value) = self.of_instructions(name, given)? {
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
        if name == "atomic_ref"
            && let [of] = given
        {
            let ty = self.ty(&TypeName::Named("atomic_ref", template.to_vec()))?;
            self.referred = Some(self.as_atomic(of, &ty)?);
            return Ok(nothing);
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
        match name {
            "__syncthreads" => self.emit("bar.sync 0;"),
            "__syncthreads_or" | "__syncthreads_and" => return self.voted(name, values),
            "__syncthreads_count" => {
                self.emit("bar.sync 0;");
                return Ok(Value::unknown(Ty::INT));
            }
            "__syncwarp" => self.emit("bar.warp.sync 0xffffffff;"),
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
                    ([TemplateArgument::Value(threads), ..], _) => self.constant(threads)?,
                    ([], [_, threads]) => threads.number().ok_or(Unclear)?,
                    _ => return Err(Unclear),
                };
                return match threads {
                    32 => Ok(Value::group(Group::Warp)),
                    1 | 2 | 4 | 8 | 16 => Ok(Value::group(Group::Part(threads as u32))),
                    _ => Err(Unclear),
                };
            }
            "coalesced_threads" => return Ok(Value::group(Group::Coalesced)),
            // What is said of a value is not looked at.
            "__builtin_expect" | "__builtin_assume_aligned" => {
                return values.into_iter().next().ok_or(Unclear);
            }
            // Control does not come there.
            "__builtin_unreachable" | "unreachable" => {}
            "get" if let ([TemplateArgument::Value(index)], [of]) = (template, values.as_slice()) => {
                let Ty::Structure(members) = &of.ty else { return Err(Unclear) };
                let index = usize::try_from(self.constant(index)?).or(Err(Unclear))?;
                let (name, ..) = members.all.get(index).ok_or(Unclear)?;
                let Held::Place(place) = &of.held else { return Err(Unclear) };
                let part = self.member((**place).clone(), name)?;
                return self.read(&part);
            }
            "__cluster_barrier_arrive" => self.emit("barrier.cluster.arrive;"),
            "__cluster_barrier_wait" => self.emit("barrier.cluster.wait;"),
            "__cvta_generic_to_shared" => return self.address_in_shared(values),
            "__cvta_generic_to_global" | "__cvta_generic_to_grid_constant" => {
                let [pointer] = values.as_slice() else { return Err(Unclear) };
                return Ok(Value { ty: Ty::SIZE, held: pointer.held.clone() });
            }
            "__shfl_sync" if values.len() >= 3 => return self.shuffled(&values),
            "min" | "max" | "umin" | "umax" => {
                let mut values = values.into_iter();
                let (Some(a), Some(b)) = (values.next(), values.next()) else { return Err(Unclear) };
                return self.computed(name.trim_start_matches('u'), a, b);
            }
            "__ldg" | "__ldcg" | "__ldca" | "__ldcs" | "__ldlu" | "__ldcv" => {
                let [pointer] = values.as_slice() else { return Err(Unclear) };
                let Ty::Pointer(of, Space::Generic) = &pointer.ty else { return Err(Unclear) };
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
                let Ty::Pointer(of, Space::Generic) = &pointer.ty else { return Err(Unclear) };
                let ty = (**of).clone();
                // Of a variable in global memory nobody has the address.
                if matches!(pointer.held, Held::Register(_)) {
                    self.write(&Place::Memory { address: pointer, ty }, value)?;
                }
            }
            _ if name.starts_with("atomic") => return self.atomic(name, &values),
            "move" | "forward" => {
                let [value] = values.as_slice() else { return Err(Unclear) };
                return Ok(value.clone());
            }
            _ if is_pure(name) => {
                // It sees nothing but its arguments.
                let is_safe = |value: &Value| !matches!(value.ty, Ty::Pointer(..) | Ty::Group(_));
                return if values.iter().all(is_safe) { Ok(Value::unknown(Ty::Any)) } else { Err(Unclear) };
            }
            _ => return Err(Unclear),
        }
        Ok(nothing)
    }

    /// What a block that meets finds of a number of each thread.
    fn voted(&mut self, name: &str, values: Vec<Value>) -> Result<Value, Unclear> {
        let mut values = values.into_iter();
        let (Some(given), None) = (values.next(), values.next()) else { return Err(Unclear) };
        if !matches!(given.held, Held::Register(_)) {
            self.emit("bar.sync 0;");
            return Ok(Value::unknown(Ty::INT));
        }
        let given = self.converted(given, &Ty::INT)?;
        let given = self.operand(&given, 32)?;
        let (holds, result, to) = (self.predicate()?, self.predicate()?, self.fresh(32)?);
        let how = name.trim_start_matches("__syncthreads_");
        self.emit(&format!("setp.ne.s32 %c_p{holds}, {given}, 0;"));
        self.emit(&format!("bar.red.{how}.pred %c_p{result}, 0, %c_p{holds};"));
        self.emit(&format!("selp.b32 {}, 1, 0, %c_p{result};", to.name()));
        Ok(Value { ty: Ty::INT, held: Held::Register(to) })
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

    pub(super) fn shuffled(&mut self, values: &[Value]) -> Result<Value, Unclear> {
        let (mask, value, lane) = (&values[0], &values[1], &values[2]);
        if value.ty.register() != Some(32) || values.len() > 3 {
            return Ok(Value::unknown(value.ty.clone()));
        }
        let mask = self.operand(mask, 32)?;
        let (from, lane) = (self.operand(value, 32)?, self.operand(lane, 32)?);
        let to = self.fresh(32)?;
        self.emit(&format!("shfl.sync.idx.b32 {}, {from}, {lane}, 31, {mask};", to.name()));
        Ok(Value { ty: value.ty.clone(), held: Held::Register(to) })
    }

    fn atomic(&mut self, name: &str, values: &[Value]) -> Result<Value, Unclear> {
        let pointer = values.first().ok_or(Unclear)?;
        let Ty::Pointer(of, space) = &pointer.ty else { return Err(Unclear) };
        let of = of.plain();
        if *space == Space::Shared && matches!(pointer.held, Held::Register(_)) {
            let address = self.operand(pointer, 64)?;
            let (bits, to) = match of.size()? {
                4 => (32, self.fresh(32)?),
                8 => (64, self.fresh(64)?),
                _ => return Err(Unclear),
            };
            self.emit(&format!("atom.shared.exch.b{bits} {}, [{address}], 0;", to.name()));
        } else if *space == Space::Generic
            && let Ty::Integer { bits: bits @ (32 | 64), .. } = *of
        {
            let to = self.fresh(bits)?;
            // Of a variable in global memory nobody has the address.
            let at = match pointer.held {
                Held::Register(address) => address.name(),
                _ => ANYTHING.to_owned(),
            };
            let to_name = to.name();
            let scope = match () {
                () if name.ends_with("_block") => "cta",
                () if name.ends_with("_system") => "sys",
                () => "gpu",
            };
            // What threads draw from a counter is known.
            let added = values.get(1).filter(|_| name.starts_with("atomicAdd"));
            let (operation, operand) = match added {
                Some(by) => {
                    let by = self.converted(by.clone(), of)?;
                    (format!("add.u{bits}"), self.operand(&by, bits)?)
                }
                None => (format!("exch.b{bits}"), "0".to_owned()),
            };
            self.emit(&format!("atom.relaxed.{scope}.{operation} {to_name}, [{at}], {operand};"));
            return Ok(Value { ty: of.clone(), held: Held::Register(to) });
        }
        Ok(Value::unknown(of.clone()))
    }
}

/// Functions of CUDA that compute something of their arguments and do nothing else: those of warps are none that others
/// wait for.
fn is_pure(name: &str) -> bool {
    let of_warp = ["__shfl", "__ballot", "__any", "__all", "__match", "__reduce", "__activemask", "__vote"];
    let intrinsic = name.starts_with("__") && !name.contains("sync") && !name.contains("cluster");
    let plain = name.strip_suffix('f').unwrap_or(name);
    intrinsic
        || of_warp.iter().any(|prefix| name.starts_with(prefix))
        || matches!(
            plain,
            "exp"
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
