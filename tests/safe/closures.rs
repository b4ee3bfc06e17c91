//! Rust functions that OCaml code uses like OCaml functions.

use crate::support::safe::*;
use crate::support::values::{live, Counted};
use ocaml_boxroot::debug::{profile, stats};
use ocaml_boxroot::exceptions::NotFound;
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{
    ocaml_functions, Boxroot, DomainLock, Function, OCamlFloat, OCamlInt, OCamlList, OCamlString,
    Value,
};
use std::backtrace::Backtrace;
use std::fmt;
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

type I = OCamlInt;

/// OCaml's `int ref`.
enum Cell {}

ocaml_functions! {
    unsafe {
        fn apply0(f: Function<(), I>) -> I = "apply0";
        fn apply1(f: Function<(OCamlString,), OCamlString>, x: OCamlString) -> OCamlString = "apply1";
        fn map(f: Function<(I,), OCamlString>, list: OCamlList<I>) -> OCamlList<OCamlString> = "map";
        fn sort(order: Function<(I, I), I>, list: OCamlList<I>) -> OCamlList<I> = "sort";
        fn partial(f: Function<(I, I, I), I>) -> OCamlList<I> = "partial";
        fn eight_of(f: Function<(I, I, I, I, I, I, I, I), OCamlString>) -> OCamlString = "eight_of";
        fn over(f: Function<(I, I), Count>) -> I = "over";
        fn in_tail_position(f: Count, n: I) -> I = "in_tail_position";
        fn many_calls(f: Function<(OCamlFloat,), OCamlFloat>, n: I) -> OCamlFloat = "many_calls";
        fn catch(f: Function<(), I>) -> OCamlString = "catch";
        fn functional_value(f: Function<(), I>) -> bool = "functional_value";
        fn finalise_with(f: Function<(Cell,), I>) = "finalise_with";
        fn in_threads(f: Count, n: I) = "in_threads";
        fn in_domains(f: Count, n: I) = "in_domains";
        fn in_fiber(f: Function<(), I>) -> I = "in_fiber";
        fn finalise_in_fiber(f: Function<(Cell,), I>) = "finalise_in_fiber";
        fn apply_to(f: Count, n: I) -> I = "apply1";
        fn full_major() = "full_major";
    }
}

test!(closures_of_all_arities, || {
    with_ocaml(|lock| {
        let zero = Function::<(), I>::from_rust(lock, |_| Ok(7)).unwrap();
        assert_eq!(apply0::<i32>(lock, &zero).unwrap(), 7);
        assert_eq!(zero.call(lock).unwrap().0.to_int(), 7);
        let one = Function::<(OCamlString,), OCamlString>::from_rust(lock, |lock, text| {
            churn(lock);
            Ok(text.clone_in(lock)?) // the result is a root
        })
        .unwrap();
        assert_eq!(apply1::<String>(lock, &one, "same").unwrap(), "same");
        let eight = Function::<(I, I, I, I, I, I, I, I), OCamlString>::from_rust(
            lock,
            |lock, a, b, c, d, e, f, g, h| {
                churn(lock);
                let all = [a, b, c, d, e, f, g, h].map(|n| n.get(lock).to_int());
                Ok(format!("{all:?}"))
            },
        )
        .unwrap();
        churn(lock);
        assert_eq!(eight_of::<String>(lock, &eight).unwrap(), "[1, 2, 3, 4, 5, 6, 7, 8]");
        assert!(functional_value::<bool>(lock, &zero).unwrap());
    });
    assert_no_roots();
});

test!(closures_of_rust_values, || {
    with_ocaml(|lock| {
        let zero = Function::<(), I>::from_rust_converting(lock, |_| Ok(7)).unwrap();
        assert_eq!(apply0::<i32>(lock, &zero).unwrap(), 7);
        type Order = Function<(I, I), I>;
        let order = Order::from_rust_converting(lock, |lock, a: i64, b: u8| {
            churn_a_little(lock);
            Ok(a - i64::from(b))
        });
        let sorted: Vec<i64> = sort(lock, order.unwrap(), [3, 1, 2]).unwrap();
        assert_eq!(sorted, [1, 2, 3]);
        // A number out of the Rust type's range raises an exception, and leaks nothing.
        let byte = Count::from_rust_converting(lock, |_, n: u8| Ok(n)).unwrap();
        assert_eq!(apply_to::<i32>(lock, &byte, 255).unwrap(), 255);
        let error = apply_to::<i32>(lock, &byte, 256).unwrap_err();
        assert!(error.to_string().contains("number out of range for the target type"));
        drop((zero, byte, error));
        assert_eq!(stats().live_roots, 0);
    })
});

test!(closures_apply_partially, || {
    with_ocaml(|lock| {
        let digits = Function::<(I, I, I), I>::from_rust(lock, |lock, a, b, c| {
            churn(lock);
            let [a, b, c] = [a, b, c].map(|n| n.get(lock).to_int());
            Ok(100 * a + 10 * b + c)
        })
        .unwrap();
        assert_eq!(partial::<Vec<i32>>(lock, digits).unwrap(), [123, 124, 156, 789]);
        let adder = Function::<(I, I), Count>::from_rust(lock, |lock, a, b| {
            let sum = a.get(lock).to_int() + b.get(lock).to_int();
            Ok(Count::from_rust(lock, move |lock, c| Ok(sum + c.get(lock).to_int()))?)
        })
        .unwrap();
        assert_eq!(over::<i32>(lock, adder).unwrap(), 6);
    });
    assert_no_roots();
});

test!(closures_allocate_and_call_back, || {
    with_ocaml(|lock| {
        let text = Function::<(I,), OCamlString>::from_rust(lock, |lock, n| {
            let n: isize = n.to_rust(lock)?;
            churn(lock);
            Ok(format!("<{n}>"))
        })
        .unwrap();
        assert_eq!(map::<Vec<String>>(lock, &text, [1, 2, 3]).unwrap(), ["<1>", "<2>", "<3>"]);
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let order = Function::<(I, I), I>::from_rust(lock, move |lock, a, b| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(b.get(lock).to_int() - a.get(lock).to_int())
        })
        .unwrap();
        let shuffled: Vec<i64> = (0..5000).map(|i| i * 2579 % 5003).collect();
        let mut expected = shuffled.clone();
        expected.sort_by_key(|n| -n);
        assert_eq!(sort::<Vec<i64>>(lock, &order, shuffled).unwrap(), expected);
        assert!(calls.load(Ordering::Relaxed) > 5000);
        // After calls of Rust, OCaml's float registers and loop variables still have their values.
        let half = Function::<(OCamlFloat,), OCamlFloat>::from_rust(lock, |lock, x| {
            if x.get(lock).to_float() % 1000. == 0. {
                churn(lock);
            }
            Ok(x.get(lock).to_float() / 2.)
        })
        .unwrap();
        assert_eq!(many_calls::<f64>(lock, half, 20_000).unwrap(), 1.5 * 200_010_000.);
        // Rust calls OCaml, which calls Rust, and so on, to a depth of a hundred.
        fn descend(lock: &mut DomainLock, n: isize) -> Result<isize, Box<dyn std::error::Error>> {
            if n == 0 {
                return Ok(0);
            }
            let next = Count::from_rust(lock, |lock, n| {
                churn(lock);
                let n = n.get(lock).to_int();
                descend(lock, n - 1)
            })?;
            let n = Boxroot::new(lock, Value::int(n));
            Ok(next.call(lock, &n)?.0.to_int() + 1)
        }
        assert_eq!(descend(lock, 100).unwrap(), 100);
        let last = Count::from_rust(lock, |_, _| Ok(3)).unwrap();
        assert_eq!(in_tail_position::<i32>(lock, last, 1000).unwrap(), 3);
    });
    assert_no_roots();
});

test!(closures_fail_as_exceptions, || {
    with_ocaml(|lock| {
        let not_found =
            Function::<(), I>::from_rust(lock, |_| Err::<i32, _>(NotFound.into())).unwrap();
        let failed =
            Function::<(), I>::from_rust(lock, |_| Err::<i32, _>("an error\0 as text".into()))
                .unwrap();
        let panics = Function::<(), I>::from_rust(lock, |lock| {
            let kept = Counted::new(1);
            churn(lock);
            if kept.number() == 1 {
                panic!("a panic");
            }
            Ok(0)
        })
        .unwrap();
        let refused = Function::<(), I>::from_rust(lock, |_| Ok(u64::MAX)).unwrap();
        for _ in 0..100 {
            assert_eq!(catch::<String>(lock, &not_found).unwrap(), "Not_found");
            assert_eq!(catch::<String>(lock, &failed).unwrap(), "Failure an error\0 as text");
        }
        assert_eq!(catch::<String>(lock, &panics).unwrap(), "Failure a panic");
        assert!(catch::<String>(lock, &refused).unwrap().contains("out of range"));
        assert_eq!(live(), 0);
    });
    assert_no_roots();
});

/// An error whose drop runs the collector.
#[derive(Debug)]
struct Collects;

impl fmt::Display for Collects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an error that collects")
    }
}

impl std::error::Error for Collects {}

impl Drop for Collects {
    fn drop(&mut self) {
        // SAFETY: OCaml called the function whose error this is. Nothing else in this test uses a
        // token or a value meanwhile.
        unsafe {
            DomainLock::assume_held(|lock| {
                full_major(lock).unwrap();
                churn(lock); // overwrites the memory of moved values
            })
        }
        .unwrap();
    }
}

test!(errors_are_dropped_before_the_exception, || {
    with_ocaml(|lock| {
        let failed =
            Function::<(), I>::from_rust(lock, |_| Err::<i32, _>(Collects.into())).unwrap();
        for _ in 0..10 {
            assert_eq!(catch::<String>(lock, &failed).unwrap(), "Failure an error that collects");
        }
    })
});

/// An OCaml function whose Rust function owns a `Counted`.
fn owner(lock: &mut DomainLock, n: isize) -> Boxroot<Count> {
    let owned = Counted::new(n);
    Count::from_rust(lock, move |lock, n| {
        churn(lock);
        Ok(owned.number() + n.get(lock).to_int())
    })
    .unwrap()
}

test!(closures_are_dropped, || {
    with_ocaml(|lock| {
        let owners: Vec<_> = (0..100).map(|n| owner(lock, n)).collect();
        churn(lock);
        full_major(lock).unwrap();
        assert_eq!(live(), 100);
        let one = Boxroot::new(lock, Value::int(1));
        for (n, owner) in owners.into_iter().enumerate() {
            // The function's last root is dropped while OCaml still uses the function.
            let result = apply_and_forget(lock, owner, &one);
            assert_eq!(result, n as isize + 1);
        }
        full_major(lock).unwrap();
        full_major(lock).unwrap();
        assert_eq!(live(), 0);
        // The Rust function as a finaliser for `Gc.finalise`.
        let owned = Counted::new(5);
        let finaliser = Function::<(Cell,), I>::from_rust(lock, move |lock, _| {
            churn(lock);
            Ok(owned.number())
        })
        .unwrap();
        finalise_with(lock, finaliser).unwrap();
        for _ in 0..4 {
            full_major(lock).unwrap();
        }
        assert_eq!(live(), 0);
    });
    assert_no_roots();
});

fn apply_and_forget(lock: &mut DomainLock, f: Boxroot<Count>, n: &Boxroot<I>) -> isize {
    f.call(lock, n).unwrap().0.to_int()
}

test!(closures_that_forget_themselves, || {
    with_ocaml(|lock| {
        let mine: Arc<Mutex<Option<Boxroot<Count>>>> = Arc::default();
        let (inside, owned) = (mine.clone(), Counted::new(7));
        let f = Count::from_rust(lock, move |lock, n| {
            // The function that is running loses its only root, and the collector runs several
            // times.
            drop(inside.lock().unwrap().take());
            for _ in 0..3 {
                full_major(lock)?;
            }
            assert_eq!(live(), 1);
            Ok(owned.number() + n.get(lock).to_int())
        });
        *mine.lock().unwrap() = f.ok();
        let one = Boxroot::new(lock, Value::int(1));
        let f = mine.lock().unwrap().as_ref().unwrap().clone_in(lock).unwrap();
        let called = call_and_drop(lock, f, &one);
        assert_eq!(called, 8);
        for _ in 0..3 {
            full_major(lock).unwrap();
        }
        assert_eq!(live(), 0);
    });
    assert_no_roots();
});

/// Calls the function in such a way that only OCaml's stack refers to it while it runs.
fn call_and_drop(lock: &mut DomainLock, f: Boxroot<Count>, n: &Boxroot<I>) -> isize {
    let apply =
        Function::<(Count, I), I>::from_rust(lock, |lock, f, n| Ok(apply_to::<isize>(lock, f, n)?))
            .unwrap();
    let (result, _) = apply.call(lock, &f, n).unwrap();
    result.to_int()
}

fn run_everywhere(run: fn(&mut DomainLock, &Boxroot<Count>)) {
    with_ocaml(|lock| {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let f = Count::from_rust(lock, |lock, n| {
            let n = n.get(lock).to_int();
            lock.alloc_string(n.to_string())?;
            if n % 100 == 0 {
                lock.release(std::thread::yield_now);
            }
            CALLS.fetch_add(1, Ordering::Relaxed);
            Ok(n)
        })
        .unwrap();
        run(lock, &f);
        assert_eq!(CALLS.load(Ordering::Relaxed) % 5000, 0);
        assert!(CALLS.load(Ordering::Relaxed) > 0);
    })
}

test!(closures_in_threads, || {
    run_everywhere(|lock, f| in_threads(lock, f, 5000).unwrap());
});

test!(closures_in_domains, ocaml = 5, || {
    run_everywhere(|lock, f| in_domains(lock, f, 5000).unwrap());
});

// OCaml 5 hides the frames around an effect handler while C code below it, or the collector for a
// finaliser, calls OCaml. Code that walks the call stack then would read NULL.
test!(call_stacks_below_effect_handlers, forbid(unsafe_code), || {
    static LOOKED: AtomicUsize = AtomicUsize::new(0);
    fn look(lock: &mut DomainLock) -> Result<isize, Box<dyn std::error::Error>> {
        assert_ne!(Backtrace::force_capture().to_string(), "");
        LOOKED.fetch_add(1, Ordering::Relaxed);
        let root = Boxroot::new(lock, Value::int(1)); // a sample of the profile
        Ok(root.get(lock).to_int())
    }
    struct Looks;
    impl Drop for Looks {
        fn drop(&mut self) {
            assert_ne!(Backtrace::force_capture().to_string(), "");
            LOOKED.fetch_add(1, Ordering::Relaxed);
        }
    }
    with_ocaml(|lock| {
        profile(1);
        let inner = Function::<(), I>::from_rust(lock, look).unwrap();
        let outer =
            Function::<(), I>::from_rust(lock, move |lock| Ok(in_fiber::<i32>(lock, &inner)?));
        let outer = outer.unwrap();
        assert_eq!(in_fiber::<i32>(lock, &outer).unwrap(), 1);
        assert_eq!(apply0::<i32>(lock, &outer).unwrap(), 1);
        let finaliser = Function::<(Cell,), I>::from_rust(lock, |lock, _| look(lock)).unwrap();
        finalise_in_fiber(lock, &finaliser).unwrap();
        let collects = Function::<(), I>::from_rust(lock, |lock| {
            lock.alloc_box(Looks)?;
            full_major(lock)?;
            Ok(2)
        });
        let collects = collects.unwrap();
        assert_eq!(in_fiber::<i32>(lock, &collects).unwrap(), 2);
        let panics = Function::<(), I>::from_rust(lock, move |lock| {
            let inner = Function::<(), I>::from_rust(lock, |_| -> Result<isize, _> { panic!() })?;
            Ok(in_fiber::<i32>(lock, &inner)?)
        });
        let panics = panics.unwrap();
        assert!(in_fiber::<i32>(lock, &panics).is_err());
        // The payload of a panic is dropped when the function has ended.
        let panics = Function::<(), I>::from_rust(lock, |lock| {
            let inner =
                Function::<(), I>::from_rust(lock, |_| -> Result<isize, _> { panic_any(Looks) })?;
            Ok(apply0::<i32>(lock, &inner)?)
        });
        let panics = panics.unwrap();
        assert!(in_fiber::<i32>(lock, &panics).is_err());
    });
    assert_eq!(LOOKED.load(Ordering::Relaxed), 5);
});
