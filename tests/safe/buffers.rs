//! Bigarrays whose memory Rust owns, and Rust's views of bigarrays.

use crate::support::safe::*;
use crate::support::values::{live, Counted};
use ocaml_boxroot::bigarray::{
    Bigarray, BigarrayCell, FortranLayout, OCamlArray1, OCamlArray2, OCamlArray3, OCamlGenarray,
};
use ocaml_boxroot::{
    ocaml_functions, AttachError, Boxroot, DomainLock, OCamlFloat, OCamlInt, OCamlString,
};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

ocaml_functions! {
    unsafe {
        fn part(n: OCamlInt, array: OCamlArray1<f64>) -> OCamlGenarray<f64> = "part";
        fn parts_in_domains(array: OCamlArray1<f64>) = "parts_in_domains";
        fn behaves(array: OCamlArray1<f64>) -> bool = "behaves";
        fn write(array: OCamlArray1<f64>, i: OCamlInt, x: OCamlFloat) = "write_number";
        fn sum_of_floats(array: OCamlArray1<f64>) -> OCamlFloat = "sum_of_floats";
        fn sum_from_one(array: OCamlArray1<f64, FortranLayout>) -> OCamlFloat = "sum_from_one";
        fn sum_of_matrix(array: OCamlArray2<f64>) -> OCamlFloat = "sum_of_matrix";
        fn minor() = "minor";
    }
}

/// Counts itself, and detects uses after its drop.
struct Owner {
    numbers: Vec<f64>,
    count: Counted,
}

impl Owner {
    fn new(numbers: impl Into<Vec<f64>>) -> Owner {
        Owner { numbers: numbers.into(), count: Counted::new(7) }
    }
}

impl AsMut<[f64]> for Owner {
    fn as_mut(&mut self) -> &mut [f64] {
        self.count.number();
        &mut self.numbers
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.numbers.fill(f64::NAN);
    }
}

fn numbers<E: ocaml_boxroot::bigarray::BigarrayElement>(cells: &[BigarrayCell<E>]) -> Vec<f64>
where
    BigarrayCell<E>: std::fmt::Debug,
{
    cells.iter().map(|cell| format!("{cell:?}").parse().unwrap()).collect()
}

test!(buffers_of_all_owners, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let of_vector: Boxroot<OCamlArray1<f64>> =
            Bigarray::from_owner(lock, vec![0.5, 1.5]).unwrap();
        let of_box: Boxroot<OCamlArray1<f64, FortranLayout>> =
            Bigarray::from_owner(lock, vec![0.5, 1.5].into_boxed_slice()).unwrap();
        let of_array: Boxroot<OCamlArray1<f64>> = Bigarray::from_owner(lock, [0.5, 2.]).unwrap();
        let empty: Boxroot<OCamlArray1<f64>> = Bigarray::from_owner(lock, Vec::new()).unwrap();
        churn(lock);
        assert_eq!(sum_of_floats::<f64>(lock, &of_vector).unwrap(), 2.);
        assert_eq!(sum_from_one::<f64>(lock, &of_box).unwrap(), 2.);
        assert_eq!(sum_of_floats::<f64>(lock, &of_array).unwrap(), 2.5);
        assert_eq!(sum_of_floats::<f64>(lock, &empty).unwrap(), 0.);
        assert!(empty.cells(lock).is_empty());
        write(lock, &of_vector, 1, 4.).unwrap();
        of_vector.cells(lock)[0].set(8.);
        assert_eq!(sum_of_floats::<f64>(lock, &of_vector).unwrap(), 12.);
        assert_eq!(of_vector.to_rust::<Vec<f64>>(lock).unwrap(), [8., 4.]);
        for array in [&of_vector, &of_array] {
            assert!(behaves::<bool>(lock, array).unwrap());
        }
    });
    assert_no_roots();
});

test!(buffers_of_all_shapes, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let data = || (0..6).map(f64::from).collect::<Vec<_>>();
        let two: Boxroot<OCamlArray2<f64>> =
            Bigarray::from_owner_shaped(lock, data(), [2, 3]).unwrap();
        assert_eq!(sum_of_matrix::<f64>(lock, &two).unwrap(), 15.);
        let three: Boxroot<OCamlArray3<i16, FortranLayout>> =
            Bigarray::from_owner_shaped(lock, [1, 2, 3, 4], [2, 1, 2]).unwrap();
        assert_eq!(three.get(lock).dimensions(), [2, 1, 2]);
        assert_eq!(numbers(three.cells(lock)), [1., 2., 3., 4.]);
        let any: Boxroot<OCamlGenarray<u8>> =
            Bigarray::from_owner_shaped(lock, [7], vec![1; 16]).unwrap();
        assert_eq!(any.get(lock).dimensions().len(), 16);
        let ints: Boxroot<OCamlGenarray<OCamlInt>> =
            Bigarray::from_owner_shaped(lock, [7], vec![]).unwrap();
        assert_eq!(numbers(ints.cells(lock)), [7.]);
        let wrong: [(usize, &[usize]); 7] = [
            (6, &[2, 2]),
            (6, &[]),
            (6, &[usize::MAX, usize::MAX]),
            (0, &[usize::MAX, 0]),
            (0, &[1 << 63, 2]),
            (0, &[]),
            (1, &[1; 17]),
        ];
        std::panic::set_hook(Box::new(|_| ()));
        for (length, sizes) in wrong {
            let owner = Owner::new(vec![0.; length]);
            let refused = catch_unwind(AssertUnwindSafe(|| {
                let array: Result<Boxroot<OCamlGenarray<f64>>, _> =
                    Bigarray::from_owner_shaped(lock, owner, sizes.to_vec());
                array.is_ok()
            }));
            assert!(refused.is_err(), "{length} {sizes:?}");
            assert_eq!(live(), 0);
        }
        let _ = std::panic::take_hook();
    });
    assert_no_roots();
});

test!(buffers_live_as_long_as_their_parts, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for n in 0..5 {
            let all: Boxroot<OCamlArray1<f64>> =
                Bigarray::from_owner(lock, Owner::new([0., 1., 2., 3., 4.])).unwrap();
            let some: Boxroot<OCamlGenarray<f64>> = part(lock, n, &all).unwrap();
            let part_of_part: Boxroot<OCamlGenarray<f64>> = part(lock, n, &all).unwrap();
            drop(all);
            full_major(lock);
            full_major(lock);
            let expected: &[f64] = if n == 2 { &[0., 1., 2., 3., 4.] } else { &[1., 2., 3.] };
            assert_eq!((live(), &*numbers(some.cells(lock))), (1, expected), "{n}");
            drop(some);
            full_major(lock);
            full_major(lock);
            assert_eq!((live(), &*numbers(part_of_part.cells(lock))), (1, expected), "{n}");
            drop(part_of_part);
            full_major(lock);
            full_major(lock);
            assert_eq!(live(), 0, "{n}");
        }
    });
    assert_no_roots();
});

// Finalisers of the parts run on several threads at once.
test!(buffers_with_parts_in_domains, forbid(unsafe_code), ocaml = 5, || {
    with_ocaml(|lock| {
        let all: Boxroot<OCamlArray1<f64>> =
            Bigarray::from_owner(lock, Owner::new([0., 1., 2., 3., 4.])).unwrap();
        parts_in_domains(lock, &all).unwrap();
        full_major(lock);
        assert_eq!((live(), all.cells(lock)[4].get()), (1, 4.));
        drop(all);
        // On OCaml 5.1, a domain that was joined may end late, because others collect without a
        // pause. It keeps its garbage until then.
        while live() > 0 {
            full_major(lock);
            lock.release(std::thread::yield_now);
        }
    });
    assert_no_roots();
});

// Rust makes parts like OCaml: parts of one owner, and parts of bigarrays that OCaml or a copy
// made.
test!(parts_of_bigarrays, forbid(unsafe_code), || {
    use ocaml_boxroot::ConversionErrorKind::OutOfBounds;
    with_ocaml(|lock| {
        let data = || Owner::new((0..24).map(f64::from).collect::<Vec<_>>());
        let three: Boxroot<OCamlArray3<f64>> =
            Bigarray::from_owner_shaped(lock, data(), [2, 3, 4]).unwrap();
        let fortran: Boxroot<OCamlArray3<f64, FortranLayout>> =
            Bigarray::from_owner_shaped(lock, data(), [2, 3, 4]).unwrap();
        let any: Boxroot<OCamlGenarray<f64>> =
            Bigarray::from_owner_shaped(lock, data(), vec![24]).unwrap();
        let two = three.slice(lock, 1).unwrap();
        assert_eq!(two.get(lock).dimensions(), [3, 4]);
        assert_eq!(sum_of_matrix::<f64>(lock, &two).unwrap(), (12..24).sum::<i32>().into());
        let rows = two.sub(lock, 1, 2).unwrap();
        let row = rows.slice(lock, 0).unwrap();
        assert_eq!(numbers(row.cells(lock)), [16., 17., 18., 19.]);
        let end = row.sub(lock, 4, 0).unwrap();
        assert!(end.cells(lock).is_empty());
        let last = fortran.slice(lock, 4).unwrap();
        assert_eq!(last.get(lock).dimensions(), [2, 3]);
        assert_eq!(numbers(last.cells(lock)), [18., 19., 20., 21., 22., 23.]);
        assert_eq!(numbers(last.sub(lock, 2, 1).unwrap().cells(lock)), [20., 21.]);
        let one = any.slice(lock, 7).unwrap();
        assert_eq!((one.get(lock).dimensions().len(), one.cells(lock)[0].get()), (0, 7.));
        // Wrong indices.
        for (start, length) in [(1, 2), (2, 1), (3, 0), (0, 3), (1, usize::MAX), (usize::MAX, 1)] {
            let error = three.sub(lock, start, length).unwrap_err();
            assert_eq!(error.kind(), OutOfBounds);
            let is_inside = length <= 2 && start <= 3 && start > 0;
            assert_eq!(fortran.sub(lock, start, length).is_ok(), is_inside);
        }
        for index in [2, 3, usize::MAX] {
            assert_eq!(three.slice(lock, index).unwrap_err().kind(), OutOfBounds);
        }
        for index in [0, 5, usize::MAX] {
            assert_eq!(fortran.slice(lock, index).unwrap_err().kind(), OutOfBounds);
        }
        assert_eq!(one.slice(lock, 0).unwrap_err().kind(), OutOfBounds);
        assert_eq!(one.sub(lock, 0, 0).unwrap_err().kind(), OutOfBounds);
        // Parts keep the owner.
        drop((three, two, rows, end, fortran, any, one));
        full_major(lock);
        full_major(lock);
        assert_eq!((live(), row.cells(lock)[3].get()), (2, 19.));
        drop((row, last));
        full_major(lock);
        full_major(lock);
        assert_eq!(live(), 0);
    });
    assert_no_roots();
});

test!(parts_of_bigarrays_of_ocaml, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for _ in 0..1000 {
            let copied: Boxroot<OCamlArray1<f64>> =
                ocaml_boxroot::ToOCaml::to_ocaml(&[0., 1., 2., 3., 4.], lock).unwrap();
            let some = copied.sub(lock, 1, 3).unwrap();
            let of_ocaml: Boxroot<OCamlGenarray<f64>> = part(lock, 0, &copied).unwrap();
            let again = of_ocaml.sub(lock, 1, 1).unwrap();
            drop((copied, of_ocaml));
            churn_a_little(lock);
            minor(lock).unwrap();
            assert_eq!(numbers(some.cells(lock)), [1., 2., 3.]);
            assert_eq!(numbers(again.cells(lock)), [2.]);
        }
        full_major(lock);
    });
    assert_no_roots();
});

// Several domains make parts of one bigarray that has no parts yet.
test!(parts_of_bigarrays_in_domains, forbid(unsafe_code), ocaml = 5, || {
    with_ocaml(|lock| {
        let domains = ocaml_boxroot::Domains::new(lock, 3).unwrap();
        for _ in 0..300 {
            let copied: Boxroot<OCamlArray1<f64>> =
                ocaml_boxroot::ToOCaml::to_ocaml(&[0., 1., 2., 3., 4.], lock).unwrap();
            let whole = &copied;
            let parts = || {
                domains.scope(|scope| {
                    for _ in 0..3 {
                        drop(scope.spawn(move |lock| -> Result<(), AttachError> {
                            let some = whole.sub(lock, 1, 3).unwrap();
                            assert_eq!(some.cells(lock)[2].get(), 3.);
                            Ok(())
                        }));
                    }
                })
            };
            lock.release(parts).unwrap();
            drop(copied);
        }
        full_major(lock);
        full_major(lock);
    });
});

test!(blits_of_bigarrays, forbid(unsafe_code), || {
    use ocaml_boxroot::ConversionErrorKind::OutOfBounds;
    with_ocaml(|lock| {
        let array: Boxroot<OCamlArray1<f64>> =
            Bigarray::from_owner(lock, (0..6).map(f64::from).collect::<Vec<_>>()).unwrap();
        let other: Boxroot<OCamlArray1<f64>> = Bigarray::from_owner(lock, vec![7.; 4]).unwrap();
        let (start, end) = (array.sub(lock, 0, 4).unwrap(), array.sub(lock, 2, 4).unwrap());
        start.get(lock).blit(end.get(lock)).unwrap();
        assert_eq!(numbers(array.cells(lock)), [0., 1., 0., 1., 2., 3.]);
        end.get(lock).blit(other.get(lock)).unwrap();
        assert_eq!(numbers(other.cells(lock)), [0., 1., 2., 3.]);
        let error = array.get(lock).blit(other.get(lock)).unwrap_err();
        assert_eq!(error.kind(), OutOfBounds);
        let empty = array.sub(lock, 6, 0).unwrap();
        empty.get(lock).blit(empty.get(lock)).unwrap();
        empty.get(lock).fill(1.);
        start.get(lock).fill(9.);
        assert_eq!(numbers(array.cells(lock)), [9., 9., 9., 9., 2., 3.]);
    });
    assert_no_roots();
});

// A large number of buffers, only few of which are alive at a time.
test!(buffers_are_dropped_once, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let mut most = 0;
        for i in 0..200_000 {
            let array: Boxroot<OCamlArray1<f64>> =
                Bigarray::from_owner(lock, Owner::new([f64::from(i)])).unwrap();
            if i % 10_000 == 0 {
                part::<Boxroot<_>>(lock, 2, &array).unwrap();
            }
            most = most.max(live());
        }
        assert!(most < 100_000, "{most} buffers waited for the collector");
        minor(lock).unwrap();
        full_major(lock);
        full_major(lock);
        assert_eq!(live(), 0);
    });
    assert_no_roots();
});

static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Megabyte(Vec<u8>);

impl AsMut<[u8]> for Megabyte {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Megabyte {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

// OCaml would not collect for this many blocks of a few words.
test!(memory_of_buffers_counts, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let mut most = 0;
        for _ in 0..5000 {
            most = most.max(LIVE.fetch_add(1, Ordering::SeqCst) + 1);
            let owner = Megabyte(vec![0; 1 << 20]);
            let _: Boxroot<OCamlArray1<u8>> = Bigarray::from_owner(lock, owner).unwrap();
        }
        assert!(most < 2500, "{most} buffers waited for the collector");
    })
});

/// Panics in its drop, after it has tried to use OCaml.
struct Panics(Boxroot<OCamlString>);

impl AsMut<[f32]> for Panics {
    fn as_mut(&mut self) -> &mut [f32] {
        &mut []
    }
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

impl Drop for Panics {
    fn drop(&mut self) {
        assert_eq!(DomainLock::with(|_| ()), Err(AttachError::InFinaliser));
        assert!(!format!("{:?}", self.0).is_empty());
        PANICS.fetch_add(1, Ordering::SeqCst);
        panic!("in the drop of an owner");
    }
}

/// Panics when it is asked for its elements.
struct PanicsAtOnce(Counted);

impl AsMut<[f32]> for PanicsAtOnce {
    fn as_mut(&mut self) -> &mut [f32] {
        panic!("there are {} elements", self.0.number())
    }
}

test!(buffers_that_panic_and_attach, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        std::panic::set_hook(Box::new(|_| ()));
        for n in 1..4 {
            let owner = Panics(string(lock, "root"));
            let _: Boxroot<OCamlArray1<f32>> = Bigarray::from_owner(lock, owner).unwrap();
            full_major(lock);
            full_major(lock);
            assert_eq!(PANICS.load(Ordering::SeqCst), n);
        }
        let at_once = catch_unwind(AssertUnwindSafe(|| {
            let owner = PanicsAtOnce(Counted::new(1));
            let _: Boxroot<OCamlArray1<f32>> = Bigarray::from_owner(lock, owner).unwrap();
        }));
        assert!(at_once.is_err());
        assert_eq!(live(), 0);
        let _ = std::panic::take_hook();
    });
    assert_no_roots();
});

// Rust's threads read and write one bigarray, without the lock, while OCaml collects, writes it and
// makes parts of it.
test!(views_while_ocaml_runs, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let owned: Boxroot<OCamlArray1<f64>> =
            Bigarray::from_owner(lock, Owner::new(vec![1.; 4096])).unwrap();
        let copied: Boxroot<OCamlArray1<f64>> =
            ocaml_boxroot::ToOCaml::to_ocaml(&vec![1.; 4096], lock).unwrap();
        for array in [&owned, &copied] {
            let cells = array.cells(lock);
            let barrier = Barrier::new(3);
            thread::scope(|scope| {
                for half in cells.chunks(2048) {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        for _ in 0..20 {
                            half[1..].iter().for_each(|cell| cell.set(cell.get() + 1.));
                        }
                    });
                }
                barrier.wait();
                for i in 0..20 {
                    write(lock, array, 0, f64::from(i)).unwrap();
                    part::<Boxroot<_>>(lock, 1, array).unwrap();
                    churn(lock);
                }
                full_major(lock);
            });
            assert_eq!(sum_of_floats::<f64>(lock, array).unwrap(), 4094. * 21. + 19. + 1.);
        }
        drop(owned);
        full_major(lock);
        full_major(lock);
        assert_eq!(live(), 0);
    });
    drop(Owner::new([])); // the last drop of this process is Rust's
    assert_no_roots();
});

test!(buffers_at_shutdown, forbid(unsafe_code), || {
    let ocaml = start();
    let array = DomainLock::with(|lock| {
        let array: Boxroot<OCamlArray1<f64>> =
            Bigarray::from_owner(lock, Owner::new([1., 2.])).unwrap();
        array
    })
    .unwrap();
    let cells = DomainLock::with(|lock| array.cells(lock)).unwrap();
    ocaml.shutdown().unwrap();
    assert_eq!((live(), cells[1].get()), (1, 2.));
    drop(array);
});
