//! From setup to shutdown.

use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use sys::Status;

test!(create_before_startup_and_after_teardown, || {
    assert_eq!(sys::status(), Status::NotSetup);
    assert!(error_string().contains("no error"), "{}", error_string());
    assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
    assert_eq!(errno(), libc::EPERM);
    if OCAML5 {
        assert!(!unsafe { sys::boxroot_setup() }, "no runtime, no lock");
    }
    start_runtime();
    if OCAML5 {
        assert!(unsafe { sys::boxroot_create(int(1)) }.is_some(), "the first create sets up");
    } else {
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert!(error_string().contains("boxroot_setup"), "{}", error_string());
    }
    assert!(unsafe { sys::boxroot_setup() && sys::boxroot_setup() });
    assert_eq!(sys::status(), Status::Running);
    let mut kept = root(1);
    unsafe { sys::boxroot_teardown() }
    assert_eq!(sys::status(), Status::ToreDown);
    assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
    assert_eq!(errno(), libc::EPERM);
    assert!(error_string().contains("teardown"), "{}", error_string());
    assert!(!modify(&mut kept, int(2)));
    assert!(!unsafe { sys::boxroot_setup() });
    full_major(); // the hooks are still installed, and do nothing
    delete(kept);
    unsafe { caml_shutdown() }
    assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
});

test!(delete_after_teardown_and_shutdown, || {
    start();
    let all = roots(0..20_000);
    let (first, rest) = all.split_at(5000);
    let (second, rest) = rest.split_at(5000);
    let (third, fourth) = rest.split_at(5000);
    unsafe { sys::boxroot_teardown() }
    delete_all(first);
    let second = Roots(second.to_vec());
    on_foreign_thread(move || delete_all(&{ second }.0));
    unsafe { caml_shutdown() }
    delete_all(third);
    let fourth = Roots(fourth.to_vec());
    std::thread::spawn(move || delete_all(&{ fourth }.0)).join().unwrap();
    unsafe { sys::boxroot_teardown() } // twice
    assert_eq!(sys::status(), Status::ToreDown);
});

test!(delete_in_a_static_destructor, || {
    start();
    hand_over(roots(0..10_000));
    extern "C" fn at_exit() {
        delete_handed_over(int(10_000));
        assert_eq!(HANDED_OVER.lock().unwrap().0.len(), 0);
    }
    unsafe {
        libc::atexit(at_exit);
        caml_shutdown();
    }
});
