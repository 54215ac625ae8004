//! A database of lode that is asked in QUEL.

pub mod arrow;
mod cancel;
mod checking;
mod counted;
mod definition;
mod planned;
mod rows;
mod running;
mod statement;
mod stripes;
#[cfg(test)]
mod tests;
mod texts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use loadstone_quel::schema::Attribute;

use crate::catalog::{self, CatalogCache, RelationInfo};
use crate::counters::Work;
use crate::error::{QueryError, Result};
use crate::execution::Parameter;
use crate::memory::Memory;
use crate::phases::{Lap, Phases};
use crate::relation::{Design, Loader, NewStructure, settle};
use crate::tactics::{Tactics, Texts};
use crate::tuple::Layout;

pub use counted::Counted;
#[cfg(test)]
pub(crate) use rows::PLANTED_PANIC;
pub use rows::{Outcome, Rows};
pub use statement::Statement;

/// An open database, for all threads. Each text is one transaction.
///
/// ```
/// use lode_query::database::Database;
/// use lode_query::tactics::Tactics;
///
/// # fn run(path: &std::path::Path) -> Result<(), lode_query::QueryError> {
/// let database = Database::create(path, &Tactics::of([("join", "hash")])?)?;
/// database.execute("create parts (number = i4, name = c12)", &[])?;
/// database.execute("append to parts (number = 7, name = \"wheel\")", &[])?;
/// let text = "range of p is parts retrieve (p.name) where p.number = $1";
/// let rows = database.query(text, &[lode_query::execution::Parameter::Integer(7)])?;
/// assert_eq!(rows.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 1);
/// database.close()
/// # }
/// # let folder = tempfile::tempdir().expect("a folder for the example");
/// # run(&folder.path().join("parts.lode")).expect("it works");
/// ```
pub struct Database {
    storage: lode::Database,
    tactics: Tactics,
    /// The memory that all statements together may have.
    memory: Memory,
    /// The place where the rest goes.
    spill_folder: PathBuf,
    running: cancel::Running,
    done: running::Done,
    /// The relations, as they were read last.
    catalog: CatalogCache,
    /// The texts that it was given last.
    texts: texts::Texts,
    opened: planned::Opened,
}

/// The way in which a relation that is loaded is to be stored.
#[derive(Debug, Clone, Default)]
pub struct Storage {
    /// `heap`, `clustered` or `hash`.
    pub organisation: String,
    /// The attributes that it is organised on, most significant first.
    pub key: Vec<String>,
    /// The attributes with an index of their own.
    pub indexes: Vec<String>,
}

impl Database {
    /// Make a database, where there is no file of that name.
    pub fn create(path: &Path, tactics: &Tactics) -> Result<Self> {
        Ok(Self::beside(path, lode::Database::create(path, &tactics.storage)?, tactics))
    }

    /// Open one.
    pub fn open(path: &Path, tactics: &Tactics) -> Result<Self> {
        Ok(Self::beside(path, lode::Database::open(path, &tactics.storage)?, tactics))
    }

    /// Open one to read it, beside other processes that do.
    pub fn open_read_only(path: &Path, tactics: &Tactics) -> Result<Self> {
        Ok(Self::beside(path, lode::Database::open_read_only(path, &tactics.storage)?, tactics))
    }

    fn beside(path: &Path, storage: lode::Database, tactics: &Tactics) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let spill_folder = folder.unwrap_or(Path::new(".")).to_owned();
        Self { spill_folder, ..Self::over(storage, tactics) }
    }

    /// Ask one that is open. What does not fit into its memory goes to the system's folder for
    /// temporary files.
    pub fn over(storage: lode::Database, tactics: &Tactics) -> Self {
        // The tactics that the storage was created with count, whatever was asked.
        let tactics = Tactics { storage: *storage.tactics(), ..*tactics };
        Self {
            tactics,
            memory: tactics.memory.budget(&storage),
            spill_folder: std::env::temp_dir(),
            running: cancel::Running::default(),
            done: running::Done::default(),
            catalog: CatalogCache::default(),
            texts: texts::Texts::default(),
            opened: planned::Opened::new(),
            storage,
        }
    }

    /// The storage, for transactions and files of one's own.
    pub fn storage(&self) -> &lode::Database {
        &self.storage
    }

    /// The storage alone.
    pub fn into_storage(self) -> lode::Database {
        self.storage
    }

    /// The tactics in force.
    pub fn tactics(&self) -> &Tactics {
        &self.tactics
    }

    /// Write everything to its place and close the files.
    pub fn close(self) -> Result<()> {
        Ok(self.storage.close()?)
    }

    /// A text, read. Of the last 256 texts it is known what they came to, unless `statement=text`.
    ///
    /// # Errors
    ///
    /// As of [`Statement::new`]; [`QueryError::Memory`] for a text that is too long for the memory
    /// budget.
    pub fn statement(&self, text: &str) -> Result<Arc<Statement>> {
        let mut lap = Lap::begin();
        let _memory = self.text_memory(text)?;
        let statement = match self.tactics.statement {
            Texts::Kept => self.texts.statement(text),
            Texts::Text => Ok(Arc::new(Statement::new(text)?)),
        };
        self.done.took(&Phases { reading_ns: lap.end(), ..Phases::default() });
        statement
    }

    /// The rows of a text's last command, a `retrieve` to the client.
    ///
    /// A text that only retrieves runs in a transaction that only reads, for as long as the rows
    /// are read; any other has committed when this returns, and its rows must fit the memory
    /// budget.
    ///
    /// # Errors
    ///
    /// The error of the text, or of running it; then nothing of it is kept. A text whose last
    /// command gives no rows is an error.
    pub fn query(&self, text: &str, parameters: &[Parameter]) -> Result<Rows> {
        let statement = self.statement(text)?;
        if !statement.gives_rows() {
            let what = "the text gives no rows: its last command is no `retrieve` to the client";
            return Err(QueryError::Input { what: what.to_owned() });
        }
        match self.run(&statement, parameters)? {
            Outcome::Rows(rows) => Ok(rows),
            Outcome::Changed(..) => unreachable!("a statement that gives rows"),
        }
    }

    /// Run a text that gives no rows; the number of tuples that its last command stored or changed,
    /// None if that only defined something.
    ///
    /// # Errors
    ///
    /// As of [`Database::query`]; a text whose last command gives rows is an error.
    pub fn execute(&self, text: &str, parameters: &[Parameter]) -> Result<Option<u64>> {
        let statement = self.statement(text)?;
        if statement.gives_rows() {
            let what = "the rows of the text's last `retrieve` would be lost: query it";
            return Err(QueryError::Input { what: what.to_owned() });
        }
        match self.run(&statement, parameters)? {
            Outcome::Changed(tuples) => Ok(tuples),
            Outcome::Rows(..) => unreachable!("a statement that gives no rows"),
        }
    }

    /// End all statements that are running: each ends with [`QueryError::Cancelled`], and nothing
    /// of it is kept.
    pub fn cancel(&self) {
        self.running.cancel_all();
    }

    /// The memory that statements have, and the most that they ever had.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The work of all statements that have ended since it was opened, and the bytes that all
    /// transactions logged.
    ///
    /// # Errors
    ///
    /// In a child of the process that opened it.
    pub fn work(&self) -> Result<Work> {
        Ok(Work { log_bytes: self.storage.counters()?.log.record_bytes, ..self.done.work() })
    }

    /// The time of all statements that have ended, by phase.
    pub fn phases(&self) -> Phases {
        self.done.phases()
    }

    /// The relations, by name.
    pub fn relations(&self) -> Result<Vec<Arc<RelationInfo>>> {
        let (reading, _cancel) = self.begin_reading();
        Ok(self.catalog.read(&reading)?.relations().cloned().collect())
    }

    /// Make a relation of these rows in one transaction; one of the same name is replaced. Columns
    /// are taken by their positions. Returns how many rows it has.
    ///
    /// # Errors
    ///
    /// [`QueryError::Input`] for names that no text can say or that are given twice, no attributes
    /// at all, a design that does not fit them, and rows that do not; what reading the rows says.
    pub fn load(
        &self,
        name: &str,
        attributes: &[Attribute],
        storage: &Storage,
        rows: impl RecordBatchReader,
    ) -> Result<u64> {
        let fields = attributes.iter().map(|each| (each.name.clone(), each.kind, false));
        let layout = Layout::of(fields);
        different(attributes)?;
        let design = Design { layout: self.tactics.layout, ..design(&layout, storage)? };
        let (mut writing, cancel) = self.begin_writing();
        let rows = self.spilling(&cancel, |workspace| {
            let pages = &mut writing;
            let mut loader = Loader::new(pages, name, layout.clone(), design, workspace)?;
            for batch in rows {
                cancel.check()?;
                let batch = batch.map_err(|error| QueryError::Input { what: error.to_string() })?;
                let tuples = arrow::tuples_of(&layout, &batch)?;
                loader.add_many(pages, &tuples, batch.num_rows())?;
            }
            Ok(loader.finish(pages)?.rows)
        })?;
        writing.commit()?;
        Ok(rows)
    }

    /// Remove a relation, if there is one of that name; whether there was.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let (mut writing, _cancel) = self.begin_writing();
        let catalog = self.catalog.read(&writing)?;
        let Some(info) = catalog.relation(name) else { return Ok(false) };
        catalog::remove(&mut writing, info)?;
        writing.commit()?;
        Ok(true)
    }

    /// Gather statistics of relations, of all if none is named, from which `optimizer=cost` plans.
    ///
    /// # Errors
    ///
    /// [`QueryError::Input`] for a relation that there is not.
    pub fn settle(&self, names: &[&str]) -> Result<()> {
        let (mut writing, _cancel) = self.begin_writing();
        let catalog = self.catalog.read(&writing)?;
        let all: Vec<&str>;
        let names = if names.is_empty() {
            all = catalog.relations().map(|info| info.name.as_str()).collect();
            &all
        } else {
            names
        };
        for name in names {
            let Some(info) = catalog.relation(name) else {
                let what = format!("there is no relation `{name}`");
                return Err(QueryError::Input { what });
            };
            settle(&mut writing, &mut RelationInfo::clone(info))?;
        }
        Ok(writing.commit()?)
    }
}

/// No two attributes have one name. (What `retrieve into` stores may have several of one name.)
fn different(attributes: &[Attribute]) -> Result<()> {
    let mut names = std::collections::BTreeSet::new();
    match attributes.iter().find(|attribute| !names.insert(&attribute.name)) {
        None => Ok(()),
        Some(Attribute { name, .. }) => {
            let what = format!("there are two attributes `{name}`: give each a name of its own");
            Err(QueryError::Input { what })
        }
    }
}

fn design(layout: &Layout, storage: &Storage) -> Result<Design> {
    let position = |name: &String| {
        layout.position(name).ok_or_else(|| {
            let names: Vec<_> = layout.fields.iter().map(|field| field.name.as_str()).collect();
            let what = format!("no attribute `{name}`: there are {}", names.join(", "));
            QueryError::Input { what }
        })
    };
    let key = storage.key.iter().map(position).collect::<Result<Vec<_>>>()?;
    let structure = match storage.organisation.as_str() {
        "heap" | "" => NewStructure::Heap,
        "clustered" if !key.is_empty() => NewStructure::Clustered(key),
        "hash" if !key.is_empty() => NewStructure::Hash(key),
        organisation => {
            let what = format!(
                "no relation is stored as `{organisation}` without a key: there are heap, and \
                 clustered and hash on a key"
            );
            return Err(QueryError::Input { what });
        }
    };
    let index = |name| Ok((vec![position(name)?], false));
    let indexes = storage.indexes.iter().map(index).collect::<Result<_>>()?;
    Ok(Design { structure, indexes, ..Design::default() })
}
