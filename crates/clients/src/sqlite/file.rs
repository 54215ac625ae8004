//! A `SQLite` database file as both designs use it: opening, transactions, the ladder's rungs, and
//! what it says about itself.

use std::fs;
use std::io::ErrorKind;

use super::raw::{Connection, ENGINE, Statement, counts_memory, version};
use crate::error::ClientError;
use crate::outcome::Sent;
use crate::tactics::{self, Address, Tactics};

/// Pages kept by each connection: as many bytes as the other engines keep. `SQLite`'s own default
/// is 2 MB.
const CACHE_KIB: u32 = 262_144;

/// The tactics of a file.
#[derive(Debug, Clone)]
struct Choices {
    path: String,
    durable: bool,
    spans_measure: bool,
}

/// An open file. The statements stand before the connection, so that they go first.
pub struct File {
    begin: Statement,
    begin_write: Statement,
    commit: Statement,
    rollback: Statement,
    empty: Statement,
    constant: Statement,
    connection: Connection,
    choices: Choices,
    /// Whether a transaction was begun here and not ended.
    within: bool,
}

impl File {
    /// Open or create.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        Self::attach(Choices {
            path: address.database.clone(),
            durable: tactics.take("durability", &[("full", true), ("none", false)])?,
            spans_measure: tactics.take("transaction", &[("measure", true), ("call", false)])?,
        })
    }

    /// The same file once more, for another thread.
    pub fn another(&self) -> Result<Self, ClientError> {
        Self::attach(self.choices.clone())
    }

    fn attach(choices: Choices) -> Result<Self, ClientError> {
        let connection = Connection::open(&choices.path)?;
        let synchronous = if choices.durable { "full" } else { "off" };
        connection.run(&format!(
            "pragma journal_mode = wal; pragma synchronous = {synchronous}; \
             pragma cache_size = -{CACHE_KIB}"
        ))?;
        // With these statistics a build with STAT4 prepares a statement anew at each binding: four
        // times the cost of a traversal step, and nothing says so.
        if !connection.value("select 1 from sqlite_schema where name = 'sqlite_stat4'")?.is_empty()
        {
            let message = "it was analysed with STAT4; drop table sqlite_stat4, or load it again";
            return Err(ClientError::engine(ENGINE, "opening the database", message));
        }
        Ok(Self {
            begin: connection.prepare("begin")?,
            begin_write: connection.prepare("begin immediate")?,
            commit: connection.prepare("commit")?,
            rollback: connection.prepare("rollback")?,
            empty: connection.prepare("select 1 where false")?,
            constant: connection.prepare("select 1")?,
            connection,
            choices,
            within: false,
        })
    }

    /// An empty file in place of this one. All statements of the old one must be gone.
    pub fn replace(&mut self) -> Result<(), ClientError> {
        for ending in ["", "-wal", "-shm"] {
            let path = format!("{}{ending}", self.choices.path);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    let message = format!("{path}: {error}");
                    return Err(ClientError::engine(ENGINE, "removing the old database", message));
                }
                _ => {}
            }
        }
        *self = self.another()?;
        Ok(())
    }

    /// Fold the log into the file, so that the size is the database's.
    pub fn checkpoint(&self) -> Result<(), ClientError> {
        self.connection.rows("pragma wal_checkpoint(truncate)").map(|_| ())
    }

    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn begin(&mut self) -> Result<(), ClientError> {
        if !self.choices.spans_measure {
            return Ok(());
        }
        self.begin.finish()?;
        self.within = true;
        Ok(())
    }

    /// Whether one transaction is around all reads of a measure.
    pub const fn spans_measure(&self) -> bool {
        self.choices.spans_measure
    }

    /// Whether what a statement reads stays as it is until [`File::end`].
    #[inline]
    pub const fn within(&self) -> bool {
        self.within
    }

    pub fn end(&mut self) -> Result<(), ClientError> {
        self.within = false;
        if self.connection.in_transaction() { self.commit.finish() } else { Ok(()) }
    }

    pub fn begin_write(&mut self) -> Result<(), ClientError> {
        self.begin_write.finish()
    }

    pub fn commit(&mut self) -> Result<(), ClientError> {
        self.commit.finish()
    }

    pub fn rollback(&mut self) -> Result<(), ClientError> {
        if self.connection.in_transaction() { self.rollback.finish() } else { Ok(()) }
    }

    pub fn empty(&mut self) -> Result<(), ClientError> {
        self.empty.finish()
    }

    pub fn constant(&mut self) -> Result<i32, ClientError> {
        self.constant.step()?;
        let value = self.constant.short(0);
        self.constant.reset();
        Ok(value)
    }

    /// As `SQLite` counts.
    pub fn sent(&self) -> Sent {
        Sent { statements: self.connection.runs(), round_trips: None }
    }

    /// Of the file and its log.
    pub fn size_bytes(&self) -> u64 {
        let length = |ending| fs::metadata(format!("{}{ending}", self.choices.path));
        ["", "-wal"].into_iter().filter_map(|ending| length(ending).ok()).map(|it| it.len()).sum()
    }

    /// Read back from the connection, never from the tactics.
    pub fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError> {
        let mut terms = vec![("version".to_owned(), version())];
        for name in PRAGMAS {
            let value = self.connection.value(&format!("pragma {name}"))?;
            terms.push((name.to_owned(), value));
        }
        let options = "select compile_options from pragma_compile_options";
        let of = |name| format!("{options} where compile_options like '{name}%'");
        terms.push(("threadsafe".to_owned(), self.connection.value(&of("THREADSAFE"))?));
        let allocator = format!("{options} where compile_options like '%\\_MALLOC' escape '\\'");
        terms.push(("allocator".to_owned(), self.connection.value(&allocator)?));
        let armour = !self.connection.value(&of("ENABLE_API_ARMOR"))?.is_empty();
        let checks = match (armour, counts_memory()) {
            (true, true) => "API armour, memory statistics",
            (true, false) => "API armour",
            (false, true) => "memory statistics",
            (false, false) => "none",
        };
        terms.push(("checks at each call".to_owned(), checks.to_owned()));
        let stat4 = !self.connection.value(&of("ENABLE_STAT4"))?.is_empty();
        let statistics = "select count(*) from sqlite_schema where name like 'sqlite_stat%'";
        let tables = self.connection.value(statistics)?;
        let built = if stat4 { "STAT4 built in" } else { "no STAT4" };
        terms.push(("statistics".to_owned(), format!("{tables} tables, {built}")));
        let schema = "select group_concat(sql, '; ') from sqlite_schema where sql is not null";
        terms.push(("schema".to_owned(), self.connection.value(schema)?));
        terms.push(("indexes".to_owned(), self.connection.value(INDEXES)?));
        let access = self.connection.value(ACCESS)?;
        if !access.is_empty() {
            terms.push(("access".to_owned(), access));
        }
        self.begin()?;
        let within = self.connection.in_transaction();
        self.end()?;
        terms.push(("transaction".to_owned(), tactics::transaction(within).to_owned()));
        Ok(terms)
    }
}

/// The pragmas that are terms, as `PRAGMAS` of Python's `engines/sqlite/settings.py` has them for
/// statements.
const PRAGMAS: [&str; 13] = [
    "synchronous",
    "journal_mode",
    "cache_size",
    "page_size",
    "read_uncommitted",
    "threads",
    "wal_autocheckpoint",
    "mmap_size",
    "temp_store",
    "locking_mode",
    "auto_vacuum",
    "automatic_index",
    "encoding",
];

/// Every B-tree, by what it is ordered.
const INDEXES: &str = "select coalesce(group_concat(name || ' (' || columns || ')', ', '), 'none') \
     from (select tree.name as name, (select group_concat(coalesce(name, 'rowid'), ', ') \
     from pragma_index_info(tree.name)) as columns from sqlite_schema as tree \
     where tree.type = 'index' union all select name, case when sql like '%without rowid%' \
     then 'primary key' else 'rowid' end from sqlite_schema \
     where type = 'table' and name not like 'sqlite_%' order by 1)";

/// The design of the tables that are there; nothing of an empty file.
const ACCESS: &str = "select case when name = 'object' then 'objects' \
     when sql like '%without rowid%' then 'clustered' else 'rowid' end from sqlite_schema \
     where type = 'table' and name in ('object', 'connection')";

/// The error of a driver that is used before it is loaded.
pub fn not_loaded() -> ClientError {
    ClientError::engine(ENGINE, "using the database", "it is empty; load it first")
}
