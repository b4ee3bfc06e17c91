//! Handlers of axum that use OCaml.

mod common;

use ::axum::extract::State;
use ::axum::http::Uri;
use ::axum::Router;
use common::{ask, churn, limit_time, read, string, Root};
use ocaml_boxroot::Runtime;
use std::sync::{Arc, Mutex};

type Answers = Arc<Mutex<Vec<Root>>>;

async fn echo(State(answers): State<Answers>, uri: Uri) -> String {
    let root = string(uri.path()).unwrap();
    tokio::task::yield_now().await;
    churn().unwrap();
    let text = read(&root).unwrap();
    answers.lock().unwrap().push(root);
    text
}

#[tokio::main]
async fn main() {
    limit_time();
    let runtime = Runtime::start().unwrap();
    let answers = Answers::default();
    let app = Router::new().fallback(echo).with_state(answers.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { ::axum::serve(listener, app).await });
    ask(address).await;
    server.abort();
    let answers = std::mem::take(&mut *answers.lock().unwrap());
    assert_eq!(answers.len(), 200);
    assert!(answers.iter().all(|root| read(root).unwrap().starts_with("/echo-")));
    runtime.shutdown().unwrap();
    drop(answers);
    println!("axum: 1 passed, 0 failed");
}
