use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Action, Invalid, Match, Name, TableNumber, action};

/// What becomes of the packets that match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rule {
    /// What the client called it; of its own in its table.
    pub name: Name,
    /// What the client asked for.
    pub spec: RuleSpec,
    /// What it did.
    pub status: RuleStatus,
}

/// A rule as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// Of the rules that match a packet, the one with the largest number decides.
    pub priority: u16,
    /// The packets that it is about: all, if nothing is said.
    #[serde(default)]
    pub r#match: Match,
    /// What is done with them, in order.
    #[schema(min_items = 1)]
    pub actions: Vec<Action>,
}

/// What a rule did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RuleStatus {
    /// Packets that it matched.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Which rules of a table are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleQuery {
    /// At most so many; all, if nothing is said.
    pub limit: Option<usize>,
    /// Those behind this name.
    pub cursor: Option<Name>,
}

impl RuleQuery {
    /// The most rules that can be asked for by number.
    pub const MAX_LIMIT: usize = 10_000;

    /// Checks what the shape does not say.
    ///
    /// # Errors
    ///
    /// If no rule is asked for, or too many at once.
    pub fn validate(&self) -> Result<(), Invalid> {
        let most = Self::MAX_LIMIT;
        match self.limit {
            Some(limit) if !(1..=most).contains(&limit) => {
                Err(Invalid::at(&["limit"], format!("{limit} is not from 1 to {most}")))
            }
            _ => Ok(()),
        }
    }
}

impl RuleSpec {
    /// The most actions that a rule may have.
    pub const MAX_ACTIONS: usize = 64;

    /// Checks what the shape does not say, for a rule in `table`.
    ///
    /// # Errors
    ///
    /// If a field is matched or set without the header that it needs, or an action stands where it
    /// has no meaning.
    pub fn validate(&self, table: TableNumber) -> Result<(), Invalid> {
        let family = self.r#match.validate().map_err(|invalid| invalid.under("match"))?;
        action::validate(&self.actions, table, family).map_err(|invalid| invalid.under("actions"))
    }
}
