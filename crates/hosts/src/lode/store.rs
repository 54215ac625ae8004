//! The files of a database, and the tactics they are opened with.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadstone_datasets::oo1::Database as Data;
use lode::Database;
use lode::tactics::{self, CheckpointBytes, Durability, Tactics as LodeTactics};

use super::ENGINE;
use super::design::Design;
use super::loading::Loading;
use crate::error::HostError;
use crate::tactics::{Address, Tactics};

/// As every engine of the lab has it.
const CACHE_DEFAULT_BYTES: &str = "268435456";

/// Log that a load writes before it puts pages in their places, for each part: little, so that the
/// log of a small database stays small.
const LOAD_LOG_BYTES: u64 = 64;
const LOAD_LOG_BYTES_MIN: u64 = 1 << 20;
const LOAD_LOG_BYTES_MAX: u64 = 16 << 20;

/// An open database.
pub struct Store {
    path: PathBuf,
    tactics: LodeTactics,
    database: Option<Arc<Database>>,
}

impl Store {
    /// Open what is there, or create it.
    pub fn open(address: &Address, tactics: &mut Tactics) -> Result<Self, HostError> {
        // A page server is another place; the client speaks to none yet.
        tactics.take("place", &[("embedded", ())])?;
        let mut chosen = LodeTactics::default();
        let failed = |error| HostError::engine(ENGINE, "choosing its tactics", error);
        for tactic in tactics::all() {
            let value = tactics.take_text(tactic.name);
            let default = (tactic.name == "cache").then(|| CACHE_DEFAULT_BYTES.to_owned());
            if let Some(value) = value.or(default) {
                chosen.set(tactic.name, &value).map_err(failed)?;
            }
        }
        let path = PathBuf::from(&address.database);
        let opened = if path.exists() {
            Database::open(&path, &chosen)
        } else {
            Database::create(&path, &chosen)
        };
        let opened = opened.map_err(|error| HostError::engine(ENGINE, "opening it", error))?;
        Ok(Self { path, tactics: chosen, database: Some(Arc::new(opened)) })
    }

    /// The same for another thread.
    pub fn another(&self) -> Result<Self, HostError> {
        let database = Some(Arc::clone(self.database()?));
        Ok(Self { path: self.path.clone(), tactics: self.tactics, database })
    }

    pub fn database(&self) -> Result<&Arc<Database>, HostError> {
        let message = "its load failed: load it again";
        self.database.as_ref().ok_or_else(|| HostError::engine(ENGINE, "using it", message))
    }

    /// A new database in place of this one, filled. It is durable at return and not before, so
    /// nothing waits for the device on the way.
    pub fn load<D: Design>(&mut self, data: &Data) -> Result<D, HostError> {
        let failed = |error| HostError::engine(ENGINE, "loading it", error);
        if let Some(before) = self.database.take() {
            let Some(before) = Arc::into_inner(before) else {
                return Err(HostError::engine(ENGINE, "loading it", "others have it open"));
            };
            before.abandon();
        }
        for path in [&self.path, &self.log_path()] {
            fs::remove_file(path)
                .map_err(|error| HostError::engine(ENGINE, "removing the old one", error))?;
        }
        let log_bytes = LOAD_LOG_BYTES * u64::from(data.parts);
        let checkpoint = CheckpointBytes(log_bytes.clamp(LOAD_LOG_BYTES_MIN, LOAD_LOG_BYTES_MAX));
        let tactics = LodeTactics { durability: Durability::None, checkpoint, ..self.tactics };
        let new = Database::create(&self.path, &tactics).map_err(failed)?;
        let design = {
            let mut loading = Loading::new(&new);
            let filled = D::load(&mut loading, data);
            filled.and_then(|design| loading.commit().map(|()| design))
        };
        let design = design.map_err(|failure| failure.told("loading it"))?;
        new.close().map_err(failed)?;
        let opened = Database::open(&self.path, &self.tactics).map_err(failed)?;
        self.database = Some(Arc::new(opened));
        Ok(design)
    }

    /// Of both files.
    pub fn size_bytes(&self) -> Result<u64, HostError> {
        let length = |path: &Path| fs::metadata(path).map(|it| it.len());
        let total = length(&self.path).and_then(|own| Ok(own + length(&self.log_path())?));
        total.map_err(|error| HostError::engine(ENGINE, "measuring the files", error))
    }

    /// Each tactic as the engine has it now, and what holds for all.
    pub fn terms(&self, access: &str) -> Result<Vec<(String, String)>, HostError> {
        let database = self.database()?;
        let own = [
            ("version", concat!("lode ", env!("CARGO_PKG_VERSION"))),
            ("isolation", "serializable"),
            ("parallelism", "1"),
            ("place", "embedded"),
            ("design", access),
            ("read transaction", "one measure: two-phase locks"),
            ("empty statement", "a look at a page, nothing taken"),
            ("constant", "the number of files in the catalog"),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let set = database.tactics().pairs();
        Ok(own.into_iter().chain(set.into_iter().map(|(name, it)| (name.to_owned(), it))).collect())
    }

    fn log_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push("-log");
        name.into()
    }
}
