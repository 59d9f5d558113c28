//! Random numbers of cuRAND: the numbers are not followed, and that a state is read and written is.

use ptx_syntax::cuda::body::{Expression, FloatKind};

use super::types::Ty;
use super::value::{Held, Place, Value};
use super::{Lowering, Unclear};

impl<'s> Lowering<'_, 's> {
    /// A function of cuRAND; none where the name is no such.
    pub(super) fn of_random(
        &mut self,
        name: &str,
        given: &[Expression<'s>],
    ) -> Result<Option<Value>, Unclear> {
        let (state, others, gives) = match (name, given) {
            ("curand_init", [others @ .., state]) if others.len() == 3 => (state, others, Ty::Void),
            ("skipahead" | "skipahead_sequence", [by, state]) => (state, std::slice::from_ref(by), Ty::Void),
            (_, [state, others @ ..]) => match number(name) {
                Some(ty) => (state, others, ty),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        for other in others {
            self.value(other)?;
        }
        let state = self.pointer(state)?;
        let Ty::Pointer(of, _) = state.ty.clone() else { return Err(Unclear) };
        // A state in registers is nobody else's.
        if matches!(*of, Ty::Bytes(..)) && matches!(state.held, Held::Register(_)) {
            let place = Place::Memory { address: state, ty: (*of).clone() };
            if name != "curand_init" {
                self.read(&place)?;
            }
            self.write(&place, Value::unknown((*of).clone()))?;
        }
        Ok(Some(Value::unknown(gives)))
    }
}

/// What a function gives that takes a number of a generator, or several.
fn number(name: &str) -> Option<Ty> {
    let rest = name.strip_prefix("curand")?;
    let (rest, is_double) = rest.strip_suffix("_double").map_or((rest, false), |rest| (rest, true));
    let (rest, count) = match rest.as_bytes().last() {
        Some(b'2') => (&rest[..rest.len() - 1], 2),
        Some(b'4') => (&rest[..rest.len() - 1], 4),
        _ => (rest, 1),
    };
    let of = match rest {
        "" | "_poisson" | "_discrete" if !is_double => Ty::UINT,
        "_uniform" | "_normal" | "_log_normal" => {
            Ty::Float(if is_double { 64 } else { 32 }, FloatKind::Plain)
        }
        _ => return None,
    };
    Some(if count == 1 { of } else { Ty::Vector(std::rc::Rc::new(of), count) })
}
