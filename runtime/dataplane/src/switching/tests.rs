use std::collections::HashMap;

use proptest::{collection::vec, prelude::*};

use super::*;

const AGE: u64 = 1 << 40;
const SECOND: u64 = 1 << 32;

fn station(number: u32) -> Station {
    let [a, b, c, d] = number.to_be_bytes();
    Station { vlan: 7, mac: [2, 0, a, b, c, d] }
}

fn port(number: u32) -> PortId {
    PortId(u16::try_from(number).unwrap())
}

#[test]
fn a_station_is_where_it_was_last_seen_until_it_is_old() {
    let table = MacTable::new(8192, AGE, Seed(1));
    let (one, same_in_other_vlan) = (station(1), Station { vlan: 8, ..station(1) });
    assert_eq!(table.port_of(one, 0), None);
    table.learn(one, PortId(3), SECOND);
    assert_eq!(table.port_of(one, SECOND), Some(PortId(3)));
    assert_eq!(table.port_of(same_in_other_vlan, SECOND), None);
    table.learn(one, PortId(0xffff), 2 * SECOND);
    assert_eq!(table.port_of(one, AGE + 2 * SECOND), Some(PortId(0xffff)));
    assert_eq!(table.port_of(one, AGE + 3 * SECOND), None, "too old");
    assert_eq!(table.counters(), MacCounters { learned: 1, moved: 1, evicted: 0 });
}

#[test]
fn a_group_address_is_nobodys() {
    let table = MacTable::new(8, AGE, Seed(1));
    let broadcast = Station { vlan: 0, mac: [0xff; 6] };
    table.learn(broadcast, PortId(1), 0);
    assert_eq!((table.port_of(broadcast, 0), table.counters()), (None, MacCounters::default()));
}

#[test]
fn what_is_seen_again_stays_young() {
    let table = MacTable::new(8, AGE, Seed(1));
    (0..200).for_each(|step| table.learn(station(1), PortId(1), step * (AGE / 100)));
    assert_eq!(table.port_of(station(1), AGE * 2), Some(PortId(1)));
    assert_eq!(table.counters().learned, 1);
}

#[test]
fn a_million_addresses_take_the_room_of_those_longest_silent() {
    let table = MacTable::new(8192, AGE, Seed(1));
    (0..1_000_000).for_each(|number| table.learn(station(number), PortId(1), number.into()));
    assert_eq!((table.room(), table.stations(1_000_000).len()), (8192, 8192));
    assert_eq!(
        table.counters(),
        MacCounters { learned: 1_000_000, moved: 0, evicted: 1_000_000 - 8192 }
    );
    assert_eq!(table.port_of(station(999_999), 1_000_000), Some(PortId(1)), "the newest is there");
}

#[test]
fn old_stations_give_way_without_being_counted() {
    let table = MacTable::new(8, AGE, Seed(1));
    (0..8).for_each(|number| table.learn(station(number), PortId(1), 0));
    (8..16).for_each(|number| table.learn(station(number), PortId(2), 2 * AGE));
    assert_eq!(table.counters(), MacCounters { learned: 16, moved: 0, evicted: 0 });
    assert_eq!(table.stations(2 * AGE).len(), 8);
}

#[test]
fn a_port_that_goes_takes_its_stations_along() {
    let table = MacTable::new(8192, AGE, Seed(1));
    (0..100).for_each(|number| table.learn(station(number), port(number % 2), SECOND));
    table.forget_port(PortId(1));
    assert!(table.stations(SECOND).iter().all(|learned| learned.port == PortId(0)));
    assert_eq!(table.stations(SECOND).len(), 50);
    table.clear();
    assert_eq!(table.stations(SECOND), []);
}

#[test]
fn a_listed_station_is_the_one_that_was_learned() {
    let table = MacTable::new(8, AGE, Seed(1));
    let learned = Station { vlan: 4095, mac: [0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54] };
    table.learn(learned, PortId(9), 4 * SECOND);
    let expected = Learned { station: learned, port: PortId(9), idle: SECOND };
    assert_eq!(table.stations(5 * SECOND), [expected]);
}

#[test]
fn workers_that_write_at_once_never_pair_a_station_with_anothers_port() {
    let table = MacTable::new(16, u64::MAX >> 1, Seed(1));
    std::thread::scope(|scope| {
        for worker in 0..4_u32 {
            let table = &table;
            scope.spawn(move || {
                for round in 0..100_000 {
                    // A station's port is its number; few places make them fight.
                    let number = (round * 7 + worker) % 64;
                    table.learn(station(number), port(number), u64::from(round) << 16);
                    let other = (round * 5 + worker * 3) % 64;
                    if let Some(known) = table.port_of(station(other), u64::from(round) << 16) {
                        assert_eq!(known, port(other));
                    }
                }
            });
        }
    });
}

proptest! {
    #[test]
    fn what_is_known_is_what_a_map_knows(
        seed in any::<u64>(),
        sightings in vec((0_u32..40, 0_u16..4, 0_u64..1 << 34), 1..400),
    ) {
        let table = MacTable::new(8192, AGE, Seed(seed));
        let mut map: HashMap<u32, (u16, u64)> = HashMap::new();
        let mut now = 0;
        for (number, port, later) in sightings {
            now += later;
            table.learn(station(number), PortId(port), now);
            map.insert(number, (port, now));
            for number in 0..40 {
                let known = table.port_of(station(number), now);
                // Times are exact to a 64th of the age, so that near the end either answer will do.
                let sighting = map.get(&number);
                if let Some((port, seen)) = sighting.filter(|(_, seen)| now - seen <= AGE / 64 * 63) {
                    prop_assert_eq!((known, now - seen), (Some(PortId(*port)), now - seen));
                } else if sighting.is_none_or(|(_, seen)| now - seen > AGE + (1 << 16)) {
                    prop_assert_eq!(known, None);
                }
            }
        }
    }
}
