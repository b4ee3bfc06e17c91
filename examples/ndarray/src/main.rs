//! Passes arrays of the crate `ndarray` to OCaml code that computes (`ocaml/numeric.ml`): moves
//! them without a copy, copies them, and changes them from Rust while OCaml owns them.
//!
//! Run it: `cargo run --manifest-path examples/ndarray/Cargo.toml`

#![forbid(unsafe_code)]

use ndarray::{array, Array1, Array2};
use ocaml_boxroot::bigarray::{Bigarray, OCamlArray1, OCamlArray2};
use ocaml_boxroot::{Boxroot, DomainLock, Runtime, ToOCaml};
use std::error::Error;
use std::thread;

// `mod numeric`: in target/debug/build/ndarray-and-ocaml-*/out/ocaml_bindings.rs.
ocaml_boxroot::include_bindings!();

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(run)
}

fn run(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    // OCaml changes both arrays. The matrix is moved to OCaml, and the vector is a copy.
    let a: Array2<f64> = array![[0., 2., 1.], [1., -2., -3.], [-1., 1., 2.]];
    let b: Array1<f64> = array![-8., 0., 3.];
    let matrix: Boxroot<OCamlArray2<f64>> = Bigarray::from_ndarray(lock, a.clone())?;
    let vector: Boxroot<OCamlArray1<f64>> = b.to_ocaml(lock)?;
    numeric::solve(lock, &matrix, &vector)?;
    let x: Array1<f64> = vector.to_rust(lock)?;
    assert!((a.dot(&x) - &b).iter().all(|error| error.abs() < 1e-9));

    // An array as an argument is copied.
    let error = numeric::solve(lock, Array2::zeros((3, 3)), &b).unwrap_err();
    assert_eq!(numeric::Singular::of(lock, &error)?, Some(numeric::Singular { column: 0 }));

    // Rust threads change the samples of OCaml's result, without OCaml's lock.
    let samples = Array1::from_shape_fn(1 << 20, |i| (i % 4) as f32);
    let samples = Bigarray::from_ndarray(lock, samples)?;
    let smooth = numeric::smooth(lock, 2, &samples)?;
    let view = smooth.view(lock);
    lock.release(|| {
        thread::scope(|scope| {
            for part in view.axis_chunks_iter(ndarray::Axis(0), 1 << 18) {
                scope.spawn(move || part.iter().for_each(|cell| cell.set(10. * cell.get())));
            }
        })
    });
    let mean = smooth.to_rust::<Array1<f32>>(lock)?.mean().unwrap_or_default();
    assert!((mean - 15.).abs() < 0.01);

    println!("x = {x}; the mean of the samples is {mean:.2}");
    Ok(())
}
