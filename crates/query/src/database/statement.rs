//! A text of QUEL that has been read, ready to be run, once or many times.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadstone_quel::check::Checker;
use loadstone_quel::error::Fault;
use loadstone_quel::parse_placed;
use loadstone_quel::tree::{self, Span, Target};

use super::planned::{Names, Plans};
use crate::catalog::Catalog;
use crate::error::{QueryError, Result};
use crate::execution::Parameter;
use crate::execution::compiled::CodeCache;

/// A program: `range of` declarations and commands, run as one transaction. Its last command may
/// be a `retrieve` to the client.
#[derive(Debug, Clone)]
pub struct Statement {
    pub(super) text: Arc<str>,
    pub(super) program: Vec<tree::Statement>,
    /// The place of each in the text.
    places: Arc<[Span]>,
    /// Range variables that were declared before, with their relations.
    pub(super) ranges: BTreeMap<String, String>,
    /// The number of values that it takes.
    parameters: usize,
    /// The code that `execution=compiled` made of it, for as long as it or a copy is there.
    pub(super) code: Arc<CodeCache>,
    /// The plans that were made of it, for as long.
    pub(super) plans: Arc<Plans>,
    /// The names in a catalog on which each depends.
    pub(super) names: Arc<[Names]>,
}

impl Statement {
    /// Read a text.
    ///
    /// # Errors
    ///
    /// [`loadstone_quel::QuelError::Syntax`] where it is not QUEL, and
    /// [`loadstone_quel::QuelError::Meaning`] for rows that nobody would see: of a `retrieve` to
    /// the client before the last command.
    pub fn new(text: &str) -> Result<Self> {
        let program = parse_placed(text)?;
        let commands = program.iter().filter(|(command, _)| !is_silent(command));
        let unseen = commands.rev().skip(1).find(|(command, _)| is_client(command));
        if let Some((command, _)) = unseen {
            let fault = Fault::new(place(command), "the rows of this `retrieve` would be lost")
                .expecting("run it alone, or last, or let it retrieve into a relation");
            return Err(fault.meaning(text).into());
        }
        Ok(Self::of(text.into(), program))
    }

    /// The commands of a text one by one, each to be run as a transaction of its own, declarations
    /// of range variables among them. Errors point into the whole text.
    ///
    /// # Errors
    ///
    /// [`loadstone_quel::QuelError::Syntax`] where it is not QUEL.
    pub fn each(text: &str) -> Result<Vec<Self>> {
        let program = parse_placed(text)?;
        let text: Arc<str> = text.into();
        let commands = program.into_iter().filter(|(one, _)| !matches!(one, tree::Statement::Go));
        Ok(commands.map(|command| Self::of(Arc::clone(&text), vec![command])).collect())
    }

    fn of(text: Arc<str>, program: Vec<(tree::Statement, Span)>) -> Self {
        let (program, places): (Vec<_>, Vec<_>) = program.into_iter().unzip();
        let ranges = BTreeMap::new();
        let parameters = program.iter().map(tree::Statement::parameters).max().unwrap_or(0);
        let (code, plans, places) = (Arc::default(), Arc::default(), places.into());
        let names = Arc::default();
        Self { text, program, places, ranges, parameters, code, plans, names }.named()
    }

    /// Note the names on which each command depends: its own words, those of the declarations
    /// before it (of the last command also behind it), and the relations of its range variables. In
    /// time and memory linear in the text.
    fn named(mut self) -> Self {
        let mut ranges = self.ranges.clone();
        let last = self.program.iter().rposition(|command| !is_silent(command));
        let end = self.places.last().map_or(0, |place| place.end);
        let mut begun = None;
        let names = self.program.iter().zip(&*self.places).enumerate();
        let names = names.map(|(number, (command, place))| {
            let start = *begun.get_or_insert(place.start);
            if let tree::Statement::Range { variable, relation } = command {
                ranges.insert(variable.text.clone(), relation.text.clone());
            }
            if is_silent(command) {
                return Names::default();
            }
            begun = None;
            let end = if Some(number) == last { end } else { place.end };
            Names::of(&self.text[start..end], &ranges)
        });
        self.names = names.collect();
        self
    }

    /// The range variables that it declares, with their relations.
    pub fn declares(&self) -> BTreeMap<String, String> {
        let declared = self.program.iter().filter_map(|command| match command {
            tree::Statement::Range { variable, relation } => {
                Some((variable.text.clone(), relation.text.clone()))
            }
            _ => None,
        });
        declared.collect()
    }

    /// The same after these declarations: range variable to relation. Those of relations that
    /// there are no longer have no effect.
    #[must_use]
    pub fn with_ranges(mut self, ranges: BTreeMap<String, String>) -> Self {
        if self.ranges != ranges {
            self.ranges = ranges;
            // Its names may mean other relations now.
            self.plans = Arc::default();
            return self.named();
        }
        self
    }

    /// The program's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it gives rows to the client.
    pub fn gives_rows(&self) -> bool {
        self.program.iter().rev().find(|command| !is_silent(command)).is_some_and(is_client)
    }

    /// Whether it changes nothing.
    pub(super) fn only_reads(&self) -> bool {
        self.program.iter().all(|command| is_silent(command) || is_client(command))
    }

    /// Refuse more values than it takes. Of fewer, its first parameter without one is reported by
    /// what checks it.
    ///
    /// # Errors
    ///
    /// [`QueryError::Input`].
    pub(super) fn takes(&self, given: &[Parameter]) -> Result<()> {
        if given.len() <= self.parameters {
            return Ok(());
        }
        let what = match self.parameters {
            0 => {
                format!("{} given, and the text has no parameter: `$1` is one", count(given.len()))
            }
            takes => format!(
                "{} given, and the text takes {takes}: give one for each parameter, `$1` first",
                count(given.len())
            ),
        };
        Err(QueryError::Input { what })
    }

    /// The checker of its commands against a catalog.
    pub(super) fn checker(&self, catalog: &Catalog, parameters: &[Parameter]) -> Checker {
        let types = parameters.iter().map(Parameter::kind);
        let mut checker = Checker::with_parameters(catalog.quel_catalogue(), types.collect());
        for (variable, relation) in &self.ranges {
            checker.declare(variable, relation);
        }
        checker
    }
}

fn count(values: usize) -> String {
    if values == 1 { "1 value is".to_owned() } else { format!("{values} values are") }
}

/// Whether a command does nothing to relations and gives nothing.
pub(super) fn is_silent(command: &tree::Statement) -> bool {
    matches!(command, tree::Statement::Range { .. } | tree::Statement::Go)
}

fn is_client(command: &tree::Statement) -> bool {
    matches!(command, tree::Statement::Retrieve { into: None, .. })
}

/// The place where a command is shown.
fn place(command: &tree::Statement) -> Span {
    match command {
        tree::Statement::Retrieve { targets, .. } => match targets.first() {
            Some(Target::All { variable }) => variable.span,
            Some(Target::Named { name: Some(name), .. }) => name.span,
            Some(Target::Named { value, .. }) => value.span(),
            None => Span::default(),
        },
        _ => Span::default(),
    }
}
