use api_model::{
    Code, ExplainRequest, Explanation, FlowQuery, FlowTable, Flows, Group, GroupSpec, Invalid,
    MacTable, MacTableSpec, Meter, MeterSpec, Module, Name, Port, PortSpec, Readiness, Rule,
    RuleOperation, RuleQuery, RuleSpec, RulesChanged, Stage, StageSpec, Stats, TableNumber,
    TableSpec, Version, Worker,
};

/// What the API asks of the daemon.
///
/// The methods may block: they are called on threads for that, several at once. What they are given
/// has the right shape and passed its own `validate`; whether what it names is there is for them to
/// say. A change is made whole, or not at all and answered with an error.
pub trait Control: Send + Sync + 'static {
    /// All ports, by name.
    fn ports(&self) -> Result<Vec<Port>, ControlError>;
    /// One port.
    fn port(&self, name: &Name) -> Result<Port, ControlError>;
    /// Attaches a port, or changes it into what the spec says.
    fn put_port(&self, name: &Name, spec: PortSpec) -> Result<Put<Port>, ControlError>;
    /// Detaches a port.
    fn delete_port(&self, name: &Name) -> Result<(), ControlError>;

    /// All modules, by name.
    fn modules(&self) -> Result<Vec<Module>, ControlError>;
    /// One module.
    fn module(&self, name: &Name) -> Result<Module, ControlError>;
    /// Compiles and keeps a module, under `name` or else under `name@version` of its manifest. The
    /// same bytes under the same name change nothing; others are refused.
    fn put_module(&self, name: Option<&Name>, wasm: &[u8]) -> Result<Put<Module>, ControlError>;
    /// Forgets a module.
    fn delete_module(&self, name: &Name) -> Result<(), ControlError>;

    /// All stages, by name.
    fn stages(&self) -> Result<Vec<Stage>, ControlError>;
    /// One stage.
    fn stage(&self, name: &Name) -> Result<Stage, ControlError>;
    /// Makes a stage, or swaps it for what the spec says, on all workers or none.
    fn put_stage(&self, name: &Name, spec: StageSpec) -> Result<Put<Stage>, ControlError>;
    /// Takes a stage out of service.
    fn delete_stage(&self, name: &Name) -> Result<(), ControlError>;

    /// All meters, by name.
    fn meters(&self) -> Result<Vec<Meter>, ControlError>;
    /// One meter.
    fn meter(&self, name: &Name) -> Result<Meter, ControlError>;
    /// Makes a meter, or changes it into what the spec says. It keeps what it has counted.
    fn put_meter(&self, name: &Name, spec: MeterSpec) -> Result<Put<Meter>, ControlError>;
    /// Forgets a meter.
    fn delete_meter(&self, name: &Name) -> Result<(), ControlError>;

    /// All groups, by name.
    fn groups(&self) -> Result<Vec<Group>, ControlError>;
    /// One group.
    fn group(&self, name: &Name) -> Result<Group, ControlError>;
    /// Makes a group, or changes it into what the spec says.
    fn put_group(&self, name: &Name, spec: GroupSpec) -> Result<Put<Group>, ControlError>;
    /// Forgets a group.
    fn delete_group(&self, name: &Name) -> Result<(), ControlError>;

    /// The addresses that are known.
    fn mac_table(&self) -> Result<MacTable, ControlError>;
    /// Begins another table of addresses.
    fn put_mac_table(&self, spec: MacTableSpec) -> Result<MacTable, ControlError>;
    /// Forgets all addresses.
    fn clear_mac_table(&self) -> Result<(), ControlError>;

    /// The tables that have rules or a miss of their own, by number.
    fn tables(&self) -> Result<Vec<FlowTable>, ControlError>;
    /// One table. All that there can be are there.
    fn table(&self, table: TableNumber) -> Result<FlowTable, ControlError>;
    /// Makes a table what the spec says. Its rules stay.
    fn put_table(&self, table: TableNumber, spec: TableSpec) -> Result<FlowTable, ControlError>;
    /// Makes a table what it was at first. Its rules stay.
    fn delete_table(&self, table: TableNumber) -> Result<(), ControlError>;

    /// The rules of a table that are asked for, by name. A table without rules has none; that is no
    /// error.
    fn rules(&self, table: TableNumber, query: &RuleQuery) -> Result<Vec<Rule>, ControlError>;
    /// One rule.
    fn rule(&self, table: TableNumber, name: &Name) -> Result<Rule, ControlError>;
    /// Makes a rule, or changes it into what the spec says.
    fn put_rule(
        &self,
        table: TableNumber,
        name: &Name,
        spec: RuleSpec,
    ) -> Result<Put<Rule>, ControlError>;
    /// Forgets a rule.
    fn delete_rule(&self, table: TableNumber, name: &Name) -> Result<(), ControlError>;
    /// Makes several changes of rules, no two of the same one, as one change. What is wrong with one
    /// of them is said by [`RuleOperation::invalid`]; to delete what is not there is such an error,
    /// with [`Code::RuleNotFound`].
    fn change_rules(&self, operations: Vec<RuleOperation>) -> Result<RulesChanged, ControlError>;

    /// The flows in the workers' caches that are asked for.
    fn flows(&self, query: FlowQuery) -> Result<Flows, ControlError>;
    /// Empties the workers' caches.
    fn flush_flows(&self) -> Result<(), ControlError>;
    /// What would become of a packet. Nothing is sent or counted.
    fn explain(&self, request: ExplainRequest) -> Result<Explanation, ControlError>;

    /// All workers, by number.
    fn workers(&self) -> Result<Vec<Worker>, ControlError>;
    /// All counters.
    fn stats(&self) -> Result<Stats, ControlError>;
    /// Whether packets are handled as they should be.
    fn readiness(&self) -> Readiness;
    /// What runs. Never blocks.
    fn version(&self) -> Version;
}

/// What a put did, and the resource as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put<T> {
    /// It was not there before.
    Created(T),
    /// It was there before, and is now as asked.
    Replaced(T),
}

/// A kind of resource that has names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// See [`Port`].
    Port,
    /// See [`Module`].
    Module,
    /// See [`Stage`].
    Stage,
    /// See [`Meter`].
    Meter,
    /// See [`Group`].
    Group,
    /// See [`Rule`].
    Rule,
}

/// Why the daemon did not do what it was asked. Each is a problem with a status and a code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// What the request's path names is not there: 404.
    #[error("there is no {} {name}", .kind.word())]
    NotFound {
        /// What it would be.
        kind: Kind,
        /// What it would be called.
        name: String,
    },
    /// What the request asks for cannot be: 422.
    #[error("{invalid}")]
    Invalid {
        /// In which way.
        code: Code,
        /// Which field, and why.
        invalid: Invalid,
    },
    /// Something that is there stands against it: 409.
    #[error("{detail}")]
    Conflict {
        /// In which way.
        code: Code,
        /// What stands against it.
        detail: String,
        /// What to do about that.
        hint: Option<String>,
    },
    /// As many as there may be are there already: 409.
    #[error("{detail}")]
    LimitExceeded {
        /// Of what, and how many there may be.
        detail: String,
    },
    /// It may work later: 503.
    #[error("{detail}")]
    Unavailable {
        /// In which way.
        code: Code,
        /// What is not there, or not ready.
        detail: String,
    },
    /// The daemon is at fault: 500.
    #[error("{detail}")]
    Internal {
        /// What went wrong.
        detail: String,
    },
}

impl ControlError {
    /// There is no such thing at the request's path.
    pub fn not_found(kind: Kind, name: impl ToString) -> Self {
        Self::NotFound { kind, name: name.to_string() }
    }

    /// The request asks for what cannot be.
    #[must_use]
    pub fn invalid(code: Code, invalid: Invalid) -> Self {
        Self::Invalid { code, invalid }
    }

    /// Something that is there stands against it.
    pub fn conflict(code: Code, detail: impl Into<String>) -> Self {
        Self::Conflict { code, detail: detail.into(), hint: None }
    }
}

impl Kind {
    /// What it is called.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Port => "port",
            Self::Module => "module",
            Self::Stage => "stage",
            Self::Meter => "meter",
            Self::Group => "group",
            Self::Rule => "rule",
        }
    }

    /// The code of its absence.
    #[must_use]
    pub fn not_found(self) -> Code {
        match self {
            Self::Port => Code::PortNotFound,
            Self::Module => Code::ModuleNotFound,
            Self::Stage => Code::StageNotFound,
            Self::Meter => Code::MeterNotFound,
            Self::Group => Code::GroupNotFound,
            Self::Rule => Code::RuleNotFound,
        }
    }
}
