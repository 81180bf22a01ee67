//! Classifiers at work: asked about single packets on a miss, or about all packets of a burst.

use super::{BURST, Stages, burst::Burst, classifier::Classifier};
use crate::{
    DropReason, Packet, StageId, TableId, Tally,
    flow::FlowKey,
    packet::Parsed,
    stage::{Answer, Questions, Stage},
};

/// Has a stage say what one packet is, of which this is known.
pub(super) fn ask_one<P: Packet>(
    stages: &mut Stages<P>,
    id: StageId,
    packet: &P,
    parsed: &Parsed,
    key: &FlowKey,
) -> Answer {
    let mut answer = [Answer::none(DropReason::NoSuchStage)];
    if let Some(stage) = stage(stages, id) {
        let parsed = [Parsed { key: *key, headers: parsed.headers }];
        stage.classify(Questions::new(&parsed, std::slice::from_ref(packet)), &mut answer);
    }
    answer[0]
}

fn stage<P>(stages: &mut Stages<P>, id: StageId) -> Option<&mut Box<dyn Stage<P>>> {
    stages.get_mut(usize::from(id.0)).and_then(Option::as_mut)
}

impl<P: Packet> Burst<P> {
    /// Has a stage say what every packet is, and writes it into their keys. Returns those that are
    /// not to be looked up since they are dropped.
    #[cold]
    pub(super) fn ask_all(
        &mut self,
        id: StageId,
        alive: u32,
        classifier: &Classifier,
        stages: &mut Stages<P>,
    ) -> u32 {
        let count = self.packets.len();
        let mut answers = [Answer::none(DropReason::NoSuchStage); BURST];
        if let Some(stage) = stage(stages, id) {
            let questions = Questions::new(&self.parsed[..count], &self.packets);
            stage.classify(questions, &mut answers[..count]);
        }
        let mut refused = 0;
        for (place, answer) in answers[..count].iter().enumerate() {
            let key = &mut self.parsed[place].key;
            key.metadata = answer.metadata;
            self.hashes[place] = classifier.hash(key);
            if let Some(reason) = answer.drop.filter(|_| alive & 1 << place != 0) {
                refused |= 1 << place;
                key.table = FlowKey::NOWHERE;
                self.refused.push((place, reason));
            }
        }
        refused
    }

    /// Has a stage say what one packet is that is looked up again. Returns why it is dropped, if it
    /// is.
    #[cold]
    pub(super) fn ask_again(
        &mut self,
        id: StageId,
        place: usize,
        stages: &mut Stages<P>,
    ) -> Option<DropReason> {
        let parsed = &self.parsed[place];
        let answer = ask_one(stages, id, &self.packets[place], parsed, &parsed.key);
        self.parsed[place].key.metadata = answer.metadata;
        self.contexts[place].metadata = answer.metadata;
        answer.drop
    }

    /// Has a packet be looked up in a table, and a stage say before what it is if one is to say so of
    /// every packet.
    pub(super) fn look_up_one(
        &mut self,
        place: usize,
        table: TableId,
        classifier: &mut Classifier,
        stages: &mut Stages<P>,
    ) -> Result<(), DropReason> {
        if let Some(id) = classifier.asked_of_each(table)
            && let Some(reason) = self.ask_again(id, place, stages)
        {
            return Err(reason);
        }
        let (packets, parsed) = (&self.packets, &self.parsed);
        let tally = Tally { packets: 1, bytes: packets[place].bytes().len() as u64 };
        let mut ask = |place: usize, id: StageId, key: &FlowKey| {
            ask_one(stages, id, &packets[place], &parsed[place], key)
        };
        let program = classifier.classify(table, &parsed[place].key, tally, place, &mut ask);
        self.programs[place] = Some(program);
        Ok(())
    }
}
