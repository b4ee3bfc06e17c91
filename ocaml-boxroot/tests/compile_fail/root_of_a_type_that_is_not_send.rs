//! A root is Send only if its type is.

use ocaml_boxroot::Boxroot;

struct OnThisThread(#[allow(dead_code)] *const ());

fn wrong(root: Boxroot<OnThisThread>) {
    std::thread::spawn(move || drop(root));
}

fn main() {}
