//! Values of expressions, a vector at a time.

use loadstone_quel::check::resolved::{Function, Type};
use loadstone_quel::error::Fault;
use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::rows::Rows;
use super::vector::{Text, Vector};
use crate::execution::{State, arithmetic};
use crate::expression::Expr;
use crate::tuple::{self, Field, Value};

/// An expression, ready to be computed for one batch after another.
#[derive(Debug)]
pub(super) struct Computed {
    operation: Operation,
    result: Vector,
}

#[derive(Debug)]
enum Operation {
    /// The vector is filled already. A text owns its bytes here.
    Constant {
        _text: Vec<u8>,
    },
    Column {
        slot: usize,
        field: Field,
    },
    RecordId {
        slot: usize,
    },
    /// An integer as a real.
    Widen(Box<Computed>),
    Negate {
        operand: Box<Computed>,
        span: Span,
    },
    Arithmetic {
        operator: BinaryOperator,
        left: Box<Computed>,
        right: Box<Computed>,
        span: Span,
    },
    Call {
        function: Function,
        argument: Box<Computed>,
        span: Span,
    },
}

impl Computed {
    /// For an expression that is a value.
    pub fn new(expr: &Expr, state: &State<'_>) -> Self {
        match expr {
            Expr::Column { slot, field } => {
                let operation = Operation::Column { slot: *slot, field: field.clone() };
                Self::of(operation, type_of(field.kind), field.null_at.is_some())
            }
            Expr::RecordId { slot } => {
                Self::of(Operation::RecordId { slot: *slot }, Type::Integer, false)
            }
            Expr::Negate { operand, span } => {
                let operand = Self::new(operand, state);
                let (type_, may_be_null) = (operand.result.type_, operand.result.may_be_null());
                let operation = Operation::Negate { operand: Box::new(operand), span: *span };
                Self::of(operation, type_, may_be_null)
            }
            Expr::Arithmetic { operator, left, right, span } => {
                let (left, right) = (Self::new(left, state), Self::new(right, state));
                Self::arithmetic(*operator, left, right, *span)
            }
            Expr::Call { function, argument, span } => {
                Self::call(*function, Self::new(argument, state), *span)
            }
            Expr::Integer(value) => Self::constant(Value::Integer(*value), Type::Integer),
            Expr::Real(value) => Self::constant(Value::Real(*value), Type::Real),
            Expr::Text(text) => Self::constant(Value::Text(text), Type::Text),
            Expr::Parameter { number, type_ } => {
                Self::constant(state.parameters[*number].value(), *type_)
            }
            Expr::Scalar { aggregation, field } => {
                let groups = state.aggregation(*aggregation);
                let value = tuple::read(groups.scalar(), field);
                Self::constant(value, type_of(field.kind))
            }
            // The check lets no condition stand where a value is wanted.
            Expr::Not(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Compare { .. }
            | Expr::Match { .. } => Self::constant(Value::Null, Type::Integer),
        }
    }

    fn of(operation: Operation, type_: Type, may_be_null: bool) -> Self {
        Self { operation, result: Vector::new(type_, may_be_null) }
    }

    fn constant(value: Value<'_>, type_: Type) -> Self {
        let mut result = Vector::new(type_, value == Value::Null);
        result.nulls.fill(true);
        let mut owned = Vec::new();
        match value {
            Value::Integer(value) if type_ == Type::Real => result.reals.fill(value as f64),
            Value::Integer(value) => result.integers.fill(value),
            Value::Real(value) => result.reals.fill(value),
            Value::Text(text) => {
                owned = text.to_vec();
                result.texts.fill(Text::new(&owned));
            }
            Value::Null => {}
        }
        Self { operation: Operation::Constant { _text: owned }, result }
    }

    fn widened(self) -> Self {
        if self.result.type_ == Type::Real {
            return self;
        }
        let may_be_null = self.result.may_be_null();
        Self::of(Operation::Widen(Box::new(self)), Type::Real, may_be_null)
    }

    fn arithmetic(operator: BinaryOperator, left: Self, right: Self, span: Span) -> Self {
        let is_integer = left.result.type_ == Type::Integer
            && right.result.type_ == Type::Integer
            && operator != BinaryOperator::Power;
        let (type_, left, right) = if is_integer {
            (Type::Integer, left, right)
        } else {
            (Type::Real, left.widened(), right.widened())
        };
        let may_be_null = left.result.may_be_null() || right.result.may_be_null();
        let (left, right) = (Box::new(left), Box::new(right));
        Self::of(Operation::Arithmetic { operator, left, right, span }, type_, may_be_null)
    }

    fn call(function: Function, argument: Self, span: Span) -> Self {
        let (type_, argument) = match function {
            Function::Abs => (argument.result.type_, argument),
            Function::ToInteger(_) => (Type::Integer, argument),
            _ => (Type::Real, argument.widened()),
        };
        let may_be_null = argument.result.may_be_null();
        let argument = Box::new(argument);
        Self::of(Operation::Call { function, argument, span }, type_, may_be_null)
    }

    /// The type of its values.
    pub fn type_(&self) -> Type {
        self.result.type_
    }

    /// Whether a value may be null.
    pub fn may_be_null(&self) -> bool {
        self.result.may_be_null()
    }

    /// Whether it is the same for all rows.
    pub fn is_constant(&self) -> bool {
        matches!(self.operation, Operation::Constant { .. })
    }

    /// The value for all rows.
    pub fn constant_value(&self) -> Option<Value<'_>> {
        self.is_constant().then(|| self.result.value(0))
    }

    /// The place in a slot's tuple, if it is nothing else.
    pub fn column(&self) -> Option<(usize, &Field)> {
        match &self.operation {
            Operation::Column { slot, field } => Some((*slot, field)),
            _ => None,
        }
    }

    /// Whether it is a place in a slot's tuple that always has a value.
    pub fn is_never_null_column(&self) -> bool {
        self.column().is_some_and(|(_, field)| field.null_at.is_none())
    }

    /// Its values for the selected rows.
    ///
    /// # Errors
    ///
    /// Of the first selected row for which it cannot be computed.
    pub fn compute(&mut self, rows: &Rows, selection: &[u16]) -> Result<&Vector, Fault> {
        let result = &mut self.result;
        match &mut self.operation {
            Operation::Constant { .. } => {}
            Operation::Column { slot, field } => {
                load(&rows.slots[*slot].tuples, field, selection, result);
            }
            Operation::RecordId { slot } => {
                let ids = &rows.slots[*slot].ids;
                each(selection, |row| result.integers[row] = ids[row] as i64);
            }
            Operation::Widen(operand) => {
                let operand = operand.compute(rows, selection)?;
                copy_nulls(operand, result, selection);
                each(selection, |row| result.reals[row] = operand.integers[row] as f64);
            }
            Operation::Negate { operand, span } => {
                negate(operand.compute(rows, selection)?, result, selection, *span)?;
            }
            Operation::Arithmetic { operator, left, right, span } => {
                let left = left.compute(rows, selection)?;
                let right = right.compute(rows, selection)?;
                combine(*operator, (left, right), result, selection, *span)?;
            }
            Operation::Call { function, argument, span } => {
                let argument = argument.compute(rows, selection)?;
                call(*function, argument, result, selection, *span)?;
            }
        }
        Ok(result)
    }
}

/// The type of a field of that kind.
pub(super) fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Integer { .. } => Type::Integer,
        Kind::Real { .. } => Type::Real,
        Kind::Text { .. } => Type::Text,
    }
}

#[inline]
fn each(selection: &[u16], mut of_row: impl FnMut(usize)) {
    for row in selection {
        of_row(usize::from(*row));
    }
}

fn copy_nulls(from: &Vector, to: &mut Vector, selection: &[u16]) {
    if from.may_be_null() {
        each(selection, |row| to.nulls[row] = from.nulls[row]);
    }
}

/// An integer as tuples have it: little-endian.
pub(super) trait Stored: Copy {
    /// As the processor has it.
    fn native(self) -> Self;

    /// In 64 bits.
    fn wide(self) -> i64;
}

macro_rules! stored {
    ($($type:ty),+) => {
        $(impl Stored for $type {
            #[inline]
            fn native(self) -> Self {
                Self::from_le(self)
            }

            #[inline]
            fn wide(self) -> i64 {
                i64::from(self.native())
            }
        })+
    };
}

stored!(i8, i16, i32, i64);

/// A number of that many bytes at an offset of a tuple.
///
/// # Safety
///
/// They must lie in the tuple.
#[expect(unsafe_code, reason = "tuples are read through pointers, without a bound to check")]
#[inline]
pub(super) unsafe fn at<T: Copy>(tuple: *const u8, offset: usize) -> T {
    // SAFETY: as the caller promises; the read needs no alignment, and every `T` is a number.
    unsafe { tuple.add(offset).cast::<T>().read_unaligned() }
}

/// The values of a field from the tuples of a slot.
#[expect(unsafe_code, reason = "tuples are read through pointers, without a bound to check")]
fn load(tuples: &[*const u8], field: &Field, selection: &[u16], into: &mut Vector) {
    let offset = field.offset;
    // SAFETY, for all reads: the planner takes fields from the layout of the slot's tuples, and
    // each pointer leads to a whole tuple of it for as long as the batch lives.
    match field.kind {
        Kind::Integer { bytes: 1 } => each(selection, |row| {
            into.integers[row] = i64::from(unsafe { at::<i8>(tuples[row], offset) });
        }),
        Kind::Integer { bytes: 2 } => each(selection, |row| {
            into.integers[row] = i64::from(i16::from_le(unsafe { at(tuples[row], offset) }));
        }),
        Kind::Integer { bytes: 4 } => each(selection, |row| {
            into.integers[row] = i64::from(i32::from_le(unsafe { at(tuples[row], offset) }));
        }),
        Kind::Integer { .. } => each(selection, |row| {
            into.integers[row] = i64::from_le(unsafe { at(tuples[row], offset) });
        }),
        Kind::Real { bytes: 4 } => each(selection, |row| {
            let bits = u32::from_le(unsafe { at(tuples[row], offset) });
            into.reals[row] = f64::from(f32::from_bits(bits));
        }),
        Kind::Real { .. } => each(selection, |row| {
            let bits = u64::from_le(unsafe { at(tuples[row], offset) });
            into.reals[row] = f64::from_bits(bits);
        }),
        Kind::Text { width } => each(selection, |row| {
            let text = unsafe { std::slice::from_raw_parts(tuples[row].add(offset), width) };
            into.texts[row] = Text::new(text);
        }),
    }
    if let Some(null_at) = field.null_at {
        each(selection, |row| {
            into.nulls[row] = unsafe { at::<u8>(tuples[row], null_at) } != 0;
        });
    }
}

fn negate(
    operand: &Vector,
    result: &mut Vector,
    selection: &[u16],
    span: Span,
) -> Result<(), Fault> {
    copy_nulls(operand, result, selection);
    if operand.type_ == Type::Real {
        each(selection, |row| result.reals[row] = -operand.reals[row]);
        return Ok(());
    }
    for row in selection.iter().map(|row| usize::from(*row)) {
        if !result.is_null(row) {
            result.integers[row] = arithmetic::negate(operand.integers[row], span)?;
        }
    }
    Ok(())
}

fn combine(
    operator: BinaryOperator,
    (left, right): (&Vector, &Vector),
    result: &mut Vector,
    selection: &[u16],
    span: Span,
) -> Result<(), Fault> {
    if result.may_be_null() {
        each(selection, |row| result.nulls[row] = left.is_null(row) || right.is_null(row));
    }
    if result.type_ == Type::Real {
        for row in selection.iter().map(|row| usize::from(*row)) {
            if !result.is_null(row) {
                let (left, right) = (left.reals[row], right.reals[row]);
                result.reals[row] = arithmetic::reals(operator, left, right, span)?;
            }
        }
        return Ok(());
    }
    let overflowing = match operator {
        BinaryOperator::Add => i64::overflowing_add,
        BinaryOperator::Subtract => i64::overflowing_sub,
        BinaryOperator::Multiply => i64::overflowing_mul,
        _ => {
            for row in selection.iter().map(|row| usize::from(*row)) {
                if !result.is_null(row) {
                    let (left, right) = (left.integers[row], right.integers[row]);
                    result.integers[row] = arithmetic::integers(operator, left, right, span)?;
                }
            }
            return Ok(());
        }
    };
    let mut overflows = false;
    each(selection, |row| {
        let (value, overflow) = overflowing(left.integers[row], right.integers[row]);
        result.integers[row] = value;
        overflows |= overflow;
    });
    if overflows {
        // A null's value is zero or of no meaning: only others count.
        for row in selection.iter().map(|row| usize::from(*row)) {
            if !result.is_null(row) {
                arithmetic::integers(operator, left.integers[row], right.integers[row], span)?;
            }
        }
    }
    Ok(())
}

fn call(
    function: Function,
    argument: &Vector,
    result: &mut Vector,
    selection: &[u16],
    span: Span,
) -> Result<(), Fault> {
    copy_nulls(argument, result, selection);
    for row in selection.iter().map(|row| usize::from(*row)) {
        if result.is_null(row) {
            continue;
        }
        match (function, argument.type_) {
            (Function::Abs, Type::Integer) => {
                result.integers[row] = arithmetic::absolute(argument.integers[row], span)?;
            }
            (Function::ToInteger(bytes), Type::Integer) => {
                result.integers[row] = arithmetic::narrow(argument.integers[row], bytes, span)?;
            }
            (Function::ToInteger(bytes), _) => {
                result.integers[row] = arithmetic::truncate(argument.reals[row], bytes, span)?;
            }
            _ => result.reals[row] = arithmetic::call(function, argument.reals[row], span)?,
        }
    }
    Ok(())
}
