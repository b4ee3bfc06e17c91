//! A tokio server whose clients' states are OCaml values. Each connection is a task, which keeps a
//! root over its awaits, and may continue on any thread. It holds the lock only between two awaits.
//! Work that takes long is done by `spawn_blocking`, so that it does not block one of tokio's
//! workers.
//!
//! Without arguments the program also runs some clients, and then ends.
//!
//! Run it: `cargo run --manifest-path examples/async_server/Cargo.toml`

#![forbid(unsafe_code)]

use ocaml_boxroot::exceptions::NotFound;
use ocaml_boxroot::{Boxroot, DomainLock, Runtime};
use shell::{BadCommand, OCamlState};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

ocaml_boxroot::include_bindings!(); // mod shell

/// The state after a command, if it changed, and the answer.
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

async fn serve(stream: TcpStream) -> Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut state = DomainLock::attach(shell::start)?;
    while let Some(command) = lines.next_line().await? {
        let answer = match command.strip_prefix("fib ") {
            Some(n) => {
                let n: u8 = n.parse()?;
                let work = move || DomainLock::attach(|lock| shell::fib(lock, n));
                let result = tokio::task::spawn_blocking(work).await?;
                result?.to_string()
            }
            None => {
                let (changed, answer) = answer(&state, &command)?;
                state = changed.unwrap_or(state);
                answer
            }
        };
        writer.write_all(format!("{answer}\n").as_bytes()).await?;
    }
    Ok(()) // the state is dropped, on the thread on which the task is now
}

async fn accept(listener: TcpListener) -> ! {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(async {
                if let Err(error) = serve(stream).await {
                    eprintln!("async_server: {error}");
                }
            })),
            // Too many connections, for example. Those that are open go on, and when some of them
            // end, new ones have room.
            Err(error) => {
                eprintln!("async_server: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// A client: sends the commands, and checks the answers.
async fn talk(address: std::net::SocketAddr, talk: &[(String, &str)]) -> Result<()> {
    let (reader, mut writer) = TcpStream::connect(address).await?.into_split();
    let mut lines = BufReader::new(reader).lines();
    for (command, expected) in talk {
        writer.write_all(format!("{command}\n").as_bytes()).await?;
        assert_eq!(lines.next_line().await?.as_deref(), Some(*expected), "{command}");
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let ocaml = Runtime::start()?;
    let given = std::env::args().nth(1);
    let listener = TcpListener::bind(given.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let address = listener.local_addr()?;
    println!("listening on {address}");
    if given.is_some() {
        accept(listener).await;
    }
    let server = tokio::spawn(accept(listener));
    let clients: Vec<_> = (0..50)
        .map(|i| {
            tokio::spawn(async move {
                let mut commands =
                    vec![(format!("set name client {i}"), "ok"), ("hello".to_string(), "what?")];
                commands.extend((0..20).map(|j| (format!("set v{j} {j}"), "ok")));
                commands.extend([
                    ("get v7".to_string(), "7"),
                    ("get nothing".to_string(), "none"),
                    ("fib 20".to_string(), "6765"),
                    ("count".to_string(), "21"),
                ]);
                talk(address, &commands).await
            })
        })
        .collect();
    for client in clients {
        client.await??;
    }
    server.abort();
    ocaml.shutdown()?;
    println!("50 clients were served");
    Ok(())
}
