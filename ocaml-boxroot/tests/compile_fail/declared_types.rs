use ocaml_boxroot::{DomainLock, OCamlFloat, OCamlInt, OCamlString, RootRef, ocaml_type};

//# names_in_a_type
// Two constructors, or two fields, with one name.
ocaml_type! { enum Constructors { A(OCamlInt), A(OCamlString) } }
//~^ E0080 two constructors have the same name
ocaml_type! { enum Labels { A { a: OCamlInt, a: OCamlString } } }
//~^ E0080 two fields have the same name
ocaml_type! { polymorphic enum Hashes { A(OCamlInt), r#A(OCamlString) } }
//~^ E0080 two constructors have the same name
//~| E0080 two constructors have the same hash
ocaml_type! { enum RawConstructors { B(OCamlInt), r#B(OCamlString) } }
//~^ E0080 two constructors have the same name
ocaml_type! { struct Fields { a: OCamlInt, a: OCamlString } }
//~^ E0592 duplicate definitions with name `a`
//~| E0080 two fields have the same name
//~| E0308 expected `IsFloat<OCamlInt>`, found `IsFloat<OCamlString>`
//~| E0271 expected `OCamlString`, found `OCamlInt`

//# constructors_of_one_hash
// OCaml tells the constructors of a polymorphic variant apart by their hashes.
#[allow(non_camel_case_types)]
enum Variant {
    azdwbie(String),
    c7diagq(i64),
}

ocaml_type! { //~ E0080 two constructors have the same hash
    polymorphic enum OCamlVariant for Variant { azdwbie(OCamlString), c7diagq(OCamlInt) }
}

//# variant_that_is_not_whole
// A declaration must have all constructors and fields of the Rust type, and no others.
enum Shape {
    Nothing,
    Square(i32),
}

ocaml_type! { //~ E0004 non-exhaustive patterns: `&Shape::Square(_)` not covered
    enum OCamlShape for Shape { Nothing }
}

ocaml_type! {
    struct OCamlSize for Size { width: OCamlInt, height: OCamlInt }
    //~^ E0609 no field `height` on type `&Size`
    //~| E0560 struct `Size` has no field named `height`
}

struct Size {
    width: i32,
}

//# field_of_another_record
// A field belongs to its record, and has its type.
ocaml_type! {
    struct City { name: OCamlString, height: OCamlInt }
    struct Person { age: OCamlInt }
}

fn wrong(lock: &DomainLock, person: &RootRef<Person>) -> String {
    person.get(lock).at(City::name).to_string_lossy()
    //~^ E0308 expected `Field<Person, _, false>`, found `Field<City, OCamlString, false>`
}

//# field_of_a_record_of_floats
// The fields of a record of floats are numbers, not values.
ocaml_type! {
    struct Point { x: OCamlFloat, y: OCamlFloat }
}

fn wrong(lock: &DomainLock, point: &RootRef<Point>) -> f64 {
    point.get(lock).at(Point::x).to_float() //~ E0308 expected `false`, found `true`
}
