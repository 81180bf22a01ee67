use std::{fmt, str::FromStr};

use super::{
    Dscp,
    text::{TextError, number, text_type},
};

/// What becomes of packets that are beyond a meter's rate: `pass`, `drop`, or `remark:46` for
/// another DSCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Treatment {
    /// They go on as they are.
    Pass,
    /// They are dropped, and counted as `meter-drop`.
    Drop,
    /// They go on with this DSCP, if they are IP packets.
    Remark(Dscp),
}

impl FromStr for Treatment {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let error = || {
            let reason = "write pass, drop or remark with a DSCP, such as remark:46";
            TextError::new(text, "a treatment", reason)
        };
        match text.split_once(':') {
            None if text == "pass" => Ok(Self::Pass),
            None if text == "drop" => Ok(Self::Drop),
            Some(("remark", dscp)) => number(dscp)
                .and_then(|dscp| Dscp::new(u8::try_from(dscp).ok()?))
                .map(Self::Remark)
                .ok_or_else(error),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("pass"),
            Self::Drop => f.write_str("drop"),
            Self::Remark(dscp) => write!(f, "remark:{dscp}"),
        }
    }
}

text_type!(Treatment, "pass, drop, or remark with a DSCP", "remark:46");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_treatment_is_a_word_and_remarking_has_a_number() {
        for text in ["pass", "drop", "remark:0", "remark:63"] {
            assert_eq!(text.parse::<Treatment>().unwrap().to_string(), text);
        }
        for bad in ["", "Pass", "remark", "remark:", "remark:64", "pass:1", "drop:"] {
            assert!(bad.parse::<Treatment>().is_err(), "{bad:?}");
        }
    }
}
