//! Threads of one domain, threads without the lock, and the ends of threads.

use crate::common::*;
use crate::support::*;
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use sys::{BoxRoot, Value};

pub fn create_and_modify_without_the_lock() {
    start();
    let kept = Roots(vec![root(9)]);
    let kept = on_foreign_thread(move || {
        let mut kept = kept;
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert_eq!(errno(), libc::EPERM);
        assert!(error_string().contains("does not hold the lock"), "{}", error_string());
        let before = kept.0[0];
        assert!(!modify(&mut kept.0[0], int(1)));
        assert_eq!(errno(), libc::EPERM);
        assert_eq!(kept.0[0], before);
        kept
    });
    // The same on a thread that OCaml knows, in a blocking section.
    without_lock(|| {
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert!(!modify(&mut { kept.0[0] }, int(1)));
        assert_eq!(sys::lock_state(), sys::LockState::NotHeld);
    });
    assert_eq!(sys::lock_state(), sys::LockState::Held);
    assert_eq!(live(), 1);
    stress();
    check(kept.0[0], 9);
}

pub fn delete_without_the_lock() {
    start();
    ocaml("minor_heap_words", &[int(8192)]);
    for _ in 0..10 {
        // Interleaved, so that every pool has both kinds.
        let all = roots(0..100_000);
        let (kept, deleted): (Vec<_>, Vec<_>) =
            all.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
        with_foreign_deleters(2, deleted, |round| {
            ocaml("churn", &[int(1000)]);
            if round % 4 == 0 {
                full_major();
            }
        });
        stress();
        assert_eq!(live(), 50_000);
        kept.iter().enumerate().for_each(|(i, &r)| check(r, 2 * i));
        delete_all(&kept);
        assert_eq!(live(), 0);
    }
}

/// Deletes what it holds when its thread ends.
struct OnThreadExit(std::cell::RefCell<Vec<BoxRoot>>);

impl Drop for OnThreadExit {
    fn drop(&mut self) {
        delete_all(&self.0.borrow());
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
}

thread_local! {
    static ON_THREAD_EXIT: OnThreadExit = const { OnThreadExit(std::cell::RefCell::new(Vec::new())) };
}

pub fn delete_in_thread_local_destructors() {
    start();
    let kept = roots(0..1000);
    extern "C" fn body(n: Value) -> Value {
        ON_THREAD_EXIT.with(|on_exit| *on_exit.0.borrow_mut() = roots(0..to_int(n)));
        UNIT
    }
    let (how, join) = if OCAML5 { ("spawn", "join_all") } else { ("thread", "join_threads") };
    for _ in 0..50 {
        for _ in 0..4 {
            call_rust(how, body, 2000);
        }
        ocaml("churn", &[int(1000)]);
        ocaml(join, &[UNIT]);
        // The threads may still be running their destructors, without the lock, while we
        // create and delete.
        delete_all(&roots(0..1000));
        full_major();
    }
    call_rust("thread", body, 2000);
    ocaml("join_threads", &[UNIT]);
    let expected = 50 * 4 + 1;
    without_lock(|| wait_for(&CALLS, expected));
    stress();
    assert_eq!(live(), 1000);
    check_all(&kept, 0);
}

pub fn a_thread_registers_again() {
    start();
    let kept = root(17);
    on_foreign_thread(|| {
        for i in 0..5 {
            assert_eq!(unsafe { caml_c_thread_register() }, 1);
            unsafe { caml_leave_blocking_section() };
            let made = roots(0..1000);
            full_major();
            check_all(&made, 0);
            delete_all(&made[..500]);
            hand_over(made[500..].to_vec());
            unsafe { caml_enter_blocking_section() };
            delete_handed_over(int(250));
            assert_eq!(unsafe { caml_c_thread_unregister() }, 1);
            assert_eq!(unsafe { sys::boxroot_create(int(i)) }, None, "unregistered: no lock");
        }
    });
    stress();
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    assert_eq!(left.len(), 5 * 250);
    assert_eq!(live(), 1 + 5 * 250);
    check(kept, 17);
    delete_all(&left);
}

pub fn threads_of_ocaml_take_turns() {
    start();
    let kept = roots(0..1000);
    extern "C" fn body(n: Value) -> Value {
        let mut mine = roots(0..to_int(n));
        for round in 0..50 {
            ocaml("yield", &[UNIT]);
            let i = round * 37 % mine.len();
            delete(mine[i]);
            mine[i] = root(i);
            assert!(modify(
                &mut mine[(i + 1) % to_int(n)],
                ocaml("string", &[int((i + 1) % to_int(n))])
            ));
            if round % 10 == 0 {
                without_lock(std::thread::yield_now);
                full_major();
            }
        }
        check_all(&mine, 0);
        // Other threads delete the second half.
        delete_all(&mine[..mine.len() / 2]);
        hand_over(mine.split_off(mine.len() / 2));
        UNIT
    }
    for _ in 0..8 {
        call_rust("thread", body, 1000);
    }
    if OCAML5 {
        // A domain with threads of its own.
        extern "C" fn domain(n: Value) -> Value {
            for _ in 0..3 {
                call_rust("thread", body, to_int(n));
            }
            body(n)
        }
        call_rust("spawn", domain, 1000);
        ocaml("join_all", &[UNIT]);
    }
    ocaml("join_threads", &[UNIT]);
    stress();
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    assert_eq!(live(), 1000 + left.len());
    check_all(&kept, 0);
    delete_all(&left);
    assert_eq!(live(), 1000);
}

/// On OCaml 4 a thread made by `Thread.create` gives the lock up at its end without calling a hook, and then runs its
/// thread-local destructors.
pub fn nothing_believes_the_lock_on_a_thread_that_ends() {
    start();
    static ENDING: AtomicUsize = AtomicUsize::new(0);
    static DONE: AtomicBool = AtomicBool::new(false);
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            ENDING.fetch_add(1, Ordering::SeqCst);
            while !DONE.load(Ordering::SeqCst) {
                assert_ne!(sys::lock_state(), sys::LockState::Held);
                assert_eq!(sys::boxroot_trim(), 0);
                assert!(sys::boxroot_validate().is_null());
                sys::boxroot_stats();
                // On OCaml 5 this thread knows that it does not hold the lock, and can attach again. On OCaml 4 it is
                // refused.
                assert!(OCAML5 || ocaml_boxroot::DomainLock::attach(|_| ()).is_err());
            }
            ENDING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    thread_local! {
        static LATE: Late = const { Late };
    }
    extern "C" fn body(_: Value) -> Value {
        LATE.with(|_| ());
        delete_all(&roots(0..5000));
        UNIT
    }
    call_rust("thread", body, 0);
    call_rust("thread", body, 0);
    ocaml("join_threads", &[UNIT]);
    without_lock(|| wait_for(&ENDING, 2));
    // The slots of live roots are distinct, whatever those threads do meanwhile.
    for _ in 0..100 {
        let all = roots(0..5000);
        check_all(&all, 0);
        delete_all(&all);
        validate();
    }
    DONE.store(true, Ordering::SeqCst);
    without_lock(|| {
        while ENDING.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    });
    assert_eq!(live(), 0);
}

/// A thread of `Thread.create` that sets the library up is not taken for the main thread, the only one that the library
/// trusts on OCaml 4.
pub fn setup_on_another_thread() {
    start_runtime();
    extern "C" fn body(_: Value) -> Value {
        assert!(unsafe { sys::boxroot_setup() });
        assert_eq!(sys::lock_state(), sys::LockState::Uncertain);
        hand_over(roots(0..100));
        UNIT
    }
    call_rust("thread", body, 0);
    ocaml("join_threads", &[UNIT]);
    // On OCaml 4 deletes are remote on every thread then, and statistics are those of the last major scan.
    stress();
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    check_all(&left, 0);
    delete_all(&left);
    stress();
    assert_eq!(live(), 0);
}
