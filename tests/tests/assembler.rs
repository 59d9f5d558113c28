//! The back ends against the real programs: `ptxas`, the compiler library, the driver of a GPU.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ptx_emit::assemble::{
    Assembly, Driver, Error, FunctionKind, FunctionUsage, Library, Locator, LogSeverity, Nvcc, Options,
    Ptxas, Report, Source,
};
use ptx_tests::tools::{needed_nvcc, needed_ptxas};

fn ptxas() -> Ptxas {
    Ptxas::at(needed_ptxas()).unwrap()
}

fn assemble(ptxas: &Ptxas, text: &str, options: &Options) -> Assembly {
    ptxas.assemble(&Source { file: "dir/a.ptx", text: text.as_bytes() }, options).unwrap()
}

fn for_target(target: &str) -> Options {
    Options { target: Some(target.to_owned()), ..Options::default() }
}

/// The messages that refuse, with the lines that they are about.
fn refusals(report: &Report, text: &str) -> Vec<(Option<u32>, String)> {
    assert!(!report.accepted && report.functions.is_empty());
    let locator = Locator::new(text.as_bytes());
    report.refusals().map(|line| (locator.line_of(line), line.message.clone())).collect()
}

const TWO_KERNELS: &str = "\
.version 7.0
.target sm_75
.address_size 64
.const .align 4 .b8 c[32];
.func (.param .b32 r) square(.param .b32 a)
{ .reg .b32 %x<3>; ld.param.b32 %x0, [a]; mul.lo.u32 %x1, %x0, %x0; st.param.b32 [r], %x1; ret; }
.visible .entry second(.param .u64 p) .maxntid 64, 2, 1
{
    .reg .b64 %rd<4>; .reg .b32 %r<9>;
    .shared .align 4 .b8 s[400];
    .local .align 8 .b8 l[128];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    bar.sync 0;
    bar.sync 3;
    st.shared.u32 [s], %r1;
    ld.shared.u32 %r3, [s+4];
    cvt.u64.u32 %rd3, %r1;
    mov.u64 %rd2, l;
    add.u64 %rd2, %rd2, %rd3;
    st.local.u32 [%rd2], %r1;
    ld.local.u32 %r4, [%rd2+4];
    add.u32 %r4, %r4, %r3;
    { .param .b32 pa; .param .b32 pr; st.param.b32 [pa], %r4; call (pr), square, (pa); ld.param.b32 %r5, [pr]; }
    ld.const.u32 %r6, [c];
    add.u32 %r5, %r5, %r6;
    st.global.u32 [%rd1], %r5;
    ret;
}
.entry first() { ret; }
";

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn figures_of_every_function_in_source_order() {
    let ptxas = ptxas();
    let assembly = assemble(&ptxas, TWO_KERNELS, &Options::default());
    let report = &assembly.report;
    assert!(report.accepted, "{report:?}");
    assert_eq!((report.file.as_str(), report.target.as_str()), ("dir/a.ptx", "sm_75"));
    assert_eq!(report.backend_version.as_deref(), ptxas.version());
    assert!(report.seconds > 0.0);
    let names: Vec<&str> = report.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["square", "second", "first"]);
    let [square, second, first] = &report.functions[..] else { unreachable!() };
    assert_eq!((square.kind, square.registers, square.stack_bytes), (FunctionKind::Func, None, Some(0)));
    assert_eq!(
        (second.kind, second.stack_bytes, second.shared_bytes),
        (FunctionKind::Entry, Some(128), Some(400))
    );
    assert_eq!((second.barriers, second.max_threads), (Some(4), Some(128)));
    assert_eq!((second.spill_store_bytes, second.spill_load_bytes), (Some(0), Some(0)));
    // The constant bank of `sm_75` holds 352 bytes before the parameters.
    assert_eq!((second.const_bytes, first.const_bytes), (Some(360), Some(352)));
    assert!(second.registers > first.registers && first.registers >= Some(4));
    assert!(assembly.cubin.unwrap().starts_with(b"\x7fELF"));
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn registers_that_do_not_fit_are_spilled() {
    let ptxas = ptxas();
    // 60 values that all live until the end.
    let loads: String =
        (0..60).map(|n| format!("ld.volatile.global.u32 %r{n}, [%rd0+{}];\n", 4 * n)).collect();
    let stores: String =
        (0..60).map(|n| format!("st.volatile.global.u32 [%rd0+{}], %r{n};\n", 4 * n)).collect();
    let text = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {{ .reg .b64 %rd<1>; \
         .reg .b32 %r<60>;\nld.param.u64 %rd0, [p];\n{loads}{stores}ret; }}\n"
    );
    let options = Options { max_registers: Some(24), ..Options::default() };
    let report = assemble(&ptxas, &text, &options).report;
    let function = &report.functions[0];
    assert_eq!(function.registers, Some(24), "{function:?}");
    assert!(function.spill_store_bytes > Some(0) && function.spill_load_bytes > Some(0), "{function:?}");
    let free = assemble(&ptxas, &text, &Options::default()).report;
    assert_eq!(free.functions[0].spill_store_bytes, Some(0));
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn every_error_has_its_line() {
    let ptxas = ptxas();
    let text = ".version 7.0\n.target sm_80\n.entry k() {\n.reg .b32 %r<3>;\nadd.u32 %r1, %f1, %r2;\nadd.foo %r1, %r1;\nret;\n}\n";
    let found = refusals(&assemble(&ptxas, text, &Options::default()).report, text);
    let lines: Vec<Option<u32>> = found.iter().map(|(line, _)| *line).collect();
    assert!(lines.contains(&Some(5)) || lines.contains(&Some(6)), "{found:?}");
    assert!(lines.iter().all(|line| matches!(line, Some(5 | 6))), "{found:?}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn errors_without_a_line_get_one() {
    let ptxas = ptxas();
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let cases = [
        (
            format!("{header}.extern .func missing();\n.entry k() {{\ncall missing, ();\nret; }}\n"),
            "missing",
            4,
        ),
        (
            format!("{header}.entry k() {{\n.shared .b8 s[400000];\nst.shared.u8 [s], 1;\nret; }}\n"),
            "shared",
            4,
        ),
        (format!("{header}.entry k() {{\nr\u{e9}t; }}\n"), "non-ASCII", 5),
        (".version 99.0\n.target sm_90\n".to_owned(), "99.0", 1),
    ];
    for (text, word, line) in cases {
        let found = refusals(&assemble(&ptxas, &text, &Options::default()).report, &text);
        assert!(found[0].1.contains(word), "{found:?}");
        assert_eq!(found[0].0, Some(line), "{found:?}");
    }
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn another_target_asks_whether_the_file_loads_there() {
    let ptxas = ptxas();
    let text = ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k() { ret; }\n";
    assert_eq!(assemble(&ptxas, text, &Options::default()).report.target, "sm_90a");
    for target in ["sm_90", "sm_80", "sm_100"] {
        let report = assemble(&ptxas, text, &for_target(target)).report;
        assert_eq!(report.target, target);
        assert_eq!(refusals(&report, text)[0].0, Some(2), "{report:?}");
    }
    let portable = text.replace("sm_90a", "sm_80");
    let report = assemble(&ptxas, &portable, &for_target("sm_90")).report;
    assert!(report.accepted && report.functions[0].const_bytes.is_some(), "{report:?}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn old_and_listed_targets() {
    let ptxas = ptxas();
    for (version, list) in [("1.4", "sm_10"), ("3.1", "sm_20, texmode_independent"), ("6.0", "sm_70")] {
        let text = format!(".version {version}\n.target {list}\n.entry k() {{ ret; }}\n");
        let report = assemble(&ptxas, &text, &Options::default()).report;
        assert!(report.accepted && report.target == "sm_75", "{report:?}");
    }
    // Debugging information is wanted as soon as it is announced.
    let text = ".version 8.0\n.target sm_90, debug\n.entry k() { ret; }\n";
    let found = refusals(&assemble(&ptxas, text, &Options::default()).report, text);
    assert_eq!(found[0].0, Some(2), "{found:?}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn targets_that_this_ptxas_lacks_are_no_verdict() {
    let ptxas = ptxas();
    let text = b".version 8.0\n.target sm_80\n.entry k() { ret; }\n";
    for target in ["sm_40", "sm_9999", "hopper", "", "sm_90 -o x"] {
        let error = ptxas.assemble(&Source { file: "a.ptx", text }, &for_target(target)).unwrap_err();
        assert!(
            matches!(&error, Error::TargetUnsupported { target: named, .. } if named == target),
            "{error}"
        );
        assert!(error.help().is_some());
    }
    let newer = b".version 8.8\n.target sm_9999\n.entry k() { ret; }\n";
    let error = ptxas.assemble(&Source { file: "a.ptx", text: newer }, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::TargetUnsupported { .. }), "{error}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn strange_texts_are_refused_without_a_crash() {
    let ptxas = ptxas();
    let texts: [&[u8]; 6] = [b"", b"\0\0\0", b"\xff\xfe", b"\x7fELF\x02\x01", b".version", b"{{{{{{{{{{"];
    for text in texts {
        let report = ptxas.assemble(&Source { file: "a.ptx", text }, &Options::default()).unwrap().report;
        assert!(!report.accepted && report.refusals().next().is_some(), "{report:?}");
        // The temporary name must not show.
        assert!(!report.log.iter().any(|line| line.message.contains("input.ptx")), "{report:?}");
    }
    let text = format!(
        ".version 8.0\n.target sm_80\n.entry k() {{\n{}{}ret; }}\n",
        "{".repeat(50_000),
        "}".repeat(50_000)
    );
    assert!(!assemble(&ptxas, &text, &Options::default()).report.accepted);
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn equal_runs_give_equal_reports_and_code() {
    let ptxas = ptxas();
    let without_times = |mut assembly: Assembly| {
        assembly.report.seconds = 0.0;
        assembly.report.log.retain(|line| !line.message.starts_with("Compile time"));
        assembly
    };
    let run = || without_times(assemble(&ptxas, TWO_KERNELS, &Options::default()));
    assert_eq!(run(), run());
}

/// The files of the corpus, with what its manifest says.
fn corpus() -> Vec<(PathBuf, serde_json::Value)> {
    let folder = ptx_tests::tools::corpus();
    let manifest = fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let entries = manifest.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    entries.map(|entry| (folder.join(entry["path"].as_str().unwrap()), entry)).collect()
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn corpus_files_that_are_refused_are_refused_on_their_lines() {
    let (ptxas, corpus) = (ptxas(), corpus());
    let mut seen = 0;
    for (path, entry) in corpus.iter().filter(|(_, entry)| entry["accepted"] == false) {
        let text = fs::read(path).unwrap();
        let source = Source { file: entry["path"].as_str().unwrap(), text: &text };
        let options = for_target(&entry["arch"].as_str().unwrap().replace("compute", "sm"));
        let report = ptxas.assemble(&source, &options).unwrap().report;
        let first = report.refusals().next().unwrap();
        let said = entry["first_error"].as_str().unwrap();
        let line = first.line.map(|line| format!("line {line};")).unwrap_or_default();
        assert!(
            said.starts_with(&line) && said.ends_with(&first.message),
            "{}: {said} / {first:?}",
            source.file
        );
        seen += 1;
    }
    assert!(seen > 0);
}

/// What `cuobjdump -res-usage` says: registers and constant bank 0 by function.
fn resource_usage(cuobjdump: &Path, cubin: &Path) -> HashMap<String, (u32, Option<u64>)> {
    let output = Command::new(cuobjdump).arg("-res-usage").arg(cubin).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut usage = HashMap::new();
    let mut name = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(function) = line.strip_prefix("Function ") {
            name = function.trim_end_matches(':').to_owned();
        } else if line.starts_with("REG:") {
            let value = |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key)?.parse().ok());
            let constant = value("CONSTANT[0]:").map(u64::from);
            usage.insert(name.clone(), (value("REG:").unwrap(), constant));
        }
    }
    usage
}

/// How many instructions `nvdisasm` lists of a function, without those at its end that do nothing.
fn listed(cubin: &Path, function: &str) -> Option<u64> {
    let nvdisasm = needed_ptxas().with_file_name("nvdisasm");
    let output = Command::new(nvdisasm).arg("-c").arg(cubin).output().unwrap();
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let begin = format!(".section\t.text.{function},");
    let rest = listing.split_once(&begin)?.1;
    let section = rest.split("\t.section\t").next()?;
    let is_instruction = |line: &&str| line.trim_start().starts_with("/*") && line.contains(';');
    let instructions: Vec<&str> = section.lines().filter(is_instruction).collect();
    let fillers = instructions.iter().rev().take_while(|line| line.contains(" NOP")).count();
    Some((instructions.len() - fillers) as u64)
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn figures_are_those_of_the_machine_code() {
    let (ptxas, corpus) = (ptxas(), corpus());
    let cuobjdump = ptxas.program().with_file_name("cuobjdump");
    let folder = tempfile::tempdir().unwrap();
    let cubin_file = folder.path().join("a.cubin");
    let mut kernels = 0;
    // Some eighty files of all producers.
    for (index, (path, _)) in corpus.iter().step_by(11).enumerate() {
        let text = fs::read(path).unwrap();
        let file = path.display().to_string();
        let Ok(assembly) = ptxas.assemble(&Source { file: &file, text: &text }, &Options::default()) else {
            continue;
        };
        let Some(cubin) = &assembly.cubin else { continue };
        fs::write(&cubin_file, cubin).unwrap();
        let usage = resource_usage(&cuobjdump, &cubin_file);
        if usage.is_empty() {
            // `cuobjdump` 13.5 ends with an error on modules with surfaces.
            continue;
        }
        let is_entry = |function: &&FunctionUsage| function.kind == FunctionKind::Entry;
        for function in assembly.report.functions.iter().filter(is_entry) {
            if index % 3 == 0 {
                assert_eq!(
                    function.instructions,
                    listed(&cubin_file, &function.name),
                    "{file}: {}",
                    function.name
                );
            }
            let (registers, constant) = usage[&function.name];
            assert_eq!(function.registers, Some(registers), "{file}: {}", function.name);
            let told_by_the_log = assembly.report.log.iter().any(|line| line.message.contains("cmem["));
            if !told_by_the_log {
                assert_eq!(function.const_bytes, constant, "{file}: {}", function.name);
            }
            kernels += 1;
        }
    }
    println!("{kernels} kernels compared");
    assert!(kernels > 30);
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn a_cuda_source_becomes_ptx_with_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.cu");
    fs::write(&file, "__global__ void k(int *p) {\n#ifdef WRONG\n  wrong;\n#endif\n  *p = 1; int y;\n}\n")
        .unwrap();
    let nvcc = Nvcc::at(needed_nvcc());
    let compile = |arguments: &[String]| nvcc.ptx(&file, "sm_90a", arguments, Duration::from_secs(300));
    let compiled = compile(&[]).unwrap();
    let [warning] = compiled.messages.as_slice() else { panic!("{:?}", compiled.messages) };
    assert_eq!((warning.line, warning.severity), (Some(5), LogSeverity::Warning));
    let text = String::from_utf8(compiled.ptx).unwrap();
    assert!(text.contains(".loc\t1 5 ") && text.contains("k.cu\""), "{text}");
    assert!(assemble(&ptxas(), &text, &Options::default()).report.accepted);
    let refused = compile(&["-DWRONG".to_owned()]).unwrap_err().to_string();
    assert!(refused.contains("k.cu(3): error"), "{refused}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn warnings_do_not_refuse() {
    let ptxas = ptxas();
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.func f();\n.entry k() { call f, (); ret; }\n\
        .func f() { call f, (); ret; }\n";
    let report = assemble(&ptxas, text, &Options::default()).report;
    assert!(report.accepted, "{report:?}");
    let warning = report.log.iter().find(|line| line.severity == LogSeverity::Warning).unwrap();
    assert!(
        warning.message.contains("Stack size") && Locator::new(text.as_bytes()).line_of(warning) == Some(5),
        "{warning:?}"
    );
}

#[test]
#[cfg_attr(no_library, ignore = "needs the PTX compiler library, which tests/install-toolkit.sh installs")]
fn the_compiler_library_compiles_and_refuses() {
    let folder = needed_ptxas().parent().unwrap().with_file_name("lib");
    let library = Library::at(&folder.join("libnvptxcompiler.so")).unwrap();
    assert!(library.version().is_some());
    let assemble = |text: &[u8]| library.assemble(&Source { file: "a.ptx", text }, &Options::default());
    let good = assemble(TWO_KERNELS.as_bytes()).unwrap();
    assert!(good.report.accepted, "{:?}", good.report);
    // The same compiler in another dress gives the same code and figures.
    let theirs = self::assemble(&ptxas(), TWO_KERNELS, &Options::default());
    let registers = |report: &Report| -> Vec<_> {
        report.functions.iter().map(|function| (function.name.clone(), function.registers)).collect()
    };
    assert_eq!(registers(&good.report), registers(&theirs.report));
    assert_eq!(&good.cubin.unwrap()[..4], b"\x7fELF");
    for text in [&b""[..], b"\0", b".version 7.0\n.target sm_80\n.entry k() { rex; }\n"] {
        let refused = assemble(text).unwrap();
        assert!(!refused.report.accepted && refused.cubin.is_none(), "{:?}", refused.report);
        assert!(refused.report.refusals().next().is_some());
    }
    let unknown = for_target("sm_40");
    let text = b".version 7.0\n.target sm_80\n";
    let error = library.assemble(&Source { file: "a.ptx", text }, &unknown).unwrap_err();
    assert!(matches!(error, Error::TargetUnsupported { .. }), "{error}");
}

#[test]
#[cfg_attr(no_gpu, ignore = "needs a GPU and NVIDIA's driver")]
fn the_driver_of_a_gpu_gives_figures() {
    let driver = Driver::open().unwrap();
    let text = b".version 6.0\n.target sm_30\n.address_size 64\n.entry k() { ret; }\n";
    let assembly = driver.assemble(&Source { file: "k.ptx", text }, &Options::default()).unwrap();
    assert!(assembly.report.accepted, "{:?}", assembly.report);
    assert_eq!(assembly.report.functions[0].name, "k");
    assert!(assembly.report.functions[0].registers.is_some());
}
