use ocaml_interop::{ocaml, BoxRoot, OCaml, OCamlInt, OCamlList, OCamlRuntime, ToOCaml};

ocaml! {
    fn count_words(text: String) -> OCamlList<(String, OCamlInt)>;
    fn stress(unit: ());
}

/// How often each word occurs. Panics if OCaml raises.
pub fn words(text: &str) -> Vec<(String, i64)> {
    OCamlRuntime::with_domain_lock(|cr| {
        let text: BoxRoot<String> = text.to_boxroot(cr);
        let counts = count_words(cr, &text);
        stress(cr, &OCaml::unit());
        counts.to_rust(cr)
    })
}
