//! Examples belong to a library.
