/// Random numbers that are the same for the same seed, on every machine (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A random address, or any other 32 bits.
    pub(crate) fn word(&mut self) -> u32 {
        self.bits().to_le_bytes().first_chunk().map_or(0, |low| u32::from_le_bytes(*low))
    }

    /// A random port, or any other 16 bits.
    pub(crate) fn half_word(&mut self) -> u16 {
        self.bits().to_le_bytes().first_chunk().map_or(0, |low| u16::from_le_bytes(*low))
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let below = self.bits() % end as u64;
        usize::try_from(below).expect("it is less than a usize")
    }

    /// A number from 0 up to, but not including, 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        // The 53 bits that a double holds exactly.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of some things.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// One of some things, each as likely as its weight says.
    pub(crate) fn weighted<'a, T>(&mut self, from: &'a [(u32, T)]) -> &'a T {
        let total: u32 = from.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total as usize);
        for (weight, thing) in from {
            match left.checked_sub(*weight as usize) {
                Some(less) => left = less,
                None => return thing,
            }
        }
        unreachable!("the number is below the sum of all weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence() {
        let draw = |seed| {
            let mut dice = Dice::new(seed);
            [dice.bits(), dice.bits(), dice.bits()]
        };
        // The reference implementation's first numbers for the seed 0.
        let reference = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!(draw(0), reference);
        assert_ne!(draw(1), draw(0));
    }

    #[test]
    fn a_weight_is_how_often_a_thing_is_drawn() {
        let mut dice = Dice::new(7);
        let mut drawn = [0; 3];
        for _ in 0..10_000 {
            drawn[*dice.weighted(&[(1, 0), (0, 1), (3, 2)])] += 1;
        }
        assert_eq!(drawn[1], 0);
        assert!((2_300..2_700).contains(&drawn[0]), "{drawn:?}");
    }
}
