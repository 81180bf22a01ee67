use std::{fmt, str::FromStr};

use super::text::{TextError, number, split_mask, text_or_number_type, text_type};

/// The ports of TCP, UDP and SCTP that equal `port` where `mask` has ones: `443`, `0x8000/0x8000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct L4PortMatch {
    /// The port; zero where the mask is.
    pub port: u16,
    /// The bits that count.
    pub mask: u16,
}

impl L4PortMatch {
    fn number(self) -> Option<u16> {
        (self.mask == u16::MAX).then_some(self.port)
    }
}

impl FromStr for L4PortMatch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let error = |reason: &str| TextError::new(text, "a port", reason);
        let sixteen = |part| {
            let number = number(part).and_then(|number| u16::try_from(number).ok());
            number
                .ok_or_else(|| error("write 0 to 65535, or such a port and mask as 0x8000/0x8000"))
        };
        let (value, mask) = split_mask(text);
        let (port, mask) = (sixteen(value)?, mask.map_or(Ok(u16::MAX), sixteen)?);
        if port & !mask != 0 {
            let meant = Self { port: port & mask, mask };
            return Err(error(&format!("it has ones outside its mask; write {meant}")));
        }
        Ok(Self { port, mask })
    }
}

impl fmt::Display for L4PortMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Some(port) => write!(f, "{port}"),
            None => write!(f, "{:#06x}/{:#06x}", self.port, self.mask),
        }
    }
}

text_or_number_type!(
    L4PortMatch,
    "A port of TCP, UDP or SCTP, or a port and a mask",
    [serde_json::json!(443), serde_json::json!("0x8000/0x8000")]
);

/// The control bits of TCP (RFC 9293, 3.1; RFC 3540) that equal `flags` where `mask` has ones: `0x02/0x12` is
/// a SYN without ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TcpFlagsMatch {
    /// The bits, from FIN (1) to NS (0x100); zero where the mask is.
    pub flags: u16,
    /// The bits that count.
    pub mask: u16,
}

impl TcpFlagsMatch {
    /// All bits that there are.
    pub const ALL: u16 = 0x1ff;
}

impl FromStr for TcpFlagsMatch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let error = |reason: &str| TextError::new(text, "a match of TCP flags", reason);
        let nine = |part| {
            let number = number(part).and_then(|number| u16::try_from(number).ok());
            let inside = number.filter(|bits| *bits <= Self::ALL);
            inside.ok_or_else(|| error("write bits and mask, each up to 0x1ff, such as 0x02/0x12"))
        };
        let (value, mask) = split_mask(text);
        let (flags, mask) = (nine(value)?, mask.map_or(Ok(Self::ALL), nine)?);
        if flags & !mask != 0 {
            let meant = Self { flags: flags & mask, mask };
            return Err(error(&format!("it has ones outside its mask; write {meant}")));
        }
        Ok(Self { flags, mask })
    }
}

impl fmt::Display for TcpFlagsMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}/{:#04x}", self.flags, self.mask)
    }
}

text_type!(TcpFlagsMatch, "Control bits of TCP and the mask of those that count", "0x02/0x12");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_a_number_and_a_masked_one_a_string() {
        for (written, shown) in [
            ("443", "443"),
            ("\"443\"", "443"),
            ("\"0x1bb\"", "443"),
            ("\"443/0xffff\"", "443"),
            ("\"4096/0xf000\"", "\"0x1000/0xf000\""),
        ] {
            let port: L4PortMatch = serde_json::from_str(written).unwrap();
            assert_eq!(serde_json::to_string(&port).unwrap(), shown, "{written}");
        }
        for bad in ["65536", "-1", "1.5", "\"\"", "\"1/\"", "\"1-2\"", "\"3/0x1\"", "null"] {
            assert!(serde_json::from_str::<L4PortMatch>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn flags_are_written_with_their_mask() {
        let text = |text: &str| text.parse::<TcpFlagsMatch>().map(|flags| flags.to_string());
        assert_eq!(text("2/18").unwrap(), "0x02/0x12");
        assert_eq!(text("0x02").unwrap(), "0x02/0x1ff");
        assert!(text("0x13/0x12").unwrap_err().to_string().ends_with("write 0x12/0x12"));
        assert!(text("0x200/0x200").is_err());
    }
}
