//! How arguments of the exported macros can affect their expansions. The program below tries each
//! case; `tests/users/async` also compiles it under edition 2024. Programs that the compiler must
//! reject are in `tests/compile_fail`.
//!
//! All macros:
//!
//! * *The meaning of names at the call* has no effect. `macro_rules` protects only local variables.
//!   Therefore all paths and macros begin with `$crate`, and nothing is called as a method;
//!   `.ci/sources.py macros` checks both. These are errors: a static, constant or unit struct with
//!   the name of a local variable; a trait that gives everything an `IS_FLOAT`; and user attributes
//!   with the name of a built-in attribute in the expansions.
//! * *Visibilities* are those of the generated items. A part's type may be more private than the
//!   marker.
//! * *Direct calls of the inner macros* declare a complete new marker, or expand to safe code, or
//!   need the word `unsafe` and are refused under `forbid(unsafe_code)` (`parts_of_…`,
//!   `argument_of_export_without_unsafe`). The macros for generated bindings (such as
//!   `bound_function`) promise facts that the build helper has checked, so they only compile in the
//!   file that the build script writes (`bindings_by_hand`).
//!
//! `ocaml_type!`, which is safe:
//!
//! * *Attributes* of items, fields and constructors can only be comments (`doc`). Other attributes
//!   could remove or change the next item (`attributes_of_a_type`).
//! * *Names*, including raw ones, become names of items and of associated constants, and strings.
//!   The compiler uses them to find the numbers of fields and constructors, and the hashes, which
//!   ignore `r#`. Names must differ (`names_in_a_type`).
//! * *The name after `for`*, which may be an alias, gets implementations of `ToOCaml` and
//!   `FromOCaml`, which are safe code.
//! * *Types* have the same meaning as in items at the place of the call: `Self` is the marker, and
//!   `_` is refused (`types_that_are_inferred`). They may be aliases, projections and macros; only
//!   the resulting type counts. If it is not `Send`, neither is the marker
//!   (`type_of_a_part_that_is_not_send`); if it is not a `OneType`, neither is an unboxed one
//!   (`any_as_a_type_variable`).
//! * *Type parameters* are names. In the types, a parameter's name means the parameter, even if
//!   another item has the same name. A marker is invariant in its parameters, and only `Send` and
//!   `Sync` if they are. There are no lifetimes. Types in a generic function cannot use its
//!   parameters.
//!
//! `ocaml_functions!` and `export!`, in which `unsafe` is a promise about the types:
//!
//! * *Attributes* are those of the Rust function, which is safe. `cfg` does not remove the symbol
//!   of an `export!`.
//! * *Names of functions* are names of items and, in `export!`, of symbols; `unsafe` is also a
//!   promise about the symbols. (The bytecode symbol of a raw name begins with `r#`, so OCaml's
//!   linker does not find it.)
//! * *Names of arguments*, even the name of the function, are the user's own local variables.
//! * *Types* are parts of items, so `_` is refused. A type with the name of the macro's own
//!   parameter is also refused (`types_of_functions`).
//! * *Bodies* of `export!` are those of safe functions (`unsafe_in_an_exported_body`).
//! * *Literals* are strings: names that OCaml has registered or not, even names with a NUL.

// The crates only have these names:
extern crate ocaml_boxroot as ours;
extern crate std as real;
// Crates with the wrong names, which the macros must not use.
extern crate alloc as core;
extern crate alloc as ocaml_boxroot;
extern crate alloc as std;

#[allow(unused_macros)]
macro_rules! stringify {
    ($($tokens:tt)*) => {
        "the same for all"
    };
}

#[allow(unused_macros)]
macro_rules! concat {
    ($($tokens:tt)*) => {
        "the same for all"
    };
}

/// Other meanings for names of the language, the prelude and this crate, for the programs below.
mod names {
    #![no_implicit_prelude]
    #![allow(non_camel_case_types, dead_code)]

    macro_rules! types {
        ($($name:ident)*) => { $(pub struct $name;)* };
    }

    types! {
        bool char str u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64
        Ok Err Some None Option Result Box Vec String Drop Fn FnMut FnOnce Send Sync Sized Copy Clone Into From Default
        Debug Formatter PhantomData c_int
        Boxroot RootRef Value DomainLock Error CallError AttachError ConversionError ConversionErrorKind Exception Field ToOCaml FromOCaml Declared HasParts Probe NotFloat Form
        Constructor Constructors PartTypes More Opened Place Registered
        Named OCamlAny
    }
    pub mod sys {}
    pub mod fmt {}
    pub mod macro_support {}

    /// Methods and constants that everything has.
    #[allow(clippy::wrong_self_convention)]
    pub trait Deceives {
        const CONSTRUCTORS: () = ();
        const CHECKED: () = ();
        fn as_any(&self) -> ! {
            wrong()
        }
        fn to_ocaml(&self) -> ! {
            wrong()
        }
        fn from_ocaml(&self) -> ! {
            wrong()
        }
        fn to_value(&self) -> ! {
            wrong()
        }
        fn as_root(&self) -> ! {
            wrong()
        }
        fn as_float(&self) -> ! {
            wrong()
        }
        fn from_float(&self) -> ! {
            wrong()
        }
        fn to_rust(&self) -> ! {
            wrong()
        }
        fn read(&self) -> ! {
            wrong()
        }
        fn call(&self) -> ! {
            wrong()
        }
        fn get(&self) -> ! {
            wrong()
        }
        fn next(&self) -> ! {
            wrong()
        }
        fn add(&self) -> ! {
            wrong()
        }
        fn len(&self) -> ! {
            wrong()
        }
        fn into(&self) -> ! {
            wrong()
        }
    }

    impl<T: ?::real::marker::Sized> Deceives for T {}

    fn wrong() -> ! {
        ::real::panic!("a method of the program instead of the crate's own")
    }
}

mod types {
    #![no_implicit_prelude]
    #![forbid(unsafe_code)]
    #![allow(non_camel_case_types, dead_code)]

    #[allow(unused_imports)]
    use super::names::*;
    use super::there_and_back;
    use ::ours::{ocaml_type, OCamlFloat as Float, OCamlInt as Int, OCamlString as Text};
    use ::real::{borrow::ToOwned as _, clone::Clone as _};

    type Lock = ::ours::DomainLock;

    // Constants with short names, which are no names of local variables.
    mod constants {
        #![allow(non_upper_case_globals)]
        pub const a: () = ();
        pub const b: () = ();
        pub const c: () = ();
        pub const d: () = ();
        pub const e: () = ();
        pub const f: () = ();
        pub const g: () = ();
        pub const h: () = ();
    }
    #[allow(unused_imports)]
    use constants::*;

    macro_rules! which {
        () => {
            <Self as Which>::Marker
        };
    }

    ocaml_type! {
        /// Fields with the names of types, keywords and variables, in another order than in the
        /// Rust type.
        pub(in super) struct record for Record {
            /// Documented.
            r#type: Int,
            #[doc(hidden)]
            bool: Text,
            lock: Float,
            value: Int,
            parts: Text,
            r#self_: Int
        }

        pub(self) enum ordinary for Ordinary {
            /// Documented.
            None,
            Some(Text, Int),
            r#Ok { lock: Int, /** Documented. */ r#fn: Text },
            Err(Float),
            Constant,
        }

        pub polymorphic enum polymorphic for Polymorphic { r#loop(Int), Loop(Text), r#as, Two(Text, Int) }

        /// The meaning of this type depends on the marker.
        struct Projected for Projects { only: <Self as Which>::Marker }
        pub enum ProjectedToo for ProjectsToo { Only(<Self as Which>::Marker), Which(which!()) }

        /// Parameters with the names of types that the declaration also uses.
        struct parameters<Text, Float> for Parameters<Text as R, Float as Value> { a: Text, b: Float, value: Int }

        unboxed struct unboxed for Unboxed { r#f64: Float }
        pub struct Flat for Flattened { a: unboxed, b: <Self as Which>::Marker, c: Alias }
        struct Boxed { a: unboxed, b: Abstract }

        /// Markers without a Rust type.
        struct String { as_any: Int }
        pub enum Result { Ok(Int), Err(Text) }
        enum u8 {}
    }

    type Alias = Float;
    /// Its OCaml type is a float, but is abstract where the record is declared.
    enum Abstract {}

    /// `Self::Marker` is another type for each marker and each Rust type.
    trait Which {
        type Marker;
    }
    impl Which for Projected {
        type Marker = Text;
    }
    impl Which for Projects {
        type Marker = Int;
    }
    impl Which for ProjectedToo {
        type Marker = Text;
    }
    impl Which for ProjectsToo {
        type Marker = Int;
    }
    impl Which for Flat {
        type Marker = Float;
    }
    impl Which for Flattened {
        type Marker = Int;
    }
    /// An integer or a text, as the caller asks.
    #[derive(Clone, Debug, PartialEq)]
    struct Both(::real::primitive::i64, ::real::string::String);

    impl ::ours::ToOCaml<Int> for Both {
        fn to_value<'l>(&self, lock: &'l mut Lock) -> Fallible<(::ours::Value<'l, Int>, &'l Lock)> {
            ::ours::ToOCaml::to_value(&self.0, lock)
        }
    }
    impl ::ours::ToOCaml<Text> for Both {
        fn to_value<'l>(
            &self,
            lock: &'l mut Lock,
        ) -> Fallible<(::ours::Value<'l, Text>, &'l Lock)> {
            ::ours::ToOCaml::to_value(&self.1, lock)
        }
    }
    impl ::ours::FromOCaml<Int> for Both {
        fn from_ocaml<'l>(value: ::ours::Value<'l, Int>, _: &'l Lock) -> Fallible<Self> {
            ::real::result::Result::Ok(Both(value.to_int() as i64_, "".to_owned()))
        }
    }
    impl ::ours::FromOCaml<Text> for Both {
        fn from_ocaml<'l>(value: ::ours::Value<'l, Text>, _: &'l Lock) -> Fallible<Self> {
            ::real::result::Result::Ok(Both(0, value.to_string_lossy()))
        }
    }

    type Fallible<T> = ::real::result::Result<T, ::ours::ConversionError>;
    type i64_ = ::real::primitive::i64;
    type f64_ = ::real::primitive::f64;
    type text = ::real::string::String;

    #[derive(Clone, Debug, PartialEq)]
    pub struct Record {
        parts: text,
        r#self_: i64_,
        value: i64_,
        lock: f64_,
        bool: text,
        r#type: i64_,
    }

    #[derive(Clone, Debug, PartialEq)]
    enum Ordinary {
        Constant,
        Err(f64_),
        r#Ok { lock: i64_, r#fn: text },
        Some(text, i64_),
        None,
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Parameters<R, Value> {
        value: i64_,
        b: Value,
        a: R,
    }

    #[derive(Clone, Debug, PartialEq)]
    pub enum Polymorphic {
        r#loop(i64_),
        Loop(text),
        r#as,
        Two(text, i64_),
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Projects {
        only: Both,
    }

    #[derive(Clone, Debug, PartialEq)]
    enum ProjectsToo {
        Only(Both),
        Which(Both),
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Unboxed {
        r#f64: f64_,
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Flattened {
        a: Unboxed,
        b: f64_,
        c: f64_,
    }

    pub fn run(lock: &mut Lock) {
        use ::ours::debug::Kind::{Block, Immediate};
        let text = |text: &::real::primitive::str| text.to_owned();
        let record = Record {
            r#type: 1,
            bool: text("two"),
            lock: 3.5,
            value: 4,
            parts: text("five"),
            r#self_: 6,
        };
        there_and_back::<record, _>(lock, record.clone(), Block { tag: 0, size: 6 });
        let root = ::ours::ToOCaml::<self::record>::to_ocaml(&record, lock).unwrap();
        let value = ::ours::RootRef::get(&root, lock);
        ::real::assert_eq!(value.at(self::record::parts).to_string_lossy(), "five");
        ::real::assert_eq!(value.at(self::record::r#type).to_int(), 1);

        let parameters = Parameters { a: 0.5, b: text("b"), value: 3 };
        there_and_back::<parameters<Float, Text>, _>(lock, parameters, Block { tag: 0, size: 3 });

        there_and_back::<ordinary, _>(lock, Ordinary::None, Immediate(0));
        there_and_back::<ordinary, _>(lock, Ordinary::Constant, Immediate(1));
        let some = Ordinary::Some(text("some"), 1);
        there_and_back::<ordinary, _>(lock, some, Block { tag: 0, size: 2 });
        let ok = Ordinary::r#Ok { lock: 1, r#fn: text("fn") };
        there_and_back::<ordinary, _>(lock, ok, Block { tag: 1, size: 2 });
        there_and_back::<ordinary, _>(lock, Ordinary::Err(0.5), Block { tag: 2, size: 1 });

        let hash = |tag: &::real::primitive::str| -> ::real::primitive::isize {
            let mut hash: ::real::primitive::u32 = 0;
            for byte in tag.bytes() {
                hash = hash.wrapping_mul(223).wrapping_add(byte as ::real::primitive::u32);
            }
            ((hash << 1) as ::real::primitive::i32 >> 1) as ::real::primitive::isize
        };
        there_and_back::<polymorphic, _>(lock, Polymorphic::r#as, Immediate(hash("as")));
        let pair = Block { tag: 0, size: 2 };
        for value in [
            Polymorphic::r#loop(1),
            Polymorphic::Loop(text("Loop")),
            Polymorphic::Two(text("two"), 2),
        ] {
            there_and_back::<polymorphic, _>(lock, value, pair);
        }

        let both = Both(0, text("both"));
        let one = Block { tag: 0, size: 1 };
        there_and_back::<Projected, _>(lock, Projects { only: both.clone() }, one);
        there_and_back::<ProjectedToo, _>(lock, ProjectsToo::Only(both.clone()), one);
        let which = Block { tag: 1, size: 1 };
        there_and_back::<ProjectedToo, _>(lock, ProjectsToo::Which(both), which);

        there_and_back::<unboxed, _>(lock, Unboxed { f64: 0.5 }, Block { tag: 253, size: 1 });
        let flat = Flattened { a: Unboxed { f64: 0.5 }, b: 1.5, c: 2.5 };
        there_and_back::<Flat, _>(lock, flat, Block { tag: 254, size: 3 });
        let _: [::ours::markers::Field<Boxed, unboxed, false>; 1] = [Boxed::a];

        in_a_function::<text>(lock, 7);
    }

    /// In the declarations, `Marker` means the declared type, not the parameter.
    #[allow(clippy::extra_unused_type_parameters)]
    fn in_a_function<Marker>(lock: &mut Lock, number: i64_) {
        ocaml_type! { struct Marker for Number { number: Int } }
        #[derive(Debug, PartialEq)]
        struct Number {
            number: i64_,
        }
        let one = ::ours::debug::Kind::Block { tag: 0, size: 1 };
        there_and_back::<Marker, _>(lock, Number { number }, one);
    }
}

mod functions {
    #![no_implicit_prelude]
    #![allow(non_camel_case_types, non_snake_case, dead_code)]

    #[allow(unused_imports)]
    use super::names::*;
    use ::ours::{
        export, ocaml_functions, OCamlFloat as Float, OCamlInt as Int, OCamlString as Text,
    };

    type Lock = ::ours::DomainLock;
    type i64_ = ::real::primitive::i64;
    type text = ::real::string::String;

    export! {
        /// Documented.
        #[allow(unused_variables)]
        pub(in super) unsafe fn hostile_body(lock, hostile_body: Int as i64_, result: Text) -> Result<Int as i64_, ::ours::ConversionError> {
            ::real::result::Result::Ok(hostile_body + 1)
        }
        unsafe fn r#hostile_six(r#fn, a: Int as i64_, value: Int as i64_, arguments: Int as i64_, next: Text, body: Float,
            r#type: Float,) -> Result<Text, ::ours::ConversionError>
        {
            let _ = (a, value, arguments, body, r#type);
            next.clone_in(r#fn)
        }
        unsafe fn body(l) -> Result<() as (), ::ours::ConversionError> { let _ = l; ::real::result::Result::Ok(()) }
        unsafe fn bytecode(l, bytecode: (), b: (), c: (), d: (), e: (), f: ()) -> Result<(), ::ours::ConversionError> {
            let _ = (l, bytecode, b, c, d, e, f);
            ::real::result::Result::Ok(())
        }
    }

    ocaml_functions! {
        unsafe {
            /// Documented.
            #[must_use = "so"]
            pub(crate) fn r#hostile(lock: Int, FUNCTION: Text, r#fn: Float) -> Int = "\u{68}ostile";
            fn get() = "hostile get";
            fn nul() = "a\0b";
            #[cfg(any())]
            fn get() = "hostile get";
            fn all(arguments: bool_, OCamlBoxrootResult: Text, result: Int,) -> bool_ = r#"hostile "all""#;
        }
    }

    ocaml_functions! {
        unsafe {
            /// Documented.
            #[derive(::real::clone::Clone)]
            pub(self) exception Some { lock: Int as i64_, r#type: Text as text, error: Float as ::real::primitive::f64 } = "Some";
            exception Error = "hostile";
        }
    }

    type bool_ = ::real::primitive::bool;

    pub fn run(lock: &mut Lock) {
        let next = ::ours::ToOCaml::<Text>::to_ocaml("next", lock).unwrap();
        ::real::assert_eq!(hostile_body(lock, 1, &next), ::real::result::Result::Ok(2));
        let unit = ::ours::Boxroot::new(lock, ::ours::Value::unit());
        ::real::assert_eq!(body(lock), ::real::result::Result::Ok(()));
        let done = bytecode(lock, &unit, &unit, &unit, &unit, &unit, &unit);
        ::real::assert_eq!(done, ::real::result::Result::Ok(()));
        let float = ::ours::ToOCaml::<Float>::to_ocaml(&0.5, lock).unwrap();
        let text = hostile_six(lock, 1, 2, 3, &next, &float, &float).unwrap();
        ::real::assert_eq!(super::text_of(&text, lock), "next");

        let some = Some { lock: 1, r#type: super::text_of(&text, lock), error: 0.5 };
        let missing = some.exception(lock).unwrap_err();
        ::real::assert_eq!(
            missing.to_string_(),
            Error.exception(lock).unwrap_err().to_string_().replace("hostile", "Some")
        );
        let failure: ::real::boxed::Box<dyn ::real::error::Error> = ::real::boxed::Box::new(some);
        ::real::assert!(Some::of(lock, &failure).unwrap().is_none());

        let missing: ::real::result::Result<i64_, _> = hostile(lock, 1, "", 0.5);
        ::real::assert!(missing.unwrap_err().to_string_().contains("as \"hostile\""));
        ::real::assert!(get(lock).unwrap_err().to_string_().contains("as \"hostile get\""));
        ::real::assert!(nul(lock).unwrap_err().to_string_().contains("as \"a\\0b\""));
        let missing = all::<bool_>(lock, true, "", 0);
        ::real::assert!(missing.unwrap_err().to_string_().contains("as \"hostile \\\"all\\\"\""));
    }

    trait ToString_ {
        fn to_string_(&self) -> text;
    }
    impl ToString_ for ::ours::CallError {
        fn to_string_(&self) -> text {
            ::real::string::ToString::to_string(self)
        }
    }
}

/// Converts the value to OCaml, where it must have this form, and back.
fn there_and_back<T, R>(lock: &mut ours::DomainLock, value: R, kind: ours::debug::Kind)
where
    R: ours::ToOCaml<T> + ours::FromOCaml<T> + PartialEq + real::fmt::Debug,
{
    let root = value.to_ocaml(lock).unwrap();
    assert_eq!(root.get(lock).kind(), kind);
    assert_eq!(root.to_rust::<R>(lock), Ok(value));
}

fn text_of(root: &ours::RootRef<ours::OCamlString>, lock: &ours::DomainLock) -> String {
    root.get(lock).to_string_lossy()
}

fn main() {
    let _ocaml = ours::Runtime::start().unwrap();
    ours::DomainLock::with(|lock| {
        types::run(lock);
        functions::run(lock);
    })
    .unwrap();
}
