//! Declarations of variables and parameters, and what PTX allows of them.
//!
//! PTX ISA manual, "Variable Declarations", "Array Declarations", "Initializers", "Alignment".

use super::error::BuildError;
use super::value::{Kind, Value};
use crate::ir::{Linkage, Pointer};
use crate::space::StateSpace;
use crate::types::{Type, TypeKind};

/// A variable or parameter to be declared.
///
/// ```
/// use ptx_ir::build::Declaration;
/// use ptx_ir::space::StateSpace;
/// use ptx_ir::types::Type;
///
/// let tile = Declaration::new("tile", StateSpace::Shared, Type::F32).array([16, 17]).align(16);
/// let table = Declaration::new("table", StateSpace::Const, Type::U32)
///     .array([3])
///     .initial([1.into(), 2.into(), 3.into()]);
/// # let _ = (tile, table);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    pub(super) name: String,
    pub(super) space: StateSpace,
    pub(super) ty: Type,
    pub(super) elements: u8,
    pub(super) dimensions: Vec<Option<u64>>,
    pub(super) align: Option<u32>,
    pub(super) linkage: Option<Linkage>,
    pub(super) pointer: Option<Pointer>,
    pub(super) initial: Vec<Value>,
}

/// Where a declaration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Module,
    Body,
    EntryParameter,
    FunctionParameter,
}

impl Declaration {
    /// One element of a type in a state space, aligned as the type is.
    #[must_use]
    pub fn new(name: impl Into<String>, space: StateSpace, ty: Type) -> Self {
        Self {
            name: name.into(),
            space,
            ty,
            elements: 1,
            dimensions: Vec::new(),
            align: None,
            linkage: None,
            pointer: None,
            initial: Vec::new(),
        }
    }

    /// Makes it an array; the first size is that of the outermost dimension.
    #[must_use]
    pub fn array(self, sizes: impl IntoIterator<Item = u64>) -> Self {
        Self { dimensions: sizes.into_iter().map(Some).collect(), ..self }
    }

    /// Makes it an array whose size is given elsewhere: dynamic shared memory.
    #[must_use]
    pub fn unsized_array(self) -> Self {
        Self { dimensions: vec![None], ..self }
    }

    /// Makes each element a vector of 2 or 4.
    #[must_use]
    pub fn vector(self, elements: u8) -> Self {
        Self { elements, ..self }
    }

    /// Sets the alignment in bytes, a power of two.
    #[must_use]
    pub fn align(self, bytes: u32) -> Self {
        Self { align: Some(bytes), ..self }
    }

    /// Sets the linkage.
    #[must_use]
    pub fn linkage(self, linkage: Linkage) -> Self {
        Self { linkage: Some(linkage), ..self }
    }

    /// Promises that a kernel parameter points into a state space, to something aligned.
    #[must_use]
    pub fn pointer_to(self, space: StateSpace, align: u32) -> Self {
        Self { pointer: Some(Pointer { space: Some(space), align: Some(align), object: None }), ..self }
    }

    /// Sets the values that the elements start with, in row order; elements without one start as 0.
    #[must_use]
    pub fn initial(self, values: impl IntoIterator<Item = Value>) -> Self {
        Self { initial: values.into_iter().collect(), ..self }
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, BuildError> {
        Err(BuildError::Declaration { name: self.name.clone(), message: message.into() })
    }

    /// Whether PTX allows it there. Names are checked where they are entered.
    pub(super) fn check(&self, place: Place, address_bits: u32) -> Result<(), BuildError> {
        self.check_space(place)?;
        self.check_type(place)?;
        self.check_sizes()?;
        self.check_linkage(place)?;
        if self.pointer.is_some() && place != Place::EntryParameter {
            return self.error("only a kernel parameter can be a pointer with a promise");
        }
        if self.pointer.is_some() && self.ty.bits() != address_bits {
            return self.error(format!("a pointer has {address_bits} bits"));
        }
        self.check_initial(address_bits)
    }

    fn check_space(&self, place: Place) -> Result<(), BuildError> {
        let (allowed, wanted): (&[StateSpace], _) = match place {
            Place::Module => (
                &[StateSpace::Global, StateSpace::Const, StateSpace::Shared],
                "a variable of a module is `.global`, `.const` or `.shared`",
            ),
            Place::Body => (
                &[StateSpace::Shared, StateSpace::Local, StateSpace::Param],
                "a variable of a function is `.shared`, `.local` or `.param`",
            ),
            Place::EntryParameter | Place::FunctionParameter => {
                (&[StateSpace::Param], "a parameter is `.param`")
            }
        };
        if allowed.contains(&self.space) { Ok(()) } else { self.error(wanted) }
    }

    fn check_type(&self, place: Place) -> Result<(), BuildError> {
        let opaque = self.ty.kind() == TypeKind::Opaque;
        if opaque && place != Place::EntryParameter && self.space != StateSpace::Global {
            return self
                .error("textures, samplers and surfaces are `.global` variables or kernel parameters");
        }
        if !opaque && (!self.ty.is_register_type() || self.ty == Type::Pred) {
            return self.error(format!("no variable can have the type `{}`", self.ty));
        }
        let fits = match self.elements {
            1 => true,
            2 | 4 => !opaque && self.ty.bits() * u32::from(self.elements) <= 128,
            _ => false,
        };
        if fits { Ok(()) } else { self.error("a vector has 2 or 4 elements and at most 128 bits") }
    }

    fn check_sizes(&self) -> Result<(), BuildError> {
        if self.align.is_some_and(|align| !align.is_power_of_two()) {
            return self.error("an alignment is a power of two");
        }
        if self.dimensions.contains(&Some(0)) {
            return self.error("a dimension of an array is not 0");
        }
        let element = u64::from(self.ty.bytes().unwrap_or(8)) * u64::from(self.elements);
        let sizes = self.dimensions.iter().flatten();
        let total = sizes.copied().try_fold(element, u64::checked_mul);
        if total.is_none_or(|total| total > i64::MAX as u64) {
            return self.error("the array is larger than any memory");
        }
        Ok(())
    }

    fn check_linkage(&self, place: Place) -> Result<(), BuildError> {
        if self.linkage.is_some() && place != Place::Module {
            return self.error("only a variable of a module has a linkage");
        }
        if self.linkage == Some(Linkage::Common) && self.space != StateSpace::Global {
            return self.error("only a `.global` variable can be `.common`");
        }
        if self.dimensions.contains(&None)
            && !(self.linkage == Some(Linkage::Extern) && self.space == StateSpace::Shared)
        {
            return self.error("only an `.extern` `.shared` array has no size");
        }
        Ok(())
    }

    fn check_initial(&self, address_bits: u32) -> Result<(), BuildError> {
        if self.initial.is_empty() {
            return Ok(());
        }
        if !matches!(self.space, StateSpace::Global | StateSpace::Const) {
            return self.error("only `.global` and `.const` variables have initial values");
        }
        if self.linkage == Some(Linkage::Extern) {
            return self.error("an `.extern` variable gets its initial value elsewhere");
        }
        if self.elements != 1 {
            return self.error("a vector has no initial value");
        }
        let count: u64 = self.dimensions.iter().flatten().product();
        if self.initial.len() as u64 > count {
            return self.error(format!("{} initial values for {count} elements", self.initial.len()));
        }
        for value in &self.initial {
            if !fits(self.ty, &value.0, address_bits) {
                return self.error(format!("an initial value does not fit the type `{}`", self.ty));
            }
        }
        Ok(())
    }
}

fn fits(ty: Type, value: &Kind, address_bits: u32) -> bool {
    let integer = matches!(ty.kind(), TypeKind::Bits | TypeKind::Unsigned | TypeKind::Signed);
    match value {
        Kind::Integer { bits, negative } => {
            let unused = 64 - ty.bits().min(64);
            let value = *bits as i64;
            integer
                && match negative {
                    true => value << unused >> unused == value,
                    false => *bits << unused >> unused == *bits,
                }
        }
        Kind::Single(_) => ty == Type::F32,
        Kind::Double(_) => ty == Type::F64,
        Kind::Variable { .. } | Kind::Function(_) => integer && ty.bits() == address_bits,
        _ => false,
    }
}
