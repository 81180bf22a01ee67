//! `weft port`: where packets enter and leave.

use api_model::{Name, Port, PortSpec};
use clap::{Args, Subcommand};

use super::named::{self, Kind};
use crate::{client::Payload, error::Error, render, session::Session};

const PORTS: Kind<Port> = Kind { noun: "port", lines: render::ports, whole: render::port };

/// What is done with ports.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a port, or replace the one of that name
    Add(Add),
    #[command(flatten)]
    Named(named::Command),
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
            Self::Named(command) => PORTS.run(command, session).await,
        }
    }
}

impl Add {
    async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let spec = PortSpec { device: self.device, mtu: self.mtu };
        PORTS.put(session, &self.name, Payload::json(&spec)).await
    }
}
