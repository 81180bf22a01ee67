/// How many flows may stand at one place.
const WAYS: usize = 8;
/// How many signatures a word has.
const LANES: usize = 4;
/// The lowest bit of each signature in a word, and the highest.
const LOWEST: u64 = 0x0001_0001_0001_0001;
const HIGHEST: u64 = LOWEST << 15;

/// Finds flows by 16 bits of a hash: a set-associative index of a fixed size, a cache line a set.
///
/// It holds numbers of flows and not their keys, so it answers with what *may* be the flow; whoever
/// asks compares. So an entry whose flow has gone does no harm, and need not be taken out.
#[derive(Debug)]
pub(crate) struct Signatures {
    sets: Box<[Set]>,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Set {
    /// Zero where there is none. The lowest sixteen bits of a word are its first way's.
    signatures: [u64; WAYS / LANES],
    flows: [u32; WAYS],
    /// A bit for each that was found since the bits were last cleared.
    used: u8,
}

impl Signatures {
    /// An index with room for the next power of two of `entries`.
    pub(crate) fn new(entries: usize) -> Self {
        let sets = entries.next_power_of_two().max(WAYS) / WAYS;
        Self { sets: vec![Set::default(); sets].into() }
    }

    /// The flow that stands under a hash and `is` the one that is asked for.
    #[inline]
    pub(crate) fn find(&mut self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let set = self.set(hash);
        for way in set.ways_with(signature(hash)) {
            let flow = set.flows[way];
            if is(flow) {
                set.used |= 1 << way;
                return Some(flow);
            }
        }
        None
    }

    /// The first flow that stands under a hash; it may be another than the one that is asked for.
    #[inline]
    pub(crate) fn first(&mut self, hash: u64) -> Option<u32> {
        let set = self.set(hash);
        let way = set.ways_with(signature(hash)).next()?;
        set.used |= 1 << way;
        Some(set.flows[way])
    }

    /// Puts a flow in where there is room; else, if `replace`, in the place of one that was not
    /// found lately. So a flow that comes once displaces none that comes often.
    pub(crate) fn offer(&mut self, hash: u64, flow: u32, replace: bool) {
        let set = self.set(hash);
        if let Some(way) = set.free_way() {
            return set.put(way, hash, flow);
        }
        if !replace {
            return;
        }
        match set.used.trailing_ones() as usize {
            WAYS.. => set.used = 0,
            way => set.put(way, hash, flow),
        }
    }

    /// Puts a flow in, in the place of the one with the least `worth` if there is no room, which is
    /// returned.
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        flow: u32,
        worth: impl Fn(u32) -> u64,
    ) -> Option<u32> {
        let set = self.set(hash);
        if let Some(way) = set.free_way() {
            set.put(way, hash, flow);
            return None;
        }
        let way = (0..WAYS).min_by_key(|&way| worth(set.flows[way])).unwrap_or(0);
        let displaced = set.flows[way];
        set.put(way, hash, flow);
        Some(displaced)
    }

    /// Takes a flow out.
    pub(crate) fn remove(&mut self, hash: u64, flow: u32) {
        let set = self.set(hash);
        for way in 0..WAYS {
            if set.flows[way] == flow {
                set.sign(way, 0);
            }
        }
    }

    #[inline]
    fn set(&mut self, hash: u64) -> &mut Set {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
        let place = hash as usize & (self.sets.len() - 1);
        &mut self.sets[place]
    }
}

impl Set {
    /// The ways that have a signature, and at times others.
    #[inline]
    fn ways_with(&self, signature: u16) -> Ways {
        let wanted = u64::from(signature) * LOWEST;
        Ways(self.signatures.map(|word| zeros(word ^ wanted)))
    }

    fn free_way(&self) -> Option<usize> {
        (0..WAYS).find(|way| self.signatures[way / LANES] >> (way % LANES * 16) & 0xffff == 0)
    }

    fn put(&mut self, way: usize, hash: u64, flow: u32) {
        self.sign(way, signature(hash));
        self.flows[way] = flow;
        self.used &= !(1 << way);
    }

    fn sign(&mut self, way: usize, signature: u16) {
        let (word, shift) = (&mut self.signatures[way / LANES], way % LANES * 16);
        *word = *word & !(0xffff << shift) | u64::from(signature) << shift;
    }
}

/// Ways, as the highest bits of their lanes in the words of a set.
struct Ways([u64; WAYS / LANES]);

impl Iterator for Ways {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let [low, high] = &mut self.0;
        let (word, base) = if *low != 0 { (low, 0) } else { (high, LANES) };
        let way = word.trailing_zeros() as usize / 16;
        *word &= word.checked_sub(1)?;
        Some(base + way % LANES)
    }
}

/// The highest bit of each lane that is zero; at times also of a lane above one (Warren, "Hacker's
/// Delight", 6-1).
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(LOWEST) & !word & HIGHEST
}

/// The bits of a hash that are kept; never zero.
#[inline]
fn signature(hash: u64) -> u16 {
    let high = (hash >> 48) as u16;
    high.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash that stands at a place and has a signature.
    fn hash(place: u64, signature: u64) -> u64 {
        signature << 48 | place
    }

    #[test]
    fn tells_flows_with_one_signature_apart_by_asking() {
        let mut index = Signatures::new(64);
        index.offer(hash(3, 7), 10, false);
        index.offer(hash(3, 7), 11, false);
        assert_eq!(index.find(hash(3, 7), |flow| flow == 11), Some(11));
        assert_eq!(index.find(hash(3, 7), |_| false), None);
        assert_eq!(index.find(hash(2, 7), |_| true), None, "another place");
        assert_eq!(index.find(hash(3, 8), |_| true), None, "another signature");
    }

    #[test]
    fn a_scan_displaces_no_flow_that_comes_often() {
        let mut index = Signatures::new(WAYS);
        for flow in 0..8 {
            index.offer(hash(0, u64::from(flow) + 1), flow, false);
        }
        for scan in 100..10_000 {
            for often in 0..4 {
                let signature = u64::from(often) + 1;
                assert!(index.find(hash(0, signature), |flow| flow == often).is_some(), "{scan}");
            }
            index.offer(hash(0, u64::from(scan)), scan, scan % 4 == 0);
        }
    }

    #[test]
    fn the_least_worthy_gives_way_when_there_is_no_room() {
        let mut index = Signatures::new(WAYS);
        for flow in 0..8 {
            assert_eq!(index.insert(hash(0, 9), flow, u64::from), None);
        }
        assert_eq!(index.insert(hash(0, 9), 8, |flow| u64::from(flow ^ 5)), Some(5));
        index.remove(hash(0, 9), 3);
        assert_eq!(index.insert(hash(0, 9), 9, u64::from), None, "a free place");
        assert_eq!(index.find(hash(0, 9), |flow| flow == 3), None);
    }
}
