//! Statistics of some figures or ratios.

pub fn median(figures: Vec<f64>) -> f64 {
    quantile(figures, 0.5)
}

/// The quantile of the figures for this share. There is at least one figure.
pub fn quantile(mut figures: Vec<f64>, share: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[(figures.len() as f64 * share) as usize]
}

/// `None` if there are none.
pub fn geometric_mean(all: &[f64]) -> Option<f64> {
    let logarithms = all.iter().map(|x| x.ln()).sum::<f64>();
    (!all.is_empty()).then(|| (logarithms / all.len() as f64).exp())
}

pub fn smallest_and_largest(all: impl Iterator<Item = f64>) -> (f64, f64) {
    all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}
