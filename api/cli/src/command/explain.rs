//! `weft explain`: why a packet fares as it does.

use std::{num::NonZeroU64, path::PathBuf};

use api_model::{ExplainRequest, Name, PacketBytes, TableNumber};

use crate::{client::Payload, error::Error, path::ApiPath, pcap, render, session::Session};

/// Which packet.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The port that it comes by
    port: Name,
    /// Its bytes in hexadecimal, from the Ethernet header on
    #[arg(value_name = "HEX", required_unless_present = "pcap", conflicts_with = "pcap")]
    packet: Option<PacketBytes>,
    /// A capture that it is in
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Which one it is there, from 1 on
    #[arg(long, requires = "pcap", conflicts_with = "packet", default_value = "1")]
    number: NonZeroU64,
    /// The table that it begins in
    #[arg(long, default_value = "0")]
    table: TableNumber,
}

impl Arguments {
    /// Shows what would become of it. Nothing is sent or counted.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let packet = match (self.packet, self.pcap) {
            (_, Some(path)) => captured(path, self.number)?,
            (Some(packet), None) => packet,
            (None, None) => unreachable!("one of them is required"),
        };
        let request = ExplainRequest { in_port: self.port, packet, table: self.table };
        let path = ApiPath::v1(["explain"]);
        let answer = session.client.post(&path, Payload::json(&request)).await?;
        session.output.show(&answer, render::explanation)
    }
}

fn captured(path: PathBuf, number: NonZeroU64) -> Result<PacketBytes, Error> {
    let bytes = pcap::packet(&path, number)?;
    PacketBytes::new(bytes).map_err(|error| Error::Content { path, reason: error.to_string() })
}
