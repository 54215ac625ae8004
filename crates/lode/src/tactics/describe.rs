//! The way in which a tactic is written down, once, so that the type, its doc comment, its names
//! and what `loadstone tactics lode` prints are the same text.

use crate::error::{LodeError, Result};

/// A tactic's value and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    /// As it is written: `page-diff`, or what kind of number.
    pub name: &'static str,
    /// Its effect, in a line.
    pub about: &'static str,
}

/// The six sentences that a reader should know before switching a tactic, from its doc comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// Its values, the default first.
    pub values: &'static [Value],
    /// Its effect.
    pub does: String,
    /// Its advantage.
    pub buys: String,
    /// Its cost.
    pub costs: String,
    /// The loss that a crash can cause.
    pub loses: String,
    /// The tactics that it must not be combined with.
    pub excludes: String,
    /// The paper or system that it is taken from.
    pub source: String,
}

/// One switchable mechanism, of lode or of what is built on it.
pub trait Tactic: Sized {
    /// As in `name=value`.
    const NAME: &'static str;
    /// The lines of the doc comment.
    const LINES: &'static [&'static str];
    /// The default first.
    const VALUES: &'static [Value];

    /// The value of that name.
    fn parse(text: &str) -> Result<Self>;

    /// The name of that value.
    fn shown(&self) -> String;

    /// The error for a value that there is not, or no longer under that name.
    fn unknown(text: &str) -> LodeError {
        let name = Self::NAME;
        let renamed = RENAMED.iter().find(|&&(tactic, old, _)| (tactic, old) == (name, text));
        if let Some((_, _, new)) = renamed {
            let what = format!("{name}={text} is called {name}={new} now: write that");
            return LodeError::Tactic { what };
        }
        let known: Vec<&str> = Self::VALUES.iter().map(|value| value.name).collect();
        LodeError::Tactic {
            what: format!("{name}={text} is not known: there are {}", known.join(", ")),
        }
    }
}

/// Values that had another name: the tactic, the name then, the name now.
const RENAMED: [(&str, &str, &str); 1] = [("locks", "table", "database")];

/// The parts of a doc comment, in their order.
const LEADS: [&str; 6] = [
    "**What it does.**",
    "**What it buys.**",
    "**What it costs.**",
    "**What a crash can lose.**",
    "**Do not combine with.**",
    "**Source.**",
];

/// Take a tactic's doc comment apart.
pub fn describe<T: Tactic>() -> Description {
    let lines: Vec<&str> = T::LINES.iter().map(|line| line.trim()).collect();
    let text = lines.join(" ");
    let [does, buys, costs, loses, excludes, source] = LEADS.map(|lead| part(&text, lead));
    Description { name: T::NAME, values: T::VALUES, does, buys, costs, loses, excludes, source }
}

/// The text between a lead and the next; empty where there is none, which a test forbids.
fn part(text: &str, lead: &str) -> String {
    let after = text.split_once(lead).map_or("", |(_, after)| after);
    let ends = LEADS.iter().filter_map(|next| after.find(next));
    after[..ends.min().unwrap_or(after.len())].trim().to_owned()
}

/// A number of bytes: `67108864`, `64MiB`, `512KiB`, `1GiB`.
pub fn bytes_of(text: &str) -> Option<u64> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    for (unit, factor) in units {
        if let Some(number) = text.strip_suffix(unit) {
            return number.parse::<u64>().ok()?.checked_mul(factor);
        }
    }
    text.parse().ok()
}

/// A tactic that has named values; the first is the default.
#[doc(hidden)]
#[macro_export]
macro_rules! named_tactic {
    ($(#[doc = $line:literal])+ $name:literal $type:ident {
        #[doc = $first_about:literal] $first:ident = $first_value:literal,
        $(#[doc = $about:literal] $variant:ident = $value:literal),+ $(,)?
    }) => {
        $(#[doc = $line])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $type {
            #[doc = $first_about]
            #[default]
            $first,
            $(#[doc = $about] $variant),+
        }

        impl $crate::tactics::describe::Tactic for $type {
            const NAME: &'static str = $name;
            const LINES: &'static [&'static str] = &[$($line),+];
            const VALUES: &'static [$crate::tactics::Value] = &[
                $crate::tactics::Value { name: $first_value, about: $first_about.trim_ascii() },
                $($crate::tactics::Value { name: $value, about: $about.trim_ascii() }),+
            ];

            fn parse(text: &str) -> ::std::result::Result<Self, $crate::LodeError> {
                match text {
                    $first_value => Ok(Self::$first),
                    $($value => Ok(Self::$variant),)+
                    _ => Err(Self::unknown(text)),
                }
            }

            fn shown(&self) -> String {
                let name = match self {
                    Self::$first => $first_value,
                    $(Self::$variant => $value,)+
                };
                name.to_owned()
            }
        }
    };
}

/// A tactic that is a number: within bounds, and accepted by a function of the tactic's own.
#[doc(hidden)]
#[macro_export]
macro_rules! number_tactic {
    ($(#[doc = $line:literal])+ $name:literal $type:ident($number:ty) {
        default: $default:expr,
        values: $value:literal: $about:literal,
        parse: $parse:expr,
    }) => {
        $(#[doc = $line])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $type(pub $number);

        impl Default for $type {
            fn default() -> Self {
                Self($default)
            }
        }

        impl $crate::tactics::describe::Tactic for $type {
            const NAME: &'static str = $name;
            const LINES: &'static [&'static str] = &[$($line),+];
            const VALUES: &'static [$crate::tactics::Value] =
                &[$crate::tactics::Value { name: $value, about: $about }];

            fn parse(text: &str) -> ::std::result::Result<Self, $crate::LodeError> {
                let parse: fn(&str) -> Option<$number> = $parse;
                parse(text).map(Self).ok_or_else(|| Self::unknown(text))
            }

            fn shown(&self) -> String {
                self.0.to_string()
            }
        }
    };
}

pub use {named_tactic, number_tactic};
