use ocaml_boxroot::{Boxroot, DomainLock, Error, Function, OCamlString, Runtime};

fn main() -> Result<(), Error> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        // SAFETY: words.ml registers a function of this type.
        let counter = unsafe {
            lock.named::<Function<(OCamlString,), Function<((),), OCamlString>>>("counter")
        }
        .expect("words.ml is linked");
        let word: Boxroot<OCamlString> = ocaml_boxroot::ToOCaml::to_ocaml("called", lock)?;
        let unit: Boxroot<()> = ocaml_boxroot::ToOCaml::to_ocaml(&(), lock)?;
        let mut closures = Vec::new();
        for _ in 0..1000 {
            let (closure, lock) = counter.call(lock, &word).expect("no exception");
            closures.push(Boxroot::try_new(lock, closure)?);
        }
        for call in 1..=3 {
            for closure in &closures {
                let (text, _) = closure.call(lock, &unit).expect("no exception");
                assert_eq!(text.to_string_lossy(), format!("called {call}"));
            }
        }
        println!("three calls of each closure");
        Ok(())
    })?
}
