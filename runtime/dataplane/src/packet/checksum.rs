//! The Internet checksum (RFC 1071), kept right when fields change (RFC 1624).

/// The checksum after one 16-bit word of what it covers changed (RFC 1624, equation 3).
///
/// ```
/// use dataplane::packet::checksum::update;
/// // The RFC's own example: 0x5555 became 0x3285.
/// assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
/// ```
#[inline]
#[must_use]
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u32::from(!checksum) + u32::from(!old) + u32::from(new))
}

/// The checksum after a run of 16-bit words changed. Both have one even length, of a few words.
#[inline]
#[must_use]
pub fn update_bytes(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    let changes = words(old).zip(words(new)).map(|(old, new)| u32::from(!old) + u32::from(new));
    !fold(u32::from(!checksum) + changes.sum::<u32>())
}

/// The checksum of some bytes, the last padded by a zero if they are odd in number.
#[must_use]
pub fn of(bytes: &[u8]) -> u16 {
    !words(bytes).fold(0, |sum, word| fold(u32::from(sum) + u32::from(word)))
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
}

#[inline]
fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    let twice = (once & 0xffff) + (once >> 16);
    u16::try_from(twice).expect("two folds leave sixteen bits of any sum of few words")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_update_agrees_with_the_sum_over_everything(
            mut bytes in proptest::collection::vec(any::<u8>(), 8..64),
            at in 0_usize..3,
            new in any::<[u8; 2]>(),
        ) {
            // A word that is never zero keeps the two zeros of one's complement apart.
            bytes[6] |= 1;
            let before = of(&bytes);
            let place = at * 2;
            let old = [bytes[place], bytes[place + 1]];
            bytes[place..place + 2].copy_from_slice(&new);
            prop_assert_eq!(update_bytes(before, &old, &new), of(&bytes));
        }
    }
}
