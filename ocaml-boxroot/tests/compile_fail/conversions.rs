use ocaml_boxroot::bigarray::{FortranLayout, OCamlArray1, OCamlArray2, OCamlGenarray};
use ocaml_boxroot::markers::OCamlChar;
use ocaml_boxroot::{Boxroot, CallError, ConversionError, DomainLock, Error, OCamlInt, OCamlString, RootRef, ToOCaml, ocaml_functions, ocaml_type};

//# conversions_that_are_not_there
// The messages name both types.
ocaml_type! { //~ E0277 cannot convert `f64` to the OCaml type `OCamlInt`
    //~| E0277 cannot convert the OCaml type `OCamlInt` to `f64`
    struct OCamlCity for City { name: OCamlString, height: OCamlInt }
}

struct City {
    name: String,
    height: f64,
}

ocaml_functions! {
    unsafe {
        fn length(text: OCamlString) -> OCamlInt = "length";
        fn height(city: OCamlCity) -> OCamlInt = "height";
    }
}

fn argument(lock: &mut DomainLock) -> Result<i64, CallError> {
    length(lock, 5) //~ E0277 cannot convert `{integer}` to the OCaml type `OCamlString`
}

fn result(lock: &mut DomainLock) -> Result<String, CallError> {
    length(lock, "text") //~ E0277 cannot convert the OCaml type `OCamlInt` to `String`
}

fn record(lock: &mut DomainLock, city: (String, i64)) -> Result<i64, CallError> {
    height(lock, city) //~ E0277 cannot convert `(String, i64)` to the OCaml type `OCamlCity`
}

//# bigarray_of_other_elements
// Bigarrays only have element types that OCaml knows.
fn wrong(lock: &DomainLock, array: &RootRef<OCamlArray1<String>>) -> usize {
    //~^ E0277 `String` cannot be the element type of a bigarray
    array.get(lock).cells().len()
}

//# bigarray_of_other_dimensions
// OCaml's bigarrays of different dimensions have different types: a matrix needs a second size,
// which an array of one dimension does not have.

/// A function that takes an OCaml `(float, float64_elt, c_layout) Array2.t`.
fn sum(_: &mut DomainLock, _: impl ToOCaml<OCamlArray2<f64>>) {}

fn vector(lock: &mut DomainLock) -> Result<(), Error> {
    sum(lock, [0.5, 1.5]); //~ E0277 cannot convert `[
    let vector: Boxroot<OCamlArray1<f64>> = [0.5, 1.5].to_ocaml(lock)?;
    sum(lock, &vector); //~ E0277 cannot convert `Boxroot<
    Ok(())
}

fn layout(lock: &mut DomainLock, matrix: Boxroot<OCamlArray2<f64, FortranLayout>>) {
    sum(lock, matrix); //~ E0277 cannot convert `Boxroot<
}

fn any(lock: &mut DomainLock, tensor: Boxroot<OCamlGenarray<f64>>) {
    sum(lock, tensor); //~ E0277 cannot convert `Boxroot<
}

fn copies(lock: &DomainLock, matrix: Boxroot<OCamlArray2<f64>>) -> Result<Vec<f64>, ConversionError> {
    matrix.to_rust(lock) //~ E0277 cannot convert the OCaml type `Bigarray<Array2, OCamlFloat, Float64Elt, CLayout>` to `Vec<f64>`
}

/// OCaml's kinds `int8_unsigned` and `char` are not one type.
fn bytes(characters: Boxroot<OCamlArray1<OCamlChar>>) -> Boxroot<OCamlArray1<u8>> {
    characters //~ E0308 mismatched types
}
