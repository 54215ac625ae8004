//! A database that is open, shared by the objects of Python that ask it.

use std::sync::{Arc, Mutex, PoisonError};

use lode::internals::error::Result;
use lode::internals::owner::Owner;
use lode_query::QueryError;
use lode_query::database::Database;
use pyo3::prelude::*;

use super::error::{failure, over, query_failure};

const BUSY: &str = "a transaction of the database has not ended: end it before closing";

/// The error of asking a closed database.
pub fn closed() -> PyErr {
    over("the database is closed: open it again")
}

/// An open database, until it is closed.
pub struct Opened {
    owner: Owner,
    /// Each call that is under way has a share; None when closed.
    open: Mutex<Option<Arc<Database>>>,
}

impl Opened {
    /// In this process.
    pub fn new(database: Database) -> Self {
        Self { owner: Owner::here(), open: Mutex::new(Some(Arc::new(database))) }
    }

    /// Before any lock, ours and the database's: in a child of the process nobody may be there to
    /// release it.
    pub fn check_owner(&self) -> PyResult<()> {
        self.owner.check("the database").map_err(|error| failure(&error))
    }

    /// A share of it, for one call.
    pub fn database(&self, py: Python<'_>) -> PyResult<Arc<Database>> {
        self.check_owner()?;
        let open = py.detach(|| self.open.lock().unwrap_or_else(PoisonError::into_inner).clone());
        open.ok_or_else(closed)
    }

    /// Ask something that may wait.
    pub fn ask<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&lode::Database) -> Result<R> + Send,
    ) -> PyResult<R> {
        let database = self.database(py)?;
        py.detach(|| ask(database.storage())).map_err(|error| failure(&error))
    }

    /// Ask something of the query engine that may wait.
    pub fn ask_engine<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Database) -> std::result::Result<R, QueryError> + Send,
    ) -> PyResult<R> {
        let database = self.database(py)?;
        py.detach(|| ask(&database)).map_err(|error| query_failure(&error))
    }

    /// Take the database away from everybody, which needs that nobody has a transaction; None if
    /// it is closed already.
    pub fn take(&self, py: Python<'_>) -> PyResult<Option<Database>> {
        self.check_owner()?;
        py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if open.as_ref().is_some_and(|database| database.storage().is_in_use()) {
                return Err(over(BUSY));
            }
            open.take().map(Arc::try_unwrap).transpose().map_err(|shared| {
                *open = Some(shared);
                over(BUSY)
            })
        })
    }

    /// Give this share away, if it is this process's: the last transaction to go closes the files.
    pub fn let_go(&self, py: Python<'_>) {
        if self.owner.is_here() {
            py.detach(|| drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take()));
        }
    }
}
