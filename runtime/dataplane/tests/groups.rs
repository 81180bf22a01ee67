//! Groups: how flows are shared out, and what happens when buckets come, go and die.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use dataplane::{
    Links, PortId, SharedTally,
    group::{Bucket, Group, Kind},
    program::Action,
};

fn bucket(port: u16, weight: u16, watch: Option<u16>) -> Bucket {
    Bucket {
        actions: vec![Action::Output(PortId(port))],
        weight,
        watch: watch.map(PortId),
        counted: SharedTally::new(1),
    }
}

fn group(kind: Kind, buckets: Vec<Bucket>, links: &Arc<Links>) -> Group {
    Group::new(kind, buckets, Arc::clone(links))
}

/// The ports that many flows go to.
fn ports(group: &Group) -> Vec<u16> {
    let port = |hash| match group.choose(hash).unwrap().actions[..] {
        [Action::Output(PortId(port))] => port,
        _ => unreachable!(),
    };
    (0..100_000).map(port).collect()
}

fn share(ports: &[u16], port: u16) -> usize {
    ports.iter().filter(|it| **it == port).count()
}

#[test]
fn flows_are_shared_out_by_weight() {
    let links = Arc::default();
    let weights = vec![bucket(1, 1, None), bucket(2, 2, None), bucket(3, 5, None)];
    let ports = ports(&group(Kind::Select, weights, &links));
    for (port, expected) in [(1, 12_500), (2, 25_000), (3, 62_500)] {
        let share = share(&ports, port);
        assert!(share.abs_diff(expected) < 2_500, "{share} flows go to port {port}");
    }
}

#[test]
fn when_a_bucket_goes_or_comes_only_its_flows_move() {
    let links = Arc::default();
    let all = || (1..=4).map(|port| bucket(port, 1, None));
    let before = ports(&group(Kind::Select, all().collect(), &links));
    let without = all().filter(|it| it.actions != [Action::Output(PortId(2))]).collect();
    let after = ports(&group(Kind::Select, without, &links));
    let moved = before.iter().zip(&after).filter(|(before, after)| before != after);
    assert!(moved.clone().all(|(before, _)| *before == 2), "only those of the one that went");
    assert_eq!(moved.count(), share(&before, 2));
    for port in [1, 3, 4] {
        let gained = share(&after, port) - share(&before, port);
        assert!(gained.abs_diff(share(&before, 2) / 3) < 2_000, "{gained} more go to port {port}");
    }
}

#[test]
fn a_bucket_whose_port_is_down_lends_its_flows_to_the_others() {
    let links = Arc::new(Links::default());
    (1..=3).for_each(|port| links.set(PortId(port), true));
    let buckets = (1..=3).map(|port| bucket(port, 1, Some(port))).collect();
    let group = group(Kind::Select, buckets, &links);
    let before = ports(&group);
    links.set(PortId(2), false);
    let after = ports(&group);
    assert_eq!(share(&after, 2), 0);
    let stayed = before.iter().zip(&after).filter(|(before, _)| **before != 2);
    assert!(stayed.into_iter().all(|(before, after)| before == after));
    links.set(PortId(2), true);
    assert_eq!(ports(&group), before);
}

#[test]
fn a_dead_group_has_no_bucket() {
    let links = Arc::new(Links::default());
    for kind in [Kind::Select, Kind::FastFailover] {
        let group = group(kind, vec![bucket(1, 1, Some(1)), bucket(2, 1, Some(2))], &links);
        assert!((0..1000).all(|hash| group.choose(hash).is_none()), "{kind:?}");
    }
}

#[test]
fn failover_takes_the_first_that_is_alive() {
    let links = Arc::new(Links::default());
    let buckets = vec![bucket(1, 1, Some(1)), bucket(2, 1, Some(2)), bucket(3, 1, None)];
    let group = group(Kind::FastFailover, buckets, &links);
    let port = || group.choose(7).unwrap().actions[0];
    assert_eq!(port(), Action::Output(PortId(3)));
    links.set(PortId(2), true);
    assert_eq!(port(), Action::Output(PortId(2)));
    links.set(PortId(1), true);
    assert_eq!(port(), Action::Output(PortId(1)));
    links.set(PortId(1), false);
    assert_eq!(port(), Action::Output(PortId(2)));
}
