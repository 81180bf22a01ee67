//! Sizes and durations as people write them.

use std::time::Duration;

/// Reads a number of bytes, such as `65536`, `64K`, `16M` or `1GiB`. The units are powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let expected = || format!("expected bytes such as 16777216 or 16M, got `{text}`");
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit {
        "" | "B" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        _ => return Err(expected()),
    };
    let number: u64 = number.parse().map_err(|_| expected())?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is more than 64 bits hold"))
}

/// Reads a positive number of seconds, such as `60` or `0.5`.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("expected seconds such as 60 or 0.5, got `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_binary_unit_or_none() {
        for (text, size) in
            [("0", 0), ("1500", 1500), ("7B", 7), ("64K", 65_536), ("16M", 16_777_216)]
        {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        for text in ["", "M", "-1", "1.5M", "16MB", "16 M", "0x10", "99999999999G"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_are_positive() {
        assert_eq!(seconds("60"), Ok(Duration::from_secs(60)));
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["", "0", "-1", "nan", "inf", "1e300", "5s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
