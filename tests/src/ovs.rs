//! Open vSwitch, as a twin of the whole daemon: its userspace datapath, with ports that exist only
//! inside it. It shares nothing with what the machine may run of it already.

use std::{
    fs::File,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use crate::{
    Capture,
    openflow::{PORTS, Port},
    tool, unixctl,
};

const BRIDGE: &str = "br0";
/// Where Debian's package has the database's schema.
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";
/// An EtherType for experiments (IEEE 802), of frames that say that all before them is done.
const SENTINEL: u16 = 0x88b6;
/// Frames that a port is given at a time. It holds a hundred, and drops what is more.
const BATCH: usize = 90;

/// A running Open vSwitch with a bridge of all [`PORTS`], ended when this is dropped.
#[derive(Debug)]
pub struct Ovs {
    folder: TempDir,
    /// The switch first, which ends before its database.
    processes: Vec<Child>,
    /// How many frames of each port's capture were there before.
    seen: Vec<usize>,
}

impl Ovs {
    /// Starts it in a folder of its own.
    ///
    /// # Panics
    ///
    /// Panics if it is not installed or does not start.
    #[track_caller]
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut ovs = Self { folder, processes: Vec::new(), seen: vec![0; PORTS.len()] };
        let database = ovs.text("conf.db");
        tool::run(&["ovsdb-tool", "create", &database, SCHEMA]);
        let remote = format!("--remote=punix:{}", ovs.text("db.sock"));
        ovs.spawn("ovsdb-server", &[&remote, &database]);
        ovs.await_file("db.sock");
        ovs.vsctl(&["--no-wait", "init"]);
        // As many tags as Weft understands.
        ovs.vsctl(&["--no-wait", "set", "Open_vSwitch", ".", "other_config:vlan-limit=2"]);
        let remote = format!("unix:{}", ovs.text("db.sock"));
        ovs.spawn("ovs-vswitchd", &["--enable-dummy", "--disable-system", &remote]);
        ovs.make_bridge();
        // A first fragment's transport header counts, as it does in Weft.
        tool::run(&["ovs-ofctl", "set-frags", &ovs.management(), "nx-match"]);
        ovs
    }

    #[track_caller]
    fn spawn(&mut self, program: &str, arguments: &[&str]) {
        let log = File::create(self.path(&format!("{program}.log"))).expect("the folder is ours");
        let control = format!("--unixctl={}", self.text(&format!("{program}.ctl")));
        let child = Command::new(program)
            .arg(control)
            .args(arguments)
            .env("OVS_RUNDIR", self.folder.path())
            .env("OVS_DBDIR", self.folder.path())
            .env("OVS_LOGDIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        let child = child.unwrap_or_else(|error| {
            panic!("`{program}` cannot be started ({error}): `make setup` installs Open vSwitch")
        });
        self.processes.insert(0, child);
    }

    #[track_caller]
    fn make_bridge(&self) {
        let mut command = vec!["add-br".to_owned(), BRIDGE.to_owned(), "--".to_owned()];
        let settings = ["datapath_type=dummy", "fail-mode=secure"];
        command.extend(["set", "bridge", BRIDGE].iter().chain(&settings).map(|&it| it.to_owned()));
        for port in PORTS {
            let (name, number) = (port.name(), port.0);
            let capture = self.text(&format!("{name}.pcap"));
            command.extend(["--", "add-port", BRIDGE, &name].map(str::to_owned));
            command.extend(["--", "set", "Interface", &name, "type=dummy"].map(str::to_owned));
            command.push(format!("ofport_request={number}"));
            command.push(format!("options:tx_pcap={capture}"));
        }
        self.vsctl(&command.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[track_caller]
    fn vsctl(&self, arguments: &[&str]) {
        let database = format!("--db=unix:{}", self.text("db.sock"));
        tool::run(&[&["ovs-vsctl", "--timeout=30", &database], arguments].concat());
    }

    /// Takes up other rules, written as `ovs-ofctl` reads them, and forgets all flows.
    ///
    /// # Panics
    ///
    /// Panics if a rule is refused.
    #[track_caller]
    pub fn load(&self, flows: &[String]) {
        let mut text = flows.join("\n");
        for port in PORTS {
            text += &format!(
                "\npriority=0xffff,dl_type={SENTINEL:#x},in_port={},actions=in_port",
                port.0
            );
        }
        let management = self.management();
        let command = ["ovs-ofctl", "-O", "OpenFlow13", "replace-flows", &management, "-"];
        tool::run_with_input(&command, text.as_bytes());
        self.forget_flows();
    }

    /// Forgets what it has learned of packets, so that the next are decided by the rules.
    ///
    /// # Panics
    ///
    /// Panics if it does not answer.
    #[track_caller]
    pub fn forget_flows(&self) {
        self.call("revalidator/purge", &[]);
    }

    /// Has each port receive its frames, and returns what has left by each port then.
    ///
    /// # Panics
    ///
    /// Panics if that takes too long.
    #[track_caller]
    pub fn forward(&mut self, received: &[(Port, Vec<Vec<u8>>)]) -> Vec<(Port, Vec<Vec<u8>>)> {
        let mut settled = 0;
        for (port, frames) in received {
            for some in frames.chunks(BATCH) {
                self.receive(*port, some);
                settled += 1;
                self.settle(settled);
            }
        }
        // Now the burst is over, too, in which the last sentinels were.
        self.settle(settled + 1);
        let sent = PORTS.map(|port| (port, self.sent(port)));
        for (place, (_, frames)) in sent.iter().enumerate() {
            self.seen[place] += frames.len();
        }
        let without = |(port, frames): (Port, Vec<Vec<u8>>)| {
            (port, frames.into_iter().filter(|frame| !is_sentinel(frame)).collect())
        };
        sent.into_iter().map(without).collect()
    }

    #[track_caller]
    fn receive(&self, port: Port, frames: &[Vec<u8>]) {
        let name = port.name();
        let frames: Vec<String> = frames.iter().map(|frame| hex(frame)).collect();
        let mut parameters = vec![name.as_str()];
        parameters.extend(frames.iter().map(String::as_str));
        self.call("netdev-dummy/receive", &parameters);
    }

    /// Has each port send its next sentinel, of which so many have then left, and waits for that.
    #[track_caller]
    fn settle(&self, count: usize) {
        for port in PORTS {
            self.receive(port, &[sentinel()]);
        }
        let arrived =
            |port: Port| self.sent(port).iter().filter(|frame| is_sentinel(frame)).count() >= count;
        tool::wait_until("Open vSwitch to forward all frames", || PORTS.into_iter().all(arrived));
    }

    /// What has left by a port since the last time.
    #[track_caller]
    fn sent(&self, port: Port) -> Vec<Vec<u8>> {
        let capture = Capture::read(self.path(&format!("{}.pcap", port.name())));
        let place = PORTS.iter().position(|it| *it == port).expect("it is one of the ports");
        capture.frames.into_iter().skip(self.seen[place]).collect()
    }

    /// How it comes to decide on a frame, in its own words.
    ///
    /// # Panics
    ///
    /// Panics if it does not answer.
    #[track_caller]
    #[must_use]
    pub fn trace(&self, port: Port, frame: &[u8]) -> String {
        self.call("ofproto/trace", &[BRIDGE, &format!("in_port={}", port.0), &hex(frame)])
    }

    #[track_caller]
    fn call(&self, command: &str, parameters: &[&str]) -> String {
        unixctl::call(&self.path("ovs-vswitchd.ctl"), command, parameters)
    }

    /// Where the bridge takes OpenFlow.
    fn management(&self) -> String {
        format!("unix:{}", self.text(&format!("{BRIDGE}.mgmt")))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().expect("the path is UTF-8")
    }

    #[track_caller]
    fn await_file(&self, name: &str) {
        let path = self.path(name);
        tool::wait_until(&path.display().to_string(), || path.exists());
    }
}

impl Drop for Ovs {
    fn drop(&mut self) {
        for child in &mut self.processes {
            // It keeps nothing that would have to be put in order.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn sentinel() -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(SENTINEL.to_be_bytes());
    frame.resize(60, 0);
    frame
}

fn is_sentinel(frame: &[u8]) -> bool {
    frame[12..14] == SENTINEL.to_be_bytes()
}

fn hex(frame: &[u8]) -> String {
    frame.iter().map(|byte| format!("{byte:02x}")).collect()
}
