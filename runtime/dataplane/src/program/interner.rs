use std::{collections::HashMap, sync::Arc};

use super::Action;

/// The place of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ProgramId(u32);

/// Every action list that is in use, once.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    programs: Vec<Program>,
    /// Those that nobody had lately; some may have users again.
    unused: Vec<ProgramId>,
    free: Vec<ProgramId>,
    places: HashMap<Arc<[Action]>, ProgramId>,
}

#[derive(Debug)]
struct Program {
    actions: Arc<[Action]>,
    /// How often it was asked for and not yet given back.
    users: u32,
    /// Whether it is on the list of those that nobody had lately.
    listed: bool,
}

impl Programs {
    /// Room for so many programs: when a map grows, everybody waits while all of it moves.
    pub(crate) fn with_capacity(most: usize) -> Self {
        // What is taken out of a map that is half empty hardly ever leaves a mark behind.
        let places = HashMap::with_capacity(most.saturating_mul(2));
        Self { programs: Vec::with_capacity(most), places, ..Self::default() }
    }

    /// The program of an action list, which is to be released once for each time.
    pub(crate) fn intern(&mut self, actions: Vec<Action>) -> ProgramId {
        if let Some(&known) = self.places.get(&*actions) {
            self.programs[known.0 as usize].users += 1;
            return known;
        }
        let actions: Arc<[Action]> = actions.into();
        let program = Program { actions: Arc::clone(&actions), users: 1, listed: false };
        let place = match self.free.pop() {
            Some(place) => {
                self.programs[place.0 as usize] = program;
                place
            }
            None => {
                self.programs.push(program);
                let place = self.programs.len() - 1;
                ProgramId(u32::try_from(place).expect("memory ends before programs do"))
            }
        };
        self.places.insert(actions, place);
        place
    }

    /// Takes back a program. If nobody else has it, it stays until
    /// [`forget_unused`](Self::forget_unused).
    pub(crate) fn release(&mut self, id: ProgramId) {
        let program = &mut self.programs[id.0 as usize];
        program.users -= 1;
        if program.users == 0 && !program.listed {
            program.listed = true;
            self.unused.push(id);
        }
    }

    /// Forgets the programs that nobody has, and gives their places to others.
    #[inline]
    pub(crate) fn forget_unused(&mut self) {
        while let Some(id) = self.unused.pop() {
            let program = &mut self.programs[id.0 as usize];
            program.listed = false;
            if program.users == 0 {
                self.places.remove(&*program.actions);
                program.actions = Arc::default();
                self.free.push(id);
            }
        }
    }

    /// The actions of a program.
    #[inline]
    pub(crate) fn actions(&self, id: ProgramId) -> &Arc<[Action]> {
        &self.programs[id.0 as usize].actions
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
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
        assert_eq!(**programs.actions(b), [Action::Output(PortId(1)), Action::DecrementTtl]);
    }

    #[test]
    fn a_program_that_nobody_has_gives_its_place_to_another() {
        let mut programs = Programs::default();
        let a = programs.intern(vec![Action::PopVlan]);
        programs.intern(vec![Action::PopVlan]);
        programs.release(a);
        programs.forget_unused();
        assert_eq!(programs.len(), 1, "one of two has it still");
        for again in [true, false] {
            programs.release(a);
            let b = programs.intern(vec![Action::DecrementTtl]);
            assert_eq!(**programs.actions(a), [Action::PopVlan], "who had it lately may run it");
            programs.release(b);
            if again {
                assert_eq!(programs.intern(vec![Action::PopVlan]), a);
            }
            programs.forget_unused();
            assert_eq!(programs.len(), usize::from(again));
        }
        let b = programs.intern(vec![Action::DecrementTtl]);
        assert_eq!((b.0 < 2, programs.len()), (true, 1), "places are used again");
        assert_eq!(**programs.actions(b), [Action::DecrementTtl]);
    }
}
