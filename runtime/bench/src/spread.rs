/// Repeats of one measurement, summed up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of repeats in any order; none of no repeats. The median of an even number is the mean of the
    /// two in the middle.
    pub(crate) fn of(repeats: &[f64]) -> Option<Self> {
        let mut sorted = repeats.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Self { median: f64::midpoint(below, above), min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_whatever_the_order() {
        let spread = |repeats: &[f64]| Spread::of(repeats).map(|it| (it.min, it.median, it.max));
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[4.0]), Some((4.0, 4.0, 4.0)));
        assert_eq!(spread(&[9.0, 1.0, 2.0]), Some((1.0, 2.0, 9.0)));
        assert_eq!(spread(&[9.0, 1.0, 2.0, 3.0]), Some((1.0, 2.5, 9.0)));
    }
}
