//! Which operand of an instance each operand of a statement stands for, where optional ones are left out.

use super::instance::Instance;
use super::select::check;
use super::shape::Shape;

impl Instance {
    /// For each operand of a statement that fits this instance the index of its specification in
    /// [`Instance::operands`]. `None` where the operands do not fit.
    #[must_use]
    pub fn align(&self, operands: &[Shape], children: &[Shape]) -> Option<Vec<usize>> {
        let mut spare = self.operands.len().checked_sub(operands.len())?;
        let mut indices = Vec::with_capacity(operands.len());
        for (index, spec) in self.operands.iter().enumerate() {
            let next = operands.get(indices.len());
            if next.is_some_and(|shape| check(spec, shape, children).is_none()) {
                indices.push(index);
            } else if spec.optional && spare > 0 {
                spare -= 1;
            } else {
                return None;
            }
        }
        (indices.len() == operands.len()).then_some(indices)
    }
}
