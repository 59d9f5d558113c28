//! The asynchronous rules against kernels whose protocol has one fault, and against their clean twins.

use ptx_syntax::Label;
use ptx_tests::protocol::{Verdict, all, verdict};
use ptx_tests::tools::on_all_cores;
use ptx_verify::{Config, check};

/// Places beside its own that a finding about a protocol shows.
const MAX_LABELS: usize = 5;

#[test]
fn clean_kernels_are_silent() {
    let clean: Vec<_> = all().into_iter().filter(|kernel| kernel.fault.is_none()).collect();
    assert!(clean.len() >= 50, "{} kernels", clean.len());
    let verdicts = on_all_cores(&clean, verdict);
    for (kernel, verdict) in clean.iter().zip(verdicts) {
        assert_eq!(verdict, Verdict::Silent, "{}\n{}", kernel.title(), kernel.text);
    }
}

#[test]
fn faults_are_found_where_they_are() {
    let faulty: Vec<_> = all().into_iter().filter(|kernel| kernel.fault.is_some()).collect();
    assert!(faulty.len() >= 500, "{} kernels", faulty.len());
    let verdicts = on_all_cores(&faulty, verdict);
    let missed = |found: &dyn Fn(&Verdict) -> bool| -> Vec<String> {
        let missed = faulty.iter().zip(&verdicts).filter(|(_, verdict)| !found(verdict));
        missed.map(|(kernel, verdict)| format!("{}: {verdict}", kernel.title())).collect()
    };
    let silent = missed(&|verdict| *verdict != Verdict::Silent);
    assert!(silent.len() * 100 <= faulty.len(), "{} of {}: {silent:#?}", silent.len(), faulty.len());
    let far = missed(&|verdict| *verdict == Verdict::Found);
    assert!(far.len() * 20 <= faulty.len(), "{} of {}: {far:#?}", far.len(), faulty.len());
}

#[test]
fn a_finding_has_few_labels() {
    let config = Config::default();
    for kernel in all().iter().filter(|kernel| kernel.fault.is_some()) {
        for found in check(&kernel.text, &config).iter().filter(|found| found.code.starts_with("P09")) {
            let few = found.labels.len() <= MAX_LABELS;
            assert!(few, "{}: {:#?}", kernel.title(), found.labels);
            for (index, label) in found.labels.iter().enumerate() {
                let same = |other: &Label| other.message == label.message && other.span == label.span;
                assert!(!found.labels[..index].iter().any(same), "{}: {label:?}", kernel.title());
            }
        }
    }
}

#[test]
fn a_missing_fence_is_told_with_the_meeting_after_it() {
    let config = Config::default();
    let kernels = all();
    let unfenced: Vec<_> = kernels.iter().filter(|kernel| kernel.fault == Some("no fence")).collect();
    assert!(!unfenced.is_empty());
    for kernel in unfenced {
        let found = check(&kernel.text, &config);
        let missing = found.iter().find(|found| found.rule == "missing-proxy-fence");
        let labels = missing.map(|found| found.labels.as_slice()).unwrap_or_default();
        let met = labels.iter().any(|label| label.message.contains("go on from here"));
        assert!(met, "{}: {labels:#?}", kernel.title());
    }
}
