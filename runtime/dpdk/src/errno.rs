use std::{
    ffi::{CStr, c_int},
    fmt,
};

/// A positive error number, as DPDK reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(c_int);

impl Errno {
    /// "Bad address".
    pub(crate) const BAD_ADDRESS: Self = Self(14);
    /// "Operation not supported".
    pub(crate) const NOT_SUPPORTED: Self = Self(95);

    /// Its number.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// That of the last DPDK call on this thread.
    pub(crate) fn last() -> Self {
        // SAFETY: reads an integer of this thread.
        Self(unsafe { dpdk_sys::dp_errno() })
    }

    /// What a call means that answers with 0 or a negative number.
    pub(crate) fn check(status: c_int) -> Result<(), Self> {
        match status {
            0.. => Ok(()),
            // Most calls mean EPERM by it only if they left no better number.
            -1 if Self::last().0 > 0 => Err(Self::last()),
            negative => Err(Self(negative.saturating_neg())),
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: rte_strerror answers every number with a NUL-terminated string that lives until
        // the next call on this thread.
        let text = unsafe { CStr::from_ptr(dpdk_sys::rte_strerror(self.0)) };
        f.write_str(&text.to_string_lossy())
    }
}
