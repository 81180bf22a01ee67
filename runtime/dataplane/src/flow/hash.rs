use std::hash::Hasher;

use super::{FlowKey, Mask, layers, mpls};

/// What hashes begin with. It is drawn at start, so that nobody can make flows that collide.
#[derive(Debug, Clone, Copy)]
pub struct Seed(pub u64);

/// An odd number without pattern: the golden ratio's fraction.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Seed {
    /// Mixes the addresses, the protocol, the ports and the outermost label, so that the packets of
    /// a connection in one direction are equal, and so are the fragments of a packet.
    #[inline]
    #[must_use]
    pub fn flow(self, key: &FlowKey) -> u32 {
        let mut flow = FlowKey {
            ethertype: key.ethertype,
            mpls: key.mpls & mpls::LABEL,
            ipv4_src: key.ipv4_src,
            ipv4_dst: key.ipv4_dst,
            ipv6_src: key.ipv6_src,
            ipv6_dst: key.ipv6_dst,
            ..FlowKey::default()
        };
        if key.layers & layers::NETWORK == 0 {
            (flow.eth_src, flow.eth_dst) = (key.eth_src, key.eth_dst);
        }
        // With options behind the fragment header of IPv6, the first fragment alone tells what
        // follows them.
        if key.layers & layers::FRAGMENT == 0 {
            (flow.protocol, flow.l4_src, flow.l4_dst) = (key.protocol, key.l4_src, key.l4_dst);
        }
        let [a, b, c, d, ..] = Mask::new(&FlowKey::EXACT).hash(self, &flow).to_be_bytes();
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
