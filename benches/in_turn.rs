//! A comparison that takes a minute: one program on two or more implementations, in turn.

use crate::harness::filter::Chosen;
use crate::harness::statistics::{geometric_mean, median, quantile, smallest_and_largest};
use crate::harness::{Figures, Result, Suite, GRID, GRID_SETTING};
use std::time::{Duration, Instant};

/// Runs each of the implementations once, in the first layout and under the first setting of the
/// grid, then once in the second, and so on, while there is time. Prints the ratios of the first
/// implementation to the others.
pub fn compare(suites: &[Suite], chosen: &Chosen) -> Result<()> {
    let Chosen { program, figure, implementations } = chosen;
    let name = program.name.as_str();
    let seconds = match std::env::var("DURATION") {
        Ok(text) => text.parse().map_err(|_| format!("DURATION={text}: a number is needed"))?,
        Err(_) => 60,
    };
    println!("bench: {name} on {} in turn, for {seconds} s", implementations.join(" "));
    // Our implementations are in one executable, so its layout does not affect the ratios.
    let all_ours = implementations.iter().all(|name| suites[0].peer_of(name).is_none());
    let own_setting = std::env::var_os(GRID_SETTING).is_some();

    let mut rounds: Vec<Vec<Figures>> = Vec::new();
    let (start, mut longest) = (Instant::now(), Duration::ZERO);
    while rounds.is_empty() || start.elapsed() + longest < Duration::from_secs(seconds) {
        let round_start = Instant::now();
        // This combines all layouts with all settings: their numbers have no common divisor.
        let suite = &suites[rounds.len() % suites.len()];
        let mut settings = program.short_settings();
        if !own_setting {
            settings.push((GRID_SETTING, GRID[rounds.len() % GRID.len()].to_string()));
        }
        let run = |implementation: &&str| match all_ours {
            true => suite.run_in_variants(name, implementation, &settings),
            false => suite.run(name, implementation, &settings),
        };
        rounds.push(implementations.iter().map(run).collect::<Result<_>>()?);
        longest = longest.max(round_start.elapsed());
    }

    print(implementations, figure, &rounds);
    Ok(())
}

fn print(implementations: &[&str], figure: &str, rounds: &[Vec<Figures>]) {
    println!(
        "{} rounds; where a ratio is below 1, the first of the two takes less\n",
        rounds.len()
    );
    println!("| figure | which two | ratio | quartiles | from – to | medians |");
    println!("|---|---|---|---|---|---|");
    let mut figures = vec![figure, "user_seconds", "peak_resident"];
    figures.dedup();
    for (i, other) in implementations.iter().enumerate().skip(1) {
        for figure in &figures {
            let of =
                |i: usize| rounds.iter().filter_map(move |round| round[i].get(*figure).copied());
            let ratios: Vec<f64> = of(0).zip(of(i)).map(|(a, b)| a / b).collect();
            let Some(mean) = geometric_mean(&ratios) else { continue };
            let (low, high) = smallest_and_largest(ratios.iter().copied());
            let [first, third] = [0.25, 0.75].map(|share| quantile(ratios.clone(), share));
            let medians = [0, i].map(|i| match *figure {
                "peak_resident" => format!("{:.1} MiB", median(of(i).collect()) / 1048576.),
                _ => format!("{:.6} s", median(of(i).collect())),
            });
            println!(
                "| {figure} | {} / {other} | **{mean:.3}** | {first:.3} – {third:.3} | {low:.3} – {high:.3} | {} |",
                implementations[0],
                medians.join(" / "),
            );
        }
    }
}
