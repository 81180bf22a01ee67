use api_model::{Action as Written, Invalid, PushVlan, SetField as WrittenField};
use dataplane::{
    DropReason, TableId,
    program::{Action, SetField, Tag},
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
        Written::Drop => Action::Drop(DropReason::RuleDrop),
        Written::SetField(field) => Action::Set(set_field(*field)),
        Written::DecrementTtl => Action::DecrementTtl,
        Written::PushVlan(tag) => Action::PushVlan(push_vlan(*tag)),
        Written::PopVlan => Action::PopVlan,
        Written::Goto(table) => Action::Goto(TableId(table.get())),
    })
}

fn push_vlan(tag: PushVlan) -> Tag {
    Tag { tpid: tag.tpid.get(), tci: u16::from(tag.pcp.get()) << 13 | tag.vid.get() }
}

fn set_field(field: WrittenField) -> SetField {
    match field {
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
    }
}
