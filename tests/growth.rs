//! Whether the time of `verify`, and of the facts that `dump` shows, grows as the text does, on small texts: the benchmark
//! `scaling` asks every command about large ones.

#[expect(dead_code, reason = "the benchmark asks for more")]
#[path = "benches/scaling/construct.rs"]
mod construct;

use std::time::{Duration, Instant};

use construct::Construct;
use ptx_verify::facts::FunctionFacts;
use ptx_verify::facts::uniformity::Uniformity;
use ptx_verify::facts::values::{Graph, Values};
use ptx_verify::{Config, CudaConfig};

/// The bytes of the smaller text; the larger one has eight times as many.
const BYTES: usize = 6 << 10;

/// Time that is linear grows by 8, and quadratic time by 64.
const MAX_RATIO: f64 = 26.0;

/// Clocks are coarse: shorter times say little.
const MIN_TIME: Duration = Duration::from_millis(3);

/// Time that this thread has run: where the system does not tell it, time that has passed.
fn now(start: Instant) -> Duration {
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = scheduled.and_then(|text| text.split_whitespace().next()?.parse().ok());
    ran.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The time of some work on a text.
fn time(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    let start = now(began);
    work();
    now(began).saturating_sub(start)
}

fn is_cuda(construct: &Construct) -> bool {
    construct.file_name().ends_with(".cu")
}

fn verify(text: &str, is_cuda: bool) {
    std::hint::black_box(match is_cuda {
        true => ptx_verify::check_cuda(text, &CudaConfig::default()),
        false => ptx_verify::check(text, &Config::default()),
    });
}

/// What `dump --facts` asks about each function.
fn facts(text: &str) {
    let module = ptx_ir::lower::lower(&ptx_syntax::parse(text).tree, text).module;
    for handle in module.functions.handles() {
        let Some(facts) = FunctionFacts::new(&module, handle) else { continue };
        let graph = Graph::new(&facts);
        let values = Values::new(&facts, &graph);
        std::hint::black_box(values.pointers(&facts, &graph));
        std::hint::black_box(Uniformity::new(&facts, &graph, Values::of_whole_warps(&facts, &graph)));
    }
}

/// Asserts that the time of some work grows as the text does.
fn assert_in_proportion(constructs: impl Iterator<Item = Construct>, work: impl Fn(&Construct, &str)) {
    let slow: Vec<String> = constructs
        .filter_map(|construct| {
            let text = |bytes: usize| {
                let mut text = Vec::new();
                construct.write(construct.repetitions(bytes), &mut text).expect("room for the text");
                String::from_utf8(text).expect("text")
            };
            let (small, large) = (text(BYTES), text(8 * BYTES));
            let ratio = || {
                let (before, after) = (time(|| work(&construct, &small)), time(|| work(&construct, &large)));
                after.as_secs_f64() / before.max(MIN_TIME).as_secs_f64()
            };
            // Other programs on the machine may have disturbed the first measurements.
            let least = (0..3).map(|_| ratio()).find(|ratio| *ratio <= MAX_RATIO);
            least.is_none().then(|| construct.name.clone())
        })
        .collect();
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn time_is_in_proportion_to_the_text() {
    assert_in_proportion(construct::all(), |construct, text| verify(text, is_cuda(construct)));
}

#[test]
fn the_time_of_facts_is_in_proportion_to_the_text() {
    assert_in_proportion(construct::all().filter(|construct| !is_cuda(construct)), |_, text| facts(text));
}

/// Tables are over the registers that occur, however many are declared.
#[test]
fn declared_registers_that_do_not_occur_cost_nothing() {
    let text = |count: u32| {
        let last = count - 1;
        format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b32 %r<{count}>;\nmov.b32 %r{last}, 1;\nret;\n}}\n"
        )
    };
    let cost = |count: u32| {
        let text = text(count);
        time(|| {
            verify(&text, false);
            facts(&text);
        })
    };
    let few = cost(2).max(MIN_TIME);
    let many = cost(1 << 26);
    assert!(many < 20 * few, "{many:?} for many, {few:?} for few");
}

/// What a body declares, such as a prototype, is judged without a look at what the module declares.
#[test]
fn many_bodies_with_declarations_cost_as_much_each_as_few() {
    let text = |count: u32| {
        let kernel = |index: u32| {
            format!(
                ".visible .entry k{index}() {{ .reg .b64 %rd<2>; mov.u64 %rd1, f; P: .callprototype _ (); call %rd1, P; ret; }}\n"
            )
        };
        let header = ".version 8.6\n.target sm_90a\n.address_size 64\n.func f() { ret; }\n";
        header.chars().chain((0..count).map(kernel).collect::<String>().chars()).collect::<String>()
    };
    let cost = |count: u32| {
        let text = text(count);
        time(|| verify(&text, false))
    };
    // Where each looks at all of them it is 80 times as much.
    let least = (0..3).map(|_| cost(32_000).as_secs_f64() / cost(2_000).max(MIN_TIME).as_secs_f64());
    let ratio = least.fold(f64::INFINITY, f64::min);
    assert!(ratio < 26.0, "16 times as many bodies took {ratio} times as long");
}
