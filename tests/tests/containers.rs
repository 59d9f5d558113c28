//! What is found in the files that NVIDIA's compiler makes, held against `cuobjdump`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ptx_tests::tools::{needed_nvcc, on_all_cores};

const SOURCE: &str = "__global__ void k(int *p) { for (int i = 0; i < 100; i++) p[i * 3] *= p[i]; }\n";

const TARGETS: [&str; 6] = [
    "-gencode=arch=compute_80,code=[compute_80,sm_80]",
    "-gencode=arch=compute_90a,code=compute_90a",
    "-gencode=arch=compute_100f,code=compute_100f",
    "-Xfatbin",
    "--compress-all",
    "-Wno-deprecated-gpu-targets",
];

/// The output of `nvcc` for the source.
fn compiled(folder: &Path, name: &str, arguments: &[&str]) -> Vec<u8> {
    let nvcc = needed_nvcc();
    fs::write(folder.join("k.cu"), SOURCE).unwrap();
    let status = Command::new(nvcc).args(arguments).args(["k.cu", "-o", name]).current_dir(folder).status();
    assert!(status.unwrap().success(), "{arguments:?}");
    fs::read(folder.join(name)).unwrap()
}

/// The modules by their number and target.
type Modules = BTreeMap<String, String>;

fn ours(name: &str, bytes: Vec<u8>) -> Modules {
    let contents = ptx_container::open(name, Arc::new(bytes)).unwrap();
    assert_eq!(contents.problems, []);
    let modules = contents.modules.iter();
    modules
        .map(|module| (without_stem(&module.name), String::from_utf8(module.text().unwrap()).unwrap()))
        .collect()
}

/// `1.sm_80.ptx` of `name.1.sm_80.ptx`.
fn without_stem(name: &str) -> String {
    let parts: Vec<&str> = name.rsplitn(4, '.').collect();
    format!("{}.{}.{}", parts[2], parts[1], parts[0])
}

fn of_cuobjdump(folder: &Path, name: &str) -> Modules {
    let out = tempfile::tempdir_in(folder).unwrap();
    let mut cuobjdump = Command::new(needed_nvcc().with_file_name("cuobjdump"));
    cuobjdump.args(["-xptx", "all"]).arg(folder.join(name)).current_dir(out.path());
    assert!(cuobjdump.stdout(Stdio::null()).status().unwrap().success());
    let files = fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|file| {
            (without_stem(file.file_name().unwrap().to_str().unwrap()), fs::read_to_string(&file).unwrap())
        })
        .collect()
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn modules_are_those_of_cuobjdump() {
    let compared = on_all_cores(&["none", "speed", "balance", "size"], |mode| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mode = format!("--compress-mode={mode}");
        let mut compared = 0;
        for (name, how) in [("k.fatbin", &["-fatbin"][..]), ("k.o", &["-c"]), ("r.o", &["-c", "-rdc=true"])] {
            let bytes = compiled(folder, name, &[&TARGETS[..], &[&mode], how].concat());
            let found = ours(name, bytes);
            assert_eq!(found, of_cuobjdump(folder, name), "{name} {mode}");
            assert!(
                found.keys().map(String::as_str).eq(["1.sm_80.ptx", "2.sm_90a.ptx", "3.sm_100f.ptx"]),
                "{mode}"
            );
            compared += found.len();
        }
        compared
    });
    assert_eq!(compared.iter().sum::<usize>(), 36);
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn a_listing_has_the_texts_themselves() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let bytes = compiled(folder, "k.fatbin", &[&TARGETS[..], &["-fatbin"]].concat());
    for options in [&["-ptx"][..], &["-ptx", "-sass"]] {
        let mut cuobjdump = Command::new(needed_nvcc().with_file_name("cuobjdump"));
        let output = cuobjdump.args(options).arg(folder.join("k.fatbin")).output().unwrap();
        assert_eq!(ours("l.txt", output.stdout), ours("k.fatbin", bytes.clone()), "{options:?}");
    }
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn a_cubin_with_line_information_has_its_text() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let cubin = compiled(folder, "k.cubin", &["-cubin", "-arch=sm_90a", "-lineinfo"]);
    let text = ours("k.cubin", cubin).remove("1.sm_90a.ptx").unwrap();
    assert!(text.contains(".target sm_90a\n") && text.contains("ret;\n") && !text.contains('\0'), "{text}");
    let without = compiled(folder, "k.cubin", &["-cubin", "-arch=sm_90a"]);
    let contents = ptx_container::open("k.cubin", Arc::new(without)).unwrap();
    assert!(contents.modules.is_empty() && contents.machine_code == 1);
}
