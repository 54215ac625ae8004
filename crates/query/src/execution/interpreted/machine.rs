//! The stack machine: `getsymbol` and `interpret`.

use loadstone_quel::check::resolved::Function;
use loadstone_quel::error::Fault;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::Calls;
use super::symbol::{Content, Symbol, Type};
use crate::execution::arithmetic;
use crate::execution::evaluation::Row;
use crate::tuple::trimmed;
use crate::tuple::{Value, compare_mixed, compare_reals, compare_texts, read_integer, read_real};

/// A value on the stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'r> {
    /// A truth is an integer, 1 or 0.
    type_: Type,
    /// Of a number: 4 or 8, and 8 for every real.
    length: usize,
    /// The number: an integer, or a real's bits.
    bits: i64,
    text: &'r [u8],
}

impl<'r> Entry<'r> {
    const NULL: Self = Self { type_: Type::Null, length: 0, bits: 0, text: &[] };

    fn integer(value: i64, length: usize) -> Self {
        Self { type_: Type::Integer, length, bits: value, text: &[] }
    }

    fn real(value: f64) -> Self {
        Self { type_: Type::Real, length: 8, bits: value.to_bits() as i64, text: &[] }
    }

    fn truth(truth: Option<bool>) -> Self {
        truth.map_or(Self::NULL, |truth| Self::integer(i64::from(truth), 4))
    }

    fn as_truth(self) -> Option<bool> {
        (self.type_ == Type::Integer).then_some(self.bits != 0)
    }

    fn as_real(self) -> f64 {
        match self.type_ {
            Type::Real => f64::from_bits(self.bits as u64),
            _ => self.bits as f64,
        }
    }

    /// The same, bound to no row.
    pub fn without_text<'b>(self) -> Entry<'b> {
        Entry { text: &[], ..self }
    }

    /// The same outside the machine.
    pub fn value(self) -> Value<'r> {
        match self.type_ {
            Type::Integer => Value::Integer(self.bits),
            Type::Real => Value::Real(self.as_real()),
            Type::Text => Value::Text(trimmed(self.text)),
            _ => Value::Null,
        }
    }
}

/// The state that an interpretation works on.
pub(super) struct Machine<'r, 'c> {
    pub row: Row<'r>,
    pub stack: Vec<Entry<'r>>,
    pub calls: &'c Calls,
}

impl<'r> Machine<'r, '_> {
    fn pop(&mut self) -> Entry<'r> {
        self.stack.pop().expect("a list has the operands of each operator before it")
    }
}

/// Fetches the next symbol of a list. What has a value is copied to the stack: an integer of 1 or 2
/// bytes becomes one of 4, a real of 4 bytes one of 8, a text is a pointer.
#[inline(never)]
pub(super) fn getsymbol<'r>(
    symbols: &'r [Symbol],
    at: &mut usize,
    machine: &mut Machine<'r, '_>,
) -> &'r Symbol {
    machine.calls.getsymbol.set(machine.calls.getsymbol.get() + 1);
    if machine.stack.len() == machine.stack.capacity() {
        machine.stack.reserve(super::STACK_SYMBOLS);
    }
    let symbol = &symbols[*at];
    *at += 1;
    let (bytes, offset): (&'r [u8], usize) = match &symbol.content {
        Content::Constant(bytes) => (bytes, 0),
        Content::Variable { slot, offset, null_at } => {
            let tuple = machine.row.tuples[*slot];
            if null_at.is_some_and(|at| tuple[at] != 0) {
                machine.stack.push(Entry::NULL);
                return symbol;
            }
            (tuple, *offset)
        }
        Content::RecordId { slot } => {
            machine.stack.push(Entry::integer(machine.row.ids[*slot] as i64, 8));
            return symbol;
        }
        _ => (&[], 0),
    };
    let entry = match symbol.type_ {
        Type::Integer => match symbol.length {
            1 => Entry::integer(read_integer(bytes, offset, 1), 4),
            2 => Entry::integer(read_integer(bytes, offset, 2), 4),
            4 => Entry::integer(read_integer(bytes, offset, 4), 4),
            _ => Entry::integer(read_integer(bytes, offset, 8), 8),
        },
        Type::Real => match symbol.length {
            4 => Entry::real(read_real(bytes, offset, 4)),
            _ => Entry::real(read_real(bytes, offset, 8)),
        },
        Type::Text => {
            let text = &bytes[offset..offset + symbol.length];
            Entry { type_: Type::Text, length: symbol.length, bits: 0, text }
        }
        Type::Null => Entry::NULL,
        // Operators and separators stay in the list.
        _ => return symbol,
    };
    machine.stack.push(entry);
    symbol
}

/// Interprets a list: its value, or whether its condition holds.
#[inline(never)]
pub(super) fn interpret<'r>(
    symbols: &'r [Symbol],
    machine: &mut Machine<'r, '_>,
) -> Result<Entry<'r>, Fault> {
    machine.calls.interpret.set(machine.calls.interpret.get() + 1);
    let (mut at, bottom) = (0, machine.stack.len());
    // The truth of the disjunctions so far, and of the parts of this one.
    let (mut all, mut any) = (Some(true), Some(false));
    loop {
        let mut symbol = getsymbol(symbols, &mut at, machine);
        let entry = match (symbol.type_, &symbol.content) {
            (Type::Unary, Content::Negate(span)) => negate(machine.pop(), *span)?,
            (Type::Unary, Content::Call(function, span)) => call(*function, machine.pop(), *span)?,
            (Type::Binary, Content::Operator(operator, span)) => {
                let (right, left) = (machine.pop(), machine.pop());
                binary(*operator, left, right, *span)?
            }
            (Type::Relation, Content::Operator(operator, _)) => {
                let (right, left) = (machine.pop(), machine.pop());
                Entry::truth(relation(*operator, left, right))
            }
            (Type::Match, Content::Pattern(pattern, negated)) => match machine.pop() {
                Entry { type_: Type::Text, text, .. } => {
                    Entry::truth(Some(pattern.matches(trimmed(text)) != *negated))
                }
                _ => Entry::NULL,
            },
            (Type::Group, Content::List(list)) => interpret(list, machine)?,
            (Type::End, _) if machine.stack.len() > bottom => return Ok(machine.pop()),
            (Type::End, _) => return Ok(Entry::truth(all)),
            (Type::Or | Type::And, _) => {
                any = either(any, machine.pop().as_truth());
                if any == Some(true) {
                    // The rest of the disjunction is fetched, and forgotten.
                    while symbol.type_ != Type::And {
                        symbol = getsymbol(symbols, &mut at, machine);
                    }
                    machine.stack.truncate(bottom);
                } else if symbol.type_ == Type::Or {
                    continue;
                }
                match any {
                    Some(false) => return Ok(Entry::truth(Some(false))),
                    None => all = None,
                    Some(true) => {}
                }
                if all.is_none() && matches!(symbol.content, Content::MustHold) {
                    return Ok(Entry::NULL);
                }
                any = Some(false);
                continue;
            }
            // A value, which is on the stack.
            _ => continue,
        };
        machine.stack.push(entry);
    }
}

/// `or` of what is not yet true and the next part.
fn either(any: Option<bool>, next: Option<bool>) -> Option<bool> {
    match next {
        Some(true) => Some(true),
        Some(false) => any,
        None => None,
    }
}

/// The type in which two operands meet: reals if one is a real, the longer integer else; null if
/// one is. `must_be_real` is for an operator that knows no integers.
fn typecheck<'r>(
    left: Entry<'r>,
    right: Entry<'r>,
    must_be_real: bool,
) -> (Type, Entry<'r>, Entry<'r>) {
    match (left.type_, right.type_) {
        (Type::Integer, Type::Integer) if !must_be_real => {
            let length = left.length.max(right.length);
            (Type::Integer, Entry { length, ..left }, Entry { length, ..right })
        }
        (Type::Integer | Type::Real, Type::Integer | Type::Real) => {
            (Type::Real, Entry::real(left.as_real()), Entry::real(right.as_real()))
        }
        (Type::Text, Type::Text) => (Type::Text, left, right),
        _ => (Type::Null, left, right),
    }
}

fn binary<'r>(
    operator: BinaryOperator,
    left: Entry<'r>,
    right: Entry<'r>,
    span: Span,
) -> Result<Entry<'r>, Fault> {
    let (type_, left, right) = typecheck(left, right, operator == BinaryOperator::Power);
    Ok(match type_ {
        Type::Integer => match (left.length, operator) {
            // Of two integers of 4 bytes these never leave 8.
            (4, BinaryOperator::Add) => Entry::integer(left.bits + right.bits, 8),
            (4, BinaryOperator::Subtract) => Entry::integer(left.bits - right.bits, 8),
            (4, BinaryOperator::Multiply) => Entry::integer(left.bits * right.bits, 8),
            _ => Entry::integer(arithmetic::integers(operator, left.bits, right.bits, span)?, 8),
        },
        Type::Real => {
            Entry::real(arithmetic::reals(operator, left.as_real(), right.as_real(), span)?)
        }
        _ => Entry::NULL,
    })
}

fn relation(operator: BinaryOperator, left: Entry<'_>, right: Entry<'_>) -> Option<bool> {
    let ordering = match (left.type_, right.type_) {
        // Exact: these two do not meet in a real, which would round.
        (Type::Integer, Type::Real) => compare_mixed(left.bits, right.as_real()),
        (Type::Real, Type::Integer) => compare_mixed(right.bits, left.as_real()).reverse(),
        _ => {
            let (type_, left, right) = typecheck(left, right, false);
            match type_ {
                Type::Integer => match left.length {
                    4 => (left.bits as i32).cmp(&(right.bits as i32)),
                    _ => left.bits.cmp(&right.bits),
                },
                Type::Real => compare_reals(left.as_real(), right.as_real()),
                Type::Text => compare_texts(left.text, right.text),
                _ => return None,
            }
        }
    };
    Some(arithmetic::holds(operator, ordering))
}

fn negate(operand: Entry<'_>, span: Span) -> Result<Entry<'_>, Fault> {
    Ok(match operand.type_ {
        Type::Integer => Entry::integer(arithmetic::negate(operand.bits, span)?, 8),
        Type::Real => Entry::real(-operand.as_real()),
        _ => Entry::NULL,
    })
}

fn call(function: Function, argument: Entry<'_>, span: Span) -> Result<Entry<'_>, Fault> {
    Ok(match (function, argument.type_) {
        (Function::Abs, Type::Integer) => {
            Entry::integer(arithmetic::absolute(argument.bits, span)?, 8)
        }
        (Function::ToInteger(bytes), Type::Integer) => {
            Entry::integer(arithmetic::narrow(argument.bits, bytes, span)?, 8)
        }
        (Function::ToInteger(bytes), Type::Real) => {
            Entry::integer(arithmetic::truncate(argument.as_real(), bytes, span)?, 8)
        }
        (_, Type::Integer | Type::Real) => {
            Entry::real(arithmetic::call(function, argument.as_real(), span)?)
        }
        _ => Entry::NULL,
    })
}
