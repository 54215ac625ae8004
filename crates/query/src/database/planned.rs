//! The plans that were made of a text: kept, so that running it again makes none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::SchemaRef;
use loadstone_quel::check::resolved::Type;

use super::Statement;
use super::arrow::schema_of;
use crate::catalog::{Catalog, RelationInfo};
use crate::execution::Parameter;
use crate::plan::{Plan, Sink};
use crate::tuple::Layout;

/// Plans that are kept of one text; those of the papers have seven commands at most.
pub(super) const PLANS_MAX: usize = 64;

/// The plan of a command, and the form of its rows.
#[derive(Debug)]
pub(super) struct Planned {
    pub plan: Plan,
    pub form: Arc<Form>,
}

/// The form of rows for the client; without fields where there are none.
#[derive(Debug)]
pub(super) struct Form {
    pub layout: Layout,
    pub schema: SchemaRef,
}

impl Planned {
    pub fn new(plan: Plan) -> Self {
        let layout = match plan.pipelines.last().map(|pipeline| &pipeline.sink) {
            Some(Sink::Rows(pack)) => pack.layout.clone(),
            _ => Layout::default(),
        };
        Self { plan, form: Arc::new(Form::of(layout)) }
    }
}

impl Form {
    /// Of tuples with that layout.
    pub fn of(layout: Layout) -> Self {
        let schema = schema_of(&layout);
        Self { layout, schema }
    }
}

/// An open database, among all of the process: its tactics never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opened(u64);

impl Opened {
    /// One more.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The names that a command may mean a relation by.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// The words of a command, and what those mean that are range variables.
    pub fn of(command: &str, ranges: &BTreeMap<String, String>) -> Self {
        let words = command.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let words = words.filter(|word| !word.is_empty() && !word.starts_with(char::is_numeric));
        let mut names: BTreeSet<_> = words.map(str::to_lowercase).collect();
        let meant: Vec<_> = names.iter().filter_map(|name| ranges.get(name)).cloned().collect();
        names.extend(meant);
        Self(names)
    }

    #[cfg(test)]
    pub fn all(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }

    /// The catalog's facts about each: structures, indexes, statistics, numbers of tuples. Of other
    /// relations a plan does not know, and they may come and go.
    fn meant(&self, catalog: &Catalog) -> Meant {
        self.0.iter().filter_map(|name| catalog.relation(name)).cloned().collect()
    }
}

/// The relations that there are of some names, in the order of these.
type Meant = Arc<[Arc<RelationInfo>]>;

/// Whether the same is said of each relation, and of no other.
fn are_same(one: &Meant, other: &Meant) -> bool {
    one.len() == other.len()
        && one.iter().zip(&**other).all(|(one, other)| Arc::ptr_eq(one, other) || one == other)
}

/// The facts from which the plan of a text's command follows, beside the text.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    /// The command's number in the text.
    pub command: usize,
    /// The types of the parameters.
    pub types: Vec<Type>,
    database: Opened,
    /// The catalog's facts at the text's beginning, against which it was checked.
    begun: Meant,
    /// Its facts when the command was planned.
    planned: Meant,
}

impl Ground {
    pub fn new(
        command: usize,
        parameters: &[Parameter],
        (database, statement): (Opened, &Statement),
        (at_begin, now): (&Arc<Catalog>, &Arc<Catalog>),
    ) -> Self {
        let types = parameters.iter().map(Parameter::kind).collect();
        let names = &statement.names[command];
        let begun = names.meant(at_begin);
        let is_same = Arc::ptr_eq(at_begin, now);
        let planned = if is_same { Arc::clone(&begun) } else { names.meant(now) };
        Self { command, types, database, begun, planned }
    }

    /// Whether the same is asked of the same database, whatever its catalog says.
    fn is_of_same(&self, other: &Self) -> bool {
        (self.command, self.database) == (other.command, other.database)
            && self.types == other.types
    }

    fn is_same(&self, other: &Self) -> bool {
        self.is_of_same(other)
            && are_same(&self.begun, &other.begun)
            && are_same(&self.planned, &other.planned)
    }
}

/// The plans of one text's commands.
#[derive(Debug, Default)]
pub(super) struct Plans(Mutex<Vec<(Ground, Arc<Planned>)>>);

impl Plans {
    /// The plan that was made on the same ground.
    pub fn find(&self, ground: &Ground) -> Option<Arc<Planned>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| known.is_same(ground))?;
        Some(Arc::clone(&found.1))
    }

    /// Keep plans of a text of which every command was found right, in the place of those that
    /// were made of the same before.
    pub fn keep(&self, made: Vec<(Ground, Arc<Planned>)>) {
        if made.is_empty() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| !made.iter().any(|(ground, _)| ground.is_of_same(known)));
        kept.extend(made);
        let beyond = kept.len().saturating_sub(PLANS_MAX);
        kept.drain(..beyond);
    }
}
