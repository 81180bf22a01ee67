//! Meters against the RFCs' words, tick by tick.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::cmp::Ordering;

use dataplane::meter::{Algorithm, Color, Meter, Rate, Settings, Treatment, Unit};
use proptest::{collection::vec, prelude::*, sample::select};

/// A meter as the RFCs have it. Tokens are counted in parts, of which a unit has as many as a
/// second has ticks; so a tick adds whole parts.
struct Slow {
    settings: Settings,
    now: u64,
    committed: u128,
    second: u128,
}

impl Slow {
    fn new(settings: Settings) -> Self {
        let mut slow = Self { settings, now: 0, committed: 0, second: 0 };
        (slow.committed, slow.second) = (slow.room(settings.committed), slow.room(settings.second));
        slow
    }

    fn room(&self, rate: Rate) -> u128 {
        u128::from(rate.burst) * u128::from(self.settings.ticks)
    }

    /// One tick after another, one part after another.
    fn fill(&mut self, now: u64) {
        let (first, second) = (self.room(self.settings.committed), self.room(self.settings.second));
        while self.now < now {
            self.now += 1;
            match self.settings.algorithm {
                // RFC 2697, 3: if Tc is less than the CBS, Tc is incremented by one, else if Te is
                // less than the EBS, Te is incremented by one, else neither is.
                Algorithm::SingleRate => {
                    for _ in 0..self.settings.committed.per_second {
                        if self.committed < first {
                            self.committed += 1;
                        } else if self.second < second {
                            self.second += 1;
                        }
                    }
                }
                // RFC 2698, 3 and RFC 4115, 2.2: each by its own rate, up to its own size.
                Algorithm::TwoRate | Algorithm::Excess => {
                    let rate = |rate: Rate| u128::from(rate.per_second);
                    self.committed = first.min(self.committed + rate(self.settings.committed));
                    self.second = second.min(self.second + rate(self.settings.second));
                }
            }
        }
    }

    fn judge(&mut self, bytes: usize) -> Color {
        let units = if self.settings.unit == Unit::Bits { bytes as u128 * 8 } else { 1 };
        let size = units * u128::from(self.settings.ticks);
        let fits = |tokens: u128| tokens.cmp(&size) != Ordering::Less;
        let (committed, second) = (fits(self.committed), fits(self.second));
        let color = match self.settings.algorithm {
            Algorithm::TwoRate if !second => Color::Red,
            Algorithm::TwoRate if !committed => Color::Yellow,
            _ if committed => Color::Green,
            _ if second => Color::Yellow,
            _ => Color::Red,
        };
        match (self.settings.algorithm, color) {
            (_, Color::Red) => {}
            (Algorithm::TwoRate, Color::Yellow) => self.second -= size,
            (Algorithm::TwoRate, Color::Green) => {
                self.second -= size;
                self.committed -= size;
            }
            (_, Color::Yellow) => self.second -= size,
            (_, Color::Green) => self.committed -= size,
        }
        color
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let algorithms = select(vec![Algorithm::SingleRate, Algorithm::TwoRate, Algorithm::Excess]);
    let units = select(vec![Unit::Bits, Unit::Packets]);
    let rate = || (0_u64..5000, 0_u64..6000);
    let rate = || rate().prop_map(|(per_second, burst)| Rate { per_second, burst });
    (algorithms, units, rate(), rate(), 1_u64..2000).prop_map(
        |(algorithm, unit, mut committed, mut second, ticks)| {
            if unit == Unit::Packets {
                (committed.burst, second.burst) = (committed.burst % 8, second.burst % 8);
            }
            let (yellow, red) = (Treatment::Pass, Treatment::Drop);
            Settings { algorithm, unit, committed, second, yellow, red, ticks }
        },
    )
}

fn settled(algorithm: Algorithm, ticks: u64) -> Settings {
    Settings {
        algorithm,
        unit: Unit::Bits,
        committed: Rate { per_second: 8_000_000, burst: 80_000 },
        second: Rate { per_second: 16_000_000, burst: 160_000 },
        yellow: Treatment::Pass,
        red: Treatment::Drop,
        ticks,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_meter_judges_as_the_rfcs_say(
        settings in settings(),
        packets in vec((0_u64..40, 0_usize..400), 1..120),
    ) {
        let (meter, mut slow) = (Meter::new(settings, 1), Slow::new(settings));
        let mut now = 0;
        for (place, (later, bytes)) in packets.into_iter().enumerate() {
            now += later;
            meter.fill(now);
            slow.fill(now);
            prop_assert_eq!(meter.judge(bytes), slow.judge(bytes), "packet {}", place);
        }
    }
}

#[test]
fn a_steady_stream_gets_its_rates_to_the_packet() {
    // At a real clock's rate: 1,000 bytes every 250 us are 32 Mbit/s, for ten seconds.
    let ticks = 3_000_000_000;
    for (algorithm, expected) in [
        (Algorithm::SingleRate, [10_010, 20, 29_970]),
        (Algorithm::TwoRate, [10_010, 10_010, 19_980]),
        // The second bucket stays full, and gains nothing, while the first one's burst lasts.
        (Algorithm::Excess, [10_010, 20_013, 9_977]),
    ] {
        let meter = Meter::new(settled(algorithm, ticks), 1);
        let mut counted = [0; 3];
        for packet in 0..40_000 {
            meter.fill(packet * (ticks / 4000));
            counted[meter.judge(1000) as usize] += 1;
        }
        let off = (0..3).map(|color: usize| i64::abs(counted[color] - expected[color]));
        assert!(off.max().unwrap() <= 2, "{algorithm:?}: {counted:?}, not {expected:?}");
    }
}

#[test]
fn workers_together_get_no_more_than_the_rate() {
    let meter = Meter::new(settled(Algorithm::TwoRate, 200_000), 1);
    let green: usize = std::thread::scope(|scope| {
        let run = |start: u64| {
            let meter = &meter;
            scope.spawn(move || {
                let judge = |tick: u64| {
                    meter.fill(start + tick);
                    usize::from(meter.judge(1000) == Color::Green)
                };
                (0..200_000).map(judge).sum::<usize>()
            })
        };
        [0, 3, 50].map(run).into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    // A second of the rate and the burst, and what the clocks differ by.
    assert!((1009..=1011).contains(&green), "{green}");
}

#[test]
fn a_clock_that_is_behind_takes_nothing_away_and_gives_nothing_twice() {
    let meter = Meter::new(settled(Algorithm::Excess, 1000), 1);
    let empty = |now: u64| {
        meter.fill(now);
        std::iter::from_fn(|| (meter.judge(1000) != Color::Red).then_some(())).count()
    };
    assert_eq!(empty(0), 30);
    assert_eq!(empty(10), 30);
    assert_eq!(empty(5), 0, "a clock of another worker");
    assert_eq!(empty(11), 3);
}
