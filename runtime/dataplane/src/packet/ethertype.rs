//! EtherTypes (IANA).

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const ARP: u16 = 0x0806;
pub(crate) const IPV6: u16 = 0x86dd;
pub(crate) const MPLS: u16 = 0x8847;
pub(crate) const MPLS_MULTICAST: u16 = 0x8848;

/// Below this, the field is a length (IEEE 802.3, 3.2.6).
pub(crate) const FIRST: u16 = 0x0600;

/// Whether a stack of labels follows.
#[inline]
pub(crate) fn is_mpls(ethertype: u16) -> bool {
    matches!(ethertype, MPLS | MPLS_MULTICAST)
}
