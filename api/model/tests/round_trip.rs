//! TOML, JSON and text are ways to write the same values.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fmt::{Debug, Display},
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use api_model::{
    Action, ArpOperation, Config, CopiedField, CopyField, Dscp, Ecn, EtherType, Hugepages,
    IpAddress, IpFragment, IpMatch, IpProtocol, Ipv6Label, L4PortMatch, LabelProtocol, MacAddress,
    MacMatch, Match, Metadata, ModuleSource, MplsBottom, MplsLabel, MplsTrafficClass, Name,
    OnFault, PortSpec, PushMpls, PushVlan, RuleSpec, Sample, SetField, StageSpec, TableConfig,
    TableNumber, TagProtocol, TcpFlagsMatch, VlanId, VlanMatch, VlanPriority, WorkersConfig,
};
use proptest::{
    collection::{btree_map, vec},
    option::of,
    prelude::*,
    sample::select,
};
use serde_json::{Map, Value};

fn names() -> impl Strategy<Value = Name> {
    "[A-Za-z0-9][A-Za-z0-9._@-]{0,62}".prop_map(|text| text.parse().unwrap())
}

fn macs() -> impl Strategy<Value = MacAddress> {
    any::<[u8; 6]>().prop_map(MacAddress)
}

fn mac_matches() -> impl Strategy<Value = MacMatch> {
    (any::<u64>(), any::<u64>()).prop_map(|(address, mask)| {
        let six = |bits: u64| MacAddress(bits.to_be_bytes()[2..].try_into().unwrap());
        MacMatch { address: six(address & mask), mask: six(mask) }
    })
}

fn ip_matches() -> impl Strategy<Value = IpMatch> {
    let prefix = |length: u32| u128::MAX.checked_shl(128 - length).unwrap_or(0);
    let masks6 = prop_oneof![(0..=128_u32).prop_map(prefix), any::<u128>()];
    let prefix = |length: u32| u32::MAX.checked_shl(32 - length).unwrap_or(0);
    let masks4 = prop_oneof![(0..=32_u32).prop_map(prefix), any::<u32>()];
    prop_oneof![
        (any::<u32>(), masks4).prop_map(|(address, mask)| IpMatch::V4 {
            address: (address & mask).into(),
            mask: mask.into()
        }),
        (any::<u128>(), masks6).prop_map(|(address, mask)| IpMatch::V6 {
            address: (address & mask).into(),
            mask: mask.into()
        }),
    ]
}

fn l4_ports() -> impl Strategy<Value = L4PortMatch> {
    let masks = prop_oneof![Just(u16::MAX), any::<u16>()];
    let masked = (any::<u16>(), masks)
        .prop_map(|(port, mask)| L4PortMatch::Masked { port: port & mask, mask });
    let range = any::<[u16; 2]>().prop_map(|mut ends| {
        ends.sort_unstable();
        L4PortMatch::range(ends[0], ends[1]).unwrap()
    });
    prop_oneof![masked, range]
}

fn tcp_flags() -> impl Strategy<Value = TcpFlagsMatch> {
    let bits = 0..=TcpFlagsMatch::ALL;
    (bits.clone(), bits).prop_map(|(flags, mask)| TcpFlagsMatch { flags: flags & mask, mask })
}

fn ether_types() -> impl Strategy<Value = EtherType> {
    let numbers = 0x0600..=u16::MAX;
    let taken = numbers.prop_filter("a tag", |number| ![0x8100, 0x88a8].contains(number));
    let any = taken.prop_map(|number| number.to_string().parse().unwrap());
    prop_oneof![select(vec![EtherType::IPV4, EtherType::IPV6, EtherType::ARP]), any]
}

fn vlan_ids() -> impl Strategy<Value = VlanId> {
    (0..=4095_u16).prop_map(|vid| VlanId::new(vid).unwrap())
}

fn vlans() -> impl Strategy<Value = VlanMatch> {
    prop_oneof![Just(VlanMatch::Untagged), vlan_ids().prop_map(VlanMatch::Tagged)]
}

fn priorities() -> impl Strategy<Value = VlanPriority> {
    (0..=7_u8).prop_map(|pcp| VlanPriority::new(pcp).unwrap())
}

fn tables() -> impl Strategy<Value = TableNumber> {
    (0..=253_u8).prop_map(|table| TableNumber::new(table).unwrap())
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let masks = prop_oneof![Just(u64::MAX), any::<u64>()];
    (any::<u64>(), masks).prop_map(|(value, mask)| Metadata { value: value & mask, mask })
}

fn arp_operations() -> impl Strategy<Value = ArpOperation> {
    (1..=u8::MAX).prop_map(|number| ArpOperation::new(number).unwrap())
}

fn labels() -> impl Strategy<Value = MplsLabel> {
    (0..=MplsLabel::MAX).prop_map(|label| MplsLabel::new(label).unwrap())
}

/// The fields of what is neither IP nor its transport.
fn other_matches() -> impl Strategy<Value = Match> {
    let inner = (of(vlans()), of(priorities()));
    let class = of((0..=7_u8).prop_map(|class| MplsTrafficClass::new(class).unwrap()));
    let bottom = of((0..=1_u8).prop_map(|bottom| MplsBottom::new(bottom).unwrap()));
    let mpls = (of(labels()), class, bottom);
    let arp = (of(arp_operations()), of(ip_matches()), of(ip_matches()));
    let macs = (of(mac_matches()), of(mac_matches()));
    let label = (0..=Ipv6Label::MAX).prop_map(|label| Ipv6Label::new(label).unwrap());
    (inner, mpls, arp, macs, of(label), of(metadata())).prop_map(
        |(inner, mpls, arp, macs, ipv6_label, metadata)| Match {
            inner_vlan_vid: inner.0,
            inner_vlan_pcp: inner.1,
            mpls_label: mpls.0,
            mpls_tc: mpls.1,
            mpls_bos: mpls.2,
            arp_op: arp.0,
            arp_spa: arp.1,
            arp_tpa: arp.2,
            arp_sha: macs.0,
            arp_tha: macs.1,
            ipv6_label,
            metadata,
            ..Match::default()
        },
    )
}

fn matches() -> impl Strategy<Value = Match> {
    let link = (of(names()), of(mac_matches()), of(mac_matches()), of(ether_types()));
    let vlan = (of(vlans()), of(priorities()));
    let protocols = of(any::<u8>().prop_map(IpProtocol));
    let ip = (of(ip_matches()), of(ip_matches()), protocols, of(any::<u8>()));
    let dscp = of((0..=63_u8).prop_map(|dscp| Dscp::new(dscp).unwrap()));
    let ecn = of((0..=3_u8).prop_map(|ecn| Ecn::new(ecn).unwrap()));
    let fragments = [IpFragment::No, IpFragment::First, IpFragment::Later, IpFragment::Any];
    let class = (dscp, ecn, of(select(fragments.to_vec())));
    let l4 = (of(l4_ports()), of(l4_ports()), of(tcp_flags()), of(any::<u8>()), of(any::<u8>()));
    (link, vlan, ip, class, l4, other_matches()).prop_map(|(link, vlan, ip, class, l4, other)| {
        Match {
            in_port: link.0,
            eth_src: link.1,
            eth_dst: link.2,
            eth_type: link.3,
            vlan_vid: vlan.0,
            vlan_pcp: vlan.1,
            ip_src: ip.0,
            ip_dst: ip.1,
            ip_proto: ip.2,
            ip_ttl: ip.3,
            ip_dscp: class.0,
            ip_ecn: class.1,
            ip_frag: class.2,
            l4_src: l4.0,
            l4_dst: l4.1,
            tcp_flags: l4.2,
            icmp_type: l4.3,
            icmp_code: l4.4,
            ..other
        }
    })
}

fn actions() -> impl Strategy<Value = Action> {
    let tags = select(vec![TagProtocol::Customer, TagProtocol::Service]);
    let push = (vlan_ids(), priorities(), tags)
        .prop_map(|(vid, pcp, tpid)| Action::PushVlan(PushVlan { vid, pcp, tpid }));
    let set = prop_oneof![
        macs().prop_map(SetField::EthSrc),
        any::<IpAddr>().prop_map(|address| SetField::IpDst(IpAddress(address))),
        any::<u16>().prop_map(SetField::L4Src),
        vlan_ids().prop_map(SetField::VlanVid),
        metadata().prop_map(SetField::Metadata),
        arp_operations().prop_map(SetField::ArpOp),
        labels().prop_map(SetField::MplsLabel),
        priorities().prop_map(SetField::VlanPcp),
    ];
    prop_oneof![
        select(vec![
            Action::Drop,
            Action::DecrementTtl,
            Action::PopVlan,
            Action::DecrementMplsTtl,
            Action::CopyField(CopyField { from: CopiedField::IpSrc, to: CopiedField::Metadata }),
        ]),
        select(vec![Action::Normal, Action::Flood]),
        names().prop_map(Action::Mirror),
        names().prop_map(Action::Meter),
        names().prop_map(Action::Group),
        (any::<u32>(), names()).prop_map(|(rate, output)| Action::Sample(Sample { rate, output })),
        ether_types().prop_map(Action::PopMpls),
        (labels(), of(any::<u8>())).prop_map(|(label, ttl)| Action::PushMpls(PushMpls {
            label,
            tc: MplsTrafficClass::default(),
            ttl,
            eth_type: LabelProtocol::MplsMulticast,
        })),
        names().prop_map(Action::Output),
        names().prop_map(Action::Stage),
        tables().prop_map(Action::Goto),
        set.prop_map(Action::SetField),
        push,
    ]
}

/// What TOML and JSON share.
fn values() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter("finite", |number| number.is_finite());
    let leaves = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        finite.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaves.prop_recursive(3, 16, 4, |inner| {
        let objects = btree_map(any::<String>(), inner.clone(), 0..4);
        let objects = objects.prop_map(|object| Value::Object(object.into_iter().collect()));
        prop_oneof![vec(inner, 0..4).prop_map(Value::from), objects]
    })
}

fn stages() -> impl Strategy<Value = StageSpec> {
    let config = btree_map(any::<String>(), values(), 0..4);
    let fault = select(vec![OnFault::Drop, OnFault::Bypass]);
    (names(), config, fault, StageSpec::MEMORY_LIMITS, StageSpec::DEADLINES).prop_map(
        |(module, config, on_fault, memory_limit_bytes, deadline_us)| StageSpec {
            module,
            config: Map::from_iter(config),
            on_fault,
            memory_limit_bytes,
            deadline_us,
        },
    )
}

fn rules() -> impl Strategy<Value = RuleSpec> {
    (any::<u16>(), matches(), vec(actions(), 1..6))
        .prop_map(|(priority, r#match, actions)| RuleSpec { priority, r#match, actions })
}

/// Configurations of the right shape, fit to run or not.
fn configs() -> impl Strategy<Value = Config> {
    let pages = select(vec![Hugepages::Auto, Hugepages::On, Hugepages::Off]);
    let settings = (
        of(any::<(IpAddr, u16)>().prop_map(SocketAddr::from)),
        pages,
        any::<u32>(),
        of(vec(any::<u32>(), 0..3)),
        any::<[u32; 4]>(),
    );
    let ports = ("[ -~]{0,40}", of(any::<u16>()));
    let ports = ports.prop_map(|(device, mtu)| PortSpec { device, mtu });
    let modules = "[ -~]{0,20}".prop_map(|path| ModuleSource { path: path.into() });
    let table = (vec(actions(), 0..3), btree_map(names(), rules(), 0..3));
    let table = (table, of(names())).prop_map(|((miss, rules), classifier)| TableConfig {
        miss,
        classifier,
        rules,
    });
    let tables = btree_map(tables(), table, 0..3);
    let named = (
        btree_map(names(), ports, 0..3),
        btree_map(names(), modules, 0..3),
        btree_map(names(), stages(), 0..3),
        tables,
    );
    (settings, named).prop_map(|(settings, named)| {
        let (mut config, (listen, hugepages, size_mb, cores, flows)) =
            (Config::default(), settings);
        config.api.listen = listen;
        (config.memory.hugepages, config.memory.size_mb) = (hugepages, size_mb);
        let [exact_entries, flow_limit, flow_idle_ms, flow_hard_ms] = flows;
        config.workers =
            WorkersConfig { cores, exact_entries, flow_limit, flow_idle_ms, flow_hard_ms };
        (config.ports, config.modules, config.stages, config.tables) = named;
        config
    })
}

fn same_after_text<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(value: &T) {
    assert_eq!(value.to_string().parse::<T>().unwrap(), *value);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_configuration_is_the_same_after_toml_and_json(config in configs()) {
        let toml = config.to_toml();
        prop_assert_eq!(&toml::from_str::<Config>(&toml).unwrap(), &config);
        let json = serde_json::to_string(&config).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Config>(&json).unwrap(), &config);
    }

    #[test]
    fn a_field_is_the_same_after_its_text(
        (mac, ip, port) in (mac_matches(), ip_matches(), l4_ports()),
        (flags, ether_type, vlan) in (tcp_flags(), ether_types(), vlans()),
        (protocol, table, name) in (any::<u8>(), tables(), names()),
    ) {
        same_after_text(&mac);
        same_after_text(&ip);
        same_after_text(&port);
        same_after_text(&flags);
        same_after_text(&ether_type);
        same_after_text(&vlan);
        same_after_text(&IpProtocol(protocol));
        same_after_text(&table);
        same_after_text(&name);
    }
}
