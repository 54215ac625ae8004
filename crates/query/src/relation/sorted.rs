//! The entries of an index to be, in its order: sorted within the statement's memory, and what is
//! beyond that in its file.

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::Span;
use lode::{Hash, PageRead};

use super::every::each_tuple;
use super::key::{self, Coverage, ENCODED_BYTES_MAX, RECORD_ID_BYTES};
use super::workspace::Workspace;
use crate::catalog::RelationInfo;
use crate::error::{QueryError, Result};
use crate::temporary::{Numbered, Temporary, TemporaryScan};
use crate::tuple::{self, Layout, Value};

/// Bytes that are compared as one number.
const WORD_BYTES: usize = 8;

const SIGN: u64 = 1 << 63;

/// A number among others of the same kind.
const NUMBER: Kind = Kind::Integer { bytes: 8 };

/// Entries of a B-tree, each a key and the record id behind it.
///
/// The entries sorted have one length: the bytes as numbers of eight each, filled with zeros, and
/// behind them how many bytes there are, which decides where only these zeros differ.
#[derive(Debug)]
pub(super) struct SortedEntries {
    words: usize,
    sorted: Temporary,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SortedEntry {
    /// The key, and behind it the record id.
    pub(super) bytes: Vec<u8>,
    /// Whether the key holds all values of the tuple.
    pub(super) is_whole: bool,
}

impl SortedEntry {
    /// The key alone.
    pub(super) fn key(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().saturating_sub(RECORD_ID_BYTES)]
    }
}

impl SortedEntries {
    /// Of all tuples of a relation of which an index of these attributes has an entry.
    pub(super) fn of(
        pages: &impl PageRead,
        info: &RelationInfo,
        attributes: &[usize],
        workspace: &Workspace,
    ) -> Result<Self> {
        // Only a text with zero bytes in it takes more.
        let usual = longest(&info.layout, attributes, 1);
        if let Some(entries) = Self::of_words(pages, info, attributes, usual, workspace)? {
            return Ok(entries);
        }
        let most = longest(&info.layout, attributes, 2);
        let entries = Self::of_words(pages, info, attributes, most, workspace)?;
        Ok(entries.expect("no key is longer than the longest"))
    }

    /// The same; none where an entry does not fit so many words.
    fn of_words(
        pages: &impl PageRead,
        info: &RelationInfo,
        attributes: &[usize],
        words: usize,
        workspace: &Workspace,
    ) -> Result<Option<Self>> {
        let fields = (0..words).map(|at| (format!("word{at}"), NUMBER, false));
        let end = ("end".to_owned(), Kind::Integer { bytes: 2 }, false);
        let form = Layout::of(fields.chain([end]));
        let order: Vec<usize> = (0..=words).collect();
        let mut sorter = workspace.sorter(&form, &order)?;
        let (mut entry, mut row, mut fits) = (Vec::new(), vec![0; form.bytes], true);
        each_tuple(pages, info, |id, bytes| {
            let coverage = key::of_tuple(&mut entry, &info.layout, attributes, bytes);
            if coverage == Coverage::Nothing || !fits {
                return Ok(());
            }
            key::push_id(&mut entry, id);
            fits = entry.len() <= words * WORD_BYTES;
            if fits {
                write_row(&mut row, &entry, coverage == Coverage::All);
                sorter.add(&row)?;
            }
            Ok(())
        })?;
        if !fits {
            return Ok(None);
        }
        Ok(Some(Self { words, sorted: sorter.finish(&|| workspace.check())? }))
    }

    /// All, in their order.
    pub(super) fn scan(&self) -> EntryScan<'_> {
        EntryScan { scan: self.sorted.scan(), words: self.words, failure: None }
    }
}

/// The number of words that the longest entry takes whose texts take `factor` bytes for each of
/// theirs.
fn longest(layout: &Layout, attributes: &[usize], factor: usize) -> usize {
    let longest = |&at: &usize| match layout.fields[at].kind {
        Kind::Integer { .. } | Kind::Real { .. } => 8,
        Kind::Text { width } => factor * width + 2,
    };
    let key_bytes = attributes.iter().map(longest).sum::<usize>().min(ENCODED_BYTES_MAX);
    (key_bytes + RECORD_ID_BYTES).div_ceil(WORD_BYTES)
}

/// An entry as a row whose numbers have its order.
fn write_row(row: &mut [u8], entry: &[u8], is_whole: bool) {
    let (words, end) = row.split_at_mut(row.len() - 2);
    words.fill(0);
    words[..entry.len()].copy_from_slice(entry);
    for word in words.chunks_exact_mut(WORD_BYTES) {
        let number = u64::from_be_bytes(tuple::array(word, 0)) ^ SIGN;
        word.copy_from_slice(&number.to_le_bytes());
    }
    end.copy_from_slice(&(2 * entry.len() as i16 + i16::from(is_whole)).to_le_bytes());
}

fn read_row(row: &[u8], words: usize) -> SortedEntry {
    let end = i16::from_le_bytes(tuple::array(row, words * WORD_BYTES));
    let numbers = row[..words * WORD_BYTES].chunks_exact(WORD_BYTES);
    let words = numbers.map(|word| u64::from_le_bytes(tuple::array(word, 0)) ^ SIGN);
    let mut bytes: Vec<u8> = words.flat_map(u64::to_be_bytes).collect();
    bytes.truncate(end as usize / 2);
    SortedEntry { bytes, is_whole: end % 2 == 1 }
}

/// A way through sorted entries, which ends where they cannot be read.
pub(super) struct EntryScan<'a> {
    scan: TemporaryScan<'a>,
    words: usize,
    failure: Option<QueryError>,
}

impl EntryScan<'_> {
    /// Why it has ended before the last entry, if it has.
    pub(super) fn ended(self) -> Result<()> {
        self.failure.map_or(Ok(()), Err)
    }
}

impl Iterator for EntryScan<'_> {
    type Item = SortedEntry;

    fn next(&mut self) -> Option<SortedEntry> {
        match self.scan.next_tuple() {
            Ok(row) => Some(read_row(row?, self.words)),
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }
}

/// Entries of a hash index, in the order in which it is laid out.
#[derive(Debug)]
pub(super) struct SortedHashes {
    form: Layout,
    sorted: Temporary,
}

impl SortedHashes {
    /// Of all tuples of a relation of which an index of that attribute has an entry.
    pub(super) fn of(
        pages: &impl PageRead,
        info: &RelationInfo,
        attribute: usize,
        workspace: &Workspace,
    ) -> Result<Self> {
        let fields = ["order", "key", "id"].map(|name| (name.to_owned(), NUMBER, false));
        let form = Layout::of(fields);
        let mut sorter = workspace.sorter(&form, &[0])?;
        let field = &info.layout.fields[attribute];
        let mut row = vec![0; form.bytes];
        each_tuple(pages, info, |id, bytes| {
            let Some(key) = key::hash(field, tuple::read(bytes, field)) else { return Ok(()) };
            let words = [Hash::order_of(key) ^ SIGN, key, id.to_u64()];
            for (field, word) in form.fields.iter().zip(words) {
                tuple::write(&mut row, field, Value::Integer(word as i64), Span::default())
                    .expect("eight bytes fit any number");
            }
            sorter.add(&row)
        })?;
        Ok(Self { sorted: sorter.finish(&|| workspace.check())?, form })
    }

    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The key and the record id of each by its number.
    pub(super) fn entries(&self) -> impl FnMut(usize) -> Result<(u64, u64)> {
        let mut numbered: Numbered<'_> = self.sorted.numbered();
        let [_, key, id] = [0, 1, 2].map(|at| self.form.fields[at].offset);
        move |number| {
            let row = numbered.tuple(number)?;
            let word = |at| u64::from_le_bytes(tuple::array(row, at));
            Ok((word(key), word(id)))
        }
    }
}
