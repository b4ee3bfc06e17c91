//! `types.md`: the types of bindings.

use crate::hashtbl;
use crate::stock::{self, Item, OCamlCount, OCamlGuess, OCamlItem, OCamlTree, Place, Size, Tree};
use ocaml_boxroot::bigarray::OCamlArray2;
use ocaml_boxroot::markers::OCamlRef;
use ocaml_boxroot::{Boxroot, DomainLock, OCamlArray, OCamlFloat, OCamlInt, ToOCaml};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;

pub fn all(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    records(lock)?;
    fields(lock)?;
    parameters(lock)?;
    maps(lock)?;
    library(lock)?;
    references(lock)?;
    bigarrays(lock)?;
    mutable(lock)?;
    array(lock)?;
    returned(lock)?;
    errors(lock)
}

fn tea() -> Item {
    Item { name: "tea".into(), size: Size::Custom { grams: 400 }, price: 8.0, tags: vec![] }
}

fn records(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let tea = Item { name: "tea".into(), size: Size::Small, price: 8.0, tags: vec!["hot".into()] };
    let cheaper: Item = stock::cheaper(lock, 25.0, &tea)?;
    assert_eq!(cheaper, Item { price: 6.0, ..tea.clone() });
    assert_eq!(stock::grams(lock, &Size::Custom { grams: 400 })?, 400);
    assert_eq!(stock::place(lock, &tea)?, Place::Shelf(2));
    Ok(())
}

fn fields(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    // The same function with a root as its result: the record stays in OCaml.
    let cheaper: Boxroot<OCamlItem> = stock::cheaper_root(lock, 25.0, tea())?;
    let price: f64 = cheaper.read(lock, OCamlItem::price)?;
    assert_eq!(price, 6.0);
    let name = cheaper.get(lock).at(OCamlItem::name); // a Value<OCamlString>: no copy
    assert_eq!(name.as_str()?, "tea");
    Ok(())
}

fn parameters(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let leaf: Boxroot<OCamlTree<OCamlInt>> = Tree::<i64>::Leaf.to_ocaml(lock)?;
    let one = stock::insert_root(lock, 1, &leaf)?;
    let tree: Tree<i64> = one.to_rust(lock)?;
    assert_eq!(tree, Tree::Node(Box::new(Tree::Leaf), 1, Box::new(Tree::Leaf)));
    Ok(())
}

fn maps(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let prices = stock::by_name(lock, [tea()])?; // a root of the map
    let mut prices: BTreeMap<String, f64> = prices.to_rust(lock)?;
    assert_eq!(prices["tea"], 8.0);

    prices.insert("salt".into(), 1.5);
    let names = stock::names::of_seq(lock, &prices)?; // OCaml compares the keys, and makes the map
    assert_eq!(stock::lowest(lock, &names)?, 1.5);
    Ok(())
}

fn library(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let index = stock::index(lock, [tea()])?; // a root of the table
    let tea: Boxroot<OCamlItem> = hashtbl::find(lock, &index, "tea")?;
    assert_eq!(tea.to_rust::<Item>(lock)?.price, 8.0);

    let all = hashtbl::to_seq(lock, &index)?;
    let all: HashMap<String, Item> = all.iter(lock).collect::<Result<_, _>>()?;
    let copy = hashtbl::of_seq(lock, &all)?; // another table
    hashtbl::replace(lock, &copy, "salt", Item { name: "salt".into(), ..all["tea"].clone() })?;
    assert_eq!((hashtbl::length(lock, &index)?, hashtbl::length(lock, &copy)?), (1, 2));
    Ok(())
}

fn references(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let sold: Boxroot<OCamlRef<OCamlInt>> = stock::sold(lock)?;
    stock::sell(lock, 3)?;
    let n: i64 = sold.read(lock, OCamlRef::contents)?; // OCaml's !sold
    sold.assign(lock, n + 1)?; // OCaml's sold := n + 1
    assert_eq!(sold.get(lock).at(OCamlRef::contents).to_int(), 4);

    let catalogue = stock::catalogue(lock)?;
    assert!(catalogue.get(lock).forced().is_none());
    stock::print_catalogue(lock)?; // forces it
    let text = catalogue.get(lock).forced().map(|text| text.to_string_lossy());
    assert_eq!(text.as_deref(), Some("salt, tea"));
    Ok(())
}

fn bigarrays(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let table: Boxroot<OCamlArray2<f64>> = stock::price_table(lock, [2.0, 3.0])?;
    assert_eq!(table.get(lock).dimensions(), [2, 2]);
    table.get(lock).cells()[3].set(5.5); // OCaml's table.{1, 1}
    assert_eq!(stock::sum_of_row(lock, 1, &table)?, 8.5);
    Ok(())
}

fn mutable(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let count: Boxroot<OCamlCount> = stock::count(lock, "tea", 5)?;
    stock::take(lock, 2, &count)?; // OCaml changes the record
    let left: i64 = count.read(lock, OCamlCount::left)?;
    assert_eq!(left, 3);
    Ok(())
}

fn array(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let prices: Boxroot<OCamlArray<OCamlFloat>> = [1.5, 4.0].to_ocaml(lock)?;
    stock::double(lock, &prices)?; // with [1.5, 4.0] as the argument, the result would be lost
    assert_eq!(prices.to_rust::<Vec<f64>>(lock)?, [3.0, 8.0]);
    Ok(())
}

fn returned(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let guess = OCamlGuess::from_rust(lock, |_, _name| {
        Ok(Size::Custom { grams: 300 }) // OCaml's Custom { grams = 300 }
    })?;
    assert_eq!(stock::weigh(lock, &guess, "salt")?, 300);
    Ok(())
}

fn errors(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    // OCaml's int has 63 bits.
    let heavy = Item { size: Size::Custom { grams: isize::MAX }, ..tea() };
    let error = stock::place(lock, &heavy).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`size.Custom.grams` of argument `item` of `place`: \
         number out of range for the target type"
    );
    Ok(())
}
