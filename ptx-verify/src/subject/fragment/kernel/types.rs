//! Types with sizes.

use std::rc::Rc;

use ptx_syntax::cuda::body::{ArrayLength, Member, Structure, TemplateArgument, TypeName};

use super::{Frame, Lowering, Unclear};

/// Where a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Anywhere, as far as is known.
    Generic,
    Shared,
    /// In a parameter of the kernel.
    Param,
}

/// What of cooperative groups an object stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Block,
    Cluster,
    Warp,
    /// A pipeline, by its number.
    Pipeline(usize),
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    Void,
    /// An integer of 8, 16, 32 or 64 bits; `bool` is one of 8 bits that holds 0 or 1.
    Integer {
        bits: u32,
        signed: bool,
        is_bool: bool,
    },
    /// Another number, of so many bits, whose value is not followed.
    Float(u32),
    Vector(Rc<Self>, u32),
    Pointer(Rc<Self>, Space),
    Array(Rc<Self>, u64),
    Structure(Rc<Members>),
    Group(Group),
    /// `cuda::barrier`.
    Barrier,
    /// Something of so many bytes.
    Bytes(u64, u64),
    /// Of which nothing is known.
    Any,
}

/// What a parameter of a template stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given {
    Type(Ty),
    Number(u64, Ty),
}

/// The members of a structure with their places, its size and its alignment.
#[derive(Debug, PartialEq)]
pub(super) struct Members {
    pub name: String,
    /// What the parameters of its template stand for, in order.
    pub given: Vec<Given>,
    /// What it is derived of.
    pub bases: Vec<Rc<Self>>,
    /// Those of its bases come first.
    pub all: Vec<(String, Ty, u64)>,
    pub size: u64,
    pub align: u64,
}

/// No type is larger.
const MAX_SIZE: u64 = 1 << 30;

impl Ty {
    pub const INT: Self = Self::Integer { bits: 32, signed: true, is_bool: false };
    pub const UINT: Self = Self::Integer { bits: 32, signed: false, is_bool: false };
    pub const SIZE: Self = Self::Integer { bits: 64, signed: false, is_bool: false };
    pub const BOOL: Self = Self::Integer { bits: 8, signed: false, is_bool: true };

    /// Size and alignment in bytes.
    pub fn layout(&self) -> Result<(u64, u64), Unclear> {
        Ok(match self {
            Self::Integer { bits, .. } | Self::Float(bits) => (u64::from(bits / 8), u64::from(bits / 8)),
            Self::Vector(of, count) => {
                let (size, align) = of.layout()?;
                let whole = size * u64::from(*count);
                (whole, if *count == 3 { align } else { whole.min(16) })
            }
            Self::Pointer(..) | Self::Barrier => (8, 8),
            Self::Array(of, count) => {
                let (size, align) = of.layout()?;
                let whole = size.checked_mul(*count).filter(|size| *size <= MAX_SIZE);
                (whole.ok_or(Unclear)?, align)
            }
            Self::Structure(members) => (members.size, members.align),
            Self::Bytes(size, align) => (*size, *align),
            Self::Void | Self::Group(_) | Self::Any => return Err(Unclear),
        })
    }

    pub fn size(&self) -> Result<u64, Unclear> {
        Ok(self.layout()?.0)
    }

    /// Bits of the register that holds a value; none for what has no register.
    pub const fn register(&self) -> Option<u32> {
        match self {
            Self::Integer { bits: 64, .. } | Self::Pointer(..) | Self::Float(64) => Some(64),
            Self::Integer { .. } | Self::Float(_) => Some(32),
            _ => None,
        }
    }
}

impl<'s> Lowering<'_, 's> {
    /// The type that a name stands for here.
    pub(super) fn ty(&mut self, name: &TypeName<'s>) -> Result<Ty, Unclear> {
        Ok(match name {
            TypeName::Void => Ty::Void,
            TypeName::Bool => Ty::BOOL,
            TypeName::Integer { bits, signed } => {
                Ty::Integer { bits: *bits, signed: *signed, is_bool: false }
            }
            TypeName::Float(bits) => Ty::Float(*bits),
            TypeName::Vector(of, count) => Ty::Vector(Rc::new(self.ty(of)?), *count),
            TypeName::Pointer(of) => {
                let of = match self.ty(of) {
                    Ok(of) => of,
                    // To what is not known one can point.
                    Err(Unclear) => Ty::Any,
                };
                Ty::Pointer(Rc::new(of), Space::Generic)
            }
            TypeName::Array(of, ArrayLength(length)) => {
                let of = Rc::new(self.ty(of)?);
                let length = match length {
                    Some(length) => self.constant(length)?,
                    None => 0,
                };
                Ty::Array(of, length)
            }
            TypeName::Named(name, given) => self.named_type(name, given)?,
            TypeName::Library("barrier") => Ty::Barrier,
            TypeName::Library(_) => Ty::SIZE,
            TypeName::Reference(_) | TypeName::Auto | TypeName::Unknown => return Err(Unclear),
        })
    }

    fn named_type(&mut self, name: &'s str, given: &[TemplateArgument<'s>]) -> Result<Ty, Unclear> {
        if let Some(known) = self.type_in_scope(name) {
            return Ok(known);
        }
        if let Some(aliased) = self.program.aliases.get(name) {
            self.deeper()?;
            let found = self.ty(aliased);
            self.shallower();
            return found;
        }
        if name == "CUtensorMap" {
            return Ok(Ty::Bytes(128, 64));
        }
        let Some(structure) = self.program.structures.get(name) else {
            return if name == "pipeline_shared_state" { self.pipeline_state(given) } else { Err(Unclear) };
        };
        if self.program.specialized.contains(&name) {
            return Err(Unclear);
        }
        self.deeper()?;
        let mut bindings = Vec::new();
        for (index, parameter) in structure.template.iter().enumerate() {
            let argument = given.get(index).or(parameter.default.as_ref()).ok_or(Unclear)?;
            bindings.push((parameter.name, self.template_argument(argument, parameter.is_type)?));
        }
        let given = bindings.iter().map(|(_, binding)| binding.given()).collect::<Result<_, _>>()?;
        let first_name = self.names.len();
        self.frames.push(Frame { first_name, ..Frame::default() });
        self.names.extend(bindings);
        self.bind_constants(structure);
        let members = self.members(name, given, structure);
        self.names.truncate(first_name);
        self.frames.pop();
        self.shallower();
        Ok(Ty::Structure(Rc::new(members?)))
    }

    fn members(
        &mut self,
        name: &str,
        given: Vec<Given>,
        structure: &Structure<'s>,
    ) -> Result<Members, Unclear> {
        let (mut all, mut size, mut align) = (Vec::new(), 0_u64, 1_u64);
        let mut bases = Vec::new();
        for base in &structure.bases {
            let Ty::Structure(base) = self.ty(base)? else { return Err(Unclear) };
            size = size.next_multiple_of(base.align);
            all.extend(base.all.iter().map(|(name, ty, at)| (name.clone(), ty.clone(), size + at)));
            size += base.size;
            align = align.max(base.align);
            bases.push(base);
        }
        for Member { name: member, ty, align: asked, .. } in &structure.members {
            let ty = self.ty(ty)?;
            let (bytes, mut own) = ty.layout()?;
            if let Some(asked) = asked {
                own = own.max(self.alignment(asked)?);
            }
            size = size.next_multiple_of(own);
            all.push(((*member).to_owned(), ty, size));
            size += bytes;
            align = align.max(own);
        }
        if let Some(asked) = &structure.align {
            align = align.max(self.alignment(asked)?);
        }
        let name = name.to_owned();
        Ok(Members { name, given, bases, all, size: size.next_multiple_of(align), align })
    }
}
