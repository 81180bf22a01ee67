//! `weft port`: where packets enter and leave.

use api_model::{Name, PortSpec};
use clap::{Args, Subcommand};

use crate::{client::Payload, error::Error, path::ApiPath, render, session::Session};

/// What is done with ports.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a port, or replace the one of that name
    Add(Add),
    /// List all ports
    List,
    /// Show a port with its counters
    Show {
        /// The port
        name: Name,
    },
    /// Delete a port and give its device back
    Delete {
        /// The port
        name: Name,
    },
}

/// A port to add.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// What to call it
    name: Name,
    /// The device in DPDK's words, such as net_af_packet0,iface=veth-lan or 0000:01:00.0
    #[arg(long, value_name = "DEVARGS")]
    device: String,
    /// The largest packet behind the Ethernet header, if not the driver's own choice
    #[arg(long, value_name = "BYTES")]
    mtu: Option<u16>,
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::Add(add) => add.run(session).await,
            Self::List => session.list(ApiPath::v1(["ports"]), render::ports).await,
            Self::Show { name } => session.show(path(&name), render::port).await,
            Self::Delete { name } => session.delete(path(&name), &format!("port {name}")).await,
        }
    }
}

impl Add {
    async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let spec = PortSpec { device: self.device, mtu: self.mtu };
        let answer = session.client.put(&path(&self.name), Payload::json(&spec)).await?;
        session.output.show(&answer, |port| render::ports(std::slice::from_ref(port)))
    }
}

fn path(name: &Name) -> ApiPath {
    ApiPath::v1(["ports", name.as_str()])
}
