use super::{
    FlowKey, Seed,
    key::{SHORT, WORDS, Words},
};

/// Which bits of a key count, in the form in which keys are compared under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mask {
    bits: FlowKey,
    /// The words that have a bit.
    places: [u8; WORDS],
    count: u8,
    /// Whether a word behind the short ones has a bit.
    long: bool,
}

impl Mask {
    /// The mask of these bits.
    pub(crate) fn new(bits: &FlowKey) -> Self {
        let mut mask = Self { bits: *bits, places: [0; WORDS], count: 0, long: false };
        for (place, word) in (0_u8..).zip(bits.words()) {
            if *word != 0 {
                mask.places[usize::from(mask.count)] = place;
                mask.count += 1;
                mask.long |= usize::from(place) >= SHORT;
            }
        }
        mask
    }

    /// Its bits.
    #[inline]
    pub(crate) fn bits(&self) -> &FlowKey {
        &self.bits
    }

    /// Whether a key has the value in all bits that count. The value has no others.
    #[inline]
    pub(crate) fn matches(&self, key: &FlowKey, value: &FlowKey) -> bool {
        let (mask, key, value) = (self.bits.words(), key.words(), value.words());
        difference::<0, SHORT>(mask, key, value) == 0
            && (!self.long || difference::<SHORT, WORDS>(mask, key, value) == 0)
    }

    /// Mixes the bits of a key that count.
    #[inline]
    pub(crate) fn hash(&self, seed: Seed, key: &FlowKey) -> u64 {
        let (mask, key) = (self.bits.words(), key.words());
        let word = |place: u8| {
            let place = usize::from(place) % WORDS;
            mask[place] & key[place]
        };
        seed.mix(self.places[..usize::from(self.count)].iter().map(|&place| word(place)))
    }
}

/// The bits in which two keys differ under a mask, in some words.
#[inline]
fn difference<const FROM: usize, const TO: usize>(mask: &Words, a: &Words, b: &Words) -> u64 {
    (FROM..TO).fold(0, |found, place| found | ((a[place] & mask[place]) ^ b[place]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(words: Words) -> FlowKey {
        zerocopy::transmute!(words)
    }

    /// Words of which many are zero.
    fn words() -> impl Strategy<Value = Words> {
        proptest::array::uniform11(prop_oneof![Just(0), any::<u64>()])
    }

    proptest! {
        #[test]
        fn agrees_with_the_comparison_of_masked_keys(
            mask in words(),
            a in words(),
            flip in 0..WORDS * 64,
        ) {
            let mut b = a;
            b[flip / 64] ^= 1 << (flip % 64);
            let (bits, a, b) = (key(mask), key(a), key(b));
            let mask = Mask::new(&bits);
            prop_assert!(mask.matches(&a, &(&a & &bits)));
            prop_assert_eq!(mask.matches(&a, &(&b & &bits)), &a & &bits == &b & &bits);
            let same = mask.hash(Seed(5), &a) == mask.hash(Seed(5), &b);
            prop_assert_eq!(same, &a & &bits == &b & &bits, "a hash sees the bits, and no others");
        }
    }
}
