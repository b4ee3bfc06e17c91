//! Types without a name: functions with labels, and polymorphic variants with type variables.

use super::support::*;
use std::fs;

/// A marker has the labels, so that different types of OCaml have different markers. Rust's roots
/// are those of functions without labels.
#[test]
fn functions_with_labels() {
    let modules = Modules::new(
        "functions_with_labels",
        &[(
            "x.ml",
            "type labelled = l:int -> int
             type ('k, 'v) visit = key:'k -> data:'v -> unit
             type t = { f : ?n:int -> unit -> int; g : labelled list }
             type ('a, 'b) eq = Refl : ('a, 'a) eq
             let refl () : ('a, 'a) eq = Refl
             let absurd : (a:int option -> int, ?a:int -> int) eq -> string = function _ -> .
             let iter ~(f : (string, int) visit) = f ~key:\"a\" ~data:1
             let each (iteri : f:(key:int -> int) -> unit) = iteri ~f:(fun ~key -> key)
             let make () : (type_:int -> a_b:int -> aB:unit -> int) list = []
             let unit () : (u:unit -> int) option = None
             let labelled (f : int -> labelled) : labelled option = Some (f 1)
             external audit : labelled -> labelled = \"x_audit\"
             external relabelled : 'a -> (l:'a -> 'b) -> 'b = \"%revapply\"",
        )],
    );
    let provider = "
        ocaml_boxroot::include_bindings!(x: Provider);
        pub struct Provider;
        impl x::Externals for Provider {
            fn audit(
                lock: &mut ocaml_boxroot::DomainLock,
                f: &ocaml_boxroot::RootRef<x::OCamlLabelled>,
            ) -> Result<ocaml_boxroot::Boxroot<Plain>, Box<dyn std::error::Error>> {
                let f: &ocaml_boxroot::RootRef<Plain> = f.without_labels();
                Ok(f.clone_in(lock)?)
            }
        }
        type Plain = ocaml_boxroot::Function<(ocaml_boxroot::OCamlInt,), ocaml_boxroot::OCamlInt>;";
    let bindings = modules.bind_in("module x", provider);
    bindings.has(&[
        "pub type OCamlLabelled = Labelled<(super::ocaml_labels::L,), Function<(OCamlInt,), OCamlInt>>;",
        "pub type OCamlVisit<K, V> = Labelled<(super::ocaml_labels::Key, super::ocaml_labels::Data), Function<(K, V), ()>>;",
        "pub struct T {
             pub f: Boxroot<Function<(Option<OCamlInt>, ()), OCamlInt>>,
             pub g: Vec<Boxroot<Function<(OCamlInt,), OCamlInt>>>,
         }",
        "0 f: Labelled<(Optional<super::ocaml_labels::N>, ()), Function<(Option<OCamlInt>, ()), OCamlInt>>,",
        "pub fn iter(f: Labelled<(super::ocaml_labels::Key, super::ocaml_labels::Data), Function<(OCamlString, OCamlInt), ()>>)",
        "pub fn each(f: Labelled<(super::ocaml_labels::F,), \
         Function<(Labelled<(super::ocaml_labels::Key,), Function<(OCamlInt,), OCamlInt>>,), ()>>)",
        // Labels that Rust spells the same.
        "OCamlList<Labelled<(super::ocaml_labels::Type, super::ocaml_labels::AB, super::ocaml_labels::AB_), \
         Function<(OCamlInt, OCamlInt, ()), OCamlInt>>> as Vec<Boxroot<Function<(OCamlInt, OCamlInt, ()), OCamlInt>>>",
        "Option<Labelled<(super::ocaml_labels::U,), Function<(), OCamlInt>>> as Option<Boxroot<Function<(), OCamlInt>>>",
        "as Option<Boxroot<Function<(OCamlInt,), OCamlInt>>> =",
        "fn audit = \"x_audit\" (f: Labelled<",
        // OCaml's library declares that primitive without the label.
        "pub unsafe fn relabelled<A, B>",
        "/// `aB`
         #[derive(Debug)]
         pub enum AB_ {}",
    ]);
    let program = |ty: &str, call: &str| {
        format!(
            "{provider}
             use ocaml_boxroot::{{markers::*, Boxroot, CallError, DomainLock}};
             use ocaml_labels::*;
             pub fn f(lock: &mut DomainLock) -> Result<(), CallError> {{
                 let root: Boxroot<{ty}> = todo!();
                 x::{call}.map(drop)
             }}"
        )
    };
    let two = "Function<(OCamlString, OCamlInt), ()>";
    let option = "Function<(Option<OCamlInt>,), OCamlInt>";
    let eq = |ty| format!("absurd(lock, &x::refl::<{ty}>(lock)?)");
    for (ty, call) in [
        (two, "iter(lock, &root)".to_string()),
        (&format!("Labelled<(Key, Data), {two}>"), "iter(lock, root)".to_string()),
    ] {
        modules.rustc("right.rs", &program(ty, &call), METADATA).unwrap();
    }
    for (ty, call, said) in [
        (&*format!("Labelled<(Data, Key), {two}>"), "iter(lock, &root)".to_string(), "Data, "),
        (option, "iter(lock, &root)".to_string(), "Function<(OCamlString, OCamlInt), ()>"),
        // OCaml's code relies on it that these types differ.
        (option, eq(option.to_string()), "OCamlEq"),
        (option, eq(format!("Labelled<(A,), {option}>")), "OCamlEq"),
        (option, eq(format!("Labelled<(Optional<A>,), {option}>")), "OCamlEq"),
    ] {
        assert_says(
            &modules.rustc("wrong.rs", &program(ty, &call), METADATA).unwrap_err(),
            &[said],
        );
    }
}

/// A polymorphic variant with type variables, but without a name, is a generic enum. Its parameters
/// are Rust types; or markers, if roots in it need these, which only happens in functions.
#[test]
fn rows_with_type_variables() {
    let text = "
        type 'a abs
        type 'a phantom = { n : int }
        val at : 'a list -> [ `Invalid of string | `Ok of 'a ]
        val of_list : ('k * 'v) list -> [> `Twice of 'k | `Ok of ('k, 'v) Hashtbl.t ]
        val iter2 : ([ `Both of 'b * 'a | `Right of 'a abs ] -> unit) -> 'a -> 'b -> unit
        val nested : 'a abs -> [ `A of [ `B of 'a abs | `C ] list | `D of 'a phantom ]
        val once : [< `A of 'a ] -> ?y:[ `A of int ] -> unit -> 'a list
        val again : 'b -> [> `A of 'b ]
        val conj : [< `A of 'a & int ] -> 'a -> unit
        val any : unit -> [ `A of 'a ]
        val circle : ([ `A of 'a list ] as 'a) -> unit
        type 'a t = { x : [ `A of 'a | `B ] }
        type 'a u = { y : [ `A of 'a | `B of 'a abs ] }
        type 'a v = V of [ `A of 'a list v | `B ]
        val v : 'a v -> [ `V of 'a v | `U of 'a u ]
        exception E of [ `A of int list ]
        external retyped : [ `A of 'a ] -> [ `A of 'a list ] = \"of_c\"
        external kept : [ `A of 'a ] -> [ `A of 'a ] = \"of_c_2\"";
    Modules::new("rows_with_type_variables", &[("x.mli", text)]).bind("module x").has(&[
        "// [ `Invalid of string | `Ok of 'a0 ]
         #[derive(Clone, Debug, Eq, Hash, PartialEq)]
         pub enum AtResult<RA> { Invalid(String), Ok(RA), }",
        "pub variant OCamlAtResult<A> for AtResult<A as RA> {",
        "pub fn at<A>(list: OCamlList<A>) -> OCamlAtResult<A> as AtResult<Boxroot<A>>",
        "#[derive(Debug)]
         pub enum OfListResult<K, V> { Ok(Boxroot<OCamlHashtbl<K, V>>), Twice(Boxroot<K>), }",
        "pub variant OCamlOfListResult<K, V> for OfListResult[K, V] {",
        "pub fn of_list<K, V>(list: OCamlList<(K, V)>) -> OCamlOfListResult<K, V> as OfListResult<K, V>",
        "pub enum Iter2Arg0<B, A> { Both((Boxroot<B>, Boxroot<A>)), Right(Boxroot<OCamlAbs<A>>), }",
        "pub fn iter2<B, A>(f: Function<(OCamlIter2Arg0<B, A>,), ()>, arg1: A, arg2: B)",
        "pub enum NestedResult<A> { A(Vec<NestedResultA<A>>), D(Phantom), }",
        "pub enum NestedResultA<A> { B(Boxroot<OCamlAbs<A>>), C, }",
        "pub fn once<A>(arg0: OCamlOnceArg0<A>, y: Option<OCamlOnceY> as Option<OnceY>, (): ())",
        // The same type.
        "pub fn again<B>(arg0: B) -> OCamlOnceArg0<B> as OnceArg0<Boxroot<B>>",
        "// val conj : [< `A of 'a & int ] -> 'a -> unit // is left out: a polymorphic variant without a name",
        "pub fn any<A>((): ()) -> OCamlOnceArg0<A>",
        "-> unit // is left out: a type without end",
        "pub struct T<RA> { pub x: TX<RA>, }",
        "// type 'a u = { y : [ `A of 'a | `B of 'a abs ]; } \
         // has no conversion: a parameter occurs in a value that stays in OCaml",
        "// [ `A of (('a0) list) X.v | `B ] // has no conversion: a recursive type whose parameters change",
        "pub enum VResult<A> { U(Boxroot<OCamlU<A>>), V(Boxroot<OCamlV<A>>), }",
        "pub struct E(pub ET0);",
        "pub unsafe fn retyped<A>",
        "pub fn kept<A>",
    ]);
}

/// A polymorphic variant in the meaning of an abbreviation has one name, wherever OCaml names the
/// abbreviation. An abbreviation that stands in its own meaning is a type of its own.
#[test]
fn rows_in_abbreviations() {
    let modules = Modules::new(
        "rows_in_abbreviations",
        &[
            ("other.mli", "type 'a parser = string -> [ `Error of string | `Ok of 'a ]"),
            (
                "x.mli",
                "module Handle : sig type 'a t val close : 'a t -> unit end
                 module Timer : sig type t = [ `Timer ] Handle.t val make : unit -> t end
                 val stop : Timer.t -> unit
                 type ('k, 'v) found = [ `No of 'k | `Table of ('k, 'v) Hashtbl.t ] list
                 type r = { of_int : (int, string) found }
                 val found : 'k -> ('k, string) found
                 val parse : int Other.parser -> int
                 type json = (string * [ `List of json | `String of string ]) list
                 val json : json -> json
                 type first = [ `Second of second ] list and second = first option
                 val first : first -> second
                 type ('a, 'b) phantom = [ `A ] list
                 val phantom : ('a, int) phantom -> int",
            ),
        ],
    );
    let row = "pub enum ParserVariant<RA> { Error(String), Ok(RA), }";
    let bindings = modules.bind("module x");
    bindings.has(&[
        "// [ `Timer ] #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)] pub enum TVariant { Timer, }",
        "pub type OCamlT = super::handle::OCamlT<OCamlTVariant>;",
        "pub fn close<A>(handle: OCamlT<A>)",
        "pub fn make((): ()) -> super::handle::OCamlT<OCamlTVariant> as",
        "pub fn stop(handle: self::handle::OCamlT<self::timer::OCamlTVariant>)",
        "pub enum FoundVariant<K, V> { No(Boxroot<K>), Table(Boxroot<OCamlHashtbl<K, V>>), }",
        "pub struct R { pub of_int: Vec<FoundVariant<OCamlInt, OCamlString>>, }",
        "pub type OCamlFound<K, V> = OCamlList<OCamlFoundVariant<K, V>>;",
        "pub fn found<K>(arg0: K) -> OCamlList<OCamlFoundVariant<K, OCamlString>> as Vec<FoundVariant<K, OCamlString>>",
        "pub fn parse(f: Function<(OCamlString,), super::ocaml_types::other::OCamlParserVariant<OCamlInt>>)",
        row,
        "pub abstract OCamlJson }",
        "pub fn json(json: OCamlJson) -> OCamlJson as Boxroot<OCamlJson>",
        "pub fn first(first: OCamlFirst) -> Option<OCamlFirst> as Option<Boxroot<OCamlFirst>>",
        "pub type OCamlPhantom<A, B> = \
         <OCamlList<OCamlPhantomVariant> as ::ocaml_boxroot::macro_support::Ignoring<(A, B)>>::Itself;",
        "pub fn phantom(list: OCamlList<OCamlPhantomVariant>)",
    ]);
    modules.bind("module x module other").has(&[
        row,
        "pub type OCamlParser<A> = Function<(OCamlString,), OCamlParserVariant<A>>;",
        "pub fn parse(f: Function<(OCamlString,), super::other::OCamlParserVariant<OCamlInt>>)",
    ]);
}

#[test]
fn a_program_with_types_without_names() {
    let files = [
        ("build.rs", include_str!("projects/unnamed/build.rs")),
        ("src/main.rs", include_str!("projects/unnamed/main.rs")),
    ];
    let package = package("a_program_with_types_without_names", &build_and_run(), &files);
    fs::create_dir(package.join("ocaml")).unwrap();
    fs::write(package.join("ocaml/unnamed.ml"), include_str!("projects/unnamed/unnamed.ml"))
        .unwrap();
    assert_says(&cargo(&package, &["run"]).unwrap(), &["all is right"]);
}
