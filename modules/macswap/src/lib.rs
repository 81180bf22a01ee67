//! Swaps a frame's source and destination MAC addresses.
#![no_std]
#![forbid(unsafe_code)]

use weft_sdk::{ConfigError, Counters, NoConfig, NoNames, Packet, Stage, Verdict};

/// The stage.
#[derive(Debug)]
pub struct MacSwap;

impl Stage for MacSwap {
    type Config = NoConfig;
    type Reason = NoNames;
    type Counter = NoNames;

    const WINDOW: u32 = 64;
    const WRITES: bool = true;

    fn new(_: NoConfig) -> Result<Self, ConfigError> {
        Ok(Self)
    }

    fn process(&mut self, packet: &mut Packet<'_>, _: &mut Counters<NoNames>) -> Verdict<NoNames> {
        if let Some(mut ethernet) = packet.ethernet_mut() {
            let (destination, source) = (ethernet.destination(), ethernet.source());
            ethernet.set_destination(source);
            ethernet.set_source(destination);
        }
        Verdict::Next
    }
}

weft_sdk::export!(MacSwap);

#[cfg(test)]
mod tests {
    use weft_sdk::testing::{FakeHost, Outcome};

    use super::*;

    #[test]
    fn swaps_the_addresses_and_leaves_the_rest() {
        let mut frame = [9; 80];
        frame[..12].copy_from_slice(&[1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16]);
        let mut expected = frame;
        expected[..12].copy_from_slice(&[11, 12, 13, 14, 15, 16, 1, 2, 3, 4, 5, 6]);

        let outcome = FakeHost::<MacSwap>::new("{}").unwrap().run(&frame);
        let next = Outcome { verdict: Verdict::Next, frame: expected.into(), metadata: 0 };
        assert_eq!(outcome, next);
    }

    #[test]
    fn refuses_a_key_that_it_does_not_know() {
        let refused = FakeHost::<MacSwap>::new(r#"{"port": 1}"#).unwrap_err();
        assert!(refused.message().contains("unknown field `port`"), "{refused}");
    }
}
