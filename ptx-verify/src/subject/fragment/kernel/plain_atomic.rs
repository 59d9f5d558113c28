//! `atomicAdd` and its kin. CUDA C++ Programming Guide, section "Atomic Functions".

use super::memory::space_of;
use super::types::{Space, Ty};
use super::value::{Held, Value};
use super::{ANYTHING, Lowering, Unclear};

impl Lowering<'_, '_> {
    /// `atomicAdd` and its kin.
    pub(super) fn atomic(&mut self, name: &str, values: Vec<Value>) -> Result<Value, Unclear> {
        let pointer = values.first().ok_or(Unclear)?;
        let Ty::Pointer(of, space) = &pointer.ty else { return Err(Unclear) };
        let of = of.plain().clone();
        let is_in_memory = matches!(pointer.held, Held::Register(_) | Held::Unknown);
        if !is_in_memory || *space == Space::Param {
            return Ok(Value::unknown(of));
        }
        // Nobody has the address of some variables in global memory.
        let at = match pointer.held {
            Held::Register(address) => address.name(),
            _ => ANYTHING.to_owned(),
        };
        let (plain, scope) = match name {
            _ if let Some(plain) = name.strip_suffix("_block") => (plain, "cta"),
            _ if let Some(plain) = name.strip_suffix("_system") => (plain, "sys"),
            _ => (name, "gpu"),
        };
        let place = space_of(pointer);
        // In shared memory nobody else is there.
        let words = match space {
            Space::Shared => place.to_owned(),
            _ => format!(".relaxed.{scope}{place}"),
        };
        let (bits, operation) = match (&of, plain) {
            (&Ty::Integer { bits: bits @ (32 | 64), signed, .. }, _) => {
                let sign = if signed { 's' } else { 'u' };
                let operation = match plain {
                    "atomicAdd" | "atomicSub" => format!("add.u{bits}"),
                    "atomicExch" => format!("exch.b{bits}"),
                    "atomicCAS" => format!("cas.b{bits}"),
                    "atomicMin" => format!("min.{sign}{bits}"),
                    "atomicMax" => format!("max.{sign}{bits}"),
                    "atomicAnd" => format!("and.b{bits}"),
                    "atomicOr" => format!("or.b{bits}"),
                    "atomicXor" => format!("xor.b{bits}"),
                    "atomicInc" if bits == 32 => "inc.u32".to_owned(),
                    "atomicDec" if bits == 32 => "dec.u32".to_owned(),
                    _ => return Err(Unclear),
                };
                (bits, operation)
            }
            (&Ty::Float(bits @ (32 | 64), _), "atomicExch") => (bits, format!("exch.b{bits}")),
            // What becomes of other numbers is not followed.
            _ => return self.unknown_atomic(&of, &at, &words),
        };
        let is_exchange = plain == "atomicCAS";
        if values.len() != if is_exchange { 3 } else { 2 } {
            return Err(Unclear);
        }
        let mut operands = Vec::new();
        for value in values.into_iter().skip(1) {
            let mut value = self.converted(value, &of)?;
            if plain == "atomicSub" {
                let zero = Value::constant(0, of.clone());
                value = self.computed("-", zero, value)?;
            }
            operands.push(self.operand(&value, bits)?);
        }
        let to = self.fresh(bits)?;
        let operands = operands.join(", ");
        self.emit(&format!("atom{words}.{operation} {}, [{at}], {operands};", to.name()));
        Ok(Value { ty: of, held: Held::Register(to) })
    }

    /// An atomic operation on what is no integer.
    fn unknown_atomic(&mut self, of: &Ty, at: &str, words: &str) -> Result<Value, Unclear> {
        let bits = match of.size() {
            Ok(4) => 32,
            Ok(8) => 64,
            _ => return Ok(Value::unknown(of.clone())),
        };
        let value = self.operand(&Value::unknown(of.clone()), bits)?;
        let to = self.fresh(bits)?;
        self.emit(&format!("atom{words}.exch.b{bits} {}, [{at}], {value};", to.name()));
        Ok(Value::unknown(of.clone()))
    }
}
