//! Bindings that the build helper makes: what is generated for which OCaml code. OCaml compiles the generated module, too.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

type Said = Result<String, String>;

fn said(output: Output) -> Said {
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A package with the crates of this project.
fn package(name: &str, dependencies: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = folder(name);
    let this_crate = env!("CARGO_MANIFEST_DIR");
    let manifest = format!(
        "[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n{}",
        dependencies.replace("CRATE", this_crate)
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(Path::new(this_crate).join("tests/own_program/Cargo.lock"), folder.join("Cargo.lock"))
        .unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

const BUILD: &str =
    "ocaml-boxroot-sys = { path = 'CRATE', default-features = false, features = ['build'] }\n";

fn cargo(package: &Path, arguments: &[&str]) -> Said {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).current_dir(package).arg("--target-dir");
    cargo.arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings/target"));
    said(cargo.output().unwrap())
}

/// A program that makes bindings as a build script would, and the crate that they need.
struct Maker {
    program: PathBuf,
    library: PathBuf,
    dependencies: PathBuf,
}

/// The program's arguments are names of methods of `Bindings`, and their arguments.
fn maker() -> &'static Maker {
    static MAKER: OnceLock<Maker> = OnceLock::new();
    MAKER.get_or_init(|| {
        let main = r#"
            use ocaml_boxroot_sys::build::{Bindings, Error};
            fn main() -> Result<(), Error> {
                let mut bindings = Bindings::new().cmi_dir(".").glue("glue.ml");
                let mut words = std::env::args().skip(1);
                while let (Some(method), Some(word)) = (words.next(), words.next()) {
                    bindings = match method.as_str() {
                        "module" => bindings.module(&word),
                        "only" => bindings.only([word]),
                        "opaque" => bindings.opaque(&word),
                        "with" => bindings.with(&word, &words.next().unwrap()),
                        other => panic!("{other}"),
                    };
                }
                bindings.write()
            }"#;
        let dependencies = format!(
            "[dependencies]\n{BUILD}ocaml-boxroot = {{ path = 'CRATE/../ocaml-boxroot' }}\n"
        );
        let package = package("bindings_maker", &dependencies, &[("src/main.rs", main)]);
        let said = cargo(&package, &["build", "--message-format=json"]).unwrap();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings/target/debug");
        let quoted = |part: &&str| part.contains("libocaml_boxroot-") && part.ends_with(".rlib");
        Maker {
            program: target.join("bindings_maker"),
            library: said.split('"').find(quoted).expect("the crate's file").into(),
            dependencies: target.join("deps"),
        }
    })
}

fn ocamlopt() -> Command {
    Command::new(std::env::var_os("OCAMLOPT").unwrap_or("ocamlopt".into()))
}

/// OCaml modules, compiled in a folder of their own.
struct Modules(PathBuf);

impl Modules {
    fn new(name: &str, files: &[(&str, &str)]) -> Modules {
        let modules = Modules(folder(name));
        for (file, text) in files {
            modules.compile(file, text).unwrap();
        }
        modules
    }

    fn compile(&self, file: &str, text: &str) -> Said {
        fs::write(self.0.join(file), text).unwrap();
        let mut ocamlopt = ocamlopt();
        ocamlopt.args(["-w", "-a", "-bin-annot", "-c", file]).current_dir(&self.0);
        said(ocamlopt.output().unwrap())
    }

    /// The bindings; `words` are the arguments of `maker`. Both compilers must accept them.
    #[track_caller]
    fn bind(&self, words: &str) -> Bindings {
        self.bind_in(words, "ocaml_boxroot::include_bindings!();")
    }

    /// As `bind`; `program` is the Rust code around the bindings.
    #[track_caller]
    fn bind_in(&self, words: &str, program: &str) -> Bindings {
        let said = self.try_bind(words).unwrap();
        let glue = fs::read_to_string(self.0.join("glue.ml")).unwrap();
        self.compile("glue.ml", &glue).unwrap();
        let rust = fs::read_to_string(self.0.join("ocaml_bindings.rs")).unwrap();
        let is_safe = !rust.contains("unsafe fn");
        let forbid = if is_safe { "#![forbid(unsafe_code)]" } else { "" };
        self.compile_rust(&format!("{forbid}\n{program}\n")).unwrap();
        let (before, after) = rust.split_once("boxroot_abi_").expect("a symbol with the digest");
        assert!(before.contains("::ocaml_boxroot::bound_abi! {"));
        let digest = after[..after.find('"').unwrap()].rsplit('_').next().unwrap().to_string();
        assert_eq!(digest.len(), 16);
        Bindings { rust: rust.replace(&digest, "DIGEST"), digest, glue, said }
    }

    /// There must be no warnings, either.
    fn compile_rust(&self, program: &str) -> Said {
        let file = self.0.join("program.rs");
        fs::write(&file, program).unwrap();
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.args([
            "--edition",
            "2021",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "-D",
            "warnings",
        ]);
        rustc.arg("-L").arg(&maker().dependencies).arg("--extern");
        rustc.arg(format!("ocaml_boxroot={}", maker().library.display()));
        said(rustc.arg(file).current_dir(&self.0).env("OUT_DIR", &self.0).output().unwrap())
    }

    fn try_bind(&self, words: &str) -> Said {
        let mut command = Command::new(&maker().program);
        command.args(words.split_whitespace()).current_dir(&self.0).env("OUT_DIR", &self.0);
        said(command.output().unwrap())
    }
}

struct Bindings {
    rust: String,
    digest: String,
    glue: String,
    said: String,
}

impl Bindings {
    /// The Rust code has these parts, whatever its indentation.
    #[track_caller]
    fn has(&self, parts: &[&str]) {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let rust = plain(&self.rust);
        for part in parts {
            assert!(rust.contains(&plain(part)), "missing: {part}\n{}", self.rust);
        }
    }

    #[track_caller]
    fn lacks(&self, parts: &[&str]) {
        for part in parts {
            assert!(!self.rust.contains(part), "there is: {part}\n{}", self.rust);
        }
    }
}

/// Binds the module X with this implementation.
#[track_caller]
fn bind(name: &str, ml: &str) -> Bindings {
    Modules::new(name, &[("x.ml", ml)]).bind("module x")
}

#[track_caller]
fn assert_says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "not said: {word}\n{said}");
    }
}

// ---- Types ----

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
         #[derive(Clone, Debug, PartialEq)]
         pub enum Size { Small, Large, Custom { grams: isize }, Pair(isize, bool), }
         ::ocaml_boxroot::bound_type! {
            pub variant OCamlSize for Size {
                Small constant 0,
                Large constant 1,
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
        "Loop constant -944265628,",
        // What may change stays in OCaml.
        "pub record OCamlCounter for Counter { 0 count: OCamlInt64, }",
        "#[derive(Debug)]
         pub struct Counters { pub all: Vec<Boxroot<OCamlCounter>>, pub first: Option<Boxroot<OCamlCounter>>, }",
    ]);
}

/// Whether a record is flat is not to be seen from the types of its fields: one whose fields are unboxed floats is, and one that a
/// functor made is not, although its fields are floats.
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
        "pub fn points / points_root () -> OCamlArray<OCamlFar> as Vec<Far>",
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
         type 'a nested = Flat of 'a | Nested of 'a list nested
         type 'a guarded = { value : 'a; check : 'a -> bool }
         type 'a choice = Value of 'a | Check of ('a -> bool)
         type 'a wrapped = Wrapped of 'a [@@unboxed]
         type lazily = { later : int Lazy.t; cell : int ref }
         type open_ = ..
         type 'a with_row = { row : [ `A | `B of 'a ] }
         type 'a at_least = [> `A ] as 'a
         type number = private int
         let eval : type a. a expr -> a = function Int n -> n | If _ -> assert false",
    );
    bindings.has(&[
        "// has no conversion: a GADT ::ocaml_boxroot::bound_type! { pub abstract OCamlExpr<A> }",
        "// has no conversion: a GADT ::ocaml_boxroot::bound_type! { pub abstract OCamlSome }",
        "// has no conversion: a polymorphic field ::ocaml_boxroot::bound_type! { pub abstract OCamlIdentity }",
        "// has no conversion: constrained type parameters ::ocaml_boxroot::bound_type! { pub abstract OCamlConstrained<A> }",
        "// has no conversion: a recursive type whose parameters change ::ocaml_boxroot::bound_type! {
            pub abstract OCamlNested<A> }",
        // The fields of a record can be read all the same.
        "// has no conversion: a parameter occurs in a value that stays in OCaml ::ocaml_boxroot::bound_type! {
            pub record OCamlGuarded<A> { 0 value: A, 1 check: Function<(A,), bool>, } }",
        "pub abstract OCamlChoice<A>",
        "// has no conversion: an unboxed type that may be a float ::ocaml_boxroot::bound_type! {
            pub abstract OCamlWrapped<A> }",
        "pub struct Lazily {
            pub later: Boxroot<super::ocaml_types::OCamlLazyT<OCamlInt>>,
            pub cell: Boxroot<super::ocaml_types::stdlib::OCamlRef<OCamlInt>>,
         }",
        "pub abstract OCamlOpen",
        "// has no conversion: a polymorphic variant without a name ::ocaml_boxroot::bound_type! { pub abstract OCamlWithRow<A> }",
        "pub abstract OCamlNumber }",
        "pub fn eval<A> (expr: OCamlExpr<A>) -> A =",
    ]);
    bindings.lacks(&["pub struct Number", "pub enum Choice"]);
}

/// A private type has no conversion to OCaml, so it is a root where one is needed.
#[test]
fn private_types() {
    bind(
        "private_types",
        "module M : sig
           type amount = private { cents : int }
           type sign = private Plus | Minus
           val amount : ?like:amount -> int -> amount
         end = struct
           type amount = { cents : int }
           type sign = Plus | Minus
           let amount ?like cents = { cents }
         end
         type sum = { amounts : M.amount list }",
    )
    .has(&[
        "pub private record OCamlAmount for Amount { 0 cents: OCamlInt, }",
        "pub private variant OCamlSign for Sign { Plus constant 0, Minus constant 1, }",
        "(like: Option<OCamlAmount> as Option<Boxroot<OCamlAmount>>, arg1: OCamlInt) -> OCamlAmount as Amount",
        "pub struct Sum { pub amounts: Vec<Boxroot<self::m::OCamlAmount>>, }",
    ]);
}

/// Recursive types are boxed in Rust. Parameters that a Rust type does not use are left out.
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
         let insert x (t : _ tree) = t
         let swap (x : ('a, 'b) tagged) : ('b, 'a) tagged = assert false",
    )
    .has(&[
        "pub enum Tree<RA> { Leaf, Node(Box<Tree<RA>>, RA, Box<Tree<RA>>), }",
        "pub variant OCamlTree<A> for Tree<A as RA> {
            Leaf constant 0,
            Node block 0 (0 a0: OCamlTree<A>, 1 a1: A, 2 a2: OCamlTree<A>),
         }",
        "Rose(RA, Vec<Rose<RA>>),",
        "One(Option<Box<Two>>),",
        "pub a: Wrapped<Box<One>>,",
        "pub record OCamlTagged<PHANTOM, USED> for Tagged<USED as RUSED> { 0 tagged: USED, }",
        "pub struct Three<RA_B, RAB, RAB_> { pub one: RA_B, pub two: RAB, pub three: RAB_, }",
        // The parameter 't is not the Rust type T.
        "pub enum T<RA, RSTRING> { T(RA, RSTRING, String), }",
        "pub fn insert<A, B> / insert_root (arg0: A, tree: OCamlTree<B>) -> OCamlTree<B> as Tree<Boxroot<B>>",
        "(tagged: OCamlTagged<A, B>) -> OCamlTagged<B, A> as Tagged<Boxroot<A>>",
    ]);
}

// ---- Functions ----

#[test]
fn functions() {
    let bindings = Modules::new(
        "functions",
        &[(
            "x.mli",
            "type order
             type callback = int -> string
             val reserve : int -> order -> int
             (** [reserve stock order] takes it from {!order}.

                 {[ reserve 1 order ]} *)

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
             val row : [ `A ] -> unit
             val seq : unit -> int Seq.t",
        )],
    )
    .bind("module x");
    bindings.has(&[
        "// val reserve : int -> order -> int
         ::ocaml_boxroot::bound_function! {
            /// `reserve stock order` takes it from `order`.
            ///
            ///
            /// ```text
            /// reserve 1 order
            /// ```
            pub fn reserve / reserve_root (stock: OCamlInt, order: OCamlOrder) -> OCamlInt as isize = \"X.reserve#DIGEST\"
         }",
        "pub fn describe (note: Option<OCamlString> as Option<String>, lock_: OCamlInt, type_: bool, (): (), \
         arg4: Function<(), OCamlInt>) -> () as ()",
        // One argument, though `callback` is a function's type.
        "pub fn later (arg0: OCamlInt) -> Function<(OCamlInt,), OCamlString> =",
        "bound_value! { pub fn callback () -> Function<(OCamlInt,), OCamlString> =",
        "bound_value! { pub fn pi / pi_root () -> OCamlFloat as f64 =",
        // An array whose elements may be floats stays in OCaml.
        "(OCamlArray<A>, OCamlArray<OCamlFloat>, OCamlArray<OCamlOrder>) \
         as (Boxroot<OCamlArray<A>>, Vec<f64>, Boxroot<OCamlArray<OCamlOrder>>)",
        "pub fn many ((): ()) -> (OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt) =",
        "// val load : string -> 'a // is left out: its result is of any type",
        "pub fn anything<A> / anything_root () -> Option<A> as Option<Boxroot<A>>",
        "// val ( + ) : int -> int -> int // is left out: an operator",
        "// val ( let* ) : int -> int -> int // is left out: an operator",
        "pub unsafe fn unsafe_get (arg0: OCamlInt) -> OCamlOrder =",
        "// is left out: a polymorphic variant without a name",
        "pub fn seq ((): ()) -> OCamlSeq<OCamlInt> =",
    ]);
    assert_says(&bindings.glue, &[&format!("Callback.register \"X.reserve#{}\"", bindings.digest)]);
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
        // The type has the name Error already.
        "pub struct ErrorException(pub Error);",
        "bound_exception! { ErrorException (0 a0: OCamlError) = \"X.Error#DIGEST\" }",
        "#[derive(Clone, Debug, PartialEq)] pub struct OutOfStock(pub String, pub isize);",
        "bound_exception! { OutOfStock (0 a0: OCamlString, 1 a1: OCamlInt) = \"X.Out_of_stock#DIGEST\" }",
        "pub struct Empty; ::ocaml_boxroot::bound_exception! { Empty =",
        "#[derive(Debug)] pub struct Refused { pub by: String, pub until: Boxroot<Function<(), OCamlFloat>> }",
        "bound_exception! { Refused { 0 by: OCamlString, 1 until: Function<(), OCamlFloat> } =",
        "// is left out: a GADT",
    ]);
}

// ---- Modules ----

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
             include module type of struct include Other end
             val of_f : F(M).t -> (string, Other.hidden) Hashtbl.t",
        ),
    ]);
    let one = modules.bind("module x");
    one.has(&[
        "// module F // is left out: a functor",
        "pub fn add (arg0: OCamlT, again: super::OCamlAgain) -> OCamlT = \"X.Archive.add#DIGEST\"",
        "pub mod deep { // val up : X.Archive.t",
        "pub fn up () -> super::OCamlT =",
        "pub mod m { use ::ocaml_boxroot::{OCamlInt}; // type t = { s : int; }",
        // A type of a module that is not bound is declared where a bound module gives it a name, once.
        "pub enum Again { A, B(Other), }",
        "pub use self::OCamlAgain as OCamlT; pub use self::Again as T;",
        "pub use super::ocaml_types::other::OCamlHidden;",
        "pub fn find<A>",
    ]);
    let both = modules.bind("module x module other");
    both.has(&[
        "pub use super::other::OCamlT as OCamlAgain; pub use super::other::T as Again;",
        "pub enum T { A, B(Other), }",
    ]);
    both.lacks(&["pub enum Again"]);
}

/// Names of OCaml mean the same in Rust, whatever they are.
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
        "pub fn not / not_root (arg0: bool) -> bool as bool",
        "pub fn map_prime<A>",
        "pub fn r#fn / fn_root () -> ::ocaml_boxroot::OCamlInt as isize",
        "pub fn camelCase / camelCase_root ()",
    ]);
}

#[test]
fn names_that_clash() {
    for (number, (ml, words)) in [
        ("type a_b = A type aB = B", ["X.a_b", "X.aB", "`OCamlAB`"]),
        ("let f' = 1 let f_prime = 2", ["X.f'", "X.f_prime", "`f_prime`"]),
        ("type t = A_b | AB", ["A_b", "AB", "X.t"]),
        ("type t = { x' : int; x_prime : int }", ["x'", "x_prime", "X.t"]),
        (
            "module AB = struct let n = 1 end module Ab = struct let n = 1 end",
            ["X.AB", "X.Ab", "`ab`"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let modules = Modules::new(&format!("clash_{number}"), &[("x.ml", ml)]);
        assert_says(&modules.try_bind("module x").unwrap_err(), &words);
    }
    // The name that the generator makes for a root gives way.
    bind("clash_of_root", "let f = 1 let f_root = \"\"")
        .has(&["fn f / f_root_ ()", "fn f_root / f_root_root ()"]);
}

// ---- What build scripts choose ----

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
        "#[derive(Clone, Debug, PartialEq)] pub enum Size { Small, Large }
         ocaml_boxroot::include_bindings!();",
    );
    bindings.has(&[
        "pub struct Order { pub size: crate::Size, pub cache: Boxroot<OCamlCache>, }",
        "pub variant OCamlSize for crate::Size { Small constant 0, Large constant 1, }",
        "pub abstract OCamlCache",
        "pub fn reserve",
        "pub fn add",
    ]);
    bindings.lacks(&["Unused", "Closed", "fn other", "fn list", "enum Size"]);
    assert_says(
        &modules.try_bind("module x only x.reserv").unwrap_err(),
        &["`x.reserv`", "x.reserve"],
    );
    assert_says(
        &modules.try_bind("module x opaque x.Cache").unwrap_err(),
        &["`x.Cache`", "x.cache"],
    );
    assert_says(&modules.try_bind("module y").unwrap_err(), &["no module Y", "X"]);
}

// ---- Externals ----

/// Rust provides the symbols that begin with the module's name, in any module; not those of C libraries.
#[test]
fn externals() {
    let provider = "
        use ocaml_boxroot::*;
        use x::{sub, OCamlOrder, Order};
        type Answer<T> = Result<T, Box<dyn std::error::Error>>;
        pub struct Provider;
        impl x::Externals for Provider {
            fn audit(_: &mut DomainLock, _: &RootRef<OCamlOrder>) -> Answer<()> { Ok(()) }
            fn later(_: &mut DomainLock, _: &RootRef<OCamlInt>) -> Answer<Boxroot<Function<(OCamlInt,), OCamlInt>>> { todo!() }
            fn pick<A>(_: &mut DomainLock, _: &RootRef<OCamlList<A>>) -> Answer<Boxroot<A>> { todo!() }
            fn hidden(_: &mut DomainLock, label: &RootRef<OCamlOrder>) -> Answer<f64> { let _ = label; Ok(1.) }
            fn six(
                _: &mut DomainLock, _: &RootRef<OCamlInt>, _: &RootRef<OCamlInt>, _: &RootRef<OCamlInt>,
                _: &RootRef<OCamlInt>, _: &RootRef<OCamlInt>, _: &RootRef<OCamlInt>,
            ) -> Answer<bool> { Ok(true) }
            fn sub(_: &mut DomainLock, _: &RootRef<sub::OCamlT>) -> Answer<Order> { Ok(Order { n: 1 }) }
            fn of_helper(_: &mut DomainLock, _: &RootRef<OCamlOrder>) -> Answer<isize> { Ok(1) }
        }
        ocaml_boxroot::include_bindings!(x: crate::Provider);";
    let bindings = Modules::new(
        "externals",
        &[
            (
                "x.mli",
                "type order = { n : int }
                 type callback = int -> int
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
                 external runtime : unit -> unit = \"caml_x\"
                 type secret = S
                 external secret : secret -> unit = \"x_secret\"
                 module Sub = struct type t = string external sub : t -> order = \"x_sub\" end",
            ),
            ("helper.ml", "external of_helper : X.order -> int = \"x_of_helper\" external own : int -> int = \"helper_own\""),
        ],
    )
    .bind_in("module x", provider);
    bindings.has(&[
        "bound_externals! { /// What OCaml's module wants of Rust. pub trait Externals for super::ocaml_externals::x {",
        "/// Tells the auditor. fn audit = \"x_audit\" (order: OCamlOrder) -> () as ();",
        "fn later = \"x_later\" (arg0: OCamlInt) -> Function<(OCamlInt,), OCamlInt>;",
        "fn pick<A> = \"x_pick\" (arg0: OCamlList<A>) -> A;",
        "fn hidden = \"x_hidden\" ((): (), label: OCamlOrder) -> OCamlFloat as f64;",
        "fn six = \"x_six\" \"x_six_bytecode\" (arg0: OCamlInt, arg1: OCamlInt,",
        "fn sub = \"x_sub\" (arg0: self::sub::OCamlT) -> OCamlOrder as Order;",
        "fn of_helper = \"x_of_helper\" (order: OCamlOrder) -> OCamlInt as isize;",
        "pub fn write / write_root (arg0: OCamlInt) -> OCamlInt as isize = \"X.write#DIGEST\"",
        "// external fast = \"x_fast\" // is left out: [@@noalloc]",
        "// external secret = \"x_secret\" // is left out:",
    ]);
    bindings.lacks(&["caml_x", "helper_own", "pub fn audit", "fn secret"]);
    assert_says(&bindings.said, &["cargo:warning=", "x_secret"]);
}

/// One symbol of two types would let either be taken for the other.
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
        &modules.try_bind("module x").unwrap_err(),
        &["\"x_audit\"", "audit : int -> unit", "other : string -> unit"],
    );
}

// ---- Both compilers check ----

/// OCaml rejects the generated module if what it states is not true.
#[test]
fn ocaml_checks_what_was_understood() {
    let first = "type r = { a : int; b : string } type f = { x : float; y : float } type v = A | B of int | C
                 type p = [ `A | `B ] type m = M of { n : int } type 'a poly = 'a list
                 exception E of int
                 let f (a : int) = a let g ~l = l + 1 let id x = x";
    let modules = Modules::new("ocaml_checks_what_was_understood", &[("x.ml", first)]);
    let bindings = modules.bind("module x");
    for (before, after) in [
        ("a : int; b : string", "b : string; a : int"),
        ("a : int;", "mutable a : int;"),
        ("x : float; y : float", "x : float; y : int"),
        ("A | B of int | C", "C | B of int | A"),
        ("B of int", "B of float"),
        ("`A | `B", "`A | `B of int"),
        ("M of { n : int }", "M of { n : int } [@@unboxed]"),
        ("E of int", "E of string"),
        ("(a : int)", "(a : float)"),
        ("~l", "~m:l"),
        ("id x = x", "id x = x + 1"),
    ] {
        let changed = first.replacen(before, after, 1);
        assert_ne!(changed, first);
        modules.compile("x.ml", &changed).unwrap();
        let said = modules.compile("glue.ml", &bindings.glue).expect_err(after);
        assert_says(&said, &["Error"]);
        // Rust that was compiled for the older interface does not link with the new one.
        assert_ne!(modules.bind("module x").digest, bindings.digest);
    }
}

/// A wrapped library, as dune compiles it. Its OCaml code does not name the files' modules.
#[test]
fn a_library_of_dune() {
    let modules = Modules::new("a_library_of_dune", &[]);
    let compile = |options: &str, file: &str, text: &str| {
        fs::write(modules.0.join(file), text).unwrap();
        let mut ocamlopt = ocamlopt();
        ocamlopt.args(options.split_whitespace()).args(["-bin-annot", "-c", file]);
        said(ocamlopt.current_dir(&modules.0).output().unwrap()).unwrap()
    };
    let alias = "module Bar = Foo__Bar module Baz = Foo__Baz";
    compile("-w -49 -no-alias-deps -o foo", "foo.ml", alias);
    compile("-open Foo -o foo__Baz", "baz.ml", "type t = { n : int }");
    let bar = "type t = A of Baz.t let f (A b) = b external audit : t -> unit = \"bar_audit\"";
    compile("-open Foo -o foo__Bar", "bar.ml", bar);
    modules.try_bind("module Foo__Bar").unwrap();
    let glue = fs::read_to_string(modules.0.join("glue.ml")).unwrap();
    assert!(glue.contains("Bar.f") && !glue.contains("= Foo__"), "{glue}");
    compile("-open Foo -o foo__Glue", "glue.ml", &glue);
    let rust = fs::read_to_string(modules.0.join("ocaml_bindings.rs")).unwrap();
    for part in [
        "pub mod bar {",
        "super::ocaml_types::foo::baz::OCamlT",
        "\"Bar.f#",
        "for super::ocaml_externals::bar",
    ] {
        assert!(rust.contains(part), "{rust}");
    }
    // The library's own module has its parts.
    modules.bind("module foo").has(&[
        "pub mod bar { // type t",
        "fn f / f_root (arg0: OCamlT) -> super::baz::OCamlT as super::baz::T",
    ]);
}

#[test]
fn all_of_the_standard_library() {
    let modules = Modules::new("all_of_the_standard_library", &[]);
    let bindings = modules.bind("module stdlib");
    bindings.has(&[
        "pub mod hashtbl {",
        "pub fn length<A> / length_root (arg0: OCamlList<A>) -> OCamlInt as isize",
        "// module Marshal = Stdlib__Marshal // is left out",
    ]);
    bindings.lacks(&["fn input_value", "Stdlib__Obj.repr"]);
    assert!(bindings.rust.matches("bound_function!").count() > 1500);
}

#[test]
fn without_the_libraries_of_the_compiler() {
    let modules = Modules::new("without_the_libraries_of_the_compiler", &[]);
    let standard = said(ocamlopt().arg("-where").output().unwrap()).unwrap();
    let folder = modules.0.join("ocaml/caml");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(Path::new(standard.trim()).join("caml/version.h"), folder.join("version.h")).unwrap();
    let mut command = Command::new(&maker().program);
    command.args(["module", "stdlib"]).current_dir(&modules.0).env("OUT_DIR", &modules.0);
    command.env("OCAML_WHERE_PATH", modules.0.join("ocaml"));
    assert_says(
        &said(command.output().unwrap()).unwrap_err(),
        &["compiler-libs/ocamlcommon.cma", "libcompiler-libs-ocaml-dev"],
    );
}

/// `Program::bind` in a build script: cargo runs it.
#[test]
fn a_program_with_bindings() {
    let build = r#"
        use ocaml_boxroot_sys::build::{Error, Program};
        fn main() -> Result<(), Error> {
            Program::new().library("threads").module("use.ml").module("orders.ml").bind("orders").link()
        }"#;
    let main = r#"
        const BINDINGS: &str = include_str!(concat!(env!("OUT_DIR"), "/ocaml_bindings.rs"));
        extern "C" { fn caml_startup(arguments: *const *const u8); }
        fn main() {
            print!("{BINDINGS}");
            unsafe { caml_startup(std::ptr::null()) }
        }"#;
    let files = [
        ("build.rs", build),
        ("src/main.rs", main),
        ("use.ml", "let submit () = Orders.reserve 1"),
        ("orders.mli", "val reserve : int -> int\n(** Reserves. *)"),
        ("orders.ml", "external audit : int -> unit = \"orders_audit\" let reserve n = audit n; n"),
    ];
    let dependencies = format!("[build-dependencies]\n{BUILD}");
    let package = package("a_program_with_bindings", &dependencies, &files);
    // The program contains the module that registers the functions, and wants Rust's symbols.
    let said = cargo(&package, &["build"]).unwrap_err();
    assert_says(&said, &["boxroot_abi_orders_", "orders_audit"]);
}
