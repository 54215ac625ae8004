//! `execution=interpreted`: an expression is a list of symbols that is interpreted for every row,
//! as in INGRES of 1981 (4.1BSD, `ovqp/interp1.c`; UCB/ERL M81/62, section 2).
//!
//! A symbol is a type, a length and a value. The list is postfix; a qualification is in conjunctive
//! normal form, with AND and OR as separators. [`machine::getsymbol`] fetches each symbol, an
//! attribute through a pointer into the tuple, and widens its value onto the stack;
//! [`machine::interpret`] decides by type, by length, by operator. Nothing is prepared: a call of
//! constants is computed for every row. Both functions have their names of 1981 and are never
//! inlined, so that a profile shows them as Table 3 of the report does.
//!
//! The meaning is ours, not that of 1981: 64 bits, errors at their places, nulls. Where the normal
//! form would compute a part that may fail although the program's `and` and `or` would not come to
//! it, that part stays as it was written: it is one symbol, a group with a list of its own.

mod list;
mod machine;
mod normal;
mod symbol;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::mem;
use std::rc::Rc;

use loadstone_quel::error::Fault;
use loadstone_quel::tree::Span;

use super::evaluation::{Condition, Evaluation, Known, Packer, Row, Scalar};
use crate::error::Result;
use crate::expression::Expr;
use crate::plan::Pack;
use crate::tuple::{Field, Value, write};
use machine::{Entry, Machine};
use symbol::Symbol;

/// Makes lists of symbols.
#[derive(Debug)]
pub struct Interpreted<'a> {
    /// Constants in the lists.
    pub known: &'a Known,
    /// Calls of everything that this made.
    pub calls: Rc<Calls>,
}

/// The number of times that the two routines ran.
#[derive(Debug, Default)]
pub struct Calls {
    /// Symbols fetched.
    pub getsymbol: Cell<u64>,
    /// Lists interpreted, groups within lists included.
    pub interpret: Cell<u64>,
}

/// Symbols for which the stack has room at first, as in 1981. It grows where a list needs more.
const STACK_SYMBOLS: usize = 50;

/// A list of symbols with the stack on which it is interpreted.
struct Interpretation {
    symbols: Vec<Symbol>,
    /// Empty between rows.
    stack: Vec<Entry<'static>>,
    calls: Rc<Calls>,
}

impl Interpretation {
    fn value<'r>(&'r mut self, row: &Row<'r>) -> Result<Value<'r>, Fault> {
        let mut machine =
            Machine { row: *row, stack: emptied(mem::take(&mut self.stack)), calls: &self.calls };
        let outcome = machine::interpret(&self.symbols, &mut machine);
        self.stack = emptied(machine.stack);
        outcome.map(Entry::value)
    }
}

/// The same room without entries, for those of another row.
fn emptied<'b>(mut stack: Vec<Entry<'_>>) -> Vec<Entry<'b>> {
    stack.clear();
    // Keeps the allocation: the entries are of equal size.
    stack.into_iter().map(Entry::without_text).collect()
}

impl Interpreted<'_> {
    fn interpretation(&self, symbols: Vec<Symbol>) -> Interpretation {
        let stack = Vec::with_capacity(STACK_SYMBOLS);
        Interpretation { symbols, stack, calls: Rc::clone(&self.calls) }
    }

    fn of(&self, expr: &Expr) -> Interpretation {
        self.interpretation(list::of(expr, self.known))
    }
}

impl Evaluation for Interpreted<'_> {
    fn condition(&self, expr: &Expr) -> Result<Box<dyn Condition>> {
        Ok(Box::new(self.of(expr)))
    }

    fn conditions(&self, expr: &Expr) -> Result<Vec<Box<dyn Condition>>> {
        Ok(vec![Box::new(self.interpretation(list::of_filter(expr, self.known)))])
    }

    fn scalar(&self, expr: &Expr) -> Result<Box<dyn Scalar>> {
        Ok(Box::new(self.of(expr)))
    }

    fn packer(&self, pack: &Pack) -> Result<Box<dyn Packer>> {
        let fields = pack.layout.fields.iter().cloned();
        let values = pack.values.iter().map(|value| self.of(value));
        Ok(Box::new(TargetList { targets: fields.zip(values).collect(), span: pack.span }))
    }
}

impl Condition for Interpretation {
    fn holds(&mut self, row: &Row<'_>) -> Result<bool, Fault> {
        Ok(self.value(row)? == Value::Integer(1))
    }
}

impl Scalar for Interpretation {
    fn value<'r>(&'r mut self, row: &Row<'r>) -> Result<Value<'r>, Fault> {
        Interpretation::value(self, row)
    }
}

/// The values of a tuple, each interpreted and then put into its place.
struct TargetList {
    targets: Vec<(Field, Interpretation)>,
    span: Span,
}

impl Packer for TargetList {
    fn pack(&mut self, row: &Row<'_>, tuple: &mut [u8]) -> Result<(), Fault> {
        for (field, value) in &mut self.targets {
            write(tuple, field, value.value(row)?, self.span)?;
        }
        Ok(())
    }
}
