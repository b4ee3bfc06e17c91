//! Finds installed OCaml libraries through their META files, which ocamlfind and dune write and
//! read.
//!
//! This does not use `ocamlfind query`, because packages that dune builds do not install ocamlfind,
//! neither in opam nor in Debian. Also, the ocamlfind on PATH may not belong to the OCaml that
//! OCAMLOPT names.

use super::program::about;
use super::{Error, OCaml};
use std::path::{self, Path, PathBuf};
use std::{env, fs};

/// The predicates that hold for a program. In a META file, each definition says which predicates it
/// needs.
const PREDICATES: &[&str] = &["native", "mt", "mt_posix"];

/// Libraries of the OCaml distribution that are in all programs.
const ALWAYS_THERE: &[&str] = &["bytes", "bigarray", "stdlib", "stdlib-shims"];

/// The files and folders that the linker needs for some packages and their dependencies.
#[derive(Clone, Debug, Default)]
pub(super) struct Packages {
    /// Libraries of the OCaml distribution, for [`Program::library`](super::Program::library).
    pub libraries: Vec<String>,
    /// Folders of interfaces, and of the archives.
    pub folders: Vec<PathBuf>,
    /// `.cmxa` files, each after the files that it needs.
    pub archives: Vec<PathBuf>,
    /// Each found package, with its archives. A package without archives has those of the packages
    /// that it requires, as `num`, which is another name for `num.core`.
    of_packages: Vec<(String, Vec<PathBuf>)>,
}

impl Packages {
    /// Finds packages by name, in these folders, in the folders of `OCAMLPATH`, and beside OCaml.
    pub fn find(ocaml: &OCaml, names: &[String], folders: &[PathBuf]) -> Result<Packages, Error> {
        println!("cargo:rerun-if-env-changed=OCAMLPATH");
        // Absolute paths, because OCaml's compiler runs in another folder.
        let absolute = |folder: PathBuf| path::absolute(&folder).map_err(|e| about(&folder, e));
        let named = env::var_os("OCAMLPATH");
        let named =
            named.iter().flat_map(env::split_paths).filter(|folder| folder != Path::new(""));
        let mut places =
            folders.iter().cloned().chain(named).map(absolute).collect::<Result<Vec<_>, _>>()?;
        places.extend(ocaml.where_path().parent().map(Path::to_path_buf)); // opam's
        places.push(ocaml.where_path().to_path_buf()); // Debian's

        // Debian's, for packages whose modules are in another package's folder
        places.push(ocaml.where_path().join("METAS"));
        let mut packages = Packages::default();
        for name in names {
            packages.add(ocaml, name, &places)?;
        }
        Ok(packages)
    }

    /// The archives of a package; `None` if it was not found.
    pub fn archives_of(&self, name: &str) -> Option<&[PathBuf]> {
        self.of_packages.iter().find(|(found, _)| found == name).map(|(_, archives)| &**archives)
    }

    fn add(&mut self, ocaml: &OCaml, name: &str, places: &[PathBuf]) -> Result<(), Error> {
        if self.archives_of(name).is_some() || ALWAYS_THERE.contains(&name) {
            return Ok(());
        }
        let place = self.of_packages.len();
        self.of_packages.push((name.to_string(), Vec::new()));
        if let "unix" | "str" | "dynlink" | "runtime_events" | "threads" | "threads.posix" = name {
            self.libraries.push(name.trim_end_matches(".posix").to_string());
            return Ok(());
        }
        let mut parts = name.split('.');
        let top = parts.next().unwrap_or_default();
        let files =
            |place: &PathBuf| [place.join(top).join("META"), place.join(format!("META.{top}"))];
        let file = places.iter().flat_map(files).find(|file| file.exists());
        let file = file.ok_or_else(|| {
            let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
            Error(format!(
                "there is no OCaml package {top}: no {top}/META in {}",
                places.join(", ")
            ))
        })?;
        println!("cargo:rerun-if-changed={}", file.display());
        let text = fs::read_to_string(&file).map_err(|error| about(&file, error))?;
        let meta = Meta::parse(&text).ok_or_else(|| {
            Error(format!("{}: a string is not closed: a `\"` is missing", file.display()))
        })?;
        let mut meta = &meta;
        let mut folder = meta.folder(ocaml, file.parent().unwrap_or(Path::new(".")));
        for part in parts {
            let found = meta.parts.iter().find(|(name, _)| name == part);
            meta = &found.ok_or_else(|| about_part(&file, name))?.1;
            folder = meta.folder(ocaml, &folder);
        }
        let requires = meta.words("requires");
        for needed in &requires {
            self.add(ocaml, needed, places)?;
        }
        let mut archives = Vec::new();
        for archive in meta.words("archive").iter().filter(|name| name.ends_with(".cmxa")) {
            let archive = folder.join(archive);
            println!("cargo:rerun-if-changed={}", archive.display());
            self.archives.push(archive.clone());
            archives.push(archive);
        }
        if archives.is_empty() {
            let of_others = requires.iter().filter_map(|needed| self.archives_of(needed));
            archives = of_others.flatten().cloned().collect();
        }
        self.of_packages[place].1 = archives;
        if !self.folders.contains(&folder) {
            // The OCaml and C libraries in the folder.
            for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if file.path().extension().is_some_and(|extension| extension == "a") {
                    println!("cargo:rerun-if-changed={}", file.path().display());
                }
            }
            self.folders.push(folder);
        }
        Ok(())
    }
}

fn about_part(file: &Path, name: &str) -> Error {
    Error(format!("{} has no package {name}", file.display()))
}

/// A META file, or a package's section in it.
#[derive(Default)]
struct Meta {
    definitions: Vec<Definition>,
    parts: Vec<(String, Meta)>,
}

/// A line `name(predicates) = "value"`, or with `+=`.
struct Definition {
    name: String,
    /// Each predicate, and whether it must hold.
    predicates: Vec<(String, bool)>,
    is_addition: bool,
    value: String,
}

impl Meta {
    /// `None` if a string is not closed.
    fn parse(text: &str) -> Option<Meta> {
        Some(parse_section(&mut tokens(text)?.into_iter().peekable()))
    }

    /// The words of a variable, from the definition with the most predicates and from all
    /// additions.
    fn words(&self, name: &str) -> Vec<String> {
        let holds = |d: &&Definition| {
            let fits = |(p, wanted): &(String, bool)| PREDICATES.contains(&p.as_str()) == *wanted;
            d.name == name && d.predicates.iter().all(fits)
        };
        let fitting: Vec<&Definition> = self.definitions.iter().filter(holds).collect();
        // Among definitions with equally many predicates, the first one counts.
        let plain = fitting.iter().rev().filter(|d| !d.is_addition);
        let chosen = plain.max_by_key(|d| d.predicates.len()).into_iter();
        let values = chosen.chain(fitting.iter().filter(|d| d.is_addition));
        let separators = [' ', ',', '\t', '\n', '\r'];
        let words = values.flat_map(|d| d.value.split(separators));
        words.filter(|word| !word.is_empty()).map(String::from).collect()
    }

    /// The package's folder. `around` is the folder of the file or of the enclosing section.
    fn folder(&self, ocaml: &OCaml, around: &Path) -> PathBuf {
        match self.words("directory").first() {
            Some(name) if name.starts_with(['+', '^']) => ocaml.where_path().join(&name[1..]),
            Some(name) => around.join(name),
            None => around.to_path_buf(),
        }
    }
}

enum Token {
    /// A name, or a quoted text.
    Word(String),
    Sign(char),
}

/// `None` if a string is not closed.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => while letters.next().is_some_and(|c| c != '\n') {},
            '"' => {
                let mut word = String::new();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => word.push(letters.next()?),
                        c => word.push(c),
                    }
                }
                tokens.push(Token::Word(word));
            }
            c if c.is_whitespace() => {}
            c if "()=+,-".contains(c) => tokens.push(Token::Sign(c)),
            c => {
                let mut word = String::from(c);
                let is_part = |c: &char| !c.is_whitespace() && !"()=+,\"#".contains(*c);
                while let Some(c) = letters.next_if(is_part) {
                    word.push(c);
                }
                tokens.push(Token::Word(word));
            }
        }
    }
    Some(tokens)
}

/// Parses a section until its `)`, or a file until its end. Skips unknown syntax.
fn parse_section(tokens: &mut std::iter::Peekable<std::vec::IntoIter<Token>>) -> Meta {
    let mut meta = Meta::default();
    while let Some(token) = tokens.next() {
        let name = match token {
            Token::Word(name) => name,
            Token::Sign(')') => break,
            Token::Sign(_) => continue,
        };
        if name == "package" {
            if let Some(Token::Word(part)) = tokens.next() {
                tokens.next_if(|token| matches!(token, Token::Sign('(')));
                meta.parts.push((part, parse_section(tokens)));
            }
            continue;
        }
        let mut predicates = Vec::new();
        let mut is_addition = false;
        let mut wanted = true;
        for token in tokens.by_ref() {
            match token {
                Token::Sign('-') => wanted = false,
                Token::Sign('+') => is_addition = true,
                Token::Sign('=') => break,
                Token::Sign(_) => {}
                Token::Word(predicate) => {
                    predicates.push((predicate, wanted));
                    wanted = true;
                }
            }
        }
        if let Some(Token::Word(value)) = tokens.next() {
            meta.definitions.push(Definition { name, predicates, is_addition, value });
        }
    }
    meta
}
