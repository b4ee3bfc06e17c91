//! Handlers of signals that other libraries have installed.

use crate::ffi;

/// Has the handlers of signals that are installed now run on the signal stacks of threads, as OCaml 5 needs it: sets `SA_ONSTACK` for
/// each handler that does not have it.
///
/// OCaml 5 runs OCaml code on stacks that it allocates. Below an effect handler they are small, some hundred bytes at first. If a
/// signal arrives there, and its handler runs on the stack that it interrupts, it overwrites OCaml's memory. Most libraries
/// install such handlers: `signal-hook`, `ctrlc`, `tokio::signal` and `tokio::process`. Those of `SIGSEGV` and of OCaml's
/// `Sys.signal` are not meant: Rust and OCaml set `SA_ONSTACK` for them.
///
/// [`Runtime::start`](crate::Runtime::start) does the same for the handlers that are installed before. So a program that installs its
/// handlers first does not need this function. Otherwise, call it after each installation, before OCaml code runs on a
/// thread that may receive the signal. In tokio, the first `signal` for each kind of signal installs a handler, and so does the first
/// process that is started. In a program that OCaml started, call it after all installations.
///
/// All threads of Rust, and all threads that use OCaml, have a signal stack. It has some 8 KiB, which is enough for handlers that set a
/// flag or write to a pipe, as those of these libraries do.
///
/// Any thread may call this. It reads the action for each signal, and then writes it: if another thread replaces or removes
/// the handler of the same signal in between, that change is lost, and the handler from before is installed again. So call it where no other
/// thread does that.
///
/// On OCaml 4, this does nothing: OCaml code runs on the thread's stack.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{use_signal_stacks, DomainLock, Runtime};
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
/// use_signal_stacks();
/// DomainLock::attach(|_lock| {
///     // OCaml code may run here.
///     // SAFETY: the signal has a handler.
///     unsafe { raise(SIGHUP) };
/// })?;
/// assert!(RELOAD.load(Ordering::Relaxed));
/// # Ok::<(), ocaml_boxroot::Error>(())
/// ```
#[doc(alias("sigaction", "sigaltstack", "SA_ONSTACK"))]
pub fn use_signal_stacks() {
    // SAFETY: each handler is one that was installed already, and may be interrupted by the same signals as before. Where it runs
    // is not something that a handler may rely on.
    unsafe { ffi::obx_use_signal_stacks() }
}
