/// The processor's time stamp counter. [`Eal::tsc_hz`](crate::Eal::tsc_hz) says how fast it runs.
#[inline]
#[must_use]
pub fn tsc() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86_64 processor has the instruction.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: reads a register.
    return unsafe { dpdk_sys::dp_tsc() };
}
