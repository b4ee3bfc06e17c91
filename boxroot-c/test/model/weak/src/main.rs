//! The remote-delete protocol with the memory orderings of the C code, one to one.
//!
//! Usage: `boxroot-model-weak SCENARIO [MUTANT]`. Built with `--cfg loom`, it explores all
//! executions of a scenario that loom can produce. Otherwise it runs the scenario once, on threads,
//! for Miri. A mutant weakens one ordering. The program panics if a property fails; see README.md
//! one folder up.

mod protocol;
mod scenarios;
mod sync;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let scenario = arguments.next().unwrap_or_default();
    let orderings = match arguments.next() {
        None => protocol::Orderings::of_the_c_code(),
        Some(mutant) => protocol::Orderings::weakened(&mutant)
            .unwrap_or_else(|| panic!("no mutant is called {mutant}")),
    };
    let run = scenarios::by_name(&scenario)
        .unwrap_or_else(|| panic!("no scenario is called '{scenario}'"));
    let executions = sync::explore(move || run(orderings));
    println!("{executions}");
}
