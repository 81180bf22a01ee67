use core::ops::Deref;

/// A TCP header (RFC 9293), without its options.
#[derive(Debug, Clone, Copy)]
pub struct Tcp<B>(B);

impl<B: Deref<Target = [u8; 20]>> Tcp<B> {
    pub(crate) fn new(bytes: B) -> Self {
        Self(bytes)
    }

    /// The port that it comes from.
    #[inline]
    pub fn source_port(&self) -> u16 {
        u16::from_be_bytes([self.0[0], self.0[1]])
    }

    /// The port that it goes to.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        u16::from_be_bytes([self.0[2], self.0[3]])
    }

    /// The bits CWR, ECE, URG, ACK, PSH, RST, SYN and FIN, the last being bit 0.
    #[inline]
    pub fn flags(&self) -> u8 {
        self.0[13]
    }

    /// The checksum over the pseudo header, this header and the payload.
    #[inline]
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.0[16], self.0[17]])
    }
}

/// A UDP header (RFC 768).
#[derive(Debug, Clone, Copy)]
pub struct Udp<B>(B);

impl<B: Deref<Target = [u8; 8]>> Udp<B> {
    pub(crate) fn new(bytes: B) -> Self {
        Self(bytes)
    }

    /// The port that it comes from.
    #[inline]
    pub fn source_port(&self) -> u16 {
        u16::from_be_bytes([self.0[0], self.0[1]])
    }

    /// The port that it goes to.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        u16::from_be_bytes([self.0[2], self.0[3]])
    }

    /// The checksum over the pseudo header, this header and the payload; 0 if there is none.
    #[inline]
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.0[6], self.0[7]])
    }
}

/// The first 8 bytes of an ICMP (RFC 792) or ICMPv6 (RFC 4443) message.
#[derive(Debug, Clone, Copy)]
pub struct Icmp<B>(B);

impl<B: Deref<Target = [u8; 8]>> Icmp<B> {
    pub(crate) fn new(bytes: B) -> Self {
        Self(bytes)
    }

    /// What kind of message it is.
    #[inline]
    pub fn kind(&self) -> u8 {
        self.0[0]
    }

    /// What kind within the kind.
    #[inline]
    pub fn code(&self) -> u8 {
        self.0[1]
    }

    /// The checksum over the message and, for ICMPv6, the pseudo header.
    #[inline]
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.0[2], self.0[3]])
    }
}
