//! An empty library, because cargo's examples belong to a library.
