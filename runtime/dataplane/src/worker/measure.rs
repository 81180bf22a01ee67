//! Meters over a burst.

use super::{burst::Burst, equipment::Equipment};
use crate::{
    DropReason, MeterId, Packet, Tally,
    meter::{Color, Meter, Treatment},
    program::{Action, SetField},
    stage::Verdict,
};

impl<P: Packet> Burst<P> {
    /// Has a meter judge the members; those that it drops see no more of the program.
    pub(super) fn measure_all(&mut self, id: MeterId, equipment: &Equipment) {
        let Some(meter) = equipment.meter(id) else {
            self.decide_all(DropReason::NoSuchMeter.into());
            return self.members.clear();
        };
        meter.fill(equipment.now);
        let mut tallies = [Tally::default(); 3];
        for index in 0..self.members.len() {
            let place = usize::from(self.members[index]);
            let bytes = self.packets[place].bytes().len();
            let color = meter.judge(bytes);
            tallies[color as usize].merge(Tally { packets: 1, bytes: bytes as u64 });
            self.treat(place, meter.treatment(color));
        }
        count(meter, tallies, equipment.worker);
        self.keep_undecided();
    }

    fn treat(&mut self, place: usize, treatment: Treatment) {
        match treatment {
            Treatment::Pass => {}
            Treatment::Drop => self.contexts[place].verdict = DropReason::MeterDrop.into(),
            Treatment::Remark(dscp) => {
                let known = self.contexts[place].verdict;
                if !self.change(place, Action::Set(SetField::Dscp(dscp))) {
                    // What is no IP packet has no DSCP, and goes on as it is.
                    self.pass_if_not_applicable(place, known);
                }
            }
        }
    }

    fn pass_if_not_applicable(&mut self, place: usize, known: Verdict) {
        let verdict = &mut self.contexts[place].verdict;
        if *verdict == DropReason::NotApplicable.into() {
            *verdict = known;
        }
    }
}

fn count(meter: &Meter, tallies: [Tally; 3], worker: usize) {
    for color in [Color::Green, Color::Yellow, Color::Red] {
        meter.count(worker, color, tallies[color as usize]);
    }
}
