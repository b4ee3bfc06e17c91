//! `Domains`, a pool of OCaml domains that runs Rust closures, and its end.

use crate::futures::block_on;
use crate::support::process::in_a_child;
use crate::support::safe::*;
use crate::threads::memory;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::domains::{DomainsError, Task};
use ocaml_boxroot::runtime::Users;
use ocaml_boxroot::{
    AttachError, Boxroot, DomainLock, Domains, Error, Function, OCamlInt, OCamlString, Runtime,
    ShutdownError, ToOCaml,
};
use std::ffi::c_char;
use std::future::Future;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Barrier, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

type Done<R = ()> = Result<R, AttachError>;

fn pool(workers: usize) -> Domains {
    Runtime::get_or_start().unwrap();
    DomainLock::attach(|lock| Domains::new(lock, workers)).unwrap()
}

/// The message of a panic.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(f)) else { panic!("no panic") };
    payload.downcast_ref::<&str>().unwrap_or(&"another payload").to_string()
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_millis(1));
    }
}

extern "C" {
    fn caml_named_value(name: *const c_char) -> *mut isize;
}

/// The number of threads of the process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

test!(pool_runs_jobs, forbid(unsafe_code), || {
    let domains = pool(2);
    assert_eq!(domains.workers(), if cfg!(ocaml5) { 2 } else { 1 });
    let text = "borrowed".to_string();
    let root = domains.run(|lock| text.to_ocaml(lock)).unwrap();
    let root: Boxroot<OCamlString> = root;
    let read = domains.run(|lock| Ok::<_, Error>(root.get(lock).to_string_lossy()));
    assert_eq!(read.unwrap(), text);
    let task = domains.spawn(move |lock| Ok::<_, Error>(root.get(lock).to_string_lossy()));
    assert_eq!(task.join().unwrap(), text);
    let lengths = domains.map(0..100, |lock, n| {
        churn_a_little(lock);
        Ok::<_, Error>(string(lock, &"x".repeat(n)).get(lock).as_bytes().len())
    });
    assert_eq!(lengths.unwrap(), (0..100).collect::<Vec<_>>());
    domains.join().unwrap();
    assert_no_roots();
});

// The barrier lets no job through unless both run at the same time.
test!(pool_runs_jobs_at_the_same_time, forbid(unsafe_code), ocaml = 5, || {
    let (domains, barrier) = (pool(3), Barrier::new(2));
    for _ in 0..100 {
        let waits = |lock: &mut DomainLock| -> Done {
            churn_a_little(lock);
            lock.release(|| barrier.wait());
            Ok(())
        };
        let scope = domains.scope(|scope| {
            let first = scope.spawn(waits);
            scope.spawn(waits).join().and(first.join())
        });
        scope.unwrap().unwrap();
    }
    // This also works with the locks held, because each worker has its own.
    let both = domains.map([0, 1], |_lock, _| {
        barrier.wait();
        Done::Ok(())
    });
    both.unwrap();
});

test!(pool_gives_errors_of_jobs, forbid(unsafe_code), || {
    let domains = pool(2);
    let fails = |n: usize| move |_: &mut DomainLock| Err::<(), _>(format!("error {n}"));
    #[derive(Debug, PartialEq)]
    struct Text(String);
    impl From<AttachError> for Text {
        fn from(error: AttachError) -> Text {
            Text(error.to_string())
        }
    }
    let text = |n| Err(Text(format!("error {n}")));
    assert_eq!(domains.run(|lock| fails(1)(lock).map_err(Text)), text(1));
    assert_eq!(domains.spawn(move |lock| fails(2)(lock).map_err(Text)).join(), text(2));
    for _ in 0..50 {
        let first = domains.map(0..1000, |lock, n| match n {
            300.. => fails(n)(lock).map_err(Text),
            _ => Ok(()),
        });
        assert_eq!(first.unwrap_err(), text(300).unwrap_err());
    }
});

test!(pool_gives_panics_to_who_waits, forbid(unsafe_code), || {
    let domains = pool(2);
    fn panics(_: &mut DomainLock) -> Done {
        panic!("a job's")
    }
    assert_eq!(panic_of(|| domains.run(panics)), "a job's");
    assert_eq!(panic_of(|| domains.spawn(panics).join()), "a job's");
    assert_eq!(panic_of(|| domains.map([1], |lock, _| panics(lock))), "a job's");
    assert_eq!(panic_of(|| domains.scope(|scope| scope.spawn(panics).join())), "a job's");
    let unjoined = panic_of(|| domains.scope(|scope| drop(scope.spawn(panics))));
    assert_eq!(unjoined, "a job of the scope panicked");
    drop(domains.spawn(panics));
    domains.run(|_| Done::Ok(())).unwrap(); // the pool goes on
    domains.join().unwrap();
});

test!(pool_maps_no_more_after_a_panic, forbid(unsafe_code), || {
    let (domains, tried) = (pool(2), AtomicUsize::new(0));
    let map = || {
        domains.map(0..1000, |lock, n| {
            tried.fetch_add(1, Ordering::SeqCst);
            if n == 1 {
                resume_unwind(Box::new("item 1")); // prints no backtrace, which may take a second
            }
            lock.release(|| thread::sleep(Duration::from_millis(1)));
            Done::Ok(())
        })
    };
    assert_eq!(panic_of(map), "item 1");
    assert!(tried.load(Ordering::SeqCst) < 1000);
});

/// Sends the results of a pool's functions in a finaliser.
struct UsesPool(Arc<Domains>, mpsc::Sender<[AttachError; 4]>);

impl Drop for UsesPool {
    fn drop(&mut self) {
        let UsesPool(domains, sender) = self;
        let job = |_: &mut DomainLock| Done::Ok(());
        let errors = [
            domains.run(job).unwrap_err(),
            domains.map([1], |lock, _| job(lock)).unwrap_err(),
            domains.scope(|_| ()).unwrap_err(),
            domains.spawn(job).join().unwrap_err(),
        ];
        sender.send(errors).unwrap();
    }
}

// This includes the last collection of a domain, whose thread holds no lock.
test!(pool_in_a_finaliser, forbid(unsafe_code), || {
    let (domains, (sender, receiver)) = (Arc::new(pool(2)), mpsc::channel());
    let garbage = || UsesPool(Arc::clone(&domains), sender.clone());
    DomainLock::with(|lock| {
        lock.alloc_box(garbage()).unwrap();
        full_major(lock);
    })
    .unwrap();
    let others = pool(1);
    let garbage = || {
        let garbage = garbage();
        move |lock: &mut DomainLock| lock.alloc_box(garbage).map(|_| ())
    };
    others.run(|lock| garbage()(lock)).unwrap();
    others.join().unwrap();
    DomainLock::with(full_major).unwrap();
    for _ in 0..2 {
        assert_eq!(receiver.recv().unwrap(), [AttachError::InFinaliser; 4]);
    }
});

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Ordering::SeqCst);
        panic!("in a drop");
    }
}

static DROPS: AtomicUsize = AtomicUsize::new(0);

test!(pool_survives_panics_in_drops, forbid(unsafe_code), || {
    let domains = pool(2);
    for _ in 0..100 {
        let result = domains.spawn(|_| Done::Ok(PanicsInDrop));
        let payload = domains.spawn(|_| -> Done { std::panic::panic_any(PanicsInDrop) });
        // The result is dropped here if the job has ended.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(result)));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
    domains.join().unwrap();
    assert!(DROPS.load(Ordering::SeqCst) >= 100);
});

test!(pool_runs_jobs_whose_task_was_dropped, forbid(unsafe_code), || {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let domains = pool(2);
    for _ in 0..1000 {
        drop(domains.spawn(|lock| {
            RUNS.fetch_add(1, Ordering::SeqCst);
            ToOCaml::<OCamlString>::to_ocaml("dropped", lock)
        }));
    }
    drop(domains); // does not wait, but all jobs run
    wait_until(|| RUNS.load(Ordering::SeqCst) == 1000);
});

// Uses OCaml in its drop, which works on any thread.
struct Attaches;

impl Drop for Attaches {
    fn drop(&mut self) {
        DomainLock::with(churn_a_little).unwrap();
        DROPS.fetch_add(1, Ordering::SeqCst);
    }
}

test!(pool_drops_results_without_the_lock, forbid(unsafe_code), || {
    let domains = pool(1);
    let (go, gone) = mpsc::channel::<()>();
    drop(domains.spawn(move |lock| {
        let _ = lock.release(|| gone.recv());
        Done::Ok(Attaches)
    }));
    drop(go);
    domains.run(|_| Done::Ok(())).unwrap();
    assert_eq!(DROPS.load(Ordering::SeqCst), 1);
});

test!(pool_and_the_lock_of_who_waits, forbid(unsafe_code), || {
    let domains = pool(2);
    let empty = |_: &mut DomainLock| Done::Ok(5);
    DomainLock::with(|lock| {
        let held = Err(AttachError::AlreadyHeld);
        assert_eq!(domains.run(empty), held);
        assert_eq!(domains.map([1], |lock, _| empty(lock)), Err(AttachError::AlreadyHeld));
        assert_eq!(domains.scope(|_| panic!("not called")), Err::<(), _>(AttachError::AlreadyHeld));
        assert_eq!(domains.spawn(empty).join(), held);
        let task = domains.spawn(empty);
        churn(lock);
        assert_eq!(lock.release(|| task.join()), Ok(5));
        assert_eq!(lock.release(|| domains.run(empty)), Ok(5));
        let sum = lock.release(|| domains.map(0..9, |lock, n| empty(lock).map(|m| m + n)));
        assert_eq!(sum.unwrap(), (5..14).collect::<Vec<_>>());
    })
    .unwrap();
    DomainLock::with(|_| assert_eq!(domains.join(), Err(AttachError::AlreadyHeld))).unwrap();
});

fn fibonacci(domains: &Domains, lock: &mut DomainLock, n: u32) -> Done<u32> {
    churn_a_little(lock);
    if n < 2 {
        return Ok(n);
    }
    // One drop through a task that is joined, one through a run.
    lock.release(|| {
        domains.scope(|scope| {
            let first = scope.spawn(move |lock| fibonacci(domains, lock, n - 1));
            let second = domains.run(|lock| fibonacci(domains, lock, n - 2))?;
            Ok(first.join()? + second)
        })
    })?
}

test!(pool_whose_jobs_wait_for_jobs, forbid(unsafe_code), || {
    for workers in [1, 3] {
        let domains = pool(workers);
        let tasks = domains.scope(|scope| {
            let tasks: Vec<_> =
                (0..6).map(|_| scope.spawn(|lock| fibonacci(&domains, lock, 9))).collect();
            tasks.into_iter().map(Task::join).collect::<Result<Vec<_>, _>>()
        });
        assert_eq!(tasks.unwrap().unwrap(), [34; 6]);
        // Nested scopes that are not joined, and jobs that add jobs to a scope that a thread waits
        // for.
        let count = AtomicUsize::new(0);
        let nested = |lock: &mut DomainLock| -> Done {
            lock.release(|| {
                domains.scope(|scope| {
                    for _ in 0..4 {
                        drop(scope.spawn(|_| {
                            for _ in 0..4 {
                                drop(scope.spawn(|lock| {
                                    churn_a_little(lock);
                                    count.fetch_add(1, Ordering::SeqCst);
                                    Done::Ok(())
                                }));
                            }
                            Done::Ok(())
                        }));
                    }
                })
            })
        };
        domains.map(0..10, |lock, _| nested(lock)).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 160);
        domains.join().unwrap();
    }
});

test!(pool_scopes_wait, forbid(unsafe_code), || {
    let domains = pool(2);
    for round in 0..300 {
        let mut texts: Vec<String> = Vec::new();
        let result = catch_unwind(AssertUnwindSafe(|| {
            domains.scope(|scope| {
                drop(scope.spawn(|_| {
                    texts.extend((0..10).map(|n| n.to_string()));
                    Done::Ok(String::from("a result that nobody wants"))
                }));
                assert!(round % 2 == 0, "in the scope");
            })
        }));
        assert_eq!(result.is_err(), round % 2 == 1);
        assert_eq!(texts.len(), 10);
    }
});

test!(pool_tasks_are_futures, forbid(unsafe_code), || {
    let runtime = start();
    let domains = pool(2);
    for n in 0..200 {
        let task = domains.spawn(move |lock| {
            churn_a_little(lock);
            Done::Ok(n)
        });
        assert_eq!(block_on(task), Ok(n));
    }
    let panics = domains.spawn(|_| -> Done { panic!("a job's") });
    assert_eq!(panic_of(|| block_on(panics)), "a job's");
    // A waker that panics, or shuts OCaml down, is called on a worker.
    struct Odd(Mutex<Option<Runtime>>, AtomicBool);
    impl Wake for Odd {
        fn wake(self: Arc<Self>) {
            self.0.lock().unwrap().take().unwrap().shutdown().unwrap_err();
            self.1.store(true, Ordering::SeqCst);
            panic!("in a waker");
        }
    }
    let (go, gone) = mpsc::channel::<()>();
    let task = domains.spawn(move |lock| {
        let _ = lock.release(|| gone.recv());
        Done::Ok(())
    });
    let mut task = pin!(task);
    let odd = Arc::new(Odd(Mutex::new(Some(runtime)), AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&odd));
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(go);
    wait_until(|| odd.1.load(Ordering::SeqCst));
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    domains.run(|_| Done::Ok(())).unwrap();
});

test!(pool_of_no_workers, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        assert_eq!(Domains::new(lock, 0).unwrap_err(), DomainsError::NoWorkers);
        assert!(Domains::recommended(lock).unwrap().workers() >= 1);
    });
});

test!(
    pool_of_too_many_workers,
    forbid(unsafe_code),
    ocaml = 5,
    environment = &[("OCAMLRUNPARAM", "d=16,s=4k")],
    || {
        let runtime = start();
        DomainLock::with(|lock| {
            // OCaml 5.0 to 5.2 do not read `d`.
            let reads_d = !["5.0.", "5.1.", "5.2."].contains(&&env!("OCAML_VERSION")[..4]);
            let most = if reads_d { 16 } else { 128 };
            for workers in [1000, most] {
                let error = Domains::new(lock, workers).unwrap_err();
                assert!(matches!(error, DomainsError::Refused(_)), "{error:?}");
                assert!(error.to_string().contains("failed to allocate domain"), "{error}");
            }
            let domains = Domains::new(lock, most - 1).unwrap(); // no half-made domain is left
            assert_eq!(
                lock.release(|| domains.map(0..100, |_, n| Done::Ok(n))).unwrap().len(),
                100
            );
            lock.release(|| domains.join()).unwrap();
        })
        .unwrap();
        runtime.shutdown().unwrap();
    }
);

/// The name under which OCaml programs register the function that makes the domains of pools.
const SPAWN: &str = "ocaml_boxroot.spawn";

// For example, a signal handler may raise in the new domain.
test!(pool_whose_worker_cannot_begin, ocaml = 5, || {
    let runtime = start();
    for failing in [1, 3] {
        DomainLock::with(|lock| {
            let spawn = function::<((),), ()>(lock, SPAWN);
            let fail = function::<(Function<((),), ()>, OCamlInt), ()>(lock, "fail_to_begin");
            let n = failing.to_ocaml(lock).unwrap();
            fail.call(lock, &spawn, &n).unwrap();
            let error = Domains::new(lock, 3).unwrap_err();
            assert!(matches!(error, DomainsError::Refused(_)), "{error:?}");
            assert!(error.to_string().contains(r#"Failure("no worker")"#), "{error}");
            let domains = Domains::new(lock, 2).unwrap();
            assert_eq!(lock.release(|| domains.run(|_| Done::Ok(1))), Ok(1));
            lock.release(|| domains.join()).unwrap();
        })
        .unwrap();
    }
    runtime.shutdown().unwrap();
});

test!(pool_without_what_makes_domains, ocaml = 5, || {
    with_ocaml(|lock| {
        // SAFETY: the value is an OCaml value, in the first word of its entry in OCaml's table of
        // names. The name comes after the second word, and no other thread uses the table.
        unsafe {
            let entry = caml_named_value(c"ocaml_boxroot.spawn".as_ptr()).cast::<c_char>();
            *entry.add(2 * size_of::<usize>()) = b'-' as c_char;
        }
        let error = Domains::new(lock, 2).unwrap_err();
        assert_eq!(error, DomainsError::NotLinked);
        assert!(error.to_string().contains("Program"), "{error}");
    });
});

test!(pool_shutdown, forbid(unsafe_code), || {
    let runtime = start();
    let domains = pool(3);
    let (go, gone) = mpsc::channel::<()>();
    let task = domains.spawn(move |lock| {
        let _ = lock.release(|| gone.recv());
        Done::Ok(1)
    });
    let busy = runtime.shutdown().unwrap_err();
    assert_eq!(busy.error, ShutdownError::Busy(Users::Jobs(1)));
    assert!(busy.to_string().ends_with("a job of a pool of domains; join it first"), "{busy}");
    let busy = busy.runtime.shutdown_within(Duration::from_millis(10)).unwrap_err();
    assert_eq!(busy.error, ShutdownError::Busy(Users::Threads(1)));
    // The pool goes on.
    drop(go);
    assert_eq!(task.join(), Ok(1));
    assert_eq!(domains.run(|_| Done::Ok(2)), Ok(2));
    busy.runtime.shutdown().unwrap();
    let down = Err(AttachError::TornDown);
    assert_eq!(domains.run(|_| Done::Ok(2)), down);
    assert_eq!(domains.spawn(|_| Done::Ok(2)).join(), down);
    assert_eq!(domains.map([1], |_, n| Done::Ok(n)), Err(AttachError::TornDown));
    // A map or a scope without jobs needs no OCaml.
    assert_eq!(domains.map([0; 0], |_, n| Done::Ok(n)), Ok(vec![]));
    assert_eq!(domains.scope(|_| 3), Ok(3));
    domains.join().unwrap();
});

// The threads that OCaml code makes in a worker's domain are like those of the first domain: a
// shutdown does not wait for them.
test!(pool_shutdown_and_threads_of_ocaml, forbid(unsafe_code), || {
    let runtime = start();
    let (domains, dropped) = (pool(2), pool(1));
    for (domains, how) in
        [(&domains, "busy"), (&domains, "wait_for_a_condition"), (&dropped, "busy")]
    {
        let job = |lock: &mut DomainLock| Done::Ok(through_ocaml(lock, how, 0).unwrap());
        domains.run(job).unwrap();
    }
    drop(dropped);
    let ended = match std::process::id() % 2 {
        0 => runtime.shutdown(),
        _ => runtime.shutdown_within(Duration::from_secs(60)),
    };
    ended.unwrap();
    assert_eq!(domains.run(|_| Done::Ok(2)), Err(AttachError::TornDown));
});

// A shutdown that waits for uses pauses new ones, but not the worker that a use waits for.
test!(pool_made_while_a_shutdown_waits, forbid(unsafe_code), || {
    let runtime = start();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let maker = scope.spawn(move || {
            DomainLock::with(|lock| {
                sender.send(()).unwrap();
                for _ in 0..100 {
                    let domains = Domains::new(lock, 2).unwrap();
                    lock.release(|| domains.join()).unwrap();
                }
            })
        });
        receiver.recv().unwrap();
        runtime.shutdown_within(Duration::MAX).unwrap();
        maker.join().unwrap().unwrap();
    });
});

test!(pool_shutdown_waits_for_jobs_within_a_time, forbid(unsafe_code), || {
    let runtime = start();
    let domains = pool(2);
    let tasks: Vec<_> = (0..200)
        .map(|n| {
            domains.spawn(move |lock| {
                churn_a_little(lock);
                Done::Ok(n)
            })
        })
        .collect();
    runtime.shutdown_within(Duration::from_secs(60)).unwrap();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.join(), Ok(n));
    }
});

test!(pool_shutdown_at_once_after_all, forbid(unsafe_code), || {
    let runtime = start();
    let domains = pool(2);
    match std::process::id() % 4 {
        0 => drop(domains),
        1 => domains.join().unwrap(),
        2 => assert_eq!(domains.spawn(|_| Done::Ok(2)).join(), Ok(2)),
        _ => assert_eq!(block_on(domains.spawn(|_| Done::Ok(2))), Ok(2)),
    }
    runtime.shutdown().unwrap();
});

// Threads submit jobs until they are refused. Each job either runs or returns the error.
test!(pool_shutdown_races_spawns, forbid(unsafe_code), || {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let mut runtime = start();
    let domains = pool(2);
    thread::scope(|scope| {
        let spawners = [(); 3].map(|()| {
            scope.spawn(|| {
                for n in 0.. {
                    let task = domains.spawn(|lock| {
                        churn_a_little(lock);
                        RUNS.fetch_add(1, Ordering::SeqCst);
                        Done::Ok(())
                    });
                    if n % 3 == 0 {
                        thread::yield_now();
                    }
                    match task.join() {
                        Ok(()) => {}
                        Err(AttachError::TornDown) => return n,
                        Err(error) => panic!("{error}"),
                    }
                }
                unreachable!()
            })
        });
        while let Err(busy) = runtime.shutdown() {
            assert!(matches!(busy.error, ShutdownError::Busy(Users::Jobs(_))), "{busy}");
            runtime = busy.runtime;
        }
        let sum: usize = spawners.into_iter().map(|spawner| spawner.join().unwrap()).sum();
        assert_eq!(RUNS.load(Ordering::SeqCst), sum);
    });
});

test!(pool_shutdown_in_a_job, forbid(unsafe_code), || {
    static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
    *RUNTIME.lock().unwrap() = Some(start());
    let domains = pool(1);
    let job = |lock: &mut DomainLock| {
        let runtime = RUNTIME.lock().unwrap().take().unwrap();
        let busy = runtime.shutdown().unwrap_err();
        assert_eq!(busy.error, AttachError::AlreadyHeld.into());
        let busy = lock.release(|| busy.runtime.shutdown().unwrap_err());
        assert_eq!(busy.error, ShutdownError::Busy(Users::ThisThread));
        *RUNTIME.lock().unwrap() = Some(busy.runtime);
        Done::Ok(())
    };
    domains.run(job).unwrap();
    let runtime = RUNTIME.lock().unwrap().take().unwrap();
    runtime.shutdown().unwrap();
});

// Other domains still keep the runtime up.
test!(pool_shutdown_and_other_domains, ocaml = 5, || {
    static GO: AtomicBool = AtomicBool::new(false);
    let runtime = start();
    let domains = pool(2);
    DomainLock::with(|lock| {
        ocaml(lock, "start_in_a_domain", 0, |lock, _| {
            lock.release(|| wait_until(|| GO.load(Ordering::SeqCst)));
            Ok(())
        })
    })
    .unwrap()
    .unwrap();
    let busy = runtime.shutdown().unwrap_err();
    assert_eq!(busy.error, ShutdownError::Busy(Users::Domains));
    assert_eq!(domains.run(|_| Done::Ok(2)), Ok(2));
    GO.store(true, Ordering::SeqCst);
    let join = |lock: &mut DomainLock| {
        let join = function::<((),), ()>(lock, "join_domains");
        join.call_converting::<()>(lock, ()).unwrap();
    };
    DomainLock::with(join).unwrap();
    busy.runtime.shutdown().unwrap();
});

test!(pool_at_exit, || {
    static POOL: Mutex<Option<Domains>> = Mutex::new(None);
    let runtime = start();
    *POOL.lock().unwrap() = Some(pool(2));
    DomainLock::with(|lock| {
        ocaml(lock, "run_at_exit", 0, |lock, _| {
            let domains = POOL.lock().unwrap().take().unwrap();
            assert_eq!(lock.release(|| domains.run(|_| Done::Ok(()))), Err(AttachError::TornDown));
            assert_eq!(Domains::new(lock, 1).unwrap_err(), AttachError::TornDown.into());
            drop(domains);
            Ok(())
        })
    })
    .unwrap()
    .unwrap();
    runtime.shutdown().unwrap();
    assert!(POOL.lock().unwrap().is_none());
});

/// Pools with idle workers, with one that waits, and with one that allocates.
fn busy_pools() -> (Domains, Domains) {
    let (busy, idle) = (pool(2), pool(2));
    let waits = |lock: &mut DomainLock| -> Done {
        lock.release(|| loop {
            thread::park()
        })
    };
    let allocates = |lock: &mut DomainLock| -> Done {
        loop {
            churn_a_little(lock);
            lock.release(thread::yield_now);
        }
    };
    drop(busy.spawn(allocates));
    if cfg!(ocaml5) {
        drop(busy.spawn(waits));
    }
    (busy, idle)
}

fn exit_by_ocaml(lock: &mut DomainLock) -> Done {
    ocaml(lock, "exit", 0, |_, _| Ok(())).unwrap();
    unreachable!()
}

// The process must end with success, at once. Otherwise the test fails, or takes too long.
test!(pool_does_not_hold_up_the_end, || {
    let _pools = busy_pools();
});

test!(pool_does_not_hold_up_exit_in_ocaml, || {
    let _pools = busy_pools();
    DomainLock::attach(exit_by_ocaml).unwrap();
});

test!(pool_whose_job_exits, || {
    let (_busy, idle) = busy_pools();
    idle.run(|_| -> Done { std::process::exit(0) }).unwrap();
});

test!(pool_whose_job_exits_in_ocaml, || {
    let (_busy, idle) = busy_pools();
    idle.run(exit_by_ocaml).unwrap();
});

test!(pool_in_the_child_of_a_fork, || {
    let (domains, tasks) = (pool(2), [(); 2].map(|()| pool(1).spawn(|_| Done::Ok(()))));
    let [task, awaited] = tasks;
    let child = || {
        let forked = Err(AttachError::Forked);
        assert_eq!(domains.run(|_| Done::Ok(())), forked);
        assert_eq!(domains.spawn(|_| Done::Ok(())).join(), forked);
        assert_eq!(block_on(domains.spawn(|_| Done::Ok(()))), forked);
        assert_eq!(domains.map([1], |_, _| Done::Ok(())), Err(AttachError::Forked));
        assert_eq!(domains.scope(|_| ()), forked);
        assert_eq!((task.join(), block_on(awaited)), (forked, forked));
        assert_eq!(domains.join(), forked);
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    };
    // Forks without the lock; under it, with a token that the child still has; or in a job.
    match std::process::id() % 3 {
        0 => in_a_child(child),
        1 => DomainLock::with(|lock| {
            in_a_child(|| {
                if cfg!(ocaml5) {
                    assert_eq!(Domains::new(lock, 1).unwrap_err(), AttachError::Forked.into());
                }
                child()
            })
        })
        .unwrap(),
        _ => {
            let job = |lock: &mut DomainLock| {
                lock.release(|| in_a_child(child));
                Done::Ok(())
            };
            pool(1).run(job).unwrap()
        }
    }
});

// Data that an unfinished job borrows may be half changed in the child, so the child does not get
// it back.
test!(pool_scope_in_the_child_of_a_fork, || {
    let domains = pool(1);
    let (go, gone) = mpsc::channel::<()>();
    let id = domains.scope(|scope| {
        drop(scope.spawn(move |lock| {
            let _ = lock.release(|| gone.recv());
            Done::Ok(())
        }));
        // SAFETY: the child is aborted when the closure returns.
        let id = unsafe { libc::fork() };
        drop(go);
        id
    });
    let mut status = -1;
    // SAFETY: it is a child of this process, and `status` is valid.
    assert_eq!(unsafe { libc::waitpid(id.unwrap(), &mut status, 0) }, id.unwrap());
    assert_eq!((libc::WIFSIGNALED(status), libc::WTERMSIG(status)), (true, libc::SIGABRT));
});

test!(pool_made_in_the_child_of_a_fork, || {
    start();
    let child = || {
        let domains = pool(2);
        assert_eq!(domains.run(|lock| Done::Ok(strings(lock, 100).len())), Ok(100));
        domains.join().unwrap();
    };
    DomainLock::with(|lock| in_a_child(|| lock.release(child))).unwrap();
});

// The process may fork at any moment of the pool.
test!(pool_forks_at_work, || {
    let domains = pool(2);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let job = |lock: &mut DomainLock, _| {
                        churn_a_little(lock);
                        Done::Ok(())
                    };
                    domains.map(0..10, job).unwrap();
                }
            });
        }
        for _ in 0..20 {
            in_a_child(|| {
                assert_eq!(domains.run(|_| Done::Ok(())), Err(AttachError::Forked));
                // SAFETY: ends the process.
                unsafe { libc::_exit(0) };
            });
        }
        stop.store(true, Ordering::SeqCst);
    });
});

test!(pool_roots_of_domains_that_ended, forbid(unsafe_code), || {
    let runtime = start();
    for _ in 0..5 {
        let domains = pool(3);
        let roots = domains.map(0..6, |lock, _| Done::Ok(strings(lock, 1000))).unwrap();
        let task = domains.spawn(|lock| Done::Ok(strings(lock, 1000)));
        domains.join().unwrap();
        let more = task.join().unwrap();
        let others = pool(2);
        others.map(&roots, |lock, roots| Done::Ok((churn(lock), check(lock, roots)))).unwrap();
        let drops = |_: &mut DomainLock, roots| {
            drop(roots);
            Done::Ok(())
        };
        others.map(roots, drops).unwrap();
        DomainLock::with(|lock| check(lock, &more)).unwrap();
    }
    DomainLock::with(churn).unwrap();
    runtime.shutdown().unwrap();
    assert_eq!(stats().live_roots, 0);
});

// Workers that are idle, or wait in a job, serve the collections of others.
test!(pool_collections, forbid(unsafe_code), || {
    let domains = pool(3);
    let roots = Mutex::new(Vec::new());
    domains
        .map(0..24, |lock, n| {
            let new = strings(lock, 300);
            match n % 3 {
                0 => full_major(lock),
                1 => lock.release(|| thread::sleep(Duration::from_millis(1))),
                _ => churn(lock),
            }
            check(lock, &new);
            // Other workers' roots, which this job drops.
            let before = lock.release(|| std::mem::replace(&mut *roots.lock().unwrap(), new));
            drop(before);
            Done::Ok(())
        })
        .unwrap();
    DomainLock::with(full_major).unwrap();
    drop(roots);
    domains.join().unwrap();
    assert_no_roots();
});

test!(pool_that_is_dropped_in_its_own_job, forbid(unsafe_code), || {
    for joins in [false, true] {
        let domains = Arc::new(pool(2));
        let (sender, receiver) = mpsc::channel::<Arc<Domains>>();
        let task = domains.spawn(move |lock| {
            let domains = lock.release(|| receiver.recv()).unwrap();
            lock.release(|| match Arc::into_inner(domains) {
                Some(domains) if joins => domains.join(),
                last => {
                    drop(last);
                    Ok(())
                }
            })
        });
        sender.send(domains).unwrap();
        task.join().unwrap();
    }
});

/// The number of repetitions. The variable replaces the number, for longer runs (docs/testing.md).
fn times(variable: &str, number: usize) -> usize {
    std::env::var(variable).map_or(number, |text| text.parse().unwrap())
}

// Twice as many jobs must not take more memory.
test!(pool_jobs_leave_no_memory, forbid(unsafe_code), || {
    let domains = pool(2);
    let run_jobs = || {
        for _ in 0..times("JOBS", 100_000) / 2 {
            let job = |lock: &mut DomainLock| {
                string(lock, "x");
                Done::Ok(())
            };
            domains.run(job).unwrap();
        }
        memory()
    };
    let before = run_jobs();
    let after = run_jobs();
    assert!(after < before + (4 << 20), "{before} bytes, then {after}");
    domains.join().unwrap();
    assert_no_roots();
});

test!(pools_come_and_go, forbid(unsafe_code), || {
    let runtime = start();
    pool(2).join().unwrap();
    wait_until(|| threads() <= 4);
    let before = threads();
    for n in 0..times("POOLS", 100) {
        let domains = pool(2);
        let task = domains.spawn(move |_| Done::Ok(n));
        match n % 2 {
            0 => drop(domains),
            _ => domains.join().unwrap(),
        }
        assert_eq!(task.join(), Ok(n));
    }
    let start = Instant::now();
    wait_until(|| threads() <= before + 1 || start.elapsed() > Duration::from_secs(20));
    assert!(threads() <= before + 1, "{} threads, {before} before", threads());
    runtime.shutdown().unwrap();
});

// Many threads use one pool, and drop, leak or wait for the handles that they get.
test!(pool_of_many_users, forbid(unsafe_code), || {
    let domains = pool(2);
    thread::scope(|scope| {
        for user in 0..8 {
            let domains = &domains;
            scope.spawn(move || {
                for n in 0..200 {
                    let task = domains.spawn(move |_| Done::Ok(n));
                    match (n + user) % 4 {
                        0 => drop(task),
                        1 => std::mem::forget(task),
                        2 => assert_eq!(task.join(), Ok(n)),
                        _ => assert_eq!(block_on(task), Ok(n)),
                    }
                }
            });
        }
    });
    domains.join().unwrap();
});
