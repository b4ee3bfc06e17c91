//! The list of implementations, `benches/implementations/list.toml`.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    implementation: Vec<Implementation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implementation {
    pub name: String,
    /// The parts of the report (`benches/report/parts.toml`) that show it.
    pub parts: Vec<String>,
    /// The parts that exist for it. Without this field, its C file makes all of them with
    /// `benches/runtime/cell.h`.
    #[serde(default = "all_of_cell_h")]
    pub has: Vec<Has>,
    /// Its cells may be used by one domain only.
    #[serde(default)]
    pub one_domain: bool,
    /// Its cells may be deleted by threads that hold no lock.
    #[serde(default)]
    pub without_lock: bool,
    /// Its cells lie in pools of our library, which can count them.
    #[serde(default)]
    pub in_pools: bool,
    /// It uses functions that only our library has, for example `boxroot_create_in`. So it is not
    /// built against the registry crate, but in an additional executable.
    #[serde(default)]
    pub variant: bool,
    /// The cell that must be set up for a fixpoint without its own cell.
    pub set_up: Option<String>,
    /// Its name in the executable of the registry crate, if it exists only there.
    pub peer_of: Option<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Has {
    /// An OCaml module, for the programs in OCaml: that of `NAME.ml`, or one made for `NAME.c`.
    Cell,
    /// `NAME_implementation`, a table of loops over single operations.
    Loops,
    /// `NAME_fixpoint`, for `local_roots`.
    Fixpoint,
    /// `NAME_attach`, for `attach`.
    Attach,
}

fn all_of_cell_h() -> Vec<Has> {
    vec![Has::Cell, Has::Loops, Has::Fixpoint]
}

/// All, in the order of the list.
pub fn read() -> Result<Vec<Implementation>, toml::de::Error> {
    let list: List = toml::from_str(include_str!("../implementations/list.toml"))?;
    Ok(list.implementation)
}
