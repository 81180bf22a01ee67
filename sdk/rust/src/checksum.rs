//! The Internet checksum (RFC 1071), and how it changes with the data (RFC 1624).

/// What belongs into the checksum field, which is zero in `bytes` or left out of them.
#[must_use]
pub fn of(bytes: &[u8]) -> u16 {
    !sum(bytes)
}

/// Whether `bytes` are right, their checksum field being among them.
#[inline]
#[must_use]
pub fn is_right(bytes: &[u8]) -> bool {
    sum(bytes) == 0xffff
}

/// The checksum after one word of the data changed (RFC 1624, equation 3).
///
/// A UDP checksum of 0 means that there is none: leave it. A new one of 0 is sent as `0xffff`.
#[inline]
#[must_use]
pub fn update_u16(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!old) + u64::from(new))
}

/// The checksum after two neighbouring words of the data changed; see [`update_u16`].
#[inline]
#[must_use]
pub fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!old) + u64::from(new))
}

/// The ones' complement sum of the 16-bit words; a last odd byte is the high one of a word.
///
/// Sums words of 32 bits, which comes to the same, for a carry is worth one in either.
#[inline]
fn sum(bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks::<4>();
    let whole: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    fold(whole + u64::from(u32::from_be_bytes(last)))
}

#[inline]
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    (sum & 0xffff) as u16
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// RFC 1071, section 1, word by word.
    fn slow(bytes: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for pair in bytes.chunks(2) {
            let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
            sum += u32::from(word);
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !u16::try_from(sum).unwrap()
    }

    #[test]
    fn the_example_of_rfc_1071_sums_to_ddf2() {
        assert_eq!(of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn the_example_of_rfc_1624_gives_zero_and_not_its_other_zero() {
        assert_eq!(update_u16(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn sums_as_word_by_word(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(of(&bytes), slow(&bytes));
        }

        #[test]
        fn data_with_its_checksum_are_right_and_with_another_are_not(
            words in prop::collection::vec(any::<u16>(), 1..40),
            wrong in 1_u16..0xffff,
        ) {
            let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            let checksum = of(&bytes);
            bytes.extend(checksum.to_be_bytes());
            prop_assert!(is_right(&bytes));
            let end = bytes.len() - 2;
            bytes[end..].copy_from_slice(&checksum.wrapping_add(wrong).to_be_bytes());
            prop_assert_eq!(is_right(&bytes), slow(&bytes) == 0);
        }

        #[test]
        fn an_update_is_what_summing_anew_gives(
            mut bytes in prop::array::uniform20(any::<u8>()),
            place in 1_usize..9,
            new in any::<u32>(),
        ) {
            bytes[0] = 0x45; // As in every header, something is not zero.
            let (before, at) = (of(&bytes), place * 2);
            let old = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());

            let mut one = bytes;
            let [a, b, _, _] = new.to_be_bytes();
            one[at..at + 2].copy_from_slice(&[a, b]);
            let (old_word, new_word) = ((old >> 16) as u16, (new >> 16) as u16);
            prop_assert_eq!(update_u16(before, old_word, new_word), slow(&one));

            bytes[at..at + 4].copy_from_slice(&new.to_be_bytes());
            prop_assert_eq!(update_u32(before, old, new), slow(&bytes));
        }
    }
}
