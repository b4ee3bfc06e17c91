//! What is measured.

/// A table or a plot.
pub struct Part {
    pub name: &'static str,
    pub title: &'static str,
    /// What is shown, in the tables.
    pub figures: &'static [&'static str],
    pub points: Vec<Point>,
    /// Which implementations; all if empty.
    pub implementations: &'static [&'static str],
    /// All in the executable that holds what only we have, so that its layout makes no difference.
    pub one_executable: bool,
    pub times: usize,
}

/// A program, and what it is started with.
pub struct Point {
    pub program: &'static str,
    pub settings: Vec<(&'static str, String)>,
}

fn point<const N: usize>(program: &'static str, settings: [(&'static str, usize); N]) -> Point {
    Point { program, settings: settings.map(|(name, value)| (name, value.to_string())).into() }
}

/// The implementations of cells in the two executables that differ in the crate only.
const ALIKE: [&str; 10] = [
    "ocaml",
    "ocaml_ref",
    "gc",
    "global",
    "generational",
    "boxroot",
    "peer",
    "dll_boxroot",
    "rem_boxroot",
    "bitmap_boxroot",
];

pub fn all(quick: bool) -> Vec<Part> {
    // Sizes of single runs, or small ones.
    let size = |full: usize| if quick { full / 50 } else { full };
    let n = |full: usize| if quick { full - 3 } else { full };
    let times = |full: usize| if quick { 2 } else { full };

    let choice = |choice: &str| Point {
        program: "perm_count",
        settings: vec![("N", n(10).to_string()), ("CHOICE", choice.to_string())],
    };
    let programs = || {
        vec![
            choice("persistent"),
            choice("ephemeral"),
            point("synthetic", [("N", n(6))]),
            point("globroots", [("SIZE", size(500_000))]),
        ]
    };
    let chains = [1, 2, 3, 5, 7, 10, 30, 100, 300, 1000];
    let chains = || chains.map(|n| point("local_roots", [("N", n), ("SIZE", size(10_000_000))]));
    let roots = [10_000, 100_000, 1_000_000, 10_000_000].map(size);
    let doms = [1, 2, 4];
    let micro = |program| {
        let full = match program {
            "pair" => 10_000_000,
            "batch" | "get" | "modify_young" | "modify_old" => 10_000,
            _ => 1_000_000,
        };
        point(program, [("SIZE", size(full))])
    };
    let time = &["seconds", "creates", "minor_collections", "major_collections", "peak_resident"];
    let many = &["ocaml_ref", "generational", "boxroot", "peer", "dll_boxroot", "bitmap_boxroot"];
    let domains = &["ocaml_ref", "generational", "boxroot", "peer", "bitmap_boxroot"];
    vec![
        Part {
            name: "programs",
            title: "Programs that use global roots",
            figures: time,
            points: programs(),
            implementations: &ALIKE,
            one_executable: false,
            times: times(3),
        },
        Part {
            name: "local_roots",
            title: "Local roots",
            figures: &["ns_per_call"],
            points: chains().into(),
            implementations: &[
                "local",
                "naive",
                "global",
                "generational",
                "boxroot",
                "peer",
                "peer_naive",
                "dll_boxroot",
                "rem_boxroot",
                "bitmap_boxroot",
            ],
            one_executable: false,
            times: times(5),
        },
        Part {
            name: "checks",
            title: "Local roots: the price of checks for threads, and of Rust",
            figures: &["ns_per_call"],
            points: chains().into(),
            implementations: &["local", "boxroot", "unsafe", "force_remote", "rust_token"],
            one_executable: true,
            times: times(5),
        },
        Part {
            name: "program_checks",
            title: "Programs that use global roots: the price of checks for threads",
            figures: &["seconds"],
            points: programs(),
            implementations: &["boxroot", "unsafe", "force_remote"],
            one_executable: true,
            times: times(3),
        },
        Part {
            name: "micro",
            title: "Single operations",
            figures: &["ns_per_operation"],
            points: vec![
                micro("pair"),
                micro("batch"),
                micro("get"),
                micro("modify_young"),
                micro("modify_old"),
                micro("delete_old"),
                micro("delete_shuffled"),
                micro("delete_old_marking"),
                micro("mark_and_delete_old"),
            ],
            implementations: &[
                "boxroot",
                "peer",
                "global",
                "generational",
                "dll_boxroot",
                "rem_boxroot",
                "bitmap_boxroot",
            ],
            one_executable: false,
            times: times(5),
        },
        Part {
            name: "levels",
            title: "Single operations, by level of the interface",
            figures: &["ns_per_operation"],
            points: ["pair", "batch", "get", "modify_young", "delete_shuffled"].map(micro).into(),
            implementations: &["boxroot", "unsafe", "rust_raw", "rust_token", "rust_drop"],
            one_executable: true,
            times: times(5),
        },
        Part {
            name: "pause",
            title: "Pauses with many live roots",
            figures: &["longest_pause", "longest_major_hook", "longest_minor", "ten_majors"],
            points: roots.map(|n| point("pause", [("SIZE", n)])).into(),
            implementations: many,
            one_executable: false,
            times: times(3),
        },
        Part {
            name: "memory",
            title: "Memory of many live roots",
            figures: &["bytes_per_root", "given_back", "growth_after_refill"],
            points: roots.map(|n| point("memory", [("SIZE", n)])).into(),
            implementations: many,
            one_executable: false,
            times: times(2),
        },
        Part {
            name: "pools",
            title: "Pools of ours",
            figures: &["pools"],
            points: roots[..3].iter().map(|&n| point("memory", [("SIZE", n)])).collect(),
            implementations: &["boxroot"],
            one_executable: true,
            times: times(2),
        },
        Part {
            name: "domains",
            title: "Several domains",
            figures: &["seconds", "creates", "peak_resident"],
            points: doms
                .map(|d| point("par_perm_count", [("DOMS", d), ("N", n(9))]))
                .into_iter()
                .chain(doms.map(|d| point("prodcons", [("DOMS", d), ("SIZE", size(5_000_000))])))
                .collect(),
            implementations: domains,
            one_executable: false,
            times: times(3),
        },
        Part {
            name: "lockless",
            title: "Deletes from threads that never hold a lock",
            figures: &["seconds", "creates", "peak_resident"],
            points: doms
                .map(|t| point("lockless", [("THREADS", t), ("SIZE", size(10_000_000))]))
                .into(),
            implementations: &[],
            one_executable: false,
            times: times(5),
        },
    ]
}
