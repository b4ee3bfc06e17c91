use crate::common::exported::{assert_no_roots, churn, with_ocaml, Run, RUN};
use crate::common::run_scenarios;
use crate::{function, scenarios};
use ocaml_boxroot::{
    stats, trim, Boxroot, DomainLock, Error, Exception, FromOCaml, Function, OCamlArray,
    OCamlBigarray, OCamlBox, OCamlBytes, OCamlFloat, OCamlInt, OCamlList, OCamlString, Runtime,
    ToOCaml, Value,
};
use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, panic_any, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex};
use std::time::{Duration, Instant};
use std::{fmt, process, thread};

scenarios!(
    SCENARIOS:
    exit_under_the_lock;
    exit_of_ocaml_under_the_lock;
    exit_in_a_release;
    exit_in_a_release_and_use_the_runtime;
    exit_in_a_callback_and_use_the_runtime;
    exit_of_ocaml_and_use_the_runtime;
    shutdown_in_a_thread_local_destructor;
    attach_at_the_end_of_a_thread;
    attach_at_the_end_of_a_thread_of_ocaml;
    attach_at_the_end_of_a_domain, ocaml5 = true;
    roots_at_the_end_of_threads_of_ocaml;
    panic_with_a_payload_that_panics;
    errors_that_panic;
    errors_that_hold_roots;
    exception_outlives_the_runtime;
    conversions_that_panic;
    conversions_that_collect;
    conversions_that_hand_out_one_root;
    conversions_that_attach;
    argument_that_attaches_when_dropped;
    exports_in_at_exit;
    runtime_comes_back_and_goes;
    runtime_lost_while_busy;
    roots_dropped_during_shutdown;
    statistics_at_odd_times;
    bytes_change_while_they_are_read, ocaml5 = true;
    tokens_nest_and_panic;
    roots_live_on_after_their_domain, ocaml5 = true;
    finaliser_does_everything;
    roots_at_the_end_of_a_backup_thread, ocaml5 = true;
    zero_sized_and_nested_shapes;
    references_outlive_their_roots, ocaml5 = true;
    closures_during_shutdown;
    shutdown_in_a_closure;
    hooks_of_panics_attach;
);

type Strings = Vec<Boxroot<OCamlString>>;

pub fn run() -> ! {
    run_scenarios(SCENARIOS)
}

fn start() -> Runtime {
    Runtime::start().unwrap()
}

fn string(lock: &mut DomainLock, text: &str) -> Boxroot<OCamlString> {
    text.to_ocaml(lock).unwrap()
}

fn strings(lock: &mut DomainLock, n: usize) -> Strings {
    (0..n).map(|i| string(lock, &i.to_string())).collect()
}

fn check(lock: &DomainLock, strings: &Strings) {
    for (i, root) in strings.iter().enumerate() {
        assert_eq!(root.get(lock).to_string_lossy(), i.to_string());
    }
}

/// Has OCaml run `body(n)`. `how` names one of the functions of exported.ml that start with "run", or "exit".
fn ocaml(lock: &mut DomainLock, how: &str, n: isize, body: Run) -> Result<isize, Exception> {
    *RUN.lock().unwrap() = Some(body);
    let f = function::<(OCamlInt,), OCamlInt>(lock, how);
    let n = n.to_ocaml(lock).unwrap();
    f.call(lock, &n).map(|(result, _)| result.to_int())
}

// ---- the process ends in the middle: thread-local destructors run under live frames ----

fn exit_under_the_lock() {
    start();
    thread::spawn(|| DomainLock::attach(|_| process::exit(0))).join().unwrap().unwrap();
}

fn exit_of_ocaml_under_the_lock() {
    start();
    let exits = || DomainLock::attach(|lock| ocaml(lock, "exit", 0, |_, _| Ok(())).is_ok());
    thread::spawn(exits).join().unwrap().unwrap();
}

fn exit_in_a_release() {
    with_ocaml(|lock| lock.release(|| process::exit(0)));
}

/// Tries to use the runtime when it is dropped, and checks that this works if it `can`, and is refused if not.
struct Restless {
    can: bool,
}

impl Drop for Restless {
    fn drop(&mut self) {
        assert_eq!(DomainLock::is_held(), !self.can);
        assert_eq!(DomainLock::attach(churn).is_ok(), self.can);
    }
}

thread_local! {
    static RESTLESS: RefCell<Option<Restless>> = const { RefCell::new(None) };
}

fn exit_in_a_release_and_use_the_runtime() {
    RESTLESS.set(Some(Restless { can: true }));
    with_ocaml(|lock| lock.release(|| process::exit(0)));
}

fn exit_in_a_callback_and_use_the_runtime() {
    RESTLESS.set(Some(Restless { can: false }));
    with_ocaml(|lock| ocaml(lock, "run", 0, |_, _| process::exit(0))).unwrap();
}

fn exit_of_ocaml_and_use_the_runtime() {
    RESTLESS.set(Some(Restless { can: false }));
    with_ocaml(|lock| ocaml(lock, "exit", 0, |_, _| Ok(()))).unwrap();
}

// ---- threads that end ----

fn shutdown_in_a_thread_local_destructor() {
    struct Shuts(Option<Runtime>);
    impl Drop for Shuts {
        fn drop(&mut self) {
            self.0.take().unwrap().shutdown().unwrap();
        }
    }
    thread_local! {
        static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
        static RUNTIME: RefCell<Option<Shuts>> = const { RefCell::new(None) };
    }
    thread::spawn(|| {
        ROOTS.set(Vec::new()); // dropped after the runtime
        RUNTIME.set(Some(Shuts(Some(start()))));
        ROOTS.set(DomainLock::attach(|lock| strings(lock, 5000)).unwrap());
    })
    .join()
    .unwrap();
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::TornDown));
}

/// Attaches when it is dropped.
struct AttachesAtEnd(&'static Mutex<Vec<Result<(), Error>>>);

impl Drop for AttachesAtEnd {
    fn drop(&mut self) {
        let answer = DomainLock::attach(churn);
        self.0.lock().unwrap().push(answer);
    }
}

static ANSWERS: Mutex<Vec<Result<(), Error>>> = Mutex::new(Vec::new());

thread_local! {
    static AT_END: RefCell<Option<AttachesAtEnd>> = const { RefCell::new(None) };
    static AT_END_TOO: RefCell<Option<AttachesAtEnd>> = const { RefCell::new(None) };
}

fn attach_at_the_end_of_a_thread() {
    let runtime = start();
    let kept = DomainLock::attach(|lock| strings(lock, 1000)).unwrap();
    thread::spawn(|| {
        AT_END.set(Some(AttachesAtEnd(&ANSWERS)));
        DomainLock::attach(|_| ()).unwrap();
        AT_END_TOO.set(Some(AttachesAtEnd(&ANSWERS)));
    })
    .join()
    .unwrap();
    // Here the destructor is the first on its thread to attach.
    thread::spawn(|| AT_END.set(Some(AttachesAtEnd(&ANSWERS)))).join().unwrap();
    let answers = ANSWERS.lock().unwrap();
    assert_eq!(*answers, [Ok(()), Ok(()), Ok(())]);
    DomainLock::attach(|lock| check(lock, &kept)).unwrap();
    runtime.shutdown().unwrap();
}

fn attach_at_end(lock: &mut DomainLock) {
    AT_END.set(Some(AttachesAtEnd(&ANSWERS)));
    lock.release(|| DomainLock::attach(churn)).unwrap();
    AT_END_TOO.set(Some(AttachesAtEnd(&ANSWERS)));
}

fn wait_for_answers(lock: &mut DomainLock, count: usize) {
    lock.release(|| {
        while ANSWERS.lock().unwrap().len() < count {
            thread::yield_now();
        }
    });
}

/// Has OCaml run `attach_at_end`; `how` is as for `ocaml`.
fn ocaml_attaches_at_end(lock: &mut DomainLock, how: &str, n: isize) {
    let body: Run = |lock, _| {
        attach_at_end(lock);
        Ok(())
    };
    ocaml(lock, how, n, body).unwrap();
}

fn attach_at_the_end_of_a_thread_of_ocaml() {
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..10 {
            ocaml_attaches_at_end(lock, "run_in_a_thread", n);
            wait_for_answers(lock, 2 * (n as usize + 1));
        }
        churn(lock);
        check(lock, &kept);
    })
}

fn attach_at_the_end_of_a_domain() {
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..10 {
            ocaml_attaches_at_end(lock, "run_in_a_domain", n);
        }
        wait_for_answers(lock, 20);
        assert!(ANSWERS.lock().unwrap().iter().all(|a| a == &Err(Error::ThreadNotRegistered)));
        churn(lock);
        check(lock, &kept);
    })
}

fn roots_at_the_end_of_threads_of_ocaml() {
    thread_local! {
        static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
    }
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..50 {
            // The thread drops these roots after it gave the lock back, while this thread makes roots.
            let body: Run = |lock, _| {
                ROOTS.set(strings(lock, 3000));
                Ok(())
            };
            ocaml(lock, "run_in_a_thread", n, body).unwrap();
            drop(strings(lock, 3000));
            check(lock, &kept);
        }
        churn(lock);
        lock.release(|| {
            while stats().live_roots > 1000 {
                thread::yield_now();
                DomainLock::attach(|_| stats()).unwrap();
            }
        });
        check(lock, &kept);
    })
}

// ---- panics and errors of every kind ----

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload's drop")
    }
}

fn panic_with_a_payload_that_panics() {
    with_ocaml(|lock| {
        let exception = ocaml(lock, "run", 0, |_, _| panic_any(Bomb)).unwrap_err();
        assert!(exception.to_string().contains("a Rust function panicked"), "{exception}");
        assert_eq!(ocaml(lock, "run", 1, |_, _| Ok(())).unwrap(), 1);
    })
}

/// An error that panics wherever it can.
#[derive(Debug)]
struct Nasty {
    in_display: bool,
}

impl fmt::Display for Nasty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(!self.in_display, "in Display");
        f.write_str("nasty")
    }
}

impl std::error::Error for Nasty {}

impl Drop for Nasty {
    fn drop(&mut self) {
        assert!(self.in_display, "in Drop");
    }
}

fn errors_that_panic() {
    with_ocaml(|lock| {
        let in_display = ocaml(lock, "run", 0, |_, _| Err(Nasty { in_display: true }.into()));
        assert!(in_display.unwrap_err().to_string().contains("in Display"));
        let in_drop = ocaml(lock, "run", 0, |_, _| Err(Nasty { in_display: false }.into()));
        assert!(in_drop.unwrap_err().to_string().contains("in Drop"));
        assert_eq!(stats().live_roots, 0);
    })
}

fn errors_that_hold_roots() {
    with_ocaml(|lock| {
        // The exception's only root is dropped before OCaml gets the exception.
        for _ in 0..1000 {
            let exception = ocaml(lock, "run", 0, |lock, _| {
                let fail = function::<(OCamlString,), ()>(lock, "fail");
                let message = string(lock, "kept by the exception");
                let exception = fail.call(lock, &message).map(|_| ()).unwrap_err();
                churn_a_little(lock);
                Err(exception.into())
            });
            churn_a_little(lock);
            assert!(exception.unwrap_err().to_string().contains("kept by the exception"));
        }
        assert_eq!(stats().live_roots, 0);
    })
}

fn churn_a_little(lock: &mut DomainLock) {
    for _ in 0..100 {
        lock.alloc_string([b'z'; 100]).unwrap();
    }
}

fn exception_outlives_the_runtime() {
    let runtime = start();
    let (fail, message, exception) = DomainLock::attach(|lock| {
        let fail = function::<(OCamlString,), ()>(lock, "fail");
        let message = string(lock, "late");
        let exception = fail.call(lock, &message).map(|_| ()).unwrap_err();
        (fail, message, exception)
    })
    .unwrap();
    runtime.shutdown().unwrap();
    let copy = exception.clone();
    assert!(copy.value().is_some() && copy.to_string().contains("late"));
    thread::spawn(move || drop((copy, fail))).join().unwrap();
    drop((exception, message));
}

// ---- conversions of safe code ----

/// Does `mischief` whenever it is converted.
struct Imp<'a> {
    mischief: &'a dyn Fn(&mut DomainLock) -> Result<Boxroot<OCamlFloat>, Error>,
}

impl ToOCaml<OCamlFloat> for Imp<'_> {
    fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlFloat>, Error> {
        (self.mischief)(lock)
    }
}

fn conversions_that_panic() {
    with_ocaml(|lock| {
        let count = Cell::new(0);
        let mischief = |lock: &mut DomainLock| {
            count.set(count.get() + 1);
            assert!(count.get() % 50 != 0);
            1.5.to_ocaml(lock)
        };
        let imps: Vec<Imp> = (0..100).map(|_| Imp { mischief: &mischief }).collect();
        for _ in 0..10 {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let array: Result<Boxroot<OCamlArray<OCamlFloat>>, _> = imps.to_ocaml(lock);
                array.is_ok()
            }));
            assert!(result.is_err());
            let result = catch_unwind(AssertUnwindSafe(|| {
                let list: Result<Boxroot<OCamlList<OCamlFloat>>, _> = imps.to_ocaml(lock);
                list.is_ok()
            }));
            assert!(result.is_err());
            churn_a_little(lock);
        }
        assert_eq!(stats().live_roots, 0);
    })
}

fn conversions_that_collect() {
    with_ocaml(|lock| {
        let collect = function::<((),), ()>(lock, "full_major");
        let unit = ().to_ocaml(lock).unwrap();
        let count = Cell::new(0);
        let mischief = |lock: &mut DomainLock| {
            collect.call(lock, &unit).unwrap();
            lock.release(|| DomainLock::attach(churn_a_little)).unwrap();
            count.set(count.get() + 1);
            f64::from(count.get()).to_ocaml(lock)
        };
        let imps: Vec<Imp> = (0..300).map(|_| Imp { mischief: &mischief }).collect();
        let array: Boxroot<OCamlArray<OCamlFloat>> = imps.to_ocaml(lock).unwrap();
        let list: Boxroot<OCamlList<OCamlFloat>> = imps.to_ocaml(lock).unwrap();
        let expected: Vec<f64> = (1..=300).map(f64::from).collect();
        assert_eq!(array.to_rust::<Vec<f64>>(lock).unwrap(), expected);
        assert_eq!(list.to_rust::<Vec<f64>>(lock).unwrap().last(), Some(&301.));
    })
}

fn conversions_that_hand_out_one_root() {
    with_ocaml(|lock| {
        let one = 0.5.to_ocaml(lock).unwrap();
        let mischief = |lock: &mut DomainLock| one.clone_in(lock);
        let imps: Vec<Imp> = (0..300).map(|_| Imp { mischief: &mischief }).collect();
        let array: Boxroot<OCamlArray<OCamlFloat>> = imps.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(array.to_rust::<[f64; 300]>(lock), Ok([0.5; 300]));
        drop((array, one));
        assert_eq!(stats().live_roots, 0);
    })
}

/// Tries to collect while the list that it is an element of is being read.
struct Attaches;

impl FromOCaml<OCamlString> for Attaches {
    fn convert_from<'l>(value: Value<'l, OCamlString>, _: &'l DomainLock) -> Result<Self, Error> {
        assert_eq!(DomainLock::attach(churn), Err(Error::AlreadyHeld));
        assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
        value.to_string_lossy().parse::<usize>().unwrap();
        Ok(Attaches)
    }
}

fn conversions_that_attach() {
    with_ocaml(|lock| {
        let words: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        let list: Boxroot<OCamlList<OCamlString>> = words.to_ocaml(lock).unwrap();
        let array: Boxroot<OCamlArray<OCamlString>> = words.to_ocaml(lock).unwrap();
        assert_eq!(list.to_rust::<Vec<Attaches>>(lock).unwrap().len(), 1000);
        assert_eq!(array.to_rust::<Vec<Attaches>>(lock).unwrap().len(), 1000);
    })
}

fn argument_that_attaches_when_dropped() {
    struct Bytes;
    impl AsRef<[u8]> for Bytes {
        fn as_ref(&self) -> &[u8] {
            b"bytes"
        }
    }
    impl Drop for Bytes {
        fn drop(&mut self) {
            assert_eq!(DomainLock::attach(churn), Err(Error::AlreadyHeld));
        }
    }
    with_ocaml(|lock| {
        let (value, _) = lock.alloc_string(Bytes).unwrap();
        assert_eq!(value.to_string_lossy(), "bytes");
    })
}

fn zero_sized_and_nested_shapes() {
    with_ocaml(|lock| {
        type Deep = Option<Option<Option<(OCamlArray<()>, OCamlList<OCamlArray<OCamlFloat>>)>>>;
        for n in [0, 1, 256, 257, 100_000] {
            let x = Some(Some(Some((vec![(); n], vec![vec![0.5; n], vec![]]))));
            let root: Boxroot<Deep> = x.to_ocaml(lock).unwrap();
            churn(lock);
            assert_eq!(
                root.to_rust::<Option<Option<Option<(Vec<()>, Vec<Vec<f64>>)>>>>(lock),
                Ok(x)
            );
        }
        let units: &[()] = &[(); usize::MAX];
        let too_many: Result<Boxroot<OCamlArray<()>>, Error> = units.to_ocaml(lock);
        assert_eq!(too_many.err(), Some(Error::OutOfMemory));
        // Converting to a type that does not implement `from_float` is an error for a flat array.
        let floats: Boxroot<OCamlArray<OCamlFloat>> = [1.5].to_ocaml(lock).unwrap();
        struct Bits(#[allow(dead_code)] f64);
        impl FromOCaml<OCamlFloat> for Bits {
            fn convert_from<'l>(
                value: Value<'l, OCamlFloat>,
                _: &'l DomainLock,
            ) -> Result<Self, Error> {
                Ok(Bits(value.to_float()))
            }
        }
        assert_eq!(floats.to_rust::<Vec<Bits>>(lock).err(), Some(Error::Mismatch));
    })
}

// ---- the end of the runtime ----

fn exports_in_at_exit() {
    static RAN: AtomicBool = AtomicBool::new(false);
    let runtime = start();
    let body: Run = |lock, _| {
        churn(lock);
        let attach = || thread::spawn(|| DomainLock::attach(|_| ())).join().unwrap();
        assert_eq!(lock.release(attach), Err(Error::TornDown));
        RAN.store(true, Ordering::SeqCst);
        Ok(())
    };
    DomainLock::attach(|lock| ocaml(lock, "run_at_exit", 0, body)).unwrap().unwrap();
    runtime.shutdown().unwrap();
    assert!(RAN.load(Ordering::SeqCst));
}

fn runtime_comes_back_and_goes() {
    let mut runtime = start();
    let kept = DomainLock::attach(|lock| strings(lock, 1000)).unwrap();
    for _ in 0..3 {
        let (stop, stopped) = mpsc::channel::<()>();
        let (ready, is_ready) = mpsc::channel::<()>();
        let attached = thread::spawn(move || {
            DomainLock::attach(|lock| {
                lock.release(|| {
                    ready.send(()).unwrap();
                    stopped.recv().unwrap();
                })
            })
            .unwrap();
        });
        is_ready.recv().unwrap();
        let busy = runtime.shutdown().unwrap_err();
        assert_eq!(busy.error, Error::Busy { uses: 1 });
        runtime = busy.runtime;
        DomainLock::attach(churn).unwrap();
        stop.send(()).unwrap();
        attached.join().unwrap();
        DomainLock::attach(|lock| check(lock, &kept)).unwrap();
    }
    runtime.shutdown().unwrap();
}

fn runtime_lost_while_busy() {
    start();
    let kept = DomainLock::attach(|lock| strings(lock, 1000)).unwrap();
    let (ready, is_ready) = mpsc::channel::<()>();
    thread::spawn(move || {
        DomainLock::attach(|lock| {
            lock.release(|| {
                ready.send(()).unwrap();
                thread::park();
            })
        })
    });
    is_ready.recv().unwrap();
    assert_eq!(DomainLock::attach(churn), Ok(()));
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
    drop(kept);
    DomainLock::attach(|_| assert_eq!(stats().live_roots, 0)).unwrap();
}

fn roots_dropped_during_shutdown() {
    let runtime = start();
    let (ready, is_ready) = mpsc::channel::<()>();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let roots = DomainLock::attach(|lock| strings(lock, 20_000)).unwrap();
            let ready = ready.clone();
            thread::spawn(move || {
                ready.send(()).unwrap();
                for root in roots {
                    drop(root);
                    assert!(stats().pools < 1000);
                }
            })
        })
        .collect();
    (0..4).for_each(|_| is_ready.recv().unwrap());
    runtime.shutdown().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn statistics_at_odd_times() {
    assert_eq!(stats().live_roots, 0);
    let runtime = start();
    DomainLock::attach(|lock| {
        let kept = strings(lock, 100_000);
        let body: Run = |lock, _| {
            let before = stats().live_roots;
            trim(lock);
            assert_eq!(stats().live_roots, before);
            Ok(())
        };
        for how in ["run", "run_in_a_thread", "run_in_a_finaliser"] {
            ocaml(lock, how, 0, body).unwrap();
        }
        lock.release(|| {
            thread::spawn(move || kept.into_iter().step_by(2).collect::<Strings>()).join().unwrap()
        });
        trim(lock);
    })
    .unwrap();
    runtime.shutdown().unwrap();
    assert_eq!(stats(), stats());
}

// ---- threads and domains ----

fn bytes_change_while_they_are_read() {
    with_ocaml(|lock| {
        let bytes: Boxroot<OCamlBytes> = [b'a'; 10_000][..].to_ocaml(lock).unwrap();
        let start_changing = function::<(OCamlBytes,), ()>(lock, "start_changing");
        start_changing.call(lock, &bytes).unwrap();
        for _ in 0..1000 {
            let copy = bytes.get(lock).to_bytes();
            assert_eq!(copy.len(), 10_000);
            assert!(copy.iter().all(|&b| b == b'a' || b == b'b'));
            churn_a_little(lock);
        }
        function::<(OCamlBytes,), ()>(lock, "stop_changing").call(lock, &bytes).unwrap();
    })
}

fn tokens_nest_and_panic() {
    static DEPTH: AtomicUsize = AtomicUsize::new(0);
    fn deeper(lock: &mut DomainLock, depth: usize) {
        DEPTH.fetch_max(depth, Ordering::SeqCst);
        assert!(depth < 100, "at the bottom");
        churn_a_little(lock);
        let root = string(lock, "kept");
        if depth % 2 == 0 {
            lock.release(|| DomainLock::attach(|lock| deeper(lock, depth + 1))).unwrap();
        } else {
            let body: Run = |lock, n| {
                let depth = n.get(lock).to_int() as usize;
                deeper(lock, depth);
                Ok(())
            };
            let error = ocaml(lock, "run", depth as isize + 1, body).unwrap_err();
            assert_eq!(root.get(lock).to_string_lossy(), "kept");
            assert!(error.to_string().contains("Failure"));
            panic_any(error);
        }
    }
    let runtime = start();
    DomainLock::attach(|lock| {
        let result = catch_unwind(AssertUnwindSafe(|| deeper(lock, 0)));
        assert!(result.is_err());
        drop(result);
        assert_eq!((DEPTH.load(Ordering::SeqCst), stats().live_roots), (100, 0));
        assert!(DomainLock::is_held());
    })
    .unwrap();
    runtime.shutdown().unwrap();
}

static FROM_A_DOMAIN: Mutex<Strings> = Mutex::new(Vec::new());

fn roots_live_on_after_their_domain() {
    let runtime = start();
    DomainLock::attach(|lock| {
        for n in 0..20 {
            ocaml(lock, "run_in_a_domain", n, |lock, _| {
                *FROM_A_DOMAIN.lock().unwrap() = strings(lock, 2000);
                Ok(())
            })
            .unwrap();
            let roots = std::mem::take(&mut *FROM_A_DOMAIN.lock().unwrap());
            churn(lock);
            check(lock, &roots);
            lock.release(|| thread::spawn(move || drop(roots)).join().unwrap());
        }
        churn(lock);
        assert_eq!(stats().live_roots, 0);
    })
    .unwrap();
    runtime.shutdown().unwrap();
}

fn finaliser_does_everything() {
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..20 {
            ocaml(lock, "run_in_a_finaliser", n, |lock, n| {
                let mine = strings(lock, 500);
                lock.release(|| DomainLock::attach(churn))?;
                trim(lock);
                check(lock, &mine);
                match n.get(lock).to_int() % 3 {
                    0 => Ok(()),
                    1 => Err("an error".into()),
                    _ => panic!("a panic"),
                }
            })
            .ok();
            check(lock, &kept);
        }
        assert_eq!(stats().live_roots, 1000);
    })
}

/// A root that a finaliser moves to the end of its thread, if that is not this thread.
struct MovesOn(Option<Boxroot<OCamlString>>, thread::ThreadId);

impl Drop for MovesOn {
    fn drop(&mut self) {
        if thread::current().id() != self.1 {
            DROPPED_LATE.set(Some(DroppedLate(self.0.take())));
            HAS_MOVED_ON.store(true, Ordering::SeqCst);
        }
    }
}

struct DroppedLate(#[allow(dead_code)] Option<Boxroot<OCamlString>>);

impl Drop for DroppedLate {
    fn drop(&mut self) {
        *LOCK_AT_END.lock().unwrap() = Some(ocaml_boxroot::sys::lock_state());
    }
}

thread_local! {
    static DROPPED_LATE: Cell<Option<DroppedLate>> = const { Cell::new(None) };
}

static HAS_MOVED_ON: AtomicBool = AtomicBool::new(false);
static LOCK_AT_END: Mutex<Option<ocaml_boxroot::sys::LockState>> = Mutex::new(None);

/// While a domain waits, its backup thread collects for it, and runs finalisers. When that thread ends, it does not hold
/// the lock, and another domain may have the number of its own.
fn roots_at_the_end_of_a_backup_thread() {
    with_ocaml(|lock| {
        let collector = thread::spawn(|| {
            while !HAS_MOVED_ON.load(Ordering::SeqCst) {
                DomainLock::attach(churn).unwrap();
            }
        });
        ocaml(lock, "run_in_a_domain", 0, |lock, _| {
            while !HAS_MOVED_ON.load(Ordering::SeqCst) {
                let root = string(lock, "moves on");
                lock.alloc_box(MovesOn(Some(root), thread::current().id()))?;
                lock.release(|| thread::sleep(Duration::from_millis(1)));
            }
            Ok(())
        })
        .unwrap();
        lock.release(|| {
            collector.join().unwrap();
            while LOCK_AT_END.lock().unwrap().is_none() {
                thread::yield_now();
            }
        });
        assert_ne!(*LOCK_AT_END.lock().unwrap(), Some(ocaml_boxroot::sys::LockState::Held));
    });
    assert_no_roots();
}

// ---- Rust values and functions in OCaml ----

/// Has another content after it was dropped.
struct Canary(u64);

impl Canary {
    const ALIVE: u64 = 0x0123_4567_89ab_cdef;
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.0 = 0;
    }
}

fn boxed<T: Send + 'static>(lock: &mut DomainLock, value: T) -> Boxroot<OCamlBox<T>> {
    let (value, lock) = lock.alloc_box(value).unwrap();
    Boxroot::new(lock, value)
}

static STOP: AtomicBool = AtomicBool::new(false);
static COLLECTIONS: AtomicUsize = AtomicUsize::new(0);

fn collect_until_stop(lock: &mut DomainLock) {
    let collect = function::<((),), ()>(lock, "full_major");
    let unit = ().to_ocaml(lock).unwrap();
    while !STOP.load(Ordering::SeqCst) {
        collect.call(lock, &unit).unwrap();
        COLLECTIONS.fetch_add(1, Ordering::SeqCst);
    }
}

/// A value that was read under a token lives as long as the token is borrowed, although its root was dropped and another
/// domain runs the collector.
fn references_outlive_their_roots() {
    start();
    let collector = thread::spawn(|| {
        DomainLock::attach(|lock| {
            ocaml(lock, "run_in_a_domain", 0, |lock, _| {
                collect_until_stop(lock);
                Ok(())
            })
            .is_ok()
        })
    });
    for round in 0..60 {
        DomainLock::attach(|lock| {
            let canary = boxed(lock, Canary(Canary::ALIVE));
            let text = string(lock, "read where it is");
            let numbers: Boxroot<OCamlBigarray<f64>> = vec![0.5; 1000].to_ocaml(lock).unwrap();
            if round % 3 == 0 {
                let enough = COLLECTIONS.load(Ordering::SeqCst) + 2; // they are old then
                lock.release(|| {
                    while COLLECTIONS.load(Ordering::SeqCst) < enough {
                        thread::yield_now();
                    }
                });
            }
            let alive = &canary.get(lock).get().0;
            let bytes = text.get(lock).as_bytes();
            let cells = numbers.get(lock).cells();
            let roots = (canary, text, numbers);
            match round % 2 {
                0 => drop(roots),
                _ => thread::spawn(move || drop(roots)).join().unwrap(),
            }
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(3) {
                assert_eq!((*alive, bytes), (Canary::ALIVE, &b"read where it is"[..]));
                assert!(cells.iter().all(|cell| cell.get() == 0.5));
            }
        })
        .unwrap();
    }
    STOP.store(true, Ordering::SeqCst);
    assert_eq!(collector.join().unwrap(), Ok(true));
}

type Count = Function<(OCamlInt,), OCamlInt>;

fn closures_during_shutdown() {
    static USED: AtomicUsize = AtomicUsize::new(0);
    let mut runtime = start();
    let use_closures = || {
        let mut kept = Vec::new();
        while let Ok(roots) = DomainLock::attach(|lock| {
            let text = string(lock, "captured");
            let f = Count::from_rust(lock, move |lock, n| {
                churn_a_little(lock);
                lock.release(thread::yield_now);
                assert_eq!(text.get(lock).to_string_lossy(), "captured");
                Ok::<_, Error>(n.get(lock).to_int())
            });
            let (f, n) = (f.unwrap(), 7.to_ocaml(lock).unwrap());
            assert_eq!(f.call(lock, &n).unwrap().0.to_int(), 7);
            (f, boxed(lock, Canary(Canary::ALIVE)))
        }) {
            kept.push(roots);
            USED.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2)); // without any pause, it would be busy for ever
        }
        assert_eq!(DomainLock::attach(|_| ()), Err(Error::TornDown));
    };
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(use_closures)).collect();
    while USED.load(Ordering::SeqCst) < 40 {
        thread::yield_now();
    }
    while let Err(busy) = runtime.shutdown() {
        runtime = busy.runtime;
        thread::yield_now();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn shutdown_in_a_closure() {
    static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
    fn refused() -> Error {
        let runtime = RUNTIME.lock().unwrap().take().unwrap();
        let busy = runtime.shutdown().unwrap_err();
        *RUNTIME.lock().unwrap() = Some(busy.runtime);
        busy.error
    }
    *RUNTIME.lock().unwrap() = Some(start());
    DomainLock::attach(|lock| {
        let f = Count::from_rust(lock, |lock, n| {
            assert_eq!(refused(), Error::AlreadyHeld);
            let here = lock.release(refused);
            let elsewhere = lock.release(|| thread::spawn(refused).join().unwrap());
            for error in [here, elsewhere] {
                assert!(matches!(error, Error::Busy { uses: 1.. }), "{error:?}");
            }
            Ok::<_, Error>(n.get(lock).to_int())
        });
        let (f, n) = (f.unwrap(), 7.to_ocaml(lock).unwrap());
        assert_eq!(f.call(lock, &n).unwrap().0.to_int(), 7);
    })
    .unwrap();
    let runtime = RUNTIME.lock().unwrap().take().unwrap();
    runtime.shutdown().unwrap();
}

fn hooks_of_panics_attach() {
    static ANSWERS: Mutex<Vec<Result<(), Error>>> = Mutex::new(Vec::new());
    std::panic::set_hook(Box::new(|_| {
        ANSWERS.lock().unwrap().push(DomainLock::attach(churn_a_little));
    }));
    with_ocaml(|lock| {
        let kept = strings(lock, 100);
        assert!(ocaml(lock, "run", 0, |_, _| panic!("in an export")).is_err());
        let f = Count::from_rust(lock, |_, _| -> Result<i32, Error> { panic!("in a closure") });
        let (f, n) = (f.unwrap(), 7.to_ocaml(lock).unwrap());
        assert!(f.call(lock, &n).is_err());
        let panics = AssertUnwindSafe(|| lock.release(|| panic!("in a release")));
        assert!(catch_unwind(panics).is_err());
        check(lock, &kept);
    });
    let _ = std::panic::take_hook();
    assert_eq!(
        *ANSWERS.lock().unwrap(),
        [Err(Error::AlreadyHeld), Err(Error::AlreadyHeld), Ok(())]
    );
}
