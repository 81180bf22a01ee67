//! The checksum of SCTP (RFC 9260, appendix A), kept right when bytes change.
//!
//! A CRC is linear: what some bytes' change does to it hangs on the change and on how many bytes
//! follow, not on what they are.

/// The polynomial of CRC32c, its bits reversed: the highest bit is the factor of one.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// The polynomial one.
const ONE: u32 = 1 << 31;
/// The polynomial x to the eighth, which shifts by a byte.
const BYTE: u32 = 1 << 23;

/// How the checksum of a packet differs, bit by bit, after two of its bytes changed from `old` to
/// `new`, with `behind` bytes behind them.
pub(crate) fn difference(old: [u8; 2], new: [u8; 2], behind: usize) -> u32 {
    let [low, high] = [old[0] ^ new[0], old[1] ^ new[1]];
    let change = u32::from_le_bytes([low, high, 0, 0]);
    // Two bytes before the end, a change is a register that the last two bytes have yet to leave.
    multiply(change, power(behind + 2))
}

/// Eight bits to the left, so many times.
fn power(bytes: usize) -> u32 {
    let (mut result, mut factor, mut left) = (ONE, BYTE, bytes);
    while left > 0 {
        if left & 1 == 1 {
            result = multiply(result, factor);
        }
        factor = multiply(factor, factor);
        left >>= 1;
    }
    result
}

/// The product of two polynomials, modulo that of the CRC.
fn multiply(mut a: u32, b: u32) -> u32 {
    let mut product = 0;
    for place in (0..u32::BITS).rev() {
        if b >> place & 1 == 1 {
            product ^= a;
        }
        a = a >> 1 ^ if a & 1 == 1 { POLYNOMIAL } else { 0 };
    }
    product
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The CRC as RFC 9260 has it, bit by bit.
    fn slow(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |register, byte| {
            (0..8).fold(register ^ u32::from(*byte), |register, _| {
                register >> 1 ^ if register & 1 == 1 { POLYNOMIAL } else { 0 }
            })
        })
    }

    #[test]
    fn the_slow_one_is_crc32c() {
        assert_eq!(slow(b"123456789"), 0xe306_9283);
    }

    proptest! {
        #[test]
        fn an_update_agrees_with_the_checksum_over_everything(
            mut bytes in proptest::collection::vec(any::<u8>(), 2..1500),
            place in any::<prop::sample::Index>(),
            new in any::<[u8; 2]>(),
        ) {
            let place = place.index(bytes.len() - 1);
            let before = slow(&bytes);
            let old = [bytes[place], bytes[place + 1]];
            bytes[place..place + 2].copy_from_slice(&new);
            let after = before ^ difference(old, new, bytes.len() - place - 2);
            prop_assert_eq!(after, slow(&bytes));
        }
    }
}
