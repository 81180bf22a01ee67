//! `weft version`: which releases are at work.

use api_model::Version;

use crate::{error::Error, path::ApiPath, render::text::escaped, session::Session};

/// Shows the release of this program, then that of the daemon, which may not answer.
pub(crate) async fn run(session: &mut Session<'_>) -> Result<(), Error> {
    session.output.done(concat!("weft ", env!("CARGO_PKG_VERSION")))?;
    session
        .show(ApiPath::fixed("/version"), |Version { version, module_abi, dpdk }| {
            let (version, dpdk) = (escaped(version), escaped(dpdk));
            format!("weftd {version} ({dpdk}, module ABI {module_abi})")
        })
        .await
}
