//! Generates `ocaml-boxroot-sys/src/bindings.rs` from `boxroot.h`, and prints it. Needs libclang.
//!
//! ```text
//! cargo run -p boxroot-bindgen -- "$(ocamlopt -where)" > ocaml-boxroot-sys/src/bindings.rs
//! ```

use bindgen::callbacks::{ItemInfo, ParseCallbacks};
use std::{path::Path, process::ExitCode};

/// Removes the layout's number from Rust names. Only the linker's names end in it
/// (`boxroot/names.h`).
#[derive(Debug)]
struct WithoutLayout;

impl ParseCallbacks for WithoutLayout {
    fn generated_name_override(&self, item: ItemInfo<'_>) -> Option<String> {
        Some(item.name.split_once("_abi")?.0.to_string())
    }
}

/// Adds the flavour to the linker's names.
fn of_both_flavours(bindings: &str) -> String {
    let line = |line: &str| match line.trim().strip_prefix("#[link_name = \"") {
        Some(name) => {
            let checked = name.replacen("_abi", "_checked_abi", 1).replace("\"]", "\")]");
            let plain = name.replace("\"]", "\")]");
            format!(
                "    #[cfg_attr(not(feature = \"debug-checks\"), link_name = \"{plain}\n    \
                 #[cfg_attr(feature = \"debug-checks\", link_name = \"{checked}\n"
            )
        }
        None => format!("{line}\n"),
    };
    bindings.lines().map(line).collect()
}

fn main() -> ExitCode {
    let Some(ocaml) = std::env::args().nth(1) else {
        eprintln!("usage: boxroot-bindgen \"$(ocamlopt -where)\" > bindings.rs");
        return ExitCode::FAILURE;
    };
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boxroot-c/include");
    let bindings = bindgen::Builder::default()
        .header(include.join("boxroot/host.h").to_string_lossy())
        .clang_args([format!("-I{}", include.display()), format!("-I{ocaml}")])
        .use_core()
        .generate_inline_functions(true)
        .default_macro_constant_type(bindgen::MacroTypeVariation::Unsigned)
        .allowlist_function("boxroot_.*")
        .allowlist_function("bxr_.*_slow|bxr_(domain|lock|uses?)_.*|bxr_(runtime|is)_gone|bxr_(pin|close)")
        .parse_callbacks(Box::new(WithoutLayout))
        .allowlist_type("boxroot_private|boxroot_state|bxr_lock|bxr_use")
        .allowlist_var("BXR_(POOL_LOG|HEAD_OFFSETS|HEAD_SHIFT)")
        .blocklist_type("value|intnat|boxroot")
        .raw_line("use crate::Value as value;\n\n/// NULL is `None`.\npub type boxroot = Option<crate::BoxRoot>;")
        .prepend_enum_name(false)
        .generate_comments(false)
        .disable_header_comment()
        .raw_line("// Generated from boxroot.h by boxroot-bindgen; `make lint` says how to regenerate it.")
        .generate();
    match bindings {
        Ok(bindings) => {
            // The escape means that a name is exactly the name in the object file. That is wrong if
            // C names get an underscore in object files (Mach-O).
            print!("{}", of_both_flavours(&bindings.to_string().replace(r"\u{1}", "")));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("boxroot-bindgen: {error}");
            ExitCode::FAILURE
        }
    }
}
