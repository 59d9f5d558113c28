//! Small modules that vary one thing, judged by NVIDIA's assembler. The normal run asks about a sample of them, with
//! `EVERY_MODULE=1` about all, which takes minutes.

use std::fmt::Write;

use ptx_tests::modules::{Probe, all, disagreement};
use ptx_tests::tools::{needed_ptxas, on_all_cores};

/// Of so many probes one is asked about.
const SAMPLE: usize = 61;

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_agrees_about_modules() {
    let probes = all();
    assert!(probes.len() > 20_000, "only {} probes", probes.len());
    let ptxas = needed_ptxas();
    let every = std::env::var_os("EVERY_MODULE").is_some_and(|value| value == "1");
    let step = if every { 1 } else { SAMPLE };
    // What is known to disagree is asked about always, so that it is noticed when it agrees.
    let asked: Vec<&Probe> = probes
        .iter()
        .enumerate()
        .filter(|(index, probe)| index % step == 0 || probe.known.is_some())
        .map(|(_, probe)| probe)
        .collect();
    let failure = |probe: &&Probe| {
        let actual = disagreement(ptxas, probe).unwrap();
        let kind = actual.as_ref().map(|(kind, _)| *kind);
        let said = actual.as_ref().map_or("", |(_, said)| said.as_str());
        (kind != probe.known.as_deref())
            .then(|| format!("{} {}\n{}\n{said}", probe.origin, kind.unwrap_or("agrees"), probe.text))
    };
    let failures: Vec<String> = on_all_cores(&asked, failure).into_iter().flatten().collect();
    let mut report = String::new();
    for failure in failures.iter().take(20) {
        writeln!(report, "{failure}").unwrap();
    }
    assert!(failures.is_empty(), "{} of {} probes\n{report}", failures.len(), asked.len());
}
