//! A module is tried on packets of its own before it gets those of others.

use std::sync::Arc;

use dataplane::{
    PortId,
    packet::{Buffer, Parsed, parse},
    stage::{Answer, Batch, Context, Questions, Verdict},
};
use weft_abi::Kind;

use crate::{
    deployment::Deployment,
    host::Host,
    instance::{Instance, Outcome},
    instantiate_error::InstantiateError,
    samples::samples,
    startup::cause,
    stats::StageStats,
    verdict::Terms,
};

impl Deployment {
    /// Tries an instance of its own on packets of many kinds. What it counts and does is nobody
    /// else's.
    ///
    /// # Errors
    ///
    /// An instance that does not get ready, or that fails on a packet.
    pub fn self_test(&self, host: &Host) -> Result<(), InstantiateError> {
        self.check(host)?;
        let counters = &self.module.manifest().counters;
        let stats = StageStats::new(counters, 1, Arc::clone(host.nursery.bell()));
        let (plan, terms) = self.plan(host, &Arc::new(stats));
        let mut instance = plan.instantiate()?;
        let kind = self.module.manifest().kind;
        let (names, frames): (Vec<_>, Vec<_>) = samples().into_iter().unzip();
        let room = instance.room();
        for (names, frames) in names.chunks(room).zip(frames.chunks(room)) {
            let outcome = try_on(&mut instance, frames, &terms, kind);
            let failed = |what: String, at: Option<&&'static str>| {
                let sample = at.copied().unwrap_or("the last packet, after its verdict");
                Err(InstantiateError::SelfTest { sample, what })
            };
            if let Some(error) = &outcome.fault {
                return failed(cause(error), names.get(outcome.decided));
            }
            if let Some(breach) = outcome.breach {
                return failed(breach.to_string(), Some(&"a packet"));
            }
        }
        Ok(())
    }
}

fn try_on(instance: &mut Instance, frames: &[Vec<u8>], terms: &Terms, kind: Kind) -> Outcome {
    let mut packets: Vec<Buffer> = frames.iter().map(|frame| Buffer::new(frame)).collect();
    let parsed: Vec<Parsed> =
        frames.iter().map(|frame| parse(PortId(0), frame).unwrap_or_default()).collect();
    if kind == Kind::Classifier {
        let mut answers = vec![Answer::none(dataplane::DropReason::BadVerdict); frames.len()];
        return instance.say(Questions::new(&parsed, &packets), &mut answers, 0);
    }
    let mut contexts: Vec<Context> = parsed.iter().map(context).collect();
    let members: Vec<u16> = (0..).take(frames.len()).collect();
    let mut batch = Batch::new(&mut packets, &mut contexts, &members);
    instance.decide(&mut batch, 0, frames.len(), terms)
}

fn context(parsed: &Parsed) -> Context {
    Context {
        in_port: PortId(0),
        headers: parsed.headers,
        flow_hash: 0,
        metadata: 0,
        rewritten: false,
        verdict: Verdict::Next,
    }
}
