//! Atomic parts as plain memory: what a program of Rhino's stores to.
//!
//! All pages of their file are mapped, since a traversal comes to nearly all of them, when the
//! first part is changed. From then on the transaction reads parts there, and changes them by
//! stores; nobody shows lode which.

use std::ops::Range;

use lode::Mapping;
use lode::internals::objects::Reference;
use lode::internals::page::PageNumber;

use super::{Lode, not_begun, not_loaded};
use crate::error::ClientError;
use crate::lode::ENGINE;
use crate::lode::place::Place;

const DOING: &str = "storing to an atomic part in memory";

/// The mapping of a transaction, and what is known of the file beyond that.
#[derive(Default)]
pub struct Plain {
    mapping: Option<Mapping>,
    /// The pages of the file, until it gets others.
    pages: Vec<PageNumber>,
    /// The part that was stored to last, and where it lies in the mapping: a program that changes
    /// it again has its address.
    last: Option<(Reference, usize)>,
}

impl Plain {
    /// The pages that the transaction has mapped.
    #[inline]
    pub const fn mapping(&self) -> Option<Mapping> {
        self.mapping
    }
}

impl<P: Place> Lode<P> {
    /// Store to a range of an atomic part, as a program does that has its address.
    #[inline]
    pub(super) fn store_to<R>(
        &mut self,
        part: Reference,
        range: Range<usize>,
        store: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, ClientError> {
        let mapping = match self.plain.as_ref().and_then(Plain::mapping) {
            Some(mapping) => mapping,
            None => self.map_parts()?,
        };
        let last = self.plain.as_ref().and_then(|plain| plain.last);
        let at = match last.filter(|(last, _)| *last == part) {
            Some((_, at)) => at,
            None => self.find_in(mapping, part)?,
        };
        let writer = self.writer.as_mut().ok_or_else(not_begun)?;
        let failed = |error| ClientError::engine(ENGINE, DOING, error);
        let memory = P::memory(writer, mapping).map_err(failed)?;
        let place = memory.get_mut(at + range.start..at + range.end).ok_or_else(unmapped)?;
        Ok(store(place))
    }

    /// The place of a part in the mapping.
    #[inline]
    fn find_in(&mut self, mapping: Mapping, part: Reference) -> Result<usize, ClientError> {
        let parts = self.files.as_ref().ok_or_else(not_loaded)?.parts;
        let writer = self.writer.as_ref().ok_or_else(not_begun)?;
        let failed = |error| ClientError::engine(ENGINE, DOING, error);
        let pages = P::pages_with(writer, mapping).map_err(failed)?;
        let found = parts.read_at(&pages, part, |view, at| pages.memory_at(view, at));
        let at = found.map_err(failed)?.ok_or_else(unmapped)?;
        self.plain.get_or_insert_default().last = Some((part, at));
        Ok(at)
    }

    #[cold]
    fn map_parts(&mut self) -> Result<Mapping, ClientError> {
        let parts = self.files.as_ref().ok_or_else(not_loaded)?.parts;
        let writer = self.writer.as_mut().ok_or_else(not_begun)?;
        let plain = self.plain.get_or_insert_default();
        let failed = |error| ClientError::engine(ENGINE, "mapping the atomic parts", error);
        if plain.pages.is_empty() {
            plain.pages = parts.pages(P::pages_mut(writer)).map_err(failed)?;
        }
        let mapping = P::map(writer, &plain.pages).map_err(failed)?;
        plain.mapping = Some(mapping);
        Ok(mapping)
    }

    /// The transaction ends, and its mapping with it.
    pub(super) fn end_mapping(&mut self) {
        if let Some(plain) = &mut self.plain {
            (plain.mapping, plain.last) = (None, None);
        }
    }

    /// The file of the atomic parts may get other pages.
    pub(super) fn forget_pages(&mut self) {
        if let Some(plain) = &mut self.plain {
            plain.pages.clear();
        }
    }
}

#[cold]
fn unmapped() -> ClientError {
    let what = "an atomic part that lies in no page of its file".to_owned();
    ClientError::Malformed { engine: ENGINE, what }
}
