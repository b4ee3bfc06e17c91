//! Bigarrays as arrays of the crate ndarray.

use crate::support::safe::*;
use ndarray::{array, s, Array1, Array2, Array3, ArrayD, Axis, Ix1, Ix2, IxDyn, SliceArg};
use ocaml_boxroot::bigarray::{
    Bigarray, FortranLayout, OCamlArray1, OCamlArray2, OCamlArray3, OCamlGenarray,
};
use ocaml_boxroot::{ocaml_functions, Boxroot, ConversionErrorKind, OCamlFloat, OCamlInt, ToOCaml};
use std::thread;

ocaml_functions! {
    unsafe {
        fn sum_of_floats(array: OCamlArray1<f64>) -> OCamlFloat = "sum_of_floats";
        fn sum_of_matrix(array: OCamlArray2<f64>) -> OCamlFloat = "sum_of_matrix";
    }
}

fn counted(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (10 * i + j) as f64)
}

/// (The macro has an `allow(unsafe_code)`.)
fn every_second() -> impl SliceArg<Ix2, OutDim = Ix2> {
    s![..;2, 1..;-1]
}

fn third_to_fifth() -> impl SliceArg<Ix1, OutDim = Ix1> {
    s![2..5]
}

test!(arrays_of_ndarray_are_copied, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let matrix = counted(3, 4);
        let c: Boxroot<OCamlArray2<f64>> = matrix.to_ocaml(lock).unwrap();
        let fortran: Boxroot<OCamlArray2<f64, FortranLayout>> = matrix.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(c.get(lock).dimensions(), [3, 4]);
        assert_eq!(c.get(lock).cell([1, 2]).unwrap().get(), 12.);
        assert_eq!(fortran.get(lock).cell([2, 3]).unwrap().get(), 12.);
        assert_eq!((c.cells(lock)[1].get(), fortran.cells(lock)[1].get()), (1., 10.));
        assert_eq!(c.to_rust::<Array2<f64>>(lock).unwrap(), matrix);
        assert_eq!(fortran.to_rust::<Array2<f64>>(lock).unwrap(), matrix);
        // Views whose elements are not in memory order.
        let part = matrix.slice(every_second());
        let copy: Boxroot<OCamlArray2<f64>> = part.to_ocaml(lock).unwrap();
        assert_eq!(copy.to_rust::<Array2<f64>>(lock).unwrap(), part);
        let sum = sum_of_matrix::<f64>(lock, matrix.t()).unwrap();
        assert_eq!(sum, matrix.sum());
        assert_eq!(sum_of_floats::<f64>(lock, matrix.column(1)).unwrap(), 33.);
        // Arrays of other kinds and numbers of dimensions.
        let three = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as u8);
        let copy: Boxroot<OCamlArray3<u8>> = three.to_ocaml(lock).unwrap();
        assert_eq!(copy.to_rust::<Array3<u8>>(lock).unwrap(), three);
        let any = ArrayD::from_shape_vec(IxDyn(&[]), vec![7]).unwrap();
        let copy: Boxroot<OCamlGenarray<i32>> = any.to_ocaml(lock).unwrap();
        assert_eq!(copy.to_rust::<ArrayD<i32>>(lock).unwrap(), any);
        let empty = Array2::<f64>::zeros((0, 4));
        let copy: Boxroot<OCamlArray2<f64, FortranLayout>> = empty.to_ocaml(lock).unwrap();
        assert_eq!(copy.to_rust::<Array2<f64>>(lock).unwrap(), empty);
        let error = ToOCaml::<OCamlArray1<OCamlInt>>::to_ocaml(&array![isize::MAX], lock);
        assert_eq!(error.unwrap_err().kind(), ConversionErrorKind::OutOfRange);
    });
    assert_no_roots();
});

test!(arrays_of_ndarray_are_moved, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for transposed in [false, true] {
            let matrix = counted(3, 4);
            let (before, matrix) = (
                matrix.as_ptr() as usize,
                match transposed {
                    true => matrix.reversed_axes(),
                    false => matrix,
                },
            );
            let c: Boxroot<OCamlArray2<f64>> =
                Bigarray::from_ndarray(lock, matrix.clone()).unwrap();
            assert_eq!(c.to_rust::<Array2<f64>>(lock).unwrap(), matrix);
            let fortran: Boxroot<OCamlArray2<f64, FortranLayout>> =
                Bigarray::from_ndarray(lock, matrix.clone()).unwrap();
            assert_eq!(fortran.to_rust::<Array2<f64>>(lock).unwrap(), matrix);
            let expected = matrix.clone();
            let moved = match transposed {
                true => {
                    let root: Boxroot<OCamlArray2<f64, FortranLayout>> =
                        Bigarray::from_ndarray(lock, matrix).unwrap();
                    assert_eq!(root.view(lock).map(|cell| cell.get()), expected);
                    root.cells(lock).as_ptr() as usize
                }
                false => {
                    let root: Boxroot<OCamlArray2<f64>> =
                        Bigarray::from_ndarray(lock, matrix).unwrap();
                    assert_eq!(root.view(lock).map(|cell| cell.get()), expected);
                    root.cells(lock).as_ptr() as usize
                }
            };
            assert_eq!(moved, before, "a copy");
        }
        // A part of an array's memory, and a reversed one.
        let mut numbers = Array1::from_iter((0..6).map(f64::from));
        numbers.slice_collapse(third_to_fifth());
        let root: Boxroot<OCamlArray1<f64>> =
            Bigarray::from_ndarray(lock, numbers.clone()).unwrap();
        assert_eq!(sum_of_floats::<f64>(lock, &root).unwrap(), 9.);
        numbers.invert_axis(Axis(0));
        let root: Boxroot<OCamlArray1<f64>> = Bigarray::from_ndarray(lock, numbers).unwrap();
        assert_eq!(root.cells(lock)[0].get(), 4.);
    });
    assert_no_roots();
});

test!(views_of_ndarray_while_ocaml_runs, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let matrix: Boxroot<OCamlArray2<f64, FortranLayout>> =
            Bigarray::from_ndarray(lock, Array2::zeros((100, 40))).unwrap();
        assert_eq!(matrix.get(lock).view().dim(), (100, 40));
        let view = matrix.view(lock);
        thread::scope(|scope| {
            for (i, row) in view.axis_iter(Axis(0)).enumerate() {
                scope.spawn(move || row.iter().for_each(|cell| cell.set(i as f64)));
            }
            churn(lock);
            full_major(lock);
        });
        for (i, row) in matrix.to_rust::<Array2<f64>>(lock).unwrap().outer_iter().enumerate() {
            assert!(row.iter().all(|number| *number == i as f64));
        }
    });
    assert_no_roots();
});
