//! Prints `ocaml-boxroot-sys/src/bindings.rs`, made from `boxroot.h`. Needs libclang.
//!
//! ```text
//! cargo run -p boxroot-bindgen -- "$(ocamlopt -where)" > ocaml-boxroot-sys/src/bindings.rs
//! ```

use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    let Some(ocaml) = std::env::args().nth(1) else {
        eprintln!("usage: boxroot-bindgen \"$(ocamlopt -where)\" > bindings.rs");
        return ExitCode::FAILURE;
    };
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boxroot-c/include");
    let bindings = bindgen::Builder::default()
        .header(include.join("boxroot.h").to_string_lossy())
        .clang_args([format!("-I{}", include.display()), format!("-I{ocaml}")])
        .use_core()
        .generate_inline_functions(true)
        .default_macro_constant_type(bindgen::MacroTypeVariation::Unsigned)
        .allowlist_function("boxroot_.*")
        .allowlist_function("bxr_(create|delete|modify)_slow|bxr_domain_refile|bxr_domain_attach|bxr_domain_trim_empty|bxr_lock_state")
        .allowlist_type("boxroot_private|boxroot_state|boxroot_stats|bxr_lock|bxr_pool_head|bxr_domain_head")
        .allowlist_var("BXR_POOL_LOG")
        .blocklist_type("value|intnat|boxroot")
        .raw_line("use crate::Value as value;\n\n/// NULL is `None`.\npub type boxroot = Option<crate::BoxRoot>;")
        .prepend_enum_name(false)
        .generate_comments(false)
        .disable_header_comment()
        .raw_line("// Generated from boxroot.h by boxroot-bindgen; `make bindings` regenerates it.")
        .generate();
    match bindings {
        Ok(bindings) => {
            print!("{bindings}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("boxroot-bindgen: {error}");
            ExitCode::FAILURE
        }
    }
}
