use ocaml_boxroot::markers::{Field, OneType};
use ocaml_boxroot::{Boxroot, DomainLock, OCamlAny, OCamlArray, OCamlFloat, OCamlInt, OCamlList, OCamlString, ToOCaml, Value, bound_type, ocaml_items, ocaml_type};
use ocaml_boxroot::macro_support::{
    check, field, make, open, take, Constructor, Constructors, Declared, HasParts, Numbered,
};

/// A function like those of bindings, for `'a -> 'a array`.
fn single<A: OneType>(_: &mut DomainLock, _: impl ToOCaml<A>) -> Boxroot<OCamlArray<A>> {
    unimplemented!()
}

//# any_as_a_type_variable
// `OCamlAny` cannot stand for a type variable, because OCaml's arrays do not mix floats with other
// values.

bound_type! { pub unboxed OCamlMeasure<A> { 0 measure: A } is_float false }

bound_type! { pub abstract OCamlCache<A> }

fn any(lock: &mut DomainLock, any: Boxroot<OCamlAny>) {
    let _ = single::<OCamlAny>(lock, any);
    //~^ E0277 `OCamlAny` cannot stand for an OCaml type variable
}

fn unboxed(lock: &mut DomainLock, any: Boxroot<OCamlMeasure<OCamlAny>>) {
    let _ = single(lock, any); //~ E0277 `OCamlAny` cannot stand for an OCaml type variable
}

fn perhaps_unboxed(lock: &mut DomainLock, any: Boxroot<OCamlCache<OCamlAny>>) {
    let _ = single(lock, any); //~ E0277 `OCamlAny` cannot stand for an OCaml type variable
}

ocaml_type! {
    unboxed struct Wrapped { any: OCamlAny }
    unboxed struct Twice { wrapped: Wrapped }
    unboxed struct Number { number: OCamlFloat }
    struct Record { any: OCamlAny, twice: Twice }
}

fn unboxed_by_hand(lock: &mut DomainLock, wrapped: Boxroot<Wrapped>, twice: Boxroot<Twice>) {
    let _ = single(lock, wrapped); //~ E0277 `OCamlAny` cannot stand for an OCaml type variable
    let _ = single(lock, twice); //~ E0277 `OCamlAny` cannot stand for an OCaml type variable
}

fn one_type(lock: &mut DomainLock, number: Boxroot<Number>, record: Boxroot<Record>) {
    let _ = single(lock, number);
    let _ = single(lock, record);
}

/// The program's own marker, without the promise.
enum Own {}
impl ocaml_boxroot::markers::OneType for Own {}
//~^ E0200 the trait `OneType` requires an `unsafe impl` declaration

fn is_one_type<T: ocaml_boxroot::markers::OneType>() {}

/// A macro may expand to another type than the part's.
fn by_another_part() {
    is_one_type::<ocaml_boxroot::macro_support::Only<'_, Wrapped, OCamlFloat>>();
    //~^ E0277 constructor number 0 of `Wrapped` is not declared with the parts `(OCamlFloat,)`
}

/// A list is one type, whatever its elements are.
fn list(lock: &mut DomainLock, list: Boxroot<OCamlList<OCamlAny>>) {
    let _ = single::<OCamlList<OCamlAny>>(lock, list);
}

//# obj_as_a_type_variable
// The marker that bindings generate for `Obj.t` cannot stand for a type variable, because some of
// its values may be floats.

// As bindings generate them for `Obj.t` and for `type 'a t = T of Obj.t [@@unboxed]`.
#[derive(Debug)]
pub struct OCamlObj(std::convert::Infallible, std::marker::PhantomData<()>);

#[derive(Debug)]
pub struct OCamlT<A>(std::convert::Infallible, std::marker::PhantomData<((A, fn(A) -> A),)>);

fn any(lock: &mut DomainLock, any: Boxroot<OCamlObj>) {
    let _ = single(lock, any); //~ E0277 `OCamlObj` cannot stand for an OCaml type variable
}

fn unboxed(lock: &mut DomainLock, any: Boxroot<OCamlT<bool>>) {
    let _ = single(lock, any); //~ E0277 `OCamlT<bool>` cannot stand for an OCaml type variable
}

/// A list is one type, whatever its elements are.
fn list(lock: &mut DomainLock, list: Boxroot<OCamlList<OCamlObj>>) {
    let _ = single(lock, list);
}

//# forms_by_hand
// Forms that OCaml does not have. A part that the block does not have, two parts with one number,
// and a part without a type.
bound_type! { pub record Beyond { 1 a: OCamlInt } }
//~^ E0277 `(OCamlInt,)` has no type number 1
bound_type! { pub record Twice { 0 a: OCamlInt, 0 b: OCamlString } }
//~^ E0271 expected `OCamlString`, found `OCamlInt`
ocaml_items! {
    [] pub Less [] constructors { &[(0, Constructor::Block(0, 2))] } float [] unboxed false
    parts [(0 [] OCamlInt)]
}
const LESS: Field<Less, OCamlInt, false> = field::<_, _, 0, _, false>("");
//~^ E0080 has_parts::<M, T, 0>(T::COUNT)

// More parts than there is stack space for.
ocaml_items! { //~ E0080 a record or constructor has more than 256 parts
    [] pub Large [] constructors { &[(0, Constructor::Block(0, 257))] } float [] unboxed false
    parts [(0 [] OCamlInt)]
}
const _: () = <Large as Declared>::CHECKED;

// Two constructors with the same form, a constructor with the tag of another kind of block, and a
// record that has other constructors.
bound_type! { pub variant Same { A block 0 (0 a: OCamlInt), B block 0 (0 a: OCamlString) } }
//~^ E0080 two constructors have the same name
const _: () = <Same as Declared>::CHECKED;
bound_type! { pub variant Closure { A block 247 (0 a: OCamlInt) } }
//~^ E0080 assertion failed: match this {
const _: () = <Closure as Declared>::CHECKED;
ocaml_items! { //~ E0080 assertion failed: match this {
    [] pub Two []
    constructors { &[(0, Constructor::Unboxed), (1, Constructor::Constant(0))] }
    float [] unboxed false
    parts [(0 [] OCamlInt)]
}
const _: () = <Two as Declared>::CHECKED;

// An unboxed type that is declared as boxed.
ocaml_items! {
    //~^ E0080 assertion failed: is_unboxed == matches!(constructors, [(_, Constructor::Unboxed)])
    [] pub Hidden [] constructors { &[(0, Constructor::Unboxed)] } float [] unboxed false
    parts [(0 [] OCamlInt)]
}
const _: () = <Hidden as Declared>::CHECKED;

// Such a type cannot stand for a type variable either, because its declaration is refused.
ocaml_items! {
    //~^ E0080 assertion failed: is_unboxed == matches!(constructors, [(_, Constructor::Unboxed)])
    [] pub Any [A] constructors { &[(0, Constructor::Unboxed)] } float [] unboxed false
    parts [(0 [A] OCamlAny)]
}
bound_type! { pub unboxed Around<A> { 0 any: A } is_float false }
bound_type! { pub abstract Perhaps<A> }
const _: () = <Perhaps<Around<Any<OCamlInt>>> as OneType>::CHECKED;

//# fields_of_another_form
// A field must belong to a record, and must be flat if the record is.
ocaml_type! {
    struct Flat { number: OCamlFloat }
    enum Variant { Text(OCamlString), Nothing }
    unboxed struct Unboxed { text: OCamlString }
}

const FLAT: Field<Flat, OCamlFloat, false> = field::<_, _, 0, _, false>("");
//~^ E0080 is_record::<M>() && FLAT == is_flat::<M>()
const VARIANT: Field<Variant, OCamlString, false> = field::<_, _, 0, _, false>("");
//~^ E0080 is_record::<M>() && FLAT == is_flat::<M>()
const UNBOXED: Field<Unboxed, OCamlString, false> = field::<_, _, 0, _, false>("");
//~^ E0080 is_record::<M>() && FLAT == is_flat::<M>()

//# parts_by_hand
// Only unsafe code can define the values of a marker.
ocaml_type! {
    struct Marker { text: OCamlString }
}

enum Mine {}

impl Declared for Mine { //~ E0200 Declared` requires an `unsafe impl` declaration
    const CONSTRUCTORS: Constructors = &[(0, Constructor::Block(0, 1))];
    const CHECKED: () = check(Self::CONSTRUCTORS, &[0], false);
}

impl HasParts<0, (OCamlInt,)> for Marker {}
//~^ E0200 HasParts<0, (OCamlInt,)>` requires an `unsafe impl` declaration

//# parts_of_a_type
// The inner macros cannot be called alone: here they declare the type a second time. Both
// declarations are on one line, because compilers differ in which of them they report.
ocaml_type! { struct Marker { text: OCamlString } } ocaml_items! {
    //~^ E0428 the name `Marker` is defined multiple times
    //~| E0119 conflicting implementations of trait `Debug` for type `Marker`
    //~| E0119 conflicting implementations of trait `OneType` for type `Marker`
    //~| E0119 Declared` for type `Marker`
    //~| E0283 multiple `impl`s satisfying `Marker: ocaml_boxroot::macro_support::HasParts<0, _>`
    [] pub Marker [] constructors { &[(0, Constructor::Block(0, 1))] } float [] unboxed false
    parts [(0 [] OCamlInt)]
}

//# parts_declared_twice
// A constructor with two sets of types would change one type into another.
ocaml_items! { //~ E0080 a constructor is declared twice
    [] pub Marker [] constructors { &[(0, Constructor::Block(0, 1))] } float [] unboxed false
    parts [(0 [] OCamlInt) (0 [] OCamlString)] public []
}

fn changed(lock: &mut DomainLock) -> Option<String> {
    let marker = Numbered::<Marker, 0>(std::marker::PhantomData);
    let (made, lock) = make::<_, _, (OCamlInt,), 0, 1>(marker, &["n"], (&7,), lock).ok()?;
    let parts = take::<_, (OCamlString,), (String,), 0>(&open(made), &["text"], lock)?;
    Some(parts.ok()?.0)
}

//# numbers_of_parts_by_macros
// A procedural macro may expand to another number each time.
ocaml_items! {
    [] pub Marker [] constructors { &[(0, Constructor::Block(0, 1))] } float [] unboxed false
    parts [({ next!() } [] OCamlInt)] //~ ERROR no rules expected
}
ocaml_items! {
    [] pub Unboxed [] constructors { &[(0, Constructor::Unboxed)] } float [] unboxed { next!() }
    //~^ ERROR no rules expected
    parts [(0 [] OCamlInt)]
}

//# parts_of_another_type
// Safe code can only use the inner functions with the types and the form of the marker's
// declaration.
ocaml_type! {
    struct Marker { text: OCamlString }
    struct Flat { number: OCamlFloat }
    enum Variant { Text(OCamlString), Number(OCamlInt) }
    struct Named for Name { name: OCamlString }
}

struct Name {
    name: String,
}

fn wrong<'l>(marker: Value<'l, Marker>, variant: Value<'l, Variant>, lock: &'l DomainLock) {
    let _ = take::<_, (OCamlInt,), (i64,), 0>(&open(marker), &["text"], lock);
    //~^ E0277 constructor number 0 of `Marker` is not declared with the parts `(OCamlInt,)`
    let variant = open(variant);
    let _ = take::<_, (OCamlString,), (String,), 1>(&variant, &["text"], lock);
    //~^ E0277 constructor number 1 of `Variant` is not declared with the parts `(OCamlString,)`
    let _ = take::<_, (OCamlInt,), (String,), 1>(&variant, &["text"], lock);
    //~^ E0277 cannot convert the OCaml type `OCamlInt` to `String`
}

fn make_wrong(lock: &mut DomainLock) {
    let _ = make(Numbered::<Named, 0>(std::marker::PhantomData), &["name"], (&1,), lock);
    //~^ E0277 cannot convert `{integer}` to the OCaml type `OCamlString`
    let _ = make(Numbered::<Variant, 1>(std::marker::PhantomData), &["text"], (&1,), lock);
    //~^ E0277 only OCaml can make values of `Variant`
}

//# private_value_by_hand
// Only OCaml makes values of private types.
struct Index {
    #[allow(dead_code)]
    n: isize,
}

bound_type! { pub private record OCamlIndex for Index { 0 n: OCamlInt } }

fn index(lock: &mut DomainLock, n: isize) -> Boxroot<OCamlIndex> {
    let value = make(Numbered::<OCamlIndex, 0>(std::marker::PhantomData), &["n"], (&n,), lock);
    //~^ E0277 only OCaml can make values of `OCamlIndex`
    let value = value.unwrap();
    Boxroot::new(value.1, value.0)
}

//# constructors_of_one_form
// Two constructors of which a value could be both: the first field of a block may be the hash of
// the other constructor.
bound_type! { //~ E0080 two constructors have the same form
    pub variant Both {
        A block 0 (0 a0: OCamlInt, 1 a1: OCamlString),
        B tagged 5 (0 a0: OCamlString),
    }
}
const _: () = <Both as Declared>::CHECKED;
bound_type! { //~ E0080 two constructors have the same form
    pub variant BothToo { B tagged 5 (0 a0: OCamlInt), A block 0 (0 a0: OCamlInt, 1 a1: OCamlInt) }
}
const _: () = <BothToo as Declared>::CHECKED;

// OCaml's integers have one bit less, so both numbers would be 0.
ocaml_items! { //~ E0080 a constructor's number is out of range for OCaml's int
    [] pub Zero []
    constructors { &[(0, Constructor::Constant(0)), (1, Constructor::Constant(isize::MIN))] }
    float [] unboxed false parts []
}
const _: () = <Zero as Declared>::CHECKED;
ocaml_items! { //~ E0080 a constructor's number is out of range for OCaml's int
    [] pub Hash []
    constructors { &[(0, Constructor::Tagged(0, 1)), (1, Constructor::Tagged(isize::MIN, 1))] }
    float [] unboxed false
    parts [(0 [] OCamlInt) (1 [] OCamlString)]
}
const _: () = <Hash as Declared>::CHECKED;
