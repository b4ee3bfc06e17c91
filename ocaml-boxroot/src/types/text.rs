//! Texts of exceptions. A short ASCII text needs no allocation.

use crate::{OCamlBytes, Value};
use std::sync::atomic::Ordering;

const ROOM: usize = 63;

/// A text of at most `ROOM` ASCII characters.
pub(super) struct Short {
    /// The first `length` bytes are the text. They are ASCII.
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

    /// Returns a writer that replaces the text.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn writer(&mut self) -> Writer<'_> {
        Writer { end: 0, text: self }
    }
}

/// Writes a short text, whose length changes only when [`done`](Writer::done) is called. Its
/// methods return `None` if a part does not fit or is not ASCII.
pub(super) struct Writer<'a> {
    text: &'a mut Short,
    /// The end of the written part. All bytes before it are ASCII.
    end: usize,
}

impl Writer<'_> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn add(mut self, part: &str) -> Option<Self> {
        let place = self.end..self.end + part.len();
        let place = self.text.bytes.get_mut(place).filter(|_| part.is_ascii())?;
        place.copy_from_slice(part.as_bytes());
        self.end += part.len();
        Some(self)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn add_bytes(mut self, part: Value<'_, OCamlBytes>) -> Option<Self> {
        const WORD: usize = size_of::<usize>();
        let (words, length) = part.words();
        // Copies all bytes of the words. The padding after the string is also ASCII: zeros and
        // their number. The next addition overwrites it.
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

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn done(self) {
        self.text.length = self.end as u8;
    }
}

/// Appends a part to a text of any length. Returns `None` if out of memory.
pub(super) fn add(text: &mut String, part: &str) -> Option<()> {
    text.try_reserve(part.len()).ok()?;
    text.push_str(part);
    Some(())
}

/// Appends an OCaml string, replacing invalid UTF-8 with U+FFFD. Returns `None` if out of memory.
pub(super) fn add_bytes(text: &mut String, part: Value<'_, OCamlBytes>) -> Option<()> {
    for chunk in part.copied().ok()?.utf8_chunks() {
        add(text, chunk.valid())?;
        add(text, if chunk.invalid().is_empty() { "" } else { "\u{fffd}" })?;
    }
    Some(())
}
