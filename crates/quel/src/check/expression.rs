//! Expressions: attributes to slots and columns, comparisons and arithmetic of what goes together.

use super::resolved::{
    Action, Aggregate, Column, Partition, SLOTS_MAX, Scope, Slot, SlotSet, Step, Term, Type,
};
use super::{Checked, attribute_number, existing, relation_in};
use crate::equality::without_blanks;
use crate::error::Fault;
use crate::pattern::{Pattern, is_pattern, literal};
use crate::schema::{Attribute, Catalogue, Kind};
use crate::tree::{BinaryOperator, Expr, Name, Span, Target, UnaryOperator};
use std::collections::{BTreeMap, BTreeSet};

/// A statement or an aggregate: variables that are run over together.
pub(super) struct Block {
    /// Range variables that it mentions outside of the aggregates in it.
    pub(super) mentioned: BTreeSet<String>,
    pub(super) slots: SlotSet,
    /// The slot that stands for each partition used here.
    pub(super) partition_slots: BTreeMap<usize, usize>,
}

impl Block {
    pub fn new(targets: &[Target], filter: Option<&Expr>, variable: Option<&Name>) -> Self {
        let mut mentioned = BTreeSet::new();
        mentioned.extend(variable.map(|name| name.text.clone()));
        for target in targets {
            match target {
                Target::All { variable } => _ = mentioned.insert(variable.text.clone()),
                Target::Named { value, .. } => mention(value, &mut mentioned),
            }
        }
        if let Some(condition) = filter {
            mention(condition, &mut mentioned);
        }
        Self { mentioned, slots: 0, partition_slots: BTreeMap::new() }
    }

    pub fn inner<'a>(parts: impl Iterator<Item = &'a Expr>) -> Self {
        let mut block = Self::new(&[], None, None);
        parts.for_each(|part| mention(part, &mut block.mentioned));
        block
    }
}

/// Collects the range variables outside of aggregates.
pub(super) fn mention(expr: &Expr, names: &mut BTreeSet<String>) {
    match expr {
        Expr::Attribute { variable, .. } => _ = names.insert(variable.text.clone()),
        Expr::Unary { operand, .. } => mention(operand, names),
        Expr::Binary { left, right, .. } => {
            mention(left, names);
            mention(right, names);
        }
        Expr::Call { arguments, .. } => arguments.iter().for_each(|one| mention(one, names)),
        Expr::Aggregate { .. }
        | Expr::Integer { .. }
        | Expr::Real { .. }
        | Expr::Text { .. }
        | Expr::Parameter { .. } => {}
    }
}

/// Resolves the expressions of one statement.
pub(super) struct Resolver<'a> {
    catalogue: &'a Catalogue,
    ranges: &'a BTreeMap<String, String>,
    parameters: &'a [Type],
    slots: Vec<Slot>,
    variables: BTreeMap<String, usize>,
    pub(super) partitions: Vec<Partition>,
    pub(super) aggregates: Vec<Aggregate>,
}

impl<'a> Resolver<'a> {
    pub fn new(
        catalogue: &'a Catalogue,
        ranges: &'a BTreeMap<String, String>,
        parameters: &'a [Type],
    ) -> Self {
        Self {
            catalogue,
            ranges,
            parameters,
            slots: Vec::new(),
            variables: BTreeMap::new(),
            partitions: Vec::new(),
            aggregates: Vec::new(),
        }
    }

    pub fn finish(self, block: &Block, conditions: Vec<Term>) -> Step {
        Step {
            slots: self.slots,
            partitions: self.partitions,
            aggregates: self.aggregates,
            scope: Scope { slots: block.slots, conditions },
            ..Step::only(Action::Nothing)
        }
    }

    /// The relation that a variable ranges over.
    pub fn relation_of(&self, variable: &Name) -> Checked<&'a str> {
        self.ranges.get(&variable.text).map(String::as_str).ok_or_else(|| {
            let message = format!("there is no range variable `{}`", variable.text);
            let hint = if self.ranges.is_empty() {
                format!("declare it: range of {} is …", variable.text)
            } else {
                existing("range variables", self.ranges.keys().map(String::as_str))
            };
            Fault::new(variable.span, message).expecting(hint)
        })
    }

    pub fn schema(&self, variable: &Name) -> Checked<&'a Vec<Attribute>> {
        relation_in(self.catalogue, self.relation_of(variable)?, variable.span)
    }

    /// The slot of a range variable, which the block then runs over.
    pub fn variable(&mut self, block: &mut Block, variable: &Name) -> Checked<usize> {
        let slot = if let Some(slot) = self.variables.get(&variable.text) {
            *slot
        } else {
            let relation = self.relation_of(variable)?.to_owned();
            self.new_slot(Slot::Relation(relation), variable.span)?
        };
        self.variables.insert(variable.text.clone(), slot);
        block.slots |= 1 << slot;
        Ok(slot)
    }

    pub(super) fn new_slot(&mut self, slot: Slot, span: Span) -> Checked<usize> {
        if self.slots.len() == SLOTS_MAX {
            return Err(Fault::new(span, "the statement has too many range variables")
                .expecting(format!("at most {SLOTS_MAX}")));
        }
        self.slots.push(slot);
        Ok(self.slots.len() - 1)
    }

    pub fn targets(&mut self, block: &mut Block, targets: &[Target]) -> Checked<Vec<Column>> {
        let mut columns = Vec::new();
        for target in targets {
            match target {
                Target::All { variable } => {
                    let slot = self.variable(block, variable)?;
                    let schema = self.schema(variable)?;
                    columns.extend(schema.iter().enumerate().map(|(column, attribute)| Column {
                        name: attribute.name.clone(),
                        term: Term::Column { slot, column },
                        type_: type_of(attribute.kind),
                        kind: attribute.kind,
                        span: variable.span,
                    }));
                }
                Target::Named { name, value } => {
                    columns.push(self.target(block, name.as_ref(), value)?);
                }
            }
        }
        Ok(columns)
    }

    fn target(&mut self, block: &mut Block, name: Option<&Name>, value: &Expr) -> Checked<Column> {
        let (term, type_) = self.expression(block, value)?;
        if type_ == Type::Truth {
            return Err(Fault::new(value.span(), "a condition is not a value")
                .expecting("move it behind `where`"));
        }
        let (kind, own_name) = match value {
            Expr::Attribute { variable, name } => {
                let schema = self.schema(variable)?;
                (schema[attribute_number(schema, &variable.text, name)?].kind, name.clone())
            }
            _ => (self.kind(&term, type_), Name::default()),
        };
        let name = name.cloned().unwrap_or(own_name);
        Ok(Column { name: name.text, term, type_, kind, span: name.span })
    }

    /// The way in which the value of an expression is stored: a text as wide as it can become.
    fn kind(&self, term: &Term, type_: Type) -> Kind {
        match term {
            Term::Text(text) => Kind::Text { width: without_blanks(text).len().max(1) },
            Term::Column { slot, column } => match &self.slots[*slot] {
                Slot::Relation(name) => self.catalogue[name][*column].kind,
                Slot::Partition(_) => type_.kind(),
            },
            Term::Aggregate { number, .. } if type_ == Type::Text => {
                self.kind(&self.aggregates[*number].argument, type_)
            }
            _ => type_.kind(),
        }
    }

    /// The conditions of a qualification, split at its outer `and`s.
    pub fn conditions(&mut self, block: &mut Block, filter: Option<&Expr>) -> Checked<Vec<Term>> {
        let mut conditions = Vec::new();
        if let Some(filter) = filter {
            let condition = self.condition(block, filter)?;
            split(condition, &mut conditions);
        }
        Ok(conditions)
    }

    fn condition(&mut self, block: &mut Block, expr: &Expr) -> Checked<Term> {
        let (term, type_) = self.expression(block, expr)?;
        if type_ != Type::Truth {
            let message = format!("{} is not a condition", type_.text());
            return Err(Fault::new(expr.span(), message)
                .expecting("expected a comparison, as in t.unique2 < 100"));
        }
        Ok(term)
    }

    pub(super) fn expression(&mut self, block: &mut Block, expr: &Expr) -> Checked<(Term, Type)> {
        match expr {
            Expr::Integer { value, .. } => Ok((Term::Integer(*value), Type::Integer)),
            Expr::Real { value, .. } => Ok((Term::Real(*value), Type::Real)),
            Expr::Text { value, .. } => Ok((Term::Text(literal(value).into()), Type::Text)),
            Expr::Parameter { number, span } => self.parameter(*number, *span),
            Expr::Attribute { variable, name } => {
                let slot = self.variable(block, variable)?;
                let schema = self.schema(variable)?;
                let column = attribute_number(schema, self.relation_of(variable)?, name)?;
                Ok((Term::Column { slot, column }, type_of(schema[column].kind)))
            }
            Expr::Unary { operator: UnaryOperator::Not, operand, .. } => {
                let operand = self.condition(block, operand)?;
                Ok((Term::Not(Box::new(operand)), Type::Truth))
            }
            Expr::Unary { operator: UnaryOperator::Negate, operand, span } => {
                let (operand, type_) = self.number(block, operand)?;
                Ok((Term::Negate { operand: Box::new(operand), span: *span }, type_))
            }
            Expr::Binary { operator, left, right, span } => match operator {
                BinaryOperator::And | BinaryOperator::Or => {
                    let left = Box::new(self.condition(block, left)?);
                    let right = Box::new(self.condition(block, right)?);
                    let is_and = *operator == BinaryOperator::And;
                    let term = if is_and { Term::And(left, right) } else { Term::Or(left, right) };
                    Ok((term, Type::Truth))
                }
                operator if operator.compares() => {
                    self.comparison(block, *operator, left, right, *span)
                }
                _ => self.arithmetic(block, *operator, (left, right), *span),
            },
            Expr::Call { function, arguments } => self.call(block, function, arguments),
            Expr::Aggregate { function, argument, by, filter, span } => {
                let parts = (argument.as_ref(), by.as_slice(), filter.as_deref());
                self.aggregate(block, *function, parts, *span)
            }
        }
    }

    fn parameter(&self, number: usize, span: Span) -> Checked<(Term, Type)> {
        let at = number.wrapping_sub(1);
        let Some(&type_) = self.parameters.get(at) else {
            let given = self.parameters.len();
            return Err(Fault::new(span, format!("there is no value for the parameter ${number}"))
                .expecting(format!("{given} given: give a value for each, $1 first")));
        };
        Ok((Term::Parameter { number: at, type_ }, type_))
    }

    pub(super) fn number(&mut self, block: &mut Block, expr: &Expr) -> Checked<(Term, Type)> {
        let (term, type_) = self.expression(block, expr)?;
        if type_.is_number() {
            return Ok((term, type_));
        }
        let message = format!("{} is not a number", type_.text());
        Err(Fault::new(expr.span(), message).expecting("expected a number"))
    }

    fn comparison(
        &mut self,
        block: &mut Block,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Checked<(Term, Type)> {
        let (left_term, left_type) = self.expression(block, left)?;
        let (right_term, right_type) = self.expression(block, right)?;
        let both = left_type.is_number() && right_type.is_number()
            || left_type == Type::Text && right_type == Type::Text;
        if !both {
            let (left, right) = (left_type.text(), right_type.text());
            let message = format!("{left} and {right} cannot be compared");
            return Err(Fault::new(span, message).expecting("compare two numbers or two texts"));
        }
        let equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
        for (expr, other) in [(right, &left_term), (left, &right_term)] {
            let Expr::Text { value, span } = expr else { continue };
            if equality && is_pattern(value) {
                let pattern = Pattern::new(value).ok_or_else(|| {
                    Fault::new(*span, "a set of this pattern is empty or never closed")
                        .expecting("close it with `]`, or write `\\[` for the character itself")
                })?;
                let negated = operator == BinaryOperator::NotEqual;
                let text = Box::new(other.clone());
                return Ok((Term::Match { text, pattern, negated }, Type::Truth));
            }
        }
        let (left, right) = (Box::new(left_term), Box::new(right_term));
        Ok((Term::Compare { operator, left, right }, Type::Truth))
    }

    pub(super) fn arithmetic(
        &mut self,
        block: &mut Block,
        operator: BinaryOperator,
        (left, right): (&Expr, &Expr),
        span: Span,
    ) -> Checked<(Term, Type)> {
        let (left, left_type) = self.number(block, left)?;
        let (right, right_type) = self.number(block, right)?;
        let integers = left_type == Type::Integer && right_type == Type::Integer;
        if operator == BinaryOperator::Modulo && !integers {
            return Err(Fault::new(span, "`mod` takes integers")
                .expecting("convert the real number with int4(…)"));
        }
        let whole = integers && operator != BinaryOperator::Power;
        let type_ = if whole { Type::Integer } else { Type::Real };
        let (left, right) = (Box::new(left), Box::new(right));
        Ok((Term::Arithmetic { operator, left, right, span }, type_))
    }
}

fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Integer { .. } => Type::Integer,
        Kind::Real { .. } => Type::Real,
        Kind::Text { .. } => Type::Text,
    }
}

fn split(term: Term, conditions: &mut Vec<Term>) {
    match term {
        Term::And(left, right) => {
            split(*left, conditions);
            split(*right, conditions);
        }
        other => conditions.push(other),
    }
}
