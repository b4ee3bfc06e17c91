//! The second library.

#[macro_use]
mod library;

library!("second", second_greet, second_boxed, second_dropped, second_note, second_read, second_attach, second_word, second_spell);
