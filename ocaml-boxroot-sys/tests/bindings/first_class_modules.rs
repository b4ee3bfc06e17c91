//! First-class modules: values of OCaml that Rust keeps and passes back.

use super::support::*;

const TEXT: &str = "
    module type A = sig type t val v : t end
    module type B = sig type t val v : t end
    module type Two = sig type t type 'a u module Sub : sig type v end end
    module Inner = struct module type S = sig val n : int end end
    module Again = Inner
    module type Also = A
    type 'a testable = (module A with type t = 'a)
    type packed = P of (module A with type t = int) | Q
    type 'a phantom = (module A)
    let a () : (module A) = (module struct type t = int let v = 1 end)
    let use_a (m : (module A)) = ignore m
    let use_b (m : (module B)) = ignore m
    let also (m : (module Also)) = ignore m
    let pack (type a) (v : a) : (module A with type t = a) = (module struct type t = a let v = v end)
    let unpack (type a) ((module M) : a testable) : a = M.v
    let int_only (m : (module A with type t = int)) = ignore m
    let list (m : (module A with type t = 'a list)) (x : 'a) = ignore (m, x)
    let inner (m : (module Inner.S)) = ignore m
    let again (m : (module Again.S)) = ignore m
    let sub (m : (module Two with type Sub.v = 'a and type t = 'b)) (x : 'a) (y : 'b) = ignore (m, x, y)
    let all (l : (module A) list) : (module A) array = Array.of_list l
    let use_phantom (m : int phantom) = ignore m
    let optional ?(m : (module A) option) () = ignore m
    let labelled (m : (module A with type t = l:int -> int)) = ignore m
    exception Module of (module A)";

#[test]
fn markers() {
    bind("first_class_modules", TEXT).has(&[
        // The module type `A` is one type, wherever it stands and whatever it is called.
        "pub fn a((): ()) -> OCamlA as Boxroot<OCamlA>",
        "pub fn use_a(a: OCamlA) -> ()",
        "pub fn use_b(b: OCamlB) -> ()",
        "pub fn also(a: OCamlA) -> ()",
        "pub fn inner(s: self::inner::OCamlS) -> ()",
        "pub fn again(s: self::inner::OCamlS) -> ()",
        // What a constraint says is a parameter.
        "pub fn pack<A>(arg0: A) -> OCamlAWithT<A> as Boxroot<OCamlAWithT<A>>",
        "pub fn unpack<A>(a: OCamlAWithT<A>) -> A as Boxroot<A>",
        "pub use self::OCamlAWithT as OCamlTestable;",
        "pub fn int_only(a: OCamlAWithT<OCamlInt>) -> ()",
        "pub fn list<A>(a: OCamlAWithT<OCamlList<A>>, arg1: A) -> ()",
        "two: OCamlTwoWith",
        "pub enum Packed { P(Boxroot<OCamlAWithT<OCamlInt>>), Q, }",
        "pub fn all(list: OCamlList<OCamlA>) -> OCamlArray<OCamlA> as Vec<Boxroot<OCamlA>>",
        "pub struct Module(pub Boxroot<OCamlA>);",
        // The name has a parameter that the type does not use.
        "pub type OCamlPhantom<A> = <OCamlA as",
        "pub fn use_phantom(a: OCamlA) -> ()",
        "pub fn optional(m: Option<OCamlA> as Option<Boxroot<OCamlA>>, (): ()) -> ()",
    ]);
}

/// Other signatures, and other constraints, are other types.
#[test]
fn mistakes() {
    let modules = Modules::new("mistakes_with_first_class_modules", &[("x.ml", TEXT)]);
    modules.bind("module x");
    let program = |body: &str| {
        format!(
            "#![forbid(unsafe_code)]
             ocaml_boxroot::include_bindings!();
             use ocaml_boxroot::*;
             pub fn all<A: markers::OneType, B: markers::OneType>(
                 lock: &mut DomainLock, a: Boxroot<A>, b: Boxroot<B>,
             ) -> std::result::Result<(), CallError> {{
                 let int = x::pack(lock, 1isize)?;
                 let of_a: Boxroot<x::OCamlAWithT<A>> = x::pack(lock, &a)?;
                 let module = x::a(lock)?;
                 {body}
                 let _ = (int, of_a, module, a, b);
                 Ok(())
             }}"
        )
    };
    let right = "
        x::use_a(lock, &module)?;
        x::also(lock, &module)?;
        x::int_only(lock, &int)?;
        let _: Boxroot<A> = x::unpack(lock, &of_a)?;
        let _: Vec<Boxroot<x::OCamlA>> = x::all(lock, [&module])?;";
    modules.rustc("right.rs", &program(right), METADATA).unwrap();
    for mistake in [
        "x::use_b(lock, &module)?;",
        "x::use_a(lock, &int)?;",
        "x::int_only(lock, &module)?;",
        "x::int_only(lock, &of_a)?;",
        "x::list(lock, &int, 1isize)?;",
        "x::inner(lock, &module)?;",
        "let _: Boxroot<B> = x::unpack(lock, &of_a)?;",
        "x::use_a(lock, 1isize)?;",
    ] {
        modules.refuse(&program(mistake));
    }
}

/// Rust gets a module as an argument, and gives it back.
#[test]
fn externals() {
    let text = "module type A = sig val n : int end
        type a = (module A)
        external keep : a -> a = \"x_keep\"
        external without_name : (module A) -> unit = \"x_without_name\"
        external of_c : (module A) -> (module A) = \"of_c\"";
    let modules = Modules::new("first_class_modules_of_externals", &[("x.ml", text)]);
    let program = "
        use ocaml_boxroot::*;
        pub struct Provider;
        impl x::Externals for Provider {
            fn keep(
                lock: &mut DomainLock, a: &RootRef<x::OCamlA>,
            ) -> Result<Boxroot<x::OCamlA>, Box<dyn std::error::Error>> {
                Ok(a.clone_in(lock)?)
            }
            fn without_name(
                _lock: &mut DomainLock, _a: &RootRef<x::OCamlA>,
            ) -> Result<(), Box<dyn std::error::Error>> {
                Ok(())
            }
        }
        ocaml_boxroot::include_bindings!(x: Provider);";
    modules
        .bind_in("module x", program)
        .has(&["pub fn of_c(a: OCamlA) -> OCamlA as Boxroot<OCamlA>"]);
}

/// From OCaml 5.5 on, the result's type may name the module that is an argument. What the module
/// type fixes is known, and the rest is not.
#[test]
fn results_of_a_type_of_the_argument() {
    let mut text = String::from(
        "module type U = sig type t val of_int : int -> t end
         let one (type a) (module U : U with type t = a) = U.of_int 1
         let two (type a) (module M : U with type t = a) (type b) (module N : U with type t = b)
           (x : a) (y : b) : M.t * N.t = (x, y)",
    );
    if !is_before((5, 5)) {
        text += " let same (module M : U) (x : M.t) = x";
    }
    let bindings = bind("results_of_a_type_of_the_argument", &text);
    bindings.has(&[
        "pub fn one<A>(u: OCamlUWithT<A>) -> A as Boxroot<A>",
        "pub fn two<A, B>(u: OCamlUWithT<A>, u_: OCamlUWithT<B>, arg2: A, arg3: B) -> (A, B) as",
    ]);
    if !is_before((5, 5)) {
        bindings.has(&["is left out: the interface that declares M.t was not found"]);
    }
}
