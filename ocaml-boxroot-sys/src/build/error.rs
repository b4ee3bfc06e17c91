use std::fmt;

/// Why a build failed, as text. `Display` and `Debug` both print the plain text, so a build
/// script's `main` can return this error.
///
/// | what failed | the text contains |
/// |---|---|
/// | OCaml, its compiler or a library was not found | what was tried, and what to install or set |
/// | OCaml generates code for another machine | both machines, and the variable that selects another OCaml |
/// | `ocamlopt` or another tool of OCaml | the command, and what it printed |
/// | a file, a folder or a package is missing | its path, or where it was looked for |
/// | an option of bindings, such as `only` or `derive`, names an unknown item | the item, and the existing items |
/// | a type cannot derive a trait | the type, the part that prevents it, and what to do |
pub struct Error(pub(super) String);

impl From<String> for Error {
    fn from(text: String) -> Error {
        Error(text)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
