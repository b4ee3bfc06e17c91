//! Rust values that OCaml owns.

use crate::support::exported::Run;
use crate::support::safe::*;
use crate::support::values::{live, Counted};
#[cfg(target_os = "linux")]
use crate::threads::memory;
use ocaml_boxroot::custom::{Custom, CustomOperations};
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::exceptions::NotFound;
use ocaml_boxroot::markers::{OCamlBox, OCamlInt64};
use ocaml_boxroot::sync::JoinHandleExt;
use ocaml_boxroot::{
    ocaml_functions, AttachError, Boxroot, DomainLock, OCamlInt, OCamlList, OCamlString, RootRef,
    Runtime, StartError, ToOCaml,
};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, LazyLock, Mutex};
use std::thread::{self, ThreadId};

ocaml_functions! {
    unsafe {
        fn keep(n: OCamlInt) = "keep";
        fn sum_kept() -> OCamlInt = "sum_kept";
        fn forget() = "forget";
        fn make_garbage(n: OCamlInt) = "make_garbage";
        fn raise_holding(held: OCamlBox<Counted>) = "raise_holding";
        fn misuse() -> bool = "misuse";
        fn drop_in_domains(n: OCamlInt) = "drop_in_domains";
        fn minor() = "minor";
    }
}

test!(boxes_know_their_type, || {
    /// The root under a false type.
    fn wrong<T>(root: Boxroot<T>) -> Boxroot<OCamlBox<u32>> {
        // SAFETY: none: the test checks that the false type is detected.
        unsafe { Boxroot::from_raw(root.into_raw()) }
    }
    with_ocaml(|lock| {
        let right = boxed(lock, 7u32);
        assert_eq!(right.get(lock).try_get(), Some(&7));
        let number: Boxroot<OCamlInt> = 7.to_ocaml(lock).unwrap();
        let custom: Boxroot<OCamlInt64> = 7i64.to_ocaml(lock).unwrap();
        let others = [
            wrong(boxed(lock, 7i32)),
            wrong(boxed(lock, "seven")),
            wrong(number),
            wrong(custom),
            wrong(string(lock, "seven")),
        ];
        for (i, other) in others.iter().enumerate() {
            assert_eq!(other.get(lock).try_get(), None);
            let is_box_or_int = i < 3;
            if is_box_or_int || cfg!(any(feature = "debug-checks", debug_assertions)) {
                let read = std::panic::AssertUnwindSafe(|| *other.get(lock).get());
                assert!(std::panic::catch_unwind(read).is_err());
            }
        }
    })
});

test!(boxes_are_dropped_once, || {
    with_ocaml(|lock| {
        for n in 1..=1000 {
            keep(lock, n).unwrap();
        }
        churn(lock);
        assert_eq!(sum_kept::<i32>(lock).unwrap(), 500_500);
        assert_eq!(live(), 1000);
        forget(lock).unwrap();
        assert_eq!(live(), 0);
        make_garbage(lock, 100_000).unwrap();
        assert!(live() < 100_000, "garbage is dropped meanwhile");
        full_major(lock);
        assert_eq!(live(), 0);
        assert!(misuse::<bool>(lock).unwrap());
        // A large value, a small one, one of size 0, and one with a large alignment.
        #[repr(align(128))]
        struct Aligned(u8);
        let large = boxed(lock, [7u8; 1 << 20]);
        let (nothing, aligned) = (boxed(lock, ()), boxed(lock, Aligned(9)));
        churn(lock);
        assert_eq!(large.get(lock).get()[1 << 19], 7);
        assert_eq!(*nothing.get(lock).get(), ());
        let aligned: &Aligned = aligned.get(lock).get();
        assert_eq!((aligned.0, aligned as *const Aligned as usize % 128), (9, 0));
    })
});

test!(boxes_hold_roots, || {
    with_ocaml(|lock| {
        let inner: Boxroot<OCamlString> = "inner".to_ocaml(lock).unwrap();
        let holder = boxed(lock, Mutex::new(vec![inner]));
        for i in 0..1000 {
            let another: Boxroot<OCamlString> = i.to_string().to_ocaml(lock).unwrap();
            holder.get(lock).get().lock().unwrap().push(another);
        }
        churn(lock);
        {
            let value = holder.get(lock).get().lock().unwrap();
            assert_eq!(value[0].get(lock).as_str(), Ok("inner"));
            assert_eq!(value[1000].get(lock).as_str(), Ok("999"));
        }
        assert_eq!(stats().live_roots, 1002);
        drop(holder);
        full_major(lock);
        full_major(lock);
        assert_eq!(stats().live_roots, 0);
    })
});

/// In its drop, tries everything that safe code can try there.
struct Attempts {
    seen: Arc<Mutex<Vec<String>>>,
    exception: Option<ocaml_boxroot::Exception>,
}

impl Drop for Attempts {
    fn drop(&mut self) {
        let mut seen = self.seen.lock().unwrap();
        seen.push(format!("{:?}", DomainLock::with(|_| ())));
        seen.push(format!("{:?}", Runtime::start().err()));
        let _ = Runtime::get_or_start().is_ok();
        seen.push(format!("{}", self.exception.take().unwrap()));
        ocaml_boxroot_sys::boxroot_trim();
        assert!(ocaml_boxroot_sys::boxroot_validate().is_null());
        stats();
        drop(seen);
        std::panic::panic_any(Payload);
    }
}

/// The payload of a panic, which panics again when it is dropped.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        panic!("the payload");
    }
}

test!(boxes_that_panic_and_attach, || {
    let seen = Arc::new(Mutex::new(Vec::new()));
    with_ocaml(|lock| {
        std::panic::set_hook(Box::new(|_| ()));
        for kind in ["minor", "major"] {
            let exception = Some(NotFound.exception(lock).unwrap());
            let attempts = boxed(lock, Attempts { seen: seen.clone(), exception });
            if kind == "major" {
                minor(lock).unwrap();
            }
            drop(attempts);
            if kind == "minor" {
                minor(lock).unwrap();
            }
            full_major(lock);
            let seen = std::mem::take(&mut *seen.lock().unwrap());
            assert_eq!(
                seen,
                [
                    format!("{:?}", Err::<(), _>(AttachError::InFinaliser)),
                    format!("{:?}", Some(StartError::AlreadyStarted)),
                    "OCaml exception: Not_found".to_string()
                ],
                "{kind}"
            );
        }
        let _ = std::panic::take_hook();
        churn(lock);
    })
});

test!(boxes_in_domains, ocaml = 5, || {
    with_ocaml(|lock| {
        drop_in_domains(lock, 20_000).unwrap();
        for _ in 0..3 {
            full_major(lock);
        }
        assert_eq!(live(), 0);
    })
});

/// Tries to use OCaml when it is dropped, and records the thread.
struct Elsewhere {
    threads: Arc<Mutex<Vec<ThreadId>>>,
    root: Option<Boxroot<OCamlString>>,
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        assert_eq!(DomainLock::with(|_| ()), Err(AttachError::InFinaliser));
        drop(self.root.take());
        self.threads.lock().unwrap().push(std::thread::current().id());
    }
}

/// The threads that have dropped boxes.
static DROPPED_BY: LazyLock<Arc<Mutex<Vec<ThreadId>>>> = LazyLock::new(Default::default);

// With backtraces, OCaml keeps each thread's last exception in the thread's record.
test!(exceptions_of_threads_that_ended, environment = &[("OCAMLRUNPARAM", "b")], || {
    with_ocaml(|lock| {
        let all_have_records = &Barrier::new(4);
        let raise = || {
            DomainLock::with(|lock| {
                lock.release(|| all_have_records.wait());
                let held = boxed(lock, Counted::new(1));
                assert!(raise_holding(lock, &held).is_err());
            })
            .unwrap();
        };
        lock.release(|| thread::scope(|scope| [(); 4].map(|()| drop(scope.spawn(raise)))));
        full_major(lock);
        full_major(lock);
        assert_eq!(live(), 0);
    });
    assert_no_roots();
});

/// One domain waits without its lock; another domain has collected.
static MEETINGS: [Barrier; 2] = [const { Barrier::new(2) }; 2];

const ROUNDS: usize = 20;

// While the only thread of a domain has released the lock, the domain's backup thread does the
// domain's part of the collections that other domains begin. The thread takes the lock again after
// that.
test!(boxes_dropped_by_another_thread, ocaml = 5, || {
    let make: Run = |lock, _| {
        for _ in 0..ROUNDS {
            for i in 0..50 {
                let root = Some(i.to_string().to_ocaml(lock)?);
                boxed(lock, Elsewhere { threads: DROPPED_BY.clone(), root });
            }
            lock.release(|| {
                for meeting in &MEETINGS {
                    meeting.wait();
                }
            });
            let threads = std::mem::take(&mut *DROPPED_BY.lock().unwrap());
            assert_eq!(threads.len(), 50);
            // At least the last box was young at the release.
            assert!(threads.iter().any(|&id| id != thread::current().id()));
        }
        Ok(())
    };
    with_ocaml(|lock| {
        let other = thread::spawn(|| {
            for _ in 0..ROUNDS {
                MEETINGS[0].wait();
                DomainLock::with(full_major).unwrap();
                MEETINGS[1].wait();
            }
        });
        ocaml(lock, "run_in_a_domain", 0, make).unwrap();
        other.join_released(lock).unwrap();
        churn(lock);
    });
    assert_no_roots();
});

// The last collections of a domain drop boxes after boxroot has registered the domain's end.
test!(boxes_dropped_at_the_end_of_a_domain, ocaml = 5, || {
    with_ocaml(|lock| {
        for _ in 0..ROUNDS {
            ocaml(lock, "run_in_a_domain", 0, |lock, _| {
                for i in 0..50 {
                    let root = Some(i.to_string().to_ocaml(lock)?);
                    boxed(lock, Elsewhere { threads: DROPPED_BY.clone(), root });
                }
                Ok(())
            })
            .unwrap();
        }
        full_major(lock);
    });
    assert_eq!(DROPPED_BY.lock().unwrap().len(), 50 * ROUNDS);
    assert_no_roots();
});

test!(boxes_at_shutdown, || {
    let ocaml = Runtime::start().unwrap();
    let roots = DomainLock::with(|lock| {
        keep(lock, 1).unwrap();
        make_garbage(lock, 10).unwrap();
        (0..10).map(|n| boxed(lock, Counted::new(n))).collect::<Vec<_>>()
    });
    ocaml.shutdown().unwrap();
    // Boxes that were in use are not dropped.
    let left = live();
    assert!((11..=21).contains(&left), "{left}");
    drop(roots);
});

static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

// OCaml would not collect for this many blocks of a few words.
test!(memory_that_boxes_own_counts, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let mut most = 0;
        for _ in 0..5000 {
            let live = LIVE.fetch_add(1, Ordering::SeqCst) + 1;
            most = live.max(most);
            lock.alloc_box_owning(Waits, 1 << 20).unwrap();
        }
        assert!(most < 2500, "{most} boxes waited for the collector");
    })
});

test!(memory_that_boxes_come_to_own_counts, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let mut most = 0;
        for _ in 0..5000 {
            let live = LIVE.fetch_add(1, Ordering::SeqCst) + 1;
            most = live.max(most);
            let (_, lock) = lock.alloc_box(Waits).unwrap();
            lock.count_memory(1 << 20);
        }
        assert!(most < 4000, "{most} boxes waited for the collector");
    })
});

/// Has all custom operations of OCaml. They fail for some numbers.
struct Number(Counted);

const PANICS: isize = 13;
const FAILS: isize = 14;

impl Number {
    fn read(&self) -> isize {
        assert_eq!(DomainLock::with(|_| ()), Err(AttachError::AlreadyHeld));
        let n = self.0.number();
        assert_ne!(n, PANICS);
        n
    }
}

impl PartialEq for Number {
    fn eq(&self, _: &Number) -> bool {
        unreachable!("OCaml compares by cmp")
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> std::cmp::Ordering {
        self.read().cmp(&other.read())
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.read().hash(state)
    }
}

impl Custom for Number {
    const OPERATIONS: CustomOperations<Number> = CustomOperations::new().compare().hash().marshal(
        "test.number",
        |number| match number.read() {
            FAILS => Err("é".repeat(300)),
            n => Ok(n.to_le_bytes().into()),
        },
        |bytes| {
            assert_eq!(DomainLock::with(|_| ()), Err(AttachError::AlreadyHeld));
            match bytes.try_into().map(isize::from_le_bytes) {
                Ok(7) => Err("seven is not read".to_string()),
                Ok(8) => panic!("eight is not read"),
                Ok(n) => Ok(Number(Counted::new(n))),
                Err(_) => Err("no number".to_string()),
            }
        },
    );
}

/// Another type with all custom operations.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Word(&'static str);

impl Custom for Word {
    const OPERATIONS: CustomOperations<Word> = CustomOperations::new().compare().hash().marshal(
        "test.word",
        |word| Ok(word.0.as_bytes().into()),
        |_| Ok(Word("read")),
    );
}

/// A type with no custom operations.
struct Nothing;

impl Custom for Nothing {
    const OPERATIONS: CustomOperations<Nothing> = CustomOperations::new();
}

fn custom<T: Custom>(lock: &mut DomainLock, value: T) -> Boxroot<OCamlBox<T>> {
    let (value, lock) = lock.alloc_custom(value, 0).unwrap();
    Boxroot::new(lock, value)
}

fn compare<A, B>(lock: &mut DomainLock, a: &RootRef<A>, b: &RootRef<B>) -> Result<isize, String> {
    let f = function::<(A, B), OCamlInt>(lock, "compare_boxes");
    f.call(lock, a, b).map(|(n, _)| n.to_int()).map_err(|error| error.to_string())
}

fn hash<T>(lock: &mut DomainLock, a: &RootRef<T>) -> isize {
    function::<(T,), OCamlInt>(lock, "hash_box").call(lock, a).unwrap().0.to_int()
}

fn marshal<T>(
    lock: &mut DomainLock,
    roots: &[&RootRef<T>],
) -> Result<Boxroot<OCamlString>, String> {
    let list: Boxroot<OCamlList<T>> = roots.to_ocaml(lock).unwrap();
    let f = function::<(OCamlList<T>,), OCamlString>(lock, "marshal_boxes");
    let result = f.call(lock, &list);
    result.map(|(text, lock)| Boxroot::new(lock, text)).map_err(|error| error.to_string())
}

fn unmarshal<T>(
    lock: &mut DomainLock,
    text: &RootRef<OCamlString>,
) -> Result<Vec<Boxroot<T>>, String> {
    let f = function::<(OCamlString,), OCamlList<T>>(lock, "unmarshal_boxes");
    let (list, lock) = f.call(lock, text).map_err(|error| error.to_string())?;
    Ok(list.to_rust(lock).unwrap())
}

test!(boxes_that_ocaml_compares, || {
    with_ocaml(|lock| {
        let numbers: Vec<_> =
            [5, 3, 9, 3].iter().map(|n| custom(lock, Number(Counted::new(*n)))).collect();
        assert_eq!(compare(lock, &numbers[0], &numbers[1]), Ok(1));
        assert_eq!(compare(lock, &numbers[1], &numbers[0]), Ok(-1));
        assert_eq!(compare(lock, &numbers[1], &numbers[3]), Ok(0));
        assert_eq!(hash(lock, &numbers[1]), hash(lock, &numbers[3]));
        assert_ne!(hash(lock, &numbers[1]), hash(lock, &numbers[0]));
        let list: Boxroot<OCamlList<_>> = numbers.to_ocaml(lock).unwrap();
        let sort = function::<(OCamlList<OCamlBox<Number>>,), OCamlList<OCamlBox<Number>>>(
            lock,
            "sort_boxes",
        );
        let (sorted, _) = sort.call(lock, &list).unwrap();
        let sorted: Vec<_> = sorted.iter().map(|number| number.get().0.number()).collect();
        assert_eq!(sorted, [3, 3, 5, 9]);
        // Values of different types.
        let word = custom(lock, Word("word"));
        let order = compare(lock, &numbers[0], &word).unwrap();
        assert_eq!(compare(lock, &word, &numbers[1]).unwrap(), -order);
        assert_ne!(order, 0);
        let plain = boxed(lock, 7);
        let order = compare(lock, &numbers[0], &plain).unwrap();
        assert_eq!(compare(lock, &plain, &numbers[1]).unwrap(), -order);
        // A value without operations is like a plain box.
        let nothing = custom(lock, Nothing);
        let another = custom(lock, Nothing);
        let another_plain = boxed(lock, 7);
        let order = compare(lock, &nothing, &another);
        assert_eq!(order, compare(lock, &plain, &another_plain));
        assert!(compare(lock, &nothing, &another).unwrap_err().contains("abstract value"));
        assert_eq!(hash(lock, &nothing), hash(lock, &plain));
        assert!(marshal(lock, &[&nothing]).unwrap_err().contains("abstract value"));
        // Panics.
        std::panic::set_hook(Box::new(|_| ()));
        let bad = custom(lock, Number(Counted::new(PANICS)));
        for _ in 0..1000 {
            let error = compare(lock, &bad, &numbers[0]).unwrap_err();
            assert!(error.contains("a Rust function panicked"), "{error}");
        }
        hash(lock, &bad);
        assert!(marshal(lock, &[&bad]).unwrap_err().contains("panicked"));
        let _ = std::panic::take_hook();
        drop((numbers, list, sort, bad));
        full_major(lock);
        full_major(lock);
        assert_eq!(live(), 0);
    })
});

test!(boxes_that_ocaml_marshals, || {
    with_ocaml(|lock| {
        lock.unmarshal::<Number>();
        let numbers: Vec<_> = (20..25).map(|n| custom(lock, Number(Counted::new(n)))).collect();
        let mut many: Vec<&RootRef<_>> = Vec::new();
        (0..2000).for_each(|i| many.push(&numbers[i % 5]));
        let text = marshal(lock, &many).unwrap();
        drop(many);
        for _ in 0..10 {
            let read: Vec<Boxroot<OCamlBox<Number>>> = unmarshal(lock, &text).unwrap();
            churn(lock);
            assert_eq!(read.len(), 2000);
            for (i, number) in read.iter().enumerate() {
                assert_eq!(number.get(lock).get().0.number(), 20 + (i % 5) as isize);
            }
            assert_eq!(compare(lock, &read[0], &numbers[0]), Ok(0));
            assert_eq!(hash(lock, &read[0]), hash(lock, &numbers[0]));
        }
        let word = custom(lock, Word("word"));
        let word = marshal(lock, &[&word]).unwrap();
        let word: Vec<Boxroot<OCamlBox<Word>>> = unmarshal(lock, &word).unwrap();
        assert_eq!(word[0].get(lock).get().0, "read");
        // Errors, after values that were already read.
        std::panic::set_hook(Box::new(|_| ()));
        for (n, expected) in [(7, "seven is not read"), (8, "panicked")] {
            let bad = custom(lock, Number(Counted::new(n)));
            for before in [0, 5, 2000] {
                let mut list: Vec<&RootRef<_>> = vec![&numbers[0]; before];
                list.push(&bad);
                let text = marshal(lock, &list).unwrap();
                let error = unmarshal::<OCamlBox<Number>>(lock, &text).unwrap_err();
                assert!(error.contains(expected), "{error}");
                churn(lock);
            }
        }
        let fails = custom(lock, Number(Counted::new(FAILS)));
        assert!(marshal(lock, &[&numbers[0], &fails]).unwrap_err().contains("éé"));
        assert!(marshal(lock, &[&numbers[0]]).is_ok());
        let _ = std::panic::take_hook();
        full_major(lock);
        full_major(lock);
        drop((numbers, fails));
        full_major(lock);
        full_major(lock);
        // Values that were read before an error are lost.
        assert!((0..=20).contains(&live()), "{}", live());
    })
});

#[cfg(target_os = "linux")]
test!(boxes_that_do_not_fit_into_a_buffer, || {
    /// A megabyte.
    struct Large;
    impl Custom for Large {
        const OPERATIONS: CustomOperations<Large> =
            CustomOperations::new().marshal("test.large", |_| Ok(vec![1; 1 << 20]), |_| Ok(Large));
    }
    with_ocaml(|lock| {
        let large = custom(lock, Large);
        let overflow = function::<(OCamlBox<Large>,), OCamlInt>(lock, "overflow_by_box");
        let mut overflows =
            |n| (0..n).all(|_| overflow.call(lock, &large).unwrap().0.to_int() == 1);
        assert!(overflows(10));
        let before = memory();
        assert!(overflows(500));
        let after = memory();
        assert!(after < before + (100 << 20), "{before} bytes have become {after}");
    })
});

// OCaml checks such data from 5.5 on.
test!(boxes_of_changed_data, except = &["4.", "5.0.", "5.1.", "5.2.", "5.3.", "5.4."], || {
    with_ocaml(|lock| {
        lock.unmarshal::<Number>();
        std::panic::set_hook(Box::new(|_| ()));
        let number = custom(lock, Number(Counted::new(20)));
        let f = function::<(OCamlBox<Number>,), ()>(lock, "unmarshal_changed_box");
        f.call(lock, &number).unwrap();
        let _ = std::panic::take_hook();
        full_major(lock);
        drop(number);
        full_major(lock);
        full_major(lock);
        assert_eq!(live(), 0);
    })
});

test!(types_with_one_name, || {
    struct Other;
    impl Custom for Other {
        const OPERATIONS: CustomOperations<Other> =
            CustomOperations::new().marshal("test.word", |_| Ok(Vec::new()), |_| Ok(Other));
    }
    with_ocaml(|lock| {
        lock.unmarshal::<Word>();
        lock.unmarshal::<Word>();
        std::panic::set_hook(Box::new(|_| ()));
        let other = std::panic::AssertUnwindSafe(|| drop(custom(lock, Other)));
        assert!(std::panic::catch_unwind(other).is_err());
        let _ = std::panic::take_hook();
    })
});

// On OCaml 5, blocks that own much memory are made in the major heap, and OCaml's own function
// raises. (On OCaml 4 they are promoted to it, and the runtime aborts.) The roots already exist, so
// only blocks need memory. With this M, the memory that blocks own hardly speeds up the collector.
#[cfg(target_os = "linux")]
test!(
    boxes_where_memory_runs_out,
    ocaml = 5,
    environment = &[("OCAMLRUNPARAM", "V=0,M=1000000")],
    || {
        with_ocaml(|lock| {
            let (first, shared) = lock.alloc_box(0usize).unwrap();
            let first = Boxroot::new(shared, first);
            let mut roots: Vec<_> = (0..1_000_000).map(|_| first.clone_in(lock).unwrap()).collect();
            crate::weak::limit_memory();
            let mut made = 0;
            let error = loop {
                match lock.alloc_box_owning(made, 1 << 20) {
                    Ok((value, lock)) => roots[made].set(lock, value),
                    Err(error) => break error,
                }
                made += 1;
            };
            assert_eq!(error, ocaml_boxroot::ConversionErrorKind::OutOfMemory.into());
            assert!((0..made).all(|i| *roots[i].get(lock).get() == i));
        });
    }
);
