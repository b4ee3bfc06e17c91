//! Conversions, and the functions for building conversions of other types.

use crate::functions::{
    extremes, flip, float_array, numbers, rotate, same, show_numbers, show_uchar, string_array,
    uchars, unsafe_uchars,
};
use crate::support::safe::*;
use ocaml_boxroot::debug::{stats, Kind};
use ocaml_boxroot::exceptions::SysError;
use ocaml_boxroot::markers::{OCamlChar, OCamlInt32, OCamlInt64, OCamlNativeint, OCamlUchar};
use ocaml_boxroot::raw::{DomainLockExt, ValueExt};
use ocaml_boxroot::{
    ocaml_functions, AttachError, Boxroot, ConversionError, ConversionErrorKind, DomainLock,
    FromOCaml, Function, OCamlAny, OCamlArray, OCamlBytes, OCamlFloat, OCamlInt, OCamlList,
    OCamlString, Runtime, StartError, ToOCaml, Value,
};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::num::Wrapping;
use std::os::unix::ffi::OsStrExt;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

test!(strings_of_all_lengths, || {
    with_ocaml(|lock| {
        for length in (0..40).chain([255 * 8, 256 * 8 - 1, 256 * 8, 256 * 8 + 1, 1_000_000]) {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let (value, _) = lock.alloc_string(&bytes).unwrap();
            assert_eq!(value.to_bytes(), bytes);
            let root: Boxroot<OCamlBytes> = bytes.to_ocaml(lock).unwrap();
            assert_eq!(root.get(lock).to_bytes(), bytes);
            assert_eq!(root.to_rust::<Vec<u8>>(lock).as_ref(), Ok(&bytes));
        }
    })
});

test!(texts_floats_and_queues, forbid(unsafe_code), || {
    fn back<T, A: ToOCaml<T>, B: FromOCaml<T>>(lock: &mut DomainLock, x: A) -> B {
        let root: Boxroot<T> = x.to_ocaml(lock).unwrap();
        churn(lock);
        root.to_rust(lock).unwrap()
    }
    fn refused<B: FromOCaml<OCamlFloat>>(lock: &mut DomainLock, x: f64) -> ConversionErrorKind {
        let root: Boxroot<OCamlFloat> = x.to_ocaml(lock).unwrap();
        root.to_rust::<B>(lock).map(drop).unwrap_err().kind()
    }
    with_ocaml(|lock| {
        type S = OCamlString;
        assert_eq!(back::<S, _, Cow<str>>(lock, Cow::Borrowed("lent")), "lent");
        assert_eq!(&*back::<S, _, Box<str>>(lock, "boxed"), "boxed");
        assert_eq!(&*back::<S, _, Rc<str>>(lock, Rc::<str>::from("counted")), "counted");
        assert_eq!(&*back::<S, _, Arc<str>>(lock, Arc::<str>::from("shared")), "shared");
        let path = Path::new(OsStr::from_bytes(b"/tmp/\xff"));
        assert_eq!(back::<S, _, PathBuf>(lock, path), path);
        assert_eq!(back::<S, _, PathBuf>(lock, path.to_owned()), path);
        assert_eq!(back::<S, _, OsString>(lock, path.as_os_str()), path);
        let bytes: Boxroot<S> = path.as_os_str().to_owned().to_ocaml(lock).unwrap();
        let text = bytes.to_rust::<Arc<str>>(lock);
        assert_eq!(text.unwrap_err().kind(), ConversionErrorKind::NotUtf8);

        assert_eq!(back::<OCamlFloat, _, f64>(lock, 0.1f32), f64::from(0.1f32));
        assert_eq!(back::<OCamlFloat, _, f32>(lock, 0.1f64), 0.1f32);
        assert_eq!(back::<OCamlFloat, _, f32>(lock, f64::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(back::<OCamlFloat, _, f32>(lock, f64::NAN).is_nan());
        assert_eq!(refused::<f32>(lock, 1e39), ConversionErrorKind::OutOfRange);
        let time = Duration::from_millis(1500);
        assert_eq!(back::<OCamlFloat, _, f64>(lock, time), 1.5);
        assert_eq!(back::<OCamlFloat, _, Duration>(lock, time), time);
        for x in [-1., f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(refused::<Duration>(lock, x), ConversionErrorKind::OutOfRange);
        }

        let mut queue: VecDeque<f32> = [2., 3.].into();
        queue.push_front(1.);
        assert_eq!(back::<OCamlList<OCamlFloat>, _, VecDeque<f32>>(lock, queue.clone()), queue);
        assert_eq!(back::<OCamlArray<OCamlFloat>, _, VecDeque<f32>>(lock, queue.clone()), queue);
        assert_eq!(back::<OCamlArray<OCamlFloat>, _, Vec<f64>>(lock, queue), [1., 2., 3.]);
    });
    assert_no_roots();
});

test!(accessors_of_values, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        assert_eq!(Value::char(b'a').to_byte(), b'a');
        let yes: Boxroot<bool> = true.to_ocaml(lock).unwrap();
        assert!(yes.get(lock).to_bool());
        let small: Boxroot<OCamlInt32> = i32::MIN.to_ocaml(lock).unwrap();
        assert_eq!(small.get(lock).to_int32(), i32::MIN);
        let some: Boxroot<Option<OCamlInt>> = Some(7).to_ocaml(lock).unwrap();
        assert_eq!(some.get(lock).to_option().map(|n| n.to_int()), Some(7));
        let none: Boxroot<Option<OCamlInt>> = None::<i64>.to_ocaml(lock).unwrap();
        assert!(none.get(lock).to_option().is_none());
        let pair: Boxroot<(OCamlInt, OCamlString)> = (7, "seven").to_ocaml(lock).unwrap();
        let (number, name) = pair.get(lock).to_pair();
        assert_eq!((number.to_int(), name.as_str()), (7, Ok("seven")));
        let failed = SysError("no such file".into()).exception(lock).unwrap();
        assert_eq!(failed.text(), "Sys_error(\"no such file\")");
    })
});

/// Copies `x` to OCaml, collects, and copies it back.
fn round_trip<T, R: ToOCaml<T> + FromOCaml<T>>(lock: &mut DomainLock, x: &R) -> R {
    let root: Boxroot<T> = x.to_ocaml(lock).unwrap();
    churn(lock);
    root.to_rust(lock).unwrap()
}

test!(conversions_there_and_back, || {
    with_ocaml(|lock| {
        round_trip::<(), ()>(lock, &());
        assert!(round_trip::<bool, _>(lock, &true) && !round_trip::<bool, _>(lock, &false));
        for n in [0, 1, -1, isize::MAX >> 1, isize::MIN >> 1] {
            assert_eq!(round_trip::<OCamlInt, _>(lock, &n), n);
        }
        for x in [0., -1.5, f64::INFINITY, f64::MIN_POSITIVE] {
            assert_eq!(round_trip::<OCamlFloat, _>(lock, &x), x);
        }
        assert_eq!(round_trip::<OCamlString, _>(lock, &"Grüße".to_string()), "Grüße");
        assert_eq!(round_trip::<Option<OCamlInt>, Option<isize>>(lock, &None), None);
        assert_eq!(
            round_trip::<Option<Option<OCamlInt>>, _>(lock, &Some(None)),
            Some(None::<isize>)
        );
        assert_eq!(round_trip::<(OCamlInt, OCamlFloat), _>(lock, &(3, 0.5)), (3, 0.5));
        let words: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        assert_eq!(round_trip::<OCamlList<OCamlString>, _>(lock, &words), words);
        assert_eq!(round_trip::<OCamlArray<OCamlString>, _>(lock, &words), words);
        let floats = vec![1., 2., 3.];
        assert_eq!(round_trip::<OCamlArray<OCamlFloat>, _>(lock, &floats), floats);
        assert_eq!(round_trip::<OCamlList<OCamlFloat>, _>(lock, &floats), floats);
        let empty: Vec<isize> = vec![];
        assert_eq!(round_trip::<OCamlArray<OCamlInt>, _>(lock, &empty), empty);
        let nested = vec![vec![Some((1, true)), None], vec![]];
        type Nested = OCamlList<OCamlArray<Option<(OCamlInt, bool)>>>;
        assert_eq!(round_trip::<Nested, Vec<Vec<Option<(isize, bool)>>>>(lock, &nested), nested);
        let bytes: Boxroot<OCamlBytes> = b"abc"[..].to_ocaml(lock).unwrap();
        assert_eq!(bytes.get(lock).to_bytes(), b"abc");
        drop(bytes);
        assert_eq!(stats().live_roots, 0);
    })
});

test!(conversions_agree_with_ocaml, || {
    with_ocaml(|lock| {
        type Everything =
            (OCamlList<(OCamlInt, OCamlString)>, (OCamlArray<OCamlFloat>, Option<OCamlBytes>));
        let describe: Boxroot<Function<(Everything,), OCamlString>> = function(lock, "describe");
        let list = vec![(1, "one".to_string()), (2, "two".to_string())];
        struct Bytes(&'static [u8]);
        impl ToOCaml<OCamlBytes> for Bytes {
            fn to_value<'l>(
                &self,
                lock: &'l mut DomainLock,
            ) -> Result<(Value<'l, OCamlBytes>, &'l DomainLock), ConversionError> {
                self.0.to_value(lock)
            }
        }
        let everything: Boxroot<Everything> =
            (list, (vec![0.5, 1.5], Some(Bytes(b"xyz")))).to_ocaml(lock).unwrap();
        let (text, _) = describe.call(lock, &everything).unwrap();
        assert_eq!(text.to_string_lossy(), "1=one,2=two;0.5,1.5;xyz");
        let make: Boxroot<Function<(OCamlInt,), OCamlArray<OCamlFloat>>> = function(lock, "floats");
        let three = Boxroot::new(lock, Value::int(3));
        let (array, lock) = make.call(lock, &three).unwrap();
        assert_eq!((array.len(), array.get(0).is_none()), (3, true));
        assert_eq!(array.to_rust::<Vec<f64>>(lock), Ok(vec![0., 1., 2.]));
    })
});

test!(large_arrays_and_long_lists, || {
    with_ocaml(|lock| {
        for n in [255, 256, 257, 100_000] {
            let numbers: Vec<isize> = (0..n).collect();
            assert_eq!(round_trip::<OCamlArray<OCamlInt>, _>(lock, &numbers), numbers);
            assert_eq!(round_trip::<OCamlList<OCamlInt>, _>(lock, &numbers), numbers);
            let floats: Vec<f64> = (0..n).map(|i| i as f64).collect();
            assert_eq!(round_trip::<OCamlArray<OCamlFloat>, _>(lock, &floats), floats);
            let strings: Vec<String> = (0..n).map(|i| i.to_string()).collect();
            assert_eq!(round_trip::<OCamlArray<OCamlString>, _>(lock, &strings), strings);
        }
        assert_eq!(stats().live_roots, 0);
    })
});

test!(integers_of_all_widths, || {
    with_ocaml(|lock| {
        /// `least` and `most` are the limits of OCaml's type.
        fn there_and_back<T, R>(lock: &mut DomainLock, numbers: &[R], least: i64, most: i64)
        where
            R: ToOCaml<T> + FromOCaml<T> + Copy + Debug + PartialEq + TryInto<i64>,
        {
            for &n in numbers {
                let fits = n.try_into().is_ok_and(|n| (least..=most).contains(&n));
                match ToOCaml::<T>::to_ocaml(&n, lock) {
                    Ok(root) => {
                        assert!(fits, "{n:?}");
                        assert_eq!(root.to_rust::<R>(lock), Ok(n));
                    }
                    Err(error) => {
                        assert_eq!((error.kind(), fits), (ConversionErrorKind::OutOfRange, false))
                    }
                }
            }
        }
        macro_rules! all {
            ($($rust:ident)*) => {$(
                let numbers = [$rust::MIN, $rust::MAX, 0, 1, 77];
                let (least, most) = (isize::MIN as i64, isize::MAX as i64);
                there_and_back::<OCamlInt, _>(lock, &numbers, least >> 1, most >> 1);
                there_and_back::<OCamlInt32, _>(lock, &numbers, i32::MIN.into(), i32::MAX.into());
                there_and_back::<OCamlInt64, _>(lock, &numbers, i64::MIN, i64::MAX);
                there_and_back::<OCamlNativeint, _>(lock, &numbers, least, most);
            )*};
        }
        all!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
        let negative: Boxroot<OCamlInt64> = (-1).to_ocaml(lock).unwrap();
        assert_eq!(negative.to_rust::<u64>(lock), Err(ConversionErrorKind::OutOfRange.into()));
        let from_ocaml: Boxroot<OCamlList<OCamlInt>> = extremes(lock).unwrap();
        let all: Vec<isize> = from_ocaml.to_rust(lock).unwrap();
        for value in from_ocaml.get(lock).iter() {
            let n = value.to_int();
            assert!(all.contains(&n));
            assert_eq!(value.to_rust::<u8>(lock).ok(), u8::try_from(n).ok());
            assert_eq!(value.to_rust::<i8>(lock).ok(), i8::try_from(n).ok());
            assert_eq!(value.to_rust::<u16>(lock).ok(), u16::try_from(n).ok());
            assert_eq!(value.to_rust::<u64>(lock).ok(), u64::try_from(n).ok());
            assert_eq!(value.to_rust::<i128>(lock).ok(), Some(n as i128));
        }
        assert_eq!(
            from_ocaml.to_rust::<Vec<u8>>(lock),
            Err(ConversionErrorKind::OutOfRange.into())
        );
        // If one element does not fit, no list is made, and no root is left.
        let refused: Result<Boxroot<OCamlList<OCamlInt>>, ConversionError> =
            [1, 2, u64::MAX].to_ocaml(lock);
        assert_eq!(refused.err(), Some(ConversionErrorKind::OutOfRange.into()));
        drop((from_ocaml, negative));
        assert_eq!(stats().live_roots, 0);
    })
});

test!(numbers_by_bits, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for n in [0, 1, u64::MAX, 1 << 63, i64::MAX as u64] {
            let (n, small, native) = (Wrapping(n), Wrapping(n as u32), Wrapping(n as usize));
            assert_eq!(round_trip::<OCamlInt64, _>(lock, &n), n);
            assert_eq!(round_trip::<OCamlInt32, _>(lock, &small), small);
            assert_eq!(round_trip::<OCamlNativeint, _>(lock, &native), native);
            let ocaml: Boxroot<OCamlInt64> = n.to_ocaml(lock).unwrap();
            assert_eq!(ocaml.to_rust::<i64>(lock), Ok(n.0 as i64));
        }
        // OCaml agrees.
        let text: String = show_numbers(
            lock,
            0,
            (Wrapping(u32::MAX), Wrapping(1u64 << 63), Wrapping(usize::MAX)),
            (b'x', 1.5, true),
        )
        .unwrap();
        assert_eq!(text, format!("0 -1 {} -1 'x' 1.5 true", i64::MIN));
    })
});

test!(numbers_agree_with_ocaml, || {
    with_ocaml(|lock| {
        let text: String =
            show_numbers(lock, 7u8, (-1, i64::MIN, isize::MAX), (b'x', 1.5, true)).unwrap();
        assert_eq!(text, format!("7 -1 {} {} 'x' 1.5 true", i64::MIN, isize::MAX));
        let root = numbers::<Boxroot<_>>(lock).unwrap();
        churn(lock);
        let all: (i64, i32, i64, isize, char, f64) = root.to_rust(lock).unwrap();
        let least = isize::MIN >> 1;
        assert_eq!(all, (least as i64, i32::MIN, i64::MAX, isize::MIN, 'é', 0.5));
        let refused: Result<Boxroot<OCamlChar>, ConversionError> = 'ł'.to_ocaml(lock);
        assert_eq!(refused.err(), Some(ConversionErrorKind::OutOfRange.into()));
        let boxed: Boxroot<OCamlInt64> = i64::MIN.to_ocaml(lock).unwrap();
        let native: Boxroot<OCamlNativeint> = isize::MIN.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(boxed.get(lock).to_int64(), i64::MIN);
        assert_eq!(native.get(lock).to_nativeint(), isize::MIN);
    })
});

test!(characters_of_unicode, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for c in ['\0', 'a', 'ł', '\u{d7ff}', '\u{e000}', char::MAX] {
            assert_eq!(round_trip::<OCamlUchar, _>(lock, &c), c);
            let name: String = show_uchar(lock, c).unwrap();
            assert_eq!(name, format!("U+{:04X}", u32::from(c)));
        }
        let all: Vec<char> = uchars(lock).unwrap();
        assert_eq!(all, ['\0', '\u{d7ff}', '\u{e000}', char::MAX]);
        let surrogates: Boxroot<OCamlList<OCamlUchar>> = unsafe_uchars(lock).unwrap();
        assert_eq!(surrogates.get(lock).iter().count(), 7);
        for no_character in surrogates.get(lock).iter() {
            let refused = no_character.to_rust::<char>(lock);
            assert_eq!(refused, Err(ConversionErrorKind::OutOfRange.into()));
        }
    });
    assert_no_roots();
});

test!(results_and_tuples, || {
    with_ocaml(|lock| {
        let answer: Result<isize, String> = flip(lock, Ok::<_, String>(12)).unwrap();
        assert_eq!(answer, Err("12".to_string()));
        let answer: Result<u8, String> = flip(lock, Err::<u8, _>("200")).unwrap();
        assert_eq!(answer, Ok(200));
        type Eight = (u8, String, f64, bool, char, (), Option<u8>, Vec<i32>);
        let eight = (1, "two", 3.5, true, 'f', (), Some(7), [8, 9]);
        let root: Boxroot<_> = rotate(lock, eight).unwrap();
        churn(lock);
        let (two, three, yes, f, unit, seven, list, one) = root.to_rust(lock).unwrap();
        let back: Eight = (one, two, three, yes, f, unit, seven, list);
        assert_eq!(back, (1, "two".to_string(), 3.5, true, 'f', (), Some(7), vec![8, 9]));
        let boxed: Box<i32> = Boxroot::<OCamlInt>::new(lock, Value::int(5)).to_rust(lock).unwrap();
        assert_eq!(*boxed, 5);
    })
});

test!(lists_of_existing_roots, || {
    with_ocaml(|lock| {
        let text: Boxroot<OCamlString> = "one string".to_ocaml(lock).unwrap();
        let other: Boxroot<OCamlString> = "one string".to_ocaml(lock).unwrap();
        assert!(same::<bool>(lock, [&text, &text]).unwrap());
        assert!(!same::<bool>(lock, vec![&text, &other]).unwrap());
        let (shared, local) = (Arc::new(text), Rc::new(other));
        assert!(same::<bool>(lock, [Arc::clone(&shared), shared.clone()]).unwrap());
        let (text, other) = (&*shared, &*local);
        assert!(!same::<bool>(lock, [&local, &Rc::new(text.clone_in(lock).unwrap())]).unwrap());
        let array: Boxroot<OCamlArray<OCamlString>> = [text, other].to_ocaml(lock).unwrap();
        let roots: Vec<Boxroot<OCamlString>> = array.to_rust(lock).unwrap();
        assert_eq!(roots[1].get(lock).raw(), other.get(lock).raw());
        let short: Result<[String; 3], ConversionError> = array.to_rust(lock);
        assert_eq!(short, Err(ConversionErrorKind::Mismatch.into()));
        assert_eq!(array.to_rust::<[String; 2]>(lock), Ok(["one string"; 2].map(String::from)));
    });
    assert_no_roots();
});

test!(arrays_of_floats, || {
    with_ocaml(|lock| {
        for n in [0, 1, 255, 256, 257, 10_000] {
            let expected: Vec<f64> = (0..n).map(|i| f64::from(i) / 2.).collect();
            let array: Boxroot<OCamlArray<OCamlFloat>> = float_array(lock, n).unwrap();
            churn(lock);
            let value = array.get(lock);
            assert_eq!(value.floats().len(), n as usize);
            assert!(value.floats().eq(expected.iter().copied()));
            assert_eq!(value.get_float(n as usize), None);
            assert_eq!(value.get_float(0), expected.first().copied());
            assert_eq!(value.iter().count(), 0, "floats in a row are no values");
            assert_eq!(array.to_rust::<Vec<f64>>(lock).as_ref(), Ok(&expected));
            let roots: Result<Vec<Boxroot<OCamlFloat>>, ConversionError> = array.to_rust(lock);
            assert_eq!(roots.is_err(), n > 0);
            let copy: Boxroot<OCamlArray<OCamlFloat>> = expected.as_slice().to_ocaml(lock).unwrap();
            assert!(copy.get(lock).floats().eq(expected.iter().copied()));
        }
        let strings: Boxroot<OCamlArray<OCamlString>> = string_array(lock, 300).unwrap();
        let value = strings.get(lock);
        assert!(value.iter().enumerate().all(|(i, s)| s.as_str() == Ok(&i.to_string())));
    })
});

test!(arrays_of_floats_and_others, || {
    with_ocaml(|lock| {
        let float: Boxroot<OCamlFloat> = 0.5.to_ocaml(lock).unwrap();
        let text: Boxroot<OCamlString> = "text".to_ocaml(lock).unwrap();
        let int: Boxroot<OCamlInt> = 3.to_ocaml(lock).unwrap();
        let [float, text, int] = [float.as_any(), text.as_any(), int.as_any()];
        for n in [3, 300] {
            for (at, odd) in [(0, text), (n / 2, int), (n - 1, text)] {
                for (others, odd) in [(float, odd), (odd, float)] {
                    let mut elements = vec![others; n];
                    elements[at] = odd;
                    let array: Result<Boxroot<OCamlArray<OCamlAny>>, ConversionError> =
                        elements.to_ocaml(lock);
                    assert_eq!(array.err(), Some(ConversionErrorKind::Mismatch.into()));
                    assert_eq!(stats().live_roots, 3);
                }
            }
            // Arrays of only floats are flat; the others hold values.
            let floats: Boxroot<OCamlArray<OCamlAny>> = vec![float; n].to_ocaml(lock).unwrap();
            assert_eq!(floats.get(lock).kind(), Kind::Block { tag: 254, size: n });
            let others: Boxroot<OCamlArray<OCamlAny>> = vec![text; n].to_ocaml(lock).unwrap();
            churn(lock);
            assert_eq!(others.get(lock).iter().count(), n);
        }
    });
    assert_no_roots();
});

test!(elements_of_arrays_change, || {
    with_ocaml(|lock| {
        let mismatch = Err(ConversionErrorKind::Mismatch.into());
        let words: Boxroot<OCamlArray<OCamlString>> = ["a", "b", "c"].to_ocaml(lock).unwrap();
        full_major(lock); // the array is old then, and the stored value is young
        words.set_at(lock, 1, "new").unwrap();
        churn(lock);
        assert_eq!(words.to_rust::<Vec<String>>(lock).unwrap(), ["a", "new", "c"]);
        let numbers: Boxroot<OCamlArray<OCamlFloat>> = [0.5, 1.5].to_ocaml(lock).unwrap();
        numbers.set_at(lock, 1, 2.5).unwrap();
        let boxed: Boxroot<OCamlFloat> = 3.5.to_ocaml(lock).unwrap();
        numbers.set_at(lock, 0, &boxed).unwrap();
        assert_eq!(numbers.to_rust::<Vec<f64>>(lock).unwrap(), [3.5, 2.5]);
        let ints: Boxroot<OCamlArray<OCamlInt>> = [1].to_ocaml(lock).unwrap();
        assert_eq!(ints.set_at(lock, 0, u64::MAX), Err(ConversionErrorKind::OutOfRange.into()));
        for index in [1, usize::MAX] {
            let outside = catch_unwind(AssertUnwindSafe(|| ints.set_at(lock, index, 7)));
            assert!(outside.is_err());
        }
        assert_eq!(ints.to_rust::<Vec<i64>>(lock).unwrap(), [1]);
        // An array has only floats, or none.
        let text: Boxroot<OCamlString> = "text".to_ocaml(lock).unwrap();
        let any: Boxroot<OCamlArray<OCamlAny>> = [text.as_any(); 2].to_ocaml(lock).unwrap();
        assert_eq!(any.set_at(lock, 0, boxed.as_any()), mismatch);
        any.set_at(lock, 0, ints.as_any()).unwrap();
        let any: Boxroot<OCamlArray<OCamlAny>> = [boxed.as_any(); 2].to_ocaml(lock).unwrap();
        assert_eq!(any.set_at(lock, 0, text.as_any()), mismatch);
        any.set_at(lock, 0, boxed.as_any()).unwrap();
        assert_eq!(any.get(lock).kind(), Kind::Block { tag: 254, size: 2 });
    });
    assert_no_roots();
});

test!(borrowed_bytes, || {
    with_ocaml(|lock| {
        for length in [0, 1, 7, 8, 9, 2047, 2048, 2049, 100_000] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let string: Boxroot<OCamlString> = bytes.to_ocaml(lock).unwrap();
            let buffer: Boxroot<OCamlBytes> = bytes.as_slice().to_ocaml(lock).unwrap();
            churn(lock);
            assert_eq!(string.get(lock).as_bytes(), bytes);
            assert_eq!(buffer.to_rust::<Vec<u8>>(lock), Ok(bytes));
        }
        let string: Boxroot<OCamlString> = (*b"\xffA").to_ocaml(lock).unwrap();
        assert!(string.get(lock).as_str().is_err());
        assert_eq!(string.get(lock).to_string_lossy(), "\u{fffd}A");
    })
});

test!(kinds_and_blocks, || {
    with_ocaml(|lock| {
        let shapes: Boxroot<OCamlList<crate::functions::Shape>> =
            crate::functions::shapes(lock).unwrap();
        let kinds: Vec<Kind> = shapes.get(lock).iter().map(Value::kind).collect();
        assert_eq!(
            kinds,
            [
                Kind::Immediate(0),
                Kind::Block { tag: 0, size: 1 },
                Kind::Immediate(1),
                Kind::Block { tag: 1, size: 2 }
            ]
        );
        let two: Boxroot<OCamlFloat> = 2.0.to_ocaml(lock).unwrap();
        assert_eq!(two.get(lock).kind(), Kind::Block { tag: 253, size: 1 });
        let sides = [two.as_any(), two.as_any()];
        // SAFETY: `Rectangle` is the second constructor with arguments, and has two floats.
        let (value, now) =
            unsafe { lock.alloc_block::<crate::functions::Shape>(1, &sides) }.unwrap();
        let rectangle = Boxroot::new(now, value);
        churn(lock);
        assert_eq!(crate::functions::area::<f64>(lock, &rectangle).unwrap(), 4.);
        // OCaml's constructors have tags up to this one.
        let last = if cfg!(ocaml5) { 243 } else { 245 };
        // SAFETY: it has fields of any type, and is not used as a value of another type.
        let (value, _) = unsafe { lock.alloc_block::<OCamlAny>(last, &sides) }.unwrap();
        assert_eq!(value.kind(), Kind::Block { tag: last, size: 2 });
        for tag in [last + 1, 247, 252, 255] {
            // SAFETY: the call is refused, so no block is made.
            let refused = unsafe { lock.alloc_block::<()>(tag, &sides) };
            assert_eq!(refused.err(), Some(ConversionErrorKind::OutOfRange.into()));
        }
        // A block that is too large for the minor heap, of young fields.
        let words: Vec<Boxroot<OCamlString>> =
            (0..1000).map(|i| i.to_string().to_ocaml(lock).unwrap()).collect();
        let fields: Vec<_> = words.iter().map(|word| word.as_any()).collect();
        // SAFETY: an array of strings is such a block.
        let (value, now) =
            unsafe { lock.alloc_block::<OCamlArray<OCamlString>>(0, &fields) }.unwrap();
        let array = Boxroot::new(now, value);
        drop(words);
        churn(lock);
        let back: Vec<String> = array.to_rust(lock).unwrap();
        assert!(back.iter().enumerate().all(|(i, word)| *word == i.to_string()));
    })
});

test!(kinds_of_everything, || {
    ocaml_functions! {
        unsafe {
            fn specimens() -> OCamlArray<OCamlAny> = "specimens";
        }
    }
    with_ocaml(|lock| {
        let specimens: Boxroot<OCamlArray<OCamlAny>> = specimens(lock).unwrap();
        churn(lock);
        let kinds: Vec<Kind> = specimens.get(lock).iter().map(Value::kind).collect();
        let tags: Vec<u8> = kinds
            .iter()
            .map(|kind| match kind {
                Kind::Block { tag, .. } => *tag,
                Kind::Immediate(_) => 0, // OCaml 4 has no continuations
            })
            .collect();
        // In the order of testlib.ml: lists and closures, an infix pointer, lazy values, numbers,
        // floats in a row, ...
        assert_eq!(tags[..4], [0, 247, 247, 249]);
        assert_eq!(tags[6..9], [255, 255, 254]);
        assert_eq!(tags[11..14], [252, 253, 0]);
        assert!(kinds.contains(&Kind::Block { tag: 0, size: 0 }), "the empty array");
        let roots: Vec<Boxroot<OCamlAny>> = specimens.to_rust(lock).unwrap();
        churn(lock);
        let again: Vec<Kind> = roots.iter().map(|root| root.get(lock).kind()).collect();
        assert_eq!(again[..4], kinds[..4]);
    })
});

// On OCaml 4, values of abstract types may be such pointers. The word before them is not a header.
test!(pointers_out_of_the_heap, ocaml = 4, || {
    const PAGE: usize = 1 << 16;
    with_ocaml(|lock| {
        // SAFETY: the pages are new. The first one cannot be read.
        let pages = unsafe {
            let pages = libc::mmap(
                std::ptr::null_mut(),
                2 * PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(pages, libc::MAP_FAILED);
            pages as isize
        };
        // SAFETY: OCaml 4 allows pointers outside the heap as values.
        let pointer: Value<'_, OCamlAny> = unsafe { Value::from_raw(pages + PAGE as isize) };
        assert_eq!(pointer.kind(), Kind::Block { tag: 251, size: 0 });
        let root = Boxroot::new(lock, pointer);
        let array: Boxroot<OCamlArray<OCamlAny>> = [&root, &root].to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(array.get(lock).get(1).map(Value::raw), Some(root.get(lock).raw()));
    })
});

test!(strings_that_are_not_utf8, || {
    with_ocaml(|lock| {
        let bytes = b"caf\xe9";
        let root: Boxroot<OCamlString> = bytes.to_ocaml(lock).unwrap();
        assert_eq!(root.to_rust::<String>(lock), Err(ConversionErrorKind::NotUtf8.into()));
        assert!(root.get(lock).as_str().is_err());
        assert_eq!(root.to_rust(lock), Ok(bytes.to_vec()));
        assert_eq!(root.get(lock).to_string_lossy(), "caf\u{fffd}");
        let list: Boxroot<OCamlList<OCamlString>> = [&root].to_ocaml(lock).unwrap();
        assert_eq!(list.to_rust::<Vec<String>>(lock), Err(ConversionErrorKind::NotUtf8.into()));
        let text: Boxroot<OCamlString> = "café".to_ocaml(lock).unwrap();
        assert_eq!(text.to_rust(lock), Ok("café".to_string()));
    });
    assert_no_roots();
});

/// Runs `mischief` whenever it is converted.
struct Imp<'a> {
    mischief: &'a dyn Fn(&mut DomainLock) -> Result<Boxroot<OCamlFloat>, ConversionError>,
}

impl ToOCaml<OCamlFloat> for Imp<'_> {
    fn to_value<'l>(
        &self,
        lock: &'l mut DomainLock,
    ) -> Result<(Value<'l, OCamlFloat>, &'l DomainLock), ConversionError> {
        let root = (self.mischief)(lock)?;
        Ok((root.get(lock), lock))
    }
}

test!(conversions_that_panic, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let count = Cell::new(0);
        let mischief = |lock: &mut DomainLock| {
            count.set(count.get() + 1);
            assert!(count.get() % 50 != 0);
            1.5.to_ocaml(lock)
        };
        let imps: Vec<Imp> = (0..100).map(|_| Imp { mischief: &mischief }).collect();
        for _ in 0..10 {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let array: Result<Boxroot<OCamlArray<OCamlFloat>>, _> = imps.to_ocaml(lock);
                array.is_ok()
            }));
            assert!(result.is_err());
            let result = catch_unwind(AssertUnwindSafe(|| {
                let list: Result<Boxroot<OCamlList<OCamlFloat>>, _> = imps.to_ocaml(lock);
                list.is_ok()
            }));
            assert!(result.is_err());
            churn_a_little(lock);
        }
        assert_eq!(stats().live_roots, 0);
    })
});

test!(conversions_that_collect, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let collect = function::<((),), ()>(lock, "full_major");
        let unit = ().to_ocaml(lock).unwrap();
        let count = Cell::new(0);
        let mischief = |lock: &mut DomainLock| {
            collect.call(lock, &unit).unwrap();
            lock.release(|| DomainLock::with(churn_a_little)).unwrap();
            count.set(count.get() + 1);
            f64::from(count.get()).to_ocaml(lock)
        };
        let imps: Vec<Imp> = (0..300).map(|_| Imp { mischief: &mischief }).collect();
        let array: Boxroot<OCamlArray<OCamlFloat>> = imps.to_ocaml(lock).unwrap();
        let list: Boxroot<OCamlList<OCamlFloat>> = imps.to_ocaml(lock).unwrap();
        let expected: Vec<f64> = (1..=300).map(f64::from).collect();
        assert_eq!(array.to_rust::<Vec<f64>>(lock).unwrap(), expected);
        assert_eq!(list.to_rust::<Vec<f64>>(lock).unwrap().last(), Some(&301.));
    })
});

test!(conversions_that_hand_out_one_root, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let one = 0.5.to_ocaml(lock).unwrap();
        let mischief = |lock: &mut DomainLock| one.clone_in(lock);
        let imps: Vec<Imp> = (0..300).map(|_| Imp { mischief: &mischief }).collect();
        let array: Boxroot<OCamlArray<OCamlFloat>> = imps.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(array.to_rust::<[f64; 300]>(lock), Ok([0.5; 300]));
        drop((array, one));
        assert_eq!(stats().live_roots, 0);
    })
});

/// Tries to collect while the list that contains it is being read.
struct Attaches;

impl FromOCaml<OCamlString> for Attaches {
    fn from_ocaml<'l>(
        value: Value<'l, OCamlString>,
        _: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        assert_eq!(DomainLock::with(churn), Err(AttachError::AlreadyHeld));
        assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
        value.to_string_lossy().parse::<usize>().unwrap();
        Ok(Attaches)
    }
}

test!(conversions_that_attach, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let words: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        let list: Boxroot<OCamlList<OCamlString>> = words.to_ocaml(lock).unwrap();
        let array: Boxroot<OCamlArray<OCamlString>> = words.to_ocaml(lock).unwrap();
        assert_eq!(list.to_rust::<Vec<Attaches>>(lock).unwrap().len(), 1000);
        assert_eq!(array.to_rust::<Vec<Attaches>>(lock).unwrap().len(), 1000);
    })
});

test!(argument_that_attaches_when_dropped, forbid(unsafe_code), || {
    struct Bytes;
    impl AsRef<[u8]> for Bytes {
        fn as_ref(&self) -> &[u8] {
            b"bytes"
        }
    }
    impl Drop for Bytes {
        fn drop(&mut self) {
            assert_eq!(DomainLock::with(churn), Err(AttachError::AlreadyHeld));
        }
    }
    with_ocaml(|lock| {
        let (value, _) = lock.alloc_string(Bytes).unwrap();
        assert_eq!(value.to_string_lossy(), "bytes");
    })
});

test!(zero_sized_and_nested_shapes, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        type Deep = Option<Option<Option<(OCamlArray<()>, OCamlList<OCamlArray<OCamlFloat>>)>>>;
        for n in [0, 1, 256, 257, 100_000] {
            let x = Some(Some(Some((vec![(); n], vec![vec![0.5; n], vec![]]))));
            let root: Boxroot<Deep> = x.to_ocaml(lock).unwrap();
            churn(lock);
            assert_eq!(
                root.to_rust::<Option<Option<Option<(Vec<()>, Vec<Vec<f64>>)>>>>(lock),
                Ok(x)
            );
        }
        let units: &[()] = &[(); usize::MAX];
        let too_many: Result<Boxroot<OCamlArray<()>>, ConversionError> = units.to_ocaml(lock);
        assert_eq!(too_many.err(), Some(ConversionErrorKind::OutOfMemory.into()));
        // Converting to a type that does not implement `from_float` is an error for a flat array.
        let floats: Boxroot<OCamlArray<OCamlFloat>> = [1.5].to_ocaml(lock).unwrap();
        struct Bits(#[allow(dead_code)] f64);
        impl FromOCaml<OCamlFloat> for Bits {
            fn from_ocaml<'l>(
                value: Value<'l, OCamlFloat>,
                _: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                Ok(Bits(value.to_float()))
            }
        }
        assert_eq!(
            floats.to_rust::<Vec<Bits>>(lock).err(),
            Some(ConversionErrorKind::Mismatch.into())
        );
    })
});
