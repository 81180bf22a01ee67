use std::{fmt, str::FromStr};

use super::text::{TextError, number, split_mask, text_type};

/// Bits of what stages and rules have written beside a packet: those that equal `value` where
/// `mask` has ones, as in `0x10/0xff`, or that become so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metadata {
    /// The bits; zero where the mask is.
    pub value: u64,
    /// The bits that count.
    pub mask: u64,
}

impl FromStr for Metadata {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let error = |reason: &str| TextError::new(text, "metadata", reason);
        let bits = |part| {
            number(part).ok_or_else(|| error("write 64 bits, or such and a mask as in 0x10/0xff"))
        };
        let (value, mask) = split_mask(text);
        let (value, mask) = (bits(value)?, mask.map_or(Ok(u64::MAX), bits)?);
        if value & !mask != 0 {
            let meant = Self { value: value & mask, mask };
            return Err(error(&format!("it has ones outside its mask; write {meant}")));
        }
        Ok(Self { value, mask })
    }
}

impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.value)?;
        if self.mask == u64::MAX { Ok(()) } else { write!(f, "/{:#x}", self.mask) }
    }
}

text_type!(Metadata, "64 bits, optionally with the mask of those that count", "0x10/0xff");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_mask_is_left_out_and_a_partial_one_kept() {
        let text = |text: &str| text.parse::<Metadata>().map(|metadata| metadata.to_string());
        assert_eq!(text("16/255").unwrap(), "0x10/0xff");
        assert_eq!(text("0xffffffffffffffff").unwrap(), "0xffffffffffffffff");
        assert_eq!(text("0/0").unwrap(), "0x0/0x0");
        assert!(text("0x11/0xf0").unwrap_err().to_string().ends_with("write 0x10/0xf0"));
        for bad in ["", "x", "-1", "1/", "18446744073709551616"] {
            assert!(text(bad).is_err(), "{bad}");
        }
    }
}
