//! The plans that were made of a text: kept, so that running it again makes none.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arrow_schema::SchemaRef;
use loadstone_quel::check::resolved::Type;

use super::arrow::schema_of;
use crate::catalog::Catalog;
use crate::execution::Parameter;
use crate::plan::{Plan, Sink};
use crate::tuple::Layout;

/// Plans that are kept of one text; those of the papers have seven commands at most.
const PLANS_MAX: usize = 64;

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
        let schema = schema_of(&layout);
        Self { plan, form: Arc::new(Form { layout, schema }) }
    }
}

/// What the plan of a text's command follows from, beside the text.
///
/// A catalog that is the same `Arc` says the same (relations, structures, indexes and statistics)
/// and belongs to the same open database, whose tactics never change.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    /// The command's number in the text.
    pub command: usize,
    /// The types of the parameters.
    pub types: Vec<Type>,
    /// The catalog at the text's beginning, against which it was checked.
    begun: Weak<Catalog>,
    /// The catalog when the command's turn came.
    planned: Weak<Catalog>,
}

impl Ground {
    pub fn new(
        command: usize,
        parameters: &[Parameter],
        begun: &Arc<Catalog>,
        planned: &Arc<Catalog>,
    ) -> Self {
        let types = parameters.iter().map(Parameter::kind).collect();
        Self { command, types, begun: Arc::downgrade(begun), planned: Arc::downgrade(planned) }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.command == other.command
            && self.types == other.types
            && Weak::ptr_eq(&self.begun, &other.begun)
            && Weak::ptr_eq(&self.planned, &other.planned)
    }

    /// Whether nothing can have it any more.
    fn is_gone(&self) -> bool {
        self.begun.strong_count() == 0 || self.planned.strong_count() == 0
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

    /// Keep plans of a text of which every command was found right.
    pub fn keep(&self, made: Vec<(Ground, Arc<Planned>)>) {
        if made.is_empty() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| !known.is_gone());
        kept.extend(made);
        let beyond = kept.len().saturating_sub(PLANS_MAX);
        kept.drain(..beyond);
    }
}
