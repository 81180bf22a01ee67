use api_model::{
    Action as Written, ArpOperation, CopiedField, CopyField, Dscp, Ecn, EtherType, IpAddress,
    Ipv6Label, LabelProtocol, MacAddress, Metadata, MplsLabel, MplsTrafficClass,
    PushMpls as WrittenLabel, PushVlan, Sample, SetField as WrittenField, TableNumber, TagProtocol,
    VlanId, VlanPriority,
};
use dataplane::program::{Action, Field, PushMpls, SetField, Tag};

use super::Directory;

/// An action as a client writes it; `None` if it is about what is gone.
pub(super) fn describe(action: Action, directory: &Directory) -> Option<Written> {
    Some(match action {
        Action::Output(port) => Written::Output(directory.ports.get(&port)?.clone()),
        Action::Stage(stage) => Written::Stage(directory.stages.get(&stage)?.clone()),
        Action::Normal => Written::Normal,
        Action::Flood => Written::Flood,
        Action::Mirror(port) => Written::Mirror(directory.ports.get(&port)?.clone()),
        Action::Sample { rate, port } => {
            Written::Sample(Sample { rate, output: directory.ports.get(&port)?.clone() })
        }
        Action::Meter(meter) => Written::Meter(directory.meters.get(&meter)?.clone()),
        Action::Group(group) => Written::Group(directory.groups.get(&group)?.clone()),
        Action::Drop(_) => Written::Drop,
        Action::Set(field) => Written::SetField(set_field(field)?),
        Action::SetMetadata { value, mask } => {
            Written::SetField(WrittenField::Metadata(Metadata { value, mask }))
        }
        Action::Copy { from, to } => {
            Written::CopyField(CopyField { from: copied(from), to: copied(to) })
        }
        Action::DecrementTtl => Written::DecrementTtl,
        Action::PushVlan(tag) => Written::PushVlan(push_vlan(tag)?),
        Action::PopVlan => Written::PopVlan,
        Action::PushMpls(label) => Written::PushMpls(push_mpls(label)?),
        Action::PopMpls { ethertype } => Written::PopMpls(ether_type(ethertype)?),
        Action::DecrementMplsTtl => Written::DecrementMplsTtl,
        Action::Goto(table) => Written::Goto(TableNumber::new(table.0)?),
    })
}

/// The EtherType of a number; `None` for a length or a VLAN tag.
fn ether_type(number: u16) -> Option<EtherType> {
    number.to_string().parse().ok()
}

fn push_vlan(tag: Tag) -> Option<PushVlan> {
    let protocols = [TagProtocol::Customer, TagProtocol::Service];
    let pcp = u8::try_from(tag.tci >> 13).ok()?;
    Some(PushVlan {
        vid: VlanId::new(tag.tci & VlanId::MAX)?,
        pcp: VlanPriority::new(pcp)?,
        tpid: protocols.into_iter().find(|protocol| protocol.get() == tag.tpid)?,
    })
}

fn push_mpls(label: PushMpls) -> Option<WrittenLabel> {
    let protocols = [LabelProtocol::Mpls, LabelProtocol::MplsMulticast];
    Some(WrittenLabel {
        label: MplsLabel::new(label.label)?,
        tc: MplsTrafficClass::new(label.traffic_class)?,
        ttl: label.ttl,
        eth_type: protocols.into_iter().find(|protocol| protocol.get() == label.ethertype)?,
    })
}

fn set_field(field: SetField) -> Option<WrittenField> {
    Some(match field {
        SetField::EthSrc(address) => WrittenField::EthSrc(MacAddress(address)),
        SetField::EthDst(address) => WrittenField::EthDst(MacAddress(address)),
        SetField::IpSrc(address) => WrittenField::IpSrc(IpAddress(address)),
        SetField::IpDst(address) => WrittenField::IpDst(IpAddress(address)),
        SetField::Dscp(dscp) => WrittenField::IpDscp(Dscp::new(dscp)?),
        SetField::Ecn(ecn) => WrittenField::IpEcn(Ecn::new(ecn)?),
        SetField::Ttl(ttl) => WrittenField::IpTtl(ttl),
        SetField::L4Src(port) => WrittenField::L4Src(port),
        SetField::L4Dst(port) => WrittenField::L4Dst(port),
        SetField::VlanVid(vid) => WrittenField::VlanVid(VlanId::new(vid)?),
        SetField::VlanPcp(pcp) => WrittenField::VlanPcp(VlanPriority::new(pcp)?),
        SetField::MplsLabel(label) => WrittenField::MplsLabel(MplsLabel::new(label)?),
        SetField::MplsTrafficClass(class) => WrittenField::MplsTc(MplsTrafficClass::new(class)?),
        SetField::MplsTtl(ttl) => WrittenField::MplsTtl(ttl),
        SetField::ArpOperation(operation) => WrittenField::ArpOp(ArpOperation::new(operation)?),
        SetField::ArpSpa(address) => WrittenField::ArpSpa(IpAddress(address.into())),
        SetField::ArpTpa(address) => WrittenField::ArpTpa(IpAddress(address.into())),
        SetField::ArpSha(address) => WrittenField::ArpSha(MacAddress(address)),
        SetField::ArpTha(address) => WrittenField::ArpTha(MacAddress(address)),
        SetField::Ipv6Label(label) => WrittenField::Ipv6Label(Ipv6Label::new(label)?),
    })
}

fn copied(field: Field) -> CopiedField {
    match field {
        Field::EthSrc => CopiedField::EthSrc,
        Field::EthDst => CopiedField::EthDst,
        Field::IpSrc => CopiedField::IpSrc,
        Field::IpDst => CopiedField::IpDst,
        Field::ArpSpa => CopiedField::ArpSpa,
        Field::ArpTpa => CopiedField::ArpTpa,
        Field::ArpSha => CopiedField::ArpSha,
        Field::ArpTha => CopiedField::ArpTha,
        Field::L4Src => CopiedField::L4Src,
        Field::L4Dst => CopiedField::L4Dst,
        Field::Metadata => CopiedField::Metadata,
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, mem::discriminant};

    use dataplane::{GroupId, MeterId, PortId, StageId};
    use serde_json::{Value, json};

    use super::*;
    use crate::{compile, describe};

    /// Each action, and each field that can be set.
    fn each_action() -> Value {
        json!([
            {"output": "wan"}, {"stage": "fw"}, "decrement_ttl", "pop_vlan", "decrement_mpls_ttl",
            {"pop_mpls": "ipv4"}, {"pop_mpls": "0x88cc"},
            {"push_vlan": {"vid": 10, "pcp": 3, "tpid": "0x88a8"}},
            {"push_vlan": {"vid": 4095, "pcp": 7, "tpid": "0x8100"}},
            {"push_mpls": {"label": 16, "tc": 5, "ttl": 9, "eth_type": "mpls_multicast"}},
            {"push_mpls": {"label": 1_048_575, "tc": 0, "eth_type": "mpls"}},
            {"set_field": {"eth_src": "02:00:00:00:00:01"}},
            {"set_field": {"eth_dst": "02:00:00:00:00:02"}},
            {"set_field": {"ip_src": "10.0.0.1"}}, {"set_field": {"ip_dst": "2001:db8::1"}},
            {"set_field": {"ip_dscp": 46}}, {"set_field": {"ip_ecn": 1}},
            {"set_field": {"ip_ttl": 64}}, {"set_field": {"l4_src": 1}},
            {"set_field": {"l4_dst": 65_535}}, {"set_field": {"vlan_vid": 10}},
            {"set_field": {"vlan_pcp": 7}}, {"set_field": {"mpls_label": 16}},
            {"set_field": {"mpls_tc": 7}}, {"set_field": {"mpls_ttl": 255}},
            {"set_field": {"arp_op": "reply"}}, {"set_field": {"arp_spa": "10.0.0.1"}},
            {"set_field": {"arp_tpa": "10.0.0.2"}},
            {"set_field": {"arp_sha": "02:00:00:00:00:01"}},
            {"set_field": {"arp_tha": "02:00:00:00:00:02"}}, {"set_field": {"ipv6_label": 1}},
            {"set_field": {"metadata": "0x10/0xff"}},
            {"copy_field": {"from": "eth_src", "to": "eth_dst"}},
            {"copy_field": {"from": "ip_src", "to": "ip_dst"}},
            {"copy_field": {"from": "arp_spa", "to": "arp_tpa"}},
            {"copy_field": {"from": "arp_sha", "to": "arp_tha"}},
            {"copy_field": {"from": "l4_src", "to": "l4_dst"}},
            {"copy_field": {"from": "ip_src", "to": "metadata"}},
            "normal", "flood", {"mirror": "wan"}, {"sample": {"rate": 9, "output": "wan"}},
            {"meter": "gold"}, {"group": "uplinks"}, {"goto": 253}, "drop",
        ])
    }

    #[test]
    fn what_was_compiled_is_shown_as_it_was_written() {
        let names = compile::Names {
            ports: [("wan".parse().unwrap(), PortId(7))].into(),
            classifiers: [].into(),
            stages: [("fw".parse().unwrap(), StageId(3))].into(),
            meters: [("gold".parse().unwrap(), MeterId(1))].into(),
            groups: [("uplinks".parse().unwrap(), GroupId(2))].into(),
        };
        let directory = Directory {
            ports: [(PortId(7), "wan".parse().unwrap())].into(),
            stages: [(StageId(3), "fw".parse().unwrap())].into(),
            meters: [(MeterId(1), "gold".parse().unwrap())].into(),
            groups: [(GroupId(2), "uplinks".parse().unwrap())].into(),
        };
        let written: Vec<Written> = serde_json::from_value(each_action()).unwrap();
        let compiled = compile::actions(&written, &names).unwrap();
        assert_eq!(json!(describe::actions(&compiled, &directory).unwrap()), each_action());
        let kinds: HashSet<_> = compiled.iter().map(discriminant).collect();
        assert_eq!(kinds.len(), 19, "every kind of action is among them");
        let set = compiled.iter().filter_map(|action| match action {
            Action::Set(field) => Some(discriminant(field)),
            _ => None,
        });
        assert_eq!(set.collect::<HashSet<_>>().len(), 20, "and every field that can be set");
    }

    #[test]
    fn an_action_about_a_port_that_is_gone_is_not_shown() {
        let gone = [Action::DecrementTtl, Action::Output(PortId(9))];
        assert_eq!(describe::actions(&gone, &Directory::default()), None);
    }
}
