//! Bits and limits.

use ptx_tests::judge::facts_hold;
use ptx_verify::facts::values::Values;

use super::known::{Known, lowered};

/// Whatever a thread writes has the bits and lies between the limits that are known of the value, as far as it is
/// defined, and is written where control can come. How often that says anything.
pub fn hold(text: &str) -> Result<usize, String> {
    let module = lowered(text);
    let known = Known::new(text, &module);
    let values = Values::new(&known.facts, &known.graph);
    let mut looked = 0;
    let mut defined = true;
    facts_hold(text, 3, |program, write| {
        let Some(written) = known.written(program, write) else { return Ok(()) };
        // What a branch on an undefined predicate leads to is not looked at.
        defined &= write.width != 1 || write.undefined == 0;
        let fact = values.of(written.value);
        let Some(number) = fact.map(|fact| fact.number).filter(|_| defined) else { return Ok(()) };
        looked += usize::from(number.known() << (64 - write.width) != 0);
        let wrong = (write.bits & number.zeros | !write.bits & number.ones) & !write.undefined;
        let outside = write.undefined == 0 && !(number.low..=number.high).contains(&write.bits);
        if wrong != 0 || outside { Err(format!("{number:?}")) } else { Ok(()) }
    })?;
    Ok(looked)
}
