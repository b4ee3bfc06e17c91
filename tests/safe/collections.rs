//! Maps, sets, sequences, bigarrays.

use crate::support::safe::*;
use ocaml_boxroot::bigarray::{Array1, Bigarray, Complex64Elt};
use ocaml_boxroot::bigarray::{
    CLayout, FortranLayout, OCamlArray1, OCamlArray2, OCamlArray3, OCamlGenarray,
};
use ocaml_boxroot::markers::{
    OCamlChar, OCamlHashtbl, OCamlInt64, OCamlMap, OCamlNativeint, OCamlSeq, OCamlSet,
};
use ocaml_boxroot::raw::ValueExt;
use ocaml_boxroot::{
    ocaml_functions, Boxroot, CallError, ConversionErrorKind, DomainLock, Function, OCamlAny,
    OCamlFloat, OCamlInt, OCamlList, OCamlString, ToOCaml, Value,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::panic::{catch_unwind, AssertUnwindSafe};

type Table = OCamlHashtbl<OCamlString, OCamlFloat>;

ocaml_functions! {
    unsafe {
        fn words(n: OCamlInt) -> OCamlMap<OCamlString, OCamlFloat> = "words";
        fn number_set(n: OCamlInt) -> OCamlSet<OCamlInt> = "number_set";
        fn words_of_seq(seq: OCamlSeq<(OCamlString, OCamlFloat)>) -> OCamlMap<OCamlString, OCamlFloat> =
            "words_of_seq";
        fn numbers_of_seq(seq: OCamlSeq<OCamlInt>) -> OCamlSet<OCamlInt> = "numbers_of_seq";
        fn numbers_of_list(list: OCamlList<OCamlInt>) -> OCamlSet<OCamlInt> = "numbers_of_list";
        fn table_of_seq(seq: OCamlSeq<(OCamlString, OCamlFloat)>) -> Table = "table_of_seq";
        fn table_to_seq(table: Table) -> OCamlSeq<(OCamlString, OCamlFloat)> = "table_to_seq";
        fn double_all(table: Table) = "double_all";
        fn seq_twice(seq: OCamlSeq<OCamlString>) -> (OCamlList<OCamlString>, OCamlList<OCamlString>) =
            "seq_twice";
        fn seq_in_domains(seq: OCamlSeq<OCamlInt>) -> OCamlInt = "seq_in_domains";
        fn strings(n: OCamlInt) -> OCamlSeq<OCamlString> = "strings";
        fn list_that_goes_round(n: OCamlInt) -> OCamlList<OCamlInt> = "list_that_goes_round";
        fn from(n: OCamlInt) -> OCamlSeq<OCamlInt> = "from";
        fn doubles(n: OCamlInt) -> OCamlArray1<f64> = "doubles";
        fn matrix() -> OCamlArray2<i16, FortranLayout> = "matrix";
        fn cube() -> OCamlArray3<u8> = "cube";
        fn genarray(n: OCamlInt) -> OCamlGenarray<i32> = "genarray";
        fn complex() -> Bigarray<Array1, OCamlAny, Complex64Elt, CLayout> = "complex";
        fn filled(x: OCamlFloat) -> OCamlArray2<f64> = "filled_matrix";
        fn ints() -> OCamlArray1<OCamlInt> = "ints";
        fn chars() -> OCamlArray1<OCamlChar> = "chars";
        fn slice(array: OCamlArray1<f64>) -> OCamlArray1<f64> = "slice";
        fn sum_of_floats(array: OCamlArray1<f64>) -> OCamlFloat = "sum_of_floats";
        fn sum_of_singles(array: OCamlArray1<f32>) -> OCamlFloat = "sum_of_singles";
        fn sum_of_matrix(array: OCamlArray2<f64>) -> OCamlFloat = "sum_of_matrix";
        fn sum_from_one(array: OCamlArray1<f64, FortranLayout>) -> OCamlFloat = "sum_from_one";
        fn sum_of_nativeints(array: OCamlArray1<OCamlNativeint>) -> OCamlString =
            "sum_of_nativeints";
    }
}

test!(association_lists, || {
    with_ocaml(|lock| {
        type Pairs = OCamlList<(OCamlString, OCamlInt)>;
        let map = BTreeMap::from([("a".to_string(), 1), ("b".to_string(), 2)]);
        let list: Boxroot<Pairs> = map.to_ocaml(lock).unwrap();
        assert_eq!(list.to_rust::<Vec<(String, i32)>>(lock), Ok(map.clone().into_iter().collect()));
        assert_eq!(list.to_rust::<BTreeMap<String, i32>>(lock).as_ref(), Ok(&map));
        let hashed: HashMap<String, i32> = list.to_rust(lock).unwrap();
        let list: Boxroot<Pairs> = hashed.to_ocaml(lock).unwrap();
        assert_eq!(list.to_rust(lock), Ok(map));
        // Like OCaml's List.assoc, the conversion takes the first of several values.
        let list: Boxroot<Pairs> = [("a", 1), ("a", 2)].to_ocaml(lock).unwrap();
        assert_eq!(list.to_rust::<HashMap<String, i32>>(lock).unwrap()["a"], 1);
        assert_eq!(list.to_rust::<BTreeMap<String, i32>>(lock).unwrap()["a"], 1);
    });
    assert_no_roots();
});

// Such a list once used up all memory.
test!(a_list_that_goes_round_is_a_mismatch, || {
    with_ocaml(|lock| {
        for length_before in [0, 1, 2, 7, 100] {
            let list: Boxroot<OCamlList<OCamlInt>> =
                list_that_goes_round(lock, length_before).unwrap();
            assert_eq!(list.to_rust::<Vec<isize>>(lock), Err(ConversionErrorKind::Mismatch.into()));
            let begin: Vec<_> = list.get(lock).iter().skip(length_before).take(4).collect();
            assert_eq!(begin.iter().map(|n| n.to_int()).collect::<Vec<_>>(), [1, 2, 3, 1]);
        }
    })
});

test!(maps_and_sets, || {
    with_ocaml(|lock| {
        for n in [0, 1, 2, 10_000] {
            let map: Boxroot<OCamlMap<OCamlString, OCamlFloat>> = words(lock, n).unwrap();
            churn(lock);
            let expected: BTreeMap<String, f64> =
                (0..n).map(|i| (format!("{:05}", i * 7919 % 10007), f64::from(i))).collect();
            assert!(map
                .get(lock)
                .iter()
                .map(|(key, value)| (key.to_string_lossy(), value.to_float()))
                .eq(expected.clone()));
            assert_eq!(map.to_rust::<BTreeMap<String, f64>>(lock).as_ref(), Ok(&expected));
            assert_eq!(map.to_rust::<HashMap<String, f64>>(lock).unwrap().len(), n as usize);
            assert_eq!(map.to_rust::<Vec<(String, f64)>>(lock).unwrap().len(), n as usize);
            let set: Boxroot<OCamlSet<OCamlInt>> = number_set(lock, n).unwrap();
            let expected: Vec<i32> = (0..n).map(|i| i + 1 - n).collect();
            assert_eq!(set.to_rust::<Vec<i32>>(lock).as_ref(), Ok(&expected));
            assert_eq!(set.to_rust::<BTreeSet<i32>>(lock), Ok(expected.iter().copied().collect()));
            assert_eq!(set.to_rust::<HashSet<i32>>(lock).unwrap().len(), n as usize);
        }
        let negative: Result<BTreeSet<u8>, CallError> = number_set(lock, 3);
        let Err(CallError::Conversion(negative)) = negative else { panic!("{negative:?}") };
        assert_eq!(negative.kind(), ConversionErrorKind::OutOfRange);
    });
    assert_no_roots();
});

test!(sequences, || {
    fn take<R>(items: impl Iterator<Item = Result<R, CallError>>) -> Vec<R> {
        items.map(Result::unwrap).collect()
    }
    with_ocaml(|lock| {
        let seq: Boxroot<OCamlSeq<OCamlString>> = strings(lock, 500).unwrap();
        let expected: Vec<String> = (0..500).map(|i| i.to_string()).collect();
        for _ in 0..2 {
            assert_eq!(take(seq.iter::<String>(lock)), expected);
            churn(lock);
        }
        let roots: Vec<Boxroot<OCamlString>> = take(seq.iter(lock));
        churn(lock);
        assert!(roots.iter().zip(&expected).all(|(root, s)| root.get(lock).as_str() == Ok(s)));
        let (first, rest) = seq.uncons(lock).unwrap().unwrap();
        assert_eq!(first.get(lock).to_string_lossy(), "0");
        assert_eq!(rest.iter::<String>(lock).count(), 499);
        let failing: Boxroot<OCamlSeq<OCamlInt>> = from(lock, 998).unwrap();
        let mut items = failing.iter::<i32>(lock);
        assert_eq!([(); 3].map(|()| items.next().unwrap().unwrap()), [998, 999, 1000]);
        assert!(matches!(items.next(), Some(Err(CallError::Exception(_)))));
        assert!(items.next().is_none() && items.next().is_none());
        let mut items = failing.iter::<u8>(lock);
        assert!(matches!(
            items.next(),
            Some(Err(CallError::Conversion(error))) if error.kind() == ConversionErrorKind::OutOfRange
        ));
        assert!(items.next().is_none());
    });
    assert_no_roots();
});

test!(sequences_from_rust, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for n in [0, 1, 2, 2000] {
            let texts: Vec<String> = (0..n).map(|i| i.to_string()).collect();
            let seq: Boxroot<OCamlSeq<OCamlString>> = texts.to_ocaml(lock).unwrap();
            churn(lock);
            let twice: (Vec<String>, Vec<String>) = seq_twice(lock, &seq).unwrap();
            assert_eq!(twice, (texts.clone(), texts.clone()));
            let back: Result<Vec<String>, CallError> = seq.iter(lock).collect();
            assert_eq!(back.unwrap(), texts);
        }
        let queue = VecDeque::from([1, 2]);
        let of_queue: Boxroot<OCamlSeq<OCamlInt>> = queue.to_ocaml(lock).unwrap();
        assert_eq!(of_queue.iter::<i32>(lock).map(Result::unwrap).collect::<VecDeque<_>>(), queue);
        // No sequence is made if an element cannot be converted.
        let refused = ToOCaml::<OCamlSeq<OCamlInt>>::to_ocaml(&[1, u64::MAX], lock);
        assert_eq!(refused.err(), Some(ConversionErrorKind::OutOfRange.into()));
        drop(of_queue);
        full_major(lock);
        full_major(lock);
    });
    assert_no_roots();
});

test!(sequences_from_rust_in_domains, ocaml = 5, || {
    with_ocaml(|lock| {
        let numbers: Vec<i64> = (0..300).collect();
        assert_eq!(seq_in_domains::<i64>(lock, numbers).unwrap(), 299 * 150);
    });
});

test!(maps_and_sets_to_ocaml, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for n in [0, 1, 2, 1000] {
            let map: BTreeMap<String, f64> =
                (0..n).map(|i| (i.to_string(), f64::from(i))).collect();
            let back: BTreeMap<String, f64> = words_of_seq(lock, &map).unwrap();
            assert_eq!(back, map);
            let hashed: HashMap<String, f64> = map.clone().into_iter().collect();
            let back: HashMap<String, f64> = words_of_seq(lock, &hashed).unwrap();
            assert_eq!(back, hashed);
            let set: BTreeSet<i32> = (0..n).map(|i| i * 7919 % 10007).collect();
            assert_eq!(numbers_of_seq::<BTreeSet<i32>>(lock, &set).unwrap(), set);
            let hashed: HashSet<i32> = set.iter().copied().collect();
            assert_eq!(numbers_of_seq::<BTreeSet<i32>>(lock, &hashed).unwrap(), set);
            assert_eq!(numbers_of_list::<HashSet<i32>>(lock, &set).unwrap(), hashed);
            assert_eq!(numbers_of_list::<BTreeSet<i32>>(lock, &hashed).unwrap(), set);
        }
    });
});

test!(hash_tables, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for n in [0, 1, 2, 3000] {
            let map: HashMap<String, f64> = (0..n).map(|i| (i.to_string(), f64::from(i))).collect();
            let table: Boxroot<Table> = table_of_seq(lock, &map).unwrap();
            churn(lock);
            double_all(lock, &table).unwrap();
            let elements: Boxroot<OCamlSeq<(OCamlString, OCamlFloat)>> =
                table_to_seq(lock, &table).unwrap();
            let doubled: HashMap<String, f64> =
                elements.iter(lock).collect::<Result<_, CallError>>().unwrap();
            assert_eq!(doubled.len(), map.len());
            assert!(map.iter().all(|(key, x)| doubled[key] == 2. * x));
        }
    });
});

test!(bigarrays, || {
    with_ocaml(|lock| {
        let array: Boxroot<OCamlArray1<f64>> = doubles(lock, 1000).unwrap();
        churn(lock);
        let cells = array.get(lock).cells();
        assert!(cells.iter().enumerate().all(|(i, cell)| cell.get() == i as f64));
        // SAFETY: nothing changes the bigarray meanwhile, because no other thread runs.
        assert_eq!(unsafe { array.get(lock).as_slice() }[999], 999.);
        cells[3].set(1e6);
        assert_eq!(sum_of_floats::<f64>(lock, &array).unwrap(), 499_500. - 3. + 1e6);
        let part: Boxroot<OCamlArray1<f64>> = slice(lock, &array).unwrap();
        drop(array);
        churn(lock);
        assert_eq!(part.to_rust::<Vec<f64>>(lock), Ok(vec![2., 1e6, 4.]));
        let least = isize::MIN >> 1;
        assert_eq!(ints::<Vec<isize>>(lock).unwrap(), [least, -1, !least]);
        assert_eq!(chars::<Vec<u8>>(lock).unwrap(), [b'a', 255]);
        let empty: Boxroot<OCamlArray1<f64>> = doubles(lock, 0).unwrap();
        assert!(empty.get(lock).cells().is_empty());
        let chars: Boxroot<Function<(), OCamlArray1<f64>>> = function(lock, "chars");
        let (wrong, _) = chars.call(lock).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| wrong.cells().len())).is_err());
    });
    assert_no_roots();
});

test!(bigarrays_of_several_dimensions, || {
    macro_rules! all {
        ($root:ident, $lock:ident) => {
            $root.get($lock).cells().iter().map(|cell| cell.get()).collect::<Vec<_>>()
        };
    }
    with_ocaml(|lock| {
        let matrix: Boxroot<OCamlArray2<i16, FortranLayout>> = matrix(lock).unwrap();
        let cube: Boxroot<OCamlArray3<u8>> = cube(lock).unwrap();
        let any: Boxroot<OCamlGenarray<i32>> = genarray(lock, 4).unwrap();
        let none: Boxroot<OCamlGenarray<i32>> = genarray(lock, 0).unwrap();
        let filled: Boxroot<OCamlArray2<f64>> = filled(lock, 0.5).unwrap();
        churn(lock);
        assert_eq!(matrix.get(lock).dimensions(), [2, 3]);
        assert_eq!(all!(matrix, lock), [1, 4, 2, 5, 3, 6], "by columns");
        let at = |i, j| matrix.get(lock).cell([i, j]).map(|cell| cell.get());
        assert_eq!([at(1, 1), at(1, 3), at(2, 1), at(2, 3)], [Some(1), Some(3), Some(4), Some(6)]);
        assert_eq!([at(0, 1), at(1, 0), at(3, 1), at(2, 4), at(usize::MAX, 1)], [None; 5]);
        assert_eq!(cube.get(lock).dimensions(), [1, 2, 3]);
        let at = |i, j, k| cube.get(lock).cell([i, j, k]).map(|cell| cell.get());
        assert_eq!([at(0, 0, 0), at(0, 0, 2), at(0, 1, 0)], [Some(1), Some(3), Some(4)]);
        assert_eq!([at(1, 0, 0), at(0, 2, 0), at(0, 0, 3), at(0, 1, usize::MAX)], [None; 4]);
        let at = |index: &[usize]| any.get(lock).cell(index.to_vec()).map(|cell| cell.get());
        assert_eq!([at(&[0, 1, 2, 3]), at(&[0, 1, 2])], [Some(7), None]);
        assert_eq!(none.get(lock).cell(vec![]).map(|cell| cell.get()), Some(7));
        assert_eq!(all!(cube, lock), [1, 2, 3, 4, 5, 6], "the last index is the nearest");
        assert_eq!(any.get(lock).dimensions(), [1, 2, 3, 4]);
        assert_eq!(any.get(lock).cells().len(), 24);
        assert_eq!((none.get(lock).dimensions(), all!(none, lock)), (vec![], vec![7]));
        filled.get(lock).cells()[5].set(2.);
        assert_eq!(sum_of_matrix::<f64>(lock, &filled).unwrap(), 4.5);
        // SAFETY: nothing changes the bigarray meanwhile, because no other thread runs.
        assert_eq!(unsafe { filled.get(lock).as_slice() }, [0.5, 0.5, 0.5, 0.5, 0.5, 2.]);
        let complex: Boxroot<Bigarray<Array1, OCamlAny, Complex64Elt, CLayout>> =
            complex(lock).unwrap();
        assert_eq!(complex.get(lock).dimensions(), [3]);
        assert!(complex.get(lock).has_form());
    });
    assert_no_roots();
});

// A bigarray of another kind, layout or number of dimensions does not have the form of the type.
test!(forms_of_bigarrays, || {
    fn forms<T>(lock: &DomainLock, array: &Boxroot<T>) -> Vec<bool> {
        macro_rules! has_form {
            ($($type:ty),* $(,)?) => {
                // SAFETY: the value is live, and is only asked for its form.
                vec![$(unsafe { Value::<$type>::from_raw(array.get(lock).raw()) }.has_form()),*]
            };
        }
        has_form![
            OCamlArray1<f64>,
            OCamlArray1<f64, FortranLayout>,
            OCamlArray1<f32>,
            OCamlArray2<f64>,
            OCamlArray2<f64, FortranLayout>,
            OCamlArray3<f64>,
            OCamlGenarray<f64>,
            OCamlGenarray<f64, FortranLayout>,
            OCamlGenarray<i64>,
            OCamlInt64,
        ]
    }
    with_ocaml(|lock| {
        let c: Boxroot<OCamlArray1<f64>> = [0.5].to_ocaml(lock).unwrap();
        let fortran: Boxroot<OCamlArray1<f64, FortranLayout>> = [0.5].to_ocaml(lock).unwrap();
        let two = filled::<Boxroot<_>>(lock, 0.5).unwrap();
        let own = |i: &[usize]| (0..10).map(|n| i.contains(&n)).collect::<Vec<bool>>();
        assert_eq!(forms(lock, &c), own(&[0, 6]));
        assert_eq!(forms(lock, &fortran), own(&[1, 7]));
        assert_eq!(forms(lock, &two), own(&[3, 6]));
    });
    assert_no_roots();
});

test!(bigarrays_from_rust, || {
    fn doubles(lock: &mut DomainLock, data: &[f64]) -> Boxroot<OCamlArray1<f64>> {
        data.to_ocaml(lock).unwrap()
    }
    with_ocaml(|lock| {
        let data: Vec<f64> = (0..100_000).map(f64::from).collect();
        let array = doubles(lock, &data);
        churn(lock);
        assert_eq!(array.to_rust::<Vec<f64>>(lock).as_ref(), Ok(&data));
        assert_eq!(sum_of_floats::<f64>(lock, &array).unwrap(), 4_999_950_000.);
        // All together need more memory than there is, unless the collector frees them.
        for _ in 0..2000 {
            doubles(lock, &[0.; 100_000]);
        }
        let floats: Boxroot<OCamlArray1<f32>> = [0.5f32, 0.25].to_ocaml(lock).unwrap();
        assert_eq!(sum_of_singles::<f64>(lock, &floats).unwrap(), 0.75);
        let n: Boxroot<OCamlArray1<OCamlNativeint>> = [isize::MAX, -1].to_ocaml(lock).unwrap();
        assert_eq!(sum_of_nativeints::<String>(lock, &n).unwrap(), (isize::MAX - 1).to_string());
        let fortran: Boxroot<OCamlArray1<f64, FortranLayout>> = data.to_ocaml(lock).unwrap();
        assert_eq!(sum_from_one::<f64>(lock, &fortran).unwrap(), 4_999_950_000.);
        assert_eq!(fortran.to_rust::<Vec<f64>>(lock).as_ref(), Ok(&data));
        let empty = doubles(lock, &[]);
        assert_eq!(sum_of_floats::<f64>(lock, empty).unwrap(), 0.);
        const LARGEST: isize = isize::MAX >> 1;
        let mut ints = vec![LARGEST, -LARGEST - 1];
        let root: Boxroot<OCamlArray1<OCamlInt>> = ints.to_ocaml(lock).unwrap();
        assert_eq!(root.to_rust(lock), Ok(ints.clone()));
        for too_large in [LARGEST + 1, -LARGEST - 2, isize::MIN] {
            ints[1] = too_large;
            let refused = ToOCaml::<OCamlArray1<OCamlInt>>::to_ocaml(&ints, lock);
            assert_eq!(refused.err(), Some(ConversionErrorKind::OutOfRange.into()));
        }
    });
    assert_no_roots();
});
