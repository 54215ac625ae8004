//! Meaning: names are looked up, types compared, and the tree becomes one that the oracle can
//! evaluate. Whatever does not exist is answered with what does.

mod aggregate;
mod call;
mod expression;
pub mod resolved;

use crate::error::Fault;
use crate::naming;
use crate::schema::{Attribute, Catalogue, Kind};
use crate::tree::{Expr, Name, Span, Statement, Target};
use expression::{Block, Resolver};
use resolved::{Action, Step, Term, Type};
use std::collections::BTreeMap;

type Checked<T> = Result<T, Fault>;

/// Checks statements one after another, each against the catalogue that its predecessors left.
pub struct Checker {
    /// The relations as the statements so far left them.
    pub catalogue: Catalogue,
    ranges: BTreeMap<String, String>,
    parameters: Vec<Type>,
}

impl Checker {
    /// One that knows these relations and no range variable.
    pub fn new(catalogue: Catalogue) -> Self {
        Self::with_parameters(catalogue, Vec::new())
    }

    /// The same for programs with parameters, of which the first has the first of these types.
    pub fn with_parameters(catalogue: Catalogue, parameters: Vec<Type>) -> Self {
        Self { catalogue, ranges: BTreeMap::new(), parameters }
    }

    /// Declare a range variable, as a statement before these; without effect where there is no such
    /// relation.
    pub fn declare(&mut self, variable: &str, relation: &str) {
        if self.catalogue.contains_key(relation) {
            self.ranges.insert(variable.to_owned(), relation.to_owned());
        }
    }

    fn resolver(&self) -> Resolver<'_> {
        Resolver::new(&self.catalogue, &self.ranges, &self.parameters)
    }

    /// Check one statement; the catalogue and the range variables follow it.
    pub fn statement(&mut self, statement: &Statement) -> Checked<Step> {
        match statement {
            Statement::Range { variable, relation } => {
                self.relation(relation)?;
                self.ranges.insert(variable.text.clone(), relation.text.clone());
                Ok(Step::nothing())
            }
            Statement::Retrieve { unique, into, targets, filter } => {
                self.retrieve(*unique, into.as_ref(), targets, filter.as_ref())
            }
            Statement::Append { relation, targets, filter } => {
                self.append(relation, targets, filter.as_ref())
            }
            Statement::Replace { variable, targets, filter } => {
                self.replace(variable, targets, filter.as_ref())
            }
            Statement::Delete { variable, filter } => self.delete(variable, filter.as_ref()),
            _ => self.definition(statement),
        }
    }

    fn definition(&mut self, statement: &Statement) -> Checked<Step> {
        match statement {
            Statement::Create { relation, attributes } => {
                if self.catalogue.contains_key(&relation.text) {
                    let message = format!("there is a relation `{}` already", relation.text);
                    return Err(Fault::new(relation.span, message).expecting("destroy it first"));
                }
                let schema = attributes.iter().map(attribute_of).collect::<Checked<Vec<_>>>()?;
                different(attributes)?;
                self.catalogue.insert(relation.text.clone(), schema.clone());
                return Ok(Step::define(relation, schema));
            }
            Statement::Index { relation, attributes: names, .. }
            | Statement::Modify { relation, key: names, .. } => {
                let schema = self.relation(relation)?;
                for name in names {
                    attribute_number(schema, &relation.text, name)?;
                }
            }
            Statement::Destroy { relations } => {
                for relation in relations {
                    self.relation(relation)?;
                    self.catalogue.remove(&relation.text);
                }
                let names = relations.iter().map(|relation| relation.text.clone()).collect();
                return Ok(Step::only(Action::Destroy { relations: names }));
            }
            _ => {}
        }
        Ok(Step::nothing())
    }

    fn retrieve(
        &mut self,
        unique: bool,
        into: Option<&Name>,
        targets: &[Target],
        filter: Option<&Expr>,
    ) -> Checked<Step> {
        let mut resolver = self.resolver();
        let mut block = Block::new(targets, filter, None);
        let columns = resolver.targets(&mut block, targets)?;
        let conditions = resolver.conditions(&mut block, filter)?;
        let (terms, schema): (Vec<_>, Vec<_>) = columns
            .into_iter()
            .map(|column| (column.term, Attribute { name: column.name, kind: column.kind }))
            .unzip();
        let mut step = resolver.finish(&block, conditions);
        step.action = Action::Retrieve { unique, into: into.map(|n| n.text.clone()), terms };
        if let Some(relation) = into {
            self.catalogue.insert(relation.text.clone(), schema.clone());
        }
        step.schema = schema;
        Ok(step)
    }

    fn append(
        &mut self,
        relation: &Name,
        targets: &[Target],
        filter: Option<&Expr>,
    ) -> Checked<Step> {
        let schema = self.relation(relation)?;
        let mut resolver = self.resolver();
        let mut block = Block::new(targets, filter, None);
        let columns = resolver.targets(&mut block, targets)?;
        let assigned = assignments(columns, schema, &relation.text)?;
        let mut terms: Vec<Term> = schema.iter().map(|column| default(column.kind)).collect();
        for (number, term) in assigned {
            terms[number] = term;
        }
        let conditions = resolver.conditions(&mut block, filter)?;
        let mut step = resolver.finish(&block, conditions);
        step.action = Action::Append { relation: relation.text.clone(), terms };
        step.span = relation.span;
        Ok(step)
    }

    fn replace(
        &mut self,
        variable: &Name,
        targets: &[Target],
        filter: Option<&Expr>,
    ) -> Checked<Step> {
        let mut resolver = self.resolver();
        let mut block = Block::new(targets, filter, Some(variable));
        let slot = resolver.variable(&mut block, variable)?;
        let columns = resolver.targets(&mut block, targets)?;
        let relation = resolver.relation_of(variable)?;
        let terms = assignments(columns, resolver.schema(variable)?, relation)?;
        let relation = relation.to_owned();
        let conditions = resolver.conditions(&mut block, filter)?;
        let mut step = resolver.finish(&block, conditions);
        step.action = Action::Replace { relation, slot, terms };
        step.span = variable.span;
        Ok(step)
    }

    fn delete(&mut self, variable: &Name, filter: Option<&Expr>) -> Checked<Step> {
        let mut resolver = self.resolver();
        let mut block = Block::new(&[], filter, Some(variable));
        let slot = resolver.variable(&mut block, variable)?;
        let relation = resolver.relation_of(variable)?.to_owned();
        let conditions = resolver.conditions(&mut block, filter)?;
        let mut step = resolver.finish(&block, conditions);
        step.action = Action::Delete { relation, slot };
        step.span = variable.span;
        Ok(step)
    }

    fn relation(&self, name: &Name) -> Checked<&Vec<Attribute>> {
        relation_in(&self.catalogue, &name.text, name.span)
    }
}

fn relation_in<'a>(
    catalogue: &'a Catalogue,
    name: &str,
    span: Span,
) -> Checked<&'a Vec<Attribute>> {
    catalogue.get(name).ok_or_else(|| {
        Fault::new(span, format!("there is no relation `{name}`"))
            .expecting(existing("relations", catalogue.keys().map(String::as_str)))
    })
}

fn attribute_of(attribute: &crate::tree::AttributeType) -> Checked<Attribute> {
    let kind = Kind::of_type_name(&attribute.type_name.text).ok_or_else(|| {
        let message = format!("`{}` is not a type", attribute.type_name.text);
        Fault::new(attribute.type_name.span, message)
    })?;
    Ok(Attribute { name: attribute.name.text.clone(), kind })
}

/// No name is given twice, and each can be said again.
fn different(attributes: &[crate::tree::AttributeType]) -> Checked<()> {
    let mut names = std::collections::BTreeSet::new();
    for attribute in attributes {
        let name = &attribute.name;
        if let Some(fault) = naming::attribute_fault(&name.text) {
            return Err(Fault::new(name.span, fault).expecting("give it another name"));
        }
        if !names.insert(name.text.as_str()) {
            let message = format!("there is an attribute `{}` already", name.text);
            return Err(Fault::new(name.span, message).expecting("give each a name of its own"));
        }
    }
    Ok(())
}

fn attribute_number(schema: &[Attribute], relation: &str, name: &Name) -> Checked<usize> {
    let mut found = (0..schema.len()).filter(|&number| schema[number].name == name.text);
    match (found.next(), found.next()) {
        (Some(number), None) => Ok(number),
        (Some(_), Some(_)) => {
            let message = format!("`{relation}` has more than one attribute `{}`", name.text);
            Err(Fault::new(name.span, message)
                .expecting("give the targets of its `retrieve into` different names"))
        }
        _ => {
            let message = format!("`{relation}` has no attribute `{}`", name.text);
            let names = schema.iter().map(|attribute| attribute.name.as_str());
            Err(Fault::new(name.span, message).expecting(existing("attributes", names)))
        }
    }
}

/// The attributes that a target list sets, each with a value whose type fits.
fn assignments(
    columns: Vec<resolved::Column>,
    schema: &[Attribute],
    relation: &str,
) -> Checked<Vec<(usize, Term)>> {
    let mut assigned: Vec<(usize, Term)> = Vec::new();
    for column in columns {
        let name = Name { text: column.name, span: column.span };
        let number = attribute_number(schema, relation, &name)?;
        if assigned.iter().any(|(other, _)| *other == number) {
            return Err(Fault::new(name.span, format!("`{}` is set twice", name.text)));
        }
        let hint = match (schema[number].kind, column.type_) {
            (Kind::Integer { .. }, Type::Integer)
            | (Kind::Real { .. }, Type::Integer | Type::Real)
            | (Kind::Text { .. }, Type::Text) => None,
            (Kind::Integer { .. }, Type::Real) => Some("an integer; int4(…) truncates"),
            (Kind::Integer { .. }, _) => Some("an integer"),
            (Kind::Real { .. }, _) => Some("a number"),
            (Kind::Text { .. }, _) => Some("a text"),
        };
        if let Some(hint) = hint {
            let message = format!("`{}` cannot hold {}", name.text, column.type_.text());
            return Err(Fault::new(name.span, message).expecting(format!("expected {hint}")));
        }
        assigned.push((number, column.term));
    }
    Ok(assigned)
}

/// INGRES fills the attributes that an append leaves out with zeros and blanks.
fn default(kind: Kind) -> Term {
    match kind {
        Kind::Integer { .. } => Term::Integer(0),
        Kind::Real { .. } => Term::Real(0.0),
        Kind::Text { .. } => Term::Text(Vec::new()),
    }
}

/// Names an error message lists at most.
const NAMES_SHOWN: usize = 24;

fn existing<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<_> = names.collect();
    if names.is_empty() {
        return format!("there are no {what}");
    }
    let hidden = names.len().saturating_sub(NAMES_SHOWN);
    names.truncate(NAMES_SHOWN);
    let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
    format!("{what} there are: {}{more}", names.join(", "))
}
