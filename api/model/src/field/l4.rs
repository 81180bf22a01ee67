use std::{fmt, str::FromStr};

use super::text::{TextError, number, split_mask, text_or_number_type, text_type};

/// Ports of TCP, UDP and SCTP: those that equal a port where a mask has ones (`443`,
/// `0x8000/0x8000`), or those from one to another (`1000-1999`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum L4PortMatch {
    /// By their bits.
    Masked {
        /// The port; zero where the mask is.
        port: u16,
        /// The bits that count.
        mask: u16,
    },
    /// By their numbers.
    Range {
        /// The least.
        first: u16,
        /// The greatest, which is greater than the least.
        last: u16,
    },
}

impl L4PortMatch {
    /// One port.
    #[must_use]
    pub const fn exact(port: u16) -> Self {
        Self::Masked { port, mask: u16::MAX }
    }

    /// The ports from one to another; `None` if the other is less.
    #[must_use]
    pub const fn range(first: u16, last: u16) -> Option<Self> {
        if first > last {
            None
        } else if first == last {
            Some(Self::exact(first))
        } else {
            Some(Self::Range { first, last })
        }
    }

    fn number(self) -> Option<u16> {
        match self {
            Self::Masked { port, mask: u16::MAX } => Some(port),
            _ => None,
        }
    }

    fn masked(text: &str) -> Result<Self, TextError> {
        let (value, mask) = split_mask(text);
        let (port, mask) = (port(text, value)?, mask.map_or(Ok(u16::MAX), |it| port(text, it))?);
        if port & !mask != 0 {
            let meant = Self::Masked { port: port & mask, mask };
            let reason = format!("it has ones outside its mask; write {meant}");
            return Err(TextError::new(text, PORT, reason));
        }
        Ok(Self::Masked { port, mask })
    }
}

const PORT: &str = "a port";

fn port(text: &str, part: &str) -> Result<u16, TextError> {
    let reason =
        "write 0 to 65535, a range such as 1000-1999, or a port and a mask such as 0x8000/0x8000";
    let number = number(part).and_then(|number| u16::try_from(number).ok());
    number.ok_or_else(|| TextError::new(text, PORT, reason))
}

impl FromStr for L4PortMatch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let Some((first, last)) = text.split_once('-') else { return Self::masked(text) };
        Self::range(port(text, first)?, port(text, last)?)
            .ok_or_else(|| TextError::new(text, PORT, "a range goes from the less to the greater"))
    }
}

impl fmt::Display for L4PortMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Masked { port, mask: u16::MAX } => write!(f, "{port}"),
            Self::Masked { port, mask } => write!(f, "{port:#06x}/{mask:#06x}"),
            Self::Range { first, last } => write!(f, "{first}-{last}"),
        }
    }
}

text_or_number_type!(
    L4PortMatch,
    "A port of TCP, UDP or SCTP, a range of ports, or a port and a mask",
    [serde_json::json!(443), serde_json::json!("1000-1999"), serde_json::json!("0x8000/0x8000")]
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
    fn a_port_is_a_number_and_several_are_a_string() {
        for (written, shown) in [
            ("443", "443"),
            ("\"443\"", "443"),
            ("\"0x1bb\"", "443"),
            ("\"443/0xffff\"", "443"),
            ("\"4096/0xf000\"", "\"0x1000/0xf000\""),
            ("\"1000-1999\"", "\"1000-1999\""),
            ("\"0-0xffff\"", "\"0-65535\""),
            ("\"80-80\"", "80"),
        ] {
            let port: L4PortMatch = serde_json::from_str(written).unwrap();
            assert_eq!(serde_json::to_string(&port).unwrap(), shown, "{written}");
        }
        for bad in ["65536", "-1", "1.5", "", "1/", "3/0x1", "2-1", "-", "1-", "1-65536", "1-2-3"] {
            let text = format!("\"{bad}\"");
            assert!(serde_json::from_str::<L4PortMatch>(&text).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<L4PortMatch>("null").is_err());
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
