//! `CompletionQueue`: OCaml promises that Rust resolves, and Rust futures that OCaml resolves. The
//! tests run the queue themselves; `examples/lwt` and `examples/eio` use OCaml's schedulers.

use crate::futures::{block_on, poll};
use crate::support::process::in_a_child;
use crate::support::safe::*;
use ocaml_boxroot::completion::{Cancel, Completion, CompletionQueue, OCamlFuture, Resolve};
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::exceptions::{Failure, NotFound};
use ocaml_boxroot::markers::OCamlException;
use ocaml_boxroot::{
    AttachError, Boxroot, CallError, ConversionError, DomainLock, Exception, FromOCaml, Function,
    OCamlInt, OCamlString, RootRef, ToOCaml, Value,
};
use std::future::Future;
use std::os::fd::AsRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle};

fn queue(lock: &DomainLock) -> CompletionQueue {
    CompletionQueue::new(lock).unwrap()
}

/// Whether the descriptor is readable, at once or after a wait.
fn is_readable(queue: &CompletionQueue, wait: bool) -> bool {
    let mut poll = libc::pollfd { fd: queue.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the structure is valid.
    unsafe { libc::poll(&mut poll, 1, if wait { -1 } else { 0 }) == 1 }
}

/// Runs the queue until `is_so` returns true, as a scheduler does.
fn run_until(lock: &mut DomainLock, queue: &CompletionQueue, mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        assert!(lock.release(|| is_readable(queue, true)));
        queue.run(lock).unwrap();
    }
}

/// An OCaml function that takes a result, and the channel of the results.
fn promise(
    lock: &mut DomainLock,
) -> (Boxroot<Resolve<OCamlInt>>, mpsc::Receiver<Result<i64, String>>) {
    let (sender, receiver) = mpsc::channel();
    let resolve = Resolve::<OCamlInt>::from_rust(lock, move |lock, result| {
        let result: Result<i64, Boxroot<OCamlException>> = result.to_rust(lock)?;
        sender.send(result.map_err(|exception| text(lock, &exception)))?;
        Ok(())
    });
    (resolve.unwrap(), receiver)
}

/// OCaml's text of an exception.
fn text(lock: &mut DomainLock, exception: &RootRef<OCamlException>) -> String {
    let to_string = function::<(OCamlException,), OCamlString>(lock, "exception_to_string");
    let text = to_string.call(lock, exception).unwrap().0;
    text.to_string_lossy()
}

/// A function that OCaml calls to cancel, and the count of these calls.
fn counter(lock: &mut DomainLock) -> (Boxroot<Cancel>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let cancel = Cancel::from_rust(lock, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    (cancel.unwrap(), count)
}

fn nothing(lock: &mut DomainLock) -> Boxroot<Cancel> {
    Cancel::from_rust(lock, |_| Ok(())).unwrap()
}

type Number = Result<i64, ConversionError>;

struct Panics;

impl ToOCaml<OCamlInt> for Panics {
    fn to_value<'l>(
        &self,
        _: &'l mut DomainLock,
    ) -> Result<(Value<'l, OCamlInt>, &'l DomainLock), ConversionError> {
        panic!("in a conversion")
    }
}

#[derive(Debug)]
struct PanicsAsText;

impl std::fmt::Display for PanicsAsText {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("in a text")
    }
}

impl std::error::Error for PanicsAsText {}

/// A result whose conversion panics if `IN_CONVERSION` is true; otherwise its drop panics.
struct PanickingResult<const IN_CONVERSION: bool>;

impl<const IN_CONVERSION: bool> FromOCaml<OCamlInt> for PanickingResult<IN_CONVERSION> {
    fn from_ocaml<'l>(_: Value<'l, OCamlInt>, _: &'l DomainLock) -> Result<Self, ConversionError> {
        if IN_CONVERSION {
            panic!("in a conversion")
        }
        Ok(PanickingResult)
    }
}

impl<const IN_CONVERSION: bool> Drop for PanickingResult<IN_CONVERSION> {
    fn drop(&mut self) {
        panic!("in a drop")
    }
}

test!(completion_resolves_a_promise, || {
    with_ocaml(|lock| {
        let queue = queue(lock);
        type End = fn(Completion<OCamlInt>);
        let ends: [(&str, End); 7] = [
            ("Ok(42)", |completion| completion.resolve(Number::Ok(42))),
            (r#"Err("Not_found")"#, |completion| completion.resolve(Err::<i64, _>(NotFound))),
            (r#"Err("Failure(\"text\")")"#, |completion| completion.resolve(Err::<i64, _>("text"))),
            (r#"Err("Failure(\"in a conversion\")")"#, |completion| {
                completion.resolve(Ok::<_, String>(Panics))
            }),
            (r#"Err("Failure(\"in a text\")")"#, |completion| {
                completion.resolve(Err::<i64, _>(PanicsAsText))
            }),
            (r#"Err("Failure(\"number out of range for the target type\")")"#, |completion| {
                completion.resolve(Number::Ok(i64::MAX))
            }),
            (
                r#"Err("Failure(\"Rust has dropped the Completion of this promise\")")"#,
                |completion| drop(completion),
            ),
        ];
        for (expected, end) in ends {
            let (resolve, results) = promise(lock);
            let completion = queue.completion(resolve);
            churn(lock);
            // This thread holds the lock. The other thread needs none.
            thread::spawn(move || end(completion)).join().unwrap();
            assert!(results.try_recv().is_err() && is_readable(&queue, false));
            queue.run(lock).unwrap();
            let result = results.recv().unwrap().map_err(|text| text.replace("Stdlib.", ""));
            assert_eq!(format!("{result:?}"), expected);
            assert!(!is_readable(&queue, false));
        }
        full_major(lock);
        assert_eq!(stats().live_roots, 0);
    });
});

test!(queue_runs_what_is_there, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let queue = Arc::new(queue(lock));
        // A function that raises, a function that adds another completion, and others.
        let raises =
            Resolve::<OCamlInt>::from_rust(lock, |_, _| -> Result<(), _> { Err("raised")? });
        queue.completion(raises.unwrap()).resolve(Number::Ok(1));
        let (again, (last, results)) = (Arc::clone(&queue), promise(lock));
        let last = Mutex::new(Some(last));
        let adds = Resolve::<OCamlInt>::from_rust(lock, move |lock, _| {
            let last = last.lock().unwrap().take().unwrap();
            again.completion(last).resolve(Number::Ok(3));
            again.run(lock)?; // a scheduler inside the scheduler
            Ok(())
        });
        queue.completion(adds.unwrap()).resolve(Number::Ok(2));
        let error = queue.run(lock).unwrap_err();
        assert_eq!(Failure::of(lock, &error).unwrap(), Some(Failure("raised".into())));
        assert!(is_readable(&queue, false));
        queue.run(lock).unwrap();
        assert_eq!(results.recv(), Ok(Ok(3)));
        assert!(!is_readable(&queue, false));
        // A call of a closure that panics.
        let (resolve, results) = promise(lock);
        let mut future: OCamlFuture<i64> =
            queue.call::<OCamlInt, _>(|_, _| -> Result<Boxroot<Cancel>, _> { panic!("in a call") });
        queue.completion(resolve).resolve(Number::Ok(4));
        queue.run(lock).unwrap();
        assert_eq!(results.recv(), Ok(Ok(4)));
        let payload = catch_unwind(AssertUnwindSafe(|| poll(&mut future))).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"in a call"));
    });
});

test!(future_of_a_promise, forbid(unsafe_code), || {
    /// The thread that resolves the last promise.
    static RESOLVES: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);
    with_ocaml(|lock| {
        let queue = queue(lock);
        type Start =
            fn(&mut DomainLock, &Boxroot<Resolve<OCamlInt>>) -> Result<Boxroot<Cancel>, CallError>;
        fn resolve(
            lock: &mut DomainLock,
            resolve: &Boxroot<Resolve<OCamlInt>>,
            result: Result<i64, Exception>,
        ) {
            let result = match result {
                Ok(n) => Ok(n),
                Err(exception) => Err(exception.value().unwrap().clone_in(lock).unwrap()),
            };
            let result: Boxroot<Result<OCamlInt, OCamlException>> = result.to_ocaml(lock).unwrap();
            resolve.call(lock, &result).unwrap();
        }
        let starts: [(&str, Start); 6] = [
            ("Ok(7)", |lock, done| {
                resolve(lock, done, Ok(7));
                resolve(lock, done, Ok(8)); // the first one counts
                Ok(nothing(lock))
            }),
            ("Err(Exception(Not_found))", |lock, done| {
                let not_found = NotFound.exception(lock)?;
                resolve(lock, done, Err(not_found));
                Ok(nothing(lock))
            }),
            ("Err(Exception(Failure(\"at its start\")))", |lock, _| {
                Err(Failure("at its start".into()).exception(lock)?.into())
            }),
            ("Err(OutOfRange: number out of range for the target type)", |lock, done| {
                resolve(lock, done, Ok(300));
                Ok(nothing(lock))
            }),
            ("Err(Unresolved: OCaml can no longer resolve", |lock, _| Ok(nothing(lock))),
            ("Ok(9)", |lock, done| {
                let done = done.clone_in(lock)?;
                let resolves =
                    move || DomainLock::with(|lock| resolve(lock, &done, Ok(9))).unwrap();
                *RESOLVES.lock().unwrap() = Some(thread::spawn(resolves));
                Ok(nothing(lock))
            }),
        ];
        for (expected, start) in starts {
            let future: OCamlFuture<u8> = queue.call(start);
            let waiter = thread::spawn(move || block_on(future));
            run_until(lock, &queue, || !is_readable(&queue, false));
            full_major(lock);
            full_major(lock);
            let result = format!("{:?}", lock.release(|| waiter.join()).unwrap());
            assert!(result.starts_with(expected), "{result}");
        }
        let resolves = RESOLVES.lock().unwrap().take().unwrap();
        lock.release(|| resolves.join()).unwrap(); // its root is dropped
        full_major(lock);
        assert_eq!(stats().live_roots, 0);
    });
});

test!(future_that_is_dropped_cancels, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let queue = queue(lock);
        // Dropped before OCaml has started the call.
        drop(queue.call::<OCamlInt, i64>(|_, _| panic!("is not started")));
        queue.run(lock).unwrap();
        // Dropped later, while the call starts, or after its result. The promise keeps the resolver
        // alive.
        let kept = Arc::new(Mutex::new(Vec::new()));
        for drops in ["later", "meanwhile", "after the result"] {
            let (cancel, count) = counter(lock);
            let (future, keep) = (Arc::new(Mutex::new(None)), Arc::clone(&kept));
            let started = Arc::clone(&future);
            let new: OCamlFuture<i64> = queue.call(move |lock, resolve| {
                keep.lock().unwrap().push(resolve.clone_in(lock)?);
                if drops == "meanwhile" {
                    drop(started.lock().unwrap().take());
                }
                Ok(cancel)
            });
            *future.lock().unwrap() = Some(new);
            queue.run(lock).unwrap();
            let resolve: Boxroot<Resolve<OCamlInt>> = kept.lock().unwrap().pop().unwrap();
            let result: Boxroot<Result<OCamlInt, OCamlException>> =
                Ok::<_, Boxroot<_>>(5).to_ocaml(lock).unwrap();
            if drops == "after the result" {
                resolve.call(lock, &result).unwrap();
            }
            drop(future.lock().unwrap().take());
            queue.run(lock).unwrap();
            let expected = usize::from(drops != "after the result");
            assert_eq!(count.load(Ordering::SeqCst), expected, "{drops}");
            resolve.call(lock, &result).unwrap(); // does nothing
        }
        full_major(lock);
        assert_eq!(stats().live_roots, 0);
    });
});

// Threads without the lock resolve promises, and wait for others, while one thread runs the queue.
test!(completions_in_flight, forbid(unsafe_code), || {
    const EACH: usize = 25_000;
    with_ocaml(|lock| {
        let queue = queue(lock);
        let sum = Arc::new(AtomicUsize::new(0));
        let summed = Arc::clone(&sum);
        let resolve = Resolve::<OCamlInt>::from_rust(lock, move |lock, result| {
            let result: Result<usize, Boxroot<OCamlException>> = result.to_rust(lock)?;
            summed.fetch_add(result.map_err(|_| "an exception")?, Ordering::SeqCst);
            Ok(())
        });
        let resolve = resolve.unwrap();
        let mut completions: Vec<Vec<_>> = Vec::new();
        for _ in 0..4 {
            let one = |_| queue.completion(resolve.clone_in(lock).unwrap());
            completions.push((0..EACH).map(one).collect());
        }
        thread::scope(|scope| {
            let started = Arc::new(Mutex::new(Vec::new()));
            for completions in completions {
                let (queue, started) = (&queue, Arc::clone(&started));
                scope.spawn(move || {
                    let futures: Vec<OCamlFuture<usize>> = (0..EACH / 10)
                        .map(|_| {
                            let started = Arc::clone(&started);
                            queue.call::<OCamlInt, _>(move |lock, resolve| {
                                started.lock().unwrap().push(resolve.clone_in(lock)?);
                                Ok(nothing(lock))
                            })
                        })
                        .collect();
                    for completion in completions {
                        completion.resolve(Ok::<_, ConversionError>(1_usize));
                    }
                    for future in futures {
                        assert_eq!(block_on(future).unwrap(), 3);
                    }
                });
            }
            run_until(lock, &queue, || {
                let is_all = sum.load(Ordering::SeqCst) == 4 * EACH;
                is_all && started.lock().unwrap().len() == 4 * (EACH / 10)
            });
            let three: Boxroot<Result<OCamlInt, OCamlException>> =
                Ok::<_, Boxroot<_>>(3).to_ocaml(lock).unwrap();
            for resolve in started.lock().unwrap().drain(..) {
                resolve.call(lock, &three).unwrap();
            }
        });
        queue.run(lock).unwrap(); // there is nothing to cancel
        drop(resolve);
        full_major(lock);
        assert_eq!(stats().live_roots, 0);
    });
});

// The thread of an OCaml scheduler waits in select.
test!(completions_wake_select, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let queue = Arc::new(queue(lock));
        let left = Arc::new(AtomicUsize::new(100));
        for _ in 0..100 {
            let left = Arc::clone(&left);
            let resolve = Resolve::<OCamlInt>::from_rust(lock, move |_, _| {
                left.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            });
            let completion = queue.completion(resolve.unwrap());
            thread::spawn(|| completion.resolve(Number::Ok(1)));
        }
        let descriptor = queue.as_raw_fd();
        let run = Function::<(), bool>::from_rust(lock, move |lock| {
            queue.run(lock)?;
            Ok(left.load(Ordering::SeqCst) == 0)
        });
        let select = function::<(OCamlInt, Function<(), bool>), ()>(lock, "run_on_select");
        let descriptor = descriptor.to_ocaml(lock).unwrap();
        select.call(lock, &descriptor, &run.unwrap()).unwrap();
    });
});

struct PanicsWhenWoken;

impl Wake for PanicsWhenWoken {
    fn wake(self: Arc<Self>) {
        panic!("in a waker")
    }
}

test!(future_whose_waker_panics, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let queue = queue(lock);
        let mut future = queue.call::<OCamlInt, i64>(|lock, _| Ok(nothing(lock)));
        let waker = Waker::from(Arc::new(PanicsWhenWoken));
        assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending());
        queue.run(lock).unwrap();
        full_major(lock); // drops the resolver, and wakes
        full_major(lock);
        assert!(matches!(poll(&mut future), Poll::Ready(Err(CallError::Unresolved))));
    });
});

test!(queue_that_is_closed, forbid(unsafe_code), || {
    let mut runtime = Some(start());
    for shuts_down in [false, true] {
        let (queue, completion, started, mut futures) = DomainLock::with(|lock| {
            let queue = queue(lock);
            // OCaml has started, and keeps the resolver.
            let kept = Arc::new(Mutex::new(None));
            let keep = Arc::clone(&kept);
            let started = queue.call::<OCamlInt, i64>(move |lock, resolve| {
                *keep.lock().unwrap() = Some(resolve.clone_in(lock)?);
                Ok(nothing(lock))
            });
            queue.run(lock).unwrap();
            let completion = queue.completion(promise(lock).0);
            let call = |()| queue.call::<OCamlInt, i64>(|_, _| panic!("is not started"));
            let futures = Vec::from([(); 2].map(call));
            (queue, completion, (started, kept), futures)
        })
        .unwrap();
        let (started, kept) = started;
        let waiter = thread::spawn(move || block_on(started));
        assert!(poll(&mut futures[0]).is_pending());
        match shuts_down {
            true => runtime.take().unwrap().shutdown().unwrap(),
            false => queue.close(),
        }
        futures.push(queue.call::<OCamlInt, _>(|_, _| panic!("is not started")));
        completion.resolve(Number::Ok(1));
        for future in &mut futures {
            assert!(matches!(poll(future), Poll::Ready(Err(CallError::Unresolved))));
        }
        assert!(matches!(waiter.join().unwrap(), Err(CallError::Unresolved)));
        drop(kept);
    }
});

test!(closure_whose_drop_waits_for_a_future, forbid(unsafe_code), || {
    struct Joins(Option<JoinHandle<Result<i64, CallError>>>);
    impl Drop for Joins {
        fn drop(&mut self) {
            let result = self.0.take().unwrap().join().unwrap();
            assert!(matches!(result, Err(CallError::Unresolved)));
        }
    }
    with_ocaml(|lock| {
        let queue = queue(lock);
        let joins = Arc::new(Mutex::new(None));
        let joined = Arc::clone(&joins);
        let _first = queue.call::<OCamlInt, i64>(move |lock, _| {
            let _joined = &joined;
            Ok(nothing(lock))
        });
        let second = queue.call::<OCamlInt, i64>(|lock, _| Ok(nothing(lock)));
        *joins.lock().unwrap() = Some(Joins(Some(thread::spawn(|| block_on(second)))));
        drop(joins); // the closure owns it
        queue.close();
    });
});

test!(queue_that_is_dropped, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let queue = queue(lock);
        let future = queue.call::<OCamlInt, i64>(|_, _| panic!("is not started"));
        let completion = queue.completion(promise(lock).0);
        drop(queue);
        assert!(matches!(block_on(future), Err(CallError::Unresolved)));
        completion.resolve(Number::Ok(1));
        full_major(lock);
        assert_eq!(stats().live_roots, 0);
    });
});

test!(queue_in_the_child_of_a_fork, || {
    with_ocaml(|lock| {
        let queue = queue(lock);
        let (resolve, results) = promise(lock);
        let completion = queue.completion(resolve);
        let mut future = queue.call::<OCamlInt, i64>(|lock, _| Ok(nothing(lock)));
        let mut dropped = Some(queue.call::<OCamlInt, i64>(|_, _| panic!("is not started")));
        let mut completion = Some(completion);
        in_a_child(|| {
            assert!(matches!(
                poll(&mut future),
                Poll::Ready(Err(CallError::Attach(AttachError::Forked)))
            ));
            completion.take().unwrap().resolve(Number::Ok(1));
            drop(dropped.take());
            let error = queue.run(lock).unwrap_err();
            assert!(matches!(error, CallError::Attach(AttachError::Forked)), "{error:?}");
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) };
        });
        drop(dropped);
        // A completion in the queue forks. In the child, the rest does not run.
        let queue = Arc::new(queue);
        let in_child = Arc::clone(&queue);
        let forks = Resolve::<OCamlInt>::from_rust(lock, move |lock, _| {
            // SAFETY: the child only runs the code of this test, and ends.
            if unsafe { libc::fork() } == 0 {
                let error = in_child.run(lock).unwrap_err();
                assert!(matches!(error, CallError::Attach(AttachError::Forked)), "{error:?}");
            }
            Ok(())
        });
        queue.completion(forks.unwrap()).resolve(Number::Ok(1));
        completion.unwrap().resolve(Number::Ok(2));
        assert!(is_readable(&queue, false));
        let parent = std::process::id();
        let result = queue.run(lock);
        if std::process::id() != parent {
            let is_forked = matches!(result, Err(CallError::Attach(AttachError::Forked)));
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(!is_forked || results.try_recv().is_ok())) };
        }
        result.unwrap();
        assert_eq!(results.recv(), Ok(Ok(2)));
        let mut status = -1;
        // SAFETY: there is one child, and `status` is valid.
        assert!(unsafe { libc::waitpid(-1, &mut status, 0) } > 0);
        assert_eq!(status, 0);
    });
});

/// Counts how often it is woken.
struct Counts(AtomicUsize);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

// The future's mutex may be locked forever there, and the task belongs to the parent.
test!(future_that_ocaml_resolves_in_the_child_of_a_fork, || {
    with_ocaml(|lock| {
        let queue = queue(lock);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let futures = [(); 2].map(|()| {
            let keep = Arc::clone(&kept);
            queue.call::<OCamlInt, i64>(move |lock, resolve| {
                keep.lock().unwrap().push(resolve.clone_in(lock)?);
                Ok(nothing(lock))
            })
        });
        queue.run(lock).unwrap();
        let count = Arc::new(Counts(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let [mut first, mut second] = futures;
        for future in [&mut first, &mut second] {
            assert!(Pin::new(future).poll(&mut Context::from_waker(&waker)).is_pending());
        }
        let resolve = |lock: &mut DomainLock| {
            let result: Boxroot<Result<OCamlInt, OCamlException>> =
                Ok::<_, Boxroot<_>>(5).to_ocaml(lock).unwrap();
            let mut kept = kept.lock().unwrap();
            kept.pop().unwrap().call(lock, &result).unwrap();
            kept.clear();
            full_major(lock); // drops the other resolver
            full_major(lock);
            count.0.load(Ordering::SeqCst)
        };
        in_a_child(|| assert_eq!(resolve(lock), 0));
        assert_eq!(resolve(lock), 2);
    });
});

// Panics do not reach OCaml, or the thread that closes a queue, if other code caused them.
test!(panics_of_results_and_of_closures, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let queue = queue(lock);
        let result: Boxroot<Result<OCamlInt, OCamlException>> =
            Ok::<_, Boxroot<_>>(5).to_ocaml(lock).unwrap();
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = || {
            let kept = Arc::clone(&kept);
            move |lock: &mut DomainLock, resolve: &Boxroot<Resolve<OCamlInt>>| {
                kept.lock().unwrap().push(resolve.clone_in(lock)?);
                Ok(nothing(lock))
            }
        };
        let mut converts = queue.call::<_, PanickingResult<true>>(keep());
        let dropped = queue.call::<_, PanickingResult<false>>(keep());
        queue.run(lock).unwrap();
        drop(dropped);
        for resolve in kept.lock().unwrap().drain(..) {
            resolve.call(lock, &result).unwrap();
        }
        let payload = catch_unwind(AssertUnwindSafe(|| poll(&mut converts).is_ready()));
        assert_eq!(payload.unwrap_err().downcast_ref(), Some(&"in a conversion"));
        // The closures are dropped: when a future is no longer wanted, and in the end.
        let call = |panics: PanickingResult<false>| {
            queue.call::<OCamlInt, i64>(move |lock, _| {
                let _panics = &panics;
                Ok(nothing(lock))
            })
        };
        drop(call(PanickingResult));
        queue.run(lock).unwrap();
        let mut futures = [(); 2].map(|()| call(PanickingResult));
        queue.close();
        for future in &mut futures {
            assert!(matches!(poll(future), Poll::Ready(Err(CallError::Unresolved))));
        }
    });
});
