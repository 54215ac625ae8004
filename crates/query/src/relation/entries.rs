//! Keys of a B-tree with their record ids, many at once.

use lode::RecordId;

use super::key::{self, Coverage};
use crate::tuple::Layout;

/// Byte strings, each a key and the record id behind it.
#[derive(Debug, Default)]
pub(super) struct Entries {
    text: Vec<u8>,
    places: Vec<Place>,
    key: Vec<u8>,
}

/// The place where an entry lies in the text.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: usize,
    bytes: u16,
    is_whole: bool,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// The key, and behind it the record id.
    pub(super) bytes: &'a [u8],
    /// Whether the key holds all values of the tuple.
    pub(super) is_whole: bool,
}

impl<'a> Entry<'a> {
    /// The key alone.
    pub(super) fn key(self) -> &'a [u8] {
        &self.bytes[..self.bytes.len() - key::RECORD_ID_BYTES]
    }

    /// Whether tuples with an equal key have equal values.
    pub(super) fn is_exact(self) -> bool {
        self.is_whole && self.key().len() < key::ENCODED_BYTES_MAX
    }
}

impl Entries {
    /// Put in the entry of a tuple, unless an index has none for it.
    pub(super) fn push(
        &mut self,
        layout: &Layout,
        attributes: &[usize],
        id: RecordId,
        tuple: &[u8],
    ) {
        let coverage = key::of_tuple(&mut self.key, layout, attributes, tuple);
        if coverage == Coverage::Nothing {
            return;
        }
        let at = self.text.len();
        self.text.extend_from_slice(&self.key);
        key::push_id(&mut self.text, id);
        let bytes = (self.text.len() - at) as u16;
        self.places.push(Place { at, bytes, is_whole: coverage == Coverage::All });
    }

    /// Take the last one out again.
    pub(super) fn pop(&mut self) {
        if let Some(place) = self.places.pop() {
            self.text.truncate(place.at);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn last(&self) -> Option<Entry<'_>> {
        self.places.last().map(|&place| self.entry(place))
    }

    pub(super) fn sort(&mut self) {
        let text = &self.text;
        self.places.sort_unstable_by(|a, b| slice(text, *a).cmp(slice(text, *b)));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.places.iter().map(|&place| self.entry(place))
    }

    fn entry(&self, place: Place) -> Entry<'_> {
        Entry { bytes: slice(&self.text, place), is_whole: place.is_whole }
    }
}

fn slice(text: &[u8], place: Place) -> &[u8] {
    &text[place.at..place.at + usize::from(place.bytes)]
}
