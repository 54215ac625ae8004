//! Places in compiled code at which a value may be impossible to compute. The code only finds out
//! that it is; the error is made by computing once more, with the functions of all executors.

use loadstone_quel::check::resolved::Function;
use loadstone_quel::error::Fault;
use loadstone_quel::tree::{BinaryOperator, Span};

use crate::execution::arithmetic;

/// An operation that failed, of one or two operands, which come as bits.
#[derive(Debug, Clone, Copy)]
pub(super) enum Site {
    /// An integer's sign turned over.
    Negate(Span),
    /// An integer without its sign.
    Absolute(Span),
    /// Two integers.
    Integers(BinaryOperator, Span),
    /// Two reals.
    Reals(BinaryOperator, Span),
    /// An integer to one of fewer bytes.
    Narrow(usize, Span),
    /// A real to an integer.
    Truncate(usize, Span),
    /// A function of a real.
    Call(Function, Span),
}

impl Site {
    /// Why it failed for these operands.
    pub fn fault(self, left: u64, right: u64) -> Fault {
        let (whole, real) = (left as i64, f64::from_bits(left));
        let failed = match self {
            Self::Negate(span) => arithmetic::negate(whole, span).err(),
            Self::Absolute(span) => arithmetic::absolute(whole, span).err(),
            Self::Integers(operator, span) => {
                arithmetic::integers(operator, whole, right as i64, span).err()
            }
            Self::Reals(operator, span) => {
                arithmetic::reals(operator, real, f64::from_bits(right), span).err()
            }
            Self::Narrow(bytes, span) => arithmetic::narrow(whole, bytes, span).err(),
            Self::Truncate(bytes, span) => arithmetic::truncate(real, bytes, span).err(),
            Self::Call(function, span) => arithmetic::call(function, real, span).err(),
        };
        failed.expect("compiled code fails where the operation does")
    }
}
