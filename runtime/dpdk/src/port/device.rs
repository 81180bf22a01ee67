use std::{
    ffi::CString,
    mem,
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    Eal, Errno, Error, Result, log,
    port::{hint, name},
};

/// An attached device. Dropping it stops, closes and removes it.
///
/// Invariant: `port` is the number of a port of DPDK's that nothing else in this process closes,
/// unless it is removed, which it is only when about to be dropped.
#[derive(Debug)]
pub(crate) struct Device {
    port: u16,
    name: String,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Stopped,
    Started,
    Removed,
}

/// DPDK's list of devices is changed by one thread at a time.
static CHANGES: Mutex<()> = Mutex::new(());

impl Device {
    pub(super) fn attach(_eal: &Eal, devargs: &str) -> Result<Self> {
        let arguments = CString::new(devargs).map_err(|_| Error::Nul(devargs.to_owned()))?;
        let name = name::of_port(devargs);
        let _changing = changing();
        if is_port(&name) {
            return Err(Error::AlreadyAttached { device: name });
        }

        let before: Vec<u16> = ports().collect();
        // SAFETY: the EAL runs, and DPDK copies the arguments.
        let (status, log) = log::capture(|| unsafe { dpdk_sys::rte_dev_probe(arguments.as_ptr()) });
        Errno::check(status).map_err(|errno| Error::Probe {
            devargs: devargs.to_owned(),
            errno,
            log,
            hint: hint::what_to_check(&name),
        })?;
        match ports().find(|port| !before.contains(port)) {
            Some(port) => Ok(Self { port, name, state: State::Stopped }),
            None => Err(Error::NotNetwork { device: name }),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Makes one of the calls that answer 0 or a negative number.
    pub(super) fn call(&self, name: &'static str, call: impl FnOnce(u16) -> i32) -> Result<()> {
        let (status, log) = log::capture(|| call(self.port));
        Errno::check(status).map_err(|errno| Error::Device {
            device: self.name.clone(),
            call: name,
            errno,
            log,
        })
    }

    pub(super) fn describe(&self) -> Result<dpdk_sys::dp_port_info> {
        // SAFETY: all of its fields may be zero.
        let mut info = unsafe { mem::zeroed() };
        // SAFETY: the port is ours, by the invariant, and `info` is written by the call only.
        self.call("read its properties", |port| unsafe {
            dpdk_sys::dp_port_info(port, &raw mut info)
        })?;
        Ok(info)
    }

    pub(super) fn start(&mut self) -> Result<()> {
        // SAFETY: the port is ours, by the invariant.
        self.call("start it", |port| unsafe { dpdk_sys::rte_eth_dev_start(port) })?;
        self.state = State::Started;
        Ok(())
    }

    /// Does nothing if it is not started.
    pub(super) fn stop(&mut self) -> Result<()> {
        if self.state != State::Started {
            return Ok(());
        }
        self.state = State::Stopped;
        // SAFETY: the port is ours, by the invariant. An interface of the kernel would stay so;
        // for what never was promiscuous the answer does not matter.
        unsafe { dpdk_sys::rte_eth_promiscuous_disable(self.port) };
        // SAFETY: the port is ours, by the invariant, and there is no queue of it, since that
        // would hold a reference to self.
        self.call("stop it", |port| unsafe { dpdk_sys::rte_eth_dev_stop(port) })
    }

    /// Stops, closes and removes it, the first time it is called.
    pub(super) fn remove(&mut self) -> Result<()> {
        if self.state == State::Removed {
            return Ok(());
        }
        let _changing = changing();
        let stopped = self.stop();
        self.state = State::Removed;
        let bus_device = self.describe()?.device;
        // SAFETY: the port is ours, by the invariant, and is not used afterwards.
        self.call("close it", |port| unsafe { dpdk_sys::rte_eth_dev_close(port) })?;
        if let Some(bus_device) = NonNull::new(bus_device) {
            // SAFETY: the device behind the port stays on its bus until this call.
            self.call("remove it", |_| unsafe { dpdk_sys::rte_dev_remove(bus_device.as_ptr()) })?;
        }
        stopped
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::error!("cannot detach: {error}");
        }
    }
}

fn changing() -> MutexGuard<'static, ()> {
    CHANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_port(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    let mut port = 0;
    // SAFETY: the name ends with a NUL, and `port` may be written.
    unsafe { dpdk_sys::rte_eth_dev_get_port_by_name(name.as_ptr(), &raw mut port) == 0 }
}

/// All ports that DPDK knows.
fn ports() -> impl Iterator<Item = u16> {
    let next = |first: u16| {
        // SAFETY: it only reads DPDK's array of ports.
        let port = unsafe { dpdk_sys::dp_port_next(first) };
        (u32::from(port) < dpdk_sys::DP_MAX_PORTS).then_some(port)
    };
    std::iter::successors(next(0), move |&port| next(port + 1))
}
