//! A shared object that compiles with the driver and with `ptxas`, as a plug-in of another program would. What
//! it exports is its own function and nothing else: no `cu…` symbol that would get between the driver and
//! other users of it in the same process.

use ptx_emit::assemble::{Assembler, Choice, Options, Source};

/// How many functions an assembler finds in a small module, or -1 where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_count_functions() -> i32 {
    let text = b".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n";
    let source = Source { file: "k.ptx", text };
    let options = Options::default();
    let opened = Assembler::open(Choice::Auto, &options);
    let assembled = opened.and_then(|assembler| assembler.assemble(&source, &options));
    assembled.map_or(-1, |assembly| assembly.report.functions.len() as i32)
}
