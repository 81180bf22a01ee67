use std::fmt;

use dataplane::{PortId, ReasonId, TableId, stage::Verdict};
use weft_abi::{Descriptor, flags, verdict};

/// What a module's answers are held against.
#[derive(Debug)]
pub(crate) struct Terms {
    /// The engine's reason for each of the manifest's.
    pub(crate) reasons: Vec<ReasonId>,
    /// Whether the manifest says that the module changes packets.
    pub(crate) writes: bool,
}

/// How an answer broke the contract. The packet is dropped with `bad-verdict`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breach {
    Undecided,
    Unknown(u32),
    Reason { index: u32, reasons: usize },
    Port(u32),
    Table(u32),
    NotAWriter,
    LookedAt(u32),
}

impl Terms {
    /// Turns a module's answer into a verdict, and says whether the window was changed.
    // Out of line, its answer would go through memory, which costs as much as the rest.
    #[inline(always)]
    pub(crate) fn judge(&self, answer: &Descriptor) -> Result<(Verdict, bool), Breach> {
        let dirty = answer.flags & flags::DIRTY != 0;
        if dirty && !self.writes {
            return Err(Breach::NotAWriter);
        }
        let argument = answer.argument;
        let verdict = match answer.verdict {
            verdict::NEXT => Verdict::Next,
            verdict::DROP => Verdict::Drop(self.reason(argument)?),
            verdict::OUTPUT => {
                Verdict::Output(PortId(argument.try_into().map_err(|_| Breach::Port(argument))?))
            }
            verdict::GOTO => Verdict::Goto(table(argument)?),
            verdict::UNDECIDED => return Err(Breach::Undecided),
            unknown => return Err(Breach::Unknown(unknown)),
        };
        Ok((verdict, dirty))
    }

    fn reason(&self, index: u32) -> Result<ReasonId, Breach> {
        let reason = usize::try_from(index).ok().and_then(|index| self.reasons.get(index));
        reason.copied().ok_or(Breach::Reason { index, reasons: self.reasons.len() })
    }
}

fn table(number: u32) -> Result<TableId, Breach> {
    match u8::try_from(number).map(TableId) {
        Ok(table) if table <= TableId::LAST => Ok(table),
        _ => Err(Breach::Table(number)),
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecided => f.write_str("weft_process returned without a verdict on a packet"),
            Self::Unknown(verdict) => write!(f, "there is no verdict {verdict}"),
            Self::Reason { index, reasons } => {
                write!(f, "there is no drop reason {index}: the manifest names {reasons}")
            }
            Self::Port(port) => write!(f, "there is no port {port}: the last is {}", u16::MAX),
            Self::Table(table) => {
                write!(f, "there is no table {table}: the last is {}", TableId::LAST.0)
            }
            Self::LookedAt(bits) => {
                write!(f, "{bits:#x} names fields of a key that there are not")
            }
            Self::NotAWriter => f.write_str(
                "a packet is marked as changed, but the manifest does not say that the module \
                 writes",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(verdict: u32, argument: u32) -> Result<(Verdict, bool), Breach> {
        let terms = Terms { reasons: vec![ReasonId(40), ReasonId(41)], writes: false };
        terms.judge(&Descriptor { verdict, argument, ..Descriptor::default() })
    }

    #[test]
    fn the_last_of_each_kind_is_taken_and_the_next_is_a_breach() {
        let taken = |verdict| Ok((verdict, false));
        assert_eq!(judge(verdict::NEXT, u32::MAX), taken(Verdict::Next));
        assert_eq!(judge(verdict::DROP, 1), taken(Verdict::Drop(ReasonId(41))));
        assert_eq!(judge(verdict::DROP, 2), Err(Breach::Reason { index: 2, reasons: 2 }));
        assert_eq!(judge(verdict::OUTPUT, 0xffff), taken(Verdict::Output(PortId(0xffff))));
        assert_eq!(judge(verdict::OUTPUT, 0x1_0000), Err(Breach::Port(0x1_0000)));
        assert_eq!(judge(verdict::GOTO, 253), taken(Verdict::Goto(TableId(253))));
        assert_eq!(judge(verdict::GOTO, 254), Err(Breach::Table(254)));
        assert_eq!(judge(verdict::GOTO, 256), Err(Breach::Table(256)));
        assert_eq!(judge(4, 0), Err(Breach::Unknown(4)));
        assert_eq!(judge(verdict::UNDECIDED, 0), Err(Breach::Undecided));
    }

    #[test]
    fn only_a_module_that_says_so_writes() {
        let answer =
            Descriptor { verdict: verdict::NEXT, flags: flags::DIRTY, ..Descriptor::default() };
        let judge = |writes| Terms { reasons: Vec::new(), writes }.judge(&answer);
        assert_eq!(judge(false), Err(Breach::NotAWriter));
        assert_eq!(judge(true), Ok((Verdict::Next, true)));
    }
}
