//! Why a packet was dropped. Every free of a packet names one reason.

/// A reason: one of the engine's own, or one that a stage registered under a later number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReasonId(pub u16);

impl ReasonId {
    /// How many reasons there can be, the engine's own and all stages' together.
    pub const LIMIT: usize = 512;

    /// Its place in an array of counters.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl From<DropReason> for ReasonId {
    fn from(reason: DropReason) -> Self {
        Self(reason as u16)
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// The engine's own reasons. Their names are those of the counters, everywhere.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum DropReason { $($(#[$doc])* $variant,)* }

        impl DropReason {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name of the reason, and of its counter.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

reasons! {
    /// Too short for an Ethernet header.
    Runt => "runt",
    /// It did not fit one buffer on receive.
    Oversize => "oversize",
    /// No rule of the table matched.
    TableMiss => "table-miss",
    /// A rule says so.
    RuleDrop => "rule-drop",
    /// Its rule's actions ended without an output.
    NoOutput => "no-output",
    /// Its TTL or hop limit would reach zero (RFC 1812, 5.3.1; RFC 8200, 3).
    TtlExpired => "ttl-expired",
    /// An action needs a header that the packet lacks.
    NotApplicable => "action-not-applicable",
    /// No room for another header in its buffer.
    NoHeadroom => "no-headroom",
    /// No buffer for a copy.
    NoBuffer => "no-buffer",
    /// It was sent to a port that is not there.
    NoSuchPort => "no-such-port",
    /// The device took no more.
    TransmitFull => "transmit-full",
    /// It was looked up too often.
    RecirculationLimit => "recirculation-limit",
    /// It was sent to a table that has no rules.
    NoSuchTable => "no-such-table",
    /// Its stage is not there.
    NoSuchStage => "no-such-stage",
    /// The stage trapped on it.
    StageTrap => "stage-trap",
    /// The stage ran past its deadline on it.
    StageDeadline => "stage-deadline",
    /// The stage has no instance in service.
    StageUnavailable => "stage-unavailable",
    /// The stage's verdict means nothing.
    BadVerdict => "bad-verdict",
    /// A meter says so.
    MeterDrop => "meter-drop",
    /// Its meter is not there.
    NoSuchMeter => "no-such-meter",
    /// No bucket of its group is alive.
    NoLiveBucket => "no-live-bucket",
    /// Its group is not there.
    NoSuchGroup => "no-such-group",
    /// It is for a station on the port that it came by.
    SamePort => "same-port",
    /// Its address is one that no bridge forwards to (IEEE 802.1D, 7.12.6).
    ReservedAddress => "reserved-address",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stands_at_the_place_of_its_number() {
        for (place, reason) in DropReason::ALL.iter().enumerate() {
            assert_eq!(ReasonId::from(*reason).index(), place, "{}", reason.name());
        }
    }
}
