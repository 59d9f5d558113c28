//! The asynchronous rules against kernels whose protocol has one fault, and against their clean twins.

use ptx_syntax::Label;
use ptx_tests::protocol::{Verdict, all, verdict};
use ptx_tests::tools::on_all_cores;
use ptx_verify::{Config, check};

/// Places beside its own that a finding about a protocol shows.
const MAX_LABELS: usize = 12;

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

const TAKES: &str = ".version 8.0
.target sm_90a
.address_size 64
.entry k() .reqntid 256 .minnctapersm 2
{
    .reg .pred %p;
    .reg .b32 %t;
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, 128;
    @%p bra MATH;
    bar.sync 1, 128;
    ret;
MATH:
    setmaxnreg.inc.sync.aligned.u32 232;
    bar.sync 2, 128;
    ret;
}
";

#[test]
fn threads_that_give_no_registers_back_are_shown() {
    let found = check(TAKES, &Config::default());
    let starved = found.iter().find(|found| found.rule == "register-deadlock").expect("a deadlock");
    let label = starved.labels.iter().find(|label| label.message.contains("give no registers back"));
    assert_eq!(label.map(|label| label.span.text(TAKES)), Some("bar.sync 1, 128"), "{found:#?}");
}

const DEAF: &str = ".version 8.0
.target sm_80
.address_size 64
.shared .align 8 .b64 ready;
.shared .align 8 .b64 filled;
.entry k() .reqntid 64
{
    .reg .pred %p, %q;
    .reg .b32 %t, %r, %f, %n;
    mov.u32 %t, %tid.x;
    mov.u32 %r, ready;
    mov.u32 %f, filled;
    mov.u32 %n, 0;
    setp.eq.u32 %q, %t, 0;
    @%q mbarrier.init.shared.b64 [%r], 64;
    @%q mbarrier.init.shared.b64 [%f], 64;
    bar.sync 0;
    setp.ge.u32 %p, %t, 32;
    @%p bra USES;
W:
    mbarrier.test_wait.parity.shared.b64 %p, [%r], 0;
    @!%p bra W;
    mbarrier.arrive.shared.b64 _, [%f];
    ret;
USES:
    mbarrier.arrive.shared.b64 _, [%f];
    mbarrier.arrive.shared.b64 _, [%r];
    ret;
}
";

#[test]
fn threads_that_never_wait_are_shown() {
    let found = check(DEAF, &Config::default());
    let stuck = found.iter().find(|found| found.rule == "mbarrier-phase").expect("a deadlock");
    let label = stuck.labels.iter().find(|label| label.message.contains("never wait"));
    let text = label.map(|label| label.span.text(DEAF));
    assert_eq!(text, Some("mbarrier.arrive.shared.b64 _, [%f]"), "{found:#?}");
}

/// What the labels of a rule's first finding in a text are at, with their messages.
fn labels(text: &str, rule: &str) -> Vec<(String, String)> {
    let found = check(text, &Config::default());
    let first = found.iter().find(|found| found.rule == rule).unwrap_or_else(|| panic!("{found:#?}"));
    let labels = first.labels.iter();
    labels.map(|label| (label.span.text(text).to_owned(), label.message.clone())).collect()
}

fn is_at(labels: &[(String, String)], place: &str, words: &str) -> bool {
    labels.iter().any(|(text, message)| text.contains(place) && message.contains(words))
}

const ANSWERS: &str = include_str!("../cases/bulk-copy-no-wait/answer-of-another.ptx");

#[test]
fn a_wait_whose_answer_nobody_asks_for_is_shown() {
    let labels = labels(ANSWERS, "bulk-copy-no-wait");
    assert!(is_at(&labels, "[%r2+8], 0", "nothing depends on the answer"), "{labels:#?}");
}

const RING: &str = ".version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[512];
.shared .align 8 .b64 full;
.shared .align 8 .b64 empty;
.entry k(.param .u32 rounds) .reqntid 64
{
    .reg .pred %p, %q;
    .reg .b32 %t, %f, %e, %a, %n, %i, %h, %l, %v;
    mov.u32 %t, %tid.x;
    ld.param.u32 %n, [rounds];
    mov.u32 %f, full;
    mov.u32 %e, empty;
    mov.u32 %a, tile;
    and.b32 %l, %t, 31;
    shl.b32 %l, %l, 2;
    add.u32 %a, %a, %l;
    mov.u32 %i, 0;
    setp.eq.u32 %q, %t, 0;
    @%q mbarrier.init.shared.b64 [%f], 32;
    @%q mbarrier.init.shared.b64 [%e], 32;
    bar.sync 0;
    setp.ge.u32 %p, %t, 32;
    @%p bra TAKES;
    mov.u32 %h, 1;
FILLS:
    mbarrier.test_wait.parity.shared.b64 %p, [%e], %h;
    @!%p bra FILLS;
    st.shared.u32 [%a], %i;
    mbarrier.arrive.shared.b64 _, [%f];
    xor.b32 %h, %h, 1;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra FILLS;
    ret;
TAKES:
    mov.u32 %h, 0;
TAKE:
    mbarrier.test_wait.parity.shared.b64 %p, [%f], %h;
    @!%p bra TAKE;
    ld.shared.u32 %v, [%a];
    xor.b32 %h, %h, 1;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra TAKE;
    ret;
}
";

#[test]
fn where_an_arrival_is_missing_is_between_the_last_use_and_what_comes_next() {
    let labels = labels(RING, "mbarrier-phase");
    assert!(is_at(&labels, "ld.shared.u32 %v", "have done this last"), "{labels:#?}");
    assert!(is_at(&labels, "@%p bra TAKE", "they go on here"), "{labels:#?}");
}

const GROUPS: &str = ".version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[2048];
.entry k(.param .u64 from, .param .u64 to, .param .u32 rounds) .reqntid 32
{
    .reg .pred %p, %q;
    .reg .b32 %t, %a, %b, %n, %i, %h, %v;
    .reg .b64 %s, %d;
    mov.u32 %t, %tid.x;
    ld.param.u64 %s, [from];
    ld.param.u64 %d, [to];
    ld.param.u32 %n, [rounds];
    mov.u32 %i, 0;
    mov.u32 %a, tile;
    shl.b32 %t, %t, 4;
    add.u32 %a, %a, %t;
    cp.async.cg.shared.global [%a], [%s], 16;
    cp.async.commit_group;
ROUND:
    and.b32 %h, %i, 1;
    add.u32 %i, %i, 1;
    setp.ge.u32 %q, %i, %n;
    @%q bra FULL;
    xor.b32 %b, %h, 1;
    shl.b32 %b, %b, 10;
    add.u32 %b, %a, %b;
    cp.async.cg.shared.global [%b], [%s], 16;
FULL:
    cp.async.wait_group 1;
    bar.sync 0;
    shl.b32 %b, %h, 10;
    add.u32 %b, %a, %b;
    ld.shared.u32 %v, [%b];
    st.global.u32 [%d], %v;
    bar.sync 0;
    @!%q bra ROUND;
    ret;
}
";

#[test]
fn where_a_commit_is_missing_threads_go_on_without_one() {
    let labels = labels(GROUPS, "cp-async-no-wait");
    assert!(is_at(&labels, "cp.async.cg.shared.global [%b]", "no commit follows"), "{labels:#?}");
    assert!(is_at(&labels, "@!%q bra ROUND", "next round"), "{labels:#?}");
}

const FORGOTTEN: &str = ".version 8.0
.target sm_80
.address_size 64
.entry k() .reqntid 64
{
    .reg .pred %p;
    .reg .b32 %t, %id;
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, 32;
    @%p bra WAIT;
    shr.u32 %id, %t, 5;
    add.u32 %id, %id, 1;
    ret;
WAIT:
    bar.sync 1, 64;
    ret;
}
";

#[test]
fn a_number_that_nothing_uses_is_told_where_threads_wait_for_ever() {
    let found = check(FORGOTTEN, &Config::default());
    let waits = found.iter().find(|found| found.rule == "barrier-deadlock").expect("it never opens");
    let unused: Vec<&str> = waits
        .labels
        .iter()
        .filter(|label| label.message.contains("nothing uses"))
        .map(|label| label.span.text(FORGOTTEN))
        .collect();
    assert_eq!(unused, ["add.u32 %id, %id, 1"], "{:#?}", waits.labels);
}

#[test]
fn the_wait_of_a_wrapper_is_told_with_its_call() {
    let source = "
__device__ void finish() { asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\"); }
__device__ void tell(unsigned* f) { asm volatile(\"st.release.gpu.global.u32 [%0], 1;\" :: \"l\"(f) : \"memory\"); }
__global__ void __launch_bounds__(32) k(float* out, unsigned* flag) {
    __shared__ alignas(16) float s[64];
    s[threadIdx.x] = 1.f; s[threadIdx.x + 32] = 2.f;
    asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(\"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;\"
                     :: \"l\"(out), \"r\"((unsigned)__cvta_generic_to_shared(s)) : \"memory\");
        asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\");
        finish();
        tell(flag);
    }
}
";
    let found = ptx_verify::check_cuda(source, &ptx_verify::CudaConfig::default());
    let told =
        found.iter().find(|found| found.rule == "bulk-copy-no-wait").expect("the copy may still write");
    let inside =
        told.labels.iter().any(|label| label.span.text(source).starts_with("cp.async.bulk.wait_group"));
    assert!(inside, "{:#?}", told.labels);
}
