//! `cuda::ptx`: functions that are one instruction with just their arguments as operands, by a table. CUDA C++ Core Libraries,
//! section "PTX".

use ptx_syntax::cuda::body::{Expression, FloatKind};

use super::instructions::{GROUP, KIND, kind_of_reduction, operation};
use super::types::Ty;
use super::value::{Held, Value};
use super::{Lowering, Unclear};

/// What an argument becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// An address in the shared memory of the block.
    Shared,
    /// An address in the shared memory of the cluster.
    Cluster,
    /// An address in global memory, or one that stands for any.
    Address,
    /// A number of 32 bits.
    Word,
    /// A number of 64 bits.
    Wide,
    /// A number with the bits of its type.
    Plain,
    /// A truth value, as a predicate.
    Truth,
    /// An address in tensor memory, in a register.
    Tensor,
    /// A number that a type tells.
    Constant,
}

/// What a function gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Nothing,
    Word,
    /// What its first address points to.
    Pointed,
}

/// A function. In the text of its instruction `{0}` is the first operand, `{to}` the result, `{sem}` and its kin what is chosen,
/// and `{as}` says what is done with elements of the type that the first address points to.
struct Form {
    name: &'static str,
    given: &'static [Given],
    gives: Gives,
    text: &'static str,
}

const fn form(name: &'static str, given: &'static [Given], text: &'static str) -> Form {
    Form { name, given, gives: Gives::Nothing, text }
}

use Given::{Address, Cluster, Constant, Plain, Shared, Tensor, Truth, Wide, Word};

/// Those that have one form, or whose first form that can be told is meant.
const FORMS: &[Form] = &[
    form("fence_proxy_alias", &[], "fence.proxy.alias;"),
    form(
        "fence_proxy_tensormap_generic",
        &[Address, Constant],
        "fence.proxy.tensormap::generic.acquire.{scope} [{0}], {1};",
    ),
    form("fence_proxy_tensormap_generic", &[], "fence.proxy.tensormap::generic.release.{scope};"),
    form("trap", &[], "trap;"),
    form("exit", &[], "exit;"),
    Form {
        gives: Gives::Word,
        ..form("getctarank", &[Cluster], "getctarank.shared::cluster.u64 {to}, {0};")
    },
    form(
        "mbarrier_complete_tx",
        &[Cluster, Word],
        "mbarrier.complete_tx.relaxed.{scope}.shared::cluster.b64 [{0}], {1};",
    ),
    form("multimem_red", &[Address, Plain], "multimem.red.{sem}.{scope}.global.{as} [{0}], {1};"),
    form("multimem_st", &[Address, Plain], "multimem.st.{sem}.{scope}.global.b{bits} [{0}], {1};"),
    form("multimem_st", &[Address, Plain], "multimem.st.{sem}.global.b{bits} [{0}], {1};"),
    Form {
        gives: Gives::Pointed,
        ..form("multimem_ld_reduce", &[Address], "multimem.ld_reduce.{sem}.{scope}.global.{as} {to}, [{0}];")
    },
    Form {
        gives: Gives::Pointed,
        ..form("multimem_ld_reduce", &[Address], "multimem.ld_reduce.{sem}.global.{as} {to}, [{0}];")
    },
    form(
        "tensormap_cp_fenceproxy",
        &[Address, Shared, Constant],
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.{sem}.{scope}.sync.aligned [{0}], [{1}], {2};",
    ),
    form("st_bulk", &[Shared, Wide, Constant], "st.bulk.weak.shared::cta [{0}], {1}, {2};"),
    form(
        "clusterlaunchcontrol_try_cancel",
        &[Shared, Shared],
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [{0}], [{1}];",
    ),
    form(
        "clusterlaunchcontrol_try_cancel_multicast",
        &[Shared, Shared],
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [{0}], [{1}];",
    ),
    form("tcgen05_shift_down", &[Tensor], "tcgen05.shift.{group}.down [{0}];"),
];

/// Fields of tensor maps, with the number of the field's own dimension where it has one.
const FIELDS: &[(&str, bool, u32)] = &[
    ("global_address", false, 64),
    ("rank", false, 32),
    ("box_dim", true, 32),
    ("global_dim", true, 32),
    ("global_stride", true, 64),
    ("element_stride", true, 32),
    ("elemtype", false, 32),
    ("interleave_layout", false, 32),
    ("swizzle_mode", false, 32),
    ("swizzle_atomicity", false, 32),
    ("fill_mode", false, 32),
];

/// What functions do with numbers alone.
const PURE: &[&str] = &["bfind", "bmsk_clamp", "bmsk_wrap", "prmt", "shl", "shr"];
/// What asks for a place in the cache alone.
const PREFETCH: &[&str] = &["prefetch_", "applypriority_", "cp_async_bulk_prefetch"];

/// What the names of functions of tensor memory begin with.
const OF_COPY: &str = "tcgen05_cp_";
const OF_FIELD: &str = "tensormap_replace_";
const OF_ANSWER: &str = "clusterlaunchcontrol_query_cancel_";

impl<'s> Lowering<'_, 's> {
    /// The instruction that a function is by the table; none where the name is no such.
    pub(super) fn of_forms(
        &mut self,
        name: &str,
        choices: &[&str],
        given: &[&Expression<'s>],
    ) -> Result<Option<Value>, Unclear> {
        let fits = |form: &&Form| {
            form.name == name
                && form.given.len() >= given.len()
                && form.given[given.len()..].iter().all(|left| *left == Constant)
                && CHOSEN.iter().all(|(mark, start)| {
                    !form.text.contains(mark) || choices.iter().any(|choice| choice.starts_with(start))
                })
        };
        if let Some(form) = FORMS.iter().find(fits) {
            return self.formed(form, choices, given).map(Some);
        }
        if PREFETCH.iter().any(|start| name.starts_with(start)) {
            return Ok(Some(Value::unknown(Ty::Void)));
        }
        if PURE.iter().any(|pure| name.starts_with(pure)) {
            for each in given {
                self.value(each)?;
            }
            return Ok(Some(Value::unknown(Ty::UINT)));
        }
        if let Some(question) = name.strip_prefix(OF_ANSWER) {
            for each in given {
                self.value(each)?;
            }
            return Ok(Some(Value::unknown(match question {
                "is_canceled" => Ty::BOOL,
                _ => Ty::UINT,
            })));
        }
        if let Some(shape) = name.strip_prefix(OF_COPY) {
            let [to, described] = given else { return Err(Unclear) };
            let to = self.as_given(to, Tensor)?;
            let described = self.number(described, 64)?;
            let group = chosen(choices, GROUP).ok_or(Unclear)?;
            let shape = shape_of_copy(shape);
            self.emit(&format!("tcgen05.cp.cta_group::{group}.{shape} [{to}], {described};"));
            return Ok(Some(Value::unknown(Ty::Void)));
        }
        if let Some(field) = name.strip_prefix(OF_FIELD) {
            return self.replaced(field, choices, given).map(Some);
        }
        Ok(None)
    }

    fn formed(&mut self, form: &Form, choices: &[&str], given: &[&Expression<'s>]) -> Result<Value, Unclear> {
        let mut text = form.text.to_owned();
        let mut pointed = Ty::Any;
        for (index, kind) in form.given.iter().enumerate() {
            let operand = match (given.get(index), kind) {
                (Some(each), Address) => {
                    let pointer = self.pointer(each)?;
                    if let Ty::Pointer(of, _) = &pointer.ty {
                        pointed = of.plain().clone();
                    }
                    self.operand(&pointer, 64)?
                }
                (Some(each), Plain) => {
                    let value = self.value(each)?;
                    let value = self.converted(Self::decayed(value), &pointed)?;
                    self.operand(&value, pointed.register().ok_or(Unclear)?)?
                }
                (Some(each), kind) => self.as_given(each, *kind)?,
                // What may be left out: the size of a map, or the number that memory is filled with.
                (None, _) if form.name == "st_bulk" => "0".to_owned(),
                (None, _) => SIZE_OF_MAP.to_owned(),
            };
            text = text.replace(&format!("{{{index}}}"), &operand);
        }
        for (mark, start) in CHOSEN {
            if text.contains(mark) {
                text = text.replace(mark, chosen(choices, start).ok_or(Unclear)?);
            }
        }
        if text.contains("{group}") {
            let group = chosen(choices, GROUP).ok_or(Unclear)?;
            text = text.replace("{group}", &format!("cta_group::{group}"));
        }
        if text.contains("{as}") {
            let kind = kind_of_reduction(&pointed, operation(choices).ok_or(Unclear)?).ok_or(Unclear)?;
            text = text.replace("{as}", &kind);
        }
        let bits = pointed.register().unwrap_or(0);
        text = text.replace("{bits}", &bits.to_string());
        let ty = match form.gives {
            Gives::Nothing => {
                self.emit(&text);
                return Ok(Value::unknown(Ty::Void));
            }
            Gives::Word => Ty::UINT,
            Gives::Pointed => pointed,
        };
        let to = self.fresh(ty.register().ok_or(Unclear)?)?;
        self.emit(&text.replace("{to}", &to.name()));
        Ok(Value { ty, held: Held::Register(to) })
    }

    fn as_given(&mut self, each: &Expression<'s>, kind: Given) -> Result<String, Unclear> {
        match kind {
            Shared => self.in_shared(each),
            Cluster => self.in_cluster(each),
            Address | Wide => self.number(each, 64),
            Word | Plain => self.number(each, 32),
            Truth => {
                let value = self.number(each, 32)?;
                let holds = self.predicate()?;
                self.emit(&format!("setp.ne.b32 %c_p{holds}, {value}, 0;"));
                Ok(format!("%c_p{holds}"))
            }
            Tensor => {
                let number = self.number(each, 32)?;
                let address = self.fresh(32)?;
                self.emit(&format!("mov.b32 {}, {number};", address.name()));
                Ok(address.name())
            }
            Constant => Ok(self.immediate(each)?.to_string()),
        }
    }

    /// A change of a field of a tensor map.
    fn replaced(
        &mut self,
        field: &str,
        choices: &[&str],
        given: &[&Expression<'s>],
    ) -> Result<Value, Unclear> {
        let field = if field == "element_size" { "element_stride" } else { field };
        let &(field, has_dimension, bits) =
            FIELDS.iter().find(|(known, ..)| *known == field).ok_or(Unclear)?;
        let (map, dimension, new) = match given {
            [map, dimension, new] if has_dimension => (map, Some(dimension), new),
            [map, new] if !has_dimension => (map, None, new),
            _ => return Err(Unclear),
        };
        let (space, map) = match choices.contains(&"space_shared") {
            true => ("shared::cta", self.in_shared(map)?),
            false => ("global", self.number(map, 64)?),
        };
        let dimension = match dimension {
            Some(dimension) => format!("{}, ", self.immediate(dimension)?),
            None => String::new(),
        };
        let new = match self.immediate(new) {
            Ok(new) => new.to_string(),
            Err(Unclear) => self.number(new, bits)?,
        };
        self.emit(&format!(
            "tensormap.replace.tile.{field}.{space}.b1024.b{bits} [{map}], {dimension}{new};"
        ));
        Ok(Value::unknown(Ty::Void))
    }

    /// `tcgen05_mma` and its kin: the first two operands, and whether the result is added to. Scales, what is known of sparse
    /// matrices and what a collector keeps change nothing of who waits for whom.
    pub(super) fn multiplied(
        &mut self,
        name: &str,
        choices: &[&str],
        given: &[&Expression<'s>],
    ) -> Result<(), Unclear> {
        let kind = chosen(choices, KIND).ok_or(Unclear)?;
        let group = chosen(choices, GROUP).ok_or(Unclear)?;
        let is_sparse = name.starts_with("mma_sp");
        let is_scaled = name.contains("block_scale");
        let operands = 4 + usize::from(is_sparse) + 2 * usize::from(is_scaled);
        let (operands, rest) = given.split_at_checked(operands).ok_or(Unclear)?;
        let [to, one, other, more @ ..] = operands else { return Err(Unclear) };
        let to = self.as_given(to, Tensor)?;
        let one = match name.contains("tmem_a") {
            true => format!("[{}]", self.as_given(one, Tensor)?),
            false => self.number(one, 64)?,
        };
        let other = self.number(other, 64)?;
        let (sparse, more) = more.split_at_checked(usize::from(is_sparse)).ok_or(Unclear)?;
        let sparse = match sparse {
            [sparse] => format!(", [{}]", self.as_given(sparse, Tensor)?),
            _ => String::new(),
        };
        let [described, scales @ ..] = more else { return Err(Unclear) };
        let described = self.number(described, 32)?;
        let mut scaled = String::new();
        for scale in scales {
            scaled.push_str(&format!(", [{}]", self.as_given(scale, Tensor)?));
        }
        // Lanes whose results are not written stand before it.
        let adds = match rest {
            [adds] | [adds, _] if !self.is_listed(adds) => adds,
            [_, adds, ..] => adds,
            _ => return Err(Unclear),
        };
        let adds = self.as_given(adds, Truth)?;
        let scale_word = match name {
            _ if !is_scaled => "",
            _ if name.contains("vec_1x") => ".block_scale.scale_vec::1X",
            _ if name.contains("vec_2x") => ".block_scale.scale_vec::2X",
            _ if name.contains("vec_4x") => ".block_scale.scale_vec::4X",
            _ if name.contains("block16") => ".block_scale.block16",
            _ => ".block_scale.block32",
        };
        let rest = format!(
            "cta_group::{group}.kind::{kind}{scale_word} [{to}], {one}, {other}{sparse}, {described}{scaled}, {adds};"
        );
        self.emit(&match (name.starts_with("mma_ws"), is_sparse) {
            (false, false) => format!("tcgen05.mma.{rest}"),
            (false, true) => format!("tcgen05.mma.sp.{rest}"),
            (true, false) => format!("tcgen05.mma.ws.{rest}"),
            (true, true) => format!("tcgen05.mma.ws.sp.{rest}"),
        });
        Ok(())
    }

    /// Whether an argument is an array.
    fn is_listed(&mut self, argument: &Expression<'s>) -> bool {
        let mark = self.mark();
        let is_listed = self.place(argument).is_ok_and(|place| matches!(place.ty(), Ty::Array(..)));
        self.back_to(mark);
        is_listed
    }

    /// `shfl_sync_idx` and its kin: what another lane has, and whether it was there.
    pub(super) fn shuffled_with_limits(
        &mut self,
        how: &str,
        given: &[&Expression<'s>],
    ) -> Result<Value, Unclear> {
        let (value, found, by, limits, mask) = match given {
            [value, by, limits, mask] => (value, None, by, limits, mask),
            [value, found, by, limits, mask] => (value, Some(found), by, limits, mask),
            _ => return Err(Unclear),
        };
        let value = self.value(value)?;
        let (by, limits, mask) = (self.number(by, 32)?, self.number(limits, 32)?, self.number(mask, 32)?);
        if let Some(found) = found {
            let found = self.place(found)?;
            self.write(&found, Value::unknown(Ty::BOOL))?;
        }
        // What is added up so is not followed.
        let is_number = matches!(value.ty, Ty::Integer { bits: 32, .. })
            || how == "idx" && matches!(value.ty, Ty::Float(32, FloatKind::Plain));
        if !is_number {
            return Ok(Value::unknown(value.ty));
        }
        let from = self.operand(&value, 32)?;
        let to = self.fresh(32)?;
        self.emit(&format!("shfl.sync.{how}.b32 {}, {from}, {by}, {limits}, {mask};", to.name()));
        Ok(Value { ty: value.ty, held: Held::Register(to) })
    }
}

/// The bytes of a tensor map, as they stand in an instruction.
const SIZE_OF_MAP: &str = "128";

/// The mark of a choice in a text, and what the name of the choice begins with.
const CHOSEN: [(&str, &str); 2] = [("{sem}", "sem_"), ("{scope}", "scope_")];

fn chosen<'c>(choices: &[&'c str], start: &str) -> Option<&'c str> {
    choices.iter().find_map(|choice| choice.strip_prefix(start))
}

/// The words for a copy to tensor memory by the end of its function's name: `64x128b_warpx2_02_13_b8x16_b6x16_p32`.
fn shape_of_copy(name: &str) -> String {
    let (shape, format) = match name.find("_b8x16_") {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    let (shape, warps) = shape.split_once('_').unwrap_or((shape, ""));
    let warps = match warps.split_once('_') {
        Some((warps, pairs)) => format!(".{warps}::{pairs}"),
        None if warps.is_empty() => String::new(),
        None => format!(".{warps}"),
    };
    let format = format.strip_prefix("_b8x16_").map_or(String::new(), |from| format!(".b8x16.{from}"));
    format!("{shape}{warps}{format}")
}
