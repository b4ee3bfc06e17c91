//! Random numbers: the same seed makes the same choices.

use std::fmt::Write;

pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(mix(seed))
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        mix(self.0)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (((self.draw() >> 32) * n as u64) >> 32) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// As many bits as OCaml's `int` has; small numbers are more frequent.
    pub fn int(&mut self) -> isize {
        let shift = self.below(62) + 1;
        (self.draw() as isize) >> shift
    }

    /// Up to `most` letters, some of more than one byte.
    pub fn text(&mut self, most: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(most / 16 + 1) {
            write!(text, "{:016x}", self.draw()).expect("a string has room");
        }
        if self.one_in(4) {
            text + "é"
        } else {
            text
        }
    }

    /// What `item` makes, up to `most` times.
    pub fn some<T>(&mut self, most: usize, mut item: impl FnMut(&mut Random) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| item(self)).collect()
    }
}
