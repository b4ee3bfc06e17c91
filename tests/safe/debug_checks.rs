//! The feature `debug-checks`: reports each misuse of a raw root, with the place in the program
//! that created the root.

use crate::support::raw;
use crate::support::roots::Roots;
use crate::support::safe::*;
use crate::threads::install;
use ocaml_boxroot::debug::{leak_report, leaks, stats, Site};
use ocaml_boxroot::exceptions::Failure;
use ocaml_boxroot::markers::{Elements, OCamlSeq};
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{
    ocaml_functions, ocaml_type, AttachError, Boxroot, DomainLock, Domains, Function, OCamlArray,
    OCamlFloat, OCamlInt, OCamlList, OCamlString, Runtime, ToOCaml, Value,
};
use ocaml_boxroot_sys as sys;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{mpsc, Mutex};
use std::thread;
use sys::BoxRoot;

/// The message of the panic that ends `f`.
fn report<R>(f: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("misuse is reported");
    *payload.downcast::<String>().expect("a message")
}

/// A root, and the place of its creation, as messages name it.
fn root(n: isize) -> (BoxRoot, String) {
    // SAFETY: the value is an immediate.
    let root = unsafe { sys::boxroot_create((n << 1) | 1) }.unwrap();
    (root, format!("created at {}:{}", file!(), line!() - 1))
}

fn delete(root: BoxRoot) -> String {
    // SAFETY: checked, in this build.
    unsafe { sys::boxroot_delete(root) };
    format!("deleted at {}:{}", file!(), line!() - 1)
}

fn get(root: BoxRoot) -> isize {
    // SAFETY: checked, in this build.
    unsafe { sys::boxroot_get(root) >> 1 }
}

test!(double_delete, || {
    raw::start();
    let (root, created) = root(1);
    let deleted = delete(root);
    let message = report(|| delete(root));
    assert!(message.contains(&format!("delete at {}:", file!())), "{message}");
    assert!(message.contains(&created) && message.contains(&deleted), "{message}");
});

test!(double_delete_on_two_threads, || {
    raw::start();
    let (root, created) = root(1);
    let handle = Roots(vec![root]);
    thread::spawn(move || delete({ handle }.0[0])).join().unwrap();
    assert!(report(|| delete(root)).contains(&created));
});

test!(use_after_delete, || {
    raw::start();
    let (mut root, created) = root(1);
    let deleted = delete(root);
    let messages = [
        report(|| get(root)),
        report(|| sys::boxroot_get_ref(root)),
        // SAFETY: checked, in this build.
        report(|| unsafe { sys::boxroot_modify(&mut root, 3) }),
    ];
    for message in messages {
        assert!(message.contains(&created) && message.contains(&deleted), "{message}");
    }
});

test!(stale_handle_whose_slot_is_in_use_again, || {
    raw::start();
    let (stale, created) = root(1);
    delete(stale);
    let others: Vec<BoxRoot> = (0..3000).map(|i| root(i).0).collect();
    assert!(report(|| get(stale)).contains(&created));
    // A handle that was copied before a modify is also stale.
    let mut modified = others[0];
    // SAFETY: the root is live.
    assert!(unsafe { sys::boxroot_modify(&mut modified, 15) });
    assert_eq!(get(modified), 7);
    assert!(report(|| get(others[0])).contains("of an old handle"));
});

test!(pointers_that_are_no_roots, || {
    raw::start();
    let (root, _) = root(1);
    let somewhere = Box::new(3_isize);
    // SAFETY: a `BoxRoot` is a pointer that is not null, and so are these.
    let wrong: [BoxRoot; 2] = unsafe {
        [
            std::mem::transmute::<*const isize, BoxRoot>(&*somewhere),
            std::mem::transmute::<*const u8, BoxRoot>(
                sys::boxroot_get_ref(root).cast::<u8>().wrapping_add(4),
            ),
        ]
    };
    for root in wrong {
        assert!(report(|| get(root)).contains("not a root of this copy"));
        assert!(report(|| delete(root)).contains("not a root of this copy"));
    }
    assert_eq!(get(root), 1);
});

test!(reading_without_the_lock, || {
    raw::start();
    let (root, _) = root(1);
    let message = raw::without_lock(|| report(|| get(root)));
    assert!(message.contains("does not hold the OCaml lock"), "{message}");
    assert_eq!(get(root), 1);
});

test!(roots_that_c_deletes, || {
    extern "C" {
        fn boxroot_delete(root: Option<BoxRoot>);
    }
    raw::start();
    for i in 0..10_000 {
        let (root, _) = root(i);
        assert_eq!(get(root), i);
        // SAFETY: the root is live, and not used again.
        unsafe { boxroot_delete(Some(root)) };
    }
    assert!(stats().pools <= 2, "{:?}", stats());
});

// The C function has no line to report, only the address of its caller.
test!(roots_that_c_creates, || {
    extern "C" {
        fn boxroot_create(value: sys::Value) -> Option<BoxRoot>;
    }
    raw::start();
    // SAFETY: the value is an immediate.
    let root = unsafe { boxroot_create(15) }.unwrap();
    assert_eq!(get(root), 7);
    assert_eq!(
        leaks().iter().map(|(site, n)| (site.file(), site.line(), *n)).collect::<Vec<_>>(),
        [("", 0, 1)]
    );
    let program = std::env::current_exe().unwrap();
    let program = program.file_name().unwrap().to_str().unwrap();
    assert!(leak_report().contains(&format!("{program}+0x")), "{}", leak_report());
    delete(root);
    let message = report(|| delete(root));
    assert!(message.contains(&format!("{program}+0x")), "{message}");
});

test!(slots_come_back, || {
    raw::start();
    for round in 0..50 {
        let roots: Vec<BoxRoot> = (0..10_000).map(|i| root(i).0).collect();
        for (i, &root) in roots.iter().enumerate() {
            assert_eq!(get(root), i as isize, "round {round}");
            delete(root);
        }
    }
    assert_eq!(stats().live_roots, 0);
    assert!(stats().pools < 20, "{:?}", stats());
});

test!(leaks_by_place, || {
    with_ocaml(|lock| {
        let many: Vec<Boxroot<OCamlInt>> =
            (0..30).map(|i| Boxroot::new(lock, Value::int(i))).collect();
        let many_line = line!() - 1;
        let one = Boxroot::<OCamlInt>::new(lock, Value::int(1));
        let one_line = line!() - 1;
        let sites: Vec<(u32, usize)> = leaks().iter().map(|(site, n)| (site.line(), *n)).collect();
        assert_eq!(sites, [(many_line, 30), (one_line, 1)]);
        assert!(leak_report().contains(&format!("30 live roots were created at {}", file!())));
        drop(many);
        one.delete_in(lock);
        assert_eq!(leak_report(), "");
    })
});

ocaml_functions! {
    unsafe {
        fn string(n: OCamlInt) -> OCamlString = "string";
        fn fail(message: OCamlString) = "fail";
        fn strings(n: OCamlInt) -> OCamlSeq<OCamlString> = "strings";
    }
}

ocaml_type! {
    struct OCamlPoint for Point { x: OCamlFloat, y: OCamlFloat }
}

struct Point {
    x: f64,
    y: f64,
}

// Every root is recorded with the line of this file that called the crate, even if it was created
// deep inside the crate.
test!(leaks_of_conversions, || {
    /// Expects `count` new roots since `before`, from one place on `line`.
    fn check(before: &[(Site, usize)], line: u32, count: usize) {
        let now = leaks();
        let new: Vec<_> =
            now.iter().filter(|(site, _)| before.iter().all(|(other, _)| other != site)).collect();
        let places: Vec<_> = new.iter().map(|(site, n)| (site.file(), site.line(), *n)).collect();
        assert_eq!(places, [(file!(), line, count)]);
    }
    macro_rules! leaves {
        ($($line:expr, $count:literal: $expression:expr;)*) => {$(
            let before = leaks();
            std::mem::forget($expression);
            check(&before, $line, $count);
        )*};
    }
    #[track_caller]
    fn gather(strings: Elements<OCamlString, Boxroot<OCamlString>>) -> Vec<Boxroot<OCamlString>> {
        let mut all = Vec::new();
        for string in strings {
            all.push(string.unwrap());
        }
        all
    }
    type Nested = (OCamlList<(OCamlString, OCamlFloat)>, Option<OCamlArray<OCamlInt>>);
    with_ocaml(|lock| {
        let nested = (vec![("a", 1.), ("b", 2.)], Some([1, 2]));
        leaves! {
            line!(), 1: ToOCaml::<OCamlInt>::to_ocaml(&1, lock);
            line!(), 1: ToOCaml::<OCamlString>::to_ocaml("text", lock);
            line!(), 1: ToOCaml::<Nested>::to_ocaml(&nested, lock);
            line!(), 1: ToOCaml::<Result<OCamlInt, ()>>::to_ocaml(&Ok::<_, ()>(&&Box::new(1)), lock);
            // SAFETY: the function has this type in testlib.ml.
            line!(), 1: unsafe { lock.named::<Function<(OCamlInt,), OCamlString>>("string") };
            line!(), 1: string::<Boxroot<OCamlString>>(lock, 12).unwrap();
            line!(), 1: fail(lock, "raised").unwrap_err();
            line!(), 1: Failure("made".into()).exception(lock).unwrap();
            line!(), 1: Function::<(), OCamlInt>::from_rust(lock, |_| Ok(1)).unwrap();
            line!(), 1: Point { x: 1., y: 2. }.to_ocaml(lock).unwrap();
            line!(), 3: gather(strings::<Boxroot<_>>(lock, 3).unwrap().iter(lock));
        }
        let list: Boxroot<OCamlList<OCamlInt>> = [1, 2, 3].to_ocaml(lock).unwrap();
        leaves! {
            line!(), 3: list.to_rust::<Vec<Boxroot<OCamlInt>>>(lock).unwrap();
            line!(), 3: list.get(lock).to_rust::<[Boxroot<OCamlInt>; 3]>(lock).unwrap();
            line!(), 1: list.clone_in(lock).unwrap();
            line!(), 1: list.to_ocaml(lock).unwrap();
        }
    })
});

test!(no_leaks_in_safe_code, || {
    with_ocaml(|lock| {
        let mut root = Boxroot::<OCamlInt>::new(lock, Value::int(1));
        root.set(lock, Value::int(2));
        let copy = root.clone_in(lock).unwrap();
        let sum = lock.release(|| {
            thread::scope(|scope| {
                let read = || DomainLock::with(|lock| copy.get(lock).to_int()).unwrap();
                (0..4)
                    .map(|_| scope.spawn(read))
                    .map(|thread| thread.join().unwrap())
                    .sum::<isize>()
            })
        });
        assert_eq!(sum, 8);
        drop((root, copy));
        assert!(leaks().is_empty());
    })
});

test!(leaks_that_nobody_reads, || {
    let runtime = Runtime::start().unwrap();
    let _leak = DomainLock::with(|lock| "leak".to_ocaml(lock)).unwrap().unwrap();
    let (closed, stderr) = UnixStream::pair().unwrap();
    drop(closed);
    // SAFETY: the function has no precondition.
    assert_eq!(unsafe { libc::dup2(stderr.as_raw_fd(), 2) }, 2);
    runtime.shutdown().unwrap();
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
});

/// Everything that is written to standard error from now on.
fn stderr() -> BufReader<UnixStream> {
    let (reads, writes) = UnixStream::pair().unwrap();
    // SAFETY: the function has no precondition.
    assert_eq!(unsafe { libc::dup2(writes.as_raw_fd(), 2) }, 2);
    BufReader::new(reads)
}

extern "C" fn do_nothing(_: libc::c_int) {}

test!(signal_handlers_without_a_stack, ocaml = 5, || {
    let _runtime = Runtime::start().unwrap();
    let mut stderr = stderr();
    for signal in [libc::SIGTERM, libc::SIGUSR1] {
        install(signal, do_nothing as *const () as libc::sighandler_t);
        for _ in 0..10 {
            DomainLock::with(churn).unwrap(); // reports each signal once
        }
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains(&format!("the handler of signal {signal} (")), "{line}");
        assert!(line.contains("protect_signals"), "{line}");
    }
});

/// The next three lines: the watchdog's report for one holder.
fn three_lines(stderr: &mut impl BufRead) -> [String; 3] {
    [(); 3].map(|()| {
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        line
    })
}

#[track_caller]
fn assert_names(line: &str, what: &str, at: u32) {
    let site = format!("at {}:{at}:", file!());
    assert!(line.contains(what) && line.contains(&site), "{line} names {what} {site}");
}

test!(deadlock_by_join, || {
    let _runtime = Runtime::start().unwrap();
    let mut stderr = stderr();
    let here = line!() + 1;
    DomainLock::with(|_| {
        let wait = || DomainLock::with(|_| ()).unwrap();
        let thread = thread::Builder::new().name("loader".to_string()).spawn(wait).unwrap();
        // A join would never return.
        let [waits, holds, help] = three_lines(&mut stderr);
        assert_names(&waits, " `loader` has waited for OCaml's lock", here + 1);
        assert_names(&holds, "has been attached", here);
        assert!(help.contains("DomainLock::release"), "{help}");
        assert!(help.contains("OnceLockExt (instead of LazyLock)"), "{help}");
        thread
    })
    .unwrap()
    .join()
    .unwrap();
});

test!(deadlock_by_a_mutex, || {
    let _runtime = Runtime::start().unwrap();
    let mut stderr = stderr();
    let mutex = Mutex::new(());
    let (locked, is_locked) = mpsc::channel();
    let (held, is_held) = mpsc::channel();
    thread::scope(|scope| {
        let here = line!() + 1;
        let thread = DomainLock::with(|lock| {
            let mutex = &mutex;
            let thread = scope.spawn(move || {
                let _guard = mutex.lock().unwrap();
                DomainLock::with(|lock| {
                    locked.send(()).unwrap();
                    lock.release(|| is_held.recv().unwrap());
                })
                .unwrap();
            });
            lock.release(|| is_locked.recv().unwrap());
            held.send(()).unwrap();
            assert!(mutex.try_lock().is_err(), "`lock` would never return");
            let [waits, holds, _] = three_lines(&mut stderr);
            assert_names(&waits, "has waited for OCaml's lock", here + 6);
            assert_names(&holds, "has been attached", here);
            thread
        });
        thread.unwrap().join().unwrap();
    });
});

// The report names the workers of a pool, because each has its own lock.
test!(deadlock_beside_a_pool, ocaml = 5, || {
    let _runtime = Runtime::start().unwrap();
    let mut stderr = stderr();
    let here = line!() + 1;
    let (thread, task) = DomainLock::with(|lock| {
        let domains = Domains::new(lock, 2).unwrap();
        let (began, has_begun) = mpsc::channel();
        let (end, has_ended) = mpsc::channel::<()>();
        let task = domains.spawn(move |_lock| {
            began.send(()).unwrap();
            let _ = has_ended.recv();
            Ok::<_, AttachError>(())
        });
        lock.release(|| has_begun.recv()).unwrap();
        let wait = || DomainLock::with(|_| ()).unwrap();
        let thread = thread::Builder::new().name("loader".to_string()).spawn(wait).unwrap();
        let [waits, holds, also_holds] = three_lines(&mut stderr);
        assert_names(&waits, " `loader` has waited for OCaml's lock", here + 10);
        assert_names(&holds, " `main` has been attached", here);
        assert!(also_holds.contains(" `ocaml-worker "), "{also_holds}");
        drop(end); // otherwise a collection would wait for the worker's domain
        (thread, task)
    })
    .unwrap();
    thread.join().unwrap();
    task.join().unwrap();
});
