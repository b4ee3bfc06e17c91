//! Compiles OCaml modules and a runtime into one object, for Rust programs that embed OCaml.
//! Also used by the build script of the workspace's root package.

use crate::find_ocaml::OCaml;
use std::{env, error::Error, fs, path::Path, path::PathBuf, process::Command};

/// Runs `ocamlopt -output-complete-obj` on the sources, in this order, and returns the object; it
/// needs [`native_c_libraries`]. A source is a file and the name to compile it under; it is
/// compiled from a copy in `folder`, because ocamlopt leaves its files beside the sources. Or it is
/// no file and the name of a library of OCaml's; without any, `unix` and `threads` come first.
pub fn compile(
    ocaml: &OCaml,
    folder: &Path,
    flags: &[&str],
    sources: &[(PathBuf, &str)],
) -> Result<PathBuf, Box<dyn Error>> {
    let ocamlopt = ocamlopt(ocaml)?;
    fs::create_dir_all(folder)?;
    for (source, name) in sources.iter().filter(|(source, _)| !source.as_os_str().is_empty()) {
        println!("cargo:rerun-if-changed={}", source.display());
        fs::copy(source, folder.join(name)).map_err(|e| format!("{}: {e}", source.display()))?;
    }
    let has_libraries = sources.iter().any(|(source, _)| source.as_os_str().is_empty());
    let libraries: &[&str] = if has_libraries { &[] } else { &["unix.cmxa", "threads.cmxa"] };
    let object = folder.join("complete_object.o");
    // On OCaml 4, `unix` and `threads` are in the standard folder; on OCaml 5 in their own.
    let output = Command::new(&ocamlopt[0])
        .args(&ocamlopt[1..])
        .current_dir(folder)
        .args(["-g", "-linkall", "-output-complete-obj", "-o"])
        .arg(&object)
        .args(["-I", "+unix", "-I", "+threads", "-I", &c_library_folder()?])
        .args(flags)
        .args(libraries)
        .args(sources.iter().map(|(_, name)| name))
        .output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed:\n{}", ocamlopt.join(" "), message.trim()).into());
    }
    Ok(object)
}

/// [`compile`]s, and links the result into one kind of target: `tests`, `bins`, ...
#[allow(dead_code)] // ocaml-boxroot-sys itself makes a library of the object
pub fn link_into(
    kind: &str,
    ocaml: &OCaml,
    folder: &Path,
    flags: &[&str],
    sources: &[(PathBuf, &str)],
) -> Result<(), Box<dyn Error>> {
    let object = compile(ocaml, folder, flags, sources)?;
    println!("cargo::rustc-link-arg-{kind}={}", object.display());
    for library in native_c_libraries(ocaml)? {
        println!("cargo::rustc-link-arg-{kind}=-l{library}");
    }
    Ok(())
}

fn ocamlopt(ocaml: &OCaml) -> Result<&[String], Box<dyn Error>> {
    Ok(ocaml.ocamlopt.as_ref().ok_or(
        "an OCaml compiler is needed here, not only its headers: put ocamlopt on PATH, or set OCAMLOPT",
    )?)
}

/// The names of the C libraries that OCaml's runtime needs.
pub fn native_c_libraries(ocaml: &OCaml) -> Result<Vec<String>, Box<dyn Error>> {
    let ocamlopt = ocamlopt(ocaml)?;
    let output = Command::new(&ocamlopt[0])
        .args(&ocamlopt[1..])
        .args(["-config-var", "native_c_libraries"])
        .output()?;
    let flags = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(flags.split_whitespace().filter_map(|f| f.strip_prefix("-l")).map(String::from).collect())
}

/// The folder of the C library's archives. On OCaml 4, `threads.cmxa` asks for `-lpthread`,
/// and a partial link does not look there by itself.
fn c_library_folder() -> Result<String, Box<dyn Error>> {
    let compiler = cc::Build::new().try_get_compiler()?;
    let output = compiler.to_command().arg("-print-file-name=libpthread.a").output()?;
    let file = String::from_utf8_lossy(&output.stdout).trim().to_string();
    Ok(Path::new(&file).parent().unwrap_or(Path::new(".")).display().to_string())
}

/// The build script's own folder for what it makes.
pub fn out_dir() -> Result<PathBuf, Box<dyn Error>> {
    Ok(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run this through cargo")?.into())
}
