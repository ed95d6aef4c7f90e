//! Several pieces of work at once, each result taken in the order of the work, with bounded memory.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::guard::{self, Interruption};

/// Results that wait for their turn, for each worker. One slow piece holds the others up only after this many.
const WAITING: usize = 16;

/// What a piece of work came to: its result, or its panic.
type Outcome<T> = Result<T, Interruption>;

/// How many workers there are where nobody says: as many as processors can be used.
#[must_use]
pub(super) fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Does the work from 0 to `count` with so many workers, and hands each result to `take` in that order, on the thread of the
/// caller. A panic is the result of its piece and touches no other one. Ends early where `take` breaks.
pub(super) fn in_order<T: Send>(
    count: usize,
    workers: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, Outcome<T>) -> ControlFlow<()>,
) {
    let work = |at: usize| guard::isolated(|| work(at));
    let workers = workers.min(count);
    let desk = Desk::new(count, workers * WAITING);
    std::thread::scope(|scope| {
        // However this ends, no worker is left waiting.
        let _closing = Closing(&desk);
        let clerk = || {
            while let Some(at) = desk.next() {
                desk.lay(at, work(at));
            }
        };
        let spawn = |_: &usize| std::thread::Builder::new().spawn_scoped(scope, clerk).is_ok();
        // One worker needs no thread, and a system that gives none has to do without.
        let busy = if workers > 1 { (0..workers).take_while(spawn).count() } else { 0 };
        for at in 0..count {
            let outcome = if busy == 0 { work(at) } else { desk.fetch(at) };
            if take(at, outcome).is_break() {
                break;
            }
        }
    });
}

/// Where workers fetch their next piece and lay down their results.
struct Desk<T> {
    count: usize,
    window: usize,
    papers: Mutex<Papers<T>>,
    changed: Condvar,
}

struct Papers<T> {
    /// The next piece that nobody has begun.
    next: usize,
    /// So many results were fetched.
    fetched: usize,
    closed: bool,
    ready: BTreeMap<usize, Outcome<T>>,
}

impl<T> Desk<T> {
    fn new(count: usize, window: usize) -> Self {
        let papers = Papers { next: 0, fetched: 0, closed: false, ready: BTreeMap::new() };
        Self { count, window, papers: Mutex::new(papers), changed: Condvar::new() }
    }

    /// Nothing that is done while it is held can panic half-way.
    fn papers(&self) -> MutexGuard<'_, Papers<T>> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the papers are as wanted.
    fn wait(&self, wanted: impl Fn(&Papers<T>) -> bool) -> MutexGuard<'_, Papers<T>> {
        let papers = self.papers();
        self.changed.wait_while(papers, |papers| !wanted(papers)).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece to work on. Waits while too many results lie about.
    fn next(&self) -> Option<usize> {
        let mut papers = self.wait(|papers| {
            papers.closed || papers.next == self.count || papers.next < papers.fetched + self.window
        });
        if papers.closed || papers.next == self.count {
            return None;
        }
        papers.next += 1;
        Some(papers.next - 1)
    }

    fn lay(&self, at: usize, outcome: Outcome<T>) {
        self.papers().ready.insert(at, outcome);
        self.changed.notify_all();
    }

    /// The result of a piece. Waits for it; it is the next one in order, so some worker has it or will begin it.
    fn fetch(&self, at: usize) -> Outcome<T> {
        let mut papers = self.wait(|papers| papers.ready.contains_key(&at));
        papers.fetched = at + 1;
        let outcome = papers.ready.remove(&at);
        drop(papers);
        self.changed.notify_all();
        outcome.unwrap_or(Err(Interruption::Panicked))
    }
}

/// Sends the workers home.
struct Closing<'a, T>(&'a Desk<T>);

impl<T> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.papers().closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn taken(count: usize, workers: usize, work: impl Fn(usize) -> usize + Sync) -> Vec<Outcome<usize>> {
        let mut all = Vec::new();
        in_order(count, workers, work, |at, outcome| {
            assert_eq!(at, all.len());
            all.push(outcome);
            ControlFlow::Continue(())
        });
        all
    }

    #[test]
    fn results_come_in_order_however_long_each_takes() {
        for workers in [1, 2, 7, 500] {
            let uneven = |at: usize| {
                std::thread::sleep(std::time::Duration::from_micros((at * 7919 % 13) as u64 * 50));
                at * at
            };
            let expected: Vec<_> = (0..300).map(|at| Ok(at * at)).collect();
            assert_eq!(taken(300, workers, uneven), expected, "{workers}");
        }
        assert_eq!(taken(0, 3, |at| at), []);
    }

    #[test]
    fn a_panic_is_the_result_of_its_piece_only() {
        for workers in [1, 3] {
            let all = taken(20, workers, |at| if at == 7 { panic!("boom") } else { at });
            let lost: Vec<usize> = (0..20).filter(|at| all[*at].is_err()).collect();
            assert_eq!(lost, [7], "{workers}");
        }
    }

    #[test]
    fn no_more_results_than_the_window_wait_for_a_slow_one() {
        let begun = AtomicUsize::new(0);
        let highest = AtomicUsize::new(0);
        let work = |at: usize| {
            let so_far = begun.fetch_add(1, Ordering::SeqCst) + 1;
            if at == 0 {
                std::thread::sleep(std::time::Duration::from_millis(200));
                highest.store(begun.load(Ordering::SeqCst), Ordering::SeqCst);
            }
            so_far
        };
        assert_eq!(taken(1000, 2, work).len(), 1000);
        assert!(highest.load(Ordering::SeqCst) <= 2 * WAITING, "{highest:?}");
    }

    #[test]
    fn whoever_breaks_gets_nothing_more_and_leaves_nobody_waiting() {
        for workers in [1, 4] {
            let mut seen = 0;
            in_order(
                10_000,
                workers,
                |at| at,
                |at, _| {
                    seen += 1;
                    if at == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                },
            );
            assert_eq!(seen, 6);
        }
        let panics = std::panic::catch_unwind(|| in_order(1000, 4, |at| at, |_, _| panic!("boom")));
        assert!(panics.is_err());
    }
}
