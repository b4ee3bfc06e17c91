//! Coroutines with their own stacks.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::{addr_of, addr_of_mut, null_mut};

struct Contexts {
    inside: libc::ucontext_t,
    outside: libc::ucontext_t,
    body: Option<fn()>,
}

/// A function that runs until it suspends itself, and goes on when it is resumed. Its memory is
/// leaked.
pub struct Coroutine(*mut Contexts);

thread_local! {
    static RUNNING: Cell<*mut Contexts> = const { Cell::new(null_mut()) };
}

extern "C" fn run() {
    // SAFETY: a coroutine runs, and no other code uses its body.
    let body = unsafe { addr_of_mut!((*RUNNING.get()).body).as_mut() }.unwrap().take();
    body.unwrap()();
}

impl Coroutine {
    pub fn new(body: fn()) -> Coroutine {
        Coroutine::on(vec![0; 4 << 20].leak(), body)
    }

    pub fn on(stack: &'static mut [u8], body: fn()) -> Coroutine {
        // SAFETY: all zeros is a valid value of the struct.
        let context = || unsafe { MaybeUninit::<libc::ucontext_t>::zeroed().assume_init() };
        let me = Box::into_raw(Box::new(Contexts {
            inside: context(),
            outside: context(),
            body: Some(body),
        }));
        // SAFETY: the box is leaked, and the stack is static. When `run` returns, `outside` goes
        // on, as `resume` left it.
        unsafe {
            assert_eq!(libc::getcontext(addr_of_mut!((*me).inside)), 0);
            (*me).inside.uc_stack.ss_sp = stack.as_mut_ptr().cast();
            (*me).inside.uc_stack.ss_size = stack.len();
            (*me).inside.uc_link = addr_of_mut!((*me).outside);
            libc::makecontext(addr_of_mut!((*me).inside), run, 0);
        }
        Coroutine(me)
    }

    /// Runs the coroutine until it suspends itself, or ends. It must not have ended yet.
    pub fn resume(&self) {
        let me = self.0;
        let outer = RUNNING.replace(me);
        // SAFETY: both contexts are valid, and belong to a coroutine that does not run.
        assert_eq!(
            unsafe { libc::swapcontext(addr_of_mut!((*me).outside), addr_of!((*me).inside)) },
            0
        );
        RUNNING.set(outer);
    }
}

/// Suspends the coroutine that runs.
pub fn suspend() {
    let me = RUNNING.get();
    // SAFETY: both contexts are valid, and belong to the coroutine that runs.
    assert_eq!(
        unsafe { libc::swapcontext(addr_of_mut!((*me).inside), addr_of!((*me).outside)) },
        0
    );
}
