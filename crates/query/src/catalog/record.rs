//! The records of the catalog, byte for byte as `docs/reference/lode-query-format.md` draws them.

use loadstone_quel::schema::Kind;
use lode::internals::heap::RECORD_BYTES_MAX;
use lode::{Btree, Hash, Heap, RecordId};

use super::{
    AttributeStatistics, Constant, IndexInfo, Organisation, Place, RelationInfo, Structure, Tuples,
};
use crate::tactics::FileLayout;
use crate::tuple::Layout;

/// Stands for no attribute.
const NONE: u16 = u16::MAX;

/// Flags of a relation: its tuples lie in order; they lie by columns.
const ORDERED: u8 = 1;
const BY_COLUMNS: u8 = 2;

/// Bytes of a text that statistics keep.
pub(super) const TEXT_BYTES_MAX: usize = 64;

/// Bytes of a name: what an attribute's record has room for beside its other fields, the texts of
/// statistics among them.
pub(crate) const NAME_BYTES_MAX: usize = RECORD_BYTES_MAX - 22 - 2 * TEXT_BYTES_MAX;

/// Attributes of one index.
pub(super) const INDEX_ATTRIBUTES_MAX: usize = 255;

/// A record of `_relation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RelationRecord {
    pub(super) number: u32,
    pub(super) organisation: Organisation,
    pub(super) is_ordered: bool,
    pub(super) file_layout: FileLayout,
    pub(super) place: Place,
    pub(super) rows: u64,
    pub(super) pages: u64,
    pub(super) name: String,
}

/// A record of `_attribute`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributeRecord {
    pub(super) relation: u32,
    pub(super) position: u16,
    pub(super) kind: Kind,
    pub(super) is_nullable: bool,
    pub(super) statistics: Option<AttributeStatistics>,
    pub(super) name: String,
}

/// A record of `_index`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexRecord {
    pub(super) relation: u32,
    pub(super) number: u16,
    pub(super) is_unique: bool,
    pub(super) is_primary: bool,
    pub(super) is_hash: bool,
    pub(super) place: Place,
    pub(super) attributes: Vec<u16>,
}

/// The bytes of a record, taken from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn place(&mut self) -> Option<Place> {
        let (file, root) = (self.u32()?, self.u32()?);
        (file != 0 && root != 0).then_some(Place { file, root })
    }

    /// All that is left.
    fn name(self) -> Option<String> {
        String::from_utf8(self.0.to_vec()).ok()
    }
}

impl RelationRecord {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let number = reader.u32()?;
        let (organisation, flags, attribute) = (reader.u8()?, reader.u8()?, reader.u16()?);
        if flags & !(ORDERED | BY_COLUMNS) != 0 {
            return None;
        }
        let is_ordered = flags & ORDERED != 0;
        let file_layout =
            if flags & BY_COLUMNS != 0 { FileLayout::Columns } else { FileLayout::Rows };
        let organisation = match (organisation, attribute) {
            (0, NONE) => Organisation::Heap,
            (1, attribute) => Organisation::Clustered { attribute: attribute.into() },
            (2, attribute) => Organisation::Hash { attribute: attribute.into() },
            _ => return None,
        };
        let place = reader.place()?;
        let (rows, pages) = (reader.u64()?, reader.u64()?);
        let name = reader.name()?;
        Some(Self { number, organisation, is_ordered, file_layout, place, rows, pages, name })
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let (organisation, attribute) = match self.organisation {
            Organisation::Heap => (0, NONE),
            Organisation::Clustered { attribute } => (1, attribute as u16),
            Organisation::Hash { attribute } => (2, attribute as u16),
        };
        let mut bytes = Vec::with_capacity(32 + self.name.len());
        bytes.extend(self.number.to_le_bytes());
        let by_columns = if self.file_layout == FileLayout::Columns { BY_COLUMNS } else { 0 };
        bytes.extend([organisation, if self.is_ordered { ORDERED } else { 0 } | by_columns]);
        bytes.extend(attribute.to_le_bytes());
        put_place(&mut bytes, self.place);
        bytes.extend(self.rows.to_le_bytes());
        bytes.extend(self.pages.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes
    }

    /// Without attributes and indexes, which other records describe; a file of columns is one once
    /// its attributes are known.
    pub(super) fn into_info(self, record: RecordId) -> RelationInfo {
        RelationInfo {
            number: self.number,
            name: self.name,
            layout: Layout::default(),
            organisation: self.organisation,
            rows: self.rows,
            pages: self.pages,
            statistics: Vec::new(),
            indexes: Vec::new(),
            is_ordered: self.is_ordered,
            file_layout: self.file_layout,
            tuples: Tuples::Rows(Heap::open(self.place.file, self.place.root)),
            record,
            attribute_records: Vec::new(),
        }
    }
}

impl AttributeRecord {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (relation, position) = (reader.u32()?, reader.u16()?);
        let (kind, is_nullable) = (reader.u8()?, reader.flag()?);
        let width = usize::from(reader.u16()?);
        let kind = match (kind, width) {
            (1, 1 | 2 | 4 | 8) => Kind::Integer { bytes: width },
            (2, 4 | 8) => Kind::Real { bytes: width },
            (3, _) => Kind::Text { width },
            _ => return None,
        };
        let (is_known, has_range) = (reader.flag()?, reader.flag()?);
        let distinct = reader.u64()?;
        let (low_bytes, high_bytes) = (reader.u8()?, reader.u8()?);
        let low = constant(kind, reader.bytes(low_bytes.into())?)?;
        let high = constant(kind, reader.bytes(high_bytes.into())?)?;
        let range = has_range.then_some((low, high));
        let statistics = is_known.then_some(AttributeStatistics { distinct, range });
        Some(Self { relation, position, kind, is_nullable, statistics, name: reader.name()? })
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let (kind, width) = match self.kind {
            Kind::Integer { bytes } => (1, bytes),
            Kind::Real { bytes } => (2, bytes),
            Kind::Text { width } => (3, width),
        };
        let range = self.statistics.as_ref().and_then(|known| known.range.as_ref());
        let (low, high) = match range {
            Some((low, high)) => (constant_bytes(low), constant_bytes(high)),
            None => (zero(self.kind), zero(self.kind)),
        };
        let distinct = self.statistics.as_ref().map_or(0, |known| known.distinct);
        let mut bytes = Vec::with_capacity(24 + low.len() + high.len() + self.name.len());
        bytes.extend(self.relation.to_le_bytes());
        bytes.extend(self.position.to_le_bytes());
        bytes.extend([kind, self.is_nullable.into()]);
        bytes.extend((width as u16).to_le_bytes());
        bytes.extend([self.statistics.is_some(), range.is_some()].map(u8::from));
        bytes.extend(distinct.to_le_bytes());
        bytes.extend([low.len() as u8, high.len() as u8]);
        bytes.extend(low);
        bytes.extend(high);
        bytes.extend(self.name.as_bytes());
        bytes
    }
}

fn constant(kind: Kind, bytes: &[u8]) -> Option<Constant> {
    Some(match kind {
        Kind::Integer { .. } => Constant::Integer(i64::from_le_bytes(bytes.try_into().ok()?)),
        Kind::Real { .. } => Constant::Real(f64::from_le_bytes(bytes.try_into().ok()?)),
        Kind::Text { .. } => Constant::Text(bytes.to_vec()),
    })
}

fn constant_bytes(constant: &Constant) -> Vec<u8> {
    match constant {
        Constant::Integer(value) => value.to_le_bytes().to_vec(),
        Constant::Real(value) => value.to_le_bytes().to_vec(),
        Constant::Text(text) => text[..text.len().min(TEXT_BYTES_MAX)].to_vec(),
    }
}

fn zero(kind: Kind) -> Vec<u8> {
    match kind {
        Kind::Integer { .. } | Kind::Real { .. } => vec![0; 8],
        Kind::Text { .. } => Vec::new(),
    }
}

impl IndexRecord {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (relation, number) = (reader.u32()?, reader.u16()?);
        let (is_unique, is_primary, is_hash) = (reader.flag()?, reader.flag()?, reader.flag()?);
        let count = usize::from(reader.u8()?);
        let place = reader.place()?;
        let attributes = (0..count).map(|_| reader.u16()).collect::<Option<Vec<_>>>()?;
        let is_whole = count > 0 && reader.0.is_empty();
        let index = Self { relation, number, is_unique, is_primary, is_hash, place, attributes };
        is_whole.then_some(index)
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(18 + 2 * self.attributes.len());
        bytes.extend(self.relation.to_le_bytes());
        bytes.extend(self.number.to_le_bytes());
        bytes.extend([self.is_unique, self.is_primary, self.is_hash].map(u8::from));
        bytes.push(self.attributes.len() as u8);
        put_place(&mut bytes, self.place);
        bytes.extend(self.attributes.iter().flat_map(|at| at.to_le_bytes()));
        bytes
    }

    pub(super) fn into_info(self, record: RecordId) -> IndexInfo {
        let structure = if self.is_hash {
            Structure::Hash(Hash::open(self.place.root))
        } else {
            Structure::Btree(Btree::open(self.place.root))
        };
        IndexInfo {
            number: self.number,
            attributes: self.attributes.into_iter().map(usize::from).collect(),
            is_unique: self.is_unique,
            is_primary: self.is_primary,
            structure,
            record,
        }
    }
}

fn put_place(bytes: &mut Vec<u8>, place: Place) {
    bytes.extend(place.file.to_le_bytes());
    bytes.extend(place.root.to_le_bytes());
}
