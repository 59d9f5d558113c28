//! What happens when a signal ends the program: temporary files beside the user's files are removed, and
//! programs that were started end too.
//!
//! [`begin`] does a step and registers how to undo it, [`Pending::finish`] ends it. Both exclude the signal:
//! it comes before a step, when nothing has happened, or after it, when the undoing is known. A second
//! signal ends the program at once, whatever the first one waits for.
//!
//! Signals are watched from the first step on. Most runs have none, and a thread takes a tenth of a short run.

use std::io;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Undoes one step.
type Undo = Box<dyn FnOnce() + Send>;

/// The steps that are not finished, with their numbers.
struct Steps {
    next: u64,
    open: Vec<(u64, Undo)>,
}

/// Signals are watched.
static WATCHED: Once = Once::new();

static STEPS: Mutex<Steps> = Mutex::new(Steps { next: 0, open: Vec::new() });

fn steps() -> MutexGuard<'static, Steps> {
    // A panic leaves the list as it was before or after one change, both of which are right.
    STEPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A step that a signal would undo. Dropping it forgets the undoing.
#[must_use = "a signal no longer undoes what is dropped"]
pub struct Pending(u64);

/// Does a step, which tells how to undo it. The step must not begin another one.
pub fn begin<T>(step: impl FnOnce() -> io::Result<(T, Undo)>) -> io::Result<(T, Pending)> {
    WATCHED.call_once(watch);
    let mut steps = steps();
    let (value, undo) = step()?;
    let number = steps.next;
    steps.next += 1;
    steps.open.push((number, undo));
    Ok((value, Pending(number)))
}

impl Pending {
    /// Does the last of a step, after which there is nothing to undo.
    pub fn finish<T>(self, last: impl FnOnce() -> T) -> T {
        let mut steps = steps();
        let value = last();
        steps.open.retain(|(number, _)| *number != self.0);
        std::mem::forget(self);
        value
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        steps().open.retain(|(number, _)| *number != self.0);
    }
}

#[cfg(unix)]
mod signals {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};

    /// Waits for signals on a thread of its own. Where that thread cannot be had, a signal ends the program
    /// and leaves its temporary files.
    pub(super) fn watch() {
        let (ready, installed) = channel();
        let thread = thread::Builder::new().name("signals".to_owned()).spawn(move || wait(&ready));
        if thread.is_ok() {
            // A file written before the handlers are there would stay. Where they cannot be
            // installed, the sender is dropped.
            let _ = installed.recv();
        }
    }

    fn wait(ready: &Sender<()>) {
        // `nohup`, and a shell that puts a command in the background, ignore signals on purpose.
        let wanted: Vec<i32> =
            [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)).collect();
        let ending = Arc::new(AtomicBool::new(false));
        for signal in &wanted {
            // Without this handler a second signal waits like the first.
            let _ = flag::register_conditional_default(*signal, Arc::clone(&ending));
        }
        let Ok(mut signals) = Signals::new(&wanted) else { return };
        // The main thread waits for it, unless it is gone.
        let _ = ready.send(());
        let Some(signal) = signals.forever().next() else { return };
        ending.store(true, Ordering::SeqCst);
        // Held to the end, so that no step begins any more.
        let mut steps = super::steps();
        for (_, undo) in steps.open.drain(..).rev() {
            // One that fails must not keep the others from being undone.
            let _ = catch_unwind(AssertUnwindSafe(undo));
        }
        // Whoever waits for the program sees the signal that ended it.
        let _ = low_level::emulate_default_handler(signal);
    }

    /// Whether whoever started the program wants it to survive `signal`.
    fn is_ignored(signal: i32) -> bool {
        let mut current = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action the call only writes the current one, to memory that is ours.
        let result = unsafe { libc::sigaction(signal, std::ptr::null(), current.as_mut_ptr()) };
        // SAFETY: zero bytes are a valid `sigaction`, whether or not the call filled it.
        result == 0 && unsafe { current.assume_init() }.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(unix)]
use signals::watch;

/// Elsewhere a console ends the program without a word, and temporary files stay.
#[cfg(not(unix))]
fn watch() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_open_until_it_is_finished_or_dropped() {
        let open = |number: u64| steps().open.iter().any(|(each, _)| *each == number);
        let step = || begin(|| Ok(((), Box::new(|| ()) as Undo))).unwrap().1;
        let (first, second) = (step(), step());
        let (one, two) = (first.0, second.0);
        assert!(open(one) && open(two));
        assert_eq!(first.finish(|| 7), 7);
        assert!(!open(one) && open(two));
        drop(second);
        assert!(!open(two));
        assert!(begin(|| Err::<((), Undo), _>(io::Error::other("no"))).is_err());
    }
}
