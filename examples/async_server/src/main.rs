//! A tokio server that keeps its clients' states as OCaml values. Each connection is a task, which
//! keeps a root across its awaits, and may continue on any thread. A task holds the lock only
//! between two awaits. Long work is a job in a pool of domains, so it blocks none of tokio's
//! workers, and runs in parallel with work for other clients.
//!
//! Without arguments, the program also runs some clients, and then ends. With `measure`, it
//! compares the requests per second of a pool with those of threads that attach.
//!
//! Run it: `cargo run --manifest-path examples/async_server/Cargo.toml`

#![forbid(unsafe_code)]

use ocaml_boxroot::exceptions::NotFound;
use ocaml_boxroot::{Boxroot, CallError, DomainLock, Domains, Runtime};
use shell::{BadCommand, OCamlState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

ocaml_boxroot::include_bindings!(); // mod shell

/// Runs a command. Returns the state, if it changed, and the answer.
fn answer(
    state: &Boxroot<OCamlState>,
    command: &str,
) -> Result<(Option<Boxroot<OCamlState>>, String)> {
    DomainLock::attach(|lock| match shell::step(lock, state, command) {
        Ok((state, answer)) => Ok((Some(state), answer)),
        Err(error) if NotFound::of(lock, &error)?.is_some() => Ok((None, "none".to_string())),
        Err(error) => match BadCommand::of(lock, &error)? {
            Some(_) => Ok((None, "what?".to_string())),
            None => Err(error.to_string().into()),
        },
    })
}

/// The pool for long work. Without a pool, a task attaches.
type Long = Option<Arc<Domains>>;

async fn fib(long: &Long, n: u8) -> std::result::Result<isize, CallError> {
    match long {
        Some(domains) => domains.spawn(move |lock| shell::fib(lock, n)).await,
        None => DomainLock::attach(|lock| shell::fib(lock, n)), // blocks a tokio worker
    }
}

async fn serve(stream: TcpStream, long: Long) -> Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut state = DomainLock::attach(shell::start)?;
    while let Some(command) = lines.next_line().await? {
        let answer = match command.strip_prefix("fib ") {
            Some(n) => fib(&long, n.parse()?).await?.to_string(),
            None => {
                let (changed, answer) = answer(&state, &command)?;
                state = changed.unwrap_or(state);
                answer
            }
        };
        writer.write_all(format!("{answer}\n").as_bytes()).await?;
    }
    Ok(()) // drops the state, on the thread that runs the task now
}

async fn accept(listener: TcpListener, long: Long) -> ! {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let long = long.clone();
                drop(tokio::spawn(async {
                    if let Err(error) = serve(stream, long).await {
                        eprintln!("async_server: {error}");
                    }
                }))
            }
            // For example, there are too many connections. When some of them end, there is room for
            // new ones.
            Err(error) => {
                eprintln!("async_server: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A client: sends the commands, and checks the answers.
async fn talk(address: SocketAddr, commands: Vec<(String, &str)>) -> Result<()> {
    let (reader, mut writer) = TcpStream::connect(address).await?.into_split();
    let mut lines = BufReader::new(reader).lines();
    for (command, expected) in commands {
        writer.write_all(format!("{command}\n").as_bytes()).await?;
        assert_eq!(lines.next_line().await?.as_deref(), Some(expected), "{command}");
    }
    Ok(())
}

/// Serves clients. `commands` returns the commands of a client, and their answers.
async fn with_clients(
    long: Long,
    clients: usize,
    commands: impl Fn(usize) -> Vec<(String, &'static str)>,
) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(accept(listener, long));
    let clients: Vec<_> = (0..clients).map(|i| tokio::spawn(talk(address, commands(i)))).collect();
    for client in clients {
        client.await??;
    }
    server.abort();
    Ok(())
}

/// Prints the requests per second of each server, the best of some rounds.
async fn measure() -> Result<()> {
    const CLIENTS: usize = 16;
    const REQUESTS: usize = 250;
    let pool = |workers| DomainLock::attach(|lock| Domains::new(lock, workers)).map(Arc::new);
    let ways = [("attach", None), ("one worker", Some(pool(1)?)), ("two workers", Some(pool(2)?))];
    let mut best = [0.0; 3];
    for _ in 0..7 {
        for (best, (_, long)) in best.iter_mut().zip(&ways) {
            let start = Instant::now();
            let commands = |_| vec![("fib 21".to_string(), "10946"); REQUESTS];
            with_clients(long.clone(), CLIENTS, commands).await?;
            *best = f64::max(*best, (CLIENTS * REQUESTS) as f64 / start.elapsed().as_secs_f64());
        }
    }
    let start = Instant::now();
    DomainLock::attach(|lock| (0..REQUESTS).try_for_each(|_| shell::fib(lock, 21).map(drop)))?;
    let each = start.elapsed().as_secs_f64() * 1e6 / REQUESTS as f64;
    println!("OCaml takes {each:.0} µs per request");
    for (rate, (way, _)) in best.iter().zip(&ways) {
        println!(
            "{way}: {rate:.0} requests per second, {:.2} times the rate of attach",
            rate / best[0]
        );
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let ocaml = Runtime::start()?;
    match std::env::args().nth(1).as_deref() {
        Some("measure") => return measure().await,
        Some(address) => {
            let domains = DomainLock::attach(Domains::recommended)?;
            let listener = TcpListener::bind(address).await?;
            println!("listening on {}", listener.local_addr()?);
            accept(listener, Some(Arc::new(domains))).await
        }
        None => {}
    }
    let domains = DomainLock::attach(Domains::recommended)?;
    with_clients(Some(Arc::new(domains)), 50, |i| {
        let mut commands =
            vec![(format!("set name client {i}"), "ok"), ("hello".to_string(), "what?")];
        commands.extend((0..20).map(|j| (format!("set v{j} {j}"), "ok")));
        commands.extend([
            ("get v7".to_string(), "7"),
            ("get nothing".to_string(), "none"),
            ("fib 20".to_string(), "6765"),
            ("count".to_string(), "21"),
        ]);
        commands
    })
    .await?;
    ocaml.shutdown()?;
    println!("50 clients were served");
    Ok(())
}
