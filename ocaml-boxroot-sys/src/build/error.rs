use std::fmt;

/// Why a build failed: a text for people. `Display` and `Debug` both print the text as it is, so that a build script's
/// `main` can return this error.
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
