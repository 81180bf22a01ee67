use std::sync::Arc;

use api_model::{BucketSpec, GroupKind, GroupSpec, Invalid};
use dataplane::{
    Links, SharedTally,
    group::{Bucket, Group, Kind},
};

use super::Names;

/// The engine's form of a group that has been validated, for so many workers.
pub(crate) fn group(
    spec: &GroupSpec,
    names: &Names,
    links: &Arc<Links>,
    workers: usize,
) -> Result<Group, Invalid> {
    let kind = match spec.kind {
        GroupKind::All => Kind::All,
        GroupKind::Select => Kind::Select,
        GroupKind::FastFailover => Kind::FastFailover,
    };
    let buckets = spec.buckets.iter().enumerate().map(|(place, bucket)| {
        let at = |invalid: Invalid| invalid.under(&place.to_string()).under("buckets");
        compile(bucket, names, workers).map_err(at)
    });
    Ok(Group::new(kind, buckets.collect::<Result<_, _>>()?, Arc::clone(links)))
}

fn compile(spec: &BucketSpec, names: &Names, workers: usize) -> Result<Bucket, Invalid> {
    let watch = spec.watch_port.as_ref().map(|port| names.port(port)).transpose();
    Ok(Bucket {
        actions: super::actions(&spec.actions, names)
            .map_err(|invalid| invalid.under("actions"))?,
        weight: spec.weight,
        watch: watch.map_err(|invalid| invalid.under("watch_port"))?,
        counted: SharedTally::new(workers),
    })
}
