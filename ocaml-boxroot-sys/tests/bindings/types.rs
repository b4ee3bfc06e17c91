//! Tests of types and their conversions.

use super::support::*;

#[test]
fn records_and_variants() {
    bind(
        "records_and_variants",
        "type size = Small | Large | Custom of { grams : int } | Pair of int * bool
         type order = { customer : string; size : size; price : float; note : string option }
         type colour = [ `Red | `Mixed of int * colour | `loop ]
         type counter = { mutable count : int64 }
         type counters = { all : counter list; first : counter option }",
    )
    .has(&[
        "// type size = Small | Large | Custom of { grams : int; } | Pair of int * bool
         #[derive(Clone, Debug, Eq, Hash, PartialEq)]
         pub enum Size { Small, Large, Custom { grams: isize }, Pair(isize, bool), }
         ::ocaml_boxroot::bound_type! {
            pub variant OCamlSize for Size {
                Small = 0,
                Large = 1,
                Custom block 0 { 0 grams: OCamlInt },
                Pair block 1 (0 a0: OCamlInt, 1 a1: bool),
            }
         }",
        "pub struct Order {
            pub customer: String,
            pub size: Size,
            pub price: f64,
            pub note: Option<String>,
         }",
        "pub record OCamlOrder for Order {
            0 customer: OCamlString,
            1 size: OCamlSize,
            2 price: OCamlFloat,
            3 note: Option<OCamlString>,
         }",
        // `of int * colour` is one argument.
        "Mixed((isize, Box<Colour>)),",
        "Mixed tagged 463304923 (0 a0: (OCamlInt, OCamlColour)),",
        "Loop = -944265628,",
        // Mutable values stay in OCaml.
        "pub record OCamlCounter for Counter { 0 count: OCamlInt64, }",
        "#[derive(Debug)]
         pub struct Counters { pub all: Vec<Boxroot<OCamlCounter>>, pub first: Option<Boxroot<OCamlCounter>>, }",
    ]);
}

/// OCaml's lists, `()` and `bool` are ordinary variants, and programs define others with these
/// constructors.
#[test]
fn constructors_of_signs() {
    bind(
        "constructors_of_signs",
        "type truth = true | false
         type ends = [] | () of int
         type id = (::) of { name : string } [@@unboxed]
         type 'a more = (::) of 'a * 'a list
         let first (x :: _ : 'a more) = x
         exception ()",
    )
    .has(&[
        "pub variant OCamlTruth for Truth { True = 0, False = 1, }",
        "pub variant OCamlEnds for Ends { Nil = 0, Unit block 0 (0 a0: OCamlInt), }",
        "pub unboxed OCamlId for Id { Cons { 0 name: OCamlString } } is_float false",
        "pub enum More<RA> { Cons(RA, Vec<RA>), }",
        "// exception () // is left out: OCaml has no path to an exception with this name",
    ]);
}

/// OCaml finds the last constructor with a name.
#[test]
fn exceptions_that_are_hidden() {
    bind(
        "exceptions_that_are_hidden",
        "exception Bad of string
         exception Worse
         type error = Bad | Good",
    )
    .has(&[
        "// exception Bad of string // is left out: OCaml has no path to an exception with this name",
        "pub struct Worse;",
    ]);
}

#[test]
fn types_of_the_library() {
    bind(
        "types_of_the_library",
        "type 'a ref = Other of 'a
         let next c = Uchar.succ c
         let count (cell : int Stdlib.ref) (own : int ref) = ignore (cell, own)
         let force (number : int Lazy.t) (other : int lazy_t) = Lazy.force number + Lazy.force other
         let table () : (string, float) Hashtbl.t = Hashtbl.create 1
         module Table = Hashtbl.Make (struct include String let hash = Hashtbl.hash end)
         module Words = Map.Make (String)",
    )
    .has(&[
        "pub fn next(arg0: OCamlUchar) -> OCamlUchar as char =",
        "pub fn count(reference: ::ocaml_boxroot::markers::OCamlRef<OCamlInt>, r#ref: OCamlRef<OCamlInt>) -> () as ()",
        "pub fn force(lazy: OCamlLazy<OCamlInt>, lazy_: OCamlLazy<OCamlInt>) -> OCamlInt as isize",
        "pub fn table((): ()) -> OCamlHashtbl<OCamlString, OCamlFloat> as",
        // The hash table of a functor is another type.
        "pub abstract OCamlT<A>", "as Boxroot<OCamlT<A>> = \"X.Table.of_seq#DIGEST\"",
        "pub fn of_seq<A>(seq: OCamlSeq<(OCamlString, A)>) -> OCamlMap<OCamlString, A> as",
    ]);
}

/// The fields' types do not show whether a record is flat. A record with fields of unboxed floats
/// is flat. A record from a functor is not, although its fields are floats.
#[test]
fn flat_records() {
    bind(
        "flat_records",
        "type metres = { metres : float } [@@unboxed]
         type far = Far of metres [@@unboxed]
         type point = { x : metres; y : far }
         module F (X : sig type t end) = struct type pair = { a : X.t; b : X.t } end
         module M = F (struct type t = float end)
         type id = Id of { name : string } [@@unboxed]
         let points : far array = [||]",
    )
    .has(&[
        "pub unboxed OCamlMetres for Metres { 0 metres: OCamlFloat } is_float true",
        "pub unboxed OCamlFar for Far { Far (0 a0: OCamlMetres) } is_float true",
        "pub flat OCamlPoint for Point { 0 x: OCamlMetres, 1 y: OCamlFar, }",
        "pub record OCamlPair for Pair { 0 a: OCamlFloat, 1 b: OCamlFloat, }",
        "pub unboxed OCamlId for Id { Id { 0 name: OCamlString } } is_float false",
        "pub fn points -> OCamlArray<OCamlFar> as Vec<Far>",
    ]);
}

/// A number in the flat form of floats is not a value, so it cannot have a root.
#[test]
fn floats_of_types_that_stay_in_ocaml() {
    let modules = Modules::new(
        "floats_of_types_that_stay_in_ocaml",
        &[
            ("other.ml", "type metres = { metres : float } [@@unboxed]"),
            (
                "x.ml",
                "type far = { x : Other.metres; y : float }
                 type inner = Inner of Other.metres [@@unboxed]
                 type hidden = { hidden : inner; z : float }
                 type early = { early : late; more : float } and late = Late of Other.metres [@@unboxed]
                 module M : sig type t = private { t : float } [@@unboxed] end = struct
                   type t = { t : float } [@@unboxed]
                 end
                 type signed = { sign : M.t; size : float }
                 type around = Around of M.t [@@unboxed]
                 type holder = { holder : M.t array; around : around array }
                 let all : M.t array = [||]",
            ),
        ],
    );
    let reason = "// has no conversion: a float of a type that stays in OCaml ::ocaml_boxroot::bound_type! {";
    let bindings = modules.bind("module x");
    bindings.has(&[
        &format!("{reason} pub abstract OCamlFar }}"),
        &format!("{reason} pub abstract OCamlHidden }}"),
        &format!("{reason} pub abstract OCamlSigned }}"),
        &format!("{reason} pub abstract OCamlAround }}"),
        // At this declaration, OCaml did not know that `late` is represented as a float, so the
        // record is not flat.
        "pub record OCamlEarly for Early { 0 early: OCamlLate, 1 more: OCamlFloat, }",
        "pub struct Holder {
            pub holder: Boxroot<OCamlArray<self::m::OCamlT>>,
            pub around: Boxroot<OCamlArray<OCamlAround>>,
         }",
        "pub fn all -> OCamlArray<self::m::OCamlT> as Vec<self::m::T>",
    ]);
    // If the type is known, it has a Rust type.
    modules.bind("module x module other").has(&[
        "pub flat OCamlFar for Far { 0 x: super::other::OCamlMetres, 1 y: OCamlFloat, }",
        "pub unboxed OCamlInner for Inner { Inner (0 a0: super::other::OCamlMetres) } is_float true",
    ]);
}

#[test]
fn atomic_fields() {
    if is_before((5, 4)) {
        return;
    }
    bind(
        "atomic_fields",
        "type t = { mutable count : int [@atomic]; name : string } let f (t : t) = t
         type floats = { mutable x : float [@atomic]; y : float }",
    )
    .has(&[
        "pub record OCamlT for T { 0 count: OCamlInt, 1 name: OCamlString, }",
        "-> OCamlT as Boxroot<OCamlT> =",
        "pub record OCamlFloats for Floats { 0 x: OCamlFloat, 1 y: OCamlFloat, }",
    ]);
}

/// An item without a binding is a comment with the reason.
#[test]
fn what_cannot_be_bound() {
    let text = "
        type ext = ..
        type ext += E1 of int | E2 of { s : string }
        type 'a dropped = int
        type 'a pf = private int -> 'a
        type prow = private [< `A | `B of int > `A ]
        type empty = |
        val row : ([ `C of 'a | `N ] as 'a) -> int";
    Modules::new("what_cannot_be_bound", &[("x.mli", text)]).bind("module x").has(&[
        "// type ext = .. // has no conversion: an extensible type",
        "// type ext += E2 of { s : string; } // is left out: an extension of a type",
        "// type 'a dropped = int \
         pub type OCamlDropped<A> = <OCamlInt as ::ocaml_boxroot::macro_support::Ignoring<(A,)>>::Itself;",
        "// type 'a pf = private int -> 'a // has no conversion: a private abbreviation",
        "// type prow = private [< `A | `B of int > `A ] // has no conversion: a polymorphic variant without a name",
        "// type empty = | // has no conversion: no constructors",
        "// val row : ([ `C of 'a | `N ] as 'a) -> int // is left out: a type without end",
    ]);
}

/// The macros have a limit.
#[test]
fn many_parts() {
    let fields = |n: usize| (0..n).map(|i| format!("f{i} : int;")).collect::<String>();
    let text = format!(
        "type most = {{ {} }} type record = {{ {} }} type variant = A of {{ {} }}",
        fields(256),
        fields(257),
        fields(257),
    );
    let bindings = bind("many_parts", &text);
    bindings.has(&[
        "pub record OCamlMost for Most {",
        "// has no conversion: more than 256 fields or arguments",
    ]);
    bindings.lacks(&["pub record OCamlRecord", "pub variant OCamlVariant"]);
}

/// OCaml code may choose the constructors of its row types, and Rust gets a type with these. This
/// is not possible in functions that Rust provides, because OCaml's callers choose. Primitives are
/// unsafe, because nobody checks the choice.
#[test]
fn rows_without_names() {
    let bindings = bind(
        "rows_without_names",
        "type size = [ `Small | `Large ]
         type open_mode = O
         let open_ ?(mode : [ `Readonly | `Create ] option) (name : string) = ignore mode; name
         let opened x : [> `A | `B of int ] = if x then `A else `B 1
         let both (x : [< `A | `B of string ]) = x
         let contra (f : [> `A | `B ] -> unit) = f `A
         let same (x : ([> `A ] as 'a)) (f : 'a -> [> `B of 'a ]) : 'a list = ignore (f x); [ x ]
         let named (f : [< size ] -> unit) = f `Small
         let upper : [< size ] -> string = function `Small -> \"s\" | `Large -> \"l\"
         let conj (x : [< `A of int & string | `B ]) = ignore x
         type t = { mode : [ `A | `B of float ]; modes : [ `A | `B of float ] list }
         exception E of [ `X | `Y ]
         external cast : ([> `A ] as 'a) list -> ([> `B ] as 'b) list = \"of_c\"
         external any : ([> `A ] as 'a) -> ([> `B ] as 'b) = \"%identity\"
         external argument : ?mode:[< `R | `W of int ] -> [< size ] -> int = \"of_c_1\"
         external returned : [< size ] -> [< size ] = \"of_c_2\"
         external called : ([< size ] -> unit) -> unit = \"of_c_3\"
         external inside : [< `A of [< size ] list ] -> unit = \"of_c_4\"",
    );
    bindings.has(&[
        // An existing type with this name keeps it.
        "pub enum OpenMode { O, }",
        "// [ `Create | `Readonly ] // `OpenMode_` in Rust: `OpenMode` is type X.open_mode",
        "pub variant OCamlOpenMode_ for OpenMode_ { Create = 816044828, Readonly = -528289822, }",
        "pub fn open_(mode: Option<OCamlOpenMode_> as Option<OpenMode_>, arg1: OCamlString)",
        "pub enum OpenedResult { A, B(isize), }",
        "pub fn opened(arg0: bool) -> OCamlOpenedResult as OpenedResult",
        "pub fn both(arg0: OCamlBothArg0) -> OCamlBothArg0 as BothArg0",
        "pub fn contra(f: Function<(OCamlContraArg0,), ()>)",
        "pub fn same(arg0: OCamlSameArg0, f: Function<(OCamlSameArg0,), OCamlSameArg1>) \
         -> OCamlList<OCamlSameArg0> as Vec<SameArg0>",
        "pub fn named(f: Function<(OCamlSize,), ()>)",
        "pub fn upper(size: OCamlSize) -> OCamlString as String",
        "pub struct T { pub mode: TMode, pub modes: Vec<TMode>, }",
        "pub struct E(pub ET0);",
        "// val conj : [< `A of int & string | `B ] -> unit // is left out: a polymorphic variant without a name",
        "pub unsafe fn cast(list: OCamlList<OCamlSameArg0>) -> OCamlList<OCamlCastResult> as Vec<CastResult>",
        "pub unsafe fn any(arg0: OCamlSameArg0) -> OCamlCastResult as CastResult",
        "pub fn argument(mode: Option<OCamlArgumentMode> as Option<ArgumentMode>, size: OCamlSize) -> OCamlInt",
        "pub unsafe fn returned(size: OCamlSize) -> OCamlSize as Size",
        "pub unsafe fn called(f: Function<(OCamlSize,), ()>) -> () as ()",
        "pub unsafe fn inside(arg0: OCamlInsideArg0) -> () as ()",
    ]);
    let text = "type size = [ `Small | `Large ]
        external audit : [< size ] -> unit = \"x_audit\"
        external get : unit -> ([< size ] as 'a) = \"x_get\"
        external made : unit -> [> `A ] = \"x_made\"
        type t = { f : 'a. ([< size ] as 'a) -> 'a }";
    let bindings = Modules::new("rows_of_externals", &[("x.ml", text)]).bind("module x");
    bindings.has(&["// has no conversion: a polymorphic field"]);
    for name in ["audit", "get", "made"] {
        let why = "is left out: a polymorphic variant without a name";
        bindings.has(&[&format!("// external {name} = \"x_{name}\" // {why}")]);
    }
}

/// A type without a marker gets one through an abbreviation.
#[test]
fn abbreviations_that_a_signature_includes() {
    bind(
        "abbreviations_that_a_signature_includes",
        "module type S = sig
           type 'k key_ type ('k, 'e) map type ('a, 'k, 'e) result_
           val mem : 'k key_ -> ('k, 'e) map -> (bool, 'k, 'e) result_
           val labelled : ?n:int -> key:'k key_ -> unit -> (bool, 'k, 'e) result_
         end
         module type T = sig
           type ('k, 'e) t type ('a, 'k, 'v) result
           include S with type 'a key_ = 'a and type ('k, 'e) map = ('k, 'e) t
             and type ('a, 'k, 'v) result_ = ('a, 'k, 'v) result
         end
         module M : T with type ('a, 'k, 'v) result = 'a = struct
           type 'a key_ = 'a type ('k, 'e) t = ('k * 'e) list type ('k, 'e) map = ('k, 'e) t
           type ('a, 'k, 'v) result = 'a type ('a, 'k, 'v) result_ = 'a
           let mem = List.mem_assoc
           let labelled ?n ~key () = ignore n; ignore key; true
         end",
    )
    .has(&["pub fn mem<K, E>(arg0: K, m: OCamlT<K, E>) -> bool as bool"]);
}

#[test]
fn abbreviations_of_what_has_no_marker() {
    bind(
        "abbreviations_of_what_has_no_marker",
        "type labelled = l:int -> int
         type ('s, 'd) sub = 's -> pos:int -> 'd
         class type hash = object method add : string -> unit method poly : 'a. 'a -> 'a end
         module type S = sig type t val v : t end
         type 'a testable = (module S with type t = 'a)
         type hidden = ([ `A ] * Obj.t)
         type floats = (l:float -> float) list
         type 'a phantom = [ `A ] list
         type any = Obj.t
         type number = float
         let sub : (string, string) sub = fun s ~pos -> String.sub s pos 1
         let unsafe_sub : (string, string) sub = sub
         let make () : hash = object method add (_ : string) = () method poly : 'a. 'a -> 'a = fun x -> x end
         let add (h : #hash) s = h#add s
         let hashes : hash array = [||] and functions : labelled array = [||] and lists : floats array = [||]
         let pack (x : int) : int testable = (module struct type t = int let v = x end)
         let unpack (type a) ((module M) : a testable) : a = M.v
         let callback (f : int -> labelled) = f 1 ~l:2
         let phantom (x : 'a phantom) : 'a phantom = x",
    )
    .has(&[
        "pub type OCamlLabelled = Labelled<(super::ocaml_labels::L,), Function<(OCamlInt,), OCamlInt>>;",
        "pub type OCamlSub<S, D> = Labelled<((), super::ocaml_labels::Pos), Function<(S, OCamlInt), D>>;",
        "pub fn sub(arg0: OCamlString, pos: OCamlInt) -> OCamlString as String",
        "pub unsafe fn unsafe_sub(arg0: OCamlString, pos: OCamlInt) -> OCamlString as String",
        "// has no conversion: an object ::ocaml_boxroot::bound_type! { pub abstract OCamlHash }",
        "pub fn make((): ()) -> OCamlHash as Boxroot<OCamlHash>",
        "pub fn add(hash: OCamlHash, arg1: OCamlString) -> () as ()",
        "pub fn hashes -> OCamlArray<OCamlHash> as Vec<Boxroot<OCamlHash>>",
        "pub fn functions -> OCamlArray<Labelled<(super::ocaml_labels::L,), Function<(OCamlInt,), OCamlInt>>> \
         as Vec<Boxroot<Function<(OCamlInt,), OCamlInt>>>",
        "pub fn lists -> OCamlArray<OCamlList<Labelled<(super::ocaml_labels::L,), Function<(OCamlFloat,), OCamlFloat>>>> \
         as Vec<Vec<Boxroot<Function<(OCamlFloat,), OCamlFloat>>>>",
        "pub use self::OCamlSWithT as OCamlTestable;",
        "pub fn pack(arg0: OCamlInt) -> OCamlSWithT<OCamlInt> as Boxroot<OCamlSWithT<OCamlInt>>",
        "pub fn unpack<A>(s: OCamlSWithT<A>) -> A as Boxroot<A>",
        "pub fn callback(f: Function<(OCamlInt,), Labelled<(super::ocaml_labels::L,), Function<(OCamlInt,), OCamlInt>>>)",
        "pub type OCamlHidden = (OCamlHiddenVariant, super::ocaml_types::stdlib::obj::OCamlT);",
        "pub type OCamlPhantom<A> = <OCamlList<OCamlHiddenVariant> as ::ocaml_boxroot::macro_support::Ignoring<(A,)>>::Itself;",
        "pub fn phantom(list: OCamlList<OCamlHiddenVariant>) -> OCamlList<OCamlHiddenVariant> as Vec<HiddenVariant>",
        "pub use super::ocaml_types::stdlib::obj::OCamlT as OCamlAny;",
        "pub type OCamlNumber = OCamlFloat;",
    ]);
}

/// One type with several names, and several types with one name.
#[test]
fn types_that_are_made_of_others() {
    let modules = Modules::new(
        "types_that_are_made_of_others",
        &[
            ("other.ml", "type t = { n : int } let v = { n = 1 } module Inner = struct type i = I of t end"),
            (
                "x.ml",
                "type t = A | B
                 type u = t = A | B
                 module type S = sig type t type 'a w = { w : 'a } val f : t -> t end
                 module type Abstract = sig type t val v : t end
                 module Unpacked = (val (module struct type t = int let v = 1 end : Abstract))
                 module Local : S with type t := Other.Inner.i = struct type 'a w = { w : 'a } let f i = i end
                 module Same = struct include Other end
                 module Of : module type of struct include Other end = Other
                 module rec L : sig type t = { r : R.t option } end = struct type t = { r : R.t option } end
                 and R : sig type t = R of L.t | N end = struct type t = R of L.t | N end
                 module F (X : Abstract) = struct type v = V of X.t let f (V x) = x end
                 module Applied = F (struct type t = float let v = 1. end)
                 include struct type hidden = H end
                 type hidden = Again of int
                 type 'a row = [ `X of 'a | `Y ]
                 type more = [ t row | `Z ]
                 type inline = I of { mutable x : int; y : inline } | J
                 exception Inline of { mutable a : int; b : Other.t }",
            ),
        ],
    );
    modules.bind("module x").has(&[
        "pub use self::OCamlT as OCamlU; pub use self::T as U;",
        "pub mod unpacked { use ::ocaml_boxroot::{Boxroot}; // type t ::ocaml_boxroot::bound_type! { pub abstract OCamlT }",
        "// val f : Other.Inner.i -> Other.Inner.i",
        "pub mod same { use ::ocaml_boxroot::{Boxroot, OCamlInt}; // type t = Other.t = { n : int; }",
        "pub mod of { use ::ocaml_boxroot::{Boxroot}; // type t = Other.t = { n : int; } pub use super::same::OCamlT; pub use super::same::T;",
        "pub r: Option<Box<super::r::T>>",
        "pub enum V { V(f64), }",
        "pub fn f(v: OCamlV) -> OCamlFloat as f64",
        "pub enum Hidden { Again(isize), }",
        "pub variant OCamlRow<A> for Row<A as RA> {",
        "X tagged 88 (0 a0: OCamlT),",
        "pub enum Inline { I { x: isize, y: Boxroot<OCamlInline> }, J, }",
        "pub struct InlineException { pub a: isize, pub b: self::same::T }",
    ]);
}

/// Values of polymorphic variants are not floats, so arrays of them are ordinary arrays.
#[test]
fn polymorphic_variants_are_no_floats() {
    bind(
        "polymorphic_variants_are_no_floats",
        "type colour = [ `Red | `Mixed of int ]
         type wrapped = Wrapped of colour [@@unboxed]
         module M : sig type t = private [> `A of int ] end = struct type t = [ `A of int ] end
         type 'phantom channel = [ `Open of int | `Closed ]
         let channels : int channel list = []
         let colours : colour array = [||]
         let ms : M.t array = [||]",
    )
    .has(&[
        "pub fn colours -> OCamlArray<OCamlColour> as Vec<Colour>",
        "-> OCamlList<OCamlChannel<OCamlInt>> as Vec<Channel>",
        "pub unboxed OCamlWrapped for Wrapped { Wrapped (0 a0: OCamlColour) } is_float false",
        "pub fn ms -> OCamlArray<self::m::OCamlT> as Vec<Boxroot<self::m::OCamlT>>",
    ]);
}

#[test]
fn types_without_conversions() {
    let bindings = bind(
        "types_without_conversions",
        "type _ expr = Int : int -> int expr | If : bool expr * 'a expr * 'a expr -> 'a expr
         type some = Some_ : 'a * ('a -> string) -> some
         type identity = { f : 'a. 'a -> 'a }
         type 'a constrained = { c : 'a } constraint 'a = int * 'b
         type ('a, 'b) equal = { x : 'a; y : 'b } constraint 'a = 'b
         type ('a, 'b) abbreviated = 'b list constraint 'a = 'b
         type 'a nested = Flat of 'a | Nested of 'a list nested
         type 'a guarded = { value : 'a; check : 'a -> bool }
         type 'a choice = Value of 'a | Check of ('a -> bool)
         type 'a wrapped = Wrapped of 'a [@@unboxed]
         type lazily = { later : int Lazy.t; cell : int ref }
         type open_ = ..
         type 'a with_row = { row : [ `A | `B of 'a -> unit ] }
         type 'a at_least = [> `A ] as 'a
         type number = private int
         let eval : type a. a expr -> a = function Int n -> n | If _ -> assert false",
    );
    bindings.has(&[
        "// has no conversion: a GADT ::ocaml_boxroot::bound_type! { pub abstract OCamlExpr<A> }",
        "// has no conversion: a GADT ::ocaml_boxroot::bound_type! { pub abstract OCamlSome }",
        "// has no conversion: a polymorphic field ::ocaml_boxroot::bound_type! { pub abstract OCamlIdentity }",
        "// has no conversion: constrained type parameters ::ocaml_boxroot::bound_type! { pub abstract OCamlConstrained<A> }",
        "// has no conversion: constrained type parameters ::ocaml_boxroot::bound_type! { pub abstract OCamlEqual<B, A> }",
        "is left out: constrained type parameters",
        "// has no conversion: a recursive type whose parameters change ::ocaml_boxroot::bound_type! {
            pub abstract OCamlNested<A> }",
        // The fields of the record can be read anyway.
        "// has no conversion: a parameter occurs in a value that stays in OCaml ::ocaml_boxroot::bound_type! {
            pub record OCamlGuarded<A> { 0 value: A, 1 check: Function<(A,), bool>, } }",
        "pub abstract OCamlChoice<A>",
        "// has no conversion: an unboxed type that may be a float ::ocaml_boxroot::bound_type! {
            pub abstract OCamlWrapped<A> }",
        "pub struct Lazily {
            pub later: Boxroot<OCamlLazy<OCamlInt>>,
            pub cell: Boxroot<OCamlRef<OCamlInt>>,
         }",
        "pub abstract OCamlOpen",
        "// has no conversion: a parameter occurs in a value that stays in OCaml ::ocaml_boxroot::bound_type! {
            pub record OCamlWithRow<A> { 0 row: OCamlWithRowRow<A>, } }",
        "pub private unboxed OCamlNumber for Number { 0 value: OCamlInt } is_float false }",
        "pub fn eval<A>(expr: OCamlExpr<A>) -> A as Boxroot<A> =",
    ]);
    bindings.lacks(&["pub enum Choice"]);
}

/// A value of `Obj.t` may be a float or not, as may values of types that are equal to `Obj.t` or
/// represented like it. OCaml's polymorphic functions must not get two such values as values of one
/// type, because an array of floats can only contain floats.
#[test]
fn types_of_any_value() {
    let modules = Modules::new(
        "types_of_any_value",
        &[(
            "x.ml",
            "module M : sig
               type hidden = private Obj.t
               type 'a same = private 'a
               type number = private float
               type boxed = private Boxed of Obj.t
               type id
             end = struct
               type hidden = Obj.t
               type 'a same = 'a
               type number = float
               type boxed = Boxed of Obj.t
               type id = int
             end
             type equal = Obj.t
             type wrapped = Wrapped of Obj.t [@@unboxed]
             type twice = { twice : M.hidden } [@@unboxed]
             type gadt = Gadt : equal -> gadt [@@unboxed]
             type 'a phantom = Phantom of Obj.t [@@unboxed]
             type 'a around = Around of 'a M.same [@@unboxed]
             type record = { any : Obj.t; many : Obj.t list }
             let any () : Obj.t = Obj.repr 0.5
             let single x = [| x |]",
        )],
    );
    let bindings = modules.bind("module x");
    let any = |name: &str| {
        format!(
            "// its values may be of any type, so it stands for no type variable
             #[derive(Debug)]
             pub struct {name}(Infallible, PhantomData<()>);"
        )
    };
    bindings.has(&[
        &any("OCamlHidden"),
        &any("OCamlWrapped"),
        &any("OCamlTwice"),
        &any("OCamlGadt"),
        &any("OCamlT"),
        "pub struct OCamlPhantom<A>(Infallible, PhantomData<((A, fn(A) -> A),)>);",
        "pub abstract OCamlSame<A> }",
        "pub private unboxed OCamlNumber for Number { 0 value: OCamlFloat } is_float true }",
        "pub abstract OCamlId }",
        "pub abstract OCamlAround<A> }",
        "pub record OCamlRecord for Record {",
        "pub private variant OCamlBoxed for Boxed {",
    ]);
    let of_one_type =
        ["m::OCamlNumber", "m::OCamlSame<m::OCamlId>", "OCamlRecord", "m::OCamlBoxed"];
    let of_any = [
        "OCamlEqual",
        "m::OCamlHidden",
        "m::OCamlSame<OCamlEqual>",
        "OCamlWrapped",
        "OCamlTwice",
        "OCamlGadt",
        "OCamlPhantom<m::OCamlId>",
        "OCamlAround<OCamlEqual>",
    ];
    let program = |types: &[&str]| {
        let call = |ty| format!("single::<x::{}>();\n", str::replace(ty, "<", "<x::"));
        let calls: String = types.iter().copied().map(call).collect();
        let single = "fn single<A: ocaml_boxroot::markers::OneType>() {}";
        format!("ocaml_boxroot::include_bindings!();\n{single}\npub fn all() {{\n{calls}}}\n")
    };
    modules.rustc("of_one_type.rs", &program(&of_one_type), METADATA).unwrap();
    let said = modules.rustc("of_any.rs", &program(&of_any), METADATA).unwrap_err();
    let refused = said.matches("cannot stand for an OCaml type variable").count();
    assert_eq!(refused, of_any.len(), "{said}");
}

/// Each OCaml type of bigarrays is one Rust type, for all modules and all parameters.
#[test]
fn bigarrays() {
    let modules = Modules::new(
        "bigarrays",
        &[(
            "x.ml",
            "open Bigarray
             type vector = (float, float64_elt, c_layout) Array1.t
             type frame = { pixels : (int, int8_unsigned_elt, c_layout) Array2.t; width : int }
             type ('a, 'b) held = { held : ('a, 'b, fortran_layout) Array1.t }
             let sum (v : vector) = v.{0}
             let total (m : (float, float64_elt, c_layout) Array2.t) = m.{0, 0}
             let columns () = Array2.create float32 fortran_layout 2 3
             let cube () = Array3.create int16_unsigned c_layout 1 2 3
             let letters () = Array1.create char c_layout 1
             let ints () = Genarray.create int c_layout [| 1; 2; 3; 4 |]
             let complex () = Array1.create complex64 c_layout 1
             let nothing () = Array0.create int32 c_layout
             let rows m = Array2.dim1 m
             let first (v : ('a, 'b, c_layout) Array1.t) = v.{0}
             let length (v : (float, float64_elt, 'l) Array1.t) = Array1.dim v
             let kind (v : ('a, 'b, 'l) Array1.t) = Array1.kind v
             let only_elt (v : ('a, float64_elt, 'l) Array1.t) = Array1.dim v",
        )],
    );
    let bindings = modules.bind("module x");
    bindings.has(&[
        "pub type OCamlVector = OCamlArray1<f64>;",
        "pub struct Frame { pub pixels: Boxroot<OCamlArray2<u8>>, pub width: isize, }",
        "pub record OCamlHeld<A, B> { 0 held: Bigarray<Array1, A, B, FortranLayout>, }",
        "pub fn sum(array1: OCamlArray1<f64>) -> OCamlFloat",
        "pub fn total(array2: OCamlArray2<f64>) -> OCamlFloat",
        "pub fn columns((): ()) -> OCamlArray2<f32, FortranLayout> as Boxroot<OCamlArray2<f32, FortranLayout>> =",
        "pub fn cube((): ()) -> OCamlArray3<u16> as Boxroot<OCamlArray3<u16>> =",
        "pub fn letters((): ()) -> OCamlArray1<OCamlChar> as Boxroot<OCamlArray1<OCamlChar>> =",
        "pub fn ints((): ()) -> OCamlGenarray<OCamlInt> as Boxroot<OCamlGenarray<OCamlInt>> =",
        "-> Bigarray<Array1, super::ocaml_types::stdlib::complex::OCamlT, Complex64Elt, CLayout> as",
        "-> super::ocaml_types::stdlib::bigarray::array0::OCamlT<OCamlInt32, Int32Elt, CLayout> as",
        "pub fn rows<A, B, C>(array2: Bigarray<Array2, A, B, C>) -> OCamlInt",
        "pub fn first<A, B>(array1: Bigarray<Array1, A, B, CLayout>) -> A as Boxroot<A> =",
        "pub fn length<L>(array1: OCamlArray1<f64, L>) -> OCamlInt",
        "(array1: Bigarray<Array1, A, B, L>) -> super::ocaml_types::stdlib::bigarray::OCamlKind<A, B> as",
        "(array1: Bigarray<Array1, A, Float64Elt, L>) -> OCamlInt",
    ]);
    let program = |body: &str| {
        format!(
            "#![forbid(unsafe_code)]
             ocaml_boxroot::include_bindings!();
             use ocaml_boxroot::*;
             use ::ocaml_boxroot::bigarray::{{FortranLayout, OCamlArray1, OCamlArray2, OCamlGenarray}};
             pub fn all(lock: &mut DomainLock) -> std::result::Result<(), CallError> {{
                 {body}
                 Ok(())
             }}"
        )
    };
    // The types in OCaml's own library are the same.
    modules.bind("module x module stdlib__Bigarray");
    let body = "
        let (kind, layout) = (bigarray::float64(lock)?, bigarray::c_layout(lock)?);
        let matrix: Boxroot<OCamlArray2<f64>> = bigarray::array2::create(lock, &kind, &layout, 2, 3)?;
        x::total(lock, &matrix)?;
        x::rows(lock, &matrix)?;
        let vector: Boxroot<OCamlArray1<f64>> = bigarray::array2::slice_left(lock, &matrix, 0)?;
        x::sum(lock, &vector)?;
        x::sum(lock, [0.5, 1.5])?;
        let first: Boxroot<OCamlFloat> = x::first(lock, [0.5])?;
        let vector: Boxroot<x::OCamlVector> = [0.5].to_ocaml(lock)?;
        x::length(lock, vector)?;
        let columns = x::columns(lock)?;
        x::rows(lock, columns)?;
        let cube = x::cube(lock)?;
        let any: Boxroot<OCamlGenarray<u16>> = bigarray::genarray_of_array3(lock, cube)?;
        let _ = (first, any);";
    modules.rustc("same.rs", &program(body), METADATA).unwrap();
    let (no_conversion, other_type) = ("E0277", "E0308");
    let mistakes = [
        (no_conversion, "x::total(lock, [0.5])?;"),
        (
            no_conversion,
            "let v: Boxroot<OCamlArray1<f64>> = [0.5].to_ocaml(lock)?; x::total(lock, v)?;",
        ),
        (no_conversion, "let m = x::columns(lock)?; x::total(lock, m)?;"),
        (no_conversion, "let c = x::cube(lock)?; x::rows(lock, c)?;"),
        (no_conversion, "let i = x::ints(lock)?; let _: Vec<isize> = i.to_rust(lock)?;"),
        (no_conversion, "let c = x::letters(lock)?; let _: Vec<char> = c.to_rust(lock)?;"),
        (other_type, "let _: Boxroot<OCamlArray1<u8>> = x::letters(lock)?;"),
        (other_type, "let _: Boxroot<OCamlGenarray<u16>> = x::cube(lock)?;"),
    ];
    for (error, mistake) in mistakes {
        assert_says(&modules.refuse(&program(mistake)), &[&format!("error[{error}]")]);
    }
}

/// A private type has no conversion to OCaml, so it is a root if a conversion is needed.
#[test]
fn private_types() {
    bind(
        "private_types",
        "module M : sig
           type amount = private { cents : int }
           type sign = private Plus | Minus
           type pid = private int
           type row = private [ `A ]
           val pids : pid array
           val amount : ?like:amount -> int -> amount
         end = struct
           type amount = { cents : int }
           type sign = Plus | Minus
           type pid = int
           type row = [ `A ]
           let pids = [||]
           let amount ?like cents = { cents }
         end
         type sum = { amounts : M.amount list }",
    )
    .has(&[
        "pub private record OCamlAmount for Amount { 0 cents: OCamlInt, }",
        "pub private variant OCamlSign for Sign { Plus = 0, Minus = 1, }",
        "pub struct Pid { pub value: isize, }",
        "pub private unboxed OCamlPid for Pid { 0 value: OCamlInt } is_float false }",
        "pub struct Row { pub value: Row_, }",
        "pub fn pids -> OCamlArray<OCamlPid> as Vec<Pid>",
        "(like: Option<OCamlAmount> as Option<Boxroot<OCamlAmount>>, arg1: OCamlInt) -> OCamlAmount as Amount",
        "pub struct Sum { pub amounts: Vec<Boxroot<self::m::OCamlAmount>>, }",
    ]);
}

/// Recursive types are boxed in Rust. Unused parameters of a Rust type are left out.
#[test]
fn parameters_and_recursion() {
    bind(
        "parameters_and_recursion",
        "type 'a tree = Leaf | Node of 'a tree * 'a * 'a tree
         type 'a rose = Rose of 'a * 'a rose list
         type one = One of two option and two = { a : one wrapped; n : int } and 'a wrapped = { it : 'a }
         type ('phantom, 'used) tagged = { tagged : 'used }
         type ('a_b, 'aB, 'ab) three = { one : 'a_b; two : 'aB; three : 'ab }
         type ('t, 'string) t = T of 't * 'string * string
         type ('a, 'unused) row = [ `More of ('a, 'unused) row | `One of 'a ]
         let insert x (t : _ tree) = t
         let swap (x : ('a, 'b) tagged) : ('b, 'a) tagged = assert false",
    )
    .has(&[
        "pub enum Tree<RA> { Leaf, Node(Box<Tree<RA>>, RA, Box<Tree<RA>>), }",
        "pub variant OCamlTree<A> for Tree<A as RA> {
            Leaf = 0,
            Node block 0 (0 a0: OCamlTree<A>, 1 a1: A, 2 a2: OCamlTree<A>),
         }",
        "Rose(RA, Vec<Rose<RA>>),",
        "One(Option<Box<Two>>),",
        "pub a: Wrapped<Box<One>>,",
        "pub record OCamlTagged<PHANTOM, USED> for Tagged<USED as RUSED> { 0 tagged: USED, }",
        "pub struct Three<RA_B, RAB, RAB_> { pub one: RA_B, pub two: RAB, pub three: RAB_, }",
        // The parameter 't is not the Rust type T.
        "pub enum T<RA, RSTRING> { T(RA, RSTRING, String), }",
        "pub enum Row<RA> { More(Box<Row<RA>>), One(RA), }",
        "pub fn insert<A, B>(arg0: A, tree: OCamlTree<B>) -> OCamlTree<B> as Tree<Boxroot<B>>",
        "(tagged: OCamlTagged<A, B>) -> OCamlTagged<B, A> as Tagged<Boxroot<A>>",
    ]);
}

/// As many constructors with arguments as OCaml allows, two more on OCaml 4.
#[test]
fn as_many_constructors_as_ocaml_allows() {
    let count = if is_before((5, 0)) { 246 } else { 244 };
    let constructors: Vec<String> = (0..count).map(|i| format!("C{i} of int")).collect();
    let text = format!("type t = {}", constructors.join(" | "));
    let modules = Modules::new("as_many_constructors_as_ocaml_allows", &[("x.ml", &text)]);
    let last = count - 1;
    modules.bind("module x").has(&[&format!("C{last} block {last} (0 a0: OCamlInt),")]);
    // The numbers are checked when code for a conversion is generated.
    let program = "
        use ocaml_boxroot::*;
        ocaml_boxroot::include_bindings!();
        pub fn first(lock: &mut DomainLock) -> Result<Boxroot<x::OCamlT>, ocaml_boxroot::ConversionError> { x::T::C0(1).to_ocaml(lock) }";
    modules.rustc("program.rs", program, &["--crate-type", "lib"]).unwrap();
}
