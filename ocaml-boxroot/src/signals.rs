//! Handlers of signals that other libraries have installed.

use crate::ffi;
use std::io;

/// Has the handler of a signal run on the signal stacks of threads, as OCaml 5 needs it: sets `SA_ONSTACK` for the handler, and
/// blocks other signals while it runs (`sa_mask`), because these stacks have no room for handlers that interrupt each other.
///
/// OCaml 5 runs OCaml code on stacks that it allocates. Below an effect handler they are small, some hundred bytes at first. If a
/// signal arrives there, and its handler runs on the stack that it interrupts, it overwrites OCaml's memory. Most libraries
/// install such handlers: `signal-hook`, `ctrlc`, `tokio::signal`. The handler of `SIGSEGV` is not meant: Rust sets `SA_ONSTACK` for it.
///
/// So call this for each signal, after the library has installed its handler (in tokio, the first `signal` for each kind of signal
/// does so), and before OCaml code runs on a thread that may receive the signal. `tokio::process` installs a handler of `SIGCHLD` when
/// it needs one, which on Linux may be late: when the future of a process that runs is dropped. So let `signal(SignalKind::child())`
/// install it at the start, if the program uses `tokio::process`.
///
/// For handlers of OCaml's `Sys.signal`, OCaml sets `SA_ONSTACK`, but it blocks no other signals. Call this for them, too, each time
/// that OCaml has set them, unless they are all handlers of the program, and no more than two. (Otherwise signals that arrive at once
/// may overflow the signal stack of a thread of Rust, whether it uses OCaml or not.)
///
/// If a thread calls [`std::process::exit`], Rust takes away the main thread's signal stack. So start OCaml on the main thread, or
/// attach there once: then the main thread has one that stays.
///
/// Any thread may call this. It reads the action for the signal, and then writes it: if another thread replaces or removes
/// the handler in between, that change is lost. On OCaml 4, this does nothing: OCaml code runs on the thread's stack.
///
/// # Safety
///
/// On OCaml 5, the handler must not need more of a stack than signal stacks have, of all threads that may receive the signal. All
/// threads of Rust, and all threads that use OCaml, have a signal stack of some 8 KiB, not always with a guard page; some 4 KiB are
/// left for the handler. That is enough for handlers that set a flag or write to a pipe, as those of the libraries above do. It is
/// not enough for handlers that walk the stack, such as those of profilers: block their signals on threads that use OCaml.
///
/// # Errors
///
/// On OCaml 5: [`NotFound`](io::ErrorKind::NotFound) if the signal has no handler yet, or the system's error if there is no such signal.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{use_signal_stack, DomainLock, Runtime};
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// static RELOAD: AtomicBool = AtomicBool::new(false);
///
/// extern "C" fn reload(_: i32) {
///     RELOAD.store(true, Ordering::Relaxed);
/// }
///
/// extern "C" {
///     fn signal(signal: i32, handler: extern "C" fn(i32)) -> usize;
///     fn raise(signal: i32) -> i32;
/// }
/// const SIGHUP: i32 = 1;
///
/// Runtime::start()?;
/// // SAFETY: the handler only stores a flag. Libraries such as `signal-hook` do this in safe functions.
/// unsafe { signal(SIGHUP, reload) };
/// // SAFETY: the handler needs little of a stack.
/// unsafe { use_signal_stack(SIGHUP)? };
/// DomainLock::attach(|_lock| {
///     // OCaml code may run here.
///     // SAFETY: the signal has a handler.
///     unsafe { raise(SIGHUP) };
/// })?;
/// assert!(RELOAD.load(Ordering::Relaxed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias("sigaction", "sigaltstack", "SA_ONSTACK"))]
pub unsafe fn use_signal_stack(signal: i32) -> io::Result<()> {
    // SAFETY: the caller promises that the stacks are large enough for the handler.
    match unsafe { ffi::obx_use_signal_stack(signal) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
