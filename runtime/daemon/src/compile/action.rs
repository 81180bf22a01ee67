use std::net::{IpAddr, Ipv4Addr};

use api_model::{
    Action as Written, CopiedField, CopyField, Invalid, IpAddress, PushMpls as WrittenLabel,
    PushVlan, Sample, SetField as WrittenField,
};
use dataplane::{
    DropReason, TableId,
    program::{Action, Field, PushMpls, SetField, Tag},
};

use super::Names;

pub(super) fn compile(action: &Written, names: &Names) -> Result<Action, Invalid> {
    Ok(match action {
        Written::Output(port) => {
            Action::Output(names.port(port).map_err(|invalid| invalid.under("output"))?)
        }
        Written::Stage(stage) => {
            Action::Stage(names.stage(stage).map_err(|invalid| invalid.under("stage"))?)
        }
        Written::Normal => Action::Normal,
        Written::Flood => Action::Flood,
        Written::Mirror(port) => {
            Action::Mirror(names.port(port).map_err(|invalid| invalid.under("mirror"))?)
        }
        Written::Sample(Sample { rate, output }) => {
            let at = |invalid: Invalid| invalid.under("output").under("sample");
            Action::Sample { rate: *rate, port: names.port(output).map_err(at)? }
        }
        Written::Meter(meter) => {
            Action::Meter(names.meter(meter).map_err(|invalid| invalid.under("meter"))?)
        }
        Written::Group(group) => {
            Action::Group(names.group(group).map_err(|invalid| invalid.under("group"))?)
        }
        Written::Drop => Action::Drop(DropReason::RuleDrop),
        Written::SetField(field) => set_field(*field),
        Written::CopyField(CopyField { from, to }) => {
            Action::Copy { from: copied(*from), to: copied(*to) }
        }
        Written::DecrementTtl => Action::DecrementTtl,
        Written::PushVlan(tag) => Action::PushVlan(push_vlan(*tag)),
        Written::PopVlan => Action::PopVlan,
        Written::PushMpls(label) => Action::PushMpls(push_mpls(*label)),
        Written::PopMpls(ethertype) => Action::PopMpls { ethertype: ethertype.get() },
        Written::DecrementMplsTtl => Action::DecrementMplsTtl,
        Written::Goto(table) => Action::Goto(TableId(table.get())),
    })
}

fn push_vlan(tag: PushVlan) -> Tag {
    Tag { tpid: tag.tpid.get(), tci: u16::from(tag.pcp.get()) << 13 | tag.vid.get() }
}

fn push_mpls(label: WrittenLabel) -> PushMpls {
    PushMpls {
        ethertype: label.eth_type.get(),
        label: label.label.get(),
        traffic_class: label.tc.get(),
        ttl: label.ttl,
    }
}

fn set_field(field: WrittenField) -> Action {
    Action::Set(match field {
        WrittenField::EthSrc(address) => SetField::EthSrc(address.0),
        WrittenField::EthDst(address) => SetField::EthDst(address.0),
        WrittenField::IpSrc(address) => SetField::IpSrc(address.0),
        WrittenField::IpDst(address) => SetField::IpDst(address.0),
        WrittenField::IpDscp(dscp) => SetField::Dscp(dscp.get()),
        WrittenField::IpEcn(ecn) => SetField::Ecn(ecn.get()),
        WrittenField::IpTtl(ttl) => SetField::Ttl(ttl),
        WrittenField::L4Src(port) => SetField::L4Src(port),
        WrittenField::L4Dst(port) => SetField::L4Dst(port),
        WrittenField::VlanVid(vid) => SetField::VlanVid(vid.get()),
        WrittenField::VlanPcp(pcp) => SetField::VlanPcp(pcp.get()),
        WrittenField::MplsLabel(label) => SetField::MplsLabel(label.get()),
        WrittenField::MplsTc(class) => SetField::MplsTrafficClass(class.get()),
        WrittenField::MplsTtl(ttl) => SetField::MplsTtl(ttl),
        WrittenField::ArpOp(operation) => SetField::ArpOperation(operation.get()),
        WrittenField::ArpSpa(address) => SetField::ArpSpa(ipv4(address).octets()),
        WrittenField::ArpTpa(address) => SetField::ArpTpa(ipv4(address).octets()),
        WrittenField::ArpSha(address) => SetField::ArpSha(address.0),
        WrittenField::ArpTha(address) => SetField::ArpTha(address.0),
        WrittenField::Ipv6Label(label) => SetField::Ipv6Label(label.get()),
        WrittenField::Metadata(metadata) => {
            return Action::SetMetadata { value: metadata.value, mask: metadata.mask };
        }
    })
}

fn ipv4(IpAddress(address): IpAddress) -> Ipv4Addr {
    match address {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => unreachable!("validation refuses IPv6 for ARP"),
    }
}

fn copied(field: CopiedField) -> Field {
    match field {
        CopiedField::EthSrc => Field::EthSrc,
        CopiedField::EthDst => Field::EthDst,
        CopiedField::IpSrc => Field::IpSrc,
        CopiedField::IpDst => Field::IpDst,
        CopiedField::ArpSpa => Field::ArpSpa,
        CopiedField::ArpTpa => Field::ArpTpa,
        CopiedField::ArpSha => Field::ArpSha,
        CopiedField::ArpTha => Field::ArpTha,
        CopiedField::L4Src => Field::L4Src,
        CopiedField::L4Dst => Field::L4Dst,
        CopiedField::Metadata => Field::Metadata,
    }
}
