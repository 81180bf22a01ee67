use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Action, Fields, Invalid, Name, TableNumber};

/// Packets that a worker treats alike without a look at the tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Flow {
    /// The worker that keeps it.
    pub worker: u16,
    /// The packets that it is of: the fields that the tables were searched by, and what they are.
    pub r#match: Fields,
    /// The table that its packets begin in.
    pub start_table: TableNumber,
    /// Packets that it was of.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How long it has been kept, in milliseconds.
    pub age_ms: u64,
    /// How long ago its last packet came, in milliseconds.
    pub idle_ms: u64,
    /// Where its last packet was found.
    pub cache: CacheLevel,
    /// The rules that its packets match, a table each.
    pub rules: Vec<RuleKey>,
    /// What is done with its packets.
    pub actions: Vec<Action>,
}

/// A level of a worker's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheLevel {
    /// By all of the packet's headers, in one look.
    Exact,
    /// By the fields that the tables were searched by.
    Wildcard,
}

/// A rule, by what clients call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RuleKey {
    /// The table that it is in.
    pub table: TableNumber,
    /// What it is called.
    pub name: Name,
}

/// Some of the flows in the workers' caches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Flows {
    /// The flows.
    pub flows: Vec<Flow>,
    /// Where the next page begins; null at the end.
    #[schema(value_type = Option<String>, example = "0.4096")]
    pub next: Option<FlowCursor>,
}

/// Which flows are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowQuery {
    /// Those of one worker only.
    pub worker: Option<u16>,
    /// At most so many.
    #[serde(default = "default_limit")]
    pub limit: usize,
    /// From here on.
    pub cursor: Option<FlowCursor>,
}

/// A place in the workers' caches. Flows that come or go while pages are read may be seen or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FlowCursor {
    /// The worker.
    pub worker: u16,
    /// The place in its cache.
    pub place: u64,
}

/// A text that is no [`FlowCursor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is what the page before gave as next")]
pub struct FlowCursorError;

impl FlowQuery {
    /// The most flows that one answer has.
    pub const MAX_LIMIT: usize = 10_000;

    /// Checks what the shape does not say.
    ///
    /// # Errors
    ///
    /// If no flow is asked for, or too many at once.
    pub fn validate(&self) -> Result<(), Invalid> {
        let (limit, most) = (self.limit, Self::MAX_LIMIT);
        if (1..=most).contains(&limit) {
            return Ok(());
        }
        Err(Invalid::at(&["limit"], format!("{limit} is not from 1 to {most}")))
    }
}

impl Default for FlowQuery {
    fn default() -> Self {
        Self { worker: None, limit: default_limit(), cursor: None }
    }
}

fn default_limit() -> usize {
    1000
}

impl FromStr for FlowCursor {
    type Err = FlowCursorError;

    fn from_str(text: &str) -> Result<Self, FlowCursorError> {
        let (worker, place) = text.split_once('.').ok_or(FlowCursorError)?;
        let worker = worker.parse().map_err(|_| FlowCursorError)?;
        Ok(Self { worker, place: place.parse().map_err(|_| FlowCursorError)? })
    }
}

impl TryFrom<String> for FlowCursor {
    type Error = FlowCursorError;

    fn try_from(text: String) -> Result<Self, FlowCursorError> {
        text.parse()
    }
}

impl From<FlowCursor> for String {
    fn from(cursor: FlowCursor) -> Self {
        cursor.to_string()
    }
}

impl fmt::Display for FlowCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.worker, self.place)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flow_is_shown_as_it_is_read_and_what_is_new_in_it_is_passed_over() {
        let mut flow = json!({
            "worker": 0, "match": {"in_port": "lan", "ip_dst": "10.0.0.0/8"}, "start_table": 0,
            "packets": 3, "bytes": 180, "age_ms": 1000, "idle_ms": 7, "cache": "wildcard",
            "rules": [{"table": 0, "name": "web"}], "actions": [{"output": "wan"}],
        });
        let shown = json!(serde_json::from_value::<Flow>(flow.clone()).unwrap());
        assert_eq!(shown, flow);
        flow["from_the_future"] = json!(1);
        assert_eq!(json!(serde_json::from_value::<Flow>(flow).unwrap()), shown);
    }

    #[test]
    fn a_cursor_is_a_text() {
        let flows: Flows = serde_json::from_value(json!({"flows": [], "next": "3.70000"})).unwrap();
        assert_eq!(flows.next, Some(FlowCursor { worker: 3, place: 70_000 }));
        assert_eq!(json!(flows), json!({"flows": [], "next": "3.70000"}));
        for text in ["", "3", "3.", ".3", "70000.0", "0.-1", "0.0.0"] {
            assert_eq!(text.parse::<FlowCursor>(), Err(FlowCursorError), "{text}");
        }
    }

    #[test]
    fn a_query_asks_for_some_flows_and_not_for_too_many() {
        let with = |limit| FlowQuery { limit, ..FlowQuery::default() }.validate().is_ok();
        assert_eq!([0, 1, 10_000, 10_001].map(with), [false, true, true, false]);
        assert_eq!(FlowQuery::default().validate(), Ok(()));
    }
}
