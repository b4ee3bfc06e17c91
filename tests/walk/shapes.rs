//! The values that roots own, of many types. An id determines each value, so that every change is noticed.

use crate::random::Random;
use ocaml_boxroot::{
    ocaml_functions, sys, Boxroot, CallError, DomainLock, Exception, Function, Kind, OCamlArray,
    OCamlBox, OCamlBytes, OCamlChar, OCamlException, OCamlFloat, OCamlInt, OCamlInt32, OCamlInt64,
    OCamlList, OCamlNativeint, OCamlString, RootRef, ToOCaml, Value,
};

ocaml_functions! {
    unsafe {
        fn fail(text: OCamlString) = "walk.fail";
        /// The argument of `Failure`.
        fn describe(exception: OCamlException) -> OCamlString = "walk.describe";
    }
}

/// A kind of values.
pub trait Shape {
    /// Their type in OCaml.
    type Type: Send + Sync + 'static;
    /// A root for a new value with this id. The collector may run.
    fn make(id: u64, lock: &mut DomainLock) -> Boxroot<Self::Type>;
    /// Whether the root still owns the value with this id.
    fn is(root: &RootRef<Self::Type>, id: u64, lock: &mut DomainLock) -> bool;
}

/// A function of walk.ml.
pub fn function<Args, R: ?Sized>(lock: &DomainLock, name: &str) -> Boxroot<Function<Args, R>> {
    // SAFETY: each caller uses the types that the function has in walk.ml; where they are `Obj.t` there, any type is right.
    // No function there calls `Thread.exit`.
    unsafe { lock.named(name) }.expect("walk.ml registers it")
}

/// Shapes that are copied from a Rust value, and back to compare.
macro_rules! copied {
    ($($name:ident: $ocaml:ty, $rust:ty = $model:expr;)+) => {$(
        pub enum $name {}

        impl $name {
            fn model(id: u64) -> $rust {
                let model: fn(&mut Random) -> $rust = $model;
                model(&mut Random::new(id))
            }
        }

        impl Shape for $name {
            type Type = $ocaml;

            fn make(id: u64, lock: &mut DomainLock) -> Boxroot<$ocaml> {
                $name::model(id).to_ocaml(lock).expect("enough memory")
            }

            fn is(root: &RootRef<$ocaml>, id: u64, lock: &mut DomainLock) -> bool {
                root.get(lock).to_rust::<$rust>(lock).is_ok_and(|copy| copy == $name::model(id))
            }
        }
    )+};
}

type Row = OCamlArray<Option<(OCamlInt, bool)>>;

copied! {
    Number: OCamlInt, isize = Random::int;
    Truth: bool, bool = |r| r.one_in(2);
    Float: OCamlFloat, f64 = |r| r.int() as f64;
    Text: OCamlString, String = |r| r.text(120);
    Bytes: OCamlBytes, Vec<u8> = |r| r.text(120).into_bytes();
    Boxed: (OCamlInt32, OCamlInt64, OCamlNativeint), (i32, i64, isize) =
        |r| (r.draw() as i32, r.draw() as i64, r.draw() as isize);
    Outcome: Result<OCamlInt, OCamlString>, Result<isize, String> =
        |r| if r.one_in(2) { Ok(r.int()) } else { Err(r.text(60)) };
    Mixed: (OCamlInt, OCamlChar, OCamlFloat, bool, (), OCamlString), (isize, u8, f64, bool, (), String) =
        |r| (r.int(), r.draw() as u8, r.int() as f64, r.one_in(2), (), r.text(30));
    Maybe: Option<OCamlString>, Option<String> = |r| r.one_in(2).then(|| r.text(60));
    Pair: (OCamlInt, OCamlString), (isize, String) = |r| (r.int(), r.text(60));
    Numbers: OCamlList<OCamlInt>, Vec<isize> = |r| r.some(16, Random::int);
    Words: OCamlArray<OCamlString>, Vec<String> = |r| r.some(12, |r| r.text(40));
    Floats: OCamlArray<OCamlFloat>, Vec<f64> = |r| r.some(30, |r| r.int() as f64);
    Table: OCamlList<Row>, Vec<Vec<Option<(isize, bool)>>> =
        |r| r.some(3, |r| r.some(4, |r| r.one_in(2).then(|| (r.int(), r.one_in(2)))));
    Large: OCamlArray<OCamlInt>, Vec<isize> = |r| (0..257 + r.below(500)).map(|_| r.int()).collect();
    LongText: OCamlString, String = |r| r.text(60_000);
}

/// An OCaml function that adds a number, which is in its closure.
pub enum Adder {}

impl Shape for Adder {
    type Type = Function<(OCamlInt,), OCamlInt>;

    fn make(id: u64, lock: &mut DomainLock) -> Boxroot<Self::Type> {
        let name = if id & 64 == 0 { "walk.adder" } else { "walk.second_adder" };
        let adder = function::<(OCamlInt,), Self::Type>(lock, name);
        let number = Boxroot::new(lock, Value::int(Number::model(id)));
        let (closure, lock) = adder.call(lock, &number).expect("no exception");
        Boxroot::new(lock, closure)
    }

    fn is(root: &RootRef<Self::Type>, id: u64, lock: &mut DomainLock) -> bool {
        let three = Boxroot::new(lock, Value::int(3));
        root.call(lock, &three).is_ok_and(|(sum, _)| sum.to_int() == Number::model(id) + 3)
    }
}

/// An exception: one that OCaml raised, or one that Rust made.
pub enum Raised {}

impl Raised {
    /// Has OCaml raise `Failure` with the text of the id.
    pub fn raise(id: u64, lock: &mut DomainLock) -> Exception {
        match fail(lock, Raised::argument(id)) {
            Err(CallError::Exception(exception)) => exception,
            _ => panic!("it raises"),
        }
    }

    /// The exception as a text.
    pub fn message(id: u64) -> String {
        format!("OCaml exception: Failure(\"{}\")", Raised::argument(id))
    }

    fn argument(id: u64) -> String {
        format!("{id:x}").repeat(1 + (id & 63) as usize)
    }
}

impl Shape for Raised {
    type Type = OCamlException;

    fn make(id: u64, lock: &mut DomainLock) -> Boxroot<OCamlException> {
        let exception = match id & 64 {
            0 => Raised::raise(id, lock),
            _ => Exception::failure(lock, &Raised::argument(id)).expect("enough memory"),
        };
        assert!(exception.is(lock, "Failure") && !exception.is(lock, "Not_found"));
        assert_eq!(exception.to_string(), Raised::message(id));
        exception.value().expect("there was room").clone_in(lock).expect("enough memory")
    }

    fn is(root: &RootRef<OCamlException>, id: u64, lock: &mut DomainLock) -> bool {
        describe::<String>(lock, root).is_ok_and(|text| text == Raised::argument(id))
    }
}

/// A Rust value that OCaml owns, with a root in it, which the finaliser of a custom block drops.
pub struct Holder {
    id: u64,
    text: Boxroot<OCamlString>,
}

impl Drop for Holder {
    /// Inside a collection, create either works or is refused.
    fn drop(&mut self) {
        // SAFETY: the value is an immediate; the root is used only here.
        unsafe { sys::boxroot_create(1).map(|root| sys::boxroot_delete(root)) };
    }
}

pub enum Held {}

impl Shape for Held {
    type Type = OCamlBox<Holder>;

    fn make(id: u64, lock: &mut DomainLock) -> Boxroot<Self::Type> {
        let text = Text::make(id, lock);
        let (held, lock) = lock.alloc_box(Holder { id, text }).expect("enough memory");
        Boxroot::new(lock, held)
    }

    fn is(root: &RootRef<Self::Type>, id: u64, lock: &mut DomainLock) -> bool {
        let holder = root.get(lock).get();
        holder.id == id && holder.text.get(lock).to_string_lossy() == Text::model(id)
    }
}

extern "C" {
    fn caml_alloc_tuple(size: usize) -> sys::Value;
}

/// A block of a type of the program's own, of integers.
pub enum Own {}

impl Own {
    fn model(id: u64) -> Vec<isize> {
        let r = &mut Random::new(id);
        (0..1 + r.below(20)).map(|_| r.int()).collect()
    }
}

impl Shape for Own {
    type Type = Own;

    fn make(id: u64, lock: &mut DomainLock) -> Boxroot<Own> {
        let fields = Own::model(id);
        if id & 64 == 0 {
            let roots: Vec<_> = fields.iter().map(|&n| Boxroot::new(lock, Value::int(n))).collect();
            let fields: Vec<_> = roots.iter().map(|root| root.as_any()).collect();
            // SAFETY: a block of tag 0 whose fields are integers is an `Own`.
            let (block, lock) =
                unsafe { lock.alloc_block::<Own>(0, &fields) }.expect("enough memory");
            return Boxroot::new(lock, block);
        }
        let fill = || {
            // SAFETY: the caller of this closure holds the lock. The number of fields is not 0, and small.
            let block = unsafe { caml_alloc_tuple(fields.len()) };
            for (i, &field) in fields.iter().enumerate() {
                // SAFETY: `block` is a new block that has this field. It is small, and so in the minor heap, where an
                // immediate may be stored without telling the collector.
                unsafe { *(block as *mut sys::Value).add(i) = Value::int(field).raw() }
            }
            block
        };
        // SAFETY: `fill` allocates as the C interface does, and returns a block that is an `Own`.
        let (block, lock) = unsafe { lock.alloc::<Own>(fill) };
        Boxroot::new(lock, block)
    }

    fn is(root: &RootRef<Own>, id: u64, lock: &mut DomainLock) -> bool {
        let block = root.get(lock);
        if block.kind() != (Kind::Block { tag: 0, size: Own::model(id).len() }) {
            return false;
        }
        // SAFETY: an `Own` is a block of integers, and has as many fields (just checked).
        let field = |i| unsafe { block.field::<OCamlInt>(i) }.to_int();
        Own::model(id).into_iter().enumerate().all(|(i, n)| field(i) == n)
    }
}
