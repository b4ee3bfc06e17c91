//! Maps, sets, sequences, bigarrays.

use crate::support::safe::*;
use ocaml_boxroot::{
    ocaml_functions, Boxroot, CallError, DomainLock, Error, Function, OCamlBigarray, OCamlChar,
    OCamlFloat, OCamlInt, OCamlList, OCamlMap, OCamlNativeint, OCamlSeq, OCamlSet, OCamlString,
    ToOCaml,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::{catch_unwind, AssertUnwindSafe};

ocaml_functions! {
    unsafe {
        fn words(n: OCamlInt) -> OCamlMap<OCamlString, OCamlFloat> = "words";
        fn number_set(n: OCamlInt) -> OCamlSet<OCamlInt> = "number_set";
        fn strings(n: OCamlInt) -> OCamlSeq<OCamlString> = "strings";
        fn list_that_goes_round(n: OCamlInt) -> OCamlList<OCamlInt> = "list_that_goes_round";
        fn from(n: OCamlInt) -> OCamlSeq<OCamlInt> = "from";
        fn doubles(n: OCamlInt) -> OCamlBigarray<f64> = "doubles";
        fn matrix() -> OCamlBigarray<i16> = "matrix";
        fn ints() -> OCamlBigarray<OCamlInt> = "ints";
        fn chars() -> OCamlBigarray<OCamlChar> = "chars";
        fn slice(array: OCamlBigarray<f64>) -> OCamlBigarray<f64> = "slice";
        fn sum_of_floats(array: OCamlBigarray<f64>) -> OCamlFloat = "sum_of_floats";
        fn sum_of_singles(array: OCamlBigarray<f32>) -> OCamlFloat = "sum_of_singles";
        fn sum_of_nativeints(array: OCamlBigarray<OCamlNativeint>) -> OCamlString =
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
        // As for OCaml's List.assoc, the first of several values counts.
        let list: Boxroot<Pairs> = [("a", 1), ("a", 2)].to_ocaml(lock).unwrap();
        assert_eq!(list.to_rust::<HashMap<String, i32>>(lock).unwrap()["a"], 1);
        assert_eq!(list.to_rust::<BTreeMap<String, i32>>(lock).unwrap()["a"], 1);
    });
    assert_no_roots();
});

// Such a list once filled the memory.
test!(a_list_that_goes_round_is_a_mismatch, || {
    with_ocaml(|lock| {
        for length_before in [0, 1, 2, 7, 100] {
            let list: Boxroot<OCamlList<OCamlInt>> =
                list_that_goes_round(lock, length_before).unwrap();
            assert_eq!(list.to_rust::<Vec<isize>>(lock), Err(Error::Mismatch));
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
        let Err(CallError::Error(negative)) = negative else { panic!("{negative:?}") };
        assert_eq!(negative.reason(), &Error::OutOfRange);
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
        assert!(matches!(items.next(), Some(Err(CallError::Error(Error::OutOfRange)))));
        assert!(items.next().is_none());
    });
    assert_no_roots();
});

test!(bigarrays, || {
    with_ocaml(|lock| {
        let array: Boxroot<OCamlBigarray<f64>> = doubles(lock, 1000).unwrap();
        churn(lock);
        let cells = array.get(lock).cells();
        assert!(cells.iter().enumerate().all(|(i, cell)| cell.get() == i as f64));
        // SAFETY: nothing changes the bigarray meanwhile, because no other thread runs.
        assert_eq!(unsafe { array.get(lock).as_slice() }[999], 999.);
        cells[3].set(1e6);
        assert_eq!(sum_of_floats::<f64>(lock, &array).unwrap(), 499_500. - 3. + 1e6);
        let part: Boxroot<OCamlBigarray<f64>> = slice(lock, &array).unwrap();
        drop(array);
        churn(lock);
        assert_eq!(part.to_rust::<Vec<f64>>(lock), Ok(vec![2., 1e6, 4.]));
        let matrix: Boxroot<OCamlBigarray<i16>> = matrix(lock).unwrap();
        assert_eq!(matrix.get(lock).dimensions(), [2, 3]);
        assert_eq!(matrix.to_rust::<Vec<i16>>(lock), Ok(vec![1, 4, 2, 5, 3, 6]), "by columns");
        let least = isize::MIN >> 1;
        assert_eq!(ints::<Vec<isize>>(lock).unwrap(), [least, -1, !least]);
        assert_eq!(chars::<Vec<u8>>(lock).unwrap(), [b'a', 255]);
        let empty: Boxroot<OCamlBigarray<f64>> = doubles(lock, 0).unwrap();
        assert!(empty.get(lock).cells().is_empty());
        let chars: Boxroot<Function<(), OCamlBigarray<f64>>> = function(lock, "chars");
        let (wrong, _) = chars.call(lock).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| wrong.cells().len())).is_err());
    });
    assert_no_roots();
});

test!(bigarrays_from_rust, || {
    fn doubles(lock: &mut DomainLock, data: &[f64]) -> Boxroot<OCamlBigarray<f64>> {
        data.to_ocaml(lock).unwrap()
    }
    with_ocaml(|lock| {
        let data: Vec<f64> = (0..100_000).map(f64::from).collect();
        let array = doubles(lock, &data);
        churn(lock);
        assert_eq!(array.to_rust::<Vec<f64>>(lock), Ok(data));
        assert_eq!(sum_of_floats::<f64>(lock, &array).unwrap(), 4_999_950_000.);
        // Altogether more than there is memory for, unless the collector frees them.
        for _ in 0..2000 {
            doubles(lock, &[0.; 100_000]);
        }
        let floats: Boxroot<OCamlBigarray<f32>> = [0.5f32, 0.25].to_ocaml(lock).unwrap();
        assert_eq!(sum_of_singles::<f64>(lock, &floats).unwrap(), 0.75);
        let n: Boxroot<OCamlBigarray<OCamlNativeint>> = [isize::MAX, -1].to_ocaml(lock).unwrap();
        assert_eq!(sum_of_nativeints::<String>(lock, &n).unwrap(), (isize::MAX - 1).to_string());
        let empty = doubles(lock, &[]);
        assert_eq!(sum_of_floats::<f64>(lock, empty).unwrap(), 0.);
        const LARGEST: isize = isize::MAX >> 1;
        let mut ints = vec![LARGEST, -LARGEST - 1];
        let root: Boxroot<OCamlBigarray<OCamlInt>> = ints.to_ocaml(lock).unwrap();
        assert_eq!(root.to_rust(lock), Ok(ints.clone()));
        for too_large in [LARGEST + 1, -LARGEST - 2, isize::MIN] {
            ints[1] = too_large;
            let refused = ToOCaml::<OCamlBigarray<OCamlInt>>::to_ocaml(&ints, lock);
            assert_eq!(refused.err(), Some(Error::OutOfRange));
        }
    });
    assert_no_roots();
});
