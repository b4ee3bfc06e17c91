//! Signal handlers that other libraries have installed.

use crate::ffi;

/// Makes signal handlers run on the alternate signal stack, which OCaml 5 needs. Call it after the
/// libraries of the program have installed their handlers, and before OCaml code runs. Call it
/// again if a library installs another handler later.
///
/// OCaml 5 runs OCaml code on stacks that it allocates. Below an effect handler they are small, a
/// few hundred bytes at first. If a signal arrives there, and its handler runs on the interrupted
/// stack, the handler overwrites OCaml's memory. Most libraries install such handlers, in safe
/// functions: `signal-hook`, `ctrlc`, `tokio::signal`. This function sets `SA_ONSTACK` for the
/// handlers of all signals, so that they run on the thread's alternate signal stack instead. It
/// also makes each of them block other signals while it runs (`sa_mask`), because these stacks have
/// little room for handlers that interrupt each other. The handlers of OCaml's `Sys.signal` already
/// have the flag, but also get the new `sa_mask`. When a thread takes OCaml's lock, builds with
/// `debug-checks` report handlers without the flag.
///
/// In tokio, the first `signal` for each kind of signal installs a handler. `tokio::process`
/// installs a handler for `SIGCHLD` when it first needs one. On Linux that may be late, when the
/// future of a running process is dropped. If the program uses `tokio::process`, call
/// `signal(SignalKind::child())` at the start to install it.
///
/// # Limits
///
/// * *Handlers that need a lot of stack.* After this call they have only the signal stack. A thread
///   that attaches gets one of 64 KiB, with a guard page. Other Rust threads have 8 KiB, with a
///   guard page. On these threads a handler that needs more ends the process with `SIGSEGV`. Up to
///   OCaml 5.4, threads that OCaml code makes (`Thread.create`, `Domain.spawn`) have 8 KiB without
///   a guard page. On these a handler that needs more overwrites memory, as any handler does on
///   OCaml's stacks without this function. Handlers that set a flag or write to a pipe, like those
///   of the libraries above, need little stack.
/// * *Profilers.* The handler of `SIGPROF` is not changed, because profilers walk the stack in it.
///   Block `SIGPROF` on threads that use OCaml.
/// * *Errors.* The handlers of `SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`, `SIGSYS` and
///   `SIGABRT`, which a thread causes itself, are not changed either. Rust sets `SA_ONSTACK` for
///   the first two.
/// * *Races.* The function reads the action for each signal and then writes it. If another thread
///   replaces or removes the handler in between, that change is lost.
/// * *The end of threads and of the process*: see
///   [`DomainLock::attach`](crate::DomainLock::attach). If a thread calls [`std::process::exit`],
///   std removes the main thread's signal stack. Start OCaml on the main thread, or attach there
///   once, and the main thread gets one that stays.
///
/// On OCaml 4, this does nothing: OCaml code runs on the thread's stack.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{runtime::protect_signals, Runtime};
///
/// Runtime::start()?;
/// // Install the handlers of libraries here.
/// protect_signals();
/// # Ok::<(), ocaml_boxroot::StartError>(())
/// ```
#[doc(alias("sigaction", "sigaltstack", "SA_ONSTACK"))]
pub fn protect_signals() {
    // SAFETY: no precondition.
    unsafe { ffi::obx_protect_signals() }
}

/// Reports handlers that would overwrite OCaml's memory, once for each signal. The first 64 calls
/// check all handlers, and afterwards every 64th call does.
#[cfg(feature = "debug-checks")]
pub(crate) fn look() {
    use std::sync::atomic::{AtomicU64, Ordering};
    const OFTEN: u64 = 64;
    static CALLS: AtomicU64 = AtomicU64::new(0);
    static REPORTED: AtomicU64 = AtomicU64::new(0);
    let calls = CALLS.fetch_add(1, Ordering::Relaxed);
    if calls >= OFTEN && calls % OFTEN != 0 {
        return;
    }
    for signal in 1..=64 {
        let bit = 1 << (signal - 1);
        // SAFETY: no precondition.
        let is_unsafe = unsafe { ffi::obx_signal_is_unprotected(signal) } != 0;
        if is_unsafe && REPORTED.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            // SAFETY: the function returns a C string that stays valid until this thread calls it
            // again.
            let name = unsafe { std::ffi::CStr::from_ptr(ffi::strsignal(signal)) };
            ffi::report(&format!(
                "boxroot: the handler of signal {signal} ({}) has no SA_ONSTACK: if the signal arrives while OCaml 5 runs OCaml \
                 code, the handler overwrites OCaml's memory. Call ocaml_boxroot::runtime::protect_signals after the handler was \
                 installed; for SIGPROF, block the signal on threads that use OCaml\n",
                name.to_string_lossy()
            ));
        }
    }
}
