/// A closed set of names: drop reasons or counters. Made by [`names!`](crate::names).
pub trait Names: Copy {
    /// The names, in the order of their indices.
    const NAMES: &'static [&'static str];

    /// The place of this one among them.
    fn index(self) -> u32;
}

/// The empty set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoNames {}

impl Names for NoNames {
    const NAMES: &'static [&'static str] = &[];

    fn index(self) -> u32 {
        match self {}
    }
}

/// Makes an enum of drop reasons or counters, with the names that statistics show.
///
/// Names are lower-case letters, digits and hyphens, each once; others do not compile.
///
/// ```
/// weft_sdk::names! {
///     /// Why a packet is dropped.
///     pub enum Reason {
///         /// A rule says so.
///         DeniedByRule => "denied-by-rule",
///     }
/// }
///
/// use weft_sdk::Names;
/// assert_eq!(Reason::NAMES, ["denied-by-rule"]);
/// assert_eq!(Reason::DeniedByRule.index(), 0);
/// ```
///
/// ```compile_fail
/// weft_sdk::names! { enum Reason { DeniedByRule => "denied by rule" } }
/// ```
#[macro_export]
macro_rules! names {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$doc:meta])* $variant:ident => $text:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name { $($(#[$doc])* $variant,)+ }

        impl $crate::Names for $name {
            const NAMES: &'static [&'static str] = &[$($text),+];

            fn index(self) -> u32 {
                self as u32
            }
        }

        const _: () = $crate::manifest::check_names(<$name as $crate::Names>::NAMES);
    };
}
