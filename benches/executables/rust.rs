//! The loops of `benches/runtime/cell.h` in safe Rust. Roots are dropped with or without a token.

use crate::Implementation;
use ocaml_boxroot::raw::{DomainLockExt, ValueExt};
use ocaml_boxroot::{Boxroot, DomainLock, Function, RootRef, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::CStr;
use std::hint::black_box;

/// Calls `f` with a token. OCaml holds the lock.
fn with_lock(f: impl FnOnce(&mut DomainLock) -> sys::Value) -> sys::Value {
    let mut finished = false;
    // SAFETY: OCaml called, through C, outside a root scan. A panic is not raised as an exception
    // in OCaml: it aborts below.
    let result = unsafe {
        DomainLock::enter(|lock| {
            let result = f(lock);
            finished = true;
            result
        })
    };
    if !finished {
        std::process::abort();
    }
    result
}

/// The type of values whose contents do not matter.
enum Any {}

/// A level of the interface, with or without a token.
trait Level {
    type Root;
    fn create(lock: &DomainLock, value: Value<'_, Any>) -> Self::Root;
    fn get(lock: &DomainLock, root: &Self::Root) -> sys::Value;
    fn set(lock: &DomainLock, root: &mut Self::Root, value: Value<'_, Any>);
    fn delete(lock: &DomainLock, root: Self::Root);
}

struct Token;
impl Level for Token {
    type Root = Boxroot<Any>;
    fn create(lock: &DomainLock, value: Value<'_, Any>) -> Boxroot<Any> {
        Boxroot::new(lock, value)
    }
    fn get(lock: &DomainLock, root: &Boxroot<Any>) -> sys::Value {
        root.get(lock).raw()
    }
    fn set(lock: &DomainLock, root: &mut Boxroot<Any>, value: Value<'_, Any>) {
        root.set(lock, value)
    }
    fn delete(lock: &DomainLock, root: Boxroot<Any>) {
        root.delete_in(lock)
    }
}

/// Differs only in the delete.
struct Drops;
impl Level for Drops {
    type Root = Boxroot<Any>;
    fn create(lock: &DomainLock, value: Value<'_, Any>) -> Boxroot<Any> {
        Token::create(lock, value)
    }
    fn get(lock: &DomainLock, root: &Boxroot<Any>) -> sys::Value {
        Token::get(lock, root)
    }
    fn set(lock: &DomainLock, root: &mut Boxroot<Any>, value: Value<'_, Any>) {
        Token::set(lock, root, value)
    }
    fn delete(_: &DomainLock, root: Boxroot<Any>) {
        drop(root)
    }
}

const UNIT: sys::Value = 1;

/// A value that OCaml or C passes to a loop. The loop does not run the collector.
fn value(_: &DomainLock, raw: sys::Value) -> Value<'_, Any> {
    // SAFETY: valid, and the token is borrowed.
    unsafe { Value::from_raw(raw) }
}

/// The loops of one level.
struct Loops<L>(L);

impl<L: Level> Loops<L> {
    const fn implementation(name: &'static CStr) -> Implementation<L::Root> {
        Implementation {
            name: name.as_ptr(),
            prepare: Self::prepare,
            pairs: Self::pairs,
            create: Self::create,
            get: Self::get,
            modify: Self::modify,
            delete: Self::delete,
        }
    }

    extern "C" fn prepare() {
        with_lock(|_| UNIT);
    }

    extern "C" fn pairs(n: isize) {
        with_lock(|lock| {
            for i in 0..n {
                L::delete(lock, L::create(lock, value(lock, (i << 1) | 1)));
            }
            UNIT
        });
    }

    /// Safety: room for `n` roots, and `n` valid values.
    unsafe extern "C" fn create(roots: *mut L::Root, values: *const sys::Value, n: isize) {
        with_lock(|lock| {
            for i in 0..n {
                // SAFETY: within both arrays; the old content is not a root.
                unsafe { roots.offset(i).write(L::create(lock, value(lock, *values.offset(i)))) }
            }
            UNIT
        });
    }

    /// Safety: `n` roots.
    unsafe extern "C" fn get(roots: *const L::Root, n: isize) -> sys::Value {
        with_lock(|lock| {
            // SAFETY: `n` roots (caller).
            let roots = unsafe { std::slice::from_raw_parts(roots, n as usize) };
            roots.iter().fold(0, |sum, root| sum ^ L::get(lock, root)) | 1
        })
    }

    /// Safety: `n` roots, and a valid value.
    unsafe extern "C" fn modify(roots: *mut L::Root, raw: sys::Value, n: isize) {
        with_lock(|lock| {
            // SAFETY: `n` roots (caller).
            let roots = unsafe { std::slice::from_raw_parts_mut(roots, n as usize) };
            for root in roots {
                L::set(lock, root, value(lock, raw));
            }
            UNIT
        });
    }

    /// Safety: `n` roots, which are not used again.
    unsafe extern "C" fn delete(roots: *const L::Root, n: isize) {
        with_lock(|lock| {
            for i in 0..n {
                // SAFETY: one of `n` roots, each moved out once.
                L::delete(lock, unsafe { roots.offset(i).read() });
            }
            UNIT
        });
    }
}

#[no_mangle]
static rust_token_implementation: Implementation<Boxroot<Any>> =
    Loops::<Token>::implementation(c"rust_token");
#[no_mangle]
static rust_drop_implementation: Implementation<Boxroot<Any>> =
    Loops::<Drops>::implementation(c"rust_drop");

// ---- local_roots ----

/// The type of OCaml's `float`.
enum Float {}

type OnFloats = Function<(Float,), Float>;

fn to_f64(value: Value<'_, Float>) -> f64 {
    // SAFETY: a live boxed float.
    unsafe { *(value.raw() as *const f64) }
}

/// Not inlined: it stands for a longer function, as in C.
#[inline(never)]
fn agree(lock: &DomainLock, x: &RootRef<Float>, y: &RootRef<Float>) -> bool {
    to_f64(x.get(lock)) == to_f64(y.get(lock))
}

/// The caller keeps the root `f` until all recursive calls have returned, and gives away the root
/// `x`.
fn fixpoint(lock: &mut DomainLock, f: &RootRef<OnFloats>, x: Boxroot<Float>) -> Boxroot<Float> {
    let mut x = x;
    loop {
        let (result, lock) = f.call(lock, &x).expect("no exception");
        let y = Boxroot::new(lock, result);
        let reached = agree(lock, &x, &y);
        x.delete_in(lock);
        if reached {
            return y;
        }
        x = y;
    }
}

#[no_mangle]
extern "C" fn rust_token_fixpoint(f: sys::Value, x: sys::Value) -> sys::Value {
    with_lock(|lock| {
        // SAFETY: arguments from OCaml, of these types, rooted before the collector runs.
        let (f, x): (Value<'_, OnFloats>, Value<'_, Float>) =
            unsafe { (Value::from_raw(f), Value::from_raw(x)) };
        let (f, x) = (Boxroot::new(lock, f), Boxroot::new(lock, x));
        let y = fixpoint(lock, &f, x);
        let result = y.get(lock).raw();
        y.delete_in(lock);
        f.delete_in(lock);
        result
    })
}

// ---- attach ----

/// Takes and releases the lock `n` times, through a token.
#[no_mangle]
extern "C" fn rust_token_attach(n: sys::Value) -> sys::Value {
    with_lock(|lock| {
        lock.release(|| {
            for _ in 0..n >> 1 {
                DomainLock::with(|lock| {
                    black_box(lock);
                })
                .expect("the thread is known to OCaml");
            }
        });
        UNIT
    })
}

extern "C" {
    fn caml_enter_blocking_section_no_pending();
    fn caml_leave_blocking_section();
}

/// The same with the runtime's own functions.
#[no_mangle]
extern "C" fn runtime_attach(n: sys::Value) -> sys::Value {
    with_lock(|lock| {
        lock.release(|| {
            for _ in 0..n >> 1 {
                // SAFETY: this thread is known to OCaml and does not hold the lock.
                unsafe {
                    caml_leave_blocking_section();
                    caml_enter_blocking_section_no_pending();
                }
            }
        });
        UNIT
    })
}
