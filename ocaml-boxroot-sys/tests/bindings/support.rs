//! Support for the tests: a program that generates bindings, OCaml modules, and packages for cargo.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub type Said = Result<String, String>;

pub fn said(output: Output) -> Said {
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}

pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A package with the crates of this project.
pub fn package(name: &str, dependencies: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = folder(name);
    let this_crate = env!("CARGO_MANIFEST_DIR");
    let manifest = format!(
        "[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n{}",
        dependencies.replace("CRATE", this_crate)
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(Path::new(this_crate).join("tests/own_program/Cargo.lock"), folder.join("Cargo.lock"))
        .unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    for (file, text) in files {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

pub const BUILD: &str =
    "ocaml-boxroot-sys = { path = 'CRATE', default-features = false, features = ['build'] }\n";

/// The dependencies of a program that starts OCaml.
pub fn build_and_run() -> String {
    let run = "ocaml-boxroot = { path = 'CRATE/../ocaml-boxroot' }\n";
    format!("[build-dependencies]\n{BUILD}[dependencies]\n{run}")
}

pub fn cargo(package: &Path, arguments: &[&str]) -> Said {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).current_dir(package).env_remove("OUT_DIR").arg("--target-dir");
    cargo.arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings/target"));
    said(cargo.output().unwrap())
}

/// A program that generates bindings like a build script, and the crate that they need.
pub struct Maker {
    pub program: PathBuf,
    /// The folder with the generator of bindings, which is compiled once.
    generator: PathBuf,
    library: PathBuf,
    dependencies: PathBuf,
}

/// Compiles the program. Its arguments are names of methods of `Bindings`, each with the method's
/// arguments.
pub fn maker() -> &'static Maker {
    static MAKER: OnceLock<Maker> = OnceLock::new();
    MAKER.get_or_init(|| {
        let main = r#"
            use ocaml_boxroot_sys::build::{Bindings, Error};
            fn main() -> Result<(), Error> {
                let mut bindings = Bindings::new().cmi_dir(".").glue("glue.ml");
                let mut words = std::env::args().skip(1);
                while let (Some(method), Some(word)) = (words.next(), words.next()) {
                    bindings = match method.as_str() {
                        "module" => bindings.module(&word),
                        "only" => bindings.only([word]),
                        "package" => bindings.package(&word),
                        "opaque" => bindings.opaque(&word),
                        "rooted" => bindings.rooted(&word),
                        "int_as" => bindings.int_as(&word, &words.next().unwrap()),
                        "derive" => bindings.derive(&word, [words.next().unwrap()]),
                        "attribute" => bindings.attribute(&word, &words.next().unwrap()),
                        "with" => bindings.with(&word, &words.next().unwrap()),
                        "rename" => bindings.rename(&word, &words.next().unwrap()),
                        other => panic!("{other}"),
                    };
                }
                bindings.write()
            }"#;
        let dependencies = format!(
            "[dependencies]\n{BUILD}ocaml-boxroot = {{ path = 'CRATE/../ocaml-boxroot' }}\n"
        );
        let package = package("bindings_maker", &dependencies, &[("src/main.rs", main)]);
        let said = cargo(&package, &["build", "--message-format=json"]).unwrap();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings/target/debug");
        let quoted = |part: &&str| part.contains("libocaml_boxroot-") && part.ends_with(".rlib");
        let program = target.join("bindings_maker");
        let modules = Modules::new("first_bindings", &[("x.ml", "let x = 1")]);
        modules.make(&program, "module x").unwrap();
        Maker {
            program,
            generator: modules.0.join(GENERATOR),
            library: said.split('"').find(quoted).expect("the crate's file").into(),
            dependencies: target.join("deps"),
        }
    })
}

/// The generator's name in each folder of bindings.
const GENERATOR: &str = "ocaml_bindings_generator";

pub fn ocamlopt() -> Command {
    Command::new(std::env::var_os("OCAMLOPT").unwrap_or("ocamlopt".into()))
}

/// Whether OCaml is older than a version.
pub fn is_before(version: (u32, u32)) -> bool {
    let said = said(ocamlopt().arg("-version").output().unwrap()).unwrap();
    let mut numbers = said.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap(), numbers.next().unwrap()) < version
}

/// Options with which rustc checks a program and generates no code.
pub const METADATA: &[&str] = &["--crate-type", "lib", "--emit", "metadata"];

/// OCaml modules, compiled in a separate folder.
pub struct Modules(pub PathBuf);

impl Modules {
    pub fn new(name: &str, files: &[(&str, &str)]) -> Modules {
        let modules = Modules(folder(name));
        for (file, text) in files {
            modules.compile(file, text).unwrap();
        }
        modules
    }

    pub fn compile(&self, file: &str, text: &str) -> Said {
        self.compile_with(&[], file, text)
    }

    pub fn compile_with(&self, options: &[&str], file: &str, text: &str) -> Said {
        fs::write(self.0.join(file), text).unwrap();
        let mut ocamlopt = ocamlopt();
        ocamlopt.args(["-w", "-a", "-bin-annot", "-c"]).args(options).arg(file);
        said(ocamlopt.current_dir(&self.0).output().unwrap())
    }

    /// Generates bindings; `words` are the arguments for `maker`. Both compilers must accept the
    /// bindings.
    #[track_caller]
    pub fn bind(&self, words: &str) -> Bindings {
        self.bind_in(words, "ocaml_boxroot::include_bindings!();")
    }

    /// Like `bind`; `program` is the Rust code around the bindings.
    #[track_caller]
    pub fn bind_in(&self, words: &str, program: &str) -> Bindings {
        let said = self.try_bind(words).unwrap();
        let glue = fs::read_to_string(self.0.join("glue.ml")).unwrap();
        self.compile("glue.ml", &glue).unwrap();
        let rust = fs::read_to_string(self.0.join("ocaml_bindings.rs")).unwrap();
        let is_safe = !rust.contains("unsafe fn");
        let forbid = if is_safe { "#![forbid(unsafe_code)]" } else { "" };
        let program = format!("{forbid}\n{program}\n");
        let strictly = [METADATA, &["-D", "warnings"]].concat();
        self.rustc("program.rs", &program, &strictly).unwrap();
        let (before, after) = rust.split_once("boxroot_abi_").expect("a symbol with the digest");
        assert!(before.contains("::ocaml_boxroot::bound_abi! {"));
        let digest = after[..after.find('"').unwrap()].rsplit('_').next().unwrap().to_string();
        assert_eq!(digest.len(), 16);
        Bindings { rust: rust.replace(&digest, "DIGEST"), digest, glue, said }
    }

    /// Compiles this Rust code, with the crate and the bindings.
    pub fn rustc(&self, file: &str, program: &str, options: &[&str]) -> Said {
        fs::write(self.0.join(file), program).unwrap();
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.args(["--edition", "2021"]).args(options);
        rustc.arg("-L").arg(&maker().dependencies).arg("--extern");
        rustc.arg(format!("ocaml_boxroot={}", maker().library.display()));
        said(rustc.arg(file).current_dir(&self.0).env("OUT_DIR", &self.0).output().unwrap())
    }

    /// Asserts that rustc finds one error in this code, and returns rustc's messages.
    #[track_caller]
    pub fn refuse(&self, program: &str) -> String {
        let said = self.rustc("mistake.rs", program, METADATA).unwrap_err();
        assert_eq!(said.matches("error[E").count(), 1, "{program}\n{said}");
        said
    }

    pub fn try_bind(&self, words: &str) -> Said {
        let Maker { program, generator, .. } = maker();
        let folder = self.0.join(GENERATOR);
        if !folder.exists() {
            fs::create_dir(&folder).unwrap();
            for file in ["generator", "made_of"] {
                symlink(generator.join(file), folder.join(file)).unwrap();
            }
        }
        self.make(program, words)
    }

    fn make(&self, program: &Path, words: &str) -> Said {
        let mut command = Command::new(program);
        command.args(words.split_whitespace()).current_dir(&self.0).env("OUT_DIR", &self.0);
        said(command.output().unwrap())
    }
}

pub struct Bindings {
    pub rust: String,
    pub digest: String,
    pub glue: String,
    pub said: String,
}

impl Bindings {
    /// Asserts that the Rust code has these parts, with any indentation.
    #[track_caller]
    pub fn has(&self, parts: &[&str]) {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let rust = plain(&self.rust);
        for part in parts {
            assert!(rust.contains(&plain(part)), "missing: {part}\n{}", self.rust);
        }
    }

    #[track_caller]
    pub fn lacks(&self, parts: &[&str]) {
        for part in parts {
            assert!(!self.rust.contains(part), "there is: {part}\n{}", self.rust);
        }
    }
}

/// Binds the module X with this implementation.
#[track_caller]
pub fn bind(name: &str, ml: &str) -> Bindings {
    Modules::new(name, &[("x.ml", ml)]).bind("module x")
}

#[track_caller]
pub fn assert_says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "not said: {word}\n{said}");
    }
}
