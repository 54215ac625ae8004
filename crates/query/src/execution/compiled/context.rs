//! The state that compiled code and Rust share while a pipeline runs: memory of a fixed form, and
//! the routines of Rust that compiled code calls.

use std::ffi::c_void;
use std::ptr;

use crate::tuple::{Value, trimmed};

/// The beginning of everything that compiled code reaches; its first argument.
#[repr(C)]
pub(super) struct Context {
    /// A place for each slot: the row's tuples, for the functions of inner sources.
    pub frame: *mut Place,
    /// Values on their way to routines.
    pub cells: *mut Cell,
    /// The values that stay while the pipeline runs.
    pub constants: *const Cell,
    /// The address of each routine.
    pub routines: *const *const u8,
    /// The tuples that the last probe found.
    pub matches: *const *const u8,
    /// For each step a tuple, where it removes duplicates.
    pub buffers: *const *mut u8,
    /// Tuples for the sink, or keys of partitions, one behind the other.
    pub out: *mut u8,
    /// For each update of an aggregation what it is fed with.
    pub updates: *mut Fed,
    /// The rows that the source and each step let through, where they are counted.
    pub step_rows: *mut u64,
    /// Rows in `out` and `updates`.
    pub staged: u64,
    /// Comparisons done.
    pub comparisons: u64,
    /// Look-ups in hash tables done.
    pub hash_probes: u64,
    /// The rest, which only Rust knows.
    pub run: *mut c_void,
}

/// A slot's tuple.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Place {
    pub tuple: *const u8,
    /// Its record id; 0 where it is of no stored relation.
    pub id: u64,
}

/// Arguments of an aggregate.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Fed {
    /// An integer or a [`Cell`] for each row.
    pub values: *mut u8,
    /// The numbers of the rows that count, where not all do.
    pub rows: *mut u16,
    /// The number that count.
    pub count: u64,
}

/// A value whose type only Rust must know.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Cell {
    pub tag: u64,
    /// The integer, the real's bits, or where the text begins.
    pub bits: u64,
    /// The text's length.
    pub bytes: u64,
}

/// The tags of cells.
pub(super) const NULL: u64 = 0;
pub(super) const INTEGER: u64 = 1;
pub(super) const REAL: u64 = 2;
pub(super) const TEXT: u64 = 3;

/// The answer by which a function, and each routine that may fail, stops the pipeline. The reason
/// is in the run.
pub(super) const STOPPED: u64 = u64::MAX;

/// The answer of a function that wants no other row of its source.
pub(super) const FOUND: u64 = 1;

/// A compiled function: takes so many rows of its source, of which it gets tuples and record ids.
pub(super) type Function =
    unsafe extern "C" fn(*mut Context, *const *const u8, *const u64, u64) -> u64;

impl Cell {
    pub const NULL: Self = Self { tag: NULL, bits: 0, bytes: 0 };

    /// Of a value that stays where it is for as long as the cell is read.
    pub fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Integer(value) => Self { tag: INTEGER, bits: value as u64, bytes: 0 },
            Value::Real(value) => Self { tag: REAL, bits: value.to_bits(), bytes: 0 },
            Value::Text(text) => {
                let text = trimmed(text);
                Self { tag: TEXT, bits: text.as_ptr().addr() as u64, bytes: text.len() as u64 }
            }
        }
    }

    /// The value, if it is no text.
    pub fn number(self) -> Value<'static> {
        match self.tag {
            INTEGER => Value::Integer(self.bits as i64),
            REAL => Value::Real(f64::from_bits(self.bits)),
            _ => Value::Null,
        }
    }
}

impl Place {
    pub const NONE: Self = Self { tuple: ptr::null(), id: 0 };
}

/// A function of Rust that compiled code calls, by its number in [`Context::routines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Routine {
    /// Make an error of a site and two operands.
    Fault,
    /// Put a cell into a field.
    Write,
    /// Copy bytes.
    Copy,
    /// The order of two texts.
    CompareTexts,
    /// The order of an integer and a real.
    CompareMixed,
    /// A text against a pattern.
    Match,
    /// Functions of reals.
    Atan,
    Cos,
    Exp,
    Log,
    Sin,
    Power,
    /// Entries of a join's table with an integer as their key.
    ProbeInteger,
    /// Entries of a join's table with these keys.
    Probe,
    /// The result of a partition.
    Group,
    /// Whether a tuple is new.
    Distinct,
    /// An inner source for this row.
    Loop,
    /// Pass the staged rows to the sink.
    Flush,
}

/// A type of an argument or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Integer,
    Real,
}

impl Routine {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 18] = [
        Self::Fault,
        Self::Write,
        Self::Copy,
        Self::CompareTexts,
        Self::CompareMixed,
        Self::Match,
        Self::Atan,
        Self::Cos,
        Self::Exp,
        Self::Log,
        Self::Sin,
        Self::Power,
        Self::ProbeInteger,
        Self::Probe,
        Self::Group,
        Self::Distinct,
        Self::Loop,
        Self::Flush,
    ];

    /// The types of its arguments and of its result.
    pub fn signature(self) -> (&'static [Word], Word) {
        use Word::{Integer as I, Real as R};
        match self {
            Self::Fault | Self::Write | Self::Match | Self::CompareTexts => (&[I, I, I, I], I),
            Self::Copy | Self::ProbeInteger | Self::Probe | Self::Group | Self::Distinct => {
                (&[I, I, I], I)
            }
            Self::CompareMixed => (&[I, R], I),
            Self::Atan | Self::Cos | Self::Exp | Self::Log | Self::Sin => (&[R], R),
            Self::Power => (&[R, R], R),
            Self::Loop => (&[I, I], I),
            Self::Flush => (&[I], I),
        }
    }

    /// Its work for an expression or a step; None for what every pipeline calls now and then.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Fault | Self::Copy | Self::Flush | Self::Loop => return None,
            Self::Write => "write",
            Self::CompareTexts => "compare texts",
            Self::CompareMixed => "compare an integer with a real",
            Self::Match => "match",
            Self::Atan => "atan",
            Self::Cos => "cos",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sin => "sin",
            Self::Power => "power",
            Self::ProbeInteger | Self::Probe => "probe",
            Self::Group => "find a partition",
            Self::Distinct => "find duplicates",
        })
    }
}
