use std::sync::Arc;

use super::Pattern;
use crate::{SharedTally, program::Action};

/// What a rule is known by. It stays when the rule is replaced by one of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u64);

/// What becomes of the packets that match.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its number.
    pub id: RuleId,
    /// Of the rules that match, the one with the highest wins, and of those the one with the lowest
    /// id.
    pub priority: u16,
    /// The packets that it is about: those that match any of these, which are at most 65,536. A
    /// range of ports is several.
    pub patterns: Vec<Pattern>,
    /// What is done with them, in order, up to the first `Goto` or `Drop`.
    pub actions: Vec<Action>,
    /// The packets that it has matched.
    pub counted: Arc<SharedTally>,
}

impl Rule {
    /// Whether it wins over another that matches the same packet.
    pub(super) fn beats(&self, other: &Self) -> bool {
        (self.priority, other.id) > (other.priority, self.id)
    }
}
