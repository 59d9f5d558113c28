//! All tests that ask more than one crate, in one program: as thirty programs they were linked thirty times, and the last
//! test of each left a core idle. `cargo test -p ptx-tests cases::` runs those of one file.

mod asm_fixes;
mod asm_generated;
mod asm_oracle;
mod asm_planted;
mod assembler;
mod build;
mod canonical;
mod cases;
mod containers;
mod edit;
mod examples;
mod facts;
mod faults;
mod fixes;
mod format;
mod inline;
mod interpreter;
mod judge;
mod library;
mod link;
mod modules;
mod oracle;
mod precision;
mod properties;
mod protocol;
mod protocol_cuda;
mod rust_oracle;
mod syntax;
mod table;
mod words;
