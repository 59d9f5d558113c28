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

mod engine;
/// What is known of a function: the crate [`ptx_facts`].
pub use ptx_facts as facts;
mod rule;
mod rules;
mod subject;

pub use engine::check::{check, finish, verify};
pub use engine::cuda::coverage::{Coverage, CoverageCounts, Covered, Treatment};
pub use engine::cuda::host::verify_hosted;
pub use engine::cuda::{
    CudaConfig, CudaVerification, Included, asm_facts, check_cuda, verify_cuda, verify_cuda_with,
};
pub use engine::fix;
pub use engine::levels::{Config, Levels, UnknownRule};
pub use engine::loading::{Loader, Refusal, refusal};
pub use engine::problems::{lowering_findings, syntax_findings};
pub use engine::requirements::{Requirement, Requirements, requirements};
pub use engine::session::Session;
pub use engine::suppress::Suppressions;
pub use rule::{Level, RuleInfo};
pub use rules::text::not_text::not_text;
pub use rules::{find_rule, nearest_rule, rules};
pub use subject::fragment::Compiler;
pub use subject::fragment::surroundings::{Include, Surroundings, includes};
