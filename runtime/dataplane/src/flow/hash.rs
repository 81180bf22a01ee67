use std::hash::Hasher;

use super::{FlowKey, key::SHORT, layers, mpls};

/// What hashes begin with. It is drawn at start, so that nobody can make flows that collide.
#[derive(Debug, Clone, Copy)]
pub struct Seed(pub u64);

/// An odd number without pattern: the golden ratio's fraction.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// What tells the flows of a network protocol apart, but for the addresses of IPv6.
const NETWORK: FlowKey = FlowKey {
    ethertype: u16::MAX,
    mpls: mpls::LABEL,
    ipv4_src: [0xff; 4],
    ipv4_dst: [0xff; 4],
    ..FlowKey::NONE
};
/// What tells them apart behind the network header.
const TRANSPORT: FlowKey =
    FlowKey { protocol: u8::MAX, l4_src: u16::MAX, l4_dst: u16::MAX, ..FlowKey::NONE };
/// What tells the flows of a frame without a network header apart.
const FLAT: FlowKey = FlowKey { eth_dst: [0xff; 6], eth_src: [0xff; 6], ..FlowKey::NONE };

impl Seed {
    /// Mixes the addresses, the protocol, the ports and the outermost label, so that the packets of
    /// a connection in one direction are equal, and so are the fragments of a packet.
    #[inline]
    #[must_use]
    pub fn flow(self, key: &FlowKey) -> u32 {
        // With options behind the fragment header of IPv6, the first fragment alone tells what
        // follows them.
        let behind = if key.layers & layers::FRAGMENT == 0 { &TRANSPORT } else { &FlowKey::NONE };
        let (words, network, behind) = (key.words(), NETWORK.words(), behind.words());
        let word = |place: usize| words[place] & (network[place] | behind[place]);
        let mut hash = self.mix([[word(1), word(2)], [word(3), word(6)]]);
        if words[SHORT..].iter().any(|word| *word != 0) {
            hash = Seed(hash).mix([[words[7], words[8]], [words[9], words[10]]]);
        }
        if key.layers & layers::NETWORK == 0 {
            let addresses = FLAT.words();
            hash = Seed(hash).mix([[words[0] & addresses[0], words[1] & addresses[1]]]);
        }
        let [a, b, c, d, ..] = hash.to_be_bytes();
        u32::from_be_bytes([a, b, c, d])
    }

    /// Mixes a number.
    #[inline]
    pub(crate) fn number(self, number: u64) -> u64 {
        self.mix([[number, 0]])
    }

    /// Mixes words, two at a time and each pair by itself, so that the processor can do all at once.
    /// Pairs begin differently, so that it matters which words are where.
    #[inline]
    pub(super) fn mix<const PAIRS: usize>(self, words: [[u64; 2]; PAIRS]) -> u64 {
        let mut begin = self.0;
        let mut mixed = 0;
        for [first, second] in words {
            begin = begin.wrapping_add(MULTIPLIER);
            mixed ^= folded_multiply(first ^ begin, second ^ begin.rotate_left(32));
        }
        folded_multiply(mixed, MULTIPLIER)
    }
}

/// The product's halves, mixed: each bit of the result hangs on each bit of both factors.
#[inline]
fn folded_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves, on purpose")]
    let (high, low) = ((product >> 64) as u64, product as u64);
    high ^ low
}

/// The hash of a number that is a hash already.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole numbers are hashed")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Mask;

    #[test]
    fn the_flow_hash_looks_at_addresses_protocol_and_ports_alone() {
        let seed = Seed(7);
        let key = FlowKey {
            layers: layers::NETWORK | layers::TRANSPORT,
            l4_src: 1,
            l4_dst: 2,
            ttl: 64,
            ..FlowKey::default()
        };
        let hash = seed.flow(&key);
        assert_eq!(seed.flow(&FlowKey { ttl: 3, tcp_flags: 2, in_port: 9, ..key }), hash);
        assert_ne!(seed.flow(&FlowKey { l4_src: 2, l4_dst: 1, ..key }), hash);
        assert_ne!(seed.flow(&FlowKey { protocol: 17, ..key }), hash);
        assert_ne!(Seed(8).flow(&key), hash);
    }

    #[test]
    fn fragments_of_a_packet_hash_alike() {
        let first =
            FlowKey { layers: layers::NETWORK | layers::FRAGMENT, l4_src: 5, ..FlowKey::default() };
        let later = FlowKey { layers: first.layers | layers::LATER_FRAGMENT, l4_src: 0, ..first };
        assert_eq!(Seed(1).flow(&first), Seed(1).flow(&later));
        let (udp, options) = (17, 60);
        let first = FlowKey { protocol: udp, ..first };
        let later = FlowKey { protocol: options, ..later };
        assert_eq!(Seed(1).flow(&first), Seed(1).flow(&later));
    }

    #[test]
    fn a_hash_spreads_flows_that_differ_in_one_low_bit() {
        let mut buckets = [0_u32; 64];
        for port in 0..6400_u16 {
            let key = FlowKey { l4_src: port, ..FlowKey::default() };
            buckets
                [usize::try_from(Mask::new(&FlowKey::EXACT).hash(Seed(3), &key) % 64).unwrap()] +=
                1;
        }
        assert!(buckets.iter().all(|&n| (50..150).contains(&n)), "{buckets:?}");
    }
}
