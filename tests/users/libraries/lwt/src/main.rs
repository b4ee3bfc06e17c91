use ocaml_boxroot::{DomainLock, Function, OCamlInt, Runtime};

ocaml_boxroot::include_bindings!(); // mod lwt, mod lwt_main, mod lwt_unix

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let sleeping = lwt_unix::sleep(lock, 0.01)?;
        let answer = Function::<((),), OCamlInt>::from_rust(lock, |_, _| Ok(42))?;
        let promise = lwt::map(lock, &answer, &sleeping)?;
        let answer: i64 = lwt_main::run(lock, &promise)?.to_rust(lock)?;
        assert_eq!(answer, 42);
        println!("the promise is {answer}");
        Ok(())
    })
}
