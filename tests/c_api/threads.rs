//! Threads of one domain, threads without the lock, and the ends of threads.

use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use sys::{BoxRoot, Value};

test!(create_and_modify_without_the_lock, || {
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
});

test!(delete_without_the_lock, || {
    start();
    ocaml("minor_heap_words", &[int(8192)]);
    for _ in 0..10 {
        // The two kinds are interleaved, so that every pool has both.
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
});

/// Deletes its roots when its thread ends.
struct OnThreadExit(RefCell<Vec<BoxRoot>>);

impl Drop for OnThreadExit {
    fn drop(&mut self) {
        delete_all(&self.0.borrow());
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
}

thread_local! {
    static ON_THREAD_EXIT: OnThreadExit = const { OnThreadExit(RefCell::new(Vec::new())) };
}

test!(delete_in_thread_local_destructors, || {
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
});

test!(a_thread_registers_again, || {
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
    let left = take_handed_over();
    assert_eq!(left.len(), 5 * 250);
    assert_eq!(live(), 1 + 5 * 250);
    check(kept, 17);
    delete_all(&left);
});

test!(threads_of_ocaml_take_turns, || {
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
        // A domain with several threads.
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
    let left = take_handed_over();
    assert_eq!(live(), 1000 + left.len());
    check_all(&kept, 0);
    delete_all(&left);
    assert_eq!(live(), 1000);
});

/// How a thread may end, as functions of testlib.ml.
const ENDS: [&str; 3] = ["thread", "thread_that_exits", "thread_that_raises"];

fn deferred() -> u64 {
    sys::boxroot_stats().deferred_deletes
}

/// Called in the only domain.
extern "C" fn delete_at_once(_: Value) -> Value {
    assert_eq!(sys::lock_state(), sys::LockState::Held);
    let (live_before, deferred_before) = (live(), deferred());
    let mut all = roots(0..5000);
    finish_marking();
    assert!(modify(&mut all[0], int(1)));
    delete_all(&all);
    assert_eq!((live(), deferred()), (live_before, deferred_before));
    assert!(sys::boxroot_trim() > 0);
    UNIT
}

fn register_and_delete_twice() {
    for _ in 0..2 {
        assert_eq!(unsafe { caml_c_thread_register() }, 1);
        unsafe { caml_leave_blocking_section() };
        delete_at_once(UNIT);
        unsafe { caml_enter_blocking_section() };
        assert_eq!(unsafe { caml_c_thread_unregister() }, 1);
    }
}

test!(every_thread_deletes_at_once, || {
    start();
    delete_at_once(UNIT);
    for how in ENDS {
        call_rust(how, delete_at_once, 0);
        ocaml("join_threads", &[UNIT]);
    }
    on_foreign_thread(register_and_delete_twice);
    if !OCAML5 {
        extern "C" fn fork_twice(_: Value) -> Value {
            assert_eq!(ocaml("fork", &[int(delete_at_once as *const () as usize), UNIT]), int(0));
            UNIT
        }
        call_rust("thread", fork_twice, 0);
        call_rust("thread_that_forks", delete_at_once, 0);
        ocaml("join_threads", &[UNIT]);
    }
    delete_at_once(UNIT);
});

// Workers that leave signals to other threads block all signals, like OCaml's backup threads. The
// first create shows that a thread is not a backup thread.
test!(threads_that_block_all_signals_delete_at_once, || {
    start();
    on_foreign_thread(|| {
        // SAFETY: the set is filled before it is read.
        unsafe {
            let mut all = std::mem::zeroed();
            libc::sigfillset(&mut all);
            assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut()), 0);
        }
        assert_eq!(unsafe { caml_c_thread_register() }, 1);
        unsafe { caml_leave_blocking_section() };
        delete(root(1));
        delete_at_once(UNIT);
        unsafe { caml_enter_blocking_section() };
        assert_eq!(unsafe { caml_c_thread_unregister() }, 1);
        register_and_delete_twice();
    });
    delete_at_once(UNIT);
});

// The guide's callback: under the lock, in a blocking section, and on a thread that OCaml does not
// know, or knows already.
test!(a_callback_on_any_thread, || {
    start();
    let listener = Roots(vec![root_of(ocaml("listener", &[UNIT]))]);
    let event = |listener: &Roots| unsafe { on_event(listener.0[0]) };
    event(&listener);
    without_lock(|| event(&listener));
    let listener = on_foreign_thread(move || {
        let listener = listener;
        event(&listener);
        event(&listener);
        assert_eq!(unsafe { caml_c_thread_register() }, 1);
        assert_eq!(unsafe { caml_c_thread_register() }, 0);
        event(&listener);
        assert_eq!(unsafe { caml_c_thread_unregister() }, 1);
        event(&listener);
        listener
    });
    assert_eq!(ocaml("events", &[UNIT]), int(6));
    delete_all(&listener.0);
});

/// The numbers of threads that are running the destructors of their `Late`, and that have run them.
static ENDING: AtomicUsize = AtomicUsize::new(0);

static ENDED: AtomicUsize = AtomicUsize::new(0);

static DONE: AtomicBool = AtomicBool::new(false);

/// A thread-local destructor repeats this until `DONE`. It holds no lock.
struct Late(RefCell<Vec<BoxRoot>>);

impl Drop for Late {
    fn drop(&mut self) {
        ENDING.fetch_add(1, Ordering::SeqCst);
        let roots = self.0.get_mut();
        while !DONE.load(Ordering::SeqCst) || !roots.is_empty() {
            assert_ne!(sys::lock_state(), sys::LockState::Held);
            assert_eq!(sys::boxroot_trim(), 0);
            assert!(sys::boxroot_validate().is_null());
            sys::boxroot_stats();
            // On OCaml 5 this thread knows that it does not hold the lock, and can attach again. On
            // OCaml 4 it is refused.
            assert!(OCAML5 || ocaml_boxroot::DomainLock::with(|_| ()).is_err());
            if let Some(mut root) = roots.pop() {
                if sys::lock_state() == sys::LockState::NotHeld {
                    assert!(!modify(&mut root, UNIT));
                    assert_eq!(unsafe { sys::boxroot_create(UNIT) }, None);
                }
                delete(root);
            }
        }
        ENDING.fetch_sub(1, Ordering::SeqCst);
        ENDED.fetch_add(1, Ordering::SeqCst);
    }
}

thread_local! {
    static LATE: Late = const { Late(RefCell::new(Vec::new())) };
}

extern "C" fn end_late(n: Value) -> Value {
    LATE.with(|late| *late.0.borrow_mut() = roots(0..to_int(n)));
    delete_all(&roots(0..5000));
    UNIT
}

/// For each way in which a thread may end, starts one with such a destructor.
fn threads_that_end_late() {
    for how in ENDS {
        call_rust(how, end_late, 100);
    }
    ocaml("join_threads", &[UNIT]);
    without_lock(|| wait_for(&ENDING, ENDS.len()));
}

fn wait_until_all_have_ended() {
    DONE.store(true, Ordering::SeqCst);
    while ENDING.load(Ordering::SeqCst) > 0 {
        std::thread::yield_now();
    }
}

fn use_roots_beside_threads_that_end() {
    extern "C" fn in_child(n: Value) -> Value {
        DONE.store(true, Ordering::SeqCst);
        end_late(n)
    }
    call_rust("thread_that_forks", in_child, 100);
    ocaml("join_threads", &[UNIT]);
    threads_that_end_late();
    // The slots of live roots are distinct, whatever those threads do meanwhile.
    for _ in 0..100 {
        let all = roots(0..5000);
        check_all(&all, 0);
        delete_all(&all);
        validate();
    }
    without_lock(wait_until_all_have_ended);
    stress();
    assert_eq!(live(), 0);
}

// On OCaml 4, a thread of the `Thread` module releases the lock at its end without calling a hook,
// and then runs its thread-local destructors.
test!(nothing_believes_the_lock_on_a_thread_that_ends, || {
    start();
    use_roots_beside_threads_that_end();
});

// Threads whose ends the library cannot notice.
test!(nothing_believes_the_lock_without_events, ocaml = 4, || {
    start_runtime();
    unsafe { test_set_event_status(2) };
    assert!(unsafe { sys::boxroot_setup() });
    unsafe { test_set_event_status(0) };
    call_rust("thread", is_uncertain, 0);
    use_roots_beside_threads_that_end();
});

extern "C" fn is_uncertain(_: Value) -> Value {
    assert_eq!(sys::lock_state(), sys::LockState::Uncertain);
    UNIT
}

test!(events_of_another_name, ocaml = 4, || {
    start_runtime();
    unsafe { test_rename_events(true) };
    assert!(unsafe { sys::boxroot_setup() });
    unsafe { test_rename_events(false) };
    call_rust("thread", is_uncertain, 0);
    ocaml("join_threads", &[UNIT]);
});

// OCaml frees a thread's termination event only once, and only after the thread has ended.
test!(threads_end_after_the_runtime, ocaml = 4, || {
    start_runtime();
    unsafe { test_count_destroyed_events() };
    assert!(unsafe { sys::boxroot_setup() });
    let destroyed = || unsafe { test_destroyed_events() };
    on_foreign_thread(register_and_delete_twice);
    full_major();
    assert_eq!(destroyed(), 2);
    threads_that_end_late();
    full_major();
    assert_eq!(destroyed(), 2, "the other threads have not ended");
    without_lock(wait_until_all_have_ended);
    // Each thread has one more destructor, the library's own.
    while destroyed() < 2 + ENDS.len() {
        without_lock(std::thread::yield_now);
        full_major();
    }
    full_major();
    assert_eq!(destroyed(), 2 + ENDS.len());
    DONE.store(false, Ordering::SeqCst);
    threads_that_end_late();
    unsafe { caml_shutdown() };
    assert_eq!(destroyed(), 2 + ENDS.len() + 1, "that of the main thread");
    wait_until_all_have_ended();
});

// OCaml frees everything before the destructors of the thread that called `exit` run.
test!(a_thread_exits_with_cleanup, ocaml = 4, environment = &[("OCAMLRUNPARAM", "c")], || {
    start();
    extern "C" fn require_an_end() {
        if ENDED.load(Ordering::SeqCst) != 1 {
            unsafe { libc::_exit(3) };
        }
    }
    assert_eq!(unsafe { libc::atexit(require_an_end) }, 0);
    extern "C" fn exit(n: Value) -> Value {
        DONE.store(true, Ordering::SeqCst);
        end_late(n);
        ocaml("exit", &[int(0)])
    }
    call_rust("thread", exit, 100);
    ocaml("join_threads", &[UNIT]);
    unreachable!("the process ends");
});

// A thread of `Thread.create` that sets the library up does not count as the main thread.
test!(setup_on_another_thread, ocaml = 4, || {
    start_runtime();
    static IS_SET_UP: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn body(_: Value) -> Value {
        assert!(unsafe { sys::boxroot_setup() });
        delete_at_once(UNIT);
        LATE.with(|_| ());
        IS_SET_UP.store(1, Ordering::SeqCst);
        UNIT
    }
    call_rust("thread", body, 0);
    without_lock(|| wait_for(&IS_SET_UP, 1));
    ocaml("join_threads", &[UNIT]);
    delete_at_once(UNIT);
    without_lock(wait_until_all_have_ended);
    stress();
    assert_eq!(live(), 0);
});
