//! An axum server under load that forgets to drop one root in a hundred requests. The profile of
//! its old roots names the function that forgets it.
//!
//! `make clients ONLY=leak` puts it under load for a minute, with a sampling rate for production.
//! The guide's command for the picture needs the second last line of the output.

mod common;

use ::axum::extract::State;
use ::axum::http::Uri;
use ::axum::Router;
use common::{get, limit_time, read, string, Root};
use ocaml_boxroot::debug::{profile, stats, write_profile};
use ocaml_boxroot::{DomainLock, Runtime};
use std::ffi::c_void;
use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Server {
    requests: AtomicUsize,
    seen: Mutex<Vec<Root>>,
}

#[inline(never)]
fn remember(server: &Server, path: &str) {
    server.seen.lock().unwrap().push(string(path).unwrap()); // and never forgotten
}

#[inline(never)]
fn answer(path: &str) -> String {
    let words: Vec<Root> = (0..9).map(|_| string(path).unwrap()).collect();
    words.iter().map(|word| read(word).unwrap()).collect()
}

async fn handle(State(server): State<Arc<Server>>, uri: Uri) -> String {
    let request = server.requests.fetch_add(1, Relaxed);
    if request % 100 == 0 {
        remember(&server, uri.path());
    }
    answer(uri.path())
}

/// For each call stack of a profile, the largest first: the number of roots, and our function that
/// is nearest to the create.
fn stacks(profile: &str) -> Vec<(usize, String)> {
    let mut stacks: Vec<(usize, String)> = profile
        .lines()
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (counts, frames) = line.split_once(" @").unwrap();
            let ours = frames.split_whitespace().find_map(|frame| {
                let address = usize::from_str_radix(&frame[2..], 16).unwrap();
                let mut found = None;
                backtrace::resolve((address - 1) as *mut c_void, |symbol| {
                    // Line tables, which .ci/run compiles with, have names without their module.
                    let name = format!("{:#}", symbol.name().unwrap());
                    if symbol.filename().is_some_and(|file| file.ends_with("leak.rs")) {
                        found.get_or_insert(name.trim_start_matches("leak::").to_owned());
                    }
                });
                found
            });
            let roots = counts.split(':').next().unwrap().trim().parse().unwrap();
            (roots, ours.unwrap_or_default())
        })
        .collect();
    stacks.sort_by(|a, b| b.cmp(a));
    stacks
}

#[tokio::main]
async fn main() {
    let (seconds, rate) = match std::env::var("LOAD_SECONDS") {
        Ok(seconds) => (seconds.parse().unwrap(), 1000),
        Err(_) => {
            limit_time();
            (0, 1)
        }
    };
    let runtime = Runtime::start().unwrap();
    profile(rate);
    let server = Arc::new(Server::default());
    let app = Router::new().fallback(handle).with_state(server.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = tokio::spawn(async move { ::axum::serve(listener, app).await });
    let end = Instant::now() + Duration::from_secs(seconds);
    let clients: Vec<_> = (0..50)
        .map(|client| {
            tokio::spawn(async move {
                let path = format!("/client-{client}");
                let mut requests = 0;
                while requests < 40 || Instant::now() < end {
                    assert_eq!(get(address, &path).await, path.repeat(9));
                    requests += 1;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    // Wait until all roots are three major collections old.
    let large = " ".repeat(1 << 20);
    let cycle = || DomainLock::with(|_| stats().major_scans).unwrap();
    let last = cycle() + 4;
    while cycle() < last {
        DomainLock::with(|lock| lock.alloc_string(&large).map(|_| ())).unwrap().unwrap();
    }
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/old.heap");
    write_profile(File::create(path).unwrap(), 3).unwrap();
    let stacks = stacks(&std::fs::read_to_string(path).unwrap());
    let leaked = server.seen.lock().unwrap().len();
    println!("{} requests leaked {leaked} roots; old roots:", server.requests.load(Relaxed));
    for (roots, function) in &stacks {
        println!("{roots:8} {function}");
    }
    println!("{} {path}", std::env::current_exe().unwrap().display());
    assert_eq!(stacks[0].1, "remember");
    if rate == 1 {
        let remembered = stacks.iter().filter(|(_, function)| function == "remember");
        assert_eq!(remembered.map(|(roots, _)| roots).sum::<usize>(), leaked);
    }
    service.abort();
    runtime.shutdown().unwrap();
    println!("leak: 1 passed, 0 failed");
}
