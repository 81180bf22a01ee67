use super::{
    FlowKey, Seed,
    key::{SHORT, WORDS, Words},
};

/// Which bits of a key count, in the form in which keys are compared under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mask {
    bits: FlowKey,
    /// Whether a word behind the short ones has a bit.
    long: bool,
}

impl Mask {
    /// The mask of these bits.
    pub(crate) fn new(bits: &FlowKey) -> Self {
        let long = bits.words()[SHORT..].iter().any(|word| *word != 0);
        Self { bits: *bits, long }
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
        let word = |place: usize| mask[place] & key[place];
        let pair = |place: usize| [word(place), word(place + 1)];
        let short = seed.mix([pair(0), pair(2), pair(4), [word(6), 0]]);
        if self.long { Seed(short).mix([pair(7), pair(9)]) } else { short }
    }
}

const _: () = assert!(SHORT == 7 && WORDS == 11, "a hash is of all words");

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
