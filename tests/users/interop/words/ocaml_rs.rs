use ocaml::{FromValue, Int, List, Runtime, Value};

ocaml::import! {
    fn count_words(text: &str) -> Value;
    fn stress();
}

/// How often each word occurs. Call it on the thread that started OCaml, or in a call from OCaml.
pub fn words(gc: &Runtime, text: &str) -> Result<Vec<(String, Int)>, ocaml::Error> {
    // SAFETY: the lock is held, as `gc` says; these are the types of the functions in OCaml.
    let counts = unsafe {
        let counts = count_words(gc, text)?;
        stress(gc)?;
        counts
    };
    Ok(List::<(String, Int)>::from_value(counts).into_vec()) // not checked: it must be such a list
}
