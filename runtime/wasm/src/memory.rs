/// The bytes at an address that a module named, if all of them are in its memory.
pub(crate) fn slice_of(memory: &[u8], address: u32, length: usize) -> Option<&[u8]> {
    let start = usize::try_from(address).ok()?;
    memory.get(start..start.checked_add(length)?)
}
