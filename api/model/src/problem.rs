//! What the API answers when it refuses.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::{
    ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, Type},
    },
};

/// The body of a refusal, of type `application/problem+json` (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// A URI that stands for the kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem, for people.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// This case of it.
    pub detail: String,
    /// The kind of problem, for programs. There may come more.
    #[schema(schema_with = code_schema)]
    pub code: String,
    /// The field that is at fault, as a JSON pointer into the request's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

fn code_schema() -> RefOr<Schema> {
    let text = ObjectBuilder::new().schema_type(Type::String);
    text.examples(Code::ALL.iter().map(|code| code.name())).into()
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// The kinds of problems. Their names stay what they are.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name that clients see.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

codes! {
    /// There is no port of that name.
    PortNotFound => "port-not-found",
    /// Rules send packets to the port or match on it.
    PortInUse => "port-in-use",
    /// The port refuses what it is asked for.
    PortInvalid => "port-invalid",
    /// There is no such device, or no driver takes it.
    DeviceNotFound => "device-not-found",
    /// Another port or another program has the device.
    DeviceInUse => "device-in-use",
    /// There is no module of that name.
    ModuleNotFound => "module-not-found",
    /// The module has other bytes under that name.
    ModuleExists => "module-exists",
    /// Stages run the module.
    ModuleInUse => "module-in-use",
    /// The upload is not a module for this daemon.
    ModuleInvalid => "module-invalid",
    /// The module is more than the compiler takes on.
    CompileLimit => "compile-limit",
    /// There is no stage of that name.
    StageNotFound => "stage-not-found",
    /// Rules send packets to the stage.
    StageInUse => "stage-in-use",
    /// The stage's limits or configuration are not fit to run.
    StageInvalid => "stage-invalid",
    /// The module refused its configuration, or failed on it.
    StageInitFailed => "stage-init-failed",
    /// There is no meter of that name.
    MeterNotFound => "meter-not-found",
    /// Rules use the meter.
    MeterInUse => "meter-in-use",
    /// The meter's numbers make no sense.
    MeterInvalid => "meter-invalid",
    /// There is no group of that name.
    GroupNotFound => "group-not-found",
    /// Rules use the group.
    GroupInUse => "group-in-use",
    /// The group's buckets make no sense.
    GroupInvalid => "group-invalid",
    /// The table of addresses is asked for what it cannot be.
    MacTableInvalid => "mac-table-invalid",
    /// There is no rule of that name in the table.
    RuleNotFound => "rule-not-found",
    /// The rule's match or actions make no sense.
    RuleInvalid => "rule-invalid",
    /// The miss of a table makes no sense.
    TableInvalid => "table-invalid",
    /// A batch names a rule twice.
    BatchInvalid => "batch-invalid",
    /// The packet or its port cannot be explained.
    ExplainInvalid => "explain-invalid",
    /// As many as there may be are there already.
    LimitExceeded => "limit-exceeded",
    /// A worker did not take up a change in time.
    WorkerStalled => "worker-stalled",
    /// The daemon is starting or stopping.
    Unavailable => "unavailable",
    /// The daemon did not finish in time; what was asked may still happen.
    TimedOut => "timed-out",
    /// The daemon has a fault.
    Internal => "internal",
    /// The request's path has something that is no name or table number.
    PathInvalid => "path-invalid",
    /// The request's query has what is not taken there, or a value that cannot be.
    QueryInvalid => "query-invalid",
    /// The request's body is not JSON, or not of the resource's shape.
    BodyInvalid => "body-invalid",
    /// The request's body is larger than it may be.
    BodyTooLarge => "body-too-large",
    /// The request's body is of a type or an encoding that is not taken here.
    MediaTypeUnsupported => "media-type-unsupported",
    /// The request's body did not arrive in time.
    RequestTimeout => "request-timeout",
    /// There is nothing at that path.
    RouteNotFound => "route-not-found",
    /// The resource does not know that method.
    MethodNotAllowed => "method-not-allowed",
    /// The request came from a web page, or under a foreign name.
    OriginForbidden => "origin-forbidden",
}

impl Code {
    /// The URI that stands for it.
    #[must_use]
    pub fn uri(self) -> String {
        format!("urn:weft:problem:{}", self.name())
    }

    /// Its name as a sentence without a full stop.
    #[must_use]
    pub fn title(self) -> String {
        let words = self.name().replace('-', " ");
        let (first, rest) = words.split_at(1);
        first.to_uppercase() + rest
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)?;
        self.pointer.iter().try_for_each(|pointer| write!(f, " at {pointer}"))?;
        self.hint.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own_that_reads_as_a_title() {
        let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        assert_eq!(Code::PortNotFound.title(), "Port not found");
        assert_eq!(Code::PortNotFound.uri(), "urn:weft:problem:port-not-found");
    }

    #[test]
    fn a_code_that_a_client_does_not_know_still_parses() {
        let text = r#"{"type": "about:blank", "title": "T", "status": 409, "detail": "d",
            "code": "from-the-future", "errors": []}"#;
        let problem: Problem = serde_json::from_str(text).unwrap();
        assert_eq!((problem.code.as_str(), problem.hint), ("from-the-future", None));
    }
}
