//! The outermost entry of an MPLS label stack (RFC 3032, 2.1). What the labels are put on is not
//! looked into: only whoever pops the last of them knows what it is.

use super::{Parsed, array};
use crate::flow::mpls;

#[inline]
pub(super) fn read(frame: &[u8], start: usize, parsed: &mut Parsed) -> Option<()> {
    let entry = u32::from_be_bytes(array(frame, start)?);
    let shown = mpls::LABEL | mpls::TRAFFIC_CLASS | mpls::BOTTOM;
    parsed.key.mpls = (entry & shown) | mpls::PRESENT;
    Some(())
}
