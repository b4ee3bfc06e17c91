//! Types without a name: functions with labels.

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
