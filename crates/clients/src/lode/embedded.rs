//! `place=embedded`: the program has the files open itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadstone_datasets::oo1::Database as Data;
use lode::tactics::{CheckpointBytes, Durability, Tactics};
use lode::{Database, LodeError, Reading, Writing};
use self_cell::self_cell;

use super::ENGINE;
use super::design::Design;
use super::loading::Loading;
use super::place::Place;
use crate::error::ClientError;

/// Log that a load writes before it puts pages in their places, for each part: little, so that the
/// log of a small database stays small.
const LOAD_LOG_BYTES: u64 = 64;
const LOAD_LOG_BYTES_MIN: u64 = 1 << 20;
const LOAD_LOG_BYTES_MAX: u64 = 16 << 20;

/// Nothing once it has ended.
type MaybeWriting<'a> = Option<Writing<'a>>;

self_cell! {
    pub struct Reader {
        owner: Arc<Database>,
        #[covariant]
        dependent: Reading,
    }
}

self_cell! {
    pub struct Writer {
        owner: Arc<Database>,
        #[covariant]
        dependent: MaybeWriting,
    }
}

impl Place for Database {
    const NAME: &'static str = "embedded";

    type Reading<'a> = Reading<'a>;

    type Writing<'a> = Writing<'a>;

    type Reader = Reader;

    type Writer = Writer;

    /// Or create it.
    fn open(path: &str, tactics: &Tactics) -> Result<Self, ClientError> {
        let path = Path::new(path);
        let opened =
            if path.exists() { Self::open(path, tactics) } else { Self::create(path, tactics) };
        opened.map_err(|error| ClientError::engine(ENGINE, "opening it", error))
    }

    fn tactics(&self) -> &Tactics {
        self.tactics()
    }

    fn reader(this: &Arc<Self>) -> Reader {
        Reader::new(Arc::clone(this), |database| database.reading())
    }

    #[inline]
    fn pages(reader: &Reader) -> &Reading<'_> {
        reader.borrow_dependent()
    }

    fn writer(this: &Arc<Self>) -> Writer {
        Writer::new(Arc::clone(this), |database| Some(database.writing()))
    }

    fn with<R>(writer: &mut Writer, act: impl FnOnce(&mut Writing<'_>) -> R) -> R {
        writer.with_dependent_mut(|_, writing| {
            act(writing.as_mut().expect("it is there until the commit takes it"))
        })
    }

    fn commit(mut writer: Writer) -> Result<(), LodeError> {
        let commit = |writing: &mut MaybeWriting<'_>| writing.take().map(Writing::commit);
        writer.with_dependent_mut(|_, writing| commit(writing)).unwrap_or(Ok(()))
    }

    /// Nothing waits for the device on the way.
    fn load<D: Design>(
        address: &str,
        tactics: &Tactics,
        open: &mut Option<Arc<Self>>,
        data: &Data,
    ) -> Result<D, ClientError> {
        let failed = |error| ClientError::engine(ENGINE, "loading it", error);
        if let Some(before) = open.take() {
            let Some(before) = Arc::into_inner(before) else {
                return Err(ClientError::engine(ENGINE, "loading it", "others have it open"));
            };
            before.abandon();
        }
        let path = Path::new(address);
        for path in [path, &log_path(path)] {
            fs::remove_file(path)
                .map_err(|error| ClientError::engine(ENGINE, "removing the old one", error))?;
        }
        let log_bytes = LOAD_LOG_BYTES * u64::from(data.parts);
        let checkpoint = CheckpointBytes(log_bytes.clamp(LOAD_LOG_BYTES_MIN, LOAD_LOG_BYTES_MAX));
        let tactics = Tactics { durability: Durability::None, checkpoint, ..*tactics };
        let new = Self::create(path, &tactics).map_err(failed)?;
        let design = {
            let mut loading = Loading::new(&new);
            let filled = D::load(&mut loading, data);
            filled.and_then(|design| loading.commit().map(|()| design))
        };
        let design = design.map_err(|failure| failure.told("loading it"))?;
        new.close().map_err(failed)?;
        Ok(design)
    }

    fn size_bytes(address: &str) -> Result<u64, ClientError> {
        let path = Path::new(address);
        let length = |path: &Path| fs::metadata(path).map(|it| it.len());
        let total = length(path).and_then(|own| Ok(own + length(&log_path(path))?));
        total.map_err(|error| ClientError::engine(ENGINE, "measuring the files", error))
    }
}

fn log_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-log");
    name.into()
}
