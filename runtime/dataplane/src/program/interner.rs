use std::collections::HashMap;

use super::Action;

/// The place of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProgramId(u32);

/// Every action list that is in use, once.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    lists: Vec<Box<[Action]>>,
    places: HashMap<Box<[Action]>, ProgramId>,
}

impl Programs {
    /// The program of an action list.
    pub(crate) fn intern(&mut self, actions: Vec<Action>) -> ProgramId {
        let actions = actions.into_boxed_slice();
        if let Some(&known) = self.places.get(&actions) {
            return known;
        }
        let place = u32::try_from(self.lists.len()).expect("memory ends before programs do");
        self.lists.push(actions.clone());
        self.places.insert(actions, ProgramId(place));
        ProgramId(place)
    }

    /// The actions of a program.
    #[inline]
    pub(crate) fn actions(&self, id: ProgramId) -> &[Action] {
        &self.lists[id.0 as usize]
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.lists.clear();
        self.places.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;

    #[test]
    fn equal_lists_are_one_program() {
        let mut programs = Programs::default();
        let a = programs.intern(vec![Action::DecrementTtl, Action::Output(PortId(1))]);
        let b = programs.intern(vec![Action::Output(PortId(1)), Action::DecrementTtl]);
        let again = programs.intern(vec![Action::DecrementTtl, Action::Output(PortId(1))]);
        assert_eq!((a, programs.len()), (again, 2));
        assert_ne!(a, b);
        assert_eq!(programs.actions(b), [Action::Output(PortId(1)), Action::DecrementTtl]);
    }
}
