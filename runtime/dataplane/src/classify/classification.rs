use crate::StageId;

/// What says what packets are before the rules of a table are asked about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classification {
    /// The stage that says so.
    pub stage: StageId,
    /// Whether its answers depend on more than the key, so that it must see every packet.
    pub payload: bool,
}
