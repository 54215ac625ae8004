//! The database, and the tactics it is opened with.

use std::sync::Arc;

use lode::tactics::{self, Tactics as LodeTactics};

use super::failure::Result as Filled;
use super::loading::Loading;
use super::place::Place;
use crate::error::ClientError;
use crate::lode::ENGINE;
use crate::tactics::{Address, Tactics};

/// As every engine of the lab has it.
const CACHE_DEFAULT_BYTES: &str = "268435456";

/// In which pieces its memory comes: `hugepages` says which are wanted, the volume's length whether
/// they can be.
const HUGE: &str = "pieces of 2 MiB";
const SMALL: &str = "pages of 4 KiB";

/// A database that is open.
pub struct Store<P> {
    address: String,
    chosen: LodeTactics,
    database: Option<Arc<P>>,
}

impl<P: Place> Store<P> {
    /// Open what is there.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, ClientError> {
        let mut chosen = LodeTactics::default();
        let failed = |error| ClientError::engine(ENGINE, "choosing its tactics", error);
        for tactic in tactics::all() {
            let value = tactics.take_text(tactic.name);
            let default = (tactic.name == "cache").then(|| CACHE_DEFAULT_BYTES.to_owned());
            if let Some(value) = value.or(default) {
                chosen.set(tactic.name, &value).map_err(failed)?;
            }
        }
        let mut store = Self { address: address.database.clone(), chosen, database: None };
        store.open_again()?;
        Ok(store)
    }

    /// The same for another thread.
    pub fn another(&self) -> Result<Self, ClientError> {
        let database = Some(Arc::clone(self.database()?));
        Ok(Self { address: self.address.clone(), chosen: self.chosen, database })
    }

    /// Open what is there now.
    fn open_again(&mut self) -> Result<(), ClientError> {
        self.database = Some(Arc::new(P::open(&self.address, &self.chosen)?));
        Ok(())
    }

    /// A new database in place of what is there, filled with some `parts` records, and open.
    pub fn load<T>(
        &mut self,
        parts: u64,
        fill: impl FnOnce(&mut Loading<'_>) -> Filled<T>,
    ) -> Result<T, ClientError> {
        let filled = P::load(&self.address, &self.chosen, &mut self.database, parts, fill)?;
        self.open_again()?;
        Ok(filled)
    }

    /// Of both files.
    pub fn size_bytes(&self) -> Result<u64, ClientError> {
        P::size_bytes(&self.address)
    }

    pub fn database(&self) -> Result<&Arc<P>, ClientError> {
        let message = "its load failed: load it again";
        self.database.as_ref().ok_or_else(|| ClientError::engine(ENGINE, "using it", message))
    }

    /// Each tactic as the engine has it now, and what holds for all.
    pub fn terms(&self, access: &str) -> Result<Vec<(String, String)>, ClientError> {
        let database = self.database()?;
        let own = [
            ("version", concat!("lode ", env!("CARGO_PKG_VERSION"))),
            ("isolation", "serializable"),
            ("parallelism", "1"),
            (tactics::place().name, P::NAME),
            ("memory behind the cache", if database.is_huge() { HUGE } else { SMALL }),
            ("design", access),
            ("read transaction", "one measure: two-phase locks"),
            ("empty statement", "a look at a page, nothing taken"),
            ("constant", "the number of files in the catalog"),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let set = database.tactics().pairs();
        Ok(own.into_iter().chain(set.into_iter().map(|(name, it)| (name.to_owned(), it))).collect())
    }
}
