//! `loads` and `verify --cuda`: who takes a file.

mod common;

use common::Scratch;
use serde_json::Value;

/// A module that needs `version`, and says so unless `written` says something else.
fn module(written: &str, target: &str, instruction: &str) -> String {
    format!(
        ".version {written}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n\t.reg .b32 %r<2>;\n\t{instruction}\n\tret;\n}}\n"
    )
}

#[test]
fn each_file_is_judged_for_each_driver_and_device() {
    let scratch = Scratch::new();
    scratch.file("new.ptx", module("9.1", "sm_90a", "mov.u32 %r1, %aggr_smem_size;"));
    let answer =
        scratch.run(&["loads", "new.ptx", "--driver", "520,535.104.05,590", "--target", "sm_90a,sm_100a"]);
    assert_eq!(answer.status, 1);
    let lines: Vec<Vec<&str>> = answer
        .stdout
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect())
        .collect();
    let lower =
        "1:10: `.version 9.1` is newer, though nothing needs more than PTX 8.1; driver 535.104.05 has 8.2";
    let other = "2:9: a module for `sm_90a` cannot be loaded on `sm_100a`";
    let expected = [
        &["new.ptx: PTX 9.1 for sm_90a"][..],
        &["driver 520", "sm_90a", "`sm_90a` came with PTX 8.0; driver 520 has 7.8"],
        &["driver 520", "sm_100a", "`sm_100a` came with PTX 8.6; driver 520 has 7.8"],
        &["driver 535.104.05", "sm_90a", lower],
        &["driver 535.104.05", "sm_100a", "`sm_100a` came with PTX 8.6; driver 535.104.05 has 8.2"],
        &["driver 590", "sm_90a", "loads"],
        &["driver 590", "sm_100a", other],
    ];
    assert_eq!(lines, expected);
    assert_eq!(answer.stderr, "1 file: 1 does not load everywhere\n");
}

#[test]
fn a_form_that_is_too_new_is_named_with_its_line() {
    let scratch = Scratch::new();
    scratch.file("form.ptx", module("8.1", "sm_90", "mov.u32 %r1, %aggr_smem_size;"));
    let answer = scratch.run(&["loads", "form.ptx", "--cuda", "12.0,12.1", "--message-format", "json"]);
    let objects: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["reason"], "`%aggr_smem_size` needs PTX 8.1; CUDA 12.0 has 8.0");
    let place = |name: &str| objects[0][name].as_u64();
    assert_eq!((place("line"), place("column")), (Some(7), Some(15)));
    assert_eq!((&objects[0]["needs"], &objects[1]["loads"]), (&Value::from("8.1"), &Value::from(true)));
}

#[test]
fn what_cannot_be_judged_is_status_2() {
    let scratch = Scratch::new();
    scratch.file("kernel.cu", "__global__ void k() {}\n");
    scratch.file("good.ptx", module("8.0", "sm_90", ""));
    assert_eq!(scratch.run(&["loads", "good.ptx"]).status, 0);
    for wrong in [
        &["loads", "kernel.cu"][..],
        &["loads", "missing.ptx"],
        &["loads", "good.ptx", "--cuda", "99.0"],
        &["loads", "good.ptx", "--driver", "x"],
        &["loads", "good.ptx", "--target", "sm_1"],
        &["verify", "good.ptx", "--cuda", "12.4", "--ptx-version", "8.0"],
    ] {
        let answer = scratch.run(wrong);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{wrong:?}");
        assert!(!answer.stderr.is_empty());
    }
}

#[test]
fn a_version_that_nothing_needs_is_lowered_and_no_other() {
    let scratch = Scratch::new();
    scratch.file("high.ptx", module("9.0", "sm_90", ""));
    scratch.file("needed.ptx", module("9.0", "sm_90", "mov.u32 %r1, %aggr_smem_size;"));
    assert_eq!(scratch.run(&["verify", "--cuda", "12.4", "--fix", "high.ptx"]).status, 0);
    assert!(scratch.read("high.ptx").starts_with(".version 8.4\n"));
    let refused = scratch.run(&["verify", "--cuda", "12.0", "--fix", "needed.ptx"]);
    assert_eq!(refused.status, 1);
    assert!(refused.stdout.contains("`%aggr_smem_size` needs PTX 8.1"), "{}", refused.stdout);
    assert!(scratch.read("needed.ptx").starts_with(".version 9.0\n"));
}

#[test]
fn a_release_decides_about_the_branches_of_cuda_sources() {
    let scratch = Scratch::new();
    let condition =
        "#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8)";
    let source = format!(
        "__global__ void k(unsigned a) {{\n{condition}\n  asm volatile(\"fence.new;\");\n#else\n  asm volatile(\"fence.old;\");\n#endif\n}}\n"
    );
    scratch.file("a.cu", source);
    for (release, line) in [("12.8", 3), ("13.0", 3), ("12.4", 5), ("11.8", 5)] {
        let answer = scratch.run(&["verify", "--message-format", "concise", "--cuda", release, "a.cu"]);
        let expected = format!("a.cu:{line}:");
        assert!(answer.stdout.starts_with(&expected), "{release}: {}", answer.stdout);
        assert_eq!(answer.stdout.lines().count(), 1, "{release}: {}", answer.stdout);
    }
}
