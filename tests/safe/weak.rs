//! Weak roots.

use crate::support::safe::*;
use crate::support::values::{live, Counted};
use ocaml_boxroot::markers::OCamlBox;
use ocaml_boxroot::{
    ocaml_functions, Boxroot, DomainLock, OCamlInt, OCamlList, OCamlString, RootRef, ToOCaml,
    Value, WeakRoot,
};
use std::thread;

ocaml_functions! {
    unsafe {
        fn minor() = "minor";
    }
}

fn weak<T>(lock: &mut DomainLock, root: &RootRef<T>) -> WeakRoot<T> {
    WeakRoot::new(lock, root).unwrap()
}

/// The number in the value, and whether it is alive.
fn read(lock: &DomainLock, weak: &WeakRoot<OCamlString>) -> Option<usize> {
    weak.get(lock).map(|value| value.to_string_lossy().parse().unwrap())
}

test!(weak_roots_of_what_lives_and_dies, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        // Some of the values are young when they die, and some are old.
        let roots = strings(lock, 2000);
        let weak: Vec<WeakRoot<OCamlString>> = roots.iter().map(|root| weak(lock, root)).collect();
        churn(lock);
        let mut roots: Vec<_> = roots.into_iter().map(Some).collect();
        roots.iter_mut().step_by(2).for_each(|root| drop(root.take()));
        assert!((0..2000).all(|i| matches!(read(lock, &weak[i]), Some(n) if n == i)));
        full_major(lock);
        full_major(lock);
        for (i, weak) in weak.iter().enumerate() {
            assert_eq!(read(lock, weak), (i % 2 == 1).then_some(i));
            assert_eq!(weak.upgrade(lock).is_some(), i % 2 == 1);
        }
        roots.iter_mut().for_each(|root| drop(root.take()));
        minor(lock).unwrap();
        let again = weak[1].upgrade(lock).unwrap();
        full_major(lock);
        full_major(lock);
        assert_eq!(read(lock, &weak[1]), Some(1));
        assert_eq!(weak.iter().filter(|weak| weak.get(lock).is_some()).count(), 1);
        assert_eq!(again.get(lock).to_string_lossy(), "1");
    });
    assert_no_roots();
});

test!(weak_roots_of_young_values, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let root = string(lock, "7");
        let young = weak(lock, &root);
        minor(lock).unwrap();
        assert_eq!(read(lock, &young), Some(7));
        drop(root);
        full_major(lock);
        full_major(lock);
        assert_eq!(read(lock, &young), None);
        let number: Boxroot<OCamlInt> = 7.to_ocaml(lock).unwrap();
        let number = weak(lock, &number);
        full_major(lock);
        assert_eq!(number.get(lock).map(Value::to_int), Some(7));
    });
    assert_no_roots();
});

test!(weak_roots_of_boxes, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let root: Boxroot<OCamlBox<Counted>> = boxed(lock, Counted::new(7));
        let weak = weak(lock, &root);
        full_major(lock);
        assert_eq!(weak.get(lock).unwrap().get().number(), 7);
        drop(root);
        assert_eq!((weak.get(lock).unwrap().get().number(), live()), (7, 1));
        full_major(lock);
        full_major(lock);
        assert!(weak.get(lock).is_none());
        full_major(lock);
        assert_eq!(live(), 0);
    });
    assert_no_roots();
});

// At some upgrade, marking has begun, but has not reached the value, which only the weak root
// refers to.
test!(weak_roots_upgraded_during_marking, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let live: Boxroot<OCamlList<OCamlInt>> = vec![7; 300_000].to_ocaml(lock).unwrap();
        let mut upgraded = 0;
        for _ in 0..10 {
            let roots = strings(lock, 500);
            let weak: Vec<WeakRoot<OCamlString>> =
                roots.iter().map(|root| weak(lock, root)).collect();
            minor(lock).unwrap();
            drop(roots);
            let mut kept = Vec::new();
            for (i, weak) in weak.iter().enumerate() {
                churn_a_little(lock);
                lock.alloc_string([b'g'; 40_000]).unwrap();
                kept.extend(weak.upgrade(lock).map(|root| (i, root)));
            }
            full_major(lock);
            churn(lock);
            for (i, root) in &kept {
                assert_eq!(root.get(lock).to_string_lossy(), i.to_string());
                assert_eq!(read(lock, &weak[*i]), Some(*i));
            }
            upgraded += kept.len();
        }
        assert!((1..5000).contains(&upgraded), "{upgraded}");
        drop(live);
    });
    assert_no_roots();
});

test!(weak_roots_on_other_threads, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let roots = strings(lock, 100);
        let weak: Vec<WeakRoot<OCamlString>> = roots.iter().map(|root| weak(lock, root)).collect();
        lock.release(|| {
            thread::spawn(move || {
                DomainLock::with(|lock| {
                    assert!((0..100).all(|i| read(lock, &weak[i]) == Some(i)));
                    drop(roots);
                    full_major(lock);
                    full_major(lock);
                    assert!((0..100).all(|i| read(lock, &weak[i]).is_none()));
                })
                .unwrap();
                drop(weak); // without the lock
            })
            .join()
            .unwrap();
        });
    });
    assert_no_roots();
});

/// Limits the memory of the process to its current memory and a little more.
#[cfg(target_os = "linux")]
pub fn limit_memory() {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    // SAFETY: no precondition.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let bytes = pages * page + (8 << 20);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: `limit` is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

// On the debug runtime, a check of the whole heap (V=1) would abort for lack of memory.
#[cfg(target_os = "linux")]
test!(weak_roots_where_memory_runs_out, environment = &[("OCAMLRUNPARAM", "V=0")], || {
    with_ocaml(|lock| {
        let root = string(lock, "7");
        minor(lock).unwrap();
        limit_memory();
        let error = loop {
            match WeakRoot::new(lock, &root) {
                Ok(weak) => std::mem::forget(weak),
                Err(error) => break error,
            }
        };
        assert_eq!(error, ocaml_boxroot::ConversionErrorKind::OutOfMemory.into());
        assert_eq!(root.get(lock).to_string_lossy(), "7");
    });
});
