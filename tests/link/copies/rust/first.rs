//! The first library.

#[macro_use]
mod library;

library!("first", first_greet, first_boxed, first_dropped, first_note, first_read, first_attach, first_word, first_spell);
