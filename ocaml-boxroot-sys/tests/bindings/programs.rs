//! Whole programs: tests of libraries, and of build scripts. OCaml checks the generator's output.

use super::support::*;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A wrapped library, as dune compiles it. Its OCaml code does not name the files' modules.
#[test]
fn a_library_of_dune() {
    let modules = Modules::new("a_library_of_dune", &[]);
    let compile = |options: &str, file: &str, text: &str| {
        let options: Vec<&str> = options.split_whitespace().collect();
        modules.compile_with(&options, file, text).unwrap()
    };
    let alias = "module Bar = Foo__Bar module Baz = Foo__Baz";
    compile("-no-alias-deps -o foo", "foo.ml", alias);
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
    // The library's main module contains its parts.
    modules.bind("module foo").has(&[
        "pub mod bar { use ::ocaml_boxroot::{Boxroot}; // type t",
        "fn f(bar: OCamlT) -> super::baz::OCamlT as super::baz::T = \"Foo.Bar.f#DIGEST\"",
    ]);
}

/// A private module of a dune library has no interface beside the others, and one that is not
/// compiled yet has none at all.
#[test]
fn a_library_of_dune_with_a_module_that_has_no_interface() {
    let modules = Modules::new("a_library_of_dune_with_a_module_that_has_no_interface", &[]);
    let compile = |options: &str, file: &str, text: &str| {
        let options: Vec<&str> = options.split_whitespace().collect();
        modules.compile_with(&options, file, text).unwrap()
    };
    let aliases = "module Bar = Foo__Bar module Hidden = Foo__Hidden";
    compile("-no-alias-deps -w -49 -o foo", "foo.ml", aliases);
    compile("-open Foo -o foo__Bar", "bar.ml", "let f x = x + 1");
    modules.bind("module foo").has(&[
        "fn f(arg0: OCamlInt)",
        "module Hidden = Foo__Hidden",
        "is left out: it has no interface",
    ]);
}

/// A library may name a part of a file, and not the file. That part has its place where the
/// outermost module names it.
#[test]
fn a_library_of_dune_with_parts_of_files() {
    let modules = Modules::new("a_library_of_dune_with_parts_of_files", &[]);
    let compile = |options: &str, file: &str, text: &str| {
        let options: Vec<&str> = options.split_whitespace().collect();
        modules.compile_with(&options, file, text).unwrap()
    };
    let aliases = "module Core = Foo__Core module Bar = Foo__Bar";
    compile("-no-alias-deps -w -49 -o foo__", "foo__.ml", aliases);
    let core = "module Group : sig
                  type t = A | B
                  val get : t -> int
                  (** [get group] tells. *)
                  module Inner : sig val n : int end
                end
                module Deep : sig module In : sig val m : Group.t end end
                module Empty : sig end";
    compile("-open Foo__ -o foo__Core", "core.mli", core);
    compile("-open Foo__ -o foo__Bar", "bar.ml", "module Part = struct let p = 1 end");
    compile("-o other", "other.ml", "module Part = struct let p = 1 end");
    let foo = "module Sub = struct module G = Foo__Core.Group end
               module N = Foo__Core.Group.Inner module Group = Foo__Core.Group
               module In = Foo__Core.Deep.In module None = Foo__Core.Empty
               module Bar = Foo__Bar module P = Foo__Bar.Part module O = Other.Part
               let group () = Foo__Core.Group.A";
    compile("-open Foo__ -o foo", "foo.ml", foo);
    let bindings = modules.bind("module foo");
    bindings.has(&[
        "pub mod group {",
        "/// `get group` tells. pub fn get(group: OCamlT) -> OCamlInt as isize = \"Foo__Core.Group.get#DIGEST\"",
        "pub mod inner {",
        "// module N = Foo__Core.Group.Inner pub use self::group::inner::{self as n};",
        "// module G = Foo__Core.Group pub use super::group::{self as g};",
        "pub fn m -> super::group::OCamlT as super::group::T",
        "// module P = Foo__Bar.Part pub use self::bar::part::{self as p};",
        "// module O = Other.Part // is left out: `bind(\"other\")` binds it",
        "pub fn group((): ()) -> self::group::OCamlT as self::group::T",
    ]);
    bindings.lacks(&["Empty"]);
    modules.bind("module foo only foo.in").has(&["pub mod r#in {"]);
    modules.bind("module foo rename foo.in.m most").has(&["pub fn most ->"]);
}

/// In OCaml code of a dune library, the file `Foo__Bar` is the module `Bar`. Another library may
/// have another module with this name.
#[test]
fn libraries_of_dune_with_modules_of_one_name() {
    let modules = Modules::new("libraries_of_dune_with_modules_of_one_name", &[]);
    let compile = |options: &str, file: &str, text: &str| {
        let options: Vec<&str> = options.split_whitespace().collect();
        modules.compile_with(&options, file, text).unwrap()
    };
    for (library, module, definition) in [("foo", "x", "A of int"), ("baz", "y", "A of string")] {
        let name = library[..1].to_uppercase() + &library[1..];
        let upper = module.to_uppercase();
        let aliases = format!("module Bar = {name}__Bar module {upper} = {name}__{upper}");
        compile(&format!("-no-alias-deps -o {library}"), &format!("{library}.ml"), &aliases);
        let options = |module: &str| format!("-open {name} -o {library}__{module}");
        compile(&options("Bar"), "bar.ml", &format!("type t = {definition}"));
        let text = "external audit : Bar.t -> unit = \"x_audit\"";
        compile(&options(&upper), &format!("{module}.ml"), text);
    }
    assert_says(
        &modules.try_bind("module Foo__X module Baz__Y").unwrap_err(),
        &["Foo__Bar", "Baz__Bar", "would call both Bar"],
    );
}

/// Only the beginning of a file's name is the library's name.
#[test]
fn a_library_whose_name_is_in_names_of_modules() {
    let modules = Modules::new("a_library_whose_name_is_in_names_of_modules", &[]);
    let compile = |options: &str, file: &str, text: &str| {
        let options: Vec<&str> = options.split_whitespace().collect();
        modules.compile_with(&options, file, text).unwrap()
    };
    let alias = "module X = A__X module Data_A__in = A__Data_A__in";
    compile("-no-alias-deps -o a", "a.ml", alias);
    compile("-open A -o a__Data_A__in", "data.ml", "type t = T");
    compile("-open A -o a__X", "x.ml", "let f (x : Data_A__in.t) = x");
    modules.try_bind("module A__X").unwrap();
    let glue = fs::read_to_string(modules.0.join("glue.ml")).unwrap();
    compile("-open A -o a__Glue", "glue.ml", &glue);
}

#[test]
fn all_of_the_standard_library() {
    let modules = Modules::new("all_of_the_standard_library", &[]);
    let bindings = modules.bind("module stdlib");
    bindings.has(&[
        "pub mod hashtbl {",
        "pub fn length<A>(list: OCamlList<A>) -> OCamlInt as isize",
        "// module Marshal = Stdlib__Marshal // is left out",
        // With wrong tables or positions, this would read arbitrary memory.
        "// has no conversion: C code relies on what is in it",
        "pub record OCamlLexTables {",
        "pub record OCamlLexbuf {",
        // The state is not checked either.
        "pub unsafe fn engine(lex_tables: OCamlLexTables, arg1: OCamlInt, lexbuf: OCamlLexbuf) -> OCamlInt",
        "pub unsafe fn new_engine(",
    ]);
    if is_before((5, 0)) {
        bindings.has(&[
            // A format for C's `printf`: "%s" would read arbitrary memory.
            "pub unsafe fn format(arg0: OCamlString, arg1: OCamlInt32) -> OCamlString",
            "pub unsafe fn format(arg0: OCamlString, arg1: OCamlInt64) -> OCamlString",
            "pub unsafe fn format(arg0: OCamlString, arg1: OCamlNativeint) -> OCamlString",
            // The product of the sizes may overflow.
            "pub unsafe fn reshape<A, B, C>(",
            "pub unsafe fn reshape_2<A, B, C>(",
            "pub unsafe fn reshape_3<A, B, C>(",
            "pub unsafe fn get_key_copy",
            // Another thread may change the bytes between its two passes. Two threads that force
            // one value may turn it into a closure.
            "pub unsafe fn force<A>(",
            "pub unsafe fn force_val<A>(",
            "pub unsafe fn escaped(arg0: OCamlBytes) -> OCamlBytes",
        ]);
    }
    // With a negative heap increment, OCaml 4 would write beyond the end of the heap. With a stack
    // of 0 words, OCaml 5 would crash.
    bindings.has(&["pub unsafe fn get_copy", "pub unsafe fn set("]);
    bindings.lacks(&["\"Stdlib.input_value", "Obj.repr"]);
    assert!(bindings.rust.matches("ocaml_functions!").count() > 1500);
}

/// Libraries with C code that does not check its arguments, or relies on the behaviour of other
/// threads and processes.
#[test]
fn functions_of_other_libraries_that_are_unsafe() {
    let modules = Modules::new(
        "functions_of_other_libraries_that_are_unsafe",
        &[
            (
                "str.ml",
                "let replace_matched template string : string = template ^ string
                 let replace_first = replace_matched let global_replace = replace_matched let quote (s : string) = s",
            ),
            ("dynlink.ml", "let loadfile (file : string) = ignore file"),
            ("thread.ml", "let exit () = ()"),
            ("threadUnix.ml", "let open_connection (address : int) = (address, address)"),
            (
                "runtime_events.ml",
                "module Type = struct let register (encode : bytes -> int -> int) = ignore encode end
                 let create_cursor (process : int) = ignore process",
            ),
            (
                "unix.ml",
                "type dir_handle let closedir (d : dir_handle) = ignore d let rewinddir (d : dir_handle) = ignore d
                 let close (file : int) = ignore file let dup2 (a : int) (b : int) = ignore (a, b)
                 let in_channel_of_descr (file : int) = file let out_channel_of_descr (file : int) = file
                 let descr_of_in_channel (channel : int) = channel let descr_of_out_channel (channel : int) = channel
                 let open_connection (address : int) = (address, address) let establish_server (address : int) = ignore address
                 let putenv (name : string) (value : string) = ignore (name, value) let map_file (size : int) = ignore size
                 let fork () = 0 let readdir (d : dir_handle) = ignore d let unsetenv (name : string) = ignore name
                 let getlogin () = ()
                 let getpwnam (name : string) = name",
            ),
            ("own.ml", "external format : string -> int -> string = \"caml_format_int\""),
        ],
    );
    modules.bind("module str").has(&[
        "pub unsafe fn replace_matched(",
        "pub unsafe fn replace_first(",
        "pub unsafe fn global_replace(",
        "pub fn quote(",
    ]);
    modules.bind("module dynlink").has(&["pub unsafe fn loadfile("]);
    modules
        .bind("module runtime_events")
        .has(&["pub unsafe fn register(", "pub unsafe fn create_cursor("]);
    modules.bind("module unix").has(&[
        "pub unsafe fn closedir(",
        "pub unsafe fn close(",
        "pub unsafe fn dup2(",
        "pub unsafe fn in_channel_of_descr(",
        "pub unsafe fn out_channel_of_descr(",
        "pub unsafe fn descr_of_in_channel(",
        "pub unsafe fn descr_of_out_channel(",
        "pub unsafe fn open_connection(",
        "pub unsafe fn establish_server(",
        "pub fn rewinddir(",
        "pub unsafe fn putenv(",
        "pub unsafe fn map_file(",
        "pub unsafe fn fork(",
        "pub unsafe fn readdir(",
        "pub unsafe fn unsetenv(",
    ]);
    let [exit, users] = match is_before((5, 0)) {
        true => ["pub unsafe fn exit(", "pub fn getpwnam("],
        false => ["pub fn exit(", "pub unsafe fn getpwnam("],
    };
    modules.bind("module thread").has(&[exit]);
    if is_before((5, 0)) {
        modules.bind("module threadUnix").has(&["pub unsafe fn open_connection("]);
    }
    modules.bind("module unix").has(&[users]);
    modules.bind("module own").has(&["pub unsafe fn format("]);
}

/// All functions that C code or the compiler implements are on a list, so that nobody overlooks an
/// unsafe one.
#[test]
fn libraries_have_no_other_functions() {
    let modules = Modules::new("libraries_have_no_other_functions", &[]);
    fs::write(modules.0.join("externals.ml"), include_str!("externals.ml")).unwrap();
    let mut ocamlopt = ocamlopt();
    ocamlopt.args([
        "-w",
        "-a",
        "-I",
        "+compiler-libs",
        "ocamlcommon.cmxa",
        "externals.ml",
        "-o",
        "externals",
    ]);
    said(ocamlopt.current_dir(&modules.0).output().unwrap()).unwrap();
    let there = said(Command::new(modules.0.join("externals")).output().unwrap()).unwrap();
    let mut decided = HashSet::new();
    for line in include_str!("externals.txt").lines().filter(|line| !line.starts_with('#')) {
        let (module, functions) = line.split_once(": ").unwrap();
        decided.extend(functions.split(' ').map(|function| format!("{module}: {function}")));
    }
    assert!(there.lines().count() > 500);
    let others: Vec<&str> = there.lines().filter(|line| !decided.contains(*line)).collect();
    assert!(
        others.is_empty(),
        "if one is not safe to call, add it to unsafe_functions.txt; then add all to externals.txt:\n{others:#?}"
    );
}

/// OCaml's compiler does not check the types of primitives.
#[test]
fn primitives_whose_types_nobody_checked() {
    let make = if is_before((5, 3)) { "caml_make_vect" } else { "caml_array_make" };
    let primitives = format!(
        "external retype : 'a cell -> 'b cell = \"%identity\"
         external swap : ('a, 'b) result -> ('b, 'a) result = \"of_c\"
         external to_list : 'a cell -> 'a list = \"of_c\"
         external to_text : int -> string = \"%identity\"
         external any : 'a -> 'b = \"%identity\"
         external same : 'a cell -> 'a cell = \"%identity\"
         external first : 'a cell -> 'a = \"of_c\"
         external get : string array -> int -> string = \"%array_safe_get\"
         external make : int -> 'a -> 'a array = \"{make}\"
         external of_int : int -> number = \"%identity\"
         external to_int : number -> int = \"%identity\"
         external of_cell : int cell -> number = \"%identity\"
         external colour : int -> colour = \"%identity\"
         external digest : int -> M.t = \"%identity\"
         external private_ : int -> private_ = \"%identity\"
         external any_of_int : int -> any = \"%identity\"
         external of_labelled : int -> 'a of_any = \"%identity\"
         external unsafe_of_int : int -> number = \"%identity\"
         external successor : int -> number = \"%succint\"
         external add : int -> int -> int = \"%addint\"\n"
    );
    let interface = "type 'a cell type number type 'a of_any
         type colour = Red | Green type any = Obj.t type private_ = private string
         module M : sig type t end val hidden_of_int : int -> number
         val hidden : 'a cell -> 'b cell val empty : 'a cell -> 'b cell
         val renamed : 'a cell -> 'b cell val included : 'a cell -> 'b cell
         val covered : 'a cell -> 'b cell module Sub : sig val inner : 'a cell -> 'b cell end\n";
    let implementation = "type 'a cell = { mutable content : 'a list } type number = int type 'a of_any = Obj.t
         type colour = Red | Green type any = Obj.t type private_ = string
         module M = struct type t = string end external hidden_of_int : int -> number = \"%identity\"
         external hidden : 'a cell -> 'b cell = \"%identity\" let empty _ = { content = [] }
         let renamed = hidden module Sub = struct let inner = hidden end
         include struct external included : 'a cell -> 'b cell = \"%identity\" end
         external covered : 'a cell -> 'b cell = \"%identity\" let covered = empty\n";
    let files = [
        ("x.mli", &*(interface.to_string() + &primitives)),
        ("x.ml", &(implementation.to_string() + &primitives)),
    ];
    Modules::new("primitives_whose_types_nobody_checked", &files).bind("module x").has(&[
        "pub unsafe fn retype<A, B>(",
        "pub unsafe fn swap<A, B>(",
        "pub unsafe fn to_list<A>(",
        "pub unsafe fn to_text(",
        "external any : 'a -> 'b = \"%identity\" // is left out",
        "pub unsafe fn hidden<A, B>(",
        "pub unsafe fn renamed<A, B>(",
        "pub unsafe fn included<A, B>(",
        "pub unsafe fn inner<A, B>(",
        "pub unsafe fn of_cell(",
        "pub unsafe fn colour(",
        "pub unsafe fn digest(",
        "pub unsafe fn private_(",
        "pub unsafe fn any_of_int(",
        "pub unsafe fn of_labelled<A>(",
        "pub unsafe fn unsafe_of_int(",
        "pub unsafe fn successor(",
        // The module says which values of its abstract type are integers.
        "pub fn of_int(",
        "pub fn to_int(",
        "pub fn hidden_of_int(",
        "pub fn same<A>(",
        "pub fn first<A>(",
        "pub fn get(",
        "pub fn make<A>(",
        "pub fn add(",
        "pub fn empty<A, B>(",
        "pub fn covered<A, B>(",
    ]);
}

/// This happens if PATH changes, because then cargo does not compile `ocaml-boxroot-sys` again.
#[test]
fn another_version_than_that_of_the_crates() {
    let modules = Modules::new("another_version_than_that_of_the_crates", &[("x.ml", "let x = 1")]);
    for variable in ["DEP_OCAML_BOXROOT_OCAML_VERSION", "DEP_OCAML_BOXROOT_SHIM_OCAML_VERSION"] {
        let mut command = Command::new(&maker().program);
        command.args(["module", "x"]).current_dir(&modules.0).env("OUT_DIR", &modules.0);
        command.env(variable, "5.0.0");
        let words = [
            "ocaml-boxroot-sys was compiled for OCaml 5.0.0, but OCaml",
            "cargo clean -p ocaml-boxroot-sys",
        ];
        assert_says(&said(command.output().unwrap()).unwrap_err(), &words);
    }
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

/// `Program::bind` in a build script that cargo runs.
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
    // The program contains the module that registers the functions, and needs Rust's symbols.
    let said = cargo(&package, &["build"]).unwrap_err();
    assert_says(&said, &["boxroot_abi_orders_", "orders_audit"]);
}

/// To compile code that imports an interface with recursive types, OCaml also needs the flag
/// `-rectypes`.
#[test]
fn a_program_with_recursive_types() {
    let build = r#"
        use ocaml_boxroot_sys::build::{Error, Program};
        fn main() -> Result<(), Error> {
            Program::new().module("orders.ml").bind("orders").flag("-rectypes").link()
        }"#;
    let main = r#"
        use ocaml_boxroot::{DomainLock, Runtime};
        ocaml_boxroot::include_bindings!();
        fn main() -> Result<(), Box<dyn std::error::Error>> {
            Runtime::start()?;
            DomainLock::attach(|lock| Ok(println!("{} are left", orders::reserve(lock, 3)?)))
        }"#;
    let orders = "let rec more n = more let reserve n = n - 1";
    let files = [("build.rs", build), ("src/main.rs", main), ("orders.ml", orders)];
    let package = package("a_program_with_recursive_types", &build_and_run(), &files);
    assert_says(&cargo(&package, &["run"]).unwrap(), &["2 are left"]);
}

/// Recursive types may be infinite in their results, arguments or parts.
#[test]
fn recursive_types() {
    let modules = Modules::new("recursive_types", &[]);
    let text = "let rec result n = result
                let rec argument (f : ('a list -> int as 'a)) : int = argument f
                let rec pairs = (1, pairs)
                type twins = twins * twins
                type unfold = int -> unfold
                type t = { twins : twins; unfold : unfold }
                type u = Of_unfold of unfold
                external ask : (int -> 'a as 'a) -> int = \"x_ask\"
                let one = 1";
    modules.compile_with(&["-rectypes"], "x.ml", text).unwrap();
    let said = modules.try_bind("module x").unwrap();
    let rust = fs::read_to_string(modules.0.join("ocaml_bindings.rs")).unwrap();
    let endless = rust.matches("is left out: a type without end").count();
    assert_eq!(
        (endless, rust.matches("has no conversion: a type without end").count()),
        (7, 2),
        "{rust}"
    );
    assert_says(&rust, &["pub fn one -> OCamlInt as isize"]);
    assert_says(&said, &["cargo:warning=external ask", "a type without end"]);
    let glue = fs::read_to_string(modules.0.join("glue.ml")).unwrap();
    assert_says(&modules.compile("glue.ml", &glue).unwrap_err(), &["-rectypes"]);
    modules.compile_with(&["-rectypes"], "glue.ml", &glue).unwrap();
}

/// The errors of a program without bindings: without a build script, and with a build script that
/// no longer binds its module.
#[test]
fn a_program_that_binds_nothing() {
    let script = |bind: &str| {
        format!(
            "use ocaml_boxroot_sys::build::{{Error, Program}};
            fn main() -> Result<(), Error> {{ Program::new().module(\"orders.ml\"){bind}.link() }}"
        )
    };
    let main = "ocaml_boxroot::include_bindings!();
                fn main() { println!(\"{:?}\", orders::Order { count: 1 }) }";
    let files = [("src/main.rs", main), ("orders.ml", "type order = { count : int }")];
    let package = package("a_program_that_binds_nothing", &build_and_run(), &files);
    let said = cargo(&package, &["check"]).unwrap_err();
    assert_says(&said, &["include_bindings! needs a build script"]);
    fs::write(package.join("build.rs"), script(".bind(\"orders\")")).unwrap();
    cargo(&package, &["check"]).unwrap();
    fs::write(package.join("build.rs"), script("")).unwrap();
    let said = cargo(&package, &["check"]).unwrap_err();
    assert_says(&said, &["binds no OCaml module", "Program::bind"]);
}

/// OCaml libraries, installed as by dune and ocamlfind, and a program that calls one. The package
/// `shop.extra` needs `shop` and `str`.
#[test]
fn a_program_with_packages() {
    let files = [
        ("build.rs", include_str!("projects/package/build.rs")),
        ("src/main.rs", include_str!("projects/package/main.rs")),
    ];
    let package = package("a_program_with_packages", &build_and_run(), &files);
    let shop = package.join("installed/shop");
    fs::create_dir_all(shop.join("extra")).unwrap();
    let write = |file: &str, text: &str| fs::write(shop.join(file), text).unwrap();
    let compile = |folder: &str, arguments: &str| {
        let mut ocamlopt = ocamlopt();
        ocamlopt.args(arguments.split_whitespace()).current_dir(shop.join(folder));
        said(ocamlopt.output().unwrap()).unwrap();
    };
    write("shop.ml", "module Basics = Shop__Basics");
    write("basics.ml", "type order = { words : string list; count : int }");
    let write_extra = |between: &str| {
        let text = "let upper s = Str.global_replace (Str.regexp \"t\") \"T\" s
             let describe (o : Shop.Basics.order) = string_of_int o.count ^ \"BETWEEN\" ^ upper (String.concat \", \" o.words)";
        write("extra/extra.ml", &text.replace("BETWEEN", between));
    };
    write_extra(" ");
    compile("", "-w -49 -no-alias-deps -c -o shop shop.ml");
    compile("", "-open Shop -bin-annot -c -o shop__Basics basics.ml");
    write("unnamed.ml", "let () = print_endline \"a module that nobody names\"");
    compile("", "-open Shop -c -o shop__Unnamed unnamed.ml");
    compile("", "-a shop.cmx shop__Basics.cmx shop__Unnamed.cmx -o shop.cmxa");
    compile("extra", "-I .. -I +str -c extra.ml");
    compile("extra", "-a extra.cmx -o extra.cmxa");
    let meta = r#"
        # As dune writes it.
        version = "1"
        requires = ""
        archive(byte) = "shop.cma"
        archive(native) = "shop.cmxa"
        plugin(native) = "shop.cmxs"
        package "extra" (
          directory = "extra"
          requires = "shop"
          requires += "str bytes"
          requires(ppx_driver) = "unknown"
          archive(byte) = "extra.cma"
          archive(native) = "extra.cmxa"
        )"#;
    write("META", meta);
    let printed = cargo(&package, &["run"]).unwrap();
    assert_says(&printed, &["2 Tea", "a module that nobody names"]);
    // New machine code, as if a library's C code had changed.
    let library = shop.join("extra/extra.cmxa");
    let (bytes, time) =
        (fs::read(&library).unwrap(), library.metadata().unwrap().modified().unwrap());
    write_extra(" x ");
    compile("extra", "-I .. -I +str -c extra.ml");
    compile("extra", "-a extra.cmx -o extra.cmxa");
    fs::write(&library, bytes).unwrap();
    fs::File::options().write(true).open(&library).unwrap().set_modified(time).unwrap();
    assert_says(&cargo(&package, &["run"]).unwrap(), &["2 x Tea"]);
    // If OCaml has `main`, the interface of another build may name a type of a library.
    let modules = Modules::new("names_a_package", &[]);
    let text = "val last : unit -> Shop.Basics.order";
    modules.compile_with(&["-I", shop.to_str().unwrap()], "x.mli", text).unwrap();
    let mut command = Command::new(&maker().program);
    command.args(["module", "x", "package", "shop"]).current_dir(&modules.0);
    command.env("OUT_DIR", &modules.0).env("OCAMLPATH", package.join("installed"));
    said(command.output().unwrap()).unwrap();
    let rust = fs::read_to_string(modules.0.join("ocaml_bindings.rs")).unwrap();
    assert_says(&rust, &["pub fn last((): ()) -> super::ocaml_types::shop::basics::OCamlOrder"]);
    let script =
        include_str!("projects/package/build.rs").replace(".package_dir(\"installed\")", "");
    let set = "{ std::env::set_var(\"OCAMLPATH\", \"installed\");";
    let script = script.replacen("Error> {", &format!("Error> {set}"), 1);
    fs::write(package.join("build.rs"), &script).unwrap();
    assert_says(&cargo(&package, &["run"]).unwrap(), &["2 x Tea"]);
    // A package that only requires another package, and a package without items to bind.
    let bind_all = |requires: &str| {
        fs::create_dir_all(package.join("installed/name")).unwrap();
        fs::write(package.join("installed/name/META"), requires).unwrap();
        let script = script.replace(".package(\"shop.extra\")", ".package(\"name\")");
        let script = script.replace(".bind(\"extra\")", ".bind_all(\"name\")");
        fs::write(package.join("build.rs"), script).unwrap();
        cargo(&package, &["run"])
    };
    assert_says(&bind_all("requires = \"shop.extra\"").unwrap(), &["2 x Tea"]);
    assert_says(&bind_all("").unwrap_err(), &["bind_all(\"name\"): the package has no modules"]);
    fs::write(package.join("build.rs"), &script).unwrap();
    write("META", "requires = \"");
    assert_says(&cargo(&package, &["build"]).unwrap_err(), &["META: a string is not closed"]);
    fs::remove_file(shop.join("META")).unwrap();
    assert_says(&cargo(&package, &["build"]).unwrap_err(), &["no OCaml package shop", "installed"]);
}

/// Libraries whose C code needs a system library, a library that is only shared, and a chain of
/// libraries. The final linker finds them, as OCaml's compiler does in an OCaml program.
#[test]
fn a_program_with_c_libraries() {
    let build = r#"
        use ocaml_boxroot_sys::build::{Error, Program};
        fn main() -> Result<(), Error> {
            Program::new().library("threads").package_dir("installed").package_dir("metas")
                .package("named").package("of_shared").package("of_chain")
                .bind_all("named").bind_all("of_shared").bind_all("of_chain").bind_all("threads").link()
        }"#;
    let main = r#"
        use ocaml_boxroot::{DomainLock, Runtime};
        ocaml_boxroot::include_bindings!();
        fn main() -> Result<(), Box<dyn std::error::Error>> {
            Runtime::start()?;
            DomainLock::attach(|lock| {
                let values = [of_m::value(lock, 0.)?, of_shared::value(lock, 0.)?, of_chain::value(lock, 4.)?];
                thread::r#yield(lock)?;
                Ok(println!("{values:?}"))
            })
        }"#;
    let files = [("build.rs", build), ("src/main.rs", main)];
    let package = package("a_program_with_c_libraries", &build_and_run(), &files);
    let ocamlopt = std::env::var_os("OCAMLOPT").unwrap_or("ocamlopt".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = script.join("tests/bindings/projects/c_libraries/make.sh");
    let made = Command::new("sh").arg(script).arg(ocamlopt).current_dir(&package).output();
    said(made.unwrap()).unwrap();
    cargo(&package, &["build"]).unwrap();
    let installed = package.join("installed");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings/target/debug");
    let mut program = Command::new(program.join("a_program_with_c_libraries"));
    let folders = ["of_shared", "of_chain"].map(|name| installed.join(name));
    program.env("LD_LIBRARY_PATH", std::env::join_paths(folders).unwrap());
    assert_says(&said(program.output().unwrap()).unwrap(), &["[1.0, 1.0, 8.0]"]);
}

/// The generator of bindings is compiled again only if its inputs have changed.
#[test]
fn another_generator() {
    let modules = Modules::new("another_generator", &[("x.ml", "let x = 1")]);
    let folder = modules.0.join("ocaml_bindings_generator");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("made_of"), "another OCaml").unwrap();
    let replace = || fs::write(folder.join("generator"), "echo a generator; exit 1").unwrap();
    replace();
    modules.try_bind("module x").unwrap();
    modules.try_bind("module x").unwrap();
    replace();
    assert_says(&modules.try_bind("module x").unwrap_err(), &["generator"]);
}

#[test]
fn a_program_with_a_preprocessor() {
    let build = "use ocaml_boxroot_sys::build::{Error, Program};
        fn main() -> Result<(), Error> {
            let program = Program::new().flag(\"-pp\").flag(\"sed s/@@LIMIT@@/3/\");
            program.module(\"second.ml\").module(\"first.ml\").link()
        }";
    let main = "use ocaml_boxroot as _; fn main() { }";
    let package = package(
        "a_program_with_a_preprocessor",
        &build_and_run(),
        &[("build.rs", build), ("src/main.rs", main)],
    );
    fs::write(package.join("first.ml"), "let limit = @@LIMIT@@").unwrap();
    fs::write(package.join("second.ml"), "let () = assert (First.limit = @@LIMIT@@)").unwrap();
    cargo(&package, &["check"]).unwrap();
}

/// Another build compiles the OCaml program, with the module that the bindings need. Here the build
/// script stands in for the other build.
#[test]
fn a_program_that_another_build_compiled() {
    let files = [
        ("build.rs", include_str!("projects/object/build.rs")),
        ("src/main.rs", include_str!("projects/object/main.rs")),
    ];
    let package = package("a_program_that_another_build_compiled", &build_and_run(), &files);
    fs::create_dir(package.join("ocaml")).unwrap();
    fs::write(package.join("ocaml/words.ml"), "let upper = String.uppercase_ascii").unwrap();
    assert_says(&cargo(&package, &["run"]).unwrap(), &["TEA"]);
}

/// Rust makes objects, calls their methods, and passes a first-class module back to OCaml.
#[test]
fn a_program_with_objects() {
    let files = [
        ("build.rs", include_str!("projects/objects/build.rs")),
        ("src/main.rs", include_str!("projects/objects/main.rs")),
    ];
    let package = package("a_program_with_objects", &build_and_run(), &files);
    fs::create_dir(package.join("ocaml")).unwrap();
    fs::write(package.join("ocaml/shapes.ml"), include_str!("projects/objects/shapes.ml")).unwrap();
    assert_says(&cargo(&package, &["run"]).unwrap(), &["2.5 m"]);
}

#[test]
fn a_program_with_other_names() {
    let files = [
        ("build.rs", include_str!("projects/names/build.rs")),
        ("src/main.rs", include_str!("projects/names/main.rs")),
    ];
    let package = package("a_program_with_other_names", &build_and_run(), &files);
    fs::create_dir(package.join("ocaml")).unwrap();
    let money = "type t = { cents : int } let ( + ) a b = { cents = a.cents + b.cents }
                 let add' = List.fold_left ( + ) { cents = 0 }";
    fs::write(package.join("ocaml/money.ml"), money).unwrap();
    assert_says(&cargo(&package, &["run"]).unwrap(), &["15"]);
    // Cargo notices a new interface.
    fs::write(package.join("ocaml/money.mli"), "type t = { cents : int }").unwrap();
    assert_says(&cargo(&package, &["build"]).unwrap_err(), &["no item `money.+`"]);
}
