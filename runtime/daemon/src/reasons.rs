//! The names of drop reasons: the engine's own, and those that stages have registered.

use std::collections::BTreeMap;

use dataplane::{DropReason, ReasonId};

/// There are too many reasons.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is room for {limit} drop reasons and {used} are in use; a stage with {wanted} more does \
     not fit until the daemon is restarted, since reasons keep their room",
    limit = ReasonId::LIMIT
)]
pub(crate) struct NoRoom {
    used: usize,
    wanted: usize,
}

/// The names, by number. A name keeps its number while the daemon runs, so that a stage's counters
/// go on when it is swapped.
#[derive(Debug)]
pub(crate) struct Reasons {
    names: Vec<String>,
}

impl Default for Reasons {
    fn default() -> Self {
        Self { names: DropReason::ALL.iter().map(|reason| reason.name().to_owned()).collect() }
    }
}

impl Reasons {
    /// The numbers of a stage's reasons, in the order in which its module names them.
    pub(crate) fn register(
        &mut self,
        stage: &str,
        reasons: &[String],
    ) -> Result<Vec<ReasonId>, NoRoom> {
        let full: Vec<String> = reasons.iter().map(|reason| format!("{stage}:{reason}")).collect();
        let wanted = full.iter().filter(|name| !self.names.contains(name)).count();
        if self.names.len() + wanted > ReasonId::LIMIT {
            return Err(NoRoom { used: self.names.len(), wanted });
        }
        Ok(full.into_iter().map(|name| self.number(name)).collect())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Forgets those that were registered since there were `count`, for a stage that came to
    /// nothing.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.names.truncate(count);
    }

    fn number(&mut self, name: String) -> ReasonId {
        let place = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        ReasonId(u16::try_from(place).expect("the limit is below 65,536"))
    }

    /// The counters that are not zero, by name.
    pub(crate) fn name(&self, drops: &[u64; ReasonId::LIMIT]) -> BTreeMap<String, u64> {
        let counted = self.names.iter().zip(drops).filter(|(_, count)| **count > 0);
        counted.map(|(name, count)| (name.clone(), *count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut reasons = Reasons::default();
        let first = reasons.register("fw", &["denied".into(), "odd".into()]).unwrap();
        let again = reasons.register("fw", &["odd".into(), "denied".into()]).unwrap();
        let other = reasons.register("nat", &["denied".into()]).unwrap();
        assert_eq!([first[0], first[1]], [again[1], again[0]]);
        assert_ne!(other[0], first[0]);
        let mut drops = [0; ReasonId::LIMIT];
        drops[first[0].index()] = 3;
        drops[0] = 1;
        let named = [("fw:denied".to_owned(), 3), ("runt".to_owned(), 1)];
        assert_eq!(reasons.name(&drops), BTreeMap::from(named));
    }

    #[test]
    fn a_stage_that_came_to_nothing_leaves_no_reasons() {
        let mut reasons = Reasons::default();
        let before = reasons.len();
        reasons.register("fw", &["denied".into()]).unwrap();
        reasons.truncate(before);
        assert_eq!(reasons.len(), DropReason::ALL.len());
    }

    #[test]
    fn refuses_more_reasons_than_there_is_room_for_and_registers_none() {
        let mut reasons = Reasons::default();
        let many: Vec<String> = (0..ReasonId::LIMIT).map(|n| n.to_string()).collect();
        let before = reasons.names.len();
        assert!(reasons.register("fw", &many).unwrap_err().to_string().contains("512"));
        assert_eq!(reasons.names.len(), before);
    }
}
