//! Whether the time of `verify` grows as the text does, on small texts: the benchmark `scaling` asks every command about
//! large ones.

#[expect(dead_code, reason = "the benchmark asks for more")]
#[path = "../benches/scaling/construct.rs"]
mod construct;

use std::time::{Duration, Instant};

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

fn time(text: &str, is_cuda: bool) -> Duration {
    let began = Instant::now();
    let start = now(began);
    let found = match is_cuda {
        true => ptx_verify::check_cuda(text, &CudaConfig::default()),
        false => ptx_verify::check(text, &Config::default()),
    };
    std::hint::black_box(found);
    now(began).saturating_sub(start)
}

#[test]
fn time_is_in_proportion_to_the_text() {
    let slow: Vec<String> = construct::all()
        .filter_map(|construct| {
            let text = |bytes: usize| {
                let mut text = Vec::new();
                construct.write(construct.repetitions(bytes), &mut text).expect("room for the text");
                String::from_utf8(text).expect("text")
            };
            let is_cuda = construct.file_name().ends_with(".cu");
            let (small, large) = (text(BYTES), text(8 * BYTES));
            let ratio = || {
                let (before, after) = (time(&small, is_cuda), time(&large, is_cuda));
                after.as_secs_f64() / before.max(MIN_TIME).as_secs_f64()
            };
            // Other programs on the machine may have disturbed the first measurements.
            let least = (0..3).map(|_| ratio()).find(|ratio| *ratio <= MAX_RATIO);
            least.is_none().then(|| construct.name.to_owned())
        })
        .collect();
    assert!(slow.is_empty(), "{slow:#?}");
}
