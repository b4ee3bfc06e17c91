//! Texts of exceptions. A short one, of ASCII characters, takes no memory of its own.

use crate::{OCamlBytes, Value};
use std::fmt::{self, Write};
use std::sync::atomic::Ordering;

/// What a text is written to.
pub(super) trait Draft {
    fn as_bytes(&self) -> &[u8];

    fn add(&mut self, part: &str) -> fmt::Result;

    /// Adds a string of OCaml. U+FFFD replaces what is not UTF-8.
    fn add_bytes(&mut self, part: Value<'_, OCamlBytes>) -> fmt::Result;
}

pub(super) struct Text {
    pub(super) short: Short,
    /// The text, if it is not `short`.
    pub(super) long: Option<String>,
}

const ROOM: usize = 63;

/// A short text. It cannot take what is not ASCII, or has no room.
pub(super) struct Short {
    /// The first `length` bytes are the text, and are ASCII.
    bytes: [u8; ROOM],
    length: u8,
}

impl Text {
    #[inline(always)]
    pub(super) fn new() -> Text {
        Text { short: Short::new(), long: None }
    }

    pub(super) fn as_str(&self) -> &str {
        match &self.long {
            None => self.short.as_str(),
            Some(long) => long,
        }
    }
}

impl Short {
    #[inline]
    pub(super) fn new() -> Short {
        Short { bytes: [0; ROOM], length: 0 }
    }

    /// The digits of a number.
    #[cold]
    pub(super) fn number(number: isize) -> Short {
        let mut digits = Short::new();
        let _ = write!(digits, "{number}"); // there is room for any number
        digits
    }

    pub(super) fn as_str(&self) -> &str {
        // SAFETY: the bytes of the text are ASCII.
        unsafe { std::str::from_utf8_unchecked(self.as_bytes()) }
    }

    /// The next `count` bytes, if there are so many.
    #[inline(always)]
    fn next(&mut self, count: usize) -> Result<&mut [u8], fmt::Error> {
        let start = usize::from(self.length);
        self.bytes.get_mut(start..).and_then(|rest| rest.get_mut(..count)).ok_or(fmt::Error)
    }
}

impl Draft for Short {
    #[inline]
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    #[inline(always)]
    fn add(&mut self, part: &str) -> fmt::Result {
        if !part.is_ascii() {
            return Err(fmt::Error);
        }
        self.next(part.len())?.copy_from_slice(part.as_bytes());
        self.length += part.len() as u8;
        Ok(())
    }

    #[inline(always)]
    fn add_bytes(&mut self, part: Value<'_, OCamlBytes>) -> fmt::Result {
        const WORD: usize = size_of::<usize>();
        let (words, length) = part.words();
        // All bytes of the words are copied. Those behind the string are ASCII, too: zeros and
        // their number. What is added next replaces them.
        let (mut end, mut bits) = (usize::from(self.length), 0);
        for word in words {
            let word = word.load(Ordering::Relaxed);
            bits |= word;
            let to = self.bytes.get_mut(end..end + WORD).ok_or(fmt::Error)?;
            to.copy_from_slice(&word.to_ne_bytes());
            end += WORD;
        }
        if bits & usize::from_ne_bytes([0x80; WORD]) != 0 {
            return Err(fmt::Error);
        }
        self.length += length as u8;
        Ok(())
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.add(part)
    }
}

/// The error is that memory ran out.
impl Draft for String {
    fn as_bytes(&self) -> &[u8] {
        str::as_bytes(self)
    }

    fn add(&mut self, part: &str) -> fmt::Result {
        self.try_reserve(part.len()).map_err(|_| fmt::Error)?;
        self.push_str(part);
        Ok(())
    }

    fn add_bytes(&mut self, part: Value<'_, OCamlBytes>) -> fmt::Result {
        for chunk in part.copied().map_err(|_| fmt::Error)?.utf8_chunks() {
            self.add(chunk.valid())?;
            self.add(if chunk.invalid().is_empty() { "" } else { "\u{fffd}" })?;
        }
        Ok(())
    }
}
