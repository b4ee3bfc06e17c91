//! Functions that the programs in this folder share.

#![allow(dead_code)] // each uses its own part

use ocaml_boxroot::{AttachError, Boxroot, ConversionError, DomainLock, OCamlString, ToOCaml};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub type Root = Boxroot<OCamlString>;

/// Ends a program that hangs.
pub fn limit_time() {
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(120));
        eprintln!("still running after two minutes");
        std::process::abort();
    });
}

pub fn string(text: &str) -> Result<Root, ConversionError> {
    DomainLock::attach(|lock| text.to_ocaml(lock))
}

pub fn read(root: &Root) -> Result<String, AttachError> {
    DomainLock::with(|lock| root.get(lock).to_string_lossy())
}

/// Makes garbage, so that the collector runs.
pub fn churn() -> Result<(), ConversionError> {
    DomainLock::attach(|lock| {
        (0..5000).try_for_each(|_| lock.alloc_string([b'g'; 1000]).map(|_| ()))
    })
}

/// The response of the server to `GET path`.
pub async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_string()
}

/// Asks a server that answers with the path, many times at once.
pub async fn ask(address: SocketAddr) {
    let clients: Vec<_> = (0..200)
        .map(|i| tokio::spawn(async move { (i, get(address, &format!("/echo-{i}")).await) }))
        .collect();
    for client in clients {
        let (i, answer) = client.await.unwrap();
        assert_eq!(answer, format!("/echo-{i}"));
    }
}
