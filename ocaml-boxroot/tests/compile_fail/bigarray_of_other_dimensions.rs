//! OCaml's types of bigarrays are different types: an array of one dimension, taken for a matrix,
//! has no second size.

use ocaml_boxroot::{
    Boxroot, DomainLock, Error, FortranLayout, OCamlArray1, OCamlArray2, OCamlChar, OCamlGenarray, ToOCaml,
};

/// A function of OCaml's `(float, float64_elt, c_layout) Array2.t`.
fn sum(_: &mut DomainLock, _: impl ToOCaml<OCamlArray2<f64>>) {}

fn vector(lock: &mut DomainLock) -> Result<(), Error> {
    sum(lock, [0.5, 1.5]); //~ E0277 no OCaml value of type `Bigarray<Array2, OCamlFloat, Float64Elt, CLayout>` is made from a `[f
    let vector: Boxroot<OCamlArray1<f64>> = [0.5, 1.5].to_ocaml(lock)?;
    sum(lock, &vector); //~ E0277 no OCaml value of type `Bigarray<Array2, OCamlFloat, Float64Elt, CLayout>` is made from a `Boxroot<
    Ok(())
}

fn layout(lock: &mut DomainLock, matrix: Boxroot<OCamlArray2<f64, FortranLayout>>) {
    sum(lock, matrix); //~ E0277 is made from a `Boxroot<
}

fn any(lock: &mut DomainLock, tensor: Boxroot<OCamlGenarray<f64>>) {
    sum(lock, tensor); //~ E0277 is made from a `Boxroot<
}

fn copies(lock: &DomainLock, matrix: Boxroot<OCamlArray2<f64>>) -> Result<Vec<f64>, Error> {
    matrix.to_rust(lock) //~ E0277 an OCaml value of type `Bigarray<Array2, OCamlFloat, Float64Elt, CLayout>` cannot be copied to a `Vec<f64>`
}

/// OCaml's kinds `int8_unsigned` and `char` are not one type.
fn bytes(characters: Boxroot<OCamlArray1<OCamlChar>>) -> Boxroot<OCamlArray1<u8>> {
    characters //~ E0308 mismatched types
}

fn main() {}
