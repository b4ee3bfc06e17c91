use ocaml_boxroot::markers::Labelled;
use ocaml_boxroot::{
    Boxroot, DomainLock, Function, OCamlFloat, OCamlInt, OCamlString, Runtime, ToOCaml,
};
use std::error::Error;

ocaml_boxroot::include_bindings!(); // mod unnamed

type Visit = Function<(OCamlString, OCamlInt), OCamlString>;

fn functions_with_labels(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let visit =
        Visit::from_rust_converting(lock, |_, key: String, data: i64| Ok(format!("{key}{data}")))?;
    assert_eq!(unnamed::fold(lock, [("a", 1), ("b", 2)], &visit)?, "a1,b2");
    assert_eq!(unnamed::partial(lock, &visit)?, "b2c2");

    let separated: Boxroot<Visit> = unnamed::separated(lock)?.expect("a function");
    assert_eq!(separated.call_converting::<String>(lock, "k", 7)?, "k=7");
    assert_eq!(unnamed::fold(lock, [("a", 1)], separated)?, "a=1");

    let unnamed::Counter { next, name } = unnamed::counter(lock, "n")?;
    assert_eq!(next.call_converting::<i64>(lock, None::<i64>, ())?, 1);
    assert_eq!(next.call_converting::<i64>(lock, Some(5), ())?, 6);
    let mine = unnamed::Counter { next, name: name + "m" };
    assert_eq!(unnamed::twice(lock, &mine)?, "nm 7 17");

    type Inner = Function<(OCamlInt, OCamlString), ()>;
    type Labels = (ocaml_labels::Key, ocaml_labels::Data);
    let iteri = Function::<(Labelled<Labels, Inner>,), ()>::from_rust_converting(
        lock,
        |lock, f: Boxroot<Inner>| {
            f.call_converting::<()>(lock, 1, "a")?;
            Ok(f.call_converting::<()>(lock, 2, "b")?)
        },
    )?;
    assert_eq!(unnamed::each(lock, &iteri)?, "1a 2b ");
    Ok(())
}

fn rows_with_type_variables(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    use unnamed::{AtResult, FirstArg0, OfListResult, ParserVariant, SidesArg0};
    let found = unnamed::at::<OCamlFloat>(lock, [0.5, 1.5], 1)?;
    assert!(matches!(found, AtResult::Ok(x) if x.to_rust::<f64>(lock)? == 1.5));
    let found = unnamed::at_root::<OCamlInt>(lock, [1], 7)?;
    assert_eq!(found.to_rust::<AtResult<i64>>(lock)?, AtResult::Invalid("7".to_string()));

    let pairs = [("a", 1), ("b", 2)];
    let OfListResult::Ok(table) = unnamed::of_list::<OCamlString, OCamlInt>(lock, pairs)? else {
        panic!("each key is there once");
    };
    let found = unnamed::get::<OCamlString, OCamlInt>(lock, &table, "b")?.expect("a value");
    assert_eq!(found.to_rust::<i64>(lock)?, 2);
    let OfListResult::Twice((key, values)) =
        unnamed::of_list::<OCamlFloat, OCamlInt>(lock, [(2.5, 1), (2.5, 2)])?
    else {
        panic!("a key is there twice");
    };
    assert_eq!((key.to_rust::<f64>(lock)?, values.len()), (2.5, 2));

    let parser =
        unnamed::OCamlParser::<OCamlInt>::from_rust_converting(lock, |_, text: String| {
            Ok(text.parse::<i64>().map_or(ParserVariant::Error(text), ParserVariant::Ok))
        })?;
    assert_eq!(unnamed::parse(lock, &parser, "41")?, 42);
    assert_eq!(unnamed::parse(lock, &parser, "four")?, 4);

    let side = Function::<(unnamed::OCamlSidesArg0<OCamlInt, OCamlFloat>,), OCamlString>::from_rust_converting(
        lock,
        |lock, side: SidesArg0<OCamlInt, OCamlFloat>| {
            Ok(match side {
                SidesArg0::Both((a, b)) => format!("{}{}", a.to_rust::<i64>(lock)?, b.to_rust::<f64>(lock)?),
                SidesArg0::Left(_) => "<".to_string(),
                SidesArg0::Right(b) => format!(">{}", b.to_rust::<f64>(lock)?),
            })
        },
    )?;
    assert_eq!(unnamed::sides::<OCamlInt, OCamlFloat>(lock, &side, 1, 2.5)?, "12.5<>2.5");

    let one: Boxroot<OCamlString> = "one".to_ocaml(lock)?;
    let first = unnamed::first(lock, &FirstArg0::One(one))?.expect("a value");
    assert_eq!(first.to_rust::<String>(lock)?, "one");
    let first = unnamed::first(lock, &FirstArg0::Table(table))?.expect("a value");
    assert!(["a", "b"].contains(&&*first.to_rust::<String>(lock)?));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(functions_with_labels)?;
    DomainLock::attach(rows_with_type_variables)?;
    println!("all is right");
    Ok(())
}
