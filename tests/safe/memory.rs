//! Conversions of data that is larger than the remaining memory.

use crate::support::safe::*;
use ocaml_boxroot::bigarray::OCamlArray1;
use ocaml_boxroot::markers::{OCamlMap, OCamlSet};
use ocaml_boxroot::{
    ocaml_functions, Boxroot, ConversionError, ConversionErrorKind, DomainLock, FromOCaml,
    OCamlArray, OCamlBytes, OCamlFloat, OCamlInt, OCamlList, OCamlString, ToOCaml,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rust's allocator, which refuses blocks of more than `LARGEST` bytes.
struct Limited;

#[global_allocator]
static MEMORY: Limited = Limited;

static LARGEST: AtomicUsize = AtomicUsize::new(usize::MAX);

static REQUESTED: AtomicUsize = AtomicUsize::new(0);

/// Counts a request for a block of that size. Returns whether to refuse it.
fn refuses(size: usize) -> bool {
    REQUESTED.fetch_add(size, Ordering::Relaxed);
    size > LARGEST.load(Ordering::Relaxed)
}

/// The total size in bytes of all blocks that were ever requested.
pub fn requested() -> usize {
    REQUESTED.load(Ordering::Relaxed)
}

// SAFETY: every block is one of `System`'s.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if refuses(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(block, layout, size) }
    }
}

const N: usize = 10_000;

ocaml_functions! {
    unsafe {
        fn words(n: OCamlInt) -> OCamlMap<OCamlString, OCamlFloat> = "words";
        fn number_set(n: OCamlInt) -> OCamlSet<OCamlInt> = "number_set";
        fn fail(text: OCamlString) = "fail";
    }
}

/// Returns the result of `f` with little memory.
fn with_little_memory<R>(f: impl FnOnce() -> R) -> R {
    with_memory(N / 2, f)
}

fn with_memory<R>(largest: usize, f: impl FnOnce() -> R) -> R {
    LARGEST.store(largest, Ordering::Relaxed);
    let result = f();
    LARGEST.store(usize::MAX, Ordering::Relaxed);
    result
}

fn from_ocaml<T, R: FromOCaml<T>>(lock: &DomainLock, value: &Boxroot<T>) {
    let copy = with_little_memory(|| value.to_rust::<R>(lock).err());
    assert_eq!(
        copy,
        Some(ConversionErrorKind::OutOfMemory.into()),
        "{}",
        std::any::type_name::<R>()
    );
    assert!(value.to_rust::<R>(lock).is_ok());
}

fn there_and_back<T, R: FromOCaml<T> + ToOCaml<T> + Debug + PartialEq>(
    lock: &mut DomainLock,
    value: R,
) {
    let root = value.to_ocaml(lock).unwrap();
    from_ocaml::<T, R>(lock, &root);
    assert_eq!(root.to_rust(lock), Ok(value));
}

test!(conversions_where_memory_runs_out, || {
    with_ocaml(|lock| {
        there_and_back::<OCamlString, _>(lock, vec![b'x'; N]);
        there_and_back::<OCamlBytes, _>(lock, vec![b'x'; N]);
        there_and_back::<OCamlList<OCamlInt>, _>(lock, vec![1; N]);
        there_and_back::<OCamlArray<OCamlInt>, _>(lock, vec![1; N]);
        there_and_back::<OCamlArray<OCamlFloat>, _>(lock, vec![0.5; N]);
        there_and_back::<OCamlArray<OCamlFloat>, _>(lock, [0.5; N]);
        there_and_back::<OCamlArray1<f64>, _>(lock, vec![0.5; N]);
        there_and_back::<Option<OCamlString>, _>(lock, Some(vec![b'x'; N]));
        let words = words(lock, N).unwrap();
        from_ocaml::<_, Vec<(String, f64)>>(lock, &words);
        let numbers = number_set(lock, N).unwrap();
        from_ocaml::<_, Vec<i64>>(lock, &numbers);
        // For floats that are already in the OCaml heap, a vector in Rust is made first.
        let half: Boxroot<OCamlFloat> = 0.5.to_ocaml(lock).unwrap();
        let halves = vec![&half; N];
        let floats = with_little_memory(|| halves.to_ocaml(lock));
        let _: &Result<Boxroot<OCamlArray<OCamlFloat>>, ConversionError> = &floats;
        assert_eq!(floats.err(), Some(ConversionErrorKind::OutOfMemory.into()));
    });
    assert_no_roots();
});

// A hash table takes more memory at once than the vector that is made before it.
test!(hash_tables_where_memory_runs_out, || {
    with_ocaml(|lock| {
        let numbers: Boxroot<OCamlSet<OCamlInt>> = number_set(lock, 1000).unwrap();
        let copy = with_memory(10_000, || numbers.to_rust::<HashSet<i64>>(lock));
        assert_eq!(copy, Err(ConversionErrorKind::OutOfMemory.into()));
        let copy = with_memory(10_000, || numbers.to_rust::<BTreeSet<i64>>(lock));
        assert_eq!(copy.unwrap().len(), 1000);
        let pairs: Vec<(i64, i64)> = (0..1000).map(|i| (i, i)).collect();
        let pairs: Boxroot<OCamlList<(OCamlInt, OCamlInt)>> = pairs.to_ocaml(lock).unwrap();
        let copy = with_memory(20_000, || pairs.to_rust::<HashMap<i64, i64>>(lock));
        assert_eq!(copy, Err(ConversionErrorKind::OutOfMemory.into()));
        let copy = with_memory(20_000, || pairs.to_rust::<BTreeMap<i64, i64>>(lock));
        assert_eq!(copy.unwrap().len(), 1000);
    })
});

test!(exceptions_where_memory_runs_out, || {
    with_ocaml(|lock| {
        let text = "x".repeat(N).to_ocaml(lock).unwrap();
        let error = with_little_memory(|| fail(lock, &text).unwrap_err());
        let cut = |x: &str| format!("OCaml exception: Failure(\"{}", x.repeat(246));
        assert_eq!(error.to_string(), cut("x"));
        let whole = fail(lock, &text).unwrap_err().to_string();
        assert_eq!(whole.len(), "OCaml exception: Failure(\"\")".len() + N);
        // A copy with U+FFFD takes more memory than the string.
        let text = vec![0xff; N].to_ocaml(lock).unwrap();
        let error = with_memory(2 * N, || fail(lock, &text).unwrap_err());
        assert_eq!(error.to_string(), cut("\u{fffd}"));
        // A short text takes no separate memory, and a clone takes no memory at all.
        let text = "no tea".to_ocaml(lock).unwrap();
        let before = requested();
        let error = fail(lock, &text).unwrap_err();
        let taken = requested() - before;
        assert!(taken <= 128, "{taken}");
        let copy = error.clone();
        assert_eq!(requested() - before, taken);
        assert_eq!(copy.to_string(), "OCaml exception: Failure(\"no tea\")");
    })
});
