//! Promises between Rust and OCaml: [`CompletionQueue`].
//!
//! A queue holds work for the thread that runs OCaml's scheduler, and a file descriptor wakes the
//! scheduler. This crate sees only functions that resolve OCaml's promises, so it depends on no
//! scheduler.

use crate::call::enter::panic_message;
use crate::domains::quietly;
use crate::exceptions::Failure;
use crate::ffi::Generation;
use crate::markers::OCamlException;
use crate::types::exception::exception_inside;
use crate::{
    AttachError, Boxroot, CallError, DomainLock, Exception, FromOCaml, Function, RootRef, ToOCaml,
};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io::{self, Read, Write};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;

/// An OCaml function that takes the result of a promise: `('a, exn) result -> unit`, as
/// `Lwt.wakeup_later_result` and `Eio.Promise.resolve` do.
pub type Resolve<T> = Function<(Result<T, OCamlException>,), ()>;

/// An OCaml function that cancels a promise: `unit -> unit`.
pub type Cancel = Function<(), ()>;

/// Promises between Rust and an OCaml scheduler, such as Lwt or Eio.
///
/// * OCaml waits for Rust: OCaml gives Rust a function that resolves a promise. Rust turns this
///   function into a [`Completion`], which any thread [resolves](Completion::resolve) later.
/// * Rust waits for OCaml: [`call`](CompletionQueue::call) makes the scheduler's thread start an
///   operation, and returns an [`OCamlFuture`].
///
/// Neither needs OCaml's lock. Work for OCaml stays in the queue until OCaml calls
/// [`run`](CompletionQueue::run). While the queue has work, its [file descriptor](AsFd) is
/// readable, so the scheduler can wait for it as for a socket. `examples/lwt` and `examples/eio`
/// have the few lines of OCaml that do so, and the guide explains them (`docs/guide/async.md`).
///
/// A queue belongs to one scheduler. A program usually has one, in a `OnceLock`.
///
/// # Shutdown, cancellation and forks
///
/// If the queue is [closed](CompletionQueue::close), dropped, or ended by
/// [`Runtime::shutdown`](crate::Runtime::shutdown), OCaml's promises stay pending, and futures
/// return [`Unresolved`](CallError::Unresolved). Futures also return it if OCaml's garbage
/// collector finds that nothing can call the resolving function any more. It cannot find this if
/// the cancelling function refers to the promise, because a pending future keeps that function
/// alive. In the child of a fork, the queue belongs to the parent: `run` and futures return
/// [`Forked`](AttachError::Forked), and completions do nothing.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::completion::{CompletionQueue, Resolve};
/// use ocaml_boxroot::{Boxroot, ConversionError, OCamlInt};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let queue = CompletionQueue::new(lock).expect("descriptors are left");
/// // OCaml's `Lwt.wakeup_later_result resolver`, for example.
/// let resolve = Resolve::<OCamlInt>::from_rust(lock, |lock, result| {
///     let result: Result<i64, Boxroot<_>> = result.to_rust(lock)?;
///     println!("the promise has the value {:?}", result.ok());
///     Ok(())
/// })?;
/// let completion = queue.completion(resolve);
/// std::thread::spawn(|| completion.resolve(Ok::<_, ConversionError>(42)));
/// // The scheduler does this when the descriptor is readable.
/// queue.run(lock)?;
/// # Ok(()) });
/// ```
#[doc(alias("promise", "Lwt", "Eio", "async", "eventfd"))]
pub struct CompletionQueue(Arc<Queue>);

impl fmt::Debug for CompletionQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionQueue").field("descriptor", &self.as_raw_fd()).finish()
    }
}

/// Readable while there is something to run.
impl AsFd for CompletionQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.reader.as_fd()
    }
}

/// In OCaml on Unix, this number is the `Unix.file_descr`.
impl AsRawFd for CompletionQueue {
    fn as_raw_fd(&self) -> RawFd {
        self.0.reader.as_raw_fd()
    }
}

impl CompletionQueue {
    /// Creates an empty queue.
    ///
    /// # Errors
    ///
    /// If the system has no file descriptors left. A queue needs two.
    pub fn new(_lock: &DomainLock) -> io::Result<CompletionQueue> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        let state = Mutex::default();
        let queue = Arc::new(Queue { state, reader, writer, generation: Generation::now() });
        let mut all = locked(&QUEUES);
        all.retain(|queue| queue.strong_count() != 0);
        all.push(Arc::downgrade(&queue));
        Ok(CompletionQueue(queue))
    }

    /// Creates the Rust side of an OCaml promise, which `resolve` resolves.
    pub fn completion<T>(&self, resolve: Boxroot<Resolve<T>>) -> Completion<T>
    where
        T: Send + Sync + 'static,
    {
        Completion { resolve: Some(resolve), queue: Arc::clone(&self.0) }
    }

    /// Makes OCaml start an operation, and returns the future of its result. OCaml starts the
    /// operation in [`run`](CompletionQueue::run), even if nobody polls the future.
    ///
    /// `start` gets a function that OCaml must call with the result. `start` returns an OCaml
    /// function that cancels the operation. That function is called if the future is dropped before
    /// it has the result. If the future is dropped before `start` is called, `start` is dropped.
    ///
    /// # Errors
    ///
    /// This function is infallible. The future may return the exception that OCaml resolves it
    /// with, an error of `start`, [`Conversion`](CallError::Conversion) if the result is not an
    /// `R`, or [`Unresolved`](CallError::Unresolved). If `start` or the conversion panics, polling
    /// the future panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::completion::CompletionQueue;
    /// use ocaml_boxroot::CallError;
    ///
    /// # mod web {
    /// #     use ocaml_boxroot::completion::{Cancel, Resolve};
    /// #     use ocaml_boxroot::*;
    /// #     pub fn get(_: &mut DomainLock, _: &str, _: &Boxroot<Resolve<OCamlString>>)
    /// #         -> Result<Boxroot<Cancel>, CallError> { unimplemented!() }
    /// # }
    /// // In OCaml: `let get url resolve = Rust_lwt.to_rust (Http.get url) resolve`.
    /// async fn get(queue: &CompletionQueue, url: String) -> Result<String, CallError> {
    ///     queue.call(move |lock, resolve| web::get(lock, &url, resolve)).await
    /// }
    /// ```
    pub fn call<T, R>(
        &self,
        start: impl FnOnce(&mut DomainLock, &Boxroot<Resolve<T>>) -> Result<Boxroot<Cancel>, CallError>
            + Send
            + 'static,
    ) -> OCamlFuture<R>
    where
        T: 'static,
        R: FromOCaml<T> + Send + 'static,
    {
        let cell = Arc::new(Cell::new());
        let sender = Sender(Arc::clone(&cell));
        let future = OCamlFuture { cell, queue: Arc::clone(&self.0) };
        self.0.add(&future);
        self.0.post(move |lock| {
            let cell = Arc::clone(&sender.0);
            if cell.is_dropped() {
                quietly(|| drop(start));
                return Ok(());
            }
            let sender = Mutex::new(Some(sender));
            let resolve = Resolve::<T>::from_rust(lock, move |lock, result| {
                // The mutex is unlocked while user code runs.
                let sender = locked(&sender).take();
                if let Some(sender) = sender {
                    let received = catch_unwind(AssertUnwindSafe(|| received(lock, result)));
                    sender.0.complete(received);
                }
                Ok(())
            });
            let resolve = match resolve {
                Ok(resolve) => resolve,
                Err(error) => {
                    cell.complete(Ok(Err(error.into())));
                    return Ok(());
                }
            };
            match catch_unwind(AssertUnwindSafe(|| start(lock, &resolve))) {
                Ok(Ok(cancel)) => return cell.started(lock, cancel),
                Ok(Err(error)) => cell.complete(Ok(Err(error))),
                Err(payload) => cell.complete(Err(payload)),
            }
            Ok(())
        });
        future
    }

    /// For OCaml's scheduler: resolves the promises whose completions are in the queue, and starts
    /// the calls. Work that is added meanwhile waits for the next `run`.
    ///
    /// # Errors
    ///
    /// The first exception of an OCaml function that resolves or cancels a promise; later work
    /// stays in the queue. [`Forked`](AttachError::Forked) in the child of a fork.
    pub fn run(&self, lock: &mut DomainLock) -> Result<(), CallError> {
        /// Makes the descriptor readable if there is more work.
        struct Ends<'q>(&'q Queue);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                if !self.0.is_left_behind() {
                    self.0.signal_if_needed(&mut locked(&self.0.state));
                }
            }
        }
        if self.0.is_left_behind() {
            return Err(AttachError::Forked.into());
        }
        let _ends = Ends(&self.0);
        for _ in 0..self.0.begin_run() {
            let Some(work) = locked(&self.0.state).work.pop_front() else { break };
            work(lock)?;
            if self.0.is_left_behind() {
                return Err(AttachError::Forked.into()); // this is a child that the work forked
            }
        }
        Ok(())
    }

    /// Ends the queue: drops its work and all work that is added later, and makes pending futures
    /// return [`Unresolved`](CallError::Unresolved). Call this when OCaml's scheduler has ended.
    pub fn close(&self) {
        self.0.close();
    }
}

/// [Closes](CompletionQueue::close) the queue.
impl Drop for CompletionQueue {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The Rust side of an OCaml promise, from [`CompletionQueue::completion`]. It is resolved once,
/// from any thread, without OCaml's lock.
///
/// If it is dropped unresolved, for instance because a task was cancelled, OCaml's promise is
/// rejected with `Failure`.
#[must_use = "if it is dropped, OCaml's promise is rejected"]
pub struct Completion<T: Send + Sync + 'static> {
    /// `None` once it is resolved.
    resolve: Option<Boxroot<Resolve<T>>>,
    queue: Arc<Queue>,
}

impl<T: Send + Sync> fmt::Debug for Completion<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").finish_non_exhaustive()
    }
}

impl<T: Send + Sync> Completion<T> {
    /// Resolves OCaml's promise with the value, which OCaml's thread converts. An error rejects the
    /// promise, with the exception that OCaml would see if a function that it called returned this
    /// error. If the conversion fails or panics, OCaml gets the exception `Failure`.
    pub fn resolve<R, E>(mut self, result: Result<R, E>)
    where
        R: ToOCaml<T> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
    {
        if let Some(resolve) = self.resolve.take() {
            self.queue.post(move |lock| {
                finish(lock, &resolve, |lock| match result {
                    Ok(value) => Ok(value.to_ocaml(lock)?),
                    Err(error) => Err(Into::<Box<dyn Error + Send + Sync>>::into(error)),
                })
            });
        }
    }
}

impl<T: Send + Sync> Drop for Completion<T> {
    fn drop(&mut self) {
        if let Some(resolve) = self.resolve.take() {
            let why = "Rust has dropped the Completion of this promise";
            self.queue.post(move |lock| finish(lock, &resolve, |_| Err(why.into())));
        }
    }
}

/// Calls the OCaml function with Rust's result.
fn finish<T: 'static>(
    lock: &mut DomainLock,
    resolve: &Boxroot<Resolve<T>>,
    result: impl FnOnce(&mut DomainLock) -> Result<Boxroot<T>, Box<dyn Error>>,
) -> Result<(), CallError> {
    let convert = |lock: &mut DomainLock| match result(lock) {
        Ok(value) => Ok(Ok(value)),
        Err(error) => exception_of(lock, &*error).map(Err),
    };
    let result = match catch_unwind(AssertUnwindSafe(|| convert(lock))) {
        Ok(result) => result?,
        Err(payload) => Err(exception_of(lock, &Failure(panic_message(payload).into()))?),
    };
    let result: Boxroot<Result<T, OCamlException>> = result.to_ocaml(lock)?;
    resolve.call(lock, &result)?;
    Ok(())
}

/// The exception for the error: the exception that it is or contains, otherwise `Failure`.
fn exception_of(
    lock: &mut DomainLock,
    error: &(dyn Error + 'static),
) -> Result<Boxroot<OCamlException>, CallError> {
    let exception = match exception_inside(lock, error) {
        Some(exception) => exception,
        None => Failure(error.to_string()).exception(lock)?,
    };
    let value = exception.value().ok_or(AttachError::OutOfMemory)?;
    Ok(value.clone_in(lock)?)
}

/// Converts OCaml's result for Rust.
fn received<T, R: FromOCaml<T>>(
    lock: &DomainLock,
    result: &RootRef<Result<T, OCamlException>>,
) -> Result<R, CallError> {
    match result.to_rust::<Result<R, Boxroot<OCamlException>>>(lock)? {
        Ok(value) => Ok(value),
        // SAFETY: the root owns a live exception.
        Err(exception) => Err(unsafe { Exception::raised(lock, exception.get(lock).raw()) }.into()),
    }
}

/// The future of a [call](CompletionQueue::call). If it is dropped before it has a result, OCaml's
/// promise is cancelled.
#[must_use = "if it is dropped, the promise is cancelled"]
pub struct OCamlFuture<R> {
    cell: Arc<Cell<R>>,
    queue: Arc<Queue>,
}

impl<R> OCamlFuture<R> {
    /// Identifies a future in its queue.
    fn id(&self) -> usize {
        Arc::as_ptr(&self.cell).addr()
    }
}

impl<R> fmt::Debug for OCamlFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OCamlFuture").finish_non_exhaustive()
    }
}

impl<R> Future for OCamlFuture<R> {
    type Output = Result<R, CallError>;

    /// # Panics
    ///
    /// If the closure of the call or the conversion panicked, with its payload. Also if the future
    /// has already returned its result.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.queue.is_left_behind() {
            return Poll::Ready(Err(AttachError::Forked.into()));
        }
        let new = context.waker().clone();
        let mut state = locked(&self.cell.state);
        if let CellState::Waiting(waker, _) = &mut *state {
            let before = waker.replace(new);
            drop(state);
            drop(before); // user code, which needs the mutex unlocked
            return Poll::Pending;
        }
        let CellState::Done(result) = mem::replace(&mut *state, CellState::Over) else {
            drop(state);
            panic!("a future was polled after its end");
        };
        drop(state);
        Poll::Ready(result.unwrap_or_else(|payload| resume_unwind(payload)))
    }
}

impl<R> Drop for OCamlFuture<R> {
    fn drop(&mut self) {
        if self.queue.is_left_behind() {
            return;
        }
        let entry = locked(&self.queue.state).futures.remove(&self.id());
        drop(entry);
        let state = mem::replace(&mut *locked(&self.cell.state), CellState::Over);
        if let CellState::Waiting(_, Some(cancel)) = state {
            self.queue.post(move |lock| Ok(cancel.call(lock).map(|_| ())?));
        }
    }
}

/// Where OCaml stores a result for Rust.
struct Cell<R> {
    state: Mutex<CellState<R>>,
    /// As [`Queue::generation`]: in the child, OCaml may still call or drop the resolving function.
    generation: Generation,
}

enum CellState<R> {
    /// With the cancelling function, if OCaml has started the operation.
    Waiting(Option<Waker>, Option<Boxroot<Cancel>>),
    Done(thread::Result<Result<R, CallError>>),
    /// Rust has taken the result, or has dropped the future.
    Over,
}

impl<R> Cell<R> {
    fn new() -> Cell<R> {
        let state = Mutex::new(CellState::Waiting(None, None));
        Cell { state, generation: Generation::now() }
    }

    fn is_left_behind(&self) -> bool {
        self.generation.is_over()
    }

    fn is_dropped(&self) -> bool {
        matches!(*locked(&self.state), CellState::Over)
    }

    /// OCaml has started the operation, which `cancel` cancels.
    fn started(&self, lock: &mut DomainLock, cancel: Boxroot<Cancel>) -> Result<(), CallError> {
        if self.is_left_behind() {
            return Ok(()); // this is a child that the call forked
        }
        match &mut *locked(&self.state) {
            CellState::Waiting(_, place) => {
                *place = Some(cancel);
                return Ok(());
            }
            CellState::Done(_) => return Ok(()),
            CellState::Over => {}
        }
        cancel.call(lock)?;
        Ok(())
    }

    /// Later results are dropped.
    fn complete(&self, result: thread::Result<Result<R, CallError>>) {
        if self.is_left_behind() {
            quietly(|| drop(result));
            return;
        }
        let mut state = locked(&self.state);
        if !matches!(*state, CellState::Waiting(..)) {
            drop(state);
            quietly(|| drop(result));
            return;
        }
        let before = mem::replace(&mut *state, CellState::Done(result));
        drop(state);
        if let CellState::Waiting(Some(waker), _) = before {
            quietly(|| waker.wake());
        }
    }
}

/// A cell with any type of result.
trait Ends: Send + Sync {
    /// If the future is pending, makes it return `Unresolved`.
    fn end(&self);
}

impl<R: Send> Ends for Cell<R> {
    fn end(&self) {
        self.complete(Ok(Err(CallError::Unresolved)));
    }
}

/// The right to complete a future. May be dropped in a collection.
struct Sender<R>(Arc<Cell<R>>);

impl<R> Drop for Sender<R> {
    fn drop(&mut self) {
        self.0.complete(Ok(Err(CallError::Unresolved)));
    }
}

/// Something to do under OCaml's lock, on the thread of the scheduler.
type Work = Box<dyn FnOnce(&mut DomainLock) -> Result<(), CallError> + Send>;

struct Queue {
    state: Mutex<QueueState>,
    /// Has a byte to read if `QueueState::is_signalled`.
    reader: UnixStream,
    writer: UnixStream,
    /// In the child of a fork, the mutex may be locked forever, and the descriptors belong to the
    /// parent.
    generation: Generation,
}

#[derive(Default)]
struct QueueState {
    work: VecDeque<Work>,
    /// The cells of live futures, by their ids.
    futures: BTreeMap<usize, Weak<dyn Ends>>,
    is_signalled: bool,
    is_closed: bool,
}

impl Queue {
    fn is_left_behind(&self) -> bool {
        self.generation.is_over()
    }

    /// Registers a future, so that closing the queue ends it even if OCaml keeps the resolving
    /// function.
    fn add<R: Send + 'static>(&self, future: &OCamlFuture<R>) {
        if !self.is_left_behind() {
            let cell = Arc::downgrade(&future.cell);
            locked(&self.state).futures.insert(future.id(), cell);
        }
    }

    fn post(&self, work: impl FnOnce(&mut DomainLock) -> Result<(), CallError> + Send + 'static) {
        if self.is_left_behind() {
            return;
        }
        let work: Work = Box::new(work);
        let mut state = locked(&self.state);
        if state.is_closed {
            drop(state);
            return; // drops the work, with the mutex unlocked
        }
        state.work.push_back(work);
        self.signal_if_needed(&mut state);
    }

    /// Called under the mutex, so that there is never more than one byte.
    fn signal_if_needed(&self, state: &mut QueueState) {
        if !state.is_signalled && !state.work.is_empty() {
            state.is_signalled = (&self.writer).write_all(&[0]).is_ok();
        }
    }

    /// Returns how much work there is, and removes the signal.
    fn begin_run(&self) -> usize {
        let mut state = locked(&self.state);
        if mem::take(&mut state.is_signalled) {
            let _ = (&self.reader).read(&mut [0]);
        }
        state.work.len()
    }

    fn close(&self) {
        if !self.is_left_behind() {
            let mut state = locked(&self.state);
            state.is_closed = true;
            let work = mem::take(&mut state.work);
            let futures = mem::take(&mut state.futures);
            drop(state);
            // Futures first: the drop of a closure may wait for a thread that waits for a future.
            futures.values().filter_map(Weak::upgrade).for_each(|cell| cell.end());
            work.into_iter().for_each(|work| quietly(|| drop(work)));
        }
    }
}

/// All queues, for a shutdown. The mutex is locked only under the lock of a domain, so that it is
/// free in the child of a fork that may use OCaml.
static QUEUES: Mutex<Vec<Weak<Queue>>> = Mutex::new(Vec::new());

/// Called at the end of a shutdown, with the lock, because nothing can run the queues any more.
pub(crate) fn close_all() {
    let all: Vec<_> = locked(&QUEUES).iter().filter_map(Weak::upgrade).collect();
    all.iter().for_each(|queue| queue.close());
}

/// No user code runs under a mutex of this module, so none is poisoned.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
