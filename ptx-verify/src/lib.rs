//! Verifier for NVIDIA PTX: rules over the typed IR of [`ptx_ir`].
//!
//! [`verify`] asks every rule about a lowered module; [`check`] does the whole way from text to findings.
//! The result is the same for the same input, byte for byte, whatever the number of threads.
//!
//! What holds throughout:
//!
//! * A finding of class `invalid` is given exactly where NVIDIA's assembler refuses the module, and on the
//!   same line. Every claim of that kind was put to the assembler; the rule's page says so.
//! * Rules return values. Nothing here prints, and nothing here reads a file.
//! * Nothing is allocated for an instruction that has nothing to report: what is wrong with a spelling is
//!   known once for each distinct spelling, and an instruction whose operands fit carries the number of the
//!   table's instance that it is.
//! * One rule is one file of `src/rules`; its doc comment is its manual page, which `ptx-cli explain` shows.
//!
//! What is *not* checked: what only code generation finds (resource limits, unresolved external functions).

mod asm;
mod config;
mod context;
pub mod dataflow;
mod declarations;
mod driver;
pub mod facts;
pub mod fix;
mod gates;
mod instruction;
mod memory;
mod mentions;
mod objects;
mod producer;
mod registry;
mod requirements;
mod rules;
mod summary;
mod suppress;

pub use asm::coverage::{Coverage, CoverageCounts, Covered, Treatment};
pub use asm::surroundings::{Include, Surroundings, includes};
pub use asm::{Compiler, CudaConfig, CudaVerification, check_cuda, verify_cuda, verify_cuda_with};
pub use config::{Config, Level, Levels, UnknownRule};
pub use driver::{check, finish, verify};
pub use registry::{RuleInfo, find_rule, nearest_rule, rules};
pub use requirements::{Requirement, Requirements, requirements};
pub use suppress::Suppressions;
