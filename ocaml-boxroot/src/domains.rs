//! Pools of OCaml domains, which run Rust closures in parallel: [`Domains`].
//!
//! A pool is a queue of jobs. Its workers wait with OCaml's lock released, and attach to their own
//! domain for each job: a job is just a `DomainLock::attach` on another thread.

pub use crate::error::DomainsError;

use crate::ffi::Generation;
use crate::lock::Acquired;
use crate::raw::DomainLockExt;
use crate::{ffi, AttachError, Boxroot, DomainLock, Function};
use ocaml_boxroot_sys::uses;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::CString;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Instant;

/// A pool of OCaml domains that runs Rust closures, its *jobs*, in parallel.
///
/// Rust threads attach to the first domain, so they use OCaml one at a time. A pool has its own
/// domains, its *workers*, so on OCaml 5 its jobs use OCaml at the same time. On OCaml 4, a pool
/// always has one worker.
///
/// A job gets the token of its worker's domain. Its arguments and its result must be [`Send`], as a
/// [`Boxroot`] is. Its error may have any type that implements `From<AttachError>`, as for
/// [`DomainLock::attach`].
///
/// # Waiting
///
/// A collection waits for all domains, so a thread must not wait for jobs while it holds OCaml's
/// lock. There, [`run`](Domains::run), [`map`](Domains::map), [`scope`](Domains::scope),
/// [`join`](Domains::join) and [`Task::join`] return [`AlreadyHeld`](AttachError::AlreadyHeld).
/// Call them in [`release`](DomainLock::release). While OCaml drops an
/// [`OCamlBox`](crate::markers::OCamlBox), they return [`InFinaliser`](AttachError::InFinaliser),
/// but [`spawn`](Domains::spawn) works.
///
/// A job may use its own pool. While it waits for jobs that no worker has begun, it runs them
/// itself, on its worker. So jobs that wait for jobs do not deadlock, even with one worker. But a
/// job occupies its worker while it blocks on a [`Task`] as a future, or on a thread that uses the
/// pool.
///
/// # Panics and ends
///
/// A panic of a job propagates to the thread that waits for the job; the pool continues. A job
/// whose [`Task`] was dropped still runs, and its result is dropped on the worker, without the
/// lock. In that drop, and in a waker that the end of a job wakes, attaching may fail.
///
/// A thread that OCaml code creates in a job (`Thread.create`) belongs to the worker's domain. The
/// worker ends after that thread, so [`join`](Domains::join) waits for both, as OCaml's
/// `Domain.join` does. A shutdown never waits for `Thread.create` threads.
///
/// When a pool is dropped, its workers end after the jobs in the queue. The drop does not wait for
/// that, but [`join`](Domains::join) does. [`Runtime::shutdown`](crate::Runtime::shutdown) returns
/// [`Busy`](crate::runtime::Users::Jobs) while there are jobs, and ends idle workers. OCaml's
/// `exit` and the end of the process wait neither for jobs nor for workers. In the child of a fork,
/// all functions return [`Forked`](AttachError::Forked), because the workers exist only in the
/// parent.
///
/// # Threads
///
/// A worker's thread has the default stack size of OCaml's domains (`ulimit -s`, usually 8 MiB).
/// The threads are named `ocaml-worker 1` and so on.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{CallError, DomainLock, Domains, Function, OCamlInt, Runtime};
///
/// Runtime::start()?;
/// let domains = DomainLock::attach(|lock| Domains::new(lock, 2))?;
/// let square = DomainLock::attach(|lock| {
///     Function::<(OCamlInt,), OCamlInt>::from_rust_converting(lock, |_lock, n: i64| Ok(n * n))
/// })?;
///
/// let nine: i64 = domains.run(|lock| square.call_converting(lock, 3))?;
/// let squares: Vec<i64> = domains.map(1..=4, |lock, n| square.call_converting(lock, n))?;
/// assert_eq!((nine, squares), (9, vec![1, 4, 9, 16]));
///
/// let task = domains.spawn(move |lock| square.call_converting::<i64>(lock, 5)); // does not wait
/// assert_eq!(task.join()?, 25);
/// # Ok::<(), ocaml_boxroot::Error>(())
/// ```
#[doc(alias("Domain.spawn", "rayon", "thread pool", "parallel"))]
pub struct Domains {
    pool: Arc<Pool>,
    workers: usize,
}

impl fmt::Debug for Domains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domains").field("workers", &self.workers).finish_non_exhaustive()
    }
}

/// The name under which the OCaml program registers the function that creates a domain
/// (`ocaml-boxroot-sys/src/build/bindings/domains.ml`).
const SPAWN: &str = "ocaml_boxroot.spawn";

/// OCaml's default limit on domains, without the first domain.
const MOST_WORKERS: usize = 127;

impl Domains {
    /// Creates a pool with this many workers; on OCaml 4, with one.
    ///
    /// # Errors
    ///
    /// Those in the table of [`DomainsError`]. After an error, no worker runs jobs: all have
    /// ended, or are ending.
    pub fn new(lock: &mut DomainLock, workers: usize) -> Result<Domains, DomainsError> {
        if workers == 0 {
            return Err(DomainsError::NoWorkers);
        }
        if uses::is_forked() {
            return Err(AttachError::Forked.into());
        }
        let workers = if cfg!(ocaml4) { 1 } else { workers };
        let domains = Domains { pool: Pool::new()?, workers };
        let started = match cfg!(ocaml4) {
            true => domains.start_thread(lock),
            false => domains.start_domains(lock),
        };
        let pool = &domains.pool;
        // A worker has a use until it has begun. Without this wait, a shutdown would be `Busy`.
        let begun = started.and_then(|()| lock.release(|| pool.wait_for_begin(workers)));
        if begun.is_err() {
            pool.close();
            lock.release(|| pool.wait_for_workers());
        }
        begun.map(|()| domains)
    }

    /// Creates a pool with as many workers as the process has processors.
    ///
    /// # Errors
    ///
    /// As for [`new`](Domains::new).
    pub fn recommended(lock: &mut DomainLock) -> Result<Domains, DomainsError> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Domains::new(lock, processors.min(MOST_WORKERS))
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.workers
    }

    fn start_domains(&self, lock: &mut DomainLock) -> Result<(), DomainsError> {
        type Begun = Function<(), ()>;
        type Spawn = Function<(Function<(Begun,), ()>,), ()>;
        // SAFETY: this crate reserves the name for a function of this type. OCaml 5 only.
        let spawn: Option<Boxroot<Spawn>> = unsafe { lock.named(SPAWN) };
        let spawn = spawn.ok_or(DomainsError::NotLinked)?;
        let pool = Arc::clone(&self.pool);
        let body = Function::<(Begun,), ()>::from_rust(lock, move |lock, begun| {
            // A signal handler may raise here, while `new` may be waiting for this worker.
            begun.call(lock).inspect_err(|_| pool.close())?;
            lock.release(|| {
                // SAFETY: the innermost use is that of OCaml's call of this closure. The closure
                // does not need the use before `begin`. The use ends so that idle workers do not
                // keep the runtime up.
                unsafe { uses::end() };
                pool.work();
                // SAFETY: OCaml knows this thread. The use is refused in the child of a fork, where
                // `release` aborts next.
                let _ = unsafe { uses::begin() };
            });
            Ok(())
        });
        let refused = |error: &dyn std::error::Error| DomainsError::Refused(error.to_string());
        let body = body.map_err(|error| refused(&error))?;
        // Each worker counts itself, because there may be a domain even after an exception: a
        // signal handler may raise when `Domain.spawn` has already created the domain.
        for _ in 0..self.workers {
            spawn.call(lock, &body).map_err(|exception| refused(&exception))?;
        }
        Ok(())
    }

    /// On OCaml 4: starts a thread that attaches once, so that OCaml knows it.
    fn start_thread(&self, lock: &mut DomainLock) -> Result<(), DomainsError> {
        let pool = Arc::clone(&self.pool);
        let (sender, attached) = mpsc::channel();
        let builder = thread::Builder::new().stack_size(8 << 20);
        let started = builder.spawn(move || {
            // Not `Acquired::new`: a shutdown that paused other uses may wait for the caller's use.
            let result = Acquired::unpaused().map(drop);
            let is_attached = result.is_ok();
            let _ = sender.send(result);
            if is_attached {
                pool.work();
            }
        });
        if let Err(error) = started {
            return Err(DomainsError::Refused(error.to_string()));
        }
        let result = lock.release(|| attached.recv());
        Ok(result.unwrap_or(Err(AttachError::ThreadNotRegistered))?)
    }

    /// Runs a job and waits for it. The job may borrow, because it has ended when this returns. On
    /// a worker of this pool, the job runs immediately, on this worker.
    ///
    /// # Errors
    ///
    /// Those of the job; [`AlreadyHeld`](AttachError::AlreadyHeld) if this thread
    /// [holds the lock](Domains#waiting); [`TornDown`](AttachError::TornDown) after the runtime was
    /// shut down; [`Forked`](AttachError::Forked) in the child of a fork.
    ///
    /// # Panics
    ///
    /// If the job panics, with its payload.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{DomainLock, Domains, Error, ToOCaml};
    ///
    /// fn length(domains: &Domains, lock: &mut DomainLock, text: &str) -> Result<usize, Error> {
    ///     // This thread holds the lock, so it releases the lock while it waits.
    ///     lock.release(|| domains.run(|lock| Ok(text.to_ocaml(lock)?.get(lock).as_bytes().len())))
    /// }
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// # let domains = Domains::new(lock, 1)?;
    /// # assert_eq!(length(&domains, lock, "four")?, 4);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "install")]
    pub fn run<R, E>(
        &self,
        job: impl FnOnce(&mut DomainLock) -> Result<R, E> + Send,
    ) -> Result<R, E>
    where
        R: Send,
        E: From<AttachError> + Send,
    {
        self.pool.may_wait()?;
        if self.pool.is_of_this_worker() {
            return DomainLock::attach(job);
        }
        // SAFETY: the job has ended when this function returns, because `wait` waits for it.
        let task = unsafe { self.pool.submit(None, job) };
        flattened(task.cell.wait())
    }

    /// Queues a job for a worker, and returns immediately. This works with or without the lock.
    ///
    /// # Errors
    ///
    /// This function is infallible. [`Task::join`] returns the errors of the job and of
    /// [`run`](Domains::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{ConversionError, DomainLock, Domains, OCamlString, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let domains = Domains::new(lock, 1)?;
    /// let task = domains.spawn(|lock| ToOCaml::<OCamlString>::to_ocaml("made there", lock));
    /// let root = lock.release(|| task.join())?;
    /// assert_eq!(root.get(lock).as_str()?, "made there");
    /// # Ok(()) });
    /// ```
    pub fn spawn<R, E>(
        &self,
        job: impl FnOnce(&mut DomainLock) -> Result<R, E> + Send + 'static,
    ) -> Task<R, E>
    where
        R: Send + 'static,
        E: From<AttachError> + Send + 'static,
    {
        // SAFETY: the job borrows nothing.
        unsafe { self.pool.submit(None, job) }
    }

    /// Calls `f` with a scope, whose jobs may borrow data that outlives this call. Waits for all
    /// jobs of the scope before it returns, even if `f` panics, as [`std::thread::scope`] does.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Domains::run), except for errors of jobs. After a shutdown, `f` is still
    /// called, and its jobs return the error. If `f` forks, this returns
    /// [`Forked`](AttachError::Forked) in the child. If the scope has unfinished jobs then, the
    /// child aborts, because the data that they borrow may be in any state.
    ///
    /// # Panics
    ///
    /// If `f` panics, or if a job panics whose [`Task`] was not joined.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{AttachError, DomainLock, Domains, Error, ToOCaml};
    ///
    /// fn length(lock: &mut DomainLock, text: &str) -> Result<usize, Error> {
    ///     Ok(text.to_ocaml(lock)?.get(lock).as_bytes().len())
    /// }
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let domains = Domains::new(lock, 2)?;
    /// let words = vec!["one".to_string(), "three".to_string()];
    /// let lengths = lock.release(|| {
    ///     domains.scope(|scope| {
    ///         let first = scope.spawn(|lock| length(lock, &words[0]));
    ///         let second = scope.spawn(|lock| length(lock, &words[1]));
    ///         (first.join(), second.join())
    ///     })
    /// })?;
    /// assert_eq!((lengths.0?, lengths.1?), (3, 5));
    /// # Ok(()) });
    /// ```
    pub fn scope<'env, T>(
        &self,
        f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    ) -> Result<T, AttachError> {
        self.pool.may_wait()?;
        let jobs = Arc::new(ScopeJobs::default());
        let scope = Scope {
            pool: Arc::clone(&self.pool),
            jobs: Arc::clone(&jobs),
            scope: PhantomData,
            env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
        let waited = self.pool.wait_for_scope(&jobs);
        match result {
            Err(payload) => resume_unwind(payload),
            Ok(_) if jobs.has_panicked.load(Ordering::Relaxed) => {
                panic!("a job of the scope panicked")
            }
            Ok(result) => waited.map(|()| result),
        }
    }

    /// Calls `f` for each item, in parallel, and returns the results in the order of the items.
    ///
    /// # Errors
    ///
    /// The error of the first item for which `f` returns one. Otherwise those of
    /// [`run`](Domains::run), but without items this always returns an empty vector, even after a
    /// shutdown.
    ///
    /// # Panics
    ///
    /// If `f` panics, with its payload. After a panic or an error, workers finish the items that
    /// they have begun, and begin no new ones.
    #[doc(alias = "par_iter")]
    pub fn map<T, R, E>(
        &self,
        items: impl IntoIterator<Item = T>,
        f: impl Fn(&mut DomainLock, T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E>
    where
        T: Send,
        R: Send,
        E: From<AttachError> + Send,
    {
        let items: Vec<T> = items.into_iter().collect();
        let mut results: Vec<Option<Result<R, E>>> = items.iter().map(|_| None).collect();
        let jobs = self.workers.min(items.len());
        let items = Mutex::new(items.into_iter().enumerate());
        let has_failed = AtomicBool::new(false);
        // Processes items until there are none. All items before a failing one have been taken and
        // are finished, so the first error is found.
        let work = |lock: &mut DomainLock| {
            let mut done = Vec::new();
            while !has_failed.load(Ordering::Relaxed) {
                let next = locked(&items).next();
                let Some((place, item)) = next else { break };
                let result = catch_unwind(AssertUnwindSafe(|| f(lock, item)));
                has_failed.fetch_or(!matches!(result, Ok(Ok(_))), Ordering::Relaxed);
                done.push((place, flattened(result)));
            }
            Ok::<_, E>(done)
        };
        self.scope(|scope| {
            let tasks: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            for task in tasks {
                for (place, result) in task.join()? {
                    results[place] = Some(result);
                }
            }
            Ok::<_, E>(())
        })??;
        // After an error, some items have no result.
        results.into_iter().flatten().collect()
    }

    /// Waits for all jobs, and for the end of the workers' domains and threads. On a worker of this
    /// pool it waits for nothing, and is the same as a drop.
    ///
    /// # Errors
    ///
    /// [`AlreadyHeld`](AttachError::AlreadyHeld) if this thread [holds the lock](Domains#waiting),
    /// and [`Forked`](AttachError::Forked) in the child of a fork. The pool is also dropped then.
    pub fn join(self) -> Result<(), AttachError> {
        self.pool.may_wait()?;
        self.pool.close();
        if !self.pool.is_of_this_worker() {
            self.pool.wait_for_workers();
        }
        Ok(())
    }
}

impl Drop for Domains {
    fn drop(&mut self) {
        if !self.pool.is_left_behind() {
            self.pool.close();
        }
    }
}

/// A scope of jobs that may borrow: [`Domains::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    pool: Arc<Pool>,
    jobs: Arc<ScopeJobs>,
    /// Invariant in both lifetimes, like std's.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Like [`Domains::spawn`]. Jobs may also call this.
    pub fn spawn<R, E>(
        &'scope self,
        job: impl FnOnce(&mut DomainLock) -> Result<R, E> + Send + 'scope,
    ) -> Task<R, E>
    where
        R: Send + 'scope,
        E: From<AttachError> + Send + 'scope,
    {
        // SAFETY: the job borrows for 'scope, which ends after `Domains::scope` has waited for it.
        unsafe { self.pool.submit(Some(&self.jobs), job) }
    }
}

/// A handle to a job and its result. Dropping it does not stop the job.
///
/// It is a [`Future`] of the result. If the job panics, polling the future panics.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::domains::Task;
/// use ocaml_boxroot::AttachError;
///
/// async fn both(
///     a: Task<u32, AttachError>,
///     b: Task<u32, AttachError>,
/// ) -> Result<u32, AttachError> {
///     Ok(a.await? + b.await?) // both are already running
/// }
/// ```
#[must_use = "the job runs, but its error or panic is lost"]
pub struct Task<R, E> {
    cell: Arc<Cell<Result<R, E>>>,
    pool: Arc<Pool>,
}

impl<R, E> fmt::Debug for Task<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

impl<R, E: From<AttachError>> Task<R, E> {
    /// Waits for the job. On a worker of the same pool, runs the job if no worker has begun it.
    ///
    /// # Errors
    ///
    /// As for [`Domains::run`].
    ///
    /// # Panics
    ///
    /// If the job panicked, with its payload.
    pub fn join(self) -> Result<R, E> {
        self.pool.may_wait()?;
        let id = self.cell.id();
        if let Some(run) = self.pool.take_queued(|entry| entry.cell == id) {
            run();
            if self.pool.is_left_behind() {
                return Err(AttachError::Forked.into()); // this is a child that the job forked
            }
        }
        flattened(self.cell.wait())
    }
}

impl<R, E: From<AttachError>> Future for Task<R, E> {
    type Output = Result<R, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<R, E>> {
        if self.pool.is_left_behind() {
            return Poll::Ready(Err(AttachError::Forked.into()));
        }
        let waker = context.waker().clone();
        let mut outcome = locked(&self.cell.outcome);
        if let Some(result) = outcome.result.take() {
            drop(outcome);
            return Poll::Ready(flattened(result));
        }
        let before = outcome.waker.replace(waker);
        drop(outcome);
        drop(before); // user code, which needs the mutex unlocked
        Poll::Pending
    }
}

/// The result of a job, whose panic continues here.
fn flattened<R>(result: thread::Result<R>) -> R {
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

/// No user code runs under a mutex of this module, so none is poisoned.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs user code whose panic nobody can catch.
pub(crate) fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        std::mem::forget(payload); // its drop may also panic
    }
}

/// Where a job stores its result.
struct Cell<T> {
    outcome: Mutex<Outcome<T>>,
    is_done: Condvar,
    scope: Option<Arc<ScopeJobs>>,
}

struct Outcome<T> {
    result: Option<thread::Result<T>>,
    waker: Option<Waker>,
}

impl<T> Cell<T> {
    /// Identifies the cell among live cells.
    fn id(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    fn complete(&self, result: thread::Result<T>) {
        let mut outcome = locked(&self.outcome);
        outcome.result = Some(result);
        let waker = outcome.waker.take();
        drop(outcome);
        self.is_done.notify_all();
        if let Some(waker) = waker {
            quietly(|| waker.wake());
        }
    }

    fn wait(&self) -> thread::Result<T> {
        let mut outcome = locked(&self.outcome);
        loop {
            match outcome.result.take() {
                Some(result) => return result,
                None => {
                    outcome = self.is_done.wait(outcome).unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }
}

impl<T> Drop for Cell<T> {
    fn drop(&mut self) {
        let outcome = self.outcome.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(Err(_)), Some(scope)) = (&outcome.result, &self.scope) {
            scope.has_panicked.store(true, Ordering::Relaxed);
        }
    }
}

/// The unfinished jobs of a scope.
#[derive(Default)]
struct ScopeJobs {
    count: Mutex<ScopeCount>,
    has_changed: Condvar,
    /// Whether a job that nobody joined has panicked.
    has_panicked: AtomicBool,
}

#[derive(Default)]
struct ScopeCount {
    unfinished: usize,
    /// How many jobs there were so far.
    all: usize,
}

impl ScopeJobs {
    fn id(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    fn begin(&self) {
        let mut count = locked(&self.count);
        count.unfinished += 1;
        count.all += 1;
    }

    fn end(&self) {
        locked(&self.count).unfinished -= 1;
        self.has_changed.notify_all();
    }

    /// Ends a scope in the child of a fork, where its jobs do not run. An unfinished job may leave
    /// the data that it borrows half-changed. The mutex may be locked forever.
    fn in_the_child(&self) -> Result<(), AttachError> {
        if self.count.try_lock().is_ok_and(|count| count.unfinished == 0) {
            return Err(AttachError::Forked);
        }
        ffi::report(
            "boxroot: Domains::scope cannot end in the child of a fork, because its unfinished jobs run only in \
             the parent; call exec or exit in the child before the closure returns\n",
        );
        std::process::abort()
    }
}

/// A job in the queue.
struct Entry {
    /// The id of its cell, and the id of its scope or 0.
    cell: usize,
    scope: usize,
    run: Box<dyn FnOnce() + Send>,
}

struct Pool {
    state: Mutex<State>,
    /// A job was added, or the pool was closed.
    has_work: Condvar,
    /// A worker has begun, or ended.
    has_changed: Condvar,
    /// In the child of a fork, the mutex may be locked forever.
    generation: Generation,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Entry>,
    /// How many jobs are queued or running.
    jobs: usize,
    /// How many worker threads have begun, and have not ended.
    workers: usize,
    is_closed: bool,
}

thread_local! {
    /// The pool that this worker thread belongs to. It is dropped at the end of the thread, after
    /// the end of its domain.
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

struct Worker(Arc<Pool>);

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.0.is_left_behind() {
            self.0.worker_ends();
        }
    }
}

impl Pool {
    /// Creates a pool without workers, and registers it for a shutdown.
    fn new() -> Result<Arc<Pool>, AttachError> {
        let pool = Arc::new(Pool {
            state: Mutex::default(),
            has_work: Condvar::new(),
            has_changed: Condvar::new(),
            generation: Generation::now(),
        });
        let mut pools = locked(&POOLS);
        if pools.are_closed {
            return Err(AttachError::TornDown);
        }
        pools.all.retain(|pool| pool.strong_count() != 0);
        pools.all.push(Arc::downgrade(&pool));
        Ok(pool)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Whether this is the child of a fork, and the pool belongs to the parent.
    fn is_left_behind(&self) -> bool {
        self.generation.is_over()
    }

    /// Whether this thread may wait for jobs.
    fn may_wait(&self) -> Result<(), AttachError> {
        // SAFETY: no precondition.
        if unsafe { ffi::obx_in_finaliser() } != 0 {
            Err(AttachError::InFinaliser)
        } else if self.is_left_behind() {
            Err(AttachError::Forked)
        } else if DomainLock::is_held() {
            Err(AttachError::AlreadyHeld)
        } else {
            Ok(())
        }
    }

    fn is_of_this_worker(&self) -> bool {
        let is_this = |Worker(pool): &Worker| std::ptr::eq(&**pool, self);
        WORKER.try_with(|worker| worker.borrow().as_ref().is_some_and(is_this)).unwrap_or(false)
    }

    /// Adds a job.
    ///
    /// # Safety
    ///
    /// All data that the job, its result and its error borrow lives until the task has a result,
    /// or, in a scope, until the scope has no unfinished jobs. If nobody takes the result, the data
    /// lives until the task is dropped.
    unsafe fn submit<'a, R, E>(
        self: &Arc<Self>,
        scope: Option<&Arc<ScopeJobs>>,
        job: impl FnOnce(&mut DomainLock) -> Result<R, E> + Send + 'a,
    ) -> Task<R, E>
    where
        R: Send + 'a,
        E: From<AttachError> + Send + 'a,
    {
        let outcome = Mutex::new(Outcome { result: None, waker: None });
        let cell = Arc::new(Cell { outcome, is_done: Condvar::new(), scope: scope.cloned() });
        let task = Task { cell: Arc::clone(&cell), pool: Arc::clone(self) };
        if self.is_left_behind() {
            cell.complete(Ok(Err(AttachError::Forked.into())));
            return task;
        }
        let (id, pool, of_scope) = (cell.id(), Arc::clone(self), scope.cloned());
        let run: Box<dyn FnOnce() + Send + 'a> = Box::new(move || pool.run(cell, of_scope, job));
        // SAFETY: the types differ only in the lifetime. `Pool::run` drops the job before the task
        // has a result. It drops the result before it decrements the scope's count, unless the task
        // has the result (caller).
        let run: Box<dyn FnOnce() + Send> = unsafe { std::mem::transmute(run) };
        let entry = Entry { cell: id, scope: scope.map_or(0, ScopeJobs::id), run };
        let mut state = self.state();
        if state.is_closed {
            drop(state);
            drop(entry);
            task.cell.complete(Ok(Err(AttachError::TornDown.into())));
            return task;
        }
        // Before a worker can end the job.
        if let Some(scope) = scope {
            scope.begin();
        }
        state.queue.push_back(entry);
        state.jobs += 1;
        drop(state);
        self.has_work.notify_one();
        if let Some(scope) = scope {
            scope.has_changed.notify_all(); // a worker that waits for the scope may run it
        }
        task
    }

    /// Runs a job on a worker.
    fn run<R, E: From<AttachError>>(
        &self,
        cell: Arc<Cell<Result<R, E>>>,
        scope: Option<Arc<ScopeJobs>>,
        job: impl FnOnce(&mut DomainLock) -> Result<R, E>,
    ) {
        // SAFETY: OCaml knows this thread: it is that of a domain, or has attached before.
        let used = unsafe { uses::begin() };
        let mut result = Some(catch_unwind(AssertUnwindSafe(|| DomainLock::attach(job))));
        if self.is_left_behind() {
            // This is a child that the job forked. `work` ends next.
            if used.is_ok() {
                // SAFETY: it is the use from above.
                unsafe { uses::end() };
            }
            std::mem::forget((result, cell, scope));
            return;
        }
        if Arc::strong_count(&cell) == 1 {
            // Nobody waits for the result.
            if let (Some(Err(_)), Some(scope)) = (&result, &scope) {
                scope.has_panicked.store(true, Ordering::Relaxed);
            }
            quietly(|| drop(result.take()));
        }
        // From here on, a shutdown may succeed, because the receiver of the result may begin one.
        if used.is_ok() {
            // SAFETY: it is the use from above.
            unsafe { uses::end() };
        }
        self.state().jobs -= 1;
        if let Some(result) = result {
            cell.complete(result);
        }
        quietly(|| drop(cell)); // with the result, if the task was dropped meanwhile
        if let Some(scope) = scope {
            scope.end();
        }
    }

    /// On a worker of this pool, takes a job for which `is_it` is true out of the queue.
    fn take_queued(&self, is_it: impl Fn(&Entry) -> bool) -> Option<Box<dyn FnOnce() + Send>> {
        if !self.is_of_this_worker() {
            return None;
        }
        let mut state = self.state();
        let place = state.queue.iter().position(is_it)?;
        state.queue.remove(place).map(|entry| entry.run)
    }

    fn wait_for_scope(&self, jobs: &Arc<ScopeJobs>) -> Result<(), AttachError> {
        let id = jobs.id();
        let mut seen = usize::MAX;
        loop {
            if self.is_left_behind() {
                return jobs.in_the_child();
            }
            while let Some(run) = self.take_queued(|entry| entry.scope == id) {
                run();
            }
            let mut count = locked(&jobs.count);
            while count.unfinished != 0 && count.all == seen {
                count = jobs.has_changed.wait(count).unwrap_or_else(PoisonError::into_inner);
            }
            if count.unfinished == 0 {
                return Ok(());
            }
            seen = count.all;
        }
    }

    /// The loop of a worker, without the lock, until the pool is closed and has no more jobs.
    fn work(self: &Arc<Self>) {
        let mut state = self.state();
        if state.is_closed {
            return; // `new` has failed, and does not wait for this worker
        }
        state.workers += 1;
        let name = CString::new(format!("ocaml-worker {}", state.workers)).unwrap_or_default();
        drop(state);
        // SAFETY: it ends with a NUL.
        unsafe { ffi::obx_name_thread(name.as_ptr()) };
        WORKER.set(Some(Worker(Arc::clone(self))));
        self.has_changed.notify_all();
        while let Some(run) = self.next() {
            run();
            if self.is_left_behind() {
                return;
            }
        }
    }

    fn next(&self) -> Option<Box<dyn FnOnce() + Send>> {
        let mut state = self.state();
        loop {
            if let Some(entry) = state.queue.pop_front() {
                return Some(entry.run);
            }
            if state.is_closed {
                return None;
            }
            state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.has_work.notify_all();
    }

    fn worker_ends(&self) {
        self.state().workers -= 1;
        self.has_changed.notify_all();
    }

    fn wait_for_begin(&self, workers: usize) -> Result<(), DomainsError> {
        let state = self.wait_while(|state| state.workers != workers && !state.is_closed);
        match state.workers == workers {
            true => Ok(()),
            false => Err(DomainsError::Refused("an exception ended it before it began".into())),
        }
    }

    fn wait_for_workers(&self) {
        drop(self.wait_while(|state| state.workers != 0));
    }

    fn wait_while(&self, is_so: impl Fn(&mut State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.has_changed.wait_while(self.state(), is_so);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the workers, at most until `end`.
    fn wait_for_workers_until(&self, end: Instant) {
        let left = end.saturating_duration_since(Instant::now());
        let are_there = |state: &mut State| state.workers != 0;
        drop(self.has_changed.wait_timeout_while(self.state(), left, are_there));
    }
}

/// All pools. The mutex is locked only under the lock of a domain, so that it is free in the child
/// of a fork that may use OCaml.
static POOLS: Mutex<Pools> = Mutex::new(Pools { all: Vec::new(), are_closed: false });

struct Pools {
    all: Vec<Weak<Pool>>,
    /// Whether the runtime was shut down.
    are_closed: bool,
}

impl Pools {
    /// The pools of this process.
    fn living(&self) -> Vec<Arc<Pool>> {
        let all = self.all.iter().filter_map(Weak::upgrade);
        all.filter(|pool| !pool.is_left_behind()).collect()
    }
}

/// Pools whose workers are ending.
pub(crate) struct Ending(Vec<Arc<Pool>>);

impl Ending {
    /// The dropped pools that have no more jobs. Their workers end by themselves. Called with the
    /// lock.
    pub(crate) fn dropped() -> Ending {
        let mut all = locked(&POOLS).living();
        all.retain(|pool| {
            let state = pool.state();
            let is_ending = state.is_closed && state.jobs == 0 && state.workers != 0;
            is_ending && !pool.is_of_this_worker() // a worker cannot wait for itself
        });
        Ending(all)
    }

    /// For a shutdown: calls `may` with the numbers of jobs and of workers, and closes all pools if
    /// it returns `Ok`. No job begins during the call. Called with the lock.
    pub(crate) fn all<E>(may: impl FnOnce(usize, usize) -> Result<(), E>) -> Result<Ending, E> {
        let mut pools = locked(&POOLS);
        let all = pools.living();
        let mut states: Vec<_> = all.iter().map(|pool| pool.state()).collect();
        let jobs: usize = states.iter().map(|state| state.jobs).sum();
        // A waker that a worker calls may get here, and cannot wait for its own worker.
        let jobs = jobs + usize::from(all.iter().any(|pool| pool.is_of_this_worker()));
        let workers = states.iter().map(|state| state.workers).sum();
        may(jobs, workers)?;
        pools.are_closed = true;
        for (state, pool) in states.iter_mut().zip(&all) {
            state.is_closed = true;
            pool.has_work.notify_all();
        }
        drop(states);
        Ok(Ending(all))
    }

    /// Waits for the workers to end, at most until `end`: OCaml threads may keep workers alive.
    ///
    /// # Safety
    ///
    /// This thread holds the lock, which is released during the wait. No token and no unrooted
    /// value is used.
    pub(crate) unsafe fn wait_until(self, end: Instant) {
        if self.0.is_empty() {
            return;
        }
        // SAFETY: the lock is held (caller), and is taken again below. It is released because the
        // end of a domain may need a collection, which waits for all holders of locks.
        unsafe { ffi::caml_enter_blocking_section_no_pending() };
        self.0.iter().for_each(|pool| pool.wait_for_workers_until(end));
        // SAFETY: it was released above.
        unsafe { ffi::caml_leave_blocking_section() };
    }
}
