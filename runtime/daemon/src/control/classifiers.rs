use api_model::{Code, Invalid, Name, TableNumber, TableSpec};
use api_server::Kind as Resource;
use dataplane::{
    TableId,
    classify::{Classification, Tables, Touched},
};
use weft_abi::Kind;

use super::{
    Daemon,
    refusal::{self, Answer},
    state::State,
};

impl State {
    /// What is asked of packets before the rules of a table are, as its specification says.
    pub(super) fn classification_of(&self, spec: &TableSpec) -> Answer<Option<Classification>> {
        let Some(name) = &spec.classifier else { return Ok(None) };
        let refused = |reason: String, hint: &str| {
            let invalid = Invalid::at(&["classifier"], reason).hint(hint);
            Err(refusal::invalid(Code::TableInvalid, invalid))
        };
        let Some(entry) = self.stages.get(name) else {
            return refused(format!("there is no stage {name}"), "create the stage first");
        };
        let manifest = entry.module.manifest();
        match manifest.kind {
            Kind::Classifier => {
                Ok(Some(Classification { stage: entry.id, payload: manifest.payload }))
            }
            Kind::Stage => refused(
                format!("the module of {name} is no classifier"),
                "send packets to it by the action `stage`",
            ),
        }
    }

    /// The tables whose packets a stage classifies.
    pub(super) fn classified_by(&self, stage: &Name) -> impl Iterator<Item = TableNumber> {
        let tables =
            self.misses.iter().filter(move |(_, it)| it.classifier.as_ref() == Some(stage));
        tables.map(|(table, _)| *table)
    }

    /// Whether a stage may get a module of this kind: while it is used, it stays what it is.
    pub(super) fn check_kind(&self, name: &Name, kind: Kind) -> Answer<()> {
        let Some(entry) = self.stages.get(name) else { return Ok(()) };
        if entry.module.manifest().kind == kind {
            return Ok(());
        }
        let users = self.stage_users(name, entry.id);
        if users.is_empty() {
            return Ok(());
        }
        Err(refusal::in_use(Code::StageInUse, Resource::Stage, name, &users))
    }
}

impl Daemon {
    /// Has the flows be classified anew that a stage has classified.
    pub(super) fn reclassify(&self, name: &Name) -> Answer<()> {
        let tables = {
            let state = self.state();
            let mut tables = Tables::clone(&state.tables);
            let classified: Vec<_> = state.classified_by(name).collect();
            for table in &classified {
                let classification = state.classification_of(&state.misses[table])?;
                tables.set_classification(TableId(table.get()), classification);
            }
            if classified.is_empty() {
                return Ok(());
            }
            tables
        };
        self.publish_tables(tables, Touched::All, |_| ())
    }
}
