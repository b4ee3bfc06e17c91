//! Traits that generated types derive, and attributes from the build script.

use super::support::*;

const TYPES: &str = "
    type size = Small | Large
    type colour = [ `Red | `Blue ]
    type order = { customer : string; size : size option; rows : (int * bool) list }
    type price = { price : float }
    type priced = { order : order; at : price }
    type tree = Leaf | Node of tree * order * tree
    type weighed = Light | Heavy of weighed * priced
    type left = { right : right option } and right = Right of left | Price of price
    type 'a box = { content : 'a }
    type boxed = { text : string box }
    type weight = { weight : float box }
    type id = Id of string [@@unboxed]
    type counter = { mutable count : int }
    type holder = { counter : counter }
    exception Refused of { by : string; size : size }
    exception Costly of price";

/// A type implements `Eq` and `Hash` if its parts do, both in the bindings and in Rust.
#[test]
fn traits_by_default() {
    let modules = Modules::new("traits_by_default", &[("x.ml", TYPES)]);
    let derives = |traits: &str, item: &str| format!("#[derive({traits})] pub {item}");
    let all = "Clone, Debug, Eq, Hash, PartialEq";
    modules.bind("module x").has(&[
        &derives("Clone, Copy, Debug, Eq, Hash, PartialEq", "enum Size"),
        &derives("Clone, Copy, Debug, Eq, Hash, PartialEq", "enum Colour"),
        &derives(all, "struct Order"),
        &derives("Clone, Debug, PartialEq", "struct Price"),
        &derives("Clone, Debug, PartialEq", "struct Priced"),
        &derives(all, "enum Tree"),
        &derives("Clone, Debug, PartialEq", "enum Weighed"),
        &derives("Clone, Debug, PartialEq", "struct Left"),
        &derives("Clone, Debug, PartialEq", "enum Right"),
        &derives(all, "struct Box<RA>"),
        &derives(all, "struct Boxed"),
        &derives("Clone, Debug, PartialEq", "struct Weight"),
        &derives(all, "enum Id"),
        &derives(all, "struct Counter"),
        &derives("Debug", "struct Holder"),
        &derives(all, "struct Refused"),
        &derives("Clone, Debug, PartialEq", "struct Costly"),
    ]);
    // The generator does not know whether the user's own type implements them.
    let user = "#[derive(Clone, Debug, PartialEq, Eq, Hash)] pub enum Size { Small, Large }
                ocaml_boxroot::include_bindings!();";
    let with = "module x with x.size crate::Size";
    let order = |traits: &str| derives(traits, "struct Order");
    modules.bind_in(with, user).has(&[&order("Clone, Debug, PartialEq")]);
    let asked = format!("{with} derive x.order Hash derive x.order std::cmp::Eq");
    let bindings = modules.bind_in(&asked, user);
    bindings
        .has(&[&order("Clone, Debug, PartialEq, Hash, std::cmp::Eq"), &derives(all, "enum Tree")]);
}

#[test]
fn traits_that_are_asked_for() {
    let modules = Modules::new("traits_that_are_asked_for", &[("x.ml", TYPES)]);
    let words =
        "module x derive x.size Hash derive x.size Default attribute x.size.Small #[default]
        derive x.price Copy derive x.price PartialOrd derive x.refused ::core::cmp::PartialOrd
        derive x.size PartialOrd";
    let program = "
        ocaml_boxroot::include_bindings!();
        fn both(small: x::Size, price: x::Price) -> bool {
            small == x::Size::default() && small < x::Size::Large && price < price
        }
        pub fn both_twice(small: x::Size, price: x::Price) -> bool {
            both(small, price) || both(small, price)
        }";
    modules.bind_in(words, program).has(&[
        "#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Default, PartialOrd)]
         pub enum Size { #[default] Small, Large, }",
        "#[derive(Clone, Debug, PartialEq, Copy, PartialOrd)] pub struct Price",
        "#[derive(Clone, Debug, Eq, Hash, PartialEq, ::core::cmp::PartialOrd)] pub struct Refused",
    ]);
    // The generator names the part that prevents the derive, if it knows that part.
    for (words, part, what) in [
        ("derive x.price Eq", "x.price.price", "a float"),
        ("derive x.priced std::hash::Hash", "x.priced.at", "`x.price`, which does not derive it"),
        ("derive x.weight Eq", "x.weight.weight", "a float"),
        ("derive x.holder Clone", "x.holder.counter", "a root"),
        ("derive x.order Copy", "x.order.customer", "a string or a vector"),
        ("derive x.refused Copy", "x.refused.by", "a string or a vector"),
        ("derive x.weighed Eq", "x.weighed.heavy.1", "`x.priced`, which does not derive it"),
        ("derive x.tree PartialOrd", "x.tree.node.1", "`x.order`, which does not derive it"),
    ] {
        let said = modules.try_bind(&format!("module x {words}")).unwrap_err();
        assert_says(&said, &["`derive` cannot give", &format!("in `{part}` is {what}")]);
    }
    // It also says what to do.
    for (words, remedy) in [
        ("derive x.price Eq", "a float; leave the trait out, or implement it in the crate"),
        ("derive x.order Copy", "a vector; leave the trait out"),
        ("derive x.weighed Eq", "does not derive it; `derive` it there, too"),
        (
            "derive x.holder serde::Serialize",
            "in `x.holder.counter` is a root, which is only valid in this process; \
             call `attribute(\"x.holder.counter\", \"#[serde(…)]\")`",
        ),
    ] {
        assert_says(&modules.try_bind(&format!("module x {words}")).unwrap_err(), &[remedy]);
    }
    let skipped = "derive x.holder serde::Serialize attribute x.holder.counter #[serde(skip)]";
    modules.try_bind(&format!("module x {skipped}")).unwrap();
    // In other cases, rustc's message names the trait, the type and the field.
    for (words, parts) in [
        ("derive x.order serde::Serialize", &["derive(", "serde::Serialize", "E0433"][..]),
        ("derive x.size Ord", &["`Size`", "PartialOrd", "Ord"]),
        ("derive x.size Default", &["`#[default]`", "Default"]),
    ] {
        modules.try_bind(&format!("module x {words}")).unwrap();
        let program = "ocaml_boxroot::include_bindings!();";
        let said = modules.rustc("refused.rs", program, METADATA).unwrap_err();
        assert_says(&said, parts);
    }
}

/// A derive macro of another crate sees the build script's attributes on types and their parts.
#[test]
fn traits_of_other_crates() {
    let modules = Modules::new("traits_of_other_crates", &[("x.ml", TYPES)]);
    let library = "
        extern crate proc_macro;
        use proc_macro::TokenStream;
        #[proc_macro_derive(Save, attributes(save))]
        pub fn save(item: TokenStream) -> TokenStream {
            let text = item.to_string().replace(char::is_whitespace, \"\");
            let marked = text.contains(\"#[save(all)]\") && text.contains(\"#[save(name=\\\"s\\\")]Small\");
            format!(\"impl crate::Save for Size {{ const MARKED: bool = {marked}; }}\").parse().unwrap()
        }";
    modules.rustc("save.rs", library, &["--crate-type", "proc-macro"]).unwrap();
    let words = "module x derive x.size save::Save attribute x.size #[save(all)]
        attribute x.size.small #[save(name=\"s\")]";
    modules.try_bind(words).unwrap();
    let program = "
        ocaml_boxroot::include_bindings!();
        pub trait Save { const MARKED: bool; }
        const _: () = assert!(<x::Size as Save>::MARKED);";
    let library = modules.0.join(format!("libsave{}", std::env::consts::DLL_SUFFIX));
    let library = format!("save={}", library.display());
    let options = [METADATA, &["--extern", &library]].concat();
    modules.rustc("program.rs", program, &options).unwrap();
}

#[test]
fn attributes_of_parts() {
    let modules = Modules::new(
        "attributes_of_parts",
        &[(
            "x.ml",
            "module Inner = struct type size = Small | Custom of { grams : int } | Pair of int * bool end
             type order = { note : string [@ocaml.doc \"Its note.\"]; count : int }
             type id = Id of string [@@unboxed]
             exception Refused of { by : string }
             exception Missing of string * int",
        )],
    );
    let words = "module x attribute X.Inner.size #[non_exhaustive] attribute x.inner.size #[must_use]
        attribute x.inner.size.Small #[doc=\"S[\"] attribute x.inner.size.custom.grams #[doc=\"\\\"]\"]
        attribute x.inner.size.Pair.1 #[doc=\"B\"] attribute x.order.note #[doc=\"N\"]
        attribute x.refused #[allow(unused)] attribute x.Refused.by #[doc=\"R\"] attribute x.missing.0 #[doc=\"M\"]
        attribute x.id.id.0 #[doc=\"I\"]";
    modules.bind(words).has(&[
        "PartialEq)] #[non_exhaustive] #[must_use] pub enum Size {
            #[doc=\"S[\"] Small,
            Custom { #[doc=\"\\\"]\"] grams: isize },
            Pair(isize, #[doc=\"B\"] bool),
         }",
        "pub struct Order { #[doc=\"N\"] pub note: String, pub count: isize, }",
        "#[allow(unused)] pub struct Refused { #[doc=\"R\"] pub by: String }",
        "pub struct Missing(#[doc=\"M\"] pub String, pub isize);",
        "pub enum Id { Id(#[doc=\"I\"] String), }",
    ]);
    for (words, said) in [
        ("derive x.ordre Eq", &["no generated type `x.ordre`", "There are: x.order"][..]),
        ("derive x.order.note Eq", &["no generated type `x.order.note`"]),
        (
            "attribute x.order.notes #[a]",
            &["no generated type, field or constructor `x.order.notes`", "x.order.note"],
        ),
        ("attribute x.inner.size.small.0 #[a]", &["`x.inner.size.small.0`", "There are: "]),
        ("attribute x.missing.2 #[a]", &["`x.missing.2`", "x.missing.0, x.missing.1"]),
        (
            "opaque x.order attribute x.order #[a]",
            &["no generated type, field or constructor `x.order`"],
        ),
        ("derive x.order Eq)]mod_x", &["`derive`", "not the path of a trait: Eq)]mod_x"]),
        (
            "attribute x.order #[a]mod_x;#[b]",
            &["`attribute`", "not an attribute, such as #[…]: #[a]mod_x;#[b]"],
        ),
        ("attribute x.order #![a]", &["not an attribute"]),
        ("attribute x.order #[a(\"]\")", &["not an attribute"]),
    ] {
        assert_says(&modules.try_bind(&format!("module x {words}")).unwrap_err(), said);
    }
}
