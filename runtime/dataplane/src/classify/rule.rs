use super::Pattern;
use crate::program::Action;

/// What a rule's counters are known by. It stays when the rule is replaced by one of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u64);

/// What becomes of the packets that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whose counters it adds to.
    pub id: RuleId,
    /// Of the rules that match, the one with the highest wins.
    pub priority: u16,
    /// The packets that it is about.
    pub pattern: Pattern,
    /// What is done with them, in order, up to the first `Goto` or `Drop`.
    pub actions: Vec<Action>,
}
