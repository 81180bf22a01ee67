use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::PortId;

/// An address in a VLAN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Station {
    /// The VLAN; 0 for packets without a tag.
    pub vlan: u16,
    /// The address.
    pub mac: [u8; 6],
}

/// Where a station was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Learned {
    /// The station.
    pub station: Station,
    /// The port that it was last seen on.
    pub port: PortId,
    /// How long ago, in ticks of the clock. It is exact to a 64th of the age.
    pub idle: u64,
}

impl Station {
    /// Whom a frame of so many VLAN tags is for, in the VLAN of the outer one.
    #[inline]
    #[must_use]
    pub fn destination(frame: &[u8], vlan_tags: u8) -> Option<Self> {
        Some(Self { vlan: vlan(frame, vlan_tags), mac: *frame.first_chunk()? })
    }

    /// Who sent it.
    #[inline]
    #[must_use]
    pub fn source(frame: &[u8], vlan_tags: u8) -> Option<Self> {
        Some(Self { vlan: vlan(frame, vlan_tags), mac: *frame.get(6..)?.first_chunk()? })
    }

    /// Whether frames to the address end at the next bridge (IEEE 802.1D, 7.12.6).
    #[inline]
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        matches!(self.mac, [0x01, 0x80, 0xc2, 0x00, 0x00, 0x00..=0x0f])
    }

    /// Whether the address is of a group, broadcast included (IEEE 802, 8.2.2).
    #[inline]
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.mac[0] & 1 == 1
    }
}

#[inline]
fn vlan(frame: &[u8], vlan_tags: u8) -> u16 {
    match frame.get(14..16) {
        Some(&[high, low]) if vlan_tags > 0 => u16::from_be_bytes([high, low]) & 0x0fff,
        _ => 0,
    }
}

/// A station as a number that is not zero: the address, the VLAN and a one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u64);

/// There is no station.
const EMPTY: u64 = 0;
/// Somebody is about to write.
const CLAIMED: u64 = 1;
/// Keys have this bit.
const STATION: u64 = 1 << 63;

impl Key {
    #[inline]
    pub(super) fn of(Station { vlan, mac: [a, b, c, d, e, f] }: Station) -> Self {
        let mac = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        Self(STATION | mac << 12 | u64::from(vlan & 0x0fff))
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }

    fn station(self) -> Station {
        let [_, _, mac @ ..] = ((self.0 & !STATION) >> 12).to_be_bytes();
        let vlan = u16::try_from(self.0 & 0x0fff).expect("twelve bits fit sixteen");
        Station { vlan, mac }
    }
}

/// A port and when it was written down: the clock without its last 16 bits, which are the port's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sighting(u64);

impl Sighting {
    const PORT: u64 = 0xffff;

    fn new(port: PortId, now: u64) -> Self {
        Self((now & !Self::PORT) | u64::from(port.0))
    }

    fn port(self) -> PortId {
        PortId(u16::try_from(self.0 & Self::PORT).expect("sixteen bits"))
    }

    fn time(self) -> u64 {
        self.0 & !Self::PORT
    }

    fn is_alive(self, now: u64, age: u64) -> bool {
        now.saturating_sub(self.time()) <= age
    }
}

/// Room for a station and where it was seen.
#[derive(Debug, Default)]
pub(super) struct Place {
    key: AtomicU64,
    sighting: AtomicU64,
}

impl Place {
    #[inline]
    pub(super) fn is(&self, key: Key) -> bool {
        self.key.load(Acquire) == key.0
    }

    /// Where its station was seen, if it is still the same station after the look.
    #[inline]
    fn read(&self, key: Key) -> Option<Sighting> {
        if !self.is(key) {
            return None;
        }
        let sighting = Sighting(self.sighting.load(Acquire));
        self.is(key).then_some(sighting)
    }

    #[inline]
    pub(super) fn port_of(&self, key: Key, now: u64, age: u64) -> Option<PortId> {
        let sighting = self.read(key)?;
        sighting.is_alive(now, age).then(|| sighting.port())
    }

    /// Notes that its station was seen again. Returns whether it was elsewhere before. What is known
    /// well enough is not written, so that workers do not take the line from each other.
    #[inline]
    pub(super) fn refresh(&self, key: Key, port: PortId, now: u64, age: u64) -> bool {
        let Some(old) = self.read(key) else { return false };
        if old.port() == port && now.saturating_sub(old.time()) < age / 64 {
            return false;
        }
        let new = Sighting::new(port, now);
        let changed = self.sighting.compare_exchange(old.0, new.0, AcqRel, Relaxed).is_ok();
        changed && old.port() != port && old.is_alive(now, age)
    }

    /// When its station was last seen; before everything else, if it has none.
    pub(super) fn last_seen(&self) -> u64 {
        match self.key.load(Acquire) {
            EMPTY => 0,
            CLAIMED => u64::MAX,
            _ => Sighting(self.sighting.load(Relaxed)).time().max(1),
        }
    }

    /// Gives the place to another station, unless somebody else is at it. Returns whether the one
    /// before was still alive.
    pub(super) fn take_over(&self, key: Key, port: PortId, now: u64, age: u64) -> Option<bool> {
        let before = self.key.load(Acquire);
        if before == CLAIMED {
            return None;
        }
        self.key.compare_exchange(before, CLAIMED, AcqRel, Relaxed).ok()?;
        let old = Sighting(self.sighting.swap(Sighting::new(port, now).0, AcqRel));
        self.key.store(key.0, Release);
        Some(before != EMPTY && old.is_alive(now, age))
    }

    pub(super) fn learned(&self, now: u64, age: u64) -> Option<Learned> {
        let key = Key(self.key.load(Acquire));
        let sighting = self.read(key).filter(|_| key.0 & STATION != 0)?;
        let idle = now.saturating_sub(sighting.time());
        let found = Learned { station: key.station(), port: sighting.port(), idle };
        sighting.is_alive(now, age).then_some(found)
    }

    pub(super) fn forget_if(&self, is_to_go: impl Fn(&Learned) -> bool) {
        let key = self.key.load(Acquire);
        if self.learned(0, u64::MAX).is_some_and(|learned| is_to_go(&learned)) {
            // If it is another's by now, or somebody is at it, it is not what was to go.
            let _ = self.key.compare_exchange(key, EMPTY, AcqRel, Relaxed);
        }
    }
}
