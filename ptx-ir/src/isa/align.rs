//! Which operand of an instance each operand of a statement stands for, where optional ones are left out.

use super::instance::Instance;
use super::select::fits_with_gaps;
use super::shape::Shape;

impl Instance {
    /// For each operand of a statement that fits this instance the index of its specification in
    /// [`Instance::operands`]. `None` where the operands do not fit.
    #[must_use]
    pub fn align(&self, operands: &[Shape], children: &[Shape]) -> Option<Vec<usize>> {
        let mut places = Vec::with_capacity(operands.len());
        fits_with_gaps(&self.operands, operands, children, &mut places).then_some(places)
    }
}
