use ocaml_boxroot::markers::Labelled;
use ocaml_boxroot::{Boxroot, DomainLock, Function, OCamlInt, OCamlString, Runtime};
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

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(functions_with_labels)?;
    println!("all is right");
    Ok(())
}
