//! Lists of symbols made of expressions, without any computation.

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::{BinaryOperator, Span};

use super::normal::{Disjunction, Term, normal};
use super::symbol::{Content, Symbol, Type};
use crate::execution::evaluation::Known;
use crate::expression::Expr;
use crate::tuple::{Value, trimmed, width};

/// The list of a value or a condition.
pub(super) fn of(expr: &Expr, known: &Known) -> Vec<Symbol> {
    let mut list = List { symbols: Vec::new(), known };
    if is_condition(expr) {
        list.conjunction(&normal(expr, false));
    } else {
        list.value(expr);
    }
    list.ended()
}

/// The list of a condition that rows must meet: the first part of an `and` that does not hold ends
/// it, also where it is a null that leaves it open.
pub(super) fn of_filter(expr: &Expr, known: &Known) -> Vec<Symbol> {
    let mut list = List { symbols: Vec::new(), known };
    let parts = if let Expr::And(operands) = expr { operands } else { std::slice::from_ref(expr) };
    for part in parts {
        list.conjunction(&normal(part, false));
        if let Some(end) = list.symbols.last_mut() {
            end.content = Content::MustHold;
        }
    }
    list.ended()
}

fn is_condition(expr: &Expr) -> bool {
    use Expr::{And, Compare, Match, Not, Or};
    matches!(expr, Not(_) | And(_) | Or(_) | Compare { .. } | Match { .. })
}

struct List<'k> {
    symbols: Vec<Symbol>,
    known: &'k Known,
}

impl List<'_> {
    fn ended(mut self) -> Vec<Symbol> {
        self.symbols.push(Symbol::bare(Type::End));
        self.symbols
    }

    fn put(&mut self, type_: Type, length: usize, content: Content) {
        self.symbols.push(Symbol::new(type_, length, content));
    }

    fn conjunction(&mut self, clauses: &[Disjunction<'_>]) {
        for clause in clauses {
            for (number, term) in clause.iter().enumerate() {
                if number > 0 {
                    self.symbols.push(Symbol::bare(Type::Or));
                }
                self.term(term);
            }
            self.symbols.push(Symbol::bare(Type::And));
        }
    }

    fn term(&mut self, term: &Term<'_>) {
        match term {
            Term::Group(clauses) => {
                let mut inner = List { symbols: Vec::new(), known: self.known };
                inner.conjunction(clauses);
                self.put(Type::Group, 0, Content::List(inner.ended()));
            }
            Term::Plain { expr: Expr::Compare { operator, left, right }, negated } => {
                self.value(left);
                self.value(right);
                let operator = if *negated { opposite(*operator) } else { *operator };
                self.put(Type::Relation, 0, Content::Operator(operator, Span::default()));
            }
            Term::Plain { expr: Expr::Match { text, pattern, negated: inner }, negated } => {
                self.value(text);
                self.put(Type::Match, 0, Content::Pattern(pattern.clone(), inner != negated));
            }
            // No other expression is a condition: the check of the program saw to it.
            Term::Plain { .. } => self.symbols.push(Symbol::bare(Type::Null)),
        }
    }

    fn value(&mut self, expr: &Expr) {
        if let Some(value) = self.known.value(expr) {
            self.symbols.push(constant(value));
            return;
        }
        match expr {
            Expr::Column { slot, field } => {
                let type_ = match field.kind {
                    Kind::Integer { .. } => Type::Integer,
                    Kind::Real { .. } => Type::Real,
                    Kind::Text { .. } => Type::Text,
                };
                let (slot, offset, null_at) = (*slot, field.offset, field.null_at);
                self.put(type_, width(field.kind), Content::Variable { slot, offset, null_at });
            }
            Expr::RecordId { slot } => {
                self.put(Type::Integer, 8, Content::RecordId { slot: *slot });
            }
            Expr::Negate { operand, span } => {
                self.value(operand);
                self.put(Type::Unary, 0, Content::Negate(*span));
            }
            Expr::Call { function, argument, span } => {
                self.value(argument);
                self.put(Type::Unary, 0, Content::Call(*function, *span));
            }
            Expr::Arithmetic { operator, left, right, span } => {
                self.value(left);
                self.value(right);
                self.put(Type::Binary, 0, Content::Operator(*operator, *span));
            }
            // A condition within a value is one symbol.
            condition => self.term(&Term::Group(normal(condition, false))),
        }
    }
}

/// A constant in the least bytes that hold it.
fn constant(value: Value<'_>) -> Symbol {
    let (type_, bytes) = match value {
        Value::Null => return Symbol::bare(Type::Null),
        Value::Integer(value) => {
            let bytes = i16::try_from(value)
                .map(|value| value.to_le_bytes().to_vec())
                .or_else(|_| i32::try_from(value).map(|value| value.to_le_bytes().to_vec()))
                .unwrap_or_else(|_| value.to_le_bytes().to_vec());
            (Type::Integer, bytes)
        }
        Value::Real(value) => (Type::Real, value.to_le_bytes().to_vec()),
        Value::Text(text) => (Type::Text, trimmed(text).to_vec()),
    };
    Symbol::new(type_, bytes.len(), Content::Constant(bytes))
}

/// The comparison that holds where this one does not. All values compare: no real is a NaN.
fn opposite(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Equal => BinaryOperator::NotEqual,
        BinaryOperator::NotEqual => BinaryOperator::Equal,
        BinaryOperator::Less => BinaryOperator::GreaterOrEqual,
        BinaryOperator::LessOrEqual => BinaryOperator::Greater,
        BinaryOperator::Greater => BinaryOperator::LessOrEqual,
        _ => BinaryOperator::Less,
    }
}
