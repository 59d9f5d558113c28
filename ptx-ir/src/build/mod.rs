//! A library user's way to a module: each step is checked, so that a module that came out of it is well formed.
//!
//! * Every instruction is matched against the instruction table when it is added, with the module's version and
//!   target; what does not fit is a [`BuildError`] that says why, and nothing has changed.
//! * Registers, labels, variables and functions are handles of the function or module that made them. Used in
//!   another one, or outside of the block that declares them, they are refused.
//! * A name has one meaning wherever it is visible: nothing may hide something else.
//! * A function is part of the module only when it is finished, which wants a place for each label and an end that
//!   control does not run past.
//!
//! What is not checked: what a value is at run time. A register may be read before it is written, a carry may be
//! lost, an address may be misaligned; the rules of the verifier find those in the finished module.
//!
//! A kernel that adds one to each element of an array:
//!
//! ```
//! use ptx_ir::build::{BuildError, ModuleBuilder, Value};
//! use ptx_ir::ir::Module;
//! use ptx_ir::target::Target;
//! use ptx_ir::types::Type;
//! use ptx_ir::version::Version;
//!
//! fn add_one() -> Result<Module, BuildError> {
//!     let mut module = ModuleBuilder::new(Version::new(8, 0), Target::parse("sm_80").unwrap_or(Target::OLDEST))?;
//!     let mut f = module.entry("add_one")?;
//!     let (data, count) = (f.param("data", Type::U64)?, f.param("count", Type::U32)?);
//!     let (base, address) = (f.reg(Type::B64), f.reg(Type::B64));
//!     let (index, limit, value) = (f.reg(Type::B32), f.reg(Type::B32), f.reg(Type::B32));
//!     let outside = f.reg(Type::Pred);
//!     let done = f.label("done")?;
//!
//!     f.push("mov.u32", [index.into(), Value::special("%tid.x")?])?;
//!     f.push("ld.param.u32", [limit.into(), count.at(0)])?;
//!     f.push("setp.ge.u32", [outside.into(), index.into(), limit.into()])?;
//!     f.guard(outside).push("bra", [done.into()])?;
//!     f.push("ld.param.u64", [base.into(), data.at(0)])?;
//!     f.push("cvta.to.global.u64", [base.into(), base.into()])?;
//!     f.push("mad.wide.u32", [address.into(), index.into(), 4.into(), base.into()])?;
//!     f.push("ld.global.u32", [value.into(), address.at(0)])?;
//!     f.push("add.u32", [value.into(), value.into(), 1.into()])?;
//!     f.push("st.global.u32", [address.at(0), value.into()])?;
//!     f.place(done)?;
//!     f.push("ret", [])?;
//!     f.finish()?;
//!     Ok(module.finish())
//! }
//!
//! let module = add_one().unwrap();
//! assert_eq!(module.items.len(), 1);
//! ```
//!
//! `ptx_emit::canonical` prints the module. What does not fit is refused on the spot:
//!
//! ```
//! # use ptx_ir::{build::ModuleBuilder, target::Target, types::Type, version::Version};
//! # let mut module = ModuleBuilder::new(Version::new(8, 0), Target::parse("sm_80").unwrap()).unwrap();
//! let mut f = module.entry("k").unwrap();
//! let (sum, term) = (f.reg(Type::B32), f.reg(Type::F32));
//! let error = f.push("add.u32", [sum.into(), sum.into(), term.into()]).unwrap_err();
//! assert!(error.to_string().starts_with("operand 3 of `add.u32`"));
//! ```

mod call;
mod declaration;
mod directive;
pub mod edit;
mod error;
mod explain;
mod finish;
mod function;
mod indirect;
mod instruction;
mod module;
mod name;
mod scope;
mod signature;
mod value;

pub use declaration::Declaration;
pub use error::{BuildError, NameProblem};
pub use function::{FunctionBuilder, Targets};
pub use instruction::Guarded;
pub use module::ModuleBuilder;
pub use value::{Func, Label, Reg, Value, Var};
