use ocaml_boxroot::{ocaml_functions, Boxroot, CallError, DomainLock};
use ocaml_boxroot::{OCamlInt, OCamlList, OCamlString};

type Counts = OCamlList<(OCamlString, OCamlInt)>;

ocaml_functions! {
    // SAFETY: these are the types of the functions in OCaml.
    unsafe {
        fn count_words(text: OCamlString) -> Counts = "count_words";
        fn stress() = "stress";
    }
}

/// How often each word occurs. Call it on any Rust thread that does not hold the lock.
pub fn words(text: &str) -> Result<Vec<(String, i64)>, CallError> {
    DomainLock::attach(|lock| {
        let counts: Boxroot<Counts> = count_words(lock, text)?; // may go to other threads
        stress(lock)?; // the collector moves the list
        Ok(counts.to_rust(lock)?)
    })
}
