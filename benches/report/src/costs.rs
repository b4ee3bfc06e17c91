//! `costs.md`, a page of the guide: the figures of a report on OCaml 5 that users ask for.

use crate::border;
use crate::data::Report;
use crate::parts::{named, Part};
use crate::tables::format;

/// The text that does not depend on figures.
const ADVICE: &str = "\
| instead of | do | why |
|---|---|---|
| a root in each function that a value passes through | root the value in the caller, and pass on `&RootRef<T>` (in C a `boxroot`) | [below](#local-roots) |
| `drop(root)` with a token at hand | `root.delete_in(lock)`; in C `boxroot_delete_in` | it does not ask who holds the lock |
| many roots of values that live and die together | one root of a list or an array of them | the collector visits one root |
| many roots at once, in C | `boxroot_create_many`, `boxroot_delete_many` | one call |
| `attach` for each of many small steps | one `attach` around them, unless other threads wait for the lock | each `attach` takes and gives up the lock |
| a copy of a result that only goes back to OCaml | the function's variant `…_root`, such as `cheaper_root` | nothing is converted |
| a copy of a large value of which little is read | `root.read(lock, OCamlItem::price)`, `iter`, `as_str`, `cells` | they read in place |
| roots that other threads drop, one by one and far apart | let the domain that made them drop them | a drop elsewhere takes atomic operations |

A root costs the collector one visit in each major collection. A young root costs one more visit, in
the next minor collection. [How the allocator works](allocator.md) says why these visits are cheap.

## What a call does

A call of OCaml from Rust copies the arguments, calls the function, and copies the result or roots
it. A call of Rust from OCaml makes a root for each parameter whose Rust type is a root. In a call,
a value needs a root only while other values are allocated. Integers, booleans and constant
constructors need none, nor do results, nor arguments that are roots already. Each root costs as
much as [creating and deleting one](#single-operations). The first call looks up the function's name.

Copying all bytes of a string, or all elements of a list, costs most. An argument that is a root is
not copied, nor is the result of a function `…_root`. Taking the lock is not a part of a call:
`attach` takes it once for all calls in its closure. `docs/benchmarks/README.md` of the repository
has the cost of entering Rust from OCaml and of `attach`.
";

pub fn page(version: &str, parts: &[Part], report: &Report) -> String {
    let cell = |name: &str, program: &str, size: &str, implementation: &str, figure: &str| {
        let part = named(parts, name)?;
        let is_it = |(setting, value): (&String, &String)| {
            ["N", "SIZE"].contains(&setting.as_str()) && value == size
        };
        let mut series = report.series(name).iter().filter(|s| s.program == program);
        let series = series.find(|s| {
            s.implementation == implementation && (size.is_empty() || s.settings.iter().any(is_it))
        })?;
        Some(format(figure, series.figure(part, figure)?))
    };
    let row = |text: &str, cells: &[Option<String>]| {
        let cells: Vec<_> = cells.iter().map(|c| c.as_deref().unwrap_or_default()).collect();
        format!("| {text} | {} |\n", cells.join(" | "))
    };
    let mut text = format!(
        "# Costs\n\nThe cost of boxroots, compared with other kinds of roots, and how to reduce it.\n\n\
         `make report OCAML={version}` writes this page and `docs/benchmarks/{version}.md` of the repository, which\n\
         describes the machine and has the spread of each ratio. `docs/benchmarks/README.md` there says how\n\
         the figures are measured, and in which cases boxroots are slower than the alternatives.\n\n\
         ## Where it matters\n\n\
         {ADVICE}\n\
         ## Single operations\n\n\
         Nanoseconds per operation, unless another unit is given; OCaml {version}. \"Generational\" and \"global\" are the\n\
         roots of OCaml's runtime (`caml_register_generational_global_root`, `caml_register_global_root`), \"0.4.0\" is\n\
         `ocaml-boxroot-sys` 0.4.0.\n\n\
         | | boxroot | generational | global | 0.4.0 |\n|---|---|---|---|---|\n"
    );
    let kinds = ["boxroot", "generational", "global", "peer"];
    for (what, program) in [
        ("create one and delete it (`pair`)", "pair"),
        ("create 1000 and delete them, per root (`batch`)", "batch"),
        ("read (`get`)", "get"),
        ("change, young value (`modify_young`)", "modify_young"),
        ("change, old value (`modify_old`)", "modify_old"),
        ("change once after each minor collection (`modify_after_minor`)", "modify_after_minor"),
        ("delete one of a million, in random order (`delete_shuffled`)", "delete_shuffled"),
    ] {
        let cells = kinds.map(|kind| cell("micro", program, "", kind, "ns_per_operation"));
        // A report that measured only some parts may have the data of an older one, without this
        // program.
        if cells.iter().any(Option::is_some) {
            text += &row(what, &cells);
        }
    }
    let memory = kinds.map(|kind| cell("memory", "memory", "1000000", kind, "bytes_per_root"));
    text += &row("memory per root, in bytes, with a million roots (`memory`)", &memory);
    let pause = kinds.map(|kind| cell("pause", "pause", "10000000", kind, "longest_pause"));
    text += &row("longest pause, with ten million roots (`pause`)", &pause);

    text += "\nBoxroots alone, in one executable. In C, `create_in` and `delete_in` take a proof that the thread holds\n\
             the lock, like the token in Rust:\n\n\
             | | C | C, `create_in` | Rust, token | Rust, `drop` |\n|---|---|---|---|---|\n";
    let levels = ["boxroot", "unsafe", "rust_token", "rust_drop"];
    for (what, program) in [("create one and delete it", "pair"), ("read", "get")] {
        let cells = levels.map(|level| cell("levels", program, "", level, "ns_per_operation"));
        text += &row(what, &cells);
    }
    let bulk = |name| cell("batches", "batch", "", name, "ns_per_operation").unwrap_or_default();
    text += &format!(
        "\n`boxroot_create_many` and `boxroot_delete_many` take {} per root for a thousand roots; separate calls take {}.\n",
        bulk("bulk"),
        bulk("boxroot")
    );

    text += "\n## Local roots\n\n\
             The best choice depends on the number N of functions that a value passes through. Nanoseconds per\n\
             call, in a chain of N calls:\n\n\
             | | N = 1 | 3 | 10 | 100 |\n|---|---|---|---|---|\n";
    for (what, kind) in [
        ("OCaml's `CAMLparam`", "local"),
        ("boxroots, rooted by the caller", "boxroot"),
        ("boxroots, rooted again by each function", "naive"),
    ] {
        let chains = ["1", "3", "10", "100"];
        text +=
            &row(what, &chains.map(|n| cell("local_roots", "local_roots", n, kind, "ns_per_call")));
    }
    text += "\nIt is best to root a value in the caller, and to pass the root on.\n";
    if let Some(border) = &report.border {
        text += &format!(
            "\n## {}\n\nIn nanoseconds, compared with the crates `ocaml-interop` 0.12.0 and `ocaml` 1.3.0.\n{}",
            border::TITLE,
            border.text()
        );
    }
    text
}
