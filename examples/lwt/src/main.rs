//! Lwt and tokio in one program: OCaml code waits for tokio tasks, and tokio tasks wait for Lwt
//! promises. Lwt runs on the main thread. `ocaml/rust_lwt.ml` turns Rust functions into Lwt
//! promises, and passes the results of Lwt promises to Rust. `examples/eio` is the same with Eio.
//!
//! Run it: `cargo run --release --manifest-path examples/lwt/Cargo.toml`

#![forbid(unsafe_code)]

use app::{OCamlCancel, OCamlResolve};
use ocaml_boxroot::completion::CompletionQueue;
use ocaml_boxroot::{Boxroot, DomainLock, OCamlInt, RootRef, Runtime, ToOCaml};
use std::error::Error;
use std::future::Future;
use std::os::fd::AsRawFd;
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

ocaml_boxroot::include_bindings!(app: Functions); // mod app

static TOKIO: LazyLock<tokio::runtime::Runtime> =
    LazyLock::new(|| tokio::runtime::Runtime::new().expect("tokio starts"));

static QUEUE: OnceLock<CompletionQueue> = OnceLock::new();

fn queue() -> &'static CompletionQueue {
    QUEUE.get().expect("main makes the queue")
}

/// Lets OCaml wait for a future. If OCaml cancels the promise, the future is dropped.
fn start<T, R>(
    lock: &mut DomainLock,
    resolve: &RootRef<OCamlResolve<T>>,
    future: impl Future<Output = Result<R>> + Send + 'static,
) -> Result<Boxroot<OCamlCancel>, Box<dyn Error>>
where
    T: Send + Sync + 'static,
    R: ToOCaml<T> + Send + 'static,
{
    let completion = queue().completion(resolve.clone_in(lock)?);
    let task = TOKIO.spawn(async { completion.resolve(future.await) });
    Ok(OCamlCancel::from_rust(lock, move |_lock| Ok(task.abort()))?)
}

/// Implements the functions that app.ml declares as `external`.
struct Functions;

type Started = Result<Boxroot<OCamlCancel>, Box<dyn Error>>;

impl app::Externals for Functions {
    fn descriptor(_lock: &mut DomainLock) -> Result<isize, Box<dyn Error>> {
        Ok(queue().as_raw_fd() as isize)
    }

    fn run(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
        Ok(queue().run(lock)?)
    }

    fn sleep(lock: &mut DomainLock, seconds: f64, resolve: &RootRef<OCamlResolve<()>>) -> Started {
        start(lock, resolve, async move {
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            Ok(())
        })
    }

    fn answer(
        lock: &mut DomainLock,
        n: isize,
        resolve: &RootRef<OCamlResolve<OCamlInt>>,
    ) -> Started {
        start(lock, resolve, async move {
            u32::try_from(n).map(|n| 2 * n).map_err(|_| "a negative number".into())
        })
    }

    fn rust(lock: &mut DomainLock, resolve: &RootRef<OCamlResolve<()>>) -> Started {
        start(lock, resolve, waits_for_ocaml())
    }
}

async fn greet(name: &str) -> Result<String> {
    let name = name.to_string();
    Ok(queue().call(move |lock, resolve| app::greet(lock, &name, resolve)).await?)
}

async fn waits_for_ocaml() -> Result<()> {
    let tasks: Vec<_> =
        (0..1000).map(|n| tokio::spawn(async move { greet(&format!("task {n}")).await })).collect();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await??, format!("hello task {n}"));
    }
    let error = greet("").await.unwrap_err();
    assert_eq!(error.to_string(), "OCaml exception: Failure(\"no name\")");
    // If a future is dropped, its promise is cancelled.
    for _ in 0..10 {
        let (sender, started) = oneshot::channel();
        let never = queue().call::<(), ()>(move |lock, resolve| {
            let cancel = app::never(lock, resolve)?;
            let _ = sender.send(());
            Ok(cancel)
        });
        started.await?;
        drop(never);
    }
    greet("again").await?; // after the cancellations
    Ok(())
}

fn main() -> Result<()> {
    let ocaml = Runtime::start()?;
    let new = DomainLock::with(|lock| CompletionQueue::new(lock))??;
    QUEUE.set(new).expect("once");
    DomainLock::attach(app::main)?;
    let cancelled = DomainLock::attach(app::cancelled)?;
    assert_eq!(cancelled, 10);
    ocaml.shutdown()?;
    println!("OCaml waited for tokio, and tokio for OCaml");
    Ok(())
}
