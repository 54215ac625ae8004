//! `place=embedded`: the program has the files open itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lode::internals::page::PageNumber;
use lode::tactics::{CheckpointBytes, Durability, Tactics};
use lode::{Database, LodeError, MappedPages, Mapping, Reading, Writing};

use super::failure::Result as Filled;
use super::loading::Loading;
use super::place::Place;
use crate::error::ClientError;
use crate::lode::ENGINE;
use crate::outcome::Logged;

/// Log that a load writes before it puts pages in their places, for each part: little, so that the
/// log of a small database stays small.
const LOAD_LOG_BYTES: u64 = 64;
const LOAD_LOG_BYTES_MIN: u64 = 1 << 20;
const LOAD_LOG_BYTES_MAX: u64 = 16 << 20;

impl Place for Database {
    const NAME: &'static str = "embedded";

    type Reading = Reading;

    type Writing = Writing;

    type Reader = Reading;

    type Writer = Writing;

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

    fn reader(&self) -> Reading {
        self.reading()
    }

    #[inline]
    fn pages(reader: &Reading) -> &Reading {
        reader
    }

    fn writer(&self) -> Writing {
        self.writing()
    }

    #[inline]
    fn pages_mut(writer: &mut Writing) -> &mut Writing {
        writer
    }

    fn map(writer: &mut Writing, pages: &[PageNumber]) -> Result<Mapping, LodeError> {
        writer.map(pages)
    }

    #[inline]
    fn pages_with(writer: &Writing, mapping: Mapping) -> Result<MappedPages<'_>, LodeError> {
        writer.pages_with(mapping)
    }

    #[inline]
    fn memory(writer: &mut Writing, mapping: Mapping) -> Result<&mut [u8], LodeError> {
        writer.memory(mapping)
    }

    fn commit(writer: Writing) -> Result<(), LodeError> {
        writer.commit()
    }

    /// Nothing waits for the device on the way.
    fn load<T>(
        address: &str,
        tactics: &Tactics,
        open: &mut Option<Arc<Self>>,
        parts: u64,
        fill: impl FnOnce(&mut Loading<'_>) -> Filled<T>,
    ) -> Result<T, ClientError> {
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
        let log_bytes = LOAD_LOG_BYTES * parts;
        let checkpoint = CheckpointBytes(log_bytes.clamp(LOAD_LOG_BYTES_MIN, LOAD_LOG_BYTES_MAX));
        let tactics = Tactics { durability: Durability::None, checkpoint, ..*tactics };
        let new = Self::create(path, &tactics).map_err(failed)?;
        let filled = {
            let mut loading = Loading::new(&new);
            let filled = fill(&mut loading);
            filled.and_then(|filled| loading.commit().map(|()| filled))
        };
        let filled = filled.map_err(|failure| failure.reported("loading it"))?;
        new.close().map_err(failed)?;
        Ok(filled)
    }

    fn logged(&self) -> Option<Logged> {
        let counters = self.counters().ok()?;
        Some(Logged { bytes: counters.log.record_bytes, ranges: counters.ranges_said })
    }

    fn is_huge(&self) -> bool {
        self.counters().is_ok_and(|counters| counters.buffer.pages_huge > 0)
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
