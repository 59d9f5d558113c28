//! rustc and NVIDIA's assembler as judges of Rust's `asm!`: what rustc makes of a statement is refused exactly when there is
//! an error of class `invalid` in it.
//!
//! Without a library for the target, so the source has the few items that the language itself asks for. They change with
//! rustc; one that does not take them says nothing, and the test is passed over.

use std::fs;
use std::process::Command;

use ptx_hosts::Language;
use ptx_syntax::{Class, Severity};
use ptx_tests::tools::{assemble, needed_ptxas};
use ptx_verify::{Config, CudaConfig, verify_hosted};

const PRELUDE: &str = r#"#![feature(no_core, lang_items, rustc_attrs, decl_macro, asm_experimental_arch, auto_traits)]
#![no_core]
#![allow(internal_features)]
#![crate_type = "lib"]
#[lang = "pointee_sized"] pub trait PointeeSized {}
#[lang = "meta_sized"] pub trait MetaSized: PointeeSized {}
#[lang = "sized"] pub trait Sized: MetaSized {}
#[lang = "copy"] pub trait Copy {}
impl Copy for u32 {}
impl Copy for u64 {}
#[lang = "freeze"] unsafe auto trait Freeze {}
#[rustc_builtin_macro] pub macro asm("assembly template", $(operands,)* $(options($(option),*))?) {}
"#;

const STATEMENTS: [&str; 10] = [
    r#""add.u32 {0}, {1}, 1;", out(reg32) y, in(reg32) x"#,
    r#""add.u32 {0}, {1}, 1;", "add.u32 {0}, {0}, {1};", out(reg32) y, in(reg32) x"#,
    r#""add.u32 {0}, {1}, 1", "add.u32 {0}, {0}, {1};", out(reg32) y, in(reg32) x"#,
    r#""mov.u32 {}, %dynamic_smem_size", out(reg32) y"#,
    r#""mov.u32 {}, %dynamic_smem_size;", out(reg32) y"#,
    r#""{{ .reg .u32 t; mov.u32 t, {1}; mov.u32 {0}, t; }}", out(reg32) y, in(reg32) x, options(pure, nomem)"#,
    r#""{{ .reg .u32 t; mov.u32 t, {1}; mov.u32 {0}, t; ", out(reg32) y, in(reg32) x"#,
    r#""mov.u64 {0}, 1;", out(reg32) y"#,
    r#""fence.sc.gl;", "mov.u32 {0}, 0;", lateout(reg32) y"#,
    r#""mov.u32 {a}, {b};", b = in(reg32) x, a = out(reg32) y"#,
];

fn source(statement: &str) -> String {
    format!(
        "{PRELUDE}#[unsafe(no_mangle)] pub unsafe fn f(x: u32) -> u32 {{ let y: u32; unsafe {{ asm!({statement}) }}; y }}\n"
    )
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn rustc_and_ptxas_agree_about_statements() {
    let folder = tempfile::tempdir().unwrap();
    let (file, made) = (folder.path().join("a.rs"), folder.path().join("a.ptx"));
    for (index, statement) in STATEMENTS.iter().enumerate() {
        let text = source(statement);
        fs::write(&file, &text).unwrap();
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.env("RUSTC_BOOTSTRAP", "1").args([
            "--target",
            "nvptx64-nvidia-cuda",
            "-Ctarget-cpu=sm_70",
            "-O",
        ]);
        let output = rustc.args(["--emit=asm", "-o"]).arg(&made).arg(&file).output().unwrap();
        if !output.status.success() {
            assert!(index == 0, "{statement}: {}", String::from_utf8_lossy(&output.stderr));
            eprintln!("passed over: this rustc does not take the source");
            return;
        }
        let refused = !assemble(needed_ptxas(), &made, "sm_90").unwrap().is_empty();
        let hosted = ptx_hosts::find(Language::Rust, &text);
        let found = verify_hosted(&text, &hosted, &CudaConfig::default(), &Config::default()).diagnostics;
        let invalid =
            found.iter().any(|each| each.class == Class::Invalid && each.severity == Severity::Error);
        assert_eq!(invalid, refused, "{statement}\n{found:#?}\n{}", fs::read_to_string(&made).unwrap());
    }
}
