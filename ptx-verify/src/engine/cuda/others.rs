//! Asm statements in macros of files that a source includes, which are verified where the source uses the macros.
//!
//! What is wrong whatever the arguments is told where the macro is defined, when that file is verified. A use adds what
//! its arguments bring about.

use std::collections::HashSet;
use std::sync::LazyLock;

use memchr::memmem;
use ptx_syntax::cuda::{self, Declarations, OtherMacro};

use super::{CudaConfig, Included, of_file};

/// No declarations.
pub(super) fn none() -> &'static Declarations {
    static NONE: LazyLock<Declarations> = LazyLock::new(Declarations::default);
    &NONE
}

/// Whether a source may use macros with PTX: it has code for the device, and includes something.
pub(super) fn may_use_macros(source: &str) -> bool {
    let has = |word: &str| memmem::find(source.as_bytes(), word.as_bytes()).is_some();
    // Many projects have macros for `__device__`.
    (has("__global__") || has("__device__") || has("DEVICE")) && has("#include")
}

/// What is found in the macros by themselves: the name of each and the code of the rule.
pub(super) fn alone(declarations: &Declarations, config: &CudaConfig) -> HashSet<(String, &'static str)> {
    let text = declarations.text();
    let file = cuda::extract(text);
    let (found, _) = of_file(text, &file, config, Included::default());
    let of = |at: u32| {
        let after = file.macros.partition_point(|each| each.name.start <= at);
        file.macros.get(after.checked_sub(1)?).filter(|each| at <= each.body.end)
    };
    let named = found.iter().filter_map(|found| Some((of(found.span.start)?, found.code)));
    named.map(|(found_in, code)| (found_in.name.text(text).to_owned(), code)).collect()
}

/// Where a macro of another file is.
pub(super) fn place(found: &OtherMacro) -> String {
    match found.file.as_str() {
        "" => format!("another file defines `{}`", found.name),
        file => format!("`{}` is defined in {file}, line {}", found.name, found.line),
    }
}
