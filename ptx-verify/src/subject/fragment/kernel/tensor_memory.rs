//! `cuda::ptx`: functions for tensor memory. CUDA C++ Core Libraries, section "PTX", and PTX ISA manual, section "tcgen05".

use ptx_syntax::cuda::body::Expression;

use super::instructions::GROUP;
use super::types::Ty;
use super::value::{Place, Value};
use super::{Lowering, Unclear};

/// What the names of the functions begin with.
const OF_TENSORS: &str = "tcgen05_";
/// The shapes of loads and stores, and how many registers of a thread the smallest has.
const SHAPES: [(&str, usize); 5] =
    [("32x32b", 1), ("16x32bx2", 1), ("16x64b", 1), ("16x128b", 2), ("16x256b", 4)];
/// What the names of functions end with where two elements of 16 bits lie in a register.
const PACKED: [&str; 2] = ["_pack_16b", "_unpack_16b"];

impl<'s> Lowering<'_, 's> {
    /// The instruction that a function is; none where the name is no such.
    pub(super) fn of_tensor_memory(
        &mut self,
        name: &str,
        choices: &[&str],
        given: &[&Expression<'s>],
    ) -> Result<Option<Value>, Unclear> {
        let Some(name) = name.strip_prefix(OF_TENSORS) else { return Ok(None) };
        let chosen = |start: &str| choices.iter().find_map(|choice| choice.strip_prefix(start));
        let group = chosen(GROUP).map(|count| format!("cta_group::{count}")).ok_or(Unclear);
        match (name, given) {
            ("alloc", [to, columns]) => {
                let (group, to, columns) = (group?, self.in_shared(to)?, self.number(columns, 32)?);
                self.emit(&format!("tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [{to}], {columns};"));
            }
            ("dealloc", [first, columns]) => {
                let (group, first, columns) = (group?, self.number(first, 32)?, self.number(columns, 32)?);
                self.emit(&format!("tcgen05.dealloc.{group}.sync.aligned.b32 {first}, {columns};"));
            }
            ("relinquish_alloc_permit", []) => {
                let group = group?;
                self.emit(&format!("tcgen05.relinquish_alloc_permit.{group}.sync.aligned;"));
            }
            ("commit", [object]) => {
                let (group, object) = (group?, self.in_shared(object)?);
                self.emit(&format!(
                    "tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster.b64 [{object}];"
                ));
            }
            ("commit_multicast", [object, blocks]) => {
                let (group, object, blocks) = (group?, self.in_shared(object)?, self.blocks_of_mask(blocks)?);
                self.emit(&format!(
                    "tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [{object}], {blocks};"
                ));
            }
            ("fence_before_thread_sync", []) => self.emit("tcgen05.fence::before_thread_sync;"),
            ("fence_after_thread_sync", []) => self.emit("tcgen05.fence::after_thread_sync;"),
            ("wait_ld", []) => self.emit("tcgen05.wait::ld.sync.aligned;"),
            ("wait_st", []) => self.emit("tcgen05.wait::st.sync.aligned;"),
            _ if name.starts_with("mma") => self.multiplied(name, choices, given)?,
            _ => {
                let (is_load, shape, to, from, half) =
                    match (name.strip_prefix("ld_"), name.strip_prefix("st_"), given) {
                        (Some(shape), _, [to, from]) => (true, shape, *from, *to, None),
                        (_, Some(shape), [to, from]) => (false, shape, *to, *from, None),
                        (Some(shape), _, [to, from, half]) => (true, shape, *from, *to, Some(*half)),
                        (_, Some(shape), [to, half, from]) => (false, shape, *to, *from, Some(*half)),
                        _ => return Ok(None),
                    };
                // How far the other half of the lanes is away.
                let half = match half {
                    Some(half) => format!(", {}", self.immediate(half)?),
                    None => String::new(),
                };
                let packed = PACKED.iter().find_map(|end| shape.strip_suffix(end));
                let (shape, is_packed) = (packed.unwrap_or(shape), packed.is_some());
                let (shape, least) = SHAPES.iter().find(|(known, _)| *known == shape).ok_or(Unclear)?;
                let address = self.number(to, 32)?;
                let base = self.fresh(32)?;
                self.emit(&format!("mov.b32 {}, {address};", base.name()));
                let registers = match is_load {
                    true => self.loaded_parts(from)?,
                    false => self.elements(from)?.1,
                };
                let (base, count) = (base.name(), registers.len() / least);
                let operands = format!("{{{}}}", registers.join(", "));
                self.emit(&match (is_load, is_packed) {
                    (true, false) => {
                        format!("tcgen05.ld.sync.aligned.{shape}.x{count}.b32 {operands}, [{base}]{half};")
                    }
                    (true, true) => format!(
                        "tcgen05.ld.sync.aligned.{shape}.x{count}.pack::16b.b32 {operands}, [{base}]{half};"
                    ),
                    (false, false) => {
                        format!("tcgen05.st.sync.aligned.{shape}.x{count}.b32 [{base}]{half}, {operands};")
                    }
                    (false, true) => format!(
                        "tcgen05.st.sync.aligned.{shape}.x{count}.unpack::16b.b32 [{base}]{half}, {operands};"
                    ),
                });
            }
        }
        Ok(Some(Value::unknown(Ty::Void)))
    }

    /// The registers of an array that a load writes, which it does when it is waited for.
    fn loaded_parts(&mut self, argument: &Expression<'s>) -> Result<Vec<String>, Unclear> {
        let Place::Parts(parts, Ty::Array(..)) = self.place(argument)? else { return Err(Unclear) };
        let mut names = Vec::new();
        for part in &parts {
            let Place::Register(register, _) = part else { return Err(Unclear) };
            if register.bits != 32 {
                return Err(Unclear);
            }
            self.begun.insert(register.number);
            self.truths.remove(&register.number);
            names.push(register.name());
        }
        Ok(names)
    }
}
