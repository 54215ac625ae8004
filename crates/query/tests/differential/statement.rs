//! Random statements: the commands that ask and change.

use crate::draw::Draw;
use crate::expression::{Expressions, Value, Variable};
use crate::schema::{Attribute, Form, Relation};

/// Rows that the product of a statement's range variables may have.
const PRODUCT_MAX: u64 = 12_000;

/// Rows that an `append` may be requested.
const APPENDED_MAX: u64 = 300;

/// A statement, and what it does to the relations that there are.
pub struct Command {
    /// With the range variables that it needs.
    pub text: String,
    /// Whether its conditions can fail, so that a plan decides whether they do.
    pub may_fail_in_conditions: bool,
    pub effect: Effect,
}

/// The effect of a statement.
pub enum Effect {
    /// Rows go to the client.
    None,
    /// This relation is made, or made anew.
    Made(Relation),
    /// The tuples of the relation of that name; it may have so many more.
    Changed { name: String, more_rows: u64 },
    /// The storage of a relation; a unique index on this attribute, if that is one.
    Stored { name: String, unique: Option<String> },
    /// A relation goes.
    Gone(String),
}

/// A statement over relations, of which there is at least one.
pub fn command(draw: &mut Draw<'_>, relations: &[Relation]) -> Command {
    match draw.below(20) {
        0..11 => retrieve(draw, relations),
        11..13 => append(draw, relations),
        13..15 => replace(draw, relations),
        15..17 => delete(draw, relations),
        _ => structure(draw, relations),
    }
}

/// The declarations of some range variables.
pub fn declared(variables: &[Variable<'_>]) -> String {
    let of = |one: &Variable<'_>| format!("range of {} is {}", one.name, one.relation.name);
    variables.iter().map(of).map(|range| range + "\n").collect()
}

/// So many variables at most, with a product that is not too large.
fn variables<'r>(
    draw: &mut Draw<'_>,
    relations: &'r [Relation],
    counts: &[usize],
    product_max: u64,
) -> Vec<Variable<'r>> {
    let count = draw.of(counts);
    let mut product = 1;
    let mut variables = Vec::new();
    for number in 0..count {
        let relation = &relations[draw.below(relations.len())];
        if variables.is_empty() || product * relation.rows <= product_max {
            product *= relation.rows.max(1);
            variables.push(Variable { name: format!("v{number}"), relation });
        }
    }
    variables
}

/// Expressions over some variables, and one more for aggregates.
fn expressions<'e, 'r, 'n>(
    draw: &'e mut Draw<'n>,
    variables: &[Variable<'r>],
    relations: &'r [Relation],
) -> Expressions<'e, 'r, 'n> {
    let inner = &relations[draw.below(relations.len())];
    let inner = Some(Variable { name: "w".to_owned(), relation: inner });
    Expressions { draw, variables: variables.to_vec(), inner, may_fail: false, aggregates_left: 0 }
}

/// The qualification, joins first, and whether it may fail.
fn qualification(made: &mut Expressions<'_, '_, '_>, may_fail: bool) -> (String, bool) {
    let mut parts = Vec::new();
    for other in 1..made.variables.len() {
        if !made.draw.one_in(4) {
            let one = made.draw.below(other);
            parts.push(made.join(one, other));
        }
    }
    made.may_fail = may_fail && made.draw.one_in(3);
    made.aggregates_left = usize::from(made.draw.one_in(3));
    for _ in 0..made.draw.of(&[1, 0, 0, 1, 2, 0]) {
        let depth = 1 + made.draw.below(2);
        parts.push(made.condition(depth));
    }
    // In another order than joins first, now and then.
    if made.draw.one_in(3) {
        parts.reverse();
    }
    let text =
        if parts.is_empty() { String::new() } else { format!(" where {}", parts.join(" and ")) };
    (text, std::mem::take(&mut made.may_fail))
}

fn retrieve(draw: &mut Draw<'_>, relations: &[Relation]) -> Command {
    let variables = variables(draw, relations, &[1, 1, 2, 2, 2, 3, 3, 4, 0], PRODUCT_MAX);
    let is_unique = draw.one_in(4);
    let into = draw.one_in(4).then(|| draw.of(&["x", "x", "y", "r0"]));
    let mut made = expressions(draw, &variables, relations);
    let ranges = declared(&variables) + &declared(made.inner.as_slice());
    let all =
        (!variables.is_empty() && made.draw.one_in(4)).then(|| made.draw.below(variables.len()));
    let (targets, attributes) = targets(&mut made, into.is_some());
    let (filter, may_fail_in_conditions) = qualification(&mut made, into.is_none());
    let unique = if is_unique { "unique " } else { "" };
    let rows = variables.iter().map(|one| one.relation.rows.max(1)).product::<u64>();
    let all = all.filter(|_| into.is_none());
    let all = all.map_or(String::new(), |at| format!("{}.all, ", variables[at].name));
    let destination = into.map_or(String::new(), |name| format!("into {name} "));
    let text = format!("{ranges}retrieve {unique}{destination}({all}{targets}){filter}");
    let made = |name: &str| Effect::Made(Relation { name: name.to_owned(), attributes, rows });
    let effect = into.map_or(Effect::None, made);
    Command { text, may_fail_in_conditions, effect }
}

/// A list of targets with names, and the attributes that they make.
fn targets(made: &mut Expressions<'_, '_, '_>, is_kept: bool) -> (String, Vec<Attribute>) {
    made.aggregates_left = made.draw.below(3);
    made.may_fail = made.draw.one_in(3);
    let (mut texts, mut attributes) = (Vec::new(), Vec::new());
    if is_kept {
        // Relations have a key, as the others do.
        let (text, bits) = made.integer(0);
        texts.push(format!("k = {text}"));
        attributes.push(Attribute { name: "k".to_owned(), form: Form::Integer { bits }, bytes: 0 });
    }
    for at in 0..=made.draw.below(4) {
        let depth = made.draw.below(3);
        let Value { text, form } = made.value(depth);
        texts.push(format!("x{at} = {text}"));
        attributes.push(Attribute { name: format!("x{at}"), form, bytes: 0 });
    }
    made.may_fail = false;
    (texts.join(", "), attributes)
}

/// New values for some of a relation's attributes.
fn assignments(made: &mut Expressions<'_, '_, '_>, relation: &Relation) -> String {
    made.may_fail = made.draw.one_in(3);
    made.aggregates_left = usize::from(made.draw.one_in(3));
    let first = made.draw.below(relation.attributes.len());
    let count = 1 + made.draw.below(3);
    let chosen = relation.attributes.iter().cycle().skip(first);
    let chosen = chosen.take(count.min(relation.attributes.len()));
    let list = chosen.map(|one| {
        let value = match one.form {
            Form::Integer { bits } => {
                let (text, of) = made.integer(2);
                // Now and then a value that may not fit the attribute's type.
                if of <= bits || one.bytes > 0 && made.draw.one_in(12) {
                    text
                } else {
                    format!("mod({text}, 100)")
                }
            }
            Form::Real { is_exact: true } => match made.real(1) {
                (text, true) => text,
                (_, false) => format!("{}.75", made.draw.below(50)),
            },
            Form::Real { is_exact: false } => made.real(1).0,
            Form::Text => made.text(),
        };
        format!("{} = {value}", one.name)
    });
    let list = list.collect::<Vec<_>>().join(", ");
    made.may_fail = false;
    list
}

fn append(draw: &mut Draw<'_>, relations: &[Relation]) -> Command {
    let into = &relations[draw.below(relations.len())];
    let variables = variables(draw, relations, &[0, 1, 1, 2], APPENDED_MAX);
    let rows = variables.iter().map(|one| one.relation.rows.max(1)).product::<u64>();
    let is_many = rows > APPENDED_MAX;
    let mut made = expressions(draw, &variables, relations);
    let ranges = declared(&variables) + &declared(made.inner.as_slice());
    let list = assignments(&mut made, into);
    let (mut filter, _) = qualification(&mut made, false);
    if is_many {
        let first = &variables[0].name;
        let bound = format!("{first}.k < 100");
        filter = if filter.is_empty() {
            format!(" where {bound}")
        } else {
            format!("{filter} and {bound}")
        };
    }
    let text = format!("{ranges}append to {} ({list}){filter}", into.name);
    let effect = Effect::Changed { name: into.name.clone(), more_rows: rows };
    Command { text, may_fail_in_conditions: false, effect }
}

fn replace(draw: &mut Draw<'_>, relations: &[Relation]) -> Command {
    let variables = variables(draw, relations, &[1, 1, 2, 3], PRODUCT_MAX);
    let mut made = expressions(draw, &variables, relations);
    let ranges = declared(&variables) + &declared(made.inner.as_slice());
    let relation = variables[0].relation;
    if made.draw.one_in(2) {
        // Values of the tuple itself are the same however often it qualifies.
        made.variables.truncate(1);
    }
    let list = assignments(&mut made, relation);
    made.variables.clone_from(&variables);
    let (filter, _) = qualification(&mut made, false);
    let text = format!("{ranges}replace {} ({list}){filter}", variables[0].name);
    let effect = Effect::Changed { name: relation.name.clone(), more_rows: 0 };
    Command { text, may_fail_in_conditions: false, effect }
}

fn delete(draw: &mut Draw<'_>, relations: &[Relation]) -> Command {
    let variables = variables(draw, relations, &[1, 1, 2, 3], PRODUCT_MAX);
    let mut made = expressions(draw, &variables, relations);
    let ranges = declared(&variables) + &declared(made.inner.as_slice());
    let (filter, _) = qualification(&mut made, false);
    let relation = variables[0].relation;
    let text = format!("{ranges}delete {}{filter}", variables[0].name);
    let effect = Effect::Changed { name: relation.name.clone(), more_rows: 0 };
    Command { text, may_fail_in_conditions: false, effect }
}

fn structure(draw: &mut Draw<'_>, relations: &[Relation]) -> Command {
    let relation = &relations[draw.below(relations.len())];
    let (name, attributes) = (&relation.name, &relation.attributes);
    let attribute = attributes[draw.below(attributes.len())].name.clone();
    let mut effect = Effect::Stored { name: name.clone(), unique: None };
    let text = match draw.below(8) {
        0 | 1 => format!("create nonclustered index on {name} ({attribute})"),
        2 => format!("modify {name} to isam on {attribute}"),
        3 => format!("modify {name} to hash on {attribute}"),
        4 => format!("modify {name} to heap"),
        5 => format!("create clustered index on {name} ({attribute}, k)"),
        6 => {
            effect = Effect::Stored { name: name.clone(), unique: Some(attribute.clone()) };
            format!("create unique index on {name} ({attribute})")
        }
        _ if relations.len() > 1 => {
            effect = Effect::Gone(name.clone());
            format!("destroy {name}")
        }
        _ => format!("modify {name} to btree on k"),
    };
    Command { text, may_fail_in_conditions: false, effect }
}
