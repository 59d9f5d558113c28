//! Types with sizes.

use std::rc::Rc;

use ptx_syntax::cuda::body::{
    ArrayLength, ExpressionKind, FloatKind, Member, StructureId, TemplateArgument, TypeName,
};

use super::{Callable, Frame, Lowering, Unclear};

/// Where a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Anywhere, as far as is known.
    Generic,
    Shared,
    /// In global memory; the address is a generic one.
    Global,
    /// In constant memory.
    Const,
    /// In a parameter of the kernel.
    Param,
}

/// What of cooperative groups an object stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Block,
    Cluster,
    Grid,
    Warp,
    /// So many threads of a warp.
    Part(u32),
    /// Those of a warp that are there together, by the number of the register that holds their mask.
    Coalesced(u32),
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
    Float(u32, FloatKind),
    Vector(Rc<Self>, u32),
    Pointer(Rc<Self>, Space),
    Array(Rc<Self>, u64),
    /// What a pointer points to, or a member or an element is, where it is `volatile`.
    Volatile(Rc<Self>),
    Structure(Rc<Members>),
    Group(Group),
    /// `cuda::barrier`.
    Barrier,
    /// `cuda::atomic`, or what `cuda::atomic_ref` refers to: its value, and who sees what is done to it.
    Atomic(Rc<Self>, &'static str),
    /// Something of so many bytes.
    Bytes(u64, u64),
    /// `std::index_sequence` and its kin.
    Sequence(Rc<Vec<u64>>),
    /// A structure that is named where its own members and bases are told, with what the parameters of its template stand for.
    Begun(StructureId, Rc<Vec<Given>>),
    /// A pointer to a function or to a member, which its value tells.
    Function,
    /// A lambda, or a function as a value: which one it is, its type tells.
    Callable(Rc<Callable>),
    /// A template of structures, as an argument of another template.
    Template(StructureId),
    /// Of which nothing is known.
    Any,
}

/// What a parameter of a template stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given {
    Type(Ty),
    Number(u64, Ty),
    /// An object of numbers, in order.
    Object(Vec<u64>, Ty),
    Pack(Vec<Self>),
}

/// The members of a structure with their places, its size and its alignment.
#[derive(Debug, PartialEq)]
pub(super) struct Members {
    pub structure: StructureId,
    pub name: String,
    /// The structures that it is in, with what the parameters of their templates stand for, the outermost first.
    pub around: Vec<(StructureId, Vec<Given>)>,
    /// What the parameters of its template stand for, in order.
    pub given: Vec<Given>,
    /// What it is derived of.
    pub bases: Vec<Rc<Self>>,
    /// Those of its bases come first.
    pub all: Vec<(String, Ty, u64)>,
    /// Where the bits begin of those that are bit fields.
    pub bits: Vec<(String, u64)>,
    /// Those that are references, which are kept as pointers.
    pub references: Vec<String>,
    pub size: u64,
    pub align: u64,
    /// Whether the members share their memory.
    pub is_union: bool,
}

/// Whether the arguments of `wmma::fragment` are those of what adds up.
fn is_accumulator(given: &[TemplateArgument<'_>]) -> bool {
    match given.first() {
        Some(TemplateArgument::Type(TypeName::Named(name, _) | TypeName::Scoped(_, name, _))) => {
            *name == "accumulator"
        }
        Some(TemplateArgument::Value(value)) => match &value.kind {
            ExpressionKind::Name(name, _) | ExpressionKind::Scoped { name, .. } => *name == "accumulator",
            _ => false,
        },
        _ => false,
    }
}

/// The type of the role of a thread in a pipeline: as a truth value it says whether the thread fills the stages.
pub(super) const ROLE: &str = "pipeline_role";
/// The types of how atomic operations are ordered, and of who sees them.
pub(super) const ORDERS_AND_SCOPES: [&str; 2] = ["memory_order", "thread_scope"];
/// No type is larger.
const MAX_SIZE: u64 = 1 << 30;

impl Ty {
    pub const FLOAT: Self = Self::Float(32, FloatKind::Plain);
    pub const INT: Self = Self::Integer { bits: 32, signed: true, is_bool: false };
    pub const UINT: Self = Self::Integer { bits: 32, signed: false, is_bool: false };
    pub const SIZE: Self = Self::Integer { bits: 64, signed: false, is_bool: false };
    pub const BOOL: Self = Self::Integer { bits: 8, signed: false, is_bool: true };

    /// Whether a member of it is a reference.
    pub fn has_reference(&self, name: &str) -> bool {
        matches!(self, Self::Structure(members) if members.references.iter().any(|each| each == name))
    }

    /// Size and alignment in bytes.
    pub fn layout(&self) -> Result<(u64, u64), Unclear> {
        Ok(match self {
            // A bit field lies in no bytes of its own.
            Self::Integer { bits, .. } if !matches!(bits, 8 | 16 | 32 | 64) => return Err(Unclear),
            Self::Integer { bits, .. } | Self::Float(bits, _) => (u64::from(bits / 8), u64::from(bits / 8)),
            Self::Vector(of, count) => {
                let (size, align) = of.layout()?;
                let whole = size * u64::from(*count);
                (whole, if *count == 3 { align } else { whole.min(16) })
            }
            Self::Pointer(..) | Self::Barrier | Self::Function => (8, 8),
            Self::Array(of, count) => {
                let (size, align) = of.layout()?;
                let whole = size.checked_mul(*count).filter(|size| *size <= MAX_SIZE);
                (whole.ok_or(Unclear)?, align)
            }
            Self::Structure(members) => (members.size, members.align),
            Self::Atomic(of, _) | Self::Volatile(of) => of.layout()?,
            Self::Bytes(size, align) => (*size, *align),
            Self::Sequence(_) => (1, 1),
            Self::Void
            | Self::Group(_)
            | Self::Callable(_)
            | Self::Begun(..)
            | Self::Template(_)
            | Self::Any => {
                return Err(Unclear);
            }
        })
    }

    pub fn size(&self) -> Result<u64, Unclear> {
        Ok(self.layout()?.0)
    }

    /// The type without `volatile`.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Volatile(of) => of,
            of => of,
        }
    }

    /// The type with `volatile`: of an array its elements are.
    pub fn volatile(self) -> Self {
        match self {
            Self::Array(of, count) => Self::Array(Rc::new((*of).clone().volatile()), count),
            Self::Integer { .. }
            | Self::Float(..)
            | Self::Vector(..)
            | Self::Pointer(..)
            | Self::Structure(_)
            | Self::Bytes(..) => Self::Volatile(Rc::new(self)),
            other => other,
        }
    }

    /// Bits of the register that holds a value; none for what has no register.
    pub const fn register(&self) -> Option<u32> {
        match self {
            Self::Integer { bits: 64, .. } | Self::Pointer(..) | Self::Float(64, _) => Some(64),
            Self::Integer { .. } | Self::Float(..) => Some(32),
            _ => None,
        }
    }
}

impl<'s> Lowering<'_, 's> {
    /// The type that a name stands for here, of a value.
    pub(super) fn ty(&mut self, name: &TypeName<'s>) -> Result<Ty, Unclear> {
        Ok(match self.ty_in_memory(name)? {
            Ty::Volatile(of) => (*of).clone(),
            ty => ty,
        })
    }

    /// The type that a name stands for here, of what lies in memory: it may be `volatile`.
    pub(super) fn ty_in_memory(&mut self, name: &TypeName<'s>) -> Result<Ty, Unclear> {
        let found = self.ty_as_named(name)?;
        self.whole(found)
    }

    /// A structure that has been named before its members were known, with these.
    pub(super) fn whole(&mut self, ty: Ty) -> Result<Ty, Unclear> {
        match &ty {
            Ty::Begun(id, given) if !self.is_being_made(*id, given) => {
                let (id, given) = (*id, given.to_vec());
                self.structure_given(id, given)
            }
            _ => Ok(ty),
        }
    }

    fn is_being_made(&self, id: StructureId, given: &[Given]) -> bool {
        self.making.iter().any(|(known, own)| *known == id && own == given)
    }

    fn ty_as_named(&mut self, name: &TypeName<'s>) -> Result<Ty, Unclear> {
        Ok(match name {
            TypeName::Void => Ty::Void,
            TypeName::Bool => Ty::BOOL,
            TypeName::Integer { bits, signed } => {
                Ty::Integer { bits: *bits, signed: *signed, is_bool: false }
            }
            TypeName::Float(bits, kind) => Ty::Float(*bits, *kind),
            TypeName::Bits(of, own) => match self.ty(of)? {
                Ty::Integer { bits, signed, is_bool } if (1..=bits).contains(own) => {
                    Ty::Integer { bits: *own, signed, is_bool }
                }
                _ => return Err(Unclear),
            },
            TypeName::Vector(of, count) => Ty::Vector(Rc::new(self.ty(of)?), *count),
            TypeName::Function => Ty::Function,
            TypeName::Pointer(of) => {
                let of = match self.ty_in_memory(of) {
                    Ok(of) => of,
                    // To what is not known one can point.
                    Err(Unclear) => Ty::Any,
                };
                Ty::Pointer(Rc::new(of), Space::Generic)
            }
            TypeName::Array(of, ArrayLength(length)) => {
                let of = Rc::new(self.ty_in_memory(of)?);
                let length = match length {
                    Some(length) => self.constant(length)?,
                    None => 0,
                };
                Ty::Array(of, length)
            }
            TypeName::Named(name, given) => self.named_type(name, given)?,
            TypeName::Scoped(owner, name, given) => self.scoped_type(owner, name, given)?,
            TypeName::Volatile(of) => self.ty_in_memory(of)?.volatile(),
            TypeName::Of(of) => self.type_of(of)?,
            TypeName::Structure(id) if self.program.structure(*id).is_known => {
                self.structure_type(*id, &[])?
            }
            TypeName::Library("barrier") => Ty::Barrier,
            TypeName::Library(_) => Ty::SIZE,
            TypeName::Structure(_)
            | TypeName::Reference(_)
            | TypeName::Auto
            | TypeName::Unknown
            | TypeName::Expand(_) => {
                return Err(Unclear);
            }
        })
    }

    pub(super) fn named_type(
        &mut self,
        name: &'s str,
        given: &[TemplateArgument<'s>],
    ) -> Result<Ty, Unclear> {
        match self.type_in_scope(name) {
            Some(Ty::Template(id)) if !given.is_empty() => return self.structure_type(id, given),
            Some(known) => return Ok(known),
            None => {}
        }
        let program = self.program;
        // A structure sees those in it, and in the ones around it.
        let mut within = self.frames.last().and_then(Frame::within);
        while let Some(outer) = within {
            if let Some(found) = program.structure_in(Some(outer), name) {
                return self.structure_type(found, given);
            }
            // In a template its name alone is the type with the arguments that are given here.
            let own = program.structure(outer);
            if own.name == name && given.is_empty() && !own.template.is_empty() {
                let own = own.template.iter().map(|each| self.binding(each.name).ok_or(Unclear)?.given());
                let own = own.collect::<Result<Vec<_>, _>>()?;
                return self.structure_given(outer, own);
            }
            if let Some((_, parameters, aliased)) =
                own.templates_of_aliases.iter().find(|(known, ..)| *known == name)
            {
                let bindings = self.template_bindings(parameters, given)?;
                let names = self.names.len();
                self.names.extend(bindings);
                self.deeper()?;
                let found = self.ty_in_memory(aliased);
                self.shallower();
                self.names.truncate(names);
                return found;
            }
            within = program.structure(outer).outer;
        }
        let of_alias = program.templates_of_aliases.get(name);
        // With arguments it is what another name space calls so: `using Ring = detail::Ring<4>;`
        if let Some(aliased) = program.aliases.get(name).filter(|_| given.is_empty() || of_alias.is_some()) {
            self.deeper()?;
            let found = match of_alias {
                None => self.ty_in_memory(aliased),
                Some(parameters) => {
                    let bindings = self.template_bindings(parameters, given)?;
                    let names = self.names.len();
                    self.names.extend(bindings);
                    let found = self.ty_in_memory(aliased);
                    self.names.truncate(names);
                    found
                }
            };
            self.shallower();
            return found;
        }
        if let Some(sequence) = self.sequence(name, given)? {
            return Ok(sequence);
        }
        if name == "dim3" {
            return Ok(Ty::Vector(Rc::new(Ty::UINT), 3));
        }
        if name == "CUtensorMap" {
            return Ok(Ty::Bytes(128, 64));
        }
        if program.is_ambiguous(None, name) {
            return Err(Unclear);
        }
        match program.structure_in(None, name).or_else(|| program.nested(name)) {
            Some(found) => self.structure_type(found, given),
            // `wmma::fragment`: what it holds is not followed.
            None if name == "fragment" && (given.len() >= 5 || is_accumulator(given)) => Ok(Ty::Any),
            None if matches!(name, "atomic" | "atomic_ref") => self.atomic_type(given),
            None if let Some(ty) = self.of_trait(name, given)? => Ok(ty),
            None if name == "pipeline_shared_state" => self.pipeline_state(given),
            // What it says of the cache tells nothing of where it points to.
            None if name == "annotated_ptr" => match given {
                [TemplateArgument::Type(of), ..] => {
                    Ok(Ty::Pointer(Rc::new(self.ty_in_memory(of)?), Space::Generic))
                }
                _ => Err(Unclear),
            },
            None if let Some(state) = state_of_generator(name) => Ok(state),
            None if name == ROLE => Ok(Ty::BOOL),
            None if ORDERS_AND_SCOPES.contains(&name) => Ok(Ty::INT),
            None if matches!(name, "__mbarrier_t" | "__mbarrier_token_t") => Ok(Ty::SIZE),
            None if matches!(name, "cudaTextureObject_t" | "cudaSurfaceObject_t") => Ok(Ty::SIZE),
            // Numbers of 8 bits by their conversions are numbers without a sign.
            None if matches!(name, "__nv_fp8_storage_t" | "__nv_fp4x2_storage_t") => {
                Ok(Ty::Integer { bits: 8, signed: false, is_bool: false })
            }
            None if name == "__nv_fp8x2_storage_t" => {
                Ok(Ty::Integer { bits: 16, signed: false, is_bool: false })
            }
            None if name == "__nv_fp8x4_storage_t" => Ok(Ty::UINT),
            None => Ok(Ty::Group(self.group_type(name, given)?)),
        }
    }

    /// A type as an argument of a template, where the name of a template may stand alone.
    pub(super) fn type_argument(&mut self, name: &TypeName<'s>) -> Result<Ty, Unclear> {
        let (found, program) = (self.ty(name), self.program);
        let (Err(Unclear), TypeName::Named(name, given) | TypeName::Scoped(_, name, given)) = (&found, name)
        else {
            return found;
        };
        if !given.is_empty() || program.is_ambiguous(None, name) {
            return found;
        }
        let template = program.structure_in(None, name).or_else(|| program.nested(name));
        let template = template.filter(|template| !program.structure(*template).template.is_empty());
        template.map(Ty::Template).ok_or(Unclear)
    }

    /// A type in a structure; what stands before the name may be a namespace as well.
    fn scoped_type(
        &mut self,
        owner: &TypeName<'s>,
        name: &'s str,
        given: &[TemplateArgument<'s>],
    ) -> Result<Ty, Unclear> {
        // `typename std::conditional<…>::type`
        if let (TypeName::Named(of, types), "type", true) = (owner, name, given.is_empty())
            && self.program.structure_in(None, of).is_none()
            && let Some(ty) = self.of_trait(of, types)?
        {
            return Ok(ty);
        }
        let Ok(Ty::Structure(owner)) = self.ty(owner) else { return self.named_type(name, given) };
        // What is given is seen from here.
        let mut pending = vec![owner];
        while let Some(each) = pending.pop() {
            self.deeper()?;
            let found = self.type_in(&each, name, given);
            self.shallower();
            if let Some(found) = found? {
                return Ok(found);
            }
            pending.extend(each.bases.iter().rev().cloned());
        }
        self.named_type(name, given)
    }

    /// A type that stands in a structure itself, or is named in it.
    fn type_in(
        &mut self,
        owner: &Rc<Members>,
        name: &'s str,
        given: &[TemplateArgument<'s>],
    ) -> Result<Option<Ty>, Unclear> {
        let program = self.program;
        let nested = program.structure_in(Some(owner.structure), name);
        let structure = program.structure(owner.structure);
        let is_aliased = structure.aliases.iter().any(|(known, _)| *known == name);
        let of_alias = structure.templates_of_aliases.iter().find(|(known, ..)| *known == name);
        if nested.is_none() && !is_aliased && of_alias.is_none() {
            return Ok(None);
        }
        // The arguments of a template are seen from here.
        let parameters = match (of_alias, nested) {
            (Some((_, parameters, _)), _) => parameters.as_slice(),
            (None, Some(nested)) if !given.is_empty() => &program.structure(nested).template,
            _ => &[],
        };
        let bindings = self.template_bindings(parameters, given)?;
        let own = bindings.iter().map(|(_, binding)| binding.given()).collect::<Result<Vec<_>, _>>()?;
        let first_name = self.names.len();
        self.frames.push(Frame { first_name, structure: Some(owner.structure), ..Frame::default() });
        let found = match (self.bind_structure(owner), nested) {
            (Err(unclear), _) => Err(unclear),
            (Ok(()), _) if let Some((_, _, aliased)) = of_alias => {
                self.names.extend(bindings);
                self.ty_in_memory(aliased)
            }
            (Ok(()), Some(nested)) if given.is_empty() => self.structure_type(nested, &[]),
            (Ok(()), Some(nested)) => self.structure_given(nested, own),
            (Ok(()), None) => self.type_in_scope(name).ok_or(Unclear),
        };
        self.names.truncate(first_name);
        self.frames.pop();
        found.map(Some)
    }

    /// The type that a structure is here; the parameters of the templates around it are known.
    fn structure_type(&mut self, id: StructureId, given: &[TemplateArgument<'s>]) -> Result<Ty, Unclear> {
        let structure = self.program.structure(id);
        let bindings = self.template_bindings(&structure.template, given)?;
        let own = bindings.iter().map(|(_, binding)| binding.given()).collect::<Result<Vec<_>, _>>()?;
        self.structure_given(id, own)
    }

    /// The same, where it is known what the parameters of its own template stand for.
    pub(super) fn structure_given(&mut self, id: StructureId, own: Vec<Given>) -> Result<Ty, Unclear> {
        if self.is_being_made(id, &own) {
            return Ok(Ty::Begun(id, Rc::new(own)));
        }
        self.deeper()?;
        self.making.push((id, own.clone()));
        let made = self.structure_made(id, own);
        self.making.pop();
        self.shallower();
        made
    }

    fn structure_made(&mut self, id: StructureId, own: Vec<Given>) -> Result<Ty, Unclear> {
        let program = self.program;
        let mut around = Vec::new();
        let mut outer = program.structure(id).outer;
        while let Some(each) = outer {
            let parameters = &program.structure(each).template;
            let given = parameters.iter().map(|each| self.binding(each.name).ok_or(Unclear)?.given());
            around.push((each, given.collect::<Result<Vec<_>, _>>()?));
            outer = program.structure(each).outer;
        }
        around.reverse();
        let (id, own) = self.specialized(id, own)?;
        let first_name = self.names.len();
        self.frames.push(Frame { first_name, structure: Some(id), ..Frame::default() });
        for (outer, given) in &around {
            self.bind_template(*outer, given);
        }
        self.bind_template(id, &own);
        let members = self.members(id, own, around);
        self.names.truncate(first_name);
        self.frames.pop();
        Ok(Ty::Structure(Rc::new(members?)))
    }

    fn members(
        &mut self,
        id: StructureId,
        given: Vec<Given>,
        around: Vec<(StructureId, Vec<Given>)>,
    ) -> Result<Members, Unclear> {
        let structure = self.program.structure(id);
        let (mut all, mut size, mut align) = (Vec::new(), 0_u64, 1_u64);
        let (mut bases, mut references, mut is_union) = (Vec::new(), Vec::new(), structure.is_union);
        for base in &structure.bases {
            let Ty::Structure(base) = self.ty(base)? else { return Err(Unclear) };
            references.extend(base.references.iter().cloned());
            size = size.next_multiple_of(base.align);
            all.extend(base.all.iter().map(|(name, ty, at)| (name.clone(), ty.clone(), size + at)));
            size += base.size;
            align = align.max(base.align);
            bases.push(base);
        }
        // How many bits of the last byte are those of bit fields.
        let mut taken = 0_u64;
        let mut all_bits: Vec<(String, u64)> = Vec::new();
        for Member { name: member, ty, align: asked, .. } in &structure.members {
            if let (TypeName::Bits(of, bits), false) = (ty, structure.is_union) {
                let (unit, own) = self.ty(of)?.layout()?;
                let bits = u64::from(*bits);
                let mut at = if taken == 0 { 8 * size } else { 8 * (size - 1) + taken };
                // It lies in one of the words of its type.
                if at / (8 * unit) != (at + bits - 1) / (8 * unit) {
                    at = at.next_multiple_of(8 * unit);
                }
                all.push(((*member).to_owned(), self.ty(ty)?, at / 8));
                all_bits.push(((*member).to_owned(), at));
                let is_whole = matches!(bits, 8 | 16 | 32 | 64);
                if is_whole && at % bits != 0 {
                    return Err(Unclear);
                }
                (size, taken) = ((at + bits).div_ceil(8), (at + bits) % 8);
                align = align.max(own);
                continue;
            }
            taken = 0;
            let ty = match ty {
                TypeName::Reference(of) => {
                    references.push((*member).to_owned());
                    // A pipeline has no type of its own: it is the one that the reference refers to.
                    Ty::Pointer(Rc::new(self.ty_in_memory(of).unwrap_or(Ty::Any)), Space::Generic)
                }
                // It is made when the object is, and has no type before.
                TypeName::Named("pipeline", given) if !given.is_empty() => {
                    references.push((*member).to_owned());
                    Ty::Pointer(Rc::new(Ty::Any), Space::Generic)
                }
                ty if self.refers_to_atomic(ty) => {
                    references.push((*member).to_owned());
                    Ty::Pointer(Rc::new(self.ty_in_memory(ty)?), Space::Generic)
                }
                ty => self.ty_in_memory(ty)?,
            };
            // An object that stands for a group, or a lambda, holds nothing that is followed.
            let is_empty = matches!(ty, Ty::Group(_) | Ty::Callable(_));
            let (bytes, mut own) = if is_empty { (1, 1) } else { ty.layout()? };
            if let Some(asked) = asked {
                own = own.max(self.alignment(asked)?);
            }
            let at = if structure.is_union { 0 } else { size.next_multiple_of(own) };
            match &ty {
                // Its members are those of the structure around it.
                Ty::Structure(inner) if is_unnamed(member) => {
                    all.extend(inner.all.iter().map(|(name, ty, own)| (name.clone(), ty.clone(), at + own)));
                    all_bits.extend(inner.bits.iter().map(|(name, own)| (name.clone(), 8 * at + own)));
                    references.extend(inner.references.iter().cloned());
                    is_union |= inner.is_union;
                }
                _ => all.push(((*member).to_owned(), ty, at)),
            }
            size = size.max(at + bytes);
            align = align.max(own);
        }
        if let Some(asked) = &structure.align {
            align = align.max(self.alignment(asked)?);
        }
        let name = structure.name.to_owned();
        let size = size.next_multiple_of(align);
        Ok(Members {
            structure: id,
            name,
            around,
            given,
            bases,
            all,
            bits: all_bits,
            references,
            size,
            align,
            is_union,
        })
    }
}

/// Whether a member is a structure without a name: it has the word that begins it.
pub(super) fn is_unnamed(member: &str) -> bool {
    matches!(member, "struct" | "union" | "class")
}

/// The size and the alignment of the state of one of cuRAND's generators.
fn state_of_generator(name: &str) -> Option<Ty> {
    Some(match name {
        "curandState" | "curandState_t" | "curandStateXORWOW" | "curandStateXORWOW_t" => Ty::Bytes(48, 8),
        "curandStatePhilox4_32_10" | "curandStatePhilox4_32_10_t" => Ty::Bytes(64, 16),
        "curandStateMRG32k3a" | "curandStateMRG32k3a_t" => Ty::Bytes(48, 8),
        _ => return None,
    })
}

/// Which element of a vector a member is.
pub(super) fn vector_index(name: &str) -> Option<u64> {
    Some(match name {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        "w" => 3,
        _ => return None,
    })
}

/// The type of a load or a store by its bytes.
pub(super) const fn kind_of(bytes: u64, signed: bool) -> &'static str {
    match (bytes, signed) {
        (1, false) => "u8",
        (1, true) => "s8",
        (2, false) => "u16",
        (2, true) => "s16",
        (8, _) => "b64",
        _ => "b32",
    }
}
