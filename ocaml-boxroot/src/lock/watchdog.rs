//! The watchdog of the feature `debug-checks`. This thread reports threads that have waited several
//! seconds for OCaml's lock, with the locations of the waits and of the threads that hold the lock.
//! The watchdog never uses OCaml itself, and handles no signals.
//!
//! It does not see OCaml or C code that holds the lock. Nor does it see a thread that waits for a
//! mutex under the lock while another domain waits for a collection.

/// A thread's relation to OCaml's lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Waits,
    Holds,
    HasReleased,
}

#[cfg(not(feature = "debug-checks"))]
mod record {
    /// Without the feature, nothing is recorded.
    pub(crate) struct Watched;

    impl Watched {
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn new(_state: super::State) -> Watched {
            Watched
        }

        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn is_now(&self, _state: super::State) {}
    }
}

#[cfg(feature = "debug-checks")]
mod record {
    use super::State;
    use crate::ffi::{self, Generation};
    use std::ffi::CStr;
    use std::fmt::{self, Write as _};
    use std::panic::Location;
    use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    /// The watchdog reports waits that have taken `LONG`, and looks for them every `OFTEN`.
    const LONG: Duration = Duration::from_secs(3);
    const OFTEN: Duration = Duration::from_secs(1);

    struct Entry {
        number: u64,
        thread: Name,
        state: State,
        site: &'static Location<'static>,
        since: Instant,
        is_reported: bool,
    }

    /// The number and the name that the system gives a thread.
    #[derive(PartialEq, Eq)]
    struct Name {
        number: u64,
        /// Ends with a NUL.
        text: [u8; 16],
    }

    impl Name {
        fn of_this_thread() -> Name {
            let mut text = [0; 16];
            // SAFETY: no precondition.
            let number = unsafe { ffi::obx_thread(&mut text) };
            Name { number, text }
        }
    }

    impl fmt::Display for Name {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let text = CStr::from_bytes_until_nul(&self.text).unwrap_or_default();
            write!(f, "thread {} `{}`", self.number, text.to_string_lossy())
        }
    }

    /// The states of the threads of a process.
    struct Table {
        generation: Generation,
        watched: Mutex<Entries>,
    }

    #[derive(Default)]
    struct Entries {
        /// The last entry of a thread is its current state.
        all: Vec<Entry>,
        /// Whether a watchdog is running. It ends when there are no entries, so it keeps no process
        /// alive.
        has_watchdog: bool,
    }

    impl Table {
        /// The table of this process. After a fork, the child gets a new table, because another
        /// thread may have locked the old one; it also gets its own watchdog.
        fn get() -> &'static Table {
            static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());
            let old = TABLE.load(Ordering::Acquire);
            // SAFETY: a table is never freed, and changes only under its mutex.
            match unsafe { old.as_ref() } {
                Some(table) if !table.generation.is_over() => return table,
                _ => {}
            }
            let new = Table { generation: Generation::now(), watched: Mutex::default() };
            let new = Box::into_raw(Box::new(new));
            // SAFETY: `new` was made from a box, and a table is never freed once other threads can
            // see it.
            unsafe {
                match TABLE.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => &*new,
                    Err(other) => {
                        drop(Box::from_raw(new));
                        &*other
                    }
                }
            }
        }

        fn entries(&self) -> MutexGuard<'_, Entries> {
            self.watched.lock().unwrap_or_else(PoisonError::into_inner)
        }

        fn add(&'static self, entry: Entry) {
            let mut entries = self.entries();
            entries.all.push(entry);
            if !entries.has_watchdog {
                let watchdog = thread::Builder::new().name("boxroot-watchdog".to_string());
                // If the thread cannot be started, nothing is reported.
                entries.has_watchdog = watchdog.spawn(|| self.watch()).is_ok();
            }
        }

        fn watch(&self) {
            // SAFETY: changes only which signals this thread handles.
            unsafe { ffi::obx_block_signals() };
            loop {
                thread::sleep(OFTEN);
                let mut entries = self.entries();
                if entries.all.is_empty() {
                    entries.has_watchdog = false;
                    return;
                }
                let report = report(&mut entries.all);
                drop(entries);
                ffi::report(&report);
            }
        }
    }

    /// The report on the waits that have become long since the last report.
    fn report(entries: &mut [Entry]) -> String {
        let mut report = String::new();
        for i in 0..entries.len() {
            let entry = &entries[i];
            if entry.state != State::Waits || entry.is_reported || entry.since.elapsed() < LONG {
                continue;
            }
            entries[i].is_reported = true;
            say(&mut report, "boxroot:", &entries[i], "has waited for OCaml's lock");
            let holders = (0..entries.len()).filter(|&j| {
                let is_last = |later: &Entry| later.thread != entries[j].thread;
                entries[j].state == State::Holds && entries[j + 1..].iter().all(is_last)
            });
            for j in holders {
                say(&mut report, "boxroot:  ", &entries[j], "has been attached");
            }
            report.push_str(
                "boxroot:   OCaml or C code may also hold the lock. A thread that waits for another one releases the lock \
                 meanwhile: DomainLock::release, JoinHandleExt, MutexExt, OnceLockExt (instead of LazyLock); see the guide on the lock\n",
            );
        }
        report
    }

    fn say(report: &mut String, start: &str, entry: &Entry, what: &str) {
        let Entry { thread, site, since, .. } = entry;
        let _ = writeln!(
            report,
            "{start} {thread} {what} for {} s, at {site}",
            since.elapsed().as_secs()
        );
    }

    /// An entry of this thread, until it is dropped.
    pub(crate) struct Watched(u64);

    impl Watched {
        #[track_caller]
        pub(crate) fn new(state: State) -> Watched {
            static NUMBER: AtomicU64 = AtomicU64::new(0);
            crate::signals::look();
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let thread = Name::of_this_thread();
            let (site, since) = (Location::caller(), Instant::now());
            let entry = Entry { number, thread, state, site, since, is_reported: false };
            Table::get().add(entry);
            Watched(number)
        }

        /// Records the thread's new state. After a fork, the entry may be in the parent's table
        /// only; then nothing is recorded.
        pub(crate) fn is_now(&self, state: State) {
            if let Some(entry) = Table::get().entries().all.iter_mut().find(|e| e.number == self.0)
            {
                entry.state = state;
                entry.since = Instant::now();
                entry.is_reported = false;
            }
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            Table::get().entries().all.retain(|entry| entry.number != self.0);
        }
    }
}

pub(crate) use record::Watched;
