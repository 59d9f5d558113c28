//! What is known of values holds in every execution of random kernels. `FACTS_KERNELS=1000` makes as many of them.
//!
//! * `numbers.rs`: whatever a thread writes has the bits and lies between the limits that are known of the value.
//! * `sums.rs`: it is the sum that the value is said to be; so addresses lie where they are said to point to.
//! * `uniform.rs`: where a value is said not to differ between threads, threads have written the same.

mod known;
mod numbers;
mod sums;
mod uniform;

use ptx_tests::random_kernel::{HEADER, kernel};
use ptx_tests::tools::on_all_cores;

const FIRST_SEED: u64 = 1_000_000;
const KERNELS: u64 = 100;

/// The kernels that are made at random.
fn texts() -> Vec<String> {
    let count = std::env::var("FACTS_KERNELS").ok().and_then(|count| count.parse().ok()).unwrap_or(KERNELS);
    (FIRST_SEED..FIRST_SEED + count).map(|seed| HEADER.to_owned() + &kernel("k", seed)).collect()
}

/// How much a check of each kernel has looked at. Panics at the first that does not hold.
fn total(check: impl Fn(&str) -> Result<usize, String> + Sync) -> usize {
    let looked: Result<Vec<usize>, String> =
        on_all_cores(&texts(), |text| check(text).map_err(|wrong| format!("{wrong}\n{text}")))
            .into_iter()
            .collect();
    looked.unwrap_or_else(|wrong| panic!("{wrong}")).iter().sum()
}

#[test]
fn bits_and_limits_hold_in_every_execution() {
    let known = total(numbers::hold);
    assert!(known > 1000, "{known}");
}

#[test]
fn sums_hold_in_every_execution() {
    let known = total(sums::hold);
    assert!(known > 1000, "{known}");
}

#[test]
fn what_does_not_differ_between_threads_is_the_same_in_every_execution() {
    let known = total(uniform::hold);
    assert!(known > 1000, "{known}");
}
