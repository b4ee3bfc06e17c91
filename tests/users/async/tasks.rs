//! A multi-thread tokio runtime that is dropped while tasks use OCaml, and `block_on` under a
//! token.

mod common;

use common::{churn, limit_time, read, string};
use ocaml_boxroot::{DomainLock, Runtime};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

static ROUNDS: AtomicUsize = AtomicUsize::new(0);

/// Uses OCaml forever.
async fn work() {
    let root = string("held over an await").unwrap();
    loop {
        churn().unwrap();
        tokio::task::yield_now().await;
        assert_eq!(read(&root).unwrap(), "held over an await");
        ROUNDS.fetch_add(1, Ordering::SeqCst);
    }
}

fn main() {
    limit_time();
    Runtime::start().unwrap();
    for workers in [1, 4] {
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build()
            .unwrap();
        for _ in 0..8 {
            tokio.spawn(work());
        }
        // Code with a token waits for tasks inside `release`, because the tasks need the lock.
        DomainLock::with(|lock| {
            lock.release(|| {
                tokio.block_on(async {
                    let before = ROUNDS.load(Ordering::SeqCst);
                    while ROUNDS.load(Ordering::SeqCst) < before + 100 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                })
            });
        })
        .unwrap();
        // Dropping the runtime ends the tasks at an await, and drops their roots.
        drop(tokio);
        churn().unwrap();
    }
    // Shut down in the background: the tasks go on for a while.
    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.spawn(work());
    tokio.shutdown_background();
    churn().unwrap();
    println!("tasks: 1 passed, 0 failed");
}
