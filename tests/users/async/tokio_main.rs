//! OCaml in `#[tokio::main]`: started, used, and shut down in tasks.

mod common;

use common::{churn, limit_time, read, string};
use ocaml_boxroot::{AttachError, DomainLock, Runtime};
use std::time::Duration;

#[tokio::main]
async fn main() {
    limit_time();
    let runtime = Runtime::start().unwrap();
    let kept = string("kept over an await").unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let tasks: Vec<_> = (0..100)
        .map(|i| {
            tokio::spawn(async move {
                let root = string(&i.to_string()).unwrap();
                for _ in 0..10 {
                    tokio::task::yield_now().await; // the task may continue on another thread
                    churn().unwrap();
                    assert_eq!(read(&root).unwrap(), i.to_string());
                }
                root
            })
        })
        .collect();
    for (i, task) in tasks.into_iter().enumerate() {
        let root = task.await.unwrap();
        assert_eq!(read(&root).unwrap(), i.to_string());
    }
    let blocking = tokio::task::spawn_blocking(churn);
    blocking.await.unwrap().unwrap();
    assert_eq!(read(&kept).unwrap(), "kept over an await");
    // This task may be on any thread now. The other threads are idle, and OCaml knows them.
    runtime.shutdown().unwrap();
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
    assert_eq!(tokio::spawn(async { churn() }).await.unwrap(), Err(AttachError::TornDown.into()));
    drop(kept);
    println!("tokio_main: 1 passed, 0 failed");
}
