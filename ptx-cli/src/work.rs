//! Working on many files at once, with the results in the order of the files.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal::Terminal;

/// How long the work takes before a progress bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why a file has no result: the code that worked on it panicked, which was told when it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

/// Runs `work` with a panic turned into a value.
pub fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, Panicked> {
    // What the closure leaves behind is only read again by code that starts anew with the next file.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

/// Calls `work` on every item, on `jobs` threads, and `sink` with each result in the order of the
/// items, on this thread. Ends early, with its error, when `sink` fails.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    terminal: &Terminal,
    work: impl Fn(&T) -> R + Sync,
    mut sink: impl FnMut(&T, Result<R, Panicked>) -> io::Result<()>,
) -> io::Result<()> {
    if jobs <= 1 && items.len() <= 1 {
        return items.iter().try_for_each(|item| sink(item, guarded(|| work(item))));
    }
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut threads = 0;
        for _ in 0..jobs.max(1) {
            let (sender, next, stop, work) = (sender.clone(), &next, &stop, &work);
            // Taking the next index, rather than dividing the list beforehand, keeps the results
            // nearly in order, so that few of them wait for an earlier one.
            let body = move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    if sender.send((index, guarded(|| work(item)))).is_err() {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().spawn_scoped(scope, body);
            // The threads that there are do the work; without any it is done here.
            if thread.is_err() {
                break;
            }
            threads += 1;
        }
        drop(sender);
        if threads == 0 {
            return items.iter().try_for_each(|item| sink(item, guarded(|| work(item))));
        }
        let result = deliver(items, &receiver, terminal, &mut sink);
        stop.store(true, Ordering::Relaxed);
        result
    })
}

/// Hands the results on in order as they arrive, and shows the progress.
fn deliver<T, R>(
    items: &[T],
    receiver: &mpsc::Receiver<(usize, Result<R, Panicked>)>,
    terminal: &Terminal,
    sink: &mut impl FnMut(&T, Result<R, Panicked>) -> io::Result<()>,
) -> io::Result<()> {
    let mut waiting = BTreeMap::new();
    let mut delivered = 0;
    let mut arrived = 0;
    let mut progress = Progress::new(items.len(), terminal);
    while delivered < items.len() {
        match receiver.recv_timeout(Duration::from_millis(200)) {
            Ok((index, result)) => {
                waiting.insert(index, result);
                arrived += 1;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        progress.set(arrived);
        while let Some(result) = waiting.remove(&delivered) {
            progress.hidden_while(|| sink(&items[delivered], result))?;
            delivered += 1;
        }
    }
    progress.finish();
    Ok(())
}

/// A progress bar that appears only when the work takes longer than [`PATIENCE`], on a terminal.
struct Progress {
    started: Instant,
    total: usize,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(total: usize, terminal: &Terminal) -> Self {
        Self { started: Instant::now(), total, wanted: terminal.stderr.is_terminal, bar: None }
    }

    fn set(&mut self, done: usize) {
        if self.wanted && self.bar.is_none() && self.started.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.total as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} files {elapsed}") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }

    fn hidden_while<R>(&self, act: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(act),
            None => act(),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_threads_do() {
        let items: Vec<u64> = (0..200).collect();
        let mut seen = Vec::new();
        let work = |item: &u64| {
            std::thread::sleep(Duration::from_micros((item * 7919) % 300));
            item * 2
        };
        in_order(&items, 4, &Terminal::default(), work, |_, result| {
            seen.push(result);
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, items.iter().map(|item| Ok(item * 2)).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_is_a_result_and_a_failing_sink_ends_the_work() {
        let mut seen = Vec::new();
        let work = |item: &u8| assert_ne!(*item, 1, "planted");
        in_order(&[0, 1, 2], 2, &Terminal::default(), work, |_, result| {
            seen.push(result.is_ok());
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, [true, false, true]);
        let broken = |_: &u8, _| Err(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(in_order(&[0; 100], 2, &Terminal::default(), |_| (), broken).is_err());
    }
}
