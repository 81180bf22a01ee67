//! Ranges of ports as the fewest prefixes that cover them.
//!
//! Fewer patterns than these would do where masks need not be prefixes; but then there would be as
//! many masks, and the classifier searches once for each mask.

/// A port and the bits of it that count.
pub(super) type Masked = (u16, u16);

/// The prefixes of the ports from `first` to `last`, in order. There are at most 30.
pub(super) fn prefixes(first: u16, last: u16) -> Vec<Masked> {
    let mut found = Vec::new();
    let mut next = Some(first);
    while let Some(port) = next.filter(|port| *port <= last) {
        let aligned = port.trailing_zeros();
        let fitting = (u32::from(last - port) + 1).ilog2();
        let mask = u16::MAX.checked_shl(aligned.min(fitting)).unwrap_or(0);
        found.push((port, mask));
        next = (port | !mask).checked_add(1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_where_its_bits_are() {
        assert_eq!(prefixes(0, u16::MAX), [(0, 0)]);
        assert_eq!(prefixes(80, 80), [(80, 0xffff)]);
        assert_eq!(prefixes(u16::MAX, u16::MAX), [(0xffff, 0xffff)]);
        assert_eq!(prefixes(1024, u16::MAX).len(), 6);
        assert_eq!(
            prefixes(1000, 1999),
            [
                (1000, 0xfff8),
                (1008, 0xfff0),
                (1024, 0xfe00),
                (1536, 0xff00),
                (1792, 0xff80),
                (1920, 0xffc0),
                (1984, 0xfff0),
            ]
        );
        assert_eq!(prefixes(1, u16::MAX - 1).len(), 30);
    }

    #[test]
    fn each_port_of_a_range_is_in_one_prefix_and_no_other_port_is_in_any() {
        for (first, last) in [(1, 0xfffe), (0, 1), (5, 5), (1023, 1025), (49_152, 65_535)] {
            let found = prefixes(first, last);
            for port in 0..=u16::MAX {
                let count = found.iter().filter(|(value, mask)| port & mask == *value).count();
                assert_eq!(count, usize::from((first..=last).contains(&port)), "{port}");
            }
        }
    }
}
