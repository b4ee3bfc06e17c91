use crate::common::exported::{churn, Run, RUN};
use crate::common::run_scenarios;
use crate::{function, scenarios};
use ocaml_boxroot::{
    stats, trim, Boxroot, DomainLock, Error, Exception, FromOCaml, OCamlArray, OCamlBytes,
    OCamlFloat, OCamlInt, OCamlList, OCamlString, Runtime, ToOCaml, Value,
};
use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, panic_any, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex};
use std::{fmt, process, thread};

scenarios!(
    SCENARIOS:
    exit_under_the_lock;
    exit_of_ocaml_under_the_lock;
    exit_in_a_release;
    exit_in_a_release_and_use_the_runtime;
    exit_in_a_callback_and_use_the_runtime;
    exit_of_ocaml_and_use_the_runtime;
    runtime_in_a_thread_local;
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
    exports_in_at_exit_are_refused;
    runtime_comes_back_and_goes;
    runtime_dropped_while_busy;
    roots_dropped_during_shutdown;
    statistics_at_odd_times;
    bytes_change_while_they_are_read, ocaml5 = true;
    tokens_nest_and_panic;
    roots_live_on_after_their_domain, ocaml5 = true;
    finaliser_does_everything;
    zero_sized_and_nested_shapes;
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
        assert_eq!(root.get(lock).to_text(), i.to_string());
    }
}

/// Has OCaml run `body(n)`: `how` is one of exported.ml's "run".
fn ocaml(lock: &mut DomainLock, how: &str, n: isize, body: Run) -> Result<isize, Exception> {
    *RUN.lock().unwrap() = Some(body);
    let f = function::<(OCamlInt,), OCamlInt>(lock, how);
    let n = n.to_ocaml(lock).unwrap();
    f.call(lock, &n).map(|(result, _)| result.to_int())
}

// ---- the process ends in the middle: thread-local destructors run under live frames ----

thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

fn exit_under_the_lock() {
    start().lock().release(|| {
        thread::spawn(|| DomainLock::attach(|_| process::exit(0))).join().unwrap().unwrap();
    });
}

fn exit_of_ocaml_under_the_lock() {
    start().lock().release(|| {
        let exits = || DomainLock::attach(|lock| ocaml(lock, "exit", 0, |_, _| Ok(())).is_ok());
        thread::spawn(exits).join().unwrap().unwrap();
    });
}

fn exit_in_a_release() {
    RUNTIME.set(Some(start()));
    RUNTIME
        .with_borrow_mut(|runtime| runtime.as_mut().unwrap().lock().release(|| process::exit(0)));
}

/// Uses its runtime when it is dropped.
struct Restless(Runtime);

impl Drop for Restless {
    fn drop(&mut self) {
        let outcome = catch_unwind(AssertUnwindSafe(|| churn(self.0.lock())));
        assert_eq!(outcome.is_ok(), DomainLock::is_held());
    }
}

thread_local! {
    static RESTLESS: RefCell<Option<Restless>> = const { RefCell::new(None) };
}

fn exit_in_a_release_and_use_the_runtime() {
    RESTLESS.set(Some(Restless(start())));
    RESTLESS.with_borrow_mut(|restless| {
        restless.as_mut().unwrap().0.lock().release(|| process::exit(0))
    });
}

fn exit_in_a_callback_and_use_the_runtime() {
    RESTLESS.set(Some(Restless(start())));
    RESTLESS.with_borrow_mut(|restless| {
        let lock = restless.as_mut().unwrap().0.lock();
        ocaml(lock, "run", 0, |_, _| process::exit(0)).unwrap()
    });
}

fn exit_of_ocaml_and_use_the_runtime() {
    RESTLESS.set(Some(Restless(start())));
    RESTLESS.with_borrow_mut(|restless| {
        let lock = restless.as_mut().unwrap().0.lock();
        ocaml(lock, "exit", 0, |_, _| Ok(())).unwrap()
    });
}

// ---- threads that end ----

fn runtime_in_a_thread_local() {
    thread_local! {
        static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
    }
    thread::spawn(|| {
        ROOTS.set(Vec::new()); // dropped after the runtime
        RUNTIME.set(Some(start()));
        RUNTIME.with_borrow_mut(|runtime| {
            ROOTS.set(strings(runtime.as_mut().unwrap().lock(), 5000));
        });
    })
    .join()
    .unwrap();
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::TornDown));
}

/// Attaches when it is dropped, which must not be granted where OCaml does not know the thread.
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
    let mut runtime = start();
    let kept = strings(runtime.lock(), 1000);
    runtime.lock().release(|| {
        thread::spawn(|| {
            AT_END.set(Some(AttachesAtEnd(&ANSWERS)));
            DomainLock::attach(|_| ()).unwrap();
            AT_END_TOO.set(Some(AttachesAtEnd(&ANSWERS)));
        })
        .join()
        .unwrap();
        // The destructor itself is the first to attach.
        thread::spawn(|| AT_END.set(Some(AttachesAtEnd(&ANSWERS)))).join().unwrap();
    });
    let answers = ANSWERS.lock().unwrap();
    assert_eq!(answers.len(), 3);
    assert!(answers.contains(&Err(Error::ThreadNotRegistered)), "{answers:?}");
    check(runtime.lock(), &kept);
    runtime.shutdown().unwrap();
}

fn attach_at_end(lock: &mut DomainLock) {
    AT_END.set(Some(AttachesAtEnd(&ANSWERS)));
    lock.release(|| DomainLock::attach(churn)).unwrap();
    AT_END_TOO.set(Some(AttachesAtEnd(&ANSWERS)));
}

fn attach_at_the_end_of_a_thread_of_ocaml() {
    let mut runtime = start();
    let lock = runtime.lock();
    let kept = strings(lock, 1000);
    for n in 0..10 {
        let body: Run = |lock, _| {
            attach_at_end(lock);
            Ok(())
        };
        ocaml(lock, "run_in_a_thread", n, body).unwrap();
        lock.release(|| {
            while ANSWERS.lock().unwrap().len() < 2 * (n as usize + 1) {
                thread::yield_now();
            }
        });
    }
    churn(lock);
    check(lock, &kept);
}

fn attach_at_the_end_of_a_domain() {
    let mut runtime = start();
    let lock = runtime.lock();
    let kept = strings(lock, 1000);
    for n in 0..10 {
        let body: Run = |lock, _| {
            attach_at_end(lock);
            Ok(())
        };
        ocaml(lock, "run_in_a_domain", n, body).unwrap();
    }
    lock.release(|| {
        while ANSWERS.lock().unwrap().len() < 20 {
            thread::yield_now();
        }
    });
    assert!(ANSWERS.lock().unwrap().iter().all(|a| a == &Err(Error::ThreadNotRegistered)));
    churn(lock);
    check(lock, &kept);
}

fn roots_at_the_end_of_threads_of_ocaml() {
    thread_local! {
        static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
    }
    let mut runtime = start();
    let lock = runtime.lock();
    let kept = strings(lock, 1000);
    for n in 0..50 {
        // Dropped by the thread after it gave the lock back, while this one makes roots.
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
    let mut runtime = start();
    let lock = runtime.lock();
    let exception = ocaml(lock, "run", 0, |_, _| panic_any(Bomb)).unwrap_err();
    assert!(exception.to_string().contains("a Rust function panicked"), "{exception}");
    assert_eq!(ocaml(lock, "run", 1, |_, _| Ok(())).unwrap(), 1);
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
    let mut runtime = start();
    let lock = runtime.lock();
    let in_display = ocaml(lock, "run", 0, |_, _| Err(Nasty { in_display: true }.into()));
    assert!(in_display.unwrap_err().to_string().contains("in Display"));
    let in_drop = ocaml(lock, "run", 0, |_, _| Err(Nasty { in_display: false }.into()));
    assert!(in_drop.unwrap_err().to_string().contains("in Drop"));
    assert_eq!(stats().live_roots, 0);
}

fn errors_that_hold_roots() {
    let mut runtime = start();
    let lock = runtime.lock();
    // The only root of the exception goes before OCaml gets it.
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
}

fn churn_a_little(lock: &mut DomainLock) {
    for _ in 0..100 {
        lock.alloc_string([b'z'; 100]).unwrap();
    }
}

fn exception_outlives_the_runtime() {
    let mut runtime = start();
    let lock = runtime.lock();
    let fail = function::<(OCamlString,), ()>(lock, "fail");
    let message = string(lock, "late");
    let exception = fail.call(lock, &message).map(|_| ()).unwrap_err();
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
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlFloat>, Error> {
        (self.mischief)(lock)
    }
}

fn conversions_that_panic() {
    let mut runtime = start();
    let lock = runtime.lock();
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
}

fn conversions_that_collect() {
    let mut runtime = start();
    let lock = runtime.lock();
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
    assert_eq!(array.get(lock).to_rust::<Vec<f64>>(), expected);
    assert_eq!(list.get(lock).to_rust::<Vec<f64>>().last(), Some(&301.));
}

fn conversions_that_hand_out_one_root() {
    let mut runtime = start();
    let lock = runtime.lock();
    let one = 0.5.to_ocaml(lock).unwrap();
    let mischief = |lock: &mut DomainLock| one.clone_in(lock);
    let imps: Vec<Imp> = (0..300).map(|_| Imp { mischief: &mischief }).collect();
    let array: Boxroot<OCamlArray<OCamlFloat>> = imps.to_ocaml(lock).unwrap();
    churn(lock);
    assert_eq!(array.get(lock).to_rust::<Vec<f64>>(), [0.5; 300]);
    drop((array, one));
    assert_eq!(stats().live_roots, 0);
}

/// Tries to collect while the list that it is an element of is being read.
struct Attaches;

impl FromOCaml<OCamlString> for Attaches {
    fn from_ocaml(value: Value<'_, OCamlString>) -> Self {
        assert_eq!(DomainLock::attach(churn), Err(Error::AlreadyHeld));
        assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
        value.to_text().parse::<usize>().unwrap();
        Attaches
    }
}

fn conversions_that_attach() {
    let mut runtime = start();
    let lock = runtime.lock();
    let words: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
    let list: Boxroot<OCamlList<OCamlString>> = words.to_ocaml(lock).unwrap();
    let array: Boxroot<OCamlArray<OCamlString>> = words.to_ocaml(lock).unwrap();
    assert_eq!(list.get(lock).to_rust::<Vec<Attaches>>().len(), 1000);
    assert_eq!(array.get(lock).to_rust::<Vec<Attaches>>().len(), 1000);
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
    let mut runtime = start();
    let (value, _) = runtime.lock().alloc_string(Bytes).unwrap();
    assert_eq!(value.to_text(), "bytes");
}

fn zero_sized_and_nested_shapes() {
    let mut runtime = start();
    let lock = runtime.lock();
    type Deep = Option<Option<Option<(OCamlArray<()>, OCamlList<OCamlArray<OCamlFloat>>)>>>;
    for n in [0, 1, 256, 257, 100_000] {
        let x = Some(Some(Some((vec![(); n], vec![vec![0.5; n], vec![]]))));
        let root: Boxroot<Deep> = x.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(root.get(lock).to_rust::<Option<Option<Option<(Vec<()>, Vec<Vec<f64>>)>>>>(), x);
    }
    let units: &[()] = &[(); usize::MAX];
    let too_many: Result<Boxroot<OCamlArray<()>>, Error> = units.to_ocaml(lock);
    assert_eq!(too_many.err(), Some(Error::OutOfMemory));
    // Types that disagree about the array's form are a panic.
    let floats: Boxroot<OCamlArray<OCamlFloat>> = [1.5].to_ocaml(lock).unwrap();
    struct Bits(#[allow(dead_code)] f64);
    impl FromOCaml<OCamlFloat> for Bits {
        fn from_ocaml(value: Value<'_, OCamlFloat>) -> Self {
            Bits(value.to_float())
        }
    }
    let read = || floats.get(lock).to_rust::<Vec<Bits>>().len();
    assert!(catch_unwind(AssertUnwindSafe(read)).is_err());
}

// ---- the end of the runtime ----

fn exports_in_at_exit_are_refused() {
    static RAN: AtomicBool = AtomicBool::new(false);
    let mut runtime = start();
    ocaml(runtime.lock(), "run_at_exit", 0, |_, _| {
        RAN.store(true, Ordering::SeqCst);
        Ok(())
    })
    .unwrap();
    runtime.shutdown().unwrap();
    assert!(!RAN.load(Ordering::SeqCst));
}

fn runtime_comes_back_and_goes() {
    let mut runtime = start();
    let kept = strings(runtime.lock(), 1000);
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
        runtime.lock().release(|| is_ready.recv().unwrap());
        let busy = runtime.shutdown().unwrap_err();
        assert_eq!(busy.error, Error::Busy { uses: 1 });
        runtime = busy.runtime;
        churn(runtime.lock());
        stop.send(()).unwrap();
        runtime.lock().release(|| attached.join().unwrap());
        check(runtime.lock(), &kept);
    }
    runtime.shutdown().unwrap();
}

fn runtime_dropped_while_busy() {
    let mut runtime = start();
    let kept = strings(runtime.lock(), 1000);
    let (ready, is_ready) = mpsc::channel::<()>();
    thread::spawn(move || {
        DomainLock::attach(|lock| {
            lock.release(|| {
                ready.send(()).unwrap();
                thread::park();
            })
        })
    });
    runtime.lock().release(|| is_ready.recv().unwrap());
    drop(runtime);
    assert!(DomainLock::is_held());
    assert_eq!(DomainLock::attach(churn), Err(Error::AlreadyHeld));
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
    drop(kept);
    assert_eq!(stats().live_roots, 0);
}

fn roots_dropped_during_shutdown() {
    let mut runtime = start();
    let (ready, is_ready) = mpsc::channel::<()>();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let roots = strings(runtime.lock(), 20_000);
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
    let mut runtime = start();
    let kept = strings(runtime.lock(), 100_000);
    let body: Run = |lock, _| {
        let before = stats().live_roots;
        trim(lock);
        assert_eq!(stats().live_roots, before);
        Ok(())
    };
    for how in ["run", "run_in_a_thread", "run_in_a_finaliser"] {
        ocaml(runtime.lock(), how, 0, body).unwrap();
    }
    runtime.lock().release(|| {
        thread::spawn(move || kept.into_iter().step_by(2).collect::<Strings>()).join().unwrap()
    });
    trim(runtime.lock());
    runtime.shutdown().unwrap();
    assert_eq!(stats(), stats());
}

// ---- threads and domains ----

fn bytes_change_while_they_are_read() {
    let mut runtime = start();
    let lock = runtime.lock();
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
            assert_eq!(root.get(lock).to_text(), "kept");
            assert!(error.to_string().contains("Failure"));
            panic_any(error);
        }
    }
    let mut runtime = start();
    let lock = runtime.lock();
    let result = catch_unwind(AssertUnwindSafe(|| deeper(lock, 0)));
    assert!(result.is_err());
    drop(result);
    assert_eq!((DEPTH.load(Ordering::SeqCst), stats().live_roots), (100, 0));
    assert!(DomainLock::is_held());
    runtime.shutdown().unwrap();
}

static FROM_A_DOMAIN: Mutex<Strings> = Mutex::new(Vec::new());

fn roots_live_on_after_their_domain() {
    let mut runtime = start();
    let lock = runtime.lock();
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
    runtime.shutdown().unwrap();
}

fn finaliser_does_everything() {
    let mut runtime = start();
    let lock = runtime.lock();
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
}
