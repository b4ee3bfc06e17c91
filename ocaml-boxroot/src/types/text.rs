//! Texts of exceptions. A short one, of ASCII characters, takes no extra memory.

use crate::{OCamlBytes, Value};
use std::sync::atomic::Ordering;

const ROOM: usize = 63;

/// A short text. It takes ASCII characters only, while there is room.
pub(super) struct Short {
    /// The first `length` bytes are the text, and are ASCII.
    bytes: [u8; ROOM],
    length: u8,
}

impl Short {
    #[inline]
    pub(super) fn new() -> Short {
        Short { bytes: [0; ROOM], length: 0 }
    }

    pub(super) fn as_str(&self) -> &str {
        // SAFETY: the bytes of the text are ASCII.
        unsafe { std::str::from_utf8_unchecked(&self.bytes[..usize::from(self.length)]) }
    }

    /// Writes another text in its place.
    #[inline(always)]
    pub(super) fn writer(&mut self) -> Writer<'_> {
        Writer { end: 0, text: self }
    }
}

/// Appends to a short text, whose length changes only when [`done`](Writer::done) is called. `None`
/// if the text cannot take a part.
pub(super) struct Writer<'a> {
    text: &'a mut Short,
    /// The bytes before are ASCII.
    end: usize,
}

impl Writer<'_> {
    #[inline(always)]
    pub(super) fn add(mut self, part: &str) -> Option<Self> {
        let place = self.end..self.end + part.len();
        let place = self.text.bytes.get_mut(place).filter(|_| part.is_ascii())?;
        place.copy_from_slice(part.as_bytes());
        self.end += part.len();
        Some(self)
    }

    #[inline(always)]
    pub(super) fn add_bytes(mut self, part: Value<'_, OCamlBytes>) -> Option<Self> {
        const WORD: usize = size_of::<usize>();
        let (words, length) = part.words();
        // All bytes of the words are copied. Those behind the string are also ASCII: zeros and
        // their number. The next additions replace them.
        let (mut end, mut bits) = (self.end, 0);
        for word in words {
            let word = word.load(Ordering::Relaxed);
            bits |= word;
            self.text.bytes.get_mut(end..end + WORD)?.copy_from_slice(&word.to_ne_bytes());
            end += WORD;
        }
        self.end += length;
        (bits & usize::from_ne_bytes([0x80; WORD]) == 0).then_some(self)
    }

    #[inline(always)]
    pub(super) fn done(self) {
        self.text.length = self.end as u8;
    }
}

/// Adds a part to a text of any length. `None` if there is no memory.
pub(super) fn add(text: &mut String, part: &str) -> Option<()> {
    text.try_reserve(part.len()).ok()?;
    text.push_str(part);
    Some(())
}

/// Adds a string of OCaml. U+FFFD replaces invalid UTF-8. `None` if there is no memory.
pub(super) fn add_bytes(text: &mut String, part: Value<'_, OCamlBytes>) -> Option<()> {
    for chunk in part.copied().ok()?.utf8_chunks() {
        add(text, chunk.valid())?;
        add(text, if chunk.invalid().is_empty() { "" } else { "\u{fffd}" })?;
    }
    Some(())
}
