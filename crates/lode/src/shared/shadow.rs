//! Copies of pages that page diffing compares with, and whose memory they are in: the tactic
//! `shadows`.

use std::ops::Deref;
use std::sync::Arc;

use crate::buffer::{Buffer, Frames};
use crate::page::PageBytes;
use crate::tactics::{Logging, Shadows, Tactics};

/// The frames that shadows take, where the tactics say that they take any.
pub(super) fn frames(tactics: &Tactics, buffer: &Arc<Buffer>) -> Option<Frames> {
    let is_counted = tactics.log == Logging::PageDiff && tactics.shadows == Shadows::Cache;
    is_counted.then(|| Frames::of(buffer))
}

/// A page as it was before it was changed.
pub(crate) struct Shadow {
    bytes: Box<PageBytes>,
    /// Its frame of the cache, if it has one.
    frame: Option<Frame>,
}

impl Shadow {
    /// Its memory, to be used again, if that is its own.
    pub(super) fn into_own(self) -> Option<Box<PageBytes>> {
        self.frame.is_none().then_some(self.bytes)
    }
}

impl Deref for Shadow {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        &self.bytes
    }
}

/// The place where a shadow can be put.
pub(super) enum Space {
    /// In memory of its own.
    Beside,
    /// In the memory of a frame.
    Cache(Frame),
    /// Nowhere.
    None,
}

impl Space {
    /// A frame, if the cache lends one more. Pages that are in the way go: the caller has latched
    /// one page, and has no lock that the writing of a page takes.
    pub(super) fn borrow(frames: &Frames) -> Self {
        if frames.borrow(1) { Self::Cache(Frame(frames.clone())) } else { Self::None }
    }

    /// A shadow of a page, in memory of its own as `own` copies it.
    pub(super) fn shadow(
        self,
        page: &PageBytes,
        own: impl FnOnce() -> Box<PageBytes>,
    ) -> Option<Shadow> {
        match self {
            Self::Beside => Some(Shadow { bytes: own(), frame: None }),
            Self::Cache(frame) => Some(Shadow { bytes: Box::new(*page), frame: Some(frame) }),
            Self::None => None,
        }
    }
}

/// A frame of the cache that holds no page; given back at drop.
pub(super) struct Frame(Frames);

impl Drop for Frame {
    fn drop(&mut self) {
        self.0.give_back(1);
    }
}
