//! One packet on its way through the slow twin: changed in a vector, and every checksum summed up
//! over all that it covers.

use std::net::IpAddr;

use dataplane::{
    DropReason, PortId,
    meter::Treatment,
    packet::{Fragment, Headers, Parsed},
    program::{Action, Field, PushMpls, SetField},
    stage::Verdict,
};

use super::{
    covered::Checksums,
    frames::{ARP, IPV4, IPV6, MPLS, MPLS_MULTICAST, SCTP, TCP, UDP, label},
    model,
};

#[derive(Clone)]
pub struct Walker {
    pub in_port: PortId,
    pub frame: Vec<u8>,
    pub metadata: u64,
    headroom: usize,
    /// Lookups of which the engine knows: it follows a goto at once while nothing has changed.
    pub lookups: usize,
    pub changed: bool,
}

/// Where a field is and the bytes that are to be there.
type Write = (usize, Vec<u8>);

impl Walker {
    pub fn new(in_port: PortId, frame: &[u8]) -> Self {
        let frame = frame.to_vec();
        Self { in_port, frame, metadata: 0, headroom: 128, lookups: 1, changed: false }
    }

    pub fn change(&mut self, action: Action) -> Result<(), DropReason> {
        let parsed = model::read(self.in_port, &self.frame).unwrap();
        match action {
            Action::PushVlan(tag) => {
                self.insert(12, &[tag.tpid.to_be_bytes(), tag.tci.to_be_bytes()].concat())?;
            }
            Action::PopVlan if parsed.headers.vlan_tags == 0 => {
                return Err(DropReason::NotApplicable);
            }
            Action::PopVlan => self.remove(12),
            Action::PushMpls(label) => self.push_label(label, &parsed)?,
            Action::PopMpls { ethertype } => {
                let place = label_place(&parsed).ok_or(DropReason::NotApplicable)?;
                if self.frame[place + 2] & 1 == 1 {
                    self.frame[place - 2..place].copy_from_slice(&ethertype.to_be_bytes());
                }
                self.remove(place);
            }
            Action::DecrementTtl => self.decrement(ttl(&parsed.headers), &parsed)?,
            Action::DecrementMplsTtl => {
                self.decrement(label_place(&parsed).map(|place| place + 3), &parsed)?;
            }
            Action::SetMetadata { value, mask } => {
                for bit in (0..64).map(|bit| 1 << bit).filter(|bit| mask & bit != 0) {
                    self.metadata =
                        if value & bit != 0 { self.metadata | bit } else { self.metadata & !bit };
                }
            }
            Action::Copy { from, to } => {
                self.copy(from, to, &parsed).ok_or(DropReason::NotApplicable)?;
            }
            Action::Set(field) => {
                let (place, value) = self.field(field, &parsed).ok_or(DropReason::NotApplicable)?;
                self.write(&parsed, place, &value);
            }
            _ => unreachable!("it changes no packet"),
        }
        Ok(())
    }

    /// What comes of a packet that a meter judged, if there is such a meter.
    pub fn treat(&mut self, treatment: Option<Treatment>) -> Verdict {
        match treatment {
            None => DropReason::NoSuchMeter.into(),
            Some(Treatment::Drop) => DropReason::MeterDrop.into(),
            Some(Treatment::Pass) => Verdict::Next,
            Some(Treatment::Remark(dscp)) => {
                // What is no IP packet goes on as it is.
                let _ = self.change(Action::Set(SetField::Dscp(dscp)));
                Verdict::Next
            }
        }
    }

    fn insert(&mut self, place: usize, bytes: &[u8]) -> Result<(), DropReason> {
        self.headroom = self.headroom.checked_sub(bytes.len()).ok_or(DropReason::NoHeadroom)?;
        self.frame.splice(place..place, bytes.to_vec());
        Ok(())
    }

    /// Takes four bytes out.
    fn remove(&mut self, place: usize) {
        self.headroom += 4;
        self.frame.drain(place..place + 4);
    }

    fn push_label(&mut self, push: PushMpls, parsed: &Parsed) -> Result<(), DropReason> {
        let headers = &parsed.headers;
        if headers.ethertype < 0x600 {
            return Err(DropReason::NotApplicable);
        }
        let of_label = label_place(parsed).map(|place| place + 3);
        let own = of_label.or_else(|| ttl(headers)).map_or(64, |place| self.frame[place]);
        let is_last = ![MPLS, MPLS_MULTICAST].contains(&headers.ethertype);
        let ttl = push.ttl.unwrap_or(own);
        let entry = label(push.label % (1 << 20), push.traffic_class % 8, is_last, ttl);
        let place = 14 + 4 * usize::from(headers.vlan_tags);
        self.insert(place, &entry)?;
        self.frame[place - 2..place].copy_from_slice(&push.ethertype.to_be_bytes());
        Ok(())
    }

    fn decrement(&mut self, place: Option<usize>, parsed: &Parsed) -> Result<(), DropReason> {
        let place = place.ok_or(DropReason::NotApplicable)?;
        let new = self.frame[place].checked_sub(1).filter(|&new| new > 0);
        self.write(parsed, place, &[new.ok_or(DropReason::TtlExpired)?]);
        Ok(())
    }

    fn copy(&mut self, from: Field, to: Field, parsed: &Parsed) -> Option<()> {
        let metadata = self.metadata.to_be_bytes();
        let bytes = match (from, to) {
            (Field::Metadata, Field::Metadata) => metadata.to_vec(),
            (Field::Metadata, to) => {
                let (_, length) = extent(to, parsed)?;
                metadata[8_usize.checked_sub(length)?..].to_vec()
            }
            (from, _) => {
                let (place, length) = extent(from, parsed)?;
                self.frame[place..place + length].to_vec()
            }
        };
        if to == Field::Metadata {
            let kept = metadata[..8_usize.checked_sub(bytes.len())?].to_vec();
            self.metadata = u64::from_be_bytes([kept, bytes].concat().try_into().unwrap());
        } else {
            let (place, bytes) = whole(to, &bytes, parsed)?;
            self.write(parsed, place, &bytes);
        }
        Some(())
    }

    /// Where a field is and the bytes that are to be there.
    fn field(&self, field: SetField, parsed: &Parsed) -> Option<Write> {
        let headers = &parsed.headers;
        let ip = |place: usize| Some(usize::from(headers.l3?) + place);
        let bits = |place: usize, mask: u16, value: u16| {
            let old = u16::from_be_bytes([self.frame[place], self.frame[place + 1]]);
            (place, ((old & !mask) | (value & mask)).to_be_bytes().to_vec())
        };
        let class = |mask: u16, value: u16| match headers.ethertype {
            IPV4 => Some(bits(ip(0)?, mask, value)),
            IPV6 => Some(bits(ip(0)?, mask << 4, value << 4)),
            _ => None,
        };
        let address = |field, address: IpAddr| {
            let bytes = match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
            whole(field, &bytes, parsed)
        };
        match field {
            SetField::EthDst(address) => whole(Field::EthDst, &address, parsed),
            SetField::EthSrc(address) => whole(Field::EthSrc, &address, parsed),
            SetField::VlanVid(_) | SetField::VlanPcp(_) if headers.vlan_tags == 0 => None,
            SetField::VlanVid(vid) => Some(bits(14, 0x0fff, vid)),
            SetField::VlanPcp(pcp) => Some(bits(14, 0xe000, u16::from(pcp) << 13)),
            SetField::MplsLabel(_) | SetField::MplsTrafficClass(_) | SetField::MplsTtl(_) => {
                self.label_field(field, parsed)
            }
            SetField::ArpOperation(operation) if headers.ethertype == ARP => {
                Some((ip(6)?, vec![0, operation]))
            }
            SetField::ArpOperation(_) => None,
            SetField::ArpSha(address) => whole(Field::ArpSha, &address, parsed),
            SetField::ArpTha(address) => whole(Field::ArpTha, &address, parsed),
            SetField::ArpSpa(address) => whole(Field::ArpSpa, &address, parsed),
            SetField::ArpTpa(address) => whole(Field::ArpTpa, &address, parsed),
            SetField::IpSrc(source) => address(Field::IpSrc, source),
            SetField::IpDst(destination) => address(Field::IpDst, destination),
            SetField::Dscp(dscp) => class(0xfc, u16::from(dscp) << 2),
            SetField::Ecn(ecn) => class(0x03, ecn.into()),
            SetField::Ttl(value) => Some((ttl(headers)?, vec![value])),
            SetField::Ipv6Label(label) if headers.ethertype == IPV6 => {
                let place = ip(1)?;
                let [_, high, middle, low] = label.to_be_bytes();
                let high = (self.frame[place] & 0xf0) | (high & 0x0f);
                Some((place, vec![high, middle, low]))
            }
            SetField::Ipv6Label(_) => None,
            SetField::L4Src(port) => whole(Field::L4Src, &port.to_be_bytes(), parsed),
            SetField::L4Dst(port) => whole(Field::L4Dst, &port.to_be_bytes(), parsed),
        }
    }

    fn label_field(&self, field: SetField, parsed: &Parsed) -> Option<Write> {
        let place = label_place(parsed)?;
        let [first, second, third, _] = self.frame[place..place + 4] else { unreachable!() };
        Some(match field {
            SetField::MplsLabel(label) => {
                let bytes = (label << 12).to_be_bytes();
                (place, vec![bytes[0], bytes[1], (bytes[2] & 0xf0) | (third & 0x0f)])
            }
            SetField::MplsTrafficClass(class) => {
                (place, vec![first, second, (third & 0xf1) | (class % 8) << 1])
            }
            SetField::MplsTtl(ttl) => (place + 3, vec![ttl]),
            _ => unreachable!("it is no field of a label"),
        })
    }

    /// Writes, and makes each checksum again such that it is as right, or wrong, as it was.
    fn write(&mut self, parsed: &Parsed, place: usize, value: &[u8]) {
        let before = Checksums::of(&self.frame, parsed);
        self.frame[place..place + value.len()].copy_from_slice(value);
        before.restore(&mut self.frame, parsed);
    }
}

/// A field that is all of some bytes.
fn whole(field: Field, value: &[u8], parsed: &Parsed) -> Option<Write> {
    let (place, length) = extent(field, parsed)?;
    let fits = length == value.len() && is_writable(field, &parsed.headers);
    fits.then(|| (place, value.to_vec()))
}

/// Where a field begins and how long it is.
fn extent(field: Field, parsed: &Parsed) -> Option<(usize, usize)> {
    let headers = &parsed.headers;
    let l3 = |place: usize| Some(usize::from(headers.l3?) + place);
    let arp = |place: usize| l3(place).filter(|_| headers.ethertype == ARP);
    let port = |place: usize| {
        let has = [TCP, UDP, SCTP].contains(&headers.protocol);
        headers.l4.filter(|_| has).map(|l4| usize::from(l4) + place)
    };
    Some(match field {
        Field::EthDst => (0, 6),
        Field::EthSrc => (6, 6),
        Field::IpSrc | Field::IpDst => {
            let second = usize::from(field == Field::IpDst);
            match headers.ethertype {
                IPV4 => (l3(12 + 4 * second)?, 4),
                IPV6 => (l3(8 + 16 * second)?, 16),
                _ => return None,
            }
        }
        Field::ArpSha => (arp(8)?, 6),
        Field::ArpSpa => (arp(14)?, 4),
        Field::ArpTha => (arp(18)?, 6),
        Field::ArpTpa => (arp(24)?, 4),
        Field::L4Src => (port(0)?, 2),
        Field::L4Dst => (port(2)?, 2),
        Field::Metadata => unreachable!("it is no field of a frame"),
    })
}

/// Where the outermost label is.
fn label_place(parsed: &Parsed) -> Option<usize> {
    (parsed.key.mpls != 0).then(|| 14 + 4 * usize::from(parsed.headers.vlan_tags))
}

fn ttl(headers: &Headers) -> Option<usize> {
    let start = usize::from(headers.l3?);
    match headers.ethertype {
        IPV4 => Some(start + 8),
        IPV6 => Some(start + 7),
        _ => None,
    }
}

/// Whether a field can be written where it can be read: the checksum of a fragment of SCTP hangs on
/// the other fragments.
fn is_writable(field: Field, headers: &Headers) -> bool {
    let is_port = [Field::L4Src, Field::L4Dst].contains(&field);
    !(is_port && headers.protocol == SCTP && headers.fragment != Fragment::Not)
}
