//! The engine's slow twin: one packet after another, every rule of a table for every lookup, every
//! checksum summed up over all that it covers. It remembers nothing but counters.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use dataplane::{
    DropReason, PortId, ReasonId, StageId, TableId, Tally,
    classify::{Rule, RuleId},
    packet::{Headers, Parsed},
    program::{Action, SetField},
    stage::Verdict,
};

use super::{
    frames::{self, IPV4, IPV6},
    model,
};

/// What a packet came by and went by.
pub type Sent = (PortId, Vec<u8>);

/// What the interpreter has counted of a port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    pub rx: Tally,
    pub tx: Tally,
    pub copied: u64,
    pub forwarded: u64,
    pub drops: BTreeMap<u16, u64>,
}

/// A stage: what it says of a frame, and the metadata that it leaves. It may rewrite the frame.
pub trait Judge {
    fn judge(&self, frame: &mut [u8], metadata: &mut u64) -> Verdict;
}

pub struct Interpreter<J> {
    pub rules: Vec<(TableId, Rule)>,
    pub stages: BTreeMap<StageId, J>,
    pub ports: BTreeMap<PortId, Counted>,
    pub counted: BTreeMap<RuleId, Tally>,
    pub sent: Vec<Sent>,
}

/// One packet on its way.
struct Walker {
    in_port: PortId,
    frame: Vec<u8>,
    metadata: u64,
    headroom: usize,
    /// Lookups of which the engine knows: it follows a goto at once while nothing has changed.
    lookups: usize,
    changed: bool,
}

impl<J: Judge> Interpreter<J> {
    pub fn new(ports: &[PortId]) -> Self {
        let ports = ports.iter().map(|port| (*port, Counted::default())).collect();
        let (rules, stages, counted, sent) = Default::default();
        Self { rules, stages, ports, counted, sent }
    }

    /// Takes up other rules; the counters of those that are gone are forgotten.
    pub fn replace(&mut self, rules: Vec<(TableId, Rule)>) {
        let ids: BTreeSet<RuleId> = rules.iter().map(|(_, rule)| rule.id).collect();
        self.counted.retain(|id, _| ids.contains(id));
        self.rules = rules;
    }

    pub fn receive(&mut self, in_port: PortId, frame: &[u8]) {
        add(&mut self.port(in_port).rx, frame.len());
        let mut walker = Walker {
            in_port,
            frame: frame.to_vec(),
            metadata: 0,
            headroom: 128,
            lookups: 1,
            changed: false,
        };
        let verdict = match model::read(in_port, frame) {
            Some(_) => self.walk(&mut walker),
            None => DropReason::Runt.into(),
        };
        match verdict {
            Verdict::Output(port) => self.send(port, walker.frame, in_port),
            Verdict::Drop(reason) => self.drop(in_port, reason),
            Verdict::Next | Verdict::Goto(_) => unreachable!("a walk ends"),
        }
    }

    fn walk(&mut self, walker: &mut Walker) -> Verdict {
        let mut table = TableId(0);
        loop {
            let next = match self.run(table, walker) {
                Verdict::Goto(next) => next,
                verdict => return verdict,
            };
            if walker.changed || next <= table {
                walker.lookups += 1;
                walker.changed = false;
            }
            if !self.rules.iter().any(|(table, _)| *table == next) {
                return DropReason::NoSuchTable.into();
            }
            if walker.lookups > 16 {
                return DropReason::RecirculationLimit.into();
            }
            table = next;
        }
    }

    /// Looks a packet up in one table and does what its rule says.
    fn run(&mut self, table: TableId, walker: &mut Walker) -> Verdict {
        let key = model::read(walker.in_port, &walker.frame).unwrap().key;
        let matching = self.rules.iter().filter(|(it, rule)| {
            *it == table && rule.patterns.iter().any(|pattern| pattern.matches(&key))
        });
        // Of those with the highest priority, the one with the lowest id.
        let best = matching.max_by_key(|(_, rule)| (rule.priority, Reverse(rule.id)));
        let Some((_, rule)) = best else {
            return DropReason::TableMiss.into();
        };
        let (id, actions) = (rule.id, rule.actions.clone());
        add(self.counted.entry(id).or_default(), walker.frame.len());
        if actions.is_empty() {
            return DropReason::RuleDrop.into();
        }
        for (place, action) in actions.iter().enumerate() {
            walker.changed |= action.changes_key();
            let verdict = match *action {
                Action::Output(port) if place + 1 == actions.len() => Verdict::Output(port),
                Action::Output(port) => {
                    self.port(walker.in_port).copied += 1;
                    self.send(port, walker.frame.clone(), walker.in_port);
                    Verdict::Next
                }
                Action::Drop(reason) => reason.into(),
                Action::Goto(next) => Verdict::Goto(next),
                Action::Stage(id) => match self.stages.get(&id) {
                    Some(stage) => stage.judge(&mut walker.frame, &mut walker.metadata),
                    None => DropReason::NoSuchStage.into(),
                },
                change => walker.change(change).map_or_else(Verdict::from, |()| Verdict::Next),
            };
            if verdict != Verdict::Next {
                return verdict;
            }
        }
        DropReason::NoOutput.into()
    }

    fn send(&mut self, port: PortId, frame: Vec<u8>, in_port: PortId) {
        let Some(out) = self.ports.get_mut(&port) else {
            return self.drop(in_port, DropReason::NoSuchPort.into());
        };
        add(&mut out.tx, frame.len());
        self.port(in_port).forwarded += 1;
        self.sent.push((port, frame));
    }

    fn drop(&mut self, in_port: PortId, reason: ReasonId) {
        *self.port(in_port).drops.entry(reason.0).or_default() += 1;
    }

    fn port(&mut self, port: PortId) -> &mut Counted {
        self.ports.get_mut(&port).unwrap()
    }
}

fn add(tally: &mut Tally, bytes: usize) {
    tally.merge(Tally { packets: 1, bytes: bytes as u64 });
}

impl Walker {
    fn change(&mut self, action: Action) -> Result<(), DropReason> {
        let parsed = model::read(self.in_port, &self.frame).unwrap();
        match action {
            Action::PushVlan(tag) => {
                self.headroom = self.headroom.checked_sub(4).ok_or(DropReason::NoHeadroom)?;
                let bytes = [tag.tpid.to_be_bytes(), tag.tci.to_be_bytes()].concat();
                self.frame.splice(12..12, bytes);
            }
            Action::PopVlan if parsed.headers.vlan_tags == 0 => {
                return Err(DropReason::NotApplicable);
            }
            Action::PopVlan => {
                self.headroom += 4;
                self.frame.drain(12..16);
            }
            Action::DecrementTtl => {
                let place = ttl(&parsed.headers).ok_or(DropReason::NotApplicable)?;
                let old = self.frame[place];
                let new =
                    old.checked_sub(1).filter(|&new| new > 0).ok_or(DropReason::TtlExpired)?;
                self.write(&parsed, place, &[new]);
            }
            Action::Set(field) => {
                let (place, value) = self.field(field, &parsed).ok_or(DropReason::NotApplicable)?;
                self.write(&parsed, place, &value);
            }
            _ => unreachable!("it changes no packet"),
        }
        Ok(())
    }

    /// Where a field is and the bytes that are to be there.
    fn field(&self, field: SetField, parsed: &Parsed) -> Option<(usize, Vec<u8>)> {
        let headers = &parsed.headers;
        let ip = |place: usize| Some(usize::from(headers.l3?) + place);
        let bits = |place: usize, mask: u16, value: u16| {
            let old = u16::from_be_bytes([self.frame[place], self.frame[place + 1]]);
            (place, ((old & !mask) | value).to_be_bytes().to_vec())
        };
        let class = |mask: u16, value: u16| match headers.ethertype {
            IPV4 => Some(bits(ip(0)?, mask, value)),
            IPV6 => Some(bits(ip(0)?, mask << 4, value << 4)),
            _ => None,
        };
        let ports = headers.l4.filter(|_| [frames::TCP, frames::UDP].contains(&headers.protocol));
        let address = |address: IpAddr, v4: usize, v6: usize| match (headers.ethertype, address) {
            (IPV4, IpAddr::V4(address)) => Some((ip(v4)?, address.octets().to_vec())),
            (IPV6, IpAddr::V6(address)) => Some((ip(v6)?, address.octets().to_vec())),
            _ => None,
        };
        Some(match field {
            SetField::EthDst(address) => (0, address.to_vec()),
            SetField::EthSrc(address) => (6, address.to_vec()),
            SetField::VlanVid(_) | SetField::VlanPcp(_) if headers.vlan_tags == 0 => return None,
            SetField::VlanVid(vid) => bits(14, 0x0fff, vid),
            SetField::VlanPcp(pcp) => bits(14, 0xe000, u16::from(pcp) << 13),
            SetField::IpSrc(source) => address(source, 12, 8)?,
            SetField::IpDst(destination) => address(destination, 16, 24)?,
            SetField::Dscp(dscp) => class(0xfc, u16::from(dscp) << 2)?,
            SetField::Ecn(ecn) => class(0x03, ecn.into())?,
            SetField::Ttl(value) => (ttl(headers)?, vec![value]),
            SetField::L4Src(port) => (usize::from(ports?), port.to_be_bytes().to_vec()),
            SetField::L4Dst(port) => (usize::from(ports?) + 2, port.to_be_bytes().to_vec()),
        })
    }

    /// Writes, and makes each checksum again such that it is as right, or wrong, as it was.
    fn write(&mut self, parsed: &Parsed, place: usize, value: &[u8]) {
        let before: Vec<u16> = covered(&self.frame, parsed).iter().map(|it| it.sum).collect();
        self.frame[place..place + value.len()].copy_from_slice(value);
        for (covered, before) in covered(&self.frame, parsed).into_iter().zip(before) {
            if covered.sum == before {
                continue;
            }
            let Covered { checksum, is_udp, .. } = covered;
            self.frame[checksum..checksum + 2].fill(0);
            let rest = sum_at(&self.frame, parsed, checksum);
            let right = frames::sum(&[before.to_be_bytes(), (!rest).to_be_bytes()].concat());
            let right = match right {
                0 | 0xffff if is_udp => 0xffff,
                0xffff => 0,
                right => right,
            };
            self.frame[checksum..checksum + 2].copy_from_slice(&right.to_be_bytes());
        }
    }
}

fn ttl(headers: &Headers) -> Option<usize> {
    let start = usize::from(headers.l3?);
    match headers.ethertype {
        IPV4 => Some(start + 8),
        IPV6 => Some(start + 7),
        _ => None,
    }
}

/// A checksum and the sum of all that it covers, itself too.
struct Covered {
    checksum: usize,
    sum: u16,
    is_udp: bool,
}

fn covered(frame: &[u8], parsed: &Parsed) -> Vec<Covered> {
    let headers = &parsed.headers;
    let Some(start) = headers.l3.map(usize::from) else { return Vec::new() };
    let mut places = Vec::new();
    if headers.ethertype == IPV4 {
        places.push((start + 10, false));
    }
    let is_udp = headers.protocol == frames::UDP;
    if let (Some(l4), Some(at)) = (headers.l4, frames::checksum_place(headers.protocol)) {
        let place = usize::from(l4) + at;
        // A UDP sender need not make one (RFC 768).
        if !(is_udp && frame[place..place + 2] == [0, 0]) {
            places.push((place, is_udp));
        }
    }
    let covered =
        |(checksum, is_udp)| Covered { checksum, sum: sum_at(frame, parsed, checksum), is_udp };
    places.into_iter().map(covered).collect()
}

/// The sum of what the checksum at a place covers: the IPv4 header, or the pseudo header and the
/// segment as far as it is here.
fn sum_at(frame: &[u8], parsed: &Parsed, checksum: usize) -> u16 {
    let headers = &parsed.headers;
    let start = usize::from(headers.l3.unwrap());
    let (header, addresses) = match headers.ethertype {
        IPV4 => (usize::from(frame[start] & 0xf) * 4, start + 12..start + 20),
        _ => (40, start + 8..start + 40),
    };
    if headers.ethertype == IPV4 && checksum == start + 10 {
        return frames::sum(&frame[start..start + header]);
    }
    let segment = &frame[usize::from(headers.l4.unwrap())..];
    if headers.protocol == frames::ICMP {
        return frames::sum(segment);
    }
    let (source, destination) =
        frame[addresses].split_at(if header == 40 && headers.ethertype == IPV6 { 16 } else { 4 });
    let pseudo = frames::pseudo_header(source, destination, headers.protocol, segment.len());
    frames::sum(&[&pseudo, segment].concat())
}
