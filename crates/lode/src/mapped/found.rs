//! The finding about a page of an area.

/// A page of an area that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its place in the area.
    pub(crate) at: usize,
    /// Whether it was stored to; else it may have been.
    pub(crate) is_sure: bool,
}
