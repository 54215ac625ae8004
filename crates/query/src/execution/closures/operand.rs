//! The place where a node gets its operands from: constants and attributes of known width are read
//! in the node itself, anything else by a call.

use loadstone_quel::error::Fault;

use crate::execution::evaluation::Row;
use crate::tuple::{array, trimmed};

/// Why a node has no value.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is null, or a condition that a null leaves open.
    Null,
    /// It cannot be computed.
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The value of a node. A null leaves it the way an error does, so that no operator requests one.
pub(super) type Evaluated<T> = Result<T, Stop>;

/// An operator with its operands, of known types.
pub(super) type Node<T> = Box<dyn Fn(&Row<'_>) -> Evaluated<T> + Send + Sync>;

/// Something that a node can read without knowing what it is.
pub(super) trait Operand<T>: Send + Sync + 'static {
    fn get(&self, row: &Row<'_>) -> Evaluated<T>;
}

/// The place where an attribute stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub slot: usize,
    pub offset: usize,
}

impl Place {
    #[inline]
    fn bytes<const BYTES: usize>(self, row: &Row<'_>) -> [u8; BYTES] {
        array(row.tuples[self.slot], self.offset)
    }
}

pub(super) struct Constant<T>(pub T);
pub(super) struct Integer2(pub Place);
pub(super) struct Integer4(pub Place);
pub(super) struct Real8(pub Place);

impl<T: Copy + Send + Sync + 'static> Operand<T> for Constant<T> {
    #[inline]
    fn get(&self, _: &Row<'_>) -> Evaluated<T> {
        Ok(self.0)
    }
}

impl Operand<i64> for Integer2 {
    #[inline]
    fn get(&self, row: &Row<'_>) -> Evaluated<i64> {
        Ok(i64::from(i16::from_le_bytes(self.0.bytes(row))))
    }
}

impl Operand<i64> for Integer4 {
    #[inline]
    fn get(&self, row: &Row<'_>) -> Evaluated<i64> {
        Ok(i64::from(i32::from_le_bytes(self.0.bytes(row))))
    }
}

impl Operand<f64> for Real8 {
    #[inline]
    fn get(&self, row: &Row<'_>) -> Evaluated<f64> {
        Ok(f64::from_le_bytes(self.0.bytes(row)))
    }
}

impl<T: 'static> Operand<T> for Node<T> {
    #[inline]
    fn get(&self, row: &Row<'_>) -> Evaluated<T> {
        self(row)
    }
}

/// An integer operand. The widths that the papers' relations have are kinds of their own.
pub(super) enum Integer {
    Constant(i64),
    Two(Place),
    Four(Place),
    Node(Node<i64>),
}

/// A real operand.
pub(super) enum Real {
    Constant(f64),
    Eight(Place),
    Node(Node<f64>),
}

/// A text operand; there are no operators that make texts.
#[derive(Debug, Clone)]
pub(super) enum Text {
    Constant(Vec<u8>),
    Column { place: Place, width: usize, null_at: Option<usize> },
    Null,
}

impl Text {
    #[inline]
    pub fn get<'r>(&'r self, row: &Row<'r>) -> Evaluated<&'r [u8]> {
        match self {
            Self::Constant(text) => Ok(text),
            Self::Column { place, width, null_at } => {
                let tuple = row.tuples[place.slot];
                if null_at.is_some_and(|at| tuple[at] != 0) {
                    return Err(Stop::Null);
                }
                Ok(trimmed(&tuple[place.offset..place.offset + width]))
            }
            Self::Null => Err(Stop::Null),
        }
    }
}

/// Both operands' values to one. Where the left one is null, the right one must still show its
/// error.
#[inline]
pub(super) fn both<T, U, R>(
    left: &impl Operand<T>,
    right: &impl Operand<U>,
    row: &Row<'_>,
    then: impl FnOnce(T, U) -> Evaluated<R>,
) -> Evaluated<R> {
    match left.get(row) {
        Ok(left) => then(left, right.get(row)?),
        Err(Stop::Null) => {
            right.get(row)?;
            Err(Stop::Null)
        }
        Err(fault) => Err(fault),
    }
}

/// Runs the body with the operand as a value of its own type, one copy of the body for each.
macro_rules! with_integer {
    ($operand:expr, |$name:ident| $body:expr) => {
        match $operand {
            Integer::Constant(value) => {
                let $name = Constant(value);
                $body
            }
            Integer::Two(place) => {
                let $name = Integer2(place);
                $body
            }
            Integer::Four(place) => {
                let $name = Integer4(place);
                $body
            }
            Integer::Node($name) => $body,
        }
    };
}

/// The same of a real operand.
macro_rules! with_real {
    ($operand:expr, |$name:ident| $body:expr) => {
        match $operand {
            Real::Constant(value) => {
                let $name = Constant(value);
                $body
            }
            Real::Eight(place) => {
                let $name = Real8(place);
                $body
            }
            Real::Node($name) => $body,
        }
    };
}

pub(super) use {with_integer, with_real};
