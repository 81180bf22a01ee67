use crate::flow::FlowKey;

/// A field that rules match by prefixes, so that a table can know which prefixes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrefixField {
    Ipv4Src,
    Ipv4Dst,
    Ipv6Src,
    Ipv6Dst,
    L4Src,
    L4Dst,
}

impl PrefixField {
    pub(super) const ALL: [Self; 6] =
        [Self::Ipv4Src, Self::Ipv4Dst, Self::Ipv6Src, Self::Ipv6Dst, Self::L4Src, Self::L4Dst];

    /// Its bits in a key, the first of them the highest of the answer.
    pub(super) fn of(self, key: &FlowKey) -> u128 {
        let port = |port: u16| u128::from(port) << 112;
        let short = |address: [u8; 4]| u128::from(u32::from_be_bytes(address)) << 96;
        match self {
            Self::Ipv4Src => short(key.ipv4_src),
            Self::Ipv4Dst => short(key.ipv4_dst),
            Self::Ipv6Src => u128::from_be_bytes(key.ipv6_src),
            Self::Ipv6Dst => u128::from_be_bytes(key.ipv6_dst),
            Self::L4Src => port(key.l4_src),
            Self::L4Dst => port(key.l4_dst),
        }
    }

    /// A mask of its first bits.
    pub(super) fn mask(self, length: u8) -> FlowKey {
        let bits = first_bits(length);
        let [a, b, c, d, ..] = bits.to_be_bytes();
        let (port, short) = (u16::from_be_bytes([a, b]), [a, b, c, d]);
        match self {
            Self::Ipv4Src => FlowKey { ipv4_src: short, ..FlowKey::NONE },
            Self::Ipv4Dst => FlowKey { ipv4_dst: short, ..FlowKey::NONE },
            Self::Ipv6Src => FlowKey { ipv6_src: bits.to_be_bytes(), ..FlowKey::NONE },
            Self::Ipv6Dst => FlowKey { ipv6_dst: bits.to_be_bytes(), ..FlowKey::NONE },
            Self::L4Src => FlowKey { l4_src: port, ..FlowKey::NONE },
            Self::L4Dst => FlowKey { l4_dst: port, ..FlowKey::NONE },
        }
    }

    /// How many first bits are said to have been looked at when so many were. These come in steps:
    /// else answers would have nearly as many masks as there are lengths, and a cache of them is as
    /// slow as it has masks.
    pub(super) fn rounded(self, length: u8) -> u8 {
        let step = match self {
            Self::Ipv4Src | Self::Ipv4Dst | Self::L4Src | Self::L4Dst => 4,
            Self::Ipv6Src | Self::Ipv6Dst => 16,
        };
        length.next_multiple_of(step)
    }

    /// How long the prefix is that a mask has in this field; `None` if it has no bit there, or not
    /// the bits of a prefix.
    pub(super) fn length(self, mask: &FlowKey) -> Option<u8> {
        let bits = self.of(mask);
        let length = u8::try_from(bits.leading_ones()).expect("a word has fewer bits");
        (length > 0 && bits == first_bits(length)).then_some(length)
    }
}

/// A number whose first bits are ones.
pub(super) fn first_bits(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
}
