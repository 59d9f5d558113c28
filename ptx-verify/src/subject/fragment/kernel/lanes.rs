//! What the lanes of a warp, and the threads of a block, tell each other in registers. CUDA C++ Programming Guide, sections
//! "Warp Vote Functions" and "Warp Shuffle Functions".

use super::types::Ty;
use super::value::{Held, Value};
use super::{Lowering, Unclear};

/// Lanes of a warp.
const LANES: u64 = 32;

impl Lowering<'_, '_> {
    /// A function of the lanes of a mask; none where the name is no such, or nobody follows what is asked for.
    pub(super) fn of_lanes(&mut self, name: &str, values: &[Value]) -> Result<Option<Value>, Unclear> {
        match (name, values) {
            ("__ballot_sync" | "__any_sync" | "__all_sync", [mask, given]) => {
                let how = name.trim_start_matches("__").trim_end_matches("_sync");
                self.vote(how, mask, given.clone()).map(Some)
            }
            ("__activemask", []) => {
                let to = self.fresh(32)?;
                self.emit(&format!("activemask.b32 {};", to.name()));
                Ok(Some(Value { ty: Ty::UINT, held: Held::Register(to) }))
            }
            (
                "__shfl_sync" | "__shfl_up_sync" | "__shfl_down_sync" | "__shfl_xor_sync",
                [mask, value, by],
            ) => self.shuffled(name, mask, value.clone(), (by, LANES)).map(Some),
            (
                "__shfl_sync" | "__shfl_up_sync" | "__shfl_down_sync" | "__shfl_xor_sync",
                [mask, value, by, width],
            ) => match width.number() {
                Some(width @ (1 | 2 | 4 | 8 | 16 | LANES)) => {
                    self.shuffled(name, mask, value.clone(), (by, width)).map(Some)
                }
                _ => Ok(Some(Value::unknown(value.ty.clone()))),
            },
            ("__match_any_sync", [mask, value]) if let Some(bits @ (32 | 64)) = value.ty.register() => {
                let (mask, given) = (self.operand(mask, 32)?, self.operand(value, bits)?);
                let to = self.fresh(32)?;
                self.emit(&format!("match.any.sync.b{bits} {}, {given}, {mask};", to.name()));
                Ok(Some(Value { ty: Ty::UINT, held: Held::Register(to) }))
            }
            ("__match_all_sync", [_, _, found]) => {
                let found = self.pointed(found.clone())?;
                self.write(&found, Value::unknown(Ty::INT))?;
                Ok(Some(Value::unknown(Ty::UINT)))
            }
            (_, [mask, value]) if let Some(how) = reduction(name) => {
                let ty = match value.ty {
                    Ty::Integer { bits: 32, .. } => value.ty.clone(),
                    Ty::Integer { bits: ..32, .. } => Ty::INT,
                    _ => return Ok(None),
                };
                let kind = match (how, &ty) {
                    ("and" | "or" | "xor", _) => "b32",
                    (_, Ty::Integer { signed: true, .. }) => "s32",
                    _ => "u32",
                };
                let (mask, given) = (self.operand(mask, 32)?, self.operand(value, 32)?);
                let to = self.fresh(32)?;
                self.emit(&format!("redux.sync.{how}.{kind} {}, {given}, {mask};", to.name()));
                Ok(Some(Value { ty, held: Held::Register(to) }))
            }
            _ => Ok(None),
        }
    }

    /// What the lanes of a mask say together of a truth value.
    pub(super) fn vote(&mut self, how: &str, mask: &Value, given: Value) -> Result<Value, Unclear> {
        let mask = self.operand(mask, 32)?;
        let given = self.truth(given)?;
        let given = self.operand(&given, 32)?;
        let (holds, to) = (self.predicate()?, self.fresh(32)?);
        self.emit(&format!("setp.ne.u32 %c_p{holds}, {given}, 0;"));
        if how == "ballot" {
            self.emit(&format!("vote.sync.ballot.b32 {}, %c_p{holds}, {mask};", to.name()));
            return Ok(Value { ty: Ty::UINT, held: Held::Register(to) });
        }
        let all = self.predicate()?;
        self.emit(&format!("vote.sync.{how}.pred %c_p{all}, %c_p{holds}, {mask};"));
        self.emit(&format!("selp.b32 {}, 1, 0, %c_p{all};", to.name()));
        Ok(Value { ty: Ty::INT, held: Held::Register(to) })
    }

    /// The value of another lane of a group of neighbours.
    pub(super) fn shuffled(
        &mut self,
        name: &str,
        mask: &Value,
        value: Value,
        (by, width): (&Value, u64),
    ) -> Result<Value, Unclear> {
        let is_from_one = matches!(name, "__shfl_sync" | "shfl");
        let bits = match value.ty {
            // What is added up so is not followed.
            Ty::Float(..) if !is_from_one => return Ok(Value::unknown(value.ty)),
            Ty::Integer { .. } | Ty::Float(32 | 64, _) => value.ty.register().ok_or(Unclear)?,
            _ => return Ok(Value::unknown(value.ty)),
        };
        let how = match name.trim_start_matches("__").trim_end_matches("_sync") {
            "shfl_up" => "up",
            "shfl_down" => "down",
            "shfl_xor" => "bfly",
            _ => "idx",
        };
        let limits = (LANES - width) << 8 | if how == "up" { 0 } else { LANES - 1 };
        let (mask, by) = (self.operand(mask, 32)?, self.operand(by, 32)?);
        let from = self.operand(&value, bits)?;
        let to = self.fresh(bits)?;
        if bits == 32 {
            self.emit(&format!("shfl.sync.{how}.b32 {}, {from}, {by}, {limits}, {mask};", to.name()));
            return Ok(Value { ty: value.ty, held: Held::Register(to) });
        }
        let [low, high, own_low, own_high] =
            [self.fresh(32)?, self.fresh(32)?, self.fresh(32)?, self.fresh(32)?];
        self.emit(&format!("mov.b64 {{{}, {}}}, {from};", own_low.name(), own_high.name()));
        for (to, from) in [(low, own_low), (high, own_high)] {
            let (to, from) = (to.name(), from.name());
            self.emit(&format!("shfl.sync.{how}.b32 {to}, {from}, {by}, {limits}, {mask};"));
        }
        self.emit(&format!("mov.b64 {}, {{{}, {}}};", to.name(), low.name(), high.name()));
        Ok(Value { ty: value.ty, held: Held::Register(to) })
    }

    /// What a block that meets finds of a number of each thread.
    pub(super) fn voted(&mut self, name: &str, values: Vec<Value>) -> Result<Value, Unclear> {
        let mut values = values.into_iter();
        let (Some(given), None) = (values.next(), values.next()) else { return Err(Unclear) };
        if !matches!(given.held, Held::Register(_)) {
            self.emit("bar.sync 0;");
            return Ok(Value::unknown(Ty::INT));
        }
        let given = self.truth(given)?;
        let given = self.operand(&given, 32)?;
        let (holds, to) = (self.predicate()?, self.fresh(32)?);
        let how = name.trim_start_matches("__syncthreads_");
        self.emit(&format!("setp.ne.s32 %c_p{holds}, {given}, 0;"));
        if name.ends_with("_count") {
            self.emit(&format!("bar.red.popc.u32 {}, 0, %c_p{holds};", to.name()));
            return Ok(Value { ty: Ty::INT, held: Held::Register(to) });
        }
        let result = self.predicate()?;
        self.emit(&format!("bar.red.{how}.pred %c_p{result}, 0, %c_p{holds};"));
        self.emit(&format!("selp.b32 {}, 1, 0, %c_p{result};", to.name()));
        Ok(Value { ty: Ty::INT, held: Held::Register(to) })
    }
}

/// How `__reduce_add_sync` and its kin make one number of all.
fn reduction(name: &str) -> Option<&str> {
    let how = name.strip_prefix("__reduce_")?.strip_suffix("_sync")?;
    matches!(how, "add" | "min" | "max" | "and" | "or" | "xor").then_some(how)
}
