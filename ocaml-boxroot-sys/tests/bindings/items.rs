//! Functions, exceptions, externals, modules, and their names.

use super::support::*;
use std::fs;

/// Documentation may contain anything, so only names from it get into the code. Other text could
/// become an argument with a type.
#[test]
fn names_of_arguments_in_documentation() {
    let provider = "pub struct P;
        impl x::Externals for P {
            fn audit(_: &mut ocaml_boxroot::DomainLock, _: String, _: isize)
                -> Result<(), Box<dyn std::error::Error>> { Ok(()) }
        }
        ocaml_boxroot::include_bindings!(x: P);";
    let bindings = Modules::new(
        "names_of_arguments_in_documentation",
        &[(
            "x.mli",
            "val more : string -> string -> string
             (** [more n:OCamlInt,text rest] has an argument too many. *)

             val pair : int -> int -> int
             (** [pair a, b_2] has a comma. *)

             val part : int -> int -> int
             (** [part a.b c'] *)

             val open_ : string -> int -> string
             (** Not [open_ all] of [text], as [Open] does.
                 [open_ path
                  mode] opens *)

             val labels : ?size:int -> row:int -> int -> int
             (** [labels ?size ~row n] *)

             val shift : ?by:int -> int -> to_:int -> int -> int
             (** [shift ~to_ row column] *)

             val unclosed : int -> int
             (** [unclosed n *)

             external audit : string -> day:int -> unit = \"x_audit\"
             (** [audit order ~day] writes it down. *)",
        )],
    )
    .bind_in("module x", provider);
    bindings.has(&[
        "pub fn more(arg0: OCamlString, rest: OCamlString) -> OCamlString",
        "pub fn pair(arg0: OCamlInt, b_2: OCamlInt) -> OCamlInt",
        "pub fn part(arg0: OCamlInt, arg1: OCamlInt) -> OCamlInt",
        "pub fn open_(path: OCamlString, mode: OCamlInt)",
        "(size: Option<OCamlInt> as Option<isize>, row: OCamlInt, n: OCamlInt)",
        "by: Option<OCamlInt> as Option<isize>, row: OCamlInt, to_: OCamlInt, column: OCamlInt)",
        "pub fn unclosed(n: OCamlInt)",
        "fn audit = \"x_audit\" (order: OCamlString as String, day: OCamlInt as isize)",
    ]);
}

/// Without a mark, rustdoc would compile the code as Rust.
#[test]
fn code_in_documentation() {
    let bindings = bind(
        "code_in_documentation",
        "let x y = y + 1 [@@ocaml.doc \"Is\n~~~\nlet z = x 1\n~~~\nor\n````\nx 2\n```\n````\nor\n```ocaml\nx 3\n```\nor {[ x 4 ]}.\"]",
    );
    bindings.has(&[
        "/// Is /// ~~~text /// let z = x 1 /// ~~~ /// or /// ````text /// x 2",
        "/// or /// ```ocaml /// x 3 /// ``` /// or /// ```text /// x 4 /// ``` /// .",
    ]);
}

/// OCaml's compiler accepts both, and rustc accepts neither.
#[test]
fn documentation_that_is_not_unicode_or_turns_the_direction_of_text() {
    let bindings = bind(
        "documentation_that_is_not_unicode_or_turns_the_direction_of_text",
        r#"let latin x = x + 1 [@@ocaml.doc "caf\233 noir"]
           let turned x = x + 1 [@@ocaml.doc "to the \u{202E}left, \u{2066}isolated"]"#,
    );
    bindings.has(&["/// caf\u{FFFD} noir", "/// to the \u{FFFD}left, \u{FFFD}isolated"]);
}

#[test]
fn functions() {
    let bindings = Modules::new(
        "functions",
        &[(
            "x.mli",
            "type order
             type callback = int -> string
             val reserve : int -> order -> int
             (** [reserve stock order] takes it from {!order}, as [{!all} [ 1 ]] does.

                 {[ reserve 1 order ]} {@ocaml[ let a = [ 1 ] ]} *)

             val describe : ?note:string -> lock:int -> type_:bool -> unit -> (unit -> int) -> unit
             val later : int -> callback
             val callback : callback
             val pi : float
             val all : 'a -> 'a array * float array * order array
             val many : unit -> int * int * int * int * int * int * int * int * int
             val load : string -> 'a
             val anything : 'a option
             val ( + ) : int -> int -> int
             val ( let* ) : int -> int -> int
             val unsafe_get : int -> order
             val unsafe_callback : callback
             val is_unsafe : bool
             val row : [ `A ] -> unit
             val labels : (label:int -> int) -> unit
             val optional : unit -> (?label:int -> unit -> int) list
             val seq : unit -> int Seq.t",
        )],
    )
    .bind("module x");
    bindings.has(&[
        "// val reserve : int -> order -> int
         ::ocaml_boxroot::ocaml_functions! { generated
            /// `reserve stock order` takes it from `order`, as `all [ 1 ]` does.
            ///
            ///
            /// ```text
            /// reserve 1 order
            /// ```
            ///
            /// ```text
            /// let a = [ 1 ]
            /// ```
            pub fn reserve(stock: OCamlInt, order: OCamlOrder) -> OCamlInt as isize = \"X.reserve#DIGEST\"
         }
         ::ocaml_boxroot::ocaml_functions! { generated
            /// As [`reserve`], but returns a root.
            pub fn reserve_root(stock: OCamlInt, order: OCamlOrder) -> OCamlInt as Boxroot<OCamlInt> = \"X.reserve#DIGEST\"
         }",
        "pub fn describe(note: Option<OCamlString> as Option<String>, lock_: OCamlInt, type_: bool, (): (), \
         f: Function<(), OCamlInt>) -> () as ()",
        // One argument, although `callback` is a function type.
        "pub fn later(arg0: OCamlInt) -> Function<(OCamlInt,), OCamlString> as Boxroot<Function<(OCamlInt,), OCamlString>> =",
        "pub fn callback -> Function<(OCamlInt,), OCamlString> as Boxroot<Function<(OCamlInt,), OCamlString>> =",
        "pub fn pi -> OCamlFloat as f64 =",
        "pub fn pi_root -> OCamlFloat as Boxroot<OCamlFloat> =",
        // An array whose elements may be floats stays in OCaml.
        "(OCamlArray<A>, OCamlArray<OCamlFloat>, OCamlArray<OCamlOrder>) \
         as (Boxroot<OCamlArray<A>>, Vec<f64>, Boxroot<OCamlArray<OCamlOrder>>)",
        "pub fn many((): ()) -> (OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt) as Boxroot<(",
        "// val load : string -> 'a // is left out: its result is of any type \
         #[cfg(left_out = \"its result is of any type\")] pub fn load() {}",
        "pub fn anything<A> -> Option<A> as Option<Boxroot<A>>",
        "pub fn labels(f: Labelled<(super::ocaml_labels::Label,), Function<(OCamlInt,), OCamlInt>>) -> () as ()",
        "pub fn optional((): ()) -> OCamlList<Labelled<(Optional<super::ocaml_labels::Label>, ()), \
         Function<(Option<OCamlInt>, ()), OCamlInt>>> as Vec<Boxroot<Function<(Option<OCamlInt>, ()), OCamlInt>>> =",
        "pub unsafe fn unsafe_get(arg0: OCamlInt) -> OCamlOrder as Boxroot<OCamlOrder> =",
        "// val unsafe_callback : callback // is left out: an unsafe function",
        "pub fn is_unsafe -> bool as bool =",
        "pub fn row(arg0: OCamlRowArg0) -> () as () =",
        "pub fn seq((): ()) -> OCamlSeq<OCamlInt> as Boxroot<OCamlSeq<OCamlInt>> =",
    ]);
    assert_says(&bindings.glue, &[&format!("Callback.register \"X.reserve#{}\"", bindings.digest)]);
}

/// A primitive may return a function with a wrong type, so it is unsafe, even if labels make the
/// function's arguments arguments of the binding.
#[test]
fn primitives_that_return_functions() {
    bind(
        "primitives_that_return_functions",
        "type 'a plain = 'a -> 'a
         type 'a labelled = x:'a -> 'a
         external plain : string -> 'a plain = \"c_stub\"
         external labelled : string -> 'a labelled = \"c_stub\"
         external same : 'a labelled -> 'a labelled = \"c_stub\"",
    )
    .has(&[
        "pub unsafe fn plain<A>(arg0: OCamlString) -> Function<(A,), A> as",
        "pub unsafe fn labelled<A>(arg0: OCamlString, x: A) -> A as",
        "pub fn same<A>(f: Labelled<(super::ocaml_labels::X,), Function<(A,), A>>, x: A) -> A as",
    ]);
}

#[test]
fn exceptions() {
    bind(
        "exceptions",
        "type error = Bad of int
         exception Error of error
         exception Out_of_stock of string * int
         exception Empty
         exception Refused of { by : string; until : unit -> float }
         exception Any : 'a -> exn",
    )
    .has(&[
        // The type already has the name `Error`.
        "pub struct ErrorException(pub Error);",
        "bound_exception! { ErrorException (0 a0: OCamlError) = \"X.Error#DIGEST\" }",
        "#[derive(Clone, Debug, Eq, Hash, PartialEq)] pub struct OutOfStock(pub String, pub isize);",
        "bound_exception! { OutOfStock (0 a0: OCamlString, 1 a1: OCamlInt) = \"X.Out_of_stock#DIGEST\" }",
        "pub struct Empty; ::ocaml_boxroot::bound_exception! { Empty =",
        "#[derive(Debug)] pub struct Refused { pub by: String, pub until: Boxroot<Function<(), OCamlFloat>> }",
        "bound_exception! { Refused { 0 by: OCamlString, 1 until: Function<(), OCamlFloat> } =",
        "// is left out: a GADT #[cfg(left_out = \"a GADT\")] pub struct Any;",
    ]);
}

#[test]
fn rustc_says_why_an_item_is_left_out() {
    let modules = Modules::new(
        "rustc_says_why_an_item_is_left_out",
        &[("x.ml", "let load (_ : string) = failwith \"\" module F (X : sig end) = struct end exception Any : 'a -> exn")],
    );
    modules.bind("module x");
    let program = "ocaml_boxroot::include_bindings!(); pub fn wrong() { PATH }";
    for (path, why) in [
        ("x::load(\"\")", "its result is of any type"),
        ("x::f::g()", "a functor: apply it in a module of yours, and bind that"),
        ("let _ = x::Any;", "a GADT"),
    ] {
        let program = program.replace("PATH", path);
        let said = modules.rustc("program.rs", &program, METADATA).unwrap_err();
        assert_says(&said, &["found an item that was configured out", &format!("`{why}`")]);
    }
    modules
        .rustc(
            "program.rs",
            &program.replace("PATH", ""),
            &[&["-D", "warnings"], METADATA].concat(),
        )
        .unwrap();
}

/// Rust provides the symbols that begin with the module's name, in all bound modules, but not those
/// of C libraries.
#[test]
fn externals() {
    let provider = "
        use ocaml_boxroot::*;
        use x::{sub, Order};
        type Answer<T> = Result<T, Box<dyn std::error::Error>>;
        pub struct Provider;
        impl x::Externals for Provider {
            fn audit(_: &mut DomainLock, _: Order) -> Answer<()> { Ok(()) }
            fn later(_: &mut DomainLock, _: isize) -> Answer<Boxroot<Function<(OCamlInt,), OCamlInt>>> { todo!() }
            fn pick<A>(_: &mut DomainLock, mut list: Vec<Boxroot<A>>) -> Answer<Boxroot<A>> { Ok(list.remove(0)) }
            fn hidden(_: &mut DomainLock, label: Order) -> Answer<f64> { let _ = label; Ok(1.) }
            fn six(
                _: &mut DomainLock, _: isize, _: isize, _: isize, _: isize, _: isize, _: isize,
            ) -> Answer<bool> { Ok(true) }
            fn sub(_: &mut DomainLock, _: &RootRef<sub::OCamlT>) -> Answer<Order> { Ok(Order { n: 1 }) }
            fn wrapped(_: &mut DomainLock, _: isize) -> Answer<()> { Ok(()) }
            fn fast(x: f64) -> f64 { x }
            fn of_helper(_: &mut DomainLock, _: Order) -> Answer<isize> { Ok(1) }
        }
        impl helper::Externals for Provider {
            fn own(_: &mut DomainLock, _: isize) -> Answer<isize> { Ok(1) }
        }
        ocaml_boxroot::include_bindings!(x: crate::Provider, helper: crate::Provider);";
    let bindings = Modules::new(
        "externals",
        &[
            (
                "x.mli",
                "type order = { n : int }
                 type callback = int -> int
                 val wrapped : string -> unit

                 external audit : order -> unit = \"x_audit\"
                 (** Tells the auditor. *)

                 external later : int -> callback = \"x_later\"
                 external pick : 'a list -> 'a = \"x_pick\"
                 external write : int -> int = \"write\"
                 module Sub : sig type t end",
            ),
            (
                "x.ml",
                "type order = { n : int }
                 type callback = int -> int
                 external audit : order -> unit = \"x_audit\"
                 external later : int -> callback = \"x_later\"
                 external pick : 'a list -> 'a = \"x_pick\"
                 external write : int -> int = \"write\"
                 external hidden : unit -> label:order -> float = \"x_hidden\"
                 external six : int -> int -> int -> int -> int -> int -> bool = \"x_six_bytecode\" \"x_six\"
                 external fast : (float [@unboxed]) -> (float [@unboxed]) = \"x_fast_bytecode\" \"x_fast\" [@@noalloc]
                 external boxed : int -> float = \"x_boxed\" [@@noalloc]
                 external mixed : string -> (int [@untagged]) -> int = \"x_mixed_bytecode\" \"x_mixed\"
                 external runtime : unit -> unit = \"caml_x\"
                 external root : unit -> unit = \"boxroot_x\"
                 external other : int -> int -> int -> int -> int -> int -> int = \"write\" \"x_other\"
                 module Of (Stdlib : sig type ('a, 'b) result = R of string end) = struct
                   external result : (int, string) Stdlib.result -> unit = \"x_result\"
                 end
                 external wrapped : int -> unit = \"x_wrapped\"
                 let wrapped text = wrapped (int_of_string text)
                 type secret = S
                 external secret : secret -> unit = \"x_secret\"
                 module Sub = struct type t = string external sub : t -> order = \"x_sub\" end",
            ),
            ("helper.ml", "external of_helper : X.order -> int = \"x_of_helper\" external own : int -> int = \"helper_own\""),
        ],
    )
    .bind_in("module x module helper", provider);
    bindings.has(&[
        "bound_externals! { /// What OCaml's module wants of Rust. To begin with:",
        "/// ```ignore /// use x::*; /// use ocaml_boxroot::{Boxroot, DomainLock, Function, OCamlInt, markers::OneType}; /// use std::error::Error;",
        "/// fn pick<A: OneType>(lock: &mut DomainLock, list: Vec<Boxroot<A>>) -> Result<Boxroot<A>, Box<dyn Error>> { todo!() }",
        "/// fn hidden(lock: &mut DomainLock, label: Order) -> Result<f64, Box<dyn Error>> { todo!() }",
        "/// fn fast(arg0: f64) -> f64 { todo!() }",
        "/// ``` #[diagnostic::on_unimplemented(",
        "pub trait Externals for super::ocaml_externals::x {",
        "/// Tells the auditor. fn audit = \"x_audit\" (order: OCamlOrder as Order) -> () as ();",
        "fn later = \"x_later\" (arg0: OCamlInt as isize) -> Function<(OCamlInt,), OCamlInt>;",
        "fn pick<A> = \"x_pick\" (list: OCamlList<A> as Vec<Boxroot<A>>) -> A;",
        "fn hidden = \"x_hidden\" ((): (), label: OCamlOrder as Order) -> OCamlFloat as f64;",
        "fn six = \"x_six\" \"x_six_bytecode\" (arg0: OCamlInt as isize, arg1: OCamlInt as isize,",
        "fn sub = \"x_sub\" (sub: self::sub::OCamlT) -> OCamlOrder as Order;",
        "fn of_helper = \"x_of_helper\" (order: OCamlOrder as Order) -> OCamlInt as isize;",
        "pub fn write(arg0: OCamlInt) -> OCamlInt as isize = \"X.write#DIGEST\"",
        "plain { // external fast : float -> float = \"x_fast\" \
         fn fast = \"x_fast\" \"x_fast_bytecode\" (arg0: @bare OCamlFloat as f64) -> @bare OCamlFloat as f64; }",
        "// external boxed = \"x_boxed\" // is left out: [@@noalloc], [@unboxed] and [@untagged] are for functions of",
        "// external mixed = \"x_mixed\" // is left out: [@@noalloc], [@unboxed] and [@untagged] are for functions of",
        "// external secret = \"x_secret\" // is left out:",
        "// external other = \"x_other\" // is left out: its symbol for bytecode, \"write\",",
        "// external result = \"x_result\" // is left out: the interface that declares Stdlib.result was not found",
        "fn wrapped = \"x_wrapped\" (arg0: OCamlInt as isize) -> () as ();",
        "pub fn wrapped(arg0: OCamlString) -> () as () = \"X.wrapped#DIGEST\"",
    ]);
    bindings.lacks(&["caml_x", "boxroot_x", "pub fn audit", "fn secret"]);
    assert_says(&bindings.said, &["cargo:warning=", "x_secret"]);
}

/// Rust gets roots of the arguments that the build script names.
#[test]
fn arguments_that_stay_roots() {
    let modules = Modules::new(
        "arguments_that_stay_roots",
        &[(
            "x.ml",
            "type order = { n : int } external audit : order -> day:string -> unit = \"x_audit\"",
        )],
    );
    let provider = "
        use ocaml_boxroot::*;
        pub struct Provider;
        impl x::Externals for Provider {
            fn audit(lock: &mut DomainLock, order: &RootRef<x::OCamlOrder>, day: DAY)
                -> Result<(), Box<dyn std::error::Error>>
            {
                let _: (Boxroot<_>, DAY) = (order.clone_in(lock)?, day);
                Ok(())
            }
        }
        ocaml_boxroot::include_bindings!(x: crate::Provider);";
    for (words, day) in [
        ("rooted x.audit.order", "String"),
        ("rooted x.audit", "&RootRef<OCamlString>"),
        ("rooted X.audit.day rooted x.audit.order", "&RootRef<OCamlString>"),
    ] {
        let bindings = modules.bind_in(&format!("module x {words}"), &provider.replace("DAY", day));
        let order = "&RootRef<OCamlOrder>";
        bindings.has(&[&format!(
            "/// impl x::Externals for Provider {{ \
             /// fn audit(lock: &mut DomainLock, order: {order}, day: {day}) \
             -> Result<(), Box<dyn Error>> {{ todo!() }} /// }} /// ```"
        )]);
    }
    let said = modules.try_bind("module x rooted x.audit.ordre").unwrap_err();
    assert_says(&said, &["no argument of an external", "`x.audit.ordre`", "x.audit.order"]);
}

/// Another build may compile such a module again after the bindings were generated, and its
/// interface may stay the same.
#[test]
fn externals_of_modules_that_are_not_bound() {
    let modules = Modules::new(
        "externals_of_modules_that_are_not_bound",
        &[
            ("x.ml", "let twice n = n + n"),
            ("helper.mli", ""),
            ("helper.ml", "external log : string -> unit = \"x_log\""),
        ],
    );
    let bindings = modules.bind("module x");
    bindings.lacks(&["bound_externals"]);
    bindings.has(&["// external log = \"x_log\" // is left out: the module Helper is not bound"]);
    assert_says(&bindings.said, &["cargo:warning=external log = \"x_log\" is left out"]);
    modules.try_bind("module x module helper").unwrap();
    let rust = fs::read_to_string(modules.0.join("ocaml_bindings.rs")).unwrap();
    assert_says(&rust, &["fn log = \"x_log\" (arg0: OCamlString as String)"]);
}

/// Without a warning, rustc would only say that there is no trait `Externals`.
#[test]
fn an_external_whose_symbol_is_mistyped() {
    let text = "external audit : int -> unit = \"ordres_audit\"
                external other : int -> unit = \"unix_other\"
                external length : string -> int = \"caml_ml_string_length\"";
    let modules = Modules::new("an_external_whose_symbol_is_mistyped", &[("orders.ml", text)]);
    let bindings = modules.bind("module orders");
    let said = bindings.said.lines().find(|line| line.contains("ordres")).unwrap();
    assert_says(said, &["cargo:warning=external audit", "begin with \"orders_\""]);
    assert!(!bindings.said.contains("unix_other") && !bindings.said.contains("caml_ml"));
}

/// A symbol with two types would allow values of one type to be taken for the other.
#[test]
fn an_external_of_two_types() {
    let modules = Modules::new(
        "an_external_of_two_types",
        &[
            ("x.ml", "external audit : int -> unit = \"x_audit\""),
            ("y.ml", "external other : string -> unit = \"x_audit\""),
        ],
    );
    assert_says(
        &modules.try_bind("module x module y").unwrap_err(),
        &["\"x_audit\"", "audit : int -> unit", "other : string -> unit"],
    );
}

/// A Rust type implements an abstract OCaml type if OCaml has no definition of it.
#[test]
fn types_that_rust_implements() {
    let conversions = "external of_int : int -> handle = \"%identity\"
              external to_int : handle -> int = \"%identity\"
              external other : int -> other = \"%identity\"";
    let ml = "type handle external make : string -> handle = \"x_make\"
              type number = int type fast [@@immediate] include (struct type t = int end : sig type t end)
              type 'a of_any type other type box = { handle : handle; other : other }";
    let modules = Modules::new(
        "types_that_rust_implements",
        &[
            ("x.mli", &("type handle external make : string -> handle = \"x_make\" type number type fast type t type 'a of_any
                       type other type box = { handle : handle; other : other } ".to_string() + conversions)),
            ("x.ml", &(ml.to_string() + " " + conversions)),
        ],
    );
    let program = "
        use ocaml_boxroot::*;
        pub struct Handle; pub struct Other(pub std::cell::Cell<u8>); pub type Same = Handle;
        impl x::Externals for Handle {
            fn make(lock: &mut DomainLock, _: String) -> Result<Boxroot<x::OCamlHandle>, Box<dyn std::error::Error>> {
                let (handle, lock) = lock.alloc_box(Handle)?;
                Ok(Boxroot::try_new(lock, handle)?)
            }
        }
        ocaml_boxroot::include_bindings!(x: crate::Handle);";
    modules.bind_in("module x with x.handle crate::Handle", program).has(&[
        "// type handle ::ocaml_boxroot::bound_type! { pub boxed OCamlHandle for crate::Handle }",
        "fn make = \"x_make\" (arg0: OCamlString as String) -> OCamlHandle;",
        "pub struct Box { pub handle: Boxroot<OCamlHandle>, pub other: Boxroot<OCamlOther>, }",
        // No `int` is a Rust value.
        "pub unsafe fn of_int(arg0: OCamlInt) -> OCamlHandle as",
        "pub unsafe fn to_int(handle: OCamlHandle) -> OCamlInt as",
        "pub fn other(arg0: OCamlInt) -> OCamlOther as",
    ]);
    for (ocaml, reason) in [
        ("number", "must implement it as `type number`"),
        ("fast", "must implement it as `type fast`"),
        ("t", "must implement it as `type t`"),
        ("of_any", "an abstract type with parameters"),
    ] {
        let said = modules.try_bind(&format!("module x with x.{ocaml} crate::Handle")).unwrap_err();
        assert_says(&said, &["`with`", "crate::Handle", &format!("X.{ocaml}"), reason]);
    }
    // Two OCaml types must not be the same Rust type, under any name. Also, OCaml may use the Rust
    // type on any thread.
    for (other, message) in
        [("Same", "conflicting implementations"), ("Other", "cannot be shared between threads")]
    {
        let words = format!("module x with x.handle crate::Handle with x.other crate::{other}");
        modules.try_bind(&words).unwrap();
        assert_says(&modules.rustc("program.rs", program, METADATA).unwrap_err(), &[message]);
    }
}

#[test]
fn externals_that_rust_does_not_provide() {
    let modules = Modules::new(
        "externals_that_rust_does_not_provide",
        &[("x.ml", "external audit : int -> unit = \"x_audit\"")],
    );
    modules.try_bind("module x").unwrap();
    for program in [
        "ocaml_boxroot::include_bindings!();",
        "struct Provider; ocaml_boxroot::include_bindings!(x: crate::Provider);",
    ] {
        assert_says(
            &modules.rustc("program.rs", program, METADATA).unwrap_err(),
            &[
                "Rust does not provide what OCaml's module X wants",
                "include_bindings!(x: Provider)",
                "implement `x::Externals`",
            ],
        );
    }
}

#[test]
fn names_of_externals() {
    let modules = Modules::new(
        "names_of_externals",
        &[(
            "x.ml",
            "external ( ++ ) : int -> int -> int = \"x_add\"
             external ( -- ) : int -> int -> int = \"x_subtract\"
             external put' : int -> int = \"x_put\"
             external get : int -> int = \"x_get\"
             module Sub = struct external get : int -> int = \"x_sub_get\" end",
        )],
    );
    modules.try_bind("module x rename x.++ add").unwrap();
    let rust = fs::read_to_string(modules.0.join("ocaml_bindings.rs")).unwrap();
    assert_says(
        &rust,
        &[
            "// `get_` in Rust: `get` is external get : int -> int = \"x_get\"",
            "fn get_ = \"x_sub_get\"",
        ],
    );
    let renamed = "rename x.++ add rename x.put' put_it rename x.sub.get get_part";
    let provider = "
        use ocaml_boxroot::*;
        type Answer<T> = Result<T, Box<dyn std::error::Error>>;
        pub struct Provider;
        impl x::Externals for Provider {
            fn add(_: &mut DomainLock, _: isize, _: isize) -> Answer<isize> { Ok(1) }
            fn op_minus_minus(_: &mut DomainLock, _: isize, _: isize) -> Answer<isize> { Ok(1) }
            fn put_it(_: &mut DomainLock, _: isize) -> Answer<isize> { Ok(1) }
            fn get(_: &mut DomainLock, _: isize) -> Answer<isize> { Ok(1) }
            fn get_part(_: &mut DomainLock, _: isize) -> Answer<isize> { Ok(1) }
        }
        ocaml_boxroot::include_bindings!(x: crate::Provider);";
    modules.bind_in(&format!("module x {renamed}"), provider);
}

/// If another build compiles the program, some files may come from an older compiler.
#[test]
fn a_module_beside_files_of_another_compiler() {
    let modules =
        Modules::new("a_module_beside_files_of_another_compiler", &[("x.ml", "let x y = y + 1")]);
    fs::write(modules.0.join("main.cmt"), "Caml1999T000").unwrap();
    modules.bind("module x").has(&["pub fn x("]);
}

/// Two functions cannot have the same symbol, even if one is for bytecode.
#[test]
fn externals_with_one_symbol() {
    let six = "int -> int -> int -> int -> int -> int -> int";
    for (number, other) in [
        format!("external other : {six} = \"x_bytes\" \"x_other\""),
        "external other : int -> int = \"x_bytes\"".into(),
        format!("external other : {six} = \"x_other\" \"x_other\""),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("external six : {six} = \"x_bytes\" \"x_six\" {other}");
        let modules =
            Modules::new(&format!("externals_with_one_symbol_{number}"), &[("x.ml", &text)]);
        assert_says(
            &modules.try_bind("module x").unwrap_err(),
            &["two functions would have the symbol", "external other"],
        );
    }
}

#[test]
fn modules() {
    let other = "type t = A | B of other and other = { n : int } type hidden\n";
    let modules = Modules::new("modules", &[
        ("other.ml", other),
        (
            "x.mli",
            "module Archive : sig type t val add : t -> Other.t -> t module Deep : sig val up : t end end
             module type S = sig type t = { s : int } val make : int -> t end
             module M : S
             module F (X : S) : S
             module G : module type of Map.Make (String)
             type again = Other.t = A | B of Other.other
             type ('a, 'b) swapped = ('b, 'a) Hashtbl.t
             val swapped : (int, string) swapped -> unit
             include module type of struct include Other end
             val of_f : F(M).t -> (string, Other.hidden) Hashtbl.t",
        ),
    ]);
    let one = modules.bind("module x");
    one.has(&[
        "// module F // is left out: a functor: apply it in a module of yours, and bind that",
        "pub fn add(archive: OCamlT, again: super::OCamlAgain) -> OCamlT as Boxroot<OCamlT> = \"X.Archive.add#DIGEST\"",
        "pub mod deep { use ::ocaml_boxroot::{Boxroot}; // val up : X.Archive.t",
        "pub fn up -> super::OCamlT as Boxroot<super::OCamlT> =",
        "pub mod m { use ::ocaml_boxroot::{Boxroot, OCamlInt}; // type t = { s : int; }",
        // If a module is not bound, its types are declared once, in a bound module that gives them
        // names.
        "pub enum Again { A, B(Other), }",
        "pub use self::OCamlAgain as OCamlT; pub use self::Again as T;",
        "pub use super::ocaml_types::other::OCamlHidden;",
        "pub type OCamlSwapped<A, B> = OCamlHashtbl<B, A>;",
        "pub fn swapped(hashtbl: OCamlHashtbl<OCamlString, OCamlInt>) -> ()",
        "pub fn find<A>",
    ]);
    let both = modules.bind("module x module other");
    both.has(&[
        "pub use super::other::OCamlT as OCamlAgain; pub use super::other::T as Again;",
        "pub enum T { A, B(Other), }",
    ]);
    both.lacks(&["pub enum Again"]);
}

/// Rust can only read maps and sets whose keys have a predefined type.
#[test]
fn maps_and_sets() {
    bind(
        "maps_and_sets",
        "module Words = Map.Make (String)
         module Own = Map.Make (struct type t = string let compare = compare end)
         type t = { index : int Words.t; ids : Set.Make(Int64).t }
         let words (t : t) = t.index
         let first (m : 'a MoreLabels.Map.Make(Nativeint).t) = List.length [ m ]
         module F (Stdlib__Map : sig module Make (X : sig end) : sig type t = float end end) = struct end
         let own (m : int Own.t) = m",
    )
    .has(&[
        "pub struct T { pub index: Boxroot<OCamlMap<OCamlString, OCamlInt>>, pub ids: Boxroot<OCamlSet<OCamlInt64>>, }",
        "pub fn words(x: OCamlT) -> OCamlMap<OCamlString, OCamlInt> as Boxroot<OCamlMap<OCamlString, OCamlInt>> = ",
        "pub fn first<A>(map: OCamlMap<OCamlNativeint, A>)",
        "pub type OCamlT<A> = OCamlMap<OCamlString, A>;",
        // The comparison function of these keys is unknown.
        "pub fn own(own: self::own::OCamlT<OCamlInt>) -> self::own::OCamlT<OCamlInt>",
    ]);
}

#[test]
fn operators() {
    let bindings = bind(
        "operators",
        "let ( + ) = ( + ) let ( *. ) = ( *. ) let ( let* ) = ( + ) let ( and+ ) = ( + ) let ( mod ) = ( mod )
         let ( .%() ) a b = a + b let ( .%()<- ) a b c = a + b + c let ( >>= ) a f = f a let ( !! ) = not
         let op_plus = 1",
    );
    bindings.has(&[
        "// val ( + ) : int -> int -> int // `op_plus_` in Rust: `op_plus` is val X.op_plus",
        "pub fn op_plus_(arg0: OCamlInt, arg1: OCamlInt) -> OCamlInt as isize = \"X.( + )#DIGEST\"",
        "pub fn op_star_dot(",
        "pub fn op_let_star(",
        "pub fn op_and_plus(",
        "pub fn op_mod(",
        "pub fn op_dot_percent_paren(",
        "pub fn op_dot_percent_paren_lt_minus(",
        "pub fn op_gt_gt_eq<A, B>(",
        "pub fn op_bang_bang(",
    ]);
    bindings.lacks(&["is left out"]);
}

/// A preprocessor may call a value `_`.
#[test]
fn a_value_without_a_path() {
    let modules = Modules::new("a_value_without_a_path", &[]);
    let text = "open Ast_mapper
        let () = register \"us\" (fun _ -> { default_mapper with pat = (fun m p -> match p.ppat_desc with
          | Ppat_var { txt = \"underscore\"; loc } -> { p with ppat_desc = Ppat_var { txt = \"_\"; loc } }
          | _ -> default_mapper.pat m p) })";
    fs::write(modules.0.join("ppx.ml"), text).unwrap();
    let mut ppx = ocamlopt();
    ppx.args(["-I", "+compiler-libs", "ocamlcommon.cmxa", "ppx.ml", "-o", "ppx"]);
    said(ppx.current_dir(&modules.0).output().unwrap()).unwrap();
    modules.compile_with(&["-ppx", "./ppx"], "x.ml", "let underscore = 1 let two = 2").unwrap();
    modules.bind("module x").has(&[
        "// val _ : int // is left out: OCaml has no path to it",
        "pub fn two -> OCamlInt as isize",
    ]);
}

/// Aliases of modules: of the same file, of another bound file, and of a file that is not bound.
#[test]
fn other_names_of_modules() {
    let modules = Modules::new(
        "other_names_of_modules",
        &[
            ("other.ml", "module Part = struct let n = 1 end let x = 1"),
            (
                "x.ml",
                "module A = struct let n = 1 end module B = A module Empty = struct end module None = Empty
                 module O = Other module P = Other.Part module F = Map.Make
                 module Inside = struct module Again = A module A = A let a = 1 end let a = 2",
            ),
        ],
    );
    let bindings = modules.bind("module x");
    bindings.lacks(&["Empty"]);
    bindings.has(&[
        "// module B = X.A pub use self::a::{self as b};",
        "// module Again = X.A pub use super::a::{self as again};",
        // There is also a function of this name, here and there.
        "// module A = X.A pub use super::a::{self};",
        "// module O = Other // is left out: `bind(\"other\")` binds it",
        "// module P = Other.Part // is left out: `bind(\"other\")` binds it",
        "// module F = Stdlib__Map.Make // is left out: a functor: apply it in a module of yours, and bind that",
    ]);
    modules.bind("module x module other").has(&[
        "// module O = Other pub use super::other::{self as o};",
        "// module P = Other.Part pub use super::other::part::{self as p};",
    ]);
}

/// A function with thousands of items may overflow the stack of OCaml's compiler.
#[test]
fn many_items() {
    let text: String = (0..450).map(|i| format!("let f{i} x = x + {i}\n")).collect();
    let bindings = bind("many_items", &text);
    assert_says(&bindings.glue, &["let part_3 () =\n"]);
    assert!(!bindings.glue.contains("part_4"));
}

/// All names of OCaml have the same meaning in Rust.
#[test]
fn names() {
    bind(
        "names",
        "type string_ = string
         type string = Text of string_ * int list * bool option
         type ocaml_int = int
         type vec = { type_ : int array; self : bool; fn : string_; x' : float }
         type option = Some | None and int = Int of string_ list
         type self = Self of vec | Crate
         module Bool = struct let not b = not b end
         module MoreThings = struct end
         let map' f = f
         let map_prime_root = 1
         let type_of (self : self) (crate : int) = ()
         let fn = 1 and camelCase = true",
    )
    .has(&[
        "pub enum String { Text(::std::string::String, ::std::vec::Vec<isize>, ::std::option::Option<::std::primitive::bool>), }",
        "Text block 0 (0 a0: ::ocaml_boxroot::OCamlString, 1 a1: OCamlList<::ocaml_boxroot::OCamlInt>, \
         2 a2: ::std::option::Option<::std::primitive::bool>),",
        "pub struct Vec { pub type_: ::std::vec::Vec<isize>, pub self_: ::std::primitive::bool, pub r#fn: ::std::string::String, \
         pub x_prime: f64, }",
        "pub enum Option { Some, None, }",
        "pub enum Self_ { Self_(Vec), Crate, }",
        "pub fn not(arg0: bool) -> bool as bool",
        "pub fn map_prime<A>",
        "pub fn r#fn -> ::ocaml_boxroot::OCamlInt as isize",
        "pub fn camelCase",
    ]);
}

/// Since 5.2, OCaml's keywords can be names: `\#let`.
#[test]
fn keywords_as_names() {
    if is_before((5, 2)) {
        return;
    }
    bind(
        "keywords_as_names",
        r#"let \#let x = x + 1
         type \#end = { \#in : int; \#type : \#end option }
         let start ~\#begin:(\#begin : \#end) ?\#to () = ignore (\#to : int option); \#begin"#,
    )
    .has(&[
        "pub fn r#let(arg0: OCamlInt) -> OCamlInt as isize = \"X.let#DIGEST\"",
        "pub record OCamlEnd for End { 0 r#in: OCamlInt, 1 r#type: Option<OCamlEnd>, }",
        "pub fn start(begin: OCamlEnd, to: Option<OCamlInt> as Option<isize>, (): ()) -> OCamlEnd as End",
    ]);
}

/// A module may have the name of a Rust keyword.
#[test]
fn a_module_called_type() {
    let bindings =
        Modules::new("a_module_called_type", &[("type.ml", "let one = 1")]).bind("module type");
    bindings.has(&["pub mod r#type {", "\"boxroot_abi_type_DIGEST\""]);
}

/// Since OCaml 5.3, names may have letters that are not ASCII, which C does not allow.
#[test]
fn names_that_are_not_ascii() {
    if is_before((5, 3)) {
        return;
    }
    let ml = "type état = Être of int | Épuisé
              module AnnéeÉcoulée = struct let été n = n + 1 end
              exception Échec of état
              external demander : état -> int = \"été_demander\"
              let à_renommer = 1 and aussi = 2";
    let renamed = "rename été.à_renommer ôté rename été.aussi égal";
    let bindings = Modules::new("names_that_are_not_ascii", &[("été.ml", ml)])
        .bind(&format!("module été {renamed}"));
    bindings.has(&[
        "pub mod été {",
        "\"boxroot_abi_xc3xa9txc3xa9_DIGEST\"",
        "pub enum État { Être(isize), Épuisé, }",
        "pub mod année_écoulée {",
        "pub fn été(arg0: OCamlInt) -> OCamlInt as isize",
        "pub struct Échec(pub État);",
        "pub fn ôté -> OCamlInt as isize",
        "pub fn égal -> OCamlInt as isize",
    ]);
    assert_says(&bindings.said, &["demander", "a symbol that is not a name in C", "bound module"]);
}

#[test]
fn names_that_clash() {
    bind(
        "names_that_clash",
        "type a_b = A type aB = B of a_b
         type pos_ = pos and pos = { line : int }
         type mode_ = Raw of int type mode = Fast | Slow
         type fn = int -> fn_ and fn_ = Fn of fn
         type items_ = int list type items = int array
         type error = E exception Error type errorException = X
         exception A_c exception AC
         let f' = 1 let f_prime = \"\" let raw = function Fast -> Raw 0 | Slow -> Raw 1
         let start : pos_ = { line = 1 }
         type constructors = A_b | AB | Ab type row = [ `a | `A ]
         type fields = { x' : int; x_prime : fields' option } and fields' = One of { y' : int; y_prime : int }
         module AB = struct let n = 1 end module Ab = struct let m = 1 end",
    )
    .has(&[
        "// type a_b = A // `AB_` in Rust: `AB` is type X.aB",
        "pub enum AB { B(AB_), }",
        "// type pos_ = pos // `Pos` in Rust, too",
        "pub enum Mode { Fast, Slow, }",
        "// type mode_ = Raw of int // `Mode_` in Rust: `Mode` is type X.mode",
        "pub fn raw(mode: OCamlMode) -> OCamlMode_ as Mode_ =",
        "pub fn start -> OCamlPos as Pos =",
        "pub type OCamlFn = Function<(OCamlInt,), OCamlFn_>;",
        "pub type OCamlItems = OCamlArray<OCamlInt>;",
        "pub type OCamlItems_ = OCamlList<OCamlInt>;",
        "// exception Error // `ErrorException_` in Rust: `ErrorException` is type X.errorException",
        "// exception A_c // `AC_` in Rust: `AC` is exception X.AC",
        "pub struct AC_; ",
        "// val f_prime : string ::",
        "// val f' : int // `f_prime_` in Rust: `f_prime` is val X.f_prime",
        "pub fn f_prime -> OCamlString as String =",
        "pub fn f_prime_ -> OCamlInt as isize =",
        "// the constructor A_b is `AB_` in Rust: another one is `AB`",
        "pub enum Constructors { AB_, AB, Ab, }",
        "pub enum Row { A, A_, }",
        "pub struct Fields { pub x_prime_: isize, pub x_prime: Option<FieldsPrime>,",
        "One { y_prime_: isize, y_prime: isize },",
        "// `ab_` in Rust: `ab` is module X.AB pub mod ab_ {",
    ]);
    let ml =
        "type a_b = A type aB = B let f' = 1 let f_prime = 2 let ( + ) = ( + ) exception Old of aB";
    let renamed = "rename x.aB Other rename x.f' _first rename x.+ add rename x.Old New";
    Modules::new("renamed", &[("x.ml", ml)]).bind(&format!("module x {renamed}")).has(&[
        "pub variant OCamlOther for Other { B = 0, }",
        "pub fn _first",
        "pub fn add(arg0: OCamlInt, arg1: OCamlInt) -> OCamlInt as isize = \"X.( + )#DIGEST\"",
        "pub struct New(pub Other);",
    ]);
    let modules = Modules::new(
        "renamed_to_another_kind",
        &[("x.ml", "module AB = struct let n = 1 end let f x = x + 1")],
    );
    for (item, name) in [("x.aB", "other"), ("x.aB", "Other"), ("x.f", "F")] {
        let said = modules.try_bind(&format!("module x rename {item} {name}")).unwrap_err();
        assert_says(&said, &["`rename`", item, &format!("`{name}`"), "Modules keep their names"]);
    }
    // Modules with the names of crates, and of modules in the bindings.
    let files = [
        ("std.ml", "external audit : int -> unit = \"std_audit\""),
        ("core.ml", "let x = 1"),
        ("ocaml_types.ml", "type t = { core : int }"),
        ("order_line.ml", "let x = 1"),
        ("orderLine.ml", "let y = 1"),
        ("re__.ml", "let z = 1"),
    ];
    let provider = "
        pub struct Provider;
        impl std_::Externals for Provider {
            fn audit(_: &mut ocaml_boxroot::DomainLock, _: isize) -> Result<(), Box<dyn std::error::Error>> { Ok(()) }
        }
        ocaml_boxroot::include_bindings!(std_: crate::Provider);";
    Modules::new("clash_of_files", &files)
        .bind_in(
            "module std module core module ocaml_types module order_line module orderLine module re__",
            provider,
        )
        .has(&[
            "// `std_` in Rust: `std` is the crate std #[allow(",
            "pub mod std_ {",
            "pub mod core_ {",
            "// `ocaml_types_` in Rust: `ocaml_types` is a module of the bindings themselves",
            "pub mod order_line {",
            "// `order_line_` in Rust: `order_line` is module Order_line",
            "pub mod re__ {",
        ]);
    // The types of modules that are not bound get other names, because no user code writes these
    // names.
    let files = [
        ("foo_bar.ml", "type t type a_b type aB"),
        ("fooBar.ml", "type t"),
        ("x.ml", "let f (_ : Foo_bar.t) (_ : FooBar.t) (_ : Foo_bar.a_b) (_ : Foo_bar.aB) = ()"),
    ];
    Modules::new("clash_elsewhere", &files).bind("module x").has(&[
        "// type FooBar.t ::ocaml_boxroot::bound_type! { pub abstract OCamlT_ }",
        "pub fn f(foo_bar: super::ocaml_types::foo_bar::OCamlT, t_: super::ocaml_types::foo_bar::OCamlT_,",
        "// type Foo_bar.t ::ocaml_boxroot::bound_type! { pub abstract OCamlT }",
        "ab: super::ocaml_types::foo_bar::OCamlAB, ab_: super::ocaml_types::foo_bar::OCamlAB_)",
    ]);
    // In a clash, the function that returns a root gets another name.
    bind("clash_of_root", "let f = 1 let f_root = \"\"").has(&[
        "fn f ->",
        "fn f_root_ ->",
        "fn f_root ->",
        "fn f_root_root ->",
    ]);
}

#[test]
fn selections() {
    let ml = "type order = { size : size; cache : cache } and size = Small | Large and cache = { n : int }
              type unused = { no : int }
              let reserve (o : order) = 1 and other = 2
              exception Closed
              module Archive = struct let add (o : order) = () let list = [ 1 ] end";
    let modules = Modules::new("selections", &[("x.ml", ml)]);
    let bindings = modules.bind_in(
        "module x with x.size crate::Size opaque x.cache only x.reserve only x.archive.add",
        "#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)] pub enum Size { Small, Large }
         ocaml_boxroot::include_bindings!();",
    );
    bindings.has(&[
        "pub struct Order { pub size: crate::Size, pub cache: Boxroot<OCamlCache>, }",
        "pub variant OCamlSize for crate::Size { Small = 0, Large = 1, }",
        "pub abstract OCamlCache",
        "pub fn reserve",
        "pub fn add",
    ]);
    bindings.lacks(&["Unused", "Closed", "fn other", "fn list", "enum Size"]);
    assert_says(
        &modules.try_bind("module x only x.reserv").unwrap_err(),
        &["`x.reserv`", "x.reserve"],
    );
    assert_says(&modules.try_bind("module x opaque x.cach").unwrap_err(), &["`x.cach`", "x.cache"]);
    assert_says(&modules.try_bind("module y").unwrap_err(), &["no module Y", "X"]);
    assert_says(&modules.try_bind("module hashtbl").unwrap_err(), &["is bound as Stdlib__Hashtbl"]);
    let nothing = Modules::new("selections_of_nothing", &[]);
    assert_says(&nothing.try_bind("module y").unwrap_err(), &["no module Y. There are none."]);
}

/// Three or more optional arguments become a struct, which is the last argument.
#[test]
fn many_optional_arguments() {
    let modules = Modules::new(
        "many_optional_arguments",
        &[(
            "x.mli",
            "type mode = Fast | Slow
             type host
             type connectOptions = { timeout : int }
             val connect : ?port:int -> string -> ?mode:mode -> ?type_:string -> unit -> int list
             (** [connect host ()] connects. *)

             val open_ : ?a:host -> ?b:(unit -> unit) -> ?options:int -> 'a -> 'a
             val quiet : ?a:int -> ?b:int -> ?c:int -> unit -> unit
             val two : ?a:int -> ?b:int -> unit -> unit
             val generic : ?a:'a -> ?b:int -> ?c:int -> 'a -> int
             val unsafe_many : ?a:int -> ?b:int -> ?c:int -> unit -> int
             module Sub : sig val f : ?a:mode -> ?b:int -> ?c:int -> unit -> mode end",
        )],
    );
    let program = "
        ocaml_boxroot::include_bindings!();
        use ocaml_boxroot::*;
        use x::*;
        pub fn all(lock: &mut DomainLock, host: Boxroot<OCamlHost>) -> Result<(), CallError> {
            let options = ConnectOptions_ { port: Some(80), ..Default::default() };
            let _: Vec<isize> = connect(lock, \"host\", options.clone())?;
            let _: Boxroot<OCamlList<OCamlInt>> = connect_root(lock, \"host\", options)?;
            let options = OpenOptions { a: Some(host), options: Some(1), ..Default::default() };
            let _: Boxroot<OCamlString> = open_::<OCamlString>(lock, \"text\", options)?;
            quiet(lock, QuietOptions::default())?;
            two(lock, None, Some(1))?;
            let _: isize = generic::<OCamlInt>(lock, None, Some(1), None, 1)?;
            let options = sub::FOptions { a: Some(Mode::Slow), b: None, c: None };
            let _: Mode = sub::f(lock, options)?;
            Ok(())
        }";
    let words =
        "module x int_as x.connect.port u16 only x.connect only x.open_ only x.quiet only x.two
        only x.generic only x.sub only x.mode only x.host only x.connectOptions";
    modules.bind_in(words, program).has(&[
        "/// The optional arguments of [`connect`].
         #[derive(Clone, Debug, Default, PartialEq)]
         pub struct ConnectOptions_ { pub port: Option<u16>, pub mode: Option<Mode>, pub type_: Option<String>, }",
        "/// `connect host ()` connects. #[inline] #[track_caller]
         pub fn connect( lock: &mut DomainLock, host: impl ToOCaml<OCamlString>, options: ConnectOptions_, )
             -> Result<Vec<isize>, CallError> {
            flat_connect::connect(lock, options.port, host, options.mode, options.type_)
         }",
        "/// As [`connect`], but returns a root. #[inline] #[track_caller] pub fn connect_root(",
        "#[derive(Debug, Default)] pub struct OpenOptions {
            pub a: Option<Boxroot<OCamlHost>>, pub b: Option<Boxroot<Function<(), ()>>>, pub options: Option<isize>, }",
        "arg3: impl ToOCaml<A>, options_: OpenOptions,",
        "mod flat_f { use super::*; ::ocaml_boxroot::ocaml_functions! { generated
            pub fn f(a: Option<super::super::OCamlMode> as Option<super::super::Mode>,",
    ]);
    // Functions that are unsafe to call, or whose types have parameters.
    let bindings = modules.bind("module x");
    bindings.has(&["pub unsafe fn unsafe_many(a: Option<OCamlInt> as Option<isize>,"]);
    bindings.lacks(&["UnsafeManyOptions", "GenericOptions", "TwoOptions"]);
}
