//! A hyper service that uses OCaml.

mod common;

use ::hyper::body::{Bytes, Incoming};
use ::hyper::server::conn::http1;
use ::hyper::service::service_fn;
use ::hyper::{Request, Response};
use common::{ask, churn, limit_time, read, string};
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use ocaml_boxroot::{Error, Runtime};

async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Error> {
    let root = string(request.uri().path())?;
    tokio::task::yield_now().await;
    churn()?;
    Ok(Response::new(Full::new(Bytes::from(read(&root)?))))
}

#[tokio::main]
async fn main() {
    limit_time();
    let runtime = Runtime::start().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(echo)),
            );
        }
    });
    ask(address).await;
    server.abort();
    runtime.shutdown().unwrap();
    println!("hyper: 1 passed, 0 failed");
}
