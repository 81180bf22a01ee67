//! Copies of a window: short, of every length, and one for each packet, so that a call into the
//! system's library would cost more than the bytes.

/// Copies all of `from` to the beginning of `into`.
///
/// # Panics
///
/// Panics if there is no room for it.
#[inline(always)]
pub(crate) fn copy(from: &[u8], into: &mut [u8]) {
    let into = &mut into[..from.len()];
    match from.len() {
        0..16 => into.copy_from_slice(from),
        16..32 => both_ends::<16>(from, into),
        32..=64 => both_ends::<32>(from, into),
        65..=128 => both_ends::<64>(from, into),
        _ => into.copy_from_slice(from),
    }
}

/// Copies what is between `N` and twice `N` long: its beginning and its end, which may overlap.
#[inline(always)]
fn both_ends<const N: usize>(from: &[u8], into: &mut [u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) {
        if let Some(place) = into.first_chunk_mut() {
            *place = *first;
        }
        if let Some(place) = into.last_chunk_mut() {
            *place = *last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_whole_and_no_byte_more() {
        for length in 0..300 {
            let from: Vec<u8> = (1..=251).cycle().take(length).collect();
            let mut into = vec![0; 310];
            copy(&from, &mut into);
            assert_eq!(into[..length], from);
            assert!(into[length..].iter().all(|byte| *byte == 0), "{length}");
        }
    }
}
