//! The filter: `PROGRAM`, `PROGRAM/IMPLEMENTATION`, or `PROGRAM/IMPLEMENTATION,IMPLEMENTATION`.
//! Names must be complete: `perm_count` does not match `par_perm_count`.

use super::{Program, Result, Suite};

/// A program that measures a time, and the implementations to run it on.
pub struct Chosen<'a> {
    pub program: &'a Program,
    /// The name of that time.
    pub figure: &'a str,
    pub implementations: Vec<&'a str>,
}

/// The programs that the filter names, or all without a filter. An unknown name is an error that
/// lists the valid names.
pub fn choose<'a>(suite: &'a Suite, filter: Option<&str>) -> Result<Vec<Chosen<'a>>> {
    let of = |program: &'a Program| {
        let figure = program.about.as_deref()?;
        Some(Chosen { program, figure, implementations: suite.implementations(&program.name) })
    };
    let all = suite.programs().iter().filter_map(of);
    let Some(filter) = filter else { return Ok(all.collect()) };
    let (program, implementations) = split(filter);
    let names: Vec<&str> = all.clone().map(|chosen| chosen.program.name.as_str()).collect();
    let chosen = all.into_iter().find(|chosen| chosen.program.name == program);
    let mut chosen = chosen.ok_or_else(|| unknown(program, "program", &names))?;
    if let Some(implementations) = implementations {
        let known = std::mem::take(&mut chosen.implementations);
        for name in implementations.split(',') {
            let found = known.iter().find(|known| **known == name);
            let found = found.ok_or_else(|| unknown(name, "implementation", &known))?;
            chosen.implementations.push(found);
        }
    }
    Ok(vec![chosen])
}

/// The texts before and after a slash.
pub fn split(filter: &str) -> (&str, Option<&str>) {
    match filter.split_once('/') {
        Some((program, implementations)) => (program, Some(implementations)),
        None => (filter, None),
    }
}

fn unknown(name: &str, what: &str, valid: &[&str]) -> String {
    format!("{name:?} is no {what} that is measured; choose one of {}", valid.join(" "))
}

impl Program {
    /// Settings for runs that are repeated many times. The environment overrides them.
    pub fn short_settings(&self) -> Vec<(&'static str, String)> {
        match (&self.short, std::env::var("SIZE")) {
            (Some(size), Err(_)) => vec![("SIZE", size.clone())],
            _ => vec![],
        }
    }
}
