//! The oracle: evaluates programs over generated relations, plainly. Equalities between two
//! variables are looked up in a hash index; everything else is tried row by row.
//!
//! It is not an engine: it plans nothing, stores nothing, and shares no code with one. Its own
//! relations never change; what a program's statements change is seen by the program's later
//! statements only.

mod aggregate;
mod change;
mod generated;
mod keys;
mod search;
mod table;
mod terms;

use crate::answer::{Answer, RowEncoder};
use crate::check::Checker;
use crate::check::resolved::{Action, Scope, Step, Term};
use crate::error::{Fault, QuelError};
use crate::parser::parse;
use crate::schema::Catalogue;
use crate::tree::{Span, Statement};
use crate::value::OwnedValue;
use loadstone_datasets::{Relation, Source, read_all};
use search::{Meter, Search, Seen};
use std::collections::BTreeMap;
use std::sync::Arc;
use table::{Data, Table};
use terms::Frame;

/// Rows or combinations of rows that one statement may look at, before the oracle gives up: a
/// product of two large relations would take days.
pub const COMBINATIONS_MAX: u64 = 200_000_000;

/// Values that one statement may hold in memory: groups, distinct rows, results of a
/// `retrieve into`.
pub const VALUES_HELD_MAX: u64 = 50_000_000;

/// Rows that a relation may have here: row numbers are 32 bits wide.
pub const ROWS_MAX: usize = u32::MAX as usize - 1;

/// Bytes of a generated relation that are kept. A larger one is generated again, in part, for each
/// answer: of 10^7 tuples of 100 bytes an answer looks at a few attributes.
pub const KEPT_BYTES_MAX: u64 = 256 << 20;

/// Relations by name, and the answers of programs over them.
#[derive(Debug)]
pub struct Oracle {
    relations: Relations,
    combinations_max: u64,
    kept_bytes_max: u64,
}

impl Default for Oracle {
    fn default() -> Self {
        Self {
            relations: Relations::new(),
            combinations_max: COMBINATIONS_MAX,
            kept_bytes_max: KEPT_BYTES_MAX,
        }
    }
}

type Relations = BTreeMap<String, Arc<Table>>;

type Evaluated<T> = Result<T, Fault>;

impl Oracle {
    /// An oracle that knows no relation.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same oracle, giving up after so many combinations of rows in one statement.
    #[must_use]
    pub fn with_combinations_max(self, combinations_max: u64) -> Self {
        Self { combinations_max, ..self }
    }

    /// The same oracle, which generates larger relations again.
    #[must_use]
    pub fn with_kept_bytes_max(self, kept_bytes_max: u64) -> Self {
        Self { kept_bytes_max, ..self }
    }

    /// Know a generated relation by this name; a relation of that name is replaced. It is kept in
    /// memory where it takes `KEPT_BYTES_MAX` at most.
    ///
    /// # Panics
    /// Where the relation has more than `ROWS_MAX` rows.
    pub fn open(&mut self, source: Arc<dyn Source>, name: &str) {
        let widths = source.attributes().iter().map(|one| one.kind.width_bytes() as u64);
        if source.rows() * widths.sum::<u64>() <= self.kept_bytes_max {
            return self.add(Relation { name: name.to_owned(), ..read_all(&source) });
        }
        assert!(source.rows() <= ROWS_MAX as u64, "row numbers are 32 bits wide");
        self.relations.insert(name.to_ascii_lowercase(), Arc::new(Table::again(source)));
    }

    /// Keep a relation under its name; a relation of that name is replaced.
    ///
    /// # Panics
    /// Where the relation has more than `ROWS_MAX` rows.
    pub fn add(&mut self, relation: Relation) {
        assert!(relation.rows() <= ROWS_MAX, "row numbers are 32 bits wide");
        let name = relation.name.to_ascii_lowercase();
        self.relations.insert(name, Arc::new(Table::of(relation)));
    }

    /// Rows and checksum of a relation as it was added; None where there is none.
    pub fn contents(&self, name: &str) -> Option<Answer> {
        Some(self.relations.get(&name.to_ascii_lowercase())?.contents())
    }

    /// The names of the relations.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.relations.keys().map(String::as_str)
    }

    /// The expected answer of a program: rows and checksum of its last `retrieve`; or, where an
    /// append, replace or delete comes last, the tuples changed and the checksum of the whole
    /// relation afterwards.
    pub fn answer(&self, source: &str) -> Result<Answer, QuelError> {
        let program = parse(source)?;
        let mut checker = Checker::new(catalogue(&self.relations));
        let mut steps = Vec::new();
        for statement in &program {
            steps.push(checker.statement(statement).map_err(|fault| fault.meaning(source))?);
        }
        let Some(last) = program.iter().rposition(asks) else {
            let fault = Fault::new(Span { start: 0, end: 0 }, "the program has no query")
                .expecting("expected a retrieve, append, replace or delete");
            return Err(fault.meaning(source));
        };
        let mut relations = self.relations.clone();
        let mut answer = Answer::default();
        for (number, step) in steps.iter().enumerate().take(last + 1) {
            // A result that no later statement can see is counted, not kept.
            let keep = number < last;
            let mut meter = Meter::new(self.combinations_max);
            let result = evaluate(step, &mut relations, &mut meter, keep);
            answer =
                result.map_err(|fault| fault.or_at(program[number].span()).evaluation(source))?;
        }
        Ok(answer)
    }
}

fn asks(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Retrieve { .. }
            | Statement::Append { .. }
            | Statement::Replace { .. }
            | Statement::Delete { .. }
    )
}

fn catalogue(relations: &Relations) -> Catalogue {
    relations.iter().map(|(name, table)| (name.clone(), table.attributes.clone())).collect()
}

fn table(relations: &Relations, name: &str) -> Arc<Table> {
    Arc::clone(relations.get(name).expect("the check knows every relation that there is"))
}

fn evaluate(
    step: &Step,
    relations: &mut Relations,
    meter: &mut Meter,
    keep: bool,
) -> Evaluated<Answer> {
    match &step.action {
        Action::Nothing => {}
        Action::Create { relation } => {
            let empty = Table::empty(step.schema.clone());
            relations.insert(relation.clone(), Arc::new(empty));
        }
        Action::Destroy { relations: names } => {
            for name in names {
                relations.remove(name);
            }
        }
        Action::Retrieve { unique, into, terms } => {
            let mut columns = (keep && into.is_some()).then(|| vec![Vec::new(); terms.len()]);
            let answer = retrieve(step, relations, meter, (*unique, terms), columns.as_mut())?;
            let made = columns.map(|columns| {
                let data = columns.into_iter().map(Data::Values).collect();
                Table::new(step.schema.clone(), data, answer.rows as usize)
            });
            if let (Some(name), Some(made)) = (into, made) {
                relations.insert(name.clone(), Arc::new(made));
            }
            return Ok(answer);
        }
        Action::Append { relation, .. }
        | Action::Replace { relation, .. }
        | Action::Delete { relation, .. } => {
            let base = table(relations, relation);
            let (answer, changes) = change::changes(step, relations, &base, meter)?;
            if keep {
                relations.insert(relation.clone(), Arc::new(changes.made_in(&base)));
            }
            return Ok(answer);
        }
    }
    Ok(Answer::default())
}

/// The rows of a `retrieve`; `held` receives their values where a later statement wants them.
fn retrieve(
    step: &Step,
    relations: &Relations,
    meter: &mut Meter,
    (unique, terms): (bool, &[Term]),
    mut held: Option<&mut Vec<Vec<OwnedValue>>>,
) -> Evaluated<Answer> {
    let frame = prepare(step, relations, meter)?;
    let mut answer = Answer::default();
    let mut row_bytes = RowEncoder::default();
    let mut seen = Seen::default();
    search(&frame, &step.scope, meter, &mut |rows, meter| {
        if unique {
            for term in terms {
                frame.value(term, rows)?.encode_exactly(&mut row_bytes);
            }
            if !seen.insert(row_bytes.finish_key(), meter)? {
                return Ok(());
            }
        }
        for term in terms {
            frame.value(term, rows)?.encode(&mut row_bytes);
        }
        answer.add(row_bytes.finish_row());
        for (column, term) in held.iter_mut().flat_map(|held| held.iter_mut()).zip(terms) {
            meter.hold()?;
            column.push(frame.value(term, rows)?.to_owned());
        }
        Ok(())
    })?;
    Ok(answer)
}

/// The relations of a statement's slots, and the values of its aggregates.
fn prepare<'a>(step: &'a Step, relations: &Relations, meter: &mut Meter) -> Evaluated<Frame<'a>> {
    let mut frame = Frame::new(step, relations);
    frame.keep(step);
    for partition in &step.partitions {
        let groups = aggregate::groups(&frame, partition, meter)?;
        frame.groups.push(groups);
    }
    for one in &step.aggregates {
        let values = aggregate::values(&frame, one, meter)?;
        frame.aggregates.push(values);
    }
    Ok(frame)
}

/// Calls `each` with every combination of rows that fulfils the scope's conditions.
fn search(
    frame: &Frame<'_>,
    scope: &Scope,
    meter: &mut Meter,
    each: &mut search::Each<'_>,
) -> Evaluated<()> {
    match Search::new(frame, scope.slots, &scope.conditions, meter)? {
        Some(search) => search.run(meter, each),
        None => Ok(()),
    }
}
