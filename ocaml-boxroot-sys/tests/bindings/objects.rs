//! Objects and classes: values of OCaml that Rust keeps, and whose methods it calls.

use super::support::*;

const HASH: &str = "
    class type hash = object
      (** [add_string s] adds [s]. *)
      method add_string : string -> unit
      method result : bytes
      method wipe : unit
    end
    class sha (_size : int) = object
      val b = Buffer.create 10
      method add_string s = Buffer.add_string b s
      method result = Buffer.to_bytes b
      method wipe = Buffer.clear b
      method private hidden = 1
    end
    type counter = < incr : int -> unit; value : int >
    type counters = { counter : counter; many : counter list }
    let sha () : hash = new sha 256
    let hash_string (h : hash) s = h#add_string s; h#result
    let of_sha (s : sha) = (s :> hash)
    let counter () : counter = object
      val mutable n = 0 method incr by = n <- n + by method value = n end
    let counters c = { counter = c; many = [ c; c ] }";

#[test]
fn methods() {
    bind("methods", HASH).has(&[
        "pub abstract OCamlHash",
        "// method add_string : string -> unit
         ::ocaml_boxroot::ocaml_functions! { generated
            /// `add_string s` adds `s`.
            pub fn hash_add_string(hash: OCamlHash, s: OCamlString) -> () as () = \"X.hash.add_string#DIGEST\"",
        "pub fn hash_result(hash: OCamlHash) -> OCamlBytes as Vec<u8>",
        "pub fn hash_result_root(hash: OCamlHash) -> OCamlBytes as Boxroot<OCamlBytes>",
        "pub fn hash_wipe(hash: OCamlHash) -> () as ()",
        // `sha` and `hash` are one type.
        "pub use self::OCamlHash as OCamlSha;",
        "// new sha : int -> sha
         ::ocaml_boxroot::ocaml_functions! { generated
            pub fn new_sha(arg0: OCamlInt) -> OCamlHash as Boxroot<OCamlHash> = \"new X.sha#DIGEST\"",
        "pub fn hash_string(hash: OCamlHash, arg1: OCamlString) -> OCamlBytes as Vec<u8>",
        "pub fn counter((): ()) -> OCamlCounter as Boxroot<OCamlCounter>",
        "pub fn counter_incr(counter: OCamlCounter, arg1: OCamlInt) -> () as ()",
        "pub fn counter_value(counter: OCamlCounter) -> OCamlInt as isize",
        "pub struct Counters { pub counter: Boxroot<OCamlCounter>, pub many: Vec<Boxroot<OCamlCounter>>, }",
    ]);
}

/// Every public method is there, with what it inherits; private ones are not.
#[test]
fn classes() {
    let bindings = bind(
        "classes",
        "class virtual shape = object (self)
           method virtual area : float
           method twice = 2. *. self#area
           method private secret = 1
         end
         class square (side : float) = object (self : 'self)
           inherit shape
           method area = side *. side
           method copy : 'self = {< >}
           method larger (other : 'self) = if other#area > self#area then other else self
         end
         class alone = object method type_ = 1 method \\#type = 2 method a' = 3 method pair = (1, \"\") end
         class ['a] stack = object (self)
           val mutable l : 'a list = []
           method push x = l <- x :: l
           method pop = match l with [] -> None | x :: rest -> l <- rest; Some x
           method map : 'b. ('a -> 'b) -> 'b list = fun f -> List.map f l
           method fail : 'b. string -> 'b = failwith
           method self = (self :> 'a stack)
         end
         class ['a] pairs = object constraint 'a = int * 'b method first (x : 'a) = fst x end
         class labels ?(a = 1) ?(b = 2) ?(c = 3) ~d () = object
           method sum ?(more = 0) ~by () = (a + b + c + d + more) * by
           method many ?(x = 1) ?(y = 2) ?(z = 3) (n : int) = x + y + z + n
           method with_label (f : x:int -> int) = f ~x:1
           method result_label : x:int -> int = fun ~x -> x
         end
         class unsafe_pointer = object method get = 1 method unsafe_get = 2 end
         let shape_area (s : shape) = s#area
         let all (l : square list) : square array = Array.of_list l
         let push (s : int stack) = s#push 1"
            .replace("\\#type", if is_before((5, 2)) { "of_type" } else { "\\#type" })
            .as_str(),
    );
    bindings.has(&[
        "// class virtual shape makes no objects",
        "pub fn shape_twice(shape: OCamlShape) -> OCamlFloat as f64",
        // A function of this name keeps it.
        "// `shape_area_` in Rust: `shape_area` is val X.shape_area
         ::ocaml_boxroot::ocaml_functions! { generated
            pub fn shape_area_(shape: OCamlShape) -> OCamlFloat as f64 = \"X.shape.area#DIGEST\"",
        "pub fn shape_area(shape: OCamlShape) -> OCamlFloat as f64 = \"X.shape_area#DIGEST\"",
        "pub fn new_square(arg0: OCamlFloat) -> OCamlSquare as Boxroot<OCamlSquare>",
        "pub fn square_twice(square: OCamlSquare) -> OCamlFloat as f64",
        "pub fn square_copy(square: OCamlSquare) -> OCamlSquare as Boxroot<OCamlSquare>",
        "pub fn square_larger(square: OCamlSquare, square_: OCamlSquare) -> OCamlSquare as Boxroot<OCamlSquare>",
        // Each call makes an object.
        "pub unsafe fn new_unsafe_pointer((): ())",
        "pub unsafe fn unsafe_pointer_get(",
        "pub unsafe fn unsafe_pointer_unsafe_get(",
        "pub fn new_alone((): ()) -> OCamlAlone as Boxroot<OCamlAlone>",
        "pub fn alone_type_(alone: OCamlAlone) -> OCamlInt as isize",
        "pub fn alone_a_prime(alone: OCamlAlone) -> OCamlInt as isize",
        "pub fn alone_pair_root(alone: OCamlAlone) -> (OCamlInt, OCamlString) as",
        "pub fn new_stack<A>((): ()) -> OCamlStack<A> as Boxroot<OCamlStack<A>>",
        "pub fn stack_push<A>(stack: OCamlStack<A>, arg1: A) -> () as ()",
        "pub fn stack_pop<A>(stack: OCamlStack<A>) -> Option<A> as Option<Boxroot<A>>",
        // Rust chooses the variable of a polymorphic method, as OCaml code would.
        "// method map : 'b. ('a -> 'b) -> 'b list
         ::ocaml_boxroot::ocaml_functions! { generated
            pub fn stack_map<A, B>(stack: OCamlStack<A>, f: Function<(A,), B>) -> OCamlList<B> as Vec<Boxroot<B>>",
        "// method fail : 'b. string -> 'b // is left out: its result is of any type",
        "pub fn stack_self<A>(stack: OCamlStack<A>) -> OCamlStack<A> as Boxroot<OCamlStack<A>>",
        "pub fn pairs_first<B>(pairs: OCamlPairs<(OCamlInt, B)>, arg1: (OCamlInt, B)) -> OCamlInt as isize",
        "pub struct NewLabelsOptions {",
        "pub fn new_labels( lock: &mut DomainLock, d: impl ToOCaml<OCamlInt>, options: NewLabelsOptions,",
        "pub fn labels_sum(labels: OCamlLabels, more: Option<OCamlInt> as Option<isize>, by: OCamlInt, (): ())",
        "pub struct LabelsManyOptions {",
        "pub fn labels_result_label(labels: OCamlLabels, x: OCamlInt) -> OCamlInt as isize",
        "pub fn all(list: OCamlList<OCamlSquare>) -> OCamlArray<OCamlSquare> as Vec<Boxroot<OCamlSquare>>",
    ]);
    bindings.lacks(&["secret", "fn new_shape"]);
}

/// An open object type is the one with just its methods, if OCaml lets the caller choose.
#[test]
fn objects_without_names() {
    let bindings = bind(
        "objects_without_names",
        "type named = < area : int; name : string >
         class type hash = object method add : string -> unit end
         let point () = object method x = 1 method y = 2 end
         let sum (p : < x : int; y : int >) = p#x + p#y
         let x (p : < x : int; .. >) = p#x
         let same (p : < x : int; .. > as 'a) : 'a = p
         let add (h : #hash) s = h#add s
         let holder (v : 'a) = object method get = v method pair : 'a * int = (v, 1) end
         let get (h : < get : 'a; pair : 'a * int >) = h#get
         let equal_to_named (o : < area : int; name : string >) = o#area
         let poly (o : < id : 'a. 'a -> 'a >) = o#id 1
         let rec next (o : (< next : 'a; n : int > as 'a)) = o#next
         let both (a : (< next : 'a; v : 'b > as 'a)) (b : (< next : 'c; v : int > as 'c))
           (c : (< other : 'd > as 'd)) = ignore (a, b, c)
         let nested (o : (< inner : < outer : 'b; v : int >; n : int > as 'b)) = o#inner#v
         type o = { o : < m : int >; k : int }
         module type M = sig type t = private < m : int; .. > val v : t val f : < m : t > -> unit end
         module M : M = struct type t = < m : int; n : int > let v = object method m = 1 method n = 2 end let f _ = () end
         type fixed = private < m : int >
         let fixed (o : fixed) = o
         external of_c : < add : int; .. > -> unit = \"of_c\"
         external back : (< add : int; .. > as 'a) -> 'a = \"of_c_1\"
         external inside : < add : int; .. > list -> unit = \"of_c_2\"
         external closed : < add : int > -> < add : int > list = \"of_c_3\"",
    );
    bindings.has(&[
        "// < x : int; y : int >",
        "pub fn point((): ()) -> OCamlPointResult as Boxroot<OCamlPointResult>",
        "pub fn sum(arg0: OCamlPointResult) -> OCamlInt",
        "pub fn x(arg0: OCamlXArg0) -> OCamlInt",
        "pub fn same(arg0: OCamlXArg0) -> OCamlXArg0 as Boxroot<OCamlXArg0>",
        "pub fn add(hash: OCamlHash, arg1: OCamlString) -> ()",
        "pub fn holder<A>(arg0: A) -> OCamlHolderResult<A> as Boxroot<OCamlHolderResult<A>>",
        "pub fn get<A>(arg0: OCamlHolderResult<A>) -> A as Boxroot<A>",
        "pub fn equal_to_named(named: OCamlNamed) -> OCamlInt",
        "is left out: an object type without a name that has a polymorphic method",
        "pub fn next(arg0: OCamlNextArg0) -> OCamlNextArg0 as Boxroot<OCamlNextArg0>",
        // Each of these types refers to itself, and has a name of its own in OCaml.
        "pub fn both<B>(arg0: OCamlBothArg0<B>, arg1: OCamlBothArg1, arg2: OCamlBothArg2)",
        "pub fn nested(arg0: OCamlNestedArg0) -> OCamlInt as isize",
        "pub struct O { pub o: Boxroot<OCamlOO>, pub k: isize, }",
        // A private type is another type than an equal one.
        "pub fn v -> OCamlT as Boxroot<OCamlT>",
        "pub fn t_m(m: OCamlT) -> OCamlInt as isize = \"X.M.t.m#DIGEST\"",
        // OCaml code cannot call the methods of a private type that hides none.
        "pub fn fixed(fixed: OCamlFixed) -> OCamlFixed as Boxroot<OCamlFixed>",
        "pub fn of_c(arg0: OCamlOfCArg0) -> ()",
        // Nobody has checked that C code does not choose.
        "pub unsafe fn back(arg0: OCamlOfCArg0) -> OCamlOfCArg0 as",
        "pub unsafe fn inside(list: OCamlList<OCamlOfCArg0>) -> () as ()",
        "pub fn closed(arg0: OCamlOfCArg0) -> OCamlList<OCamlOfCArg0> as Vec<Boxroot<OCamlOfCArg0>>",
    ]);
    // Functions that Rust provides: OCaml's callers choose.
    let text = "type named = < n : int >
        external audit : < n : int; .. > -> unit = \"x_audit\"
        external get : unit -> (< n : int; .. > as 'a) = \"x_get\"";
    let modules = Modules::new("objects_of_externals", &[("x.ml", text)]);
    let bindings = modules.bind("module x");
    for name in ["audit", "get"] {
        let why = "is left out: an open object type";
        bindings.has(&[&format!("// external {name} = \"x_{name}\" // {why}")]);
    }
}

/// A type with other methods is another type. OCaml code coerces an object, Rust code does not.
#[test]
fn mistakes() {
    let text = format!(
        "{HASH}
         class type more = object inherit hash method more : int end
         let more () : more = object method add_string _ = () method result = Bytes.empty
           method wipe = () method more = 1 end
         class ['a] cell (v : 'a) = object method get = v end
         let of_ints (c : int cell) = c#get"
    );
    let modules = Modules::new("mistakes_with_objects", &[("x.ml", &text)]);
    modules.bind("module x");
    let program = |body: &str| {
        format!(
            "#![forbid(unsafe_code)]
             ocaml_boxroot::include_bindings!();
             use ocaml_boxroot::*;
             pub fn all<A: markers::OneType>(lock: &mut DomainLock, a: Boxroot<A>)
             -> std::result::Result<(), CallError> {{
                 let hash = x::sha(lock)?;
                 let more = x::more(lock)?;
                 let cell = x::new_cell(lock, &a)?;
                 {body}
                 let _ = (hash, more, cell, a);
                 Ok(())
             }}"
        )
    };
    let right = "
        x::hash_add_string(lock, &hash, \"a\")?;
        let _: Vec<u8> = x::hash_string(lock, &hash, \"a\")?;
        let other: Boxroot<x::OCamlHash> = x::more_as_hash(lock, &more)?;
        x::hash_wipe(lock, other)?;
        let sha: Boxroot<x::OCamlSha> = x::new_sha(lock, 256)?;
        x::hash_wipe(lock, &sha)?;
        x::more_wipe(lock, &more)?;
        let _: Boxroot<A> = x::cell_get(lock, &cell)?;
        let one = x::new_cell(lock, 1isize)?;
        let _: isize = x::of_ints(lock, &one)?;";
    modules.rustc("right.rs", &program(right), METADATA).unwrap();
    for mistake in [
        "x::hash_add_string(lock, &more, \"a\")?;",
        "x::hash_string(lock, more.clone_in(lock).unwrap(), \"a\")?;",
        "x::more_more(lock, &hash)?;",
        "x::of_ints(lock, &cell)?;",
        "let _: isize = x::cell_get(lock, &cell)?;",
        "x::counter_value(lock, &hash)?;",
        "x::hash_hidden(lock, &hash)?;",
    ] {
        modules.refuse(&program(mistake));
    }
}

/// Of each pair of types, the one with more methods is coerced, if OCaml does that.
#[test]
fn coercions() {
    let bindings = bind(
        "coercions",
        "class type shape = object method area : float end
         type empty = < >
         class type coloured = object inherit shape method colour : string end
         class type other = object method area : int method colour : string end
         class type copies = object method area : float method copy : copies method name : string end
         class type all = object method area : float method copy : all method name : string
           method colour : string end
         class type binary = object ('self) method name : string method same : 'self -> bool end
         class type more = object ('self) inherit binary method more : int end
         class type ['a] get = object method get : 'a end
         class type ['a] both = object method get : 'a method set : 'a -> unit end
         module Sub = struct class type solid = object inherit coloured method volume : float end end
         module Other = struct class type shape = object method volume : float method as_shape : int end end
         class type three = object inherit shape inherit Other.shape end
         module M : sig type t = private < area : float; .. > end = struct type t = coloured end",
    );
    bindings.has(&[
        "// (coloured :> X.shape)
         ::ocaml_boxroot::ocaml_functions! { generated
            pub fn coloured_as_shape(coloured: OCamlColoured) -> OCamlShape as Boxroot<OCamlShape> = \"(X.coloured :> X.shape)#DIGEST\"",
        "pub fn copies_as_shape(",
        "pub fn all_as_copies(",
        "pub fn all_as_coloured(",
        "pub fn all_as_shape(",
        "pub fn solid_as_coloured(solid: OCamlSolid) -> super::OCamlColoured as",
        "pub fn solid_as_shape(solid: OCamlSolid) -> super::OCamlShape as",
        // Two types and a method of one name.
        "= \"(X.three :> X.shape)#DIGEST\"",
        "= \"(X.three :> X.Other.shape)#DIGEST\"",
        "= \"X.three.as_shape#DIGEST\"",
    ]);
    // Methods of other types, and of arguments of the object's own type.
    bindings.lacks(&["other_as", "more_as_binary", "both_as", "as_empty", "t_as"]);
    assert_eq!(bindings.rust.matches(" :> X.").count(), 18, "{}", bindings.rust);
}

/// The build script chooses methods as it chooses functions.
#[test]
fn choices() {
    let modules = Modules::new("choices_of_methods", &[("x.ml", HASH)]);
    modules
        .bind("module x rename x.hash.add_string add rename x.sha.new sha_256")
        .has(&["pub fn add(hash: OCamlHash, s: OCamlString)", "pub fn sha_256(arg0: OCamlInt)"]);
    modules
        .bind("module x int_as x.counter.value.result u32")
        .has(&["pub fn counter_value(counter: OCamlCounter) -> OCamlInt as u32"]);
    let bindings = modules.bind("module x only x.hash.wipe only x.sha.new");
    bindings.has(&["pub fn hash_wipe(", "pub fn new_sha("]);
    bindings.lacks(&["fn hash_result", "fn counter", "fn sha_as"]);
    let said = modules.try_bind("module x only x.hash.wide").unwrap_err();
    assert_says(&said, &["there is no item `x.hash.wide`", "x.hash.wipe"]);
    // The methods of `sha` are those of `hash`.
    let said = modules.try_bind("module x rename x.sha.wipe clear").unwrap_err();
    assert_says(&said, &["there is no item `x.sha.wipe`"]);
    let text = "class type shape = object method area : int end
        class virtual drawn = object method virtual area : int method virtual draw : unit end";
    let modules = Modules::new("choices_of_coercions", &[("x.ml", text)]);
    modules
        .bind("module x only x.drawn.as_shape rename x.drawn.as_shape shape")
        .has(&["pub fn shape(drawn: OCamlDrawn) -> OCamlShape"]);
    let said = modules.try_bind("module x only x.drawn.new").unwrap_err();
    assert_says(&said, &["there is no item `x.drawn.new`"]);
}
