//! Generates OCaml and C code from the list of implementations and the names of the programs.

use crate::list::{Has, Implementation};

/// The prefix that turns a cell's name into the name of its module.
pub const CELL: &str = "cell_";

const FIXPOINT: &str = "(float -> float) -> float -> float";

/// The module `Implementations`, for `benches/runtime/program.ml` and the programs.
pub fn implementations_ml(list: &[Implementation], in_ocaml: &[&str]) -> String {
    let with = |has: Has| list.iter().filter(move |i| i.has.contains(&has));
    let cells = with(Has::Cell).map(|i| cell(i, in_ocaml.contains(&i.name.as_str())));
    let names = |all: &mut dyn Iterator<Item = &Implementation>| {
        lines(all.map(|i| format!("{:?}", i.name)))
    };
    let mut text = format!("let cells : (module Cell.S) list = [\n{}]\n\n", lines(cells));
    text += &format!("let loops = [\n{}]\n\n", names(&mut with(Has::Loops)));
    let mut without_lock = with(Has::Loops).filter(|i| i.without_lock);
    text += &format!("let without_lock = [\n{}]\n\n", names(&mut without_lock));
    for Implementation { name, .. } in with(Has::Fixpoint) {
        text += &format!("external {name}_fixpoint : {FIXPOINT} = \"{name}_fixpoint\"\n");
    }
    // set_up: the name of the cell that must be set up before the fixpoint runs.
    text +=
        &format!("type fixpoint = {{ name : string; set_up : string; compute : {FIXPOINT} }}\n");
    let fixpoints = with(Has::Fixpoint).map(|Implementation { name, set_up, .. }| {
        let set_up = set_up.as_ref().unwrap_or(name);
        format!("{{ name = {name:?}; set_up = {set_up:?}; compute = {name}_fixpoint }}")
    });
    text += &format!("let fixpoints = [\n{}]\n\n", lines(fixpoints));
    for Implementation { name, .. } in with(Has::Attach) {
        text += &format!("external {name}_attach : int -> unit = \"{name}_attach\"\n");
    }
    let attaches =
        with(Has::Attach).map(|Implementation { name, .. }| format!("({name:?}, {name}_attach)"));
    text += &format!("let attaches : (string * (int -> unit)) list = [\n{}]\n", lines(attaches));
    text
}

fn lines(all: impl Iterator<Item = String>) -> String {
    all.map(|line| format!("  {line};\n")).collect()
}

/// The OCaml module of a cell: that of `NAME.ml`, or one for the functions that
/// `benches/runtime/cell.h` generates for `NAME.c`.
fn cell(implementation: &Implementation, in_ocaml: bool) -> String {
    let Implementation { name, one_domain, in_pools, .. } = implementation;
    let body = if in_ocaml {
        let module = format!("{CELL}{name}");
        format!("include {}{}", module[..1].to_uppercase(), &module[1..])
    } else {
        format!(
            "type 'a t
    external setup : unit -> unit = \"{name}_cell_setup\"
    external create : 'a -> 'a t = \"{name}_cell_create\" [@@noalloc]
    external get : 'a t -> 'a = \"{name}_cell_get\" [@@noalloc]
    external delete : 'a t -> unit = \"{name}_cell_delete\" [@@noalloc]
    external modify : 'a t array -> int -> 'a -> unit = \"{name}_cell_modify\" [@@noalloc]"
        )
    };
    format!(
        "(module struct
    {body}
    let name = {name:?}
    let multi_domain = {}
    let in_pools = {in_pools}
  end : Cell.S)",
        !one_domain
    )
}

/// The table of `benches/runtime/implementation.h`.
pub fn implementations_c(list: &[Implementation]) -> String {
    let loops = || list.iter().filter(|i| i.has.contains(&Has::Loops)).map(|i| &i.name);
    let mut text = String::from("#include \"implementation.h\"\n\n");
    for name in loops() {
        text += &format!("extern struct implementation const {name}_implementation;\n");
    }
    text += "\nstruct implementation const *const implementations[] = {\n";
    for name in loops() {
        text += &format!("  &{name}_implementation,\n");
    }
    text + "  NULL,\n};\n"
}

/// The module `Programs`. It refers to all programs, so they register themselves before
/// `benches/runtime/main.ml`, which refers to this module, runs one. On OCaml 4, it also has the
/// names of the programs that need OCaml 5.
pub fn programs_ml(modules: &[String], need_ocaml5: &[String]) -> String {
    let mut text = String::new();
    for name in modules {
        text += &format!("module _ = {}{}\n", name[..1].to_uppercase(), &name[1..]);
    }
    let names = lines(need_ocaml5.iter().map(|name| format!("{name:?}")));
    text + &format!("\nlet need_ocaml5 : string list = [\n{names}]\n")
}
