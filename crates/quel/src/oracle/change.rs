//! Append, replace and delete: which tuples change, and the checksum afterwards. Since checksums
//! add up, only the changed tuples are read; the untouched relation is summed once.

use super::search::Meter;
use super::table::{Data, Table};
use super::terms::Frame;
use super::{Evaluated, Relations, prepare, search};
use crate::answer::{Answer, RowEncoder};
use crate::check::resolved::{Action, Step, Term};
use crate::equality::without_blanks;
use crate::error::Fault;
use crate::schema::Kind;
use crate::tree::Span;
use crate::value::{OwnedValue, Value};

/// The changes of one statement to one relation.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether the rows named are deleted.
    pub deletes: bool,
    /// The attributes that a replace sets; for an append, all.
    pub columns: Vec<usize>,
    /// For each row of the relation the position of its change in `values`, or `UNTOUCHED`.
    positions: Vec<u32>,
    /// The values stored, a row of `columns` after the other.
    values: Vec<OwnedValue>,
    /// Tuples appended, deleted or replaced.
    count: u64,
}

const UNTOUCHED: u32 = u32::MAX;

impl Changes {
    fn new(base: &Table, deletes: bool, columns: Vec<usize>) -> Self {
        let positions = vec![UNTOUCHED; base.rows];
        Self { deletes, columns, positions, ..Self::default() }
    }

    /// The values that a row of the relation gets; None where it is untouched.
    fn row(&self, row: usize) -> Option<&[OwnedValue]> {
        match self.positions.get(row) {
            None | Some(&UNTOUCHED) => None,
            Some(&position) => {
                let start = position as usize * self.columns.len();
                Some(&self.values[start..start + self.columns.len()])
            }
        }
    }

    /// The rows that an append adds.
    fn appended(&self) -> impl Iterator<Item = &[OwnedValue]> {
        let appends = self.positions.is_empty() && !self.columns.is_empty();
        let count = if appends { self.count as usize } else { 0 };
        (0..count).map(|number| {
            let start = number * self.columns.len();
            &self.values[start..start + self.columns.len()]
        })
    }

    /// A copy of the relation with them made.
    pub fn made_in(&self, base: &Table) -> Table {
        let mut columns = Vec::new();
        for (number, old) in base.columns.iter().enumerate() {
            let position = self.columns.iter().position(|column| *column == number);
            let mut values = Vec::with_capacity(base.rows);
            for row in 0..base.rows {
                let change = self.row(row);
                if self.deletes && change.is_some() {
                    continue;
                }
                values.push(match (change, position) {
                    (Some(change), Some(position)) => change[position].clone(),
                    _ => old.value(row).to_owned(),
                });
            }
            values.extend(self.appended().map(|row| row[number].clone()));
            columns.push(Data::Values(values));
        }
        let rows = match columns.first() {
            Some(Data::Values(values)) => values.len(),
            _ => 0,
        };
        Table::new(base.attributes.clone(), columns, rows)
    }
}

/// The tuples changed, the checksum of the relation afterwards, and the changes themselves.
pub(super) fn changes(
    step: &Step,
    relations: &Relations,
    base: &Table,
    meter: &mut Meter,
) -> Evaluated<(Answer, Changes)> {
    let frame = prepare(step, relations, meter)?;
    let mut whole = base.contents();
    let changes = match &step.action {
        Action::Append { terms, .. } => append(step, &frame, base, terms, &mut whole, meter),
        Action::Replace { slot, terms, .. } => {
            replace(step, &frame, base, (*slot, terms), &mut whole, meter)
        }
        Action::Delete { slot, .. } => delete(step, &frame, base, *slot, &mut whole, meter),
        _ => Ok(Changes::default()),
    }?;
    Ok((Answer { rows: changes.count, checksum: whole.checksum }, changes))
}

fn append(
    step: &Step,
    frame: &Frame<'_>,
    base: &Table,
    terms: &[Term],
    whole: &mut Answer,
    meter: &mut Meter,
) -> Evaluated<Changes> {
    let mut changes = Changes { columns: (0..terms.len()).collect(), ..Changes::default() };
    let mut bytes = RowEncoder::default();
    search(frame, &step.scope, meter, &mut |rows, meter| {
        for (term, attribute) in terms.iter().zip(&base.attributes) {
            let value = frame.value(term, rows)?;
            let value = storable(value, attribute.kind, &attribute.name, step.span)?;
            value.encode(&mut bytes);
            meter.hold()?;
            changes.values.push(value.to_owned());
        }
        whole.add(bytes.finish_row());
        changes.count += 1;
        Ok(())
    })?;
    Ok(changes)
}

fn delete(
    step: &Step,
    frame: &Frame<'_>,
    base: &Table,
    slot: usize,
    whole: &mut Answer,
    meter: &mut Meter,
) -> Evaluated<Changes> {
    let mut changes = Changes::new(base, true, Vec::new());
    let mut bytes = RowEncoder::default();
    search(frame, &step.scope, meter, &mut |rows, _| {
        let row = rows[slot] as usize;
        if changes.positions[row] == UNTOUCHED {
            changes.positions[row] = 0;
            changes.count += 1;
            whole.remove(base.row_checksum(row, &mut bytes));
        }
        Ok(())
    })?;
    Ok(changes)
}

fn replace(
    step: &Step,
    frame: &Frame<'_>,
    base: &Table,
    (slot, terms): (usize, &[(usize, Term)]),
    whole: &mut Answer,
    meter: &mut Meter,
) -> Evaluated<Changes> {
    let columns = terms.iter().map(|(column, _)| *column).collect();
    let mut changes = Changes::new(base, false, columns);
    search(frame, &step.scope, meter, &mut |rows, meter| {
        let row = rows[slot] as usize;
        let is_new = changes.positions[row] == UNTOUCHED;
        if is_new {
            changes.positions[row] = changes.count as u32;
            changes.count += 1;
        }
        for (number, (column, term)) in terms.iter().enumerate() {
            let attribute = &base.attributes[*column];
            let value = frame.value(term, rows)?;
            let value = storable(value, attribute.kind, &attribute.name, step.span)?.to_owned();
            if is_new {
                meter.hold()?;
                changes.values.push(value);
            } else if changes.row(row).is_none_or(|old| old[number] != value) {
                let message = format!("a tuple would get two values of `{}`", attribute.name);
                return Err(Fault::new(step.span, message)
                    .expecting("qualify the other range variables so that one tuple fits"));
            }
        }
        Ok(())
    })?;
    add_up(base, &changes, whole);
    Ok(changes)
}

/// Takes the old values of the changed rows out of the sum and puts the new ones in.
fn add_up(base: &Table, changes: &Changes, whole: &mut Answer) {
    let mut bytes = RowEncoder::default();
    for row in 0..base.rows {
        let Some(values) = changes.row(row) else { continue };
        whole.remove(base.row_checksum(row, &mut bytes));
        for (number, column) in base.columns.iter().enumerate() {
            match changes.columns.iter().position(|changed| *changed == number) {
                Some(position) => values[position].borrow().encode(&mut bytes),
                None => column.value(row).encode(&mut bytes),
            }
        }
        whole.add(bytes.finish_row());
    }
}

/// The value as the attribute holds it, or why it cannot.
fn storable<'v>(value: Value<'v>, kind: Kind, name: &str, span: Span) -> Evaluated<Value<'v>> {
    let too_large = |what: String, limit: String| {
        let message = format!("{what} does not fit into `{name}`");
        Err(Fault::new(span, message).expecting(limit))
    };
    match (value, kind) {
        (Value::Null, _) => Err(Fault::new(span, format!("`{name}` cannot hold a null"))
            .expecting("the aggregate of no tuples is null")),
        (Value::Integer(number), Kind::Integer { bytes }) => {
            let bits = 8 * bytes as u32 - 1;
            let largest = i64::MAX >> (63 - bits);
            if number > largest || number < -largest - 1 {
                let limit = format!("{bytes} bytes hold {} to {largest}", -largest - 1);
                return too_large(number.to_string(), limit);
            }
            Ok(value)
        }
        (Value::Text(text), Kind::Text { width }) => {
            let length = without_blanks(text).len();
            if length > width {
                let what = format!("a text of {length} bytes");
                return too_large(what, format!("it holds {width}"));
            }
            Ok(value)
        }
        (number, Kind::Real { bytes: 4 }) => {
            let narrow = f64::from(number.as_real() as f32);
            if narrow.is_finite() {
                return Ok(Value::Real(narrow));
            }
            too_large(format!("{}", number.as_real()), format!("at most {:e}", f32::MAX))
        }
        (number, Kind::Real { .. }) => Ok(Value::Real(number.as_real())),
        (other, _) => Ok(other),
    }
}
