//! Work on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The results of `work` for each number below `count`, in order; none where one is none.
///
/// Each of at most `threads` threads has something of its own to work with.
pub(super) fn map<T: Send, W>(
    count: usize,
    threads: usize,
    own: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let threads = threads.min(count);
    if threads < 2 {
        let mut own = own();
        return (0..count).map(|index| work(&mut own, index)).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let some = || {
        let mut own = own();
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            match work(&mut own, index) {
                Some(result) => done.push((index, result)),
                None => failed.store(true, Ordering::Relaxed),
            }
        }
        done
    };
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    thread::scope(|scope| {
        // The threads that the system gives are enough: this one works too.
        let spawned = (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, some).ok());
        let workers: Vec<_> = spawned.collect();
        let mut done = some();
        for worker in workers {
            match worker.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        for (index, result) in done {
            results[index] = Some(result);
        }
    });
    results.into_iter().collect()
}
