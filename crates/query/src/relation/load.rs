//! Relations filled at once: from a program's tuples, and from another organisation.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use lode::PageWrite;
use lode::internals::{columns, heap};

use super::build::{self, NewIndex};
use super::every::BATCH_TUPLES;
use super::workspace::Workspace;
use crate::catalog::{self, Catalog, Organisation, RelationInfo, Tuples, Unnamed};
use crate::error::Result;
use crate::sort::Sorter;
use crate::tactics::FileLayout;
use crate::tuple::{self, Layout};

/// The way in which a relation is to be stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Design {
    /// The way in which its tuples are kept.
    pub structure: NewStructure,
    /// Its secondary indexes: the attributes, most significant first, and whether they are unique.
    pub indexes: Vec<(Vec<usize>, bool)>,
    /// The way in which its tuples lie in their file.
    pub layout: FileLayout,
}

/// The way in which tuples are to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NewStructure {
    /// As they come.
    #[default]
    Heap,
    /// In the order of these attributes, most significant first, with a B-tree over them.
    Clustered(Vec<usize>),
    /// As they come, with a hash index on the first of these attributes.
    Hash(Vec<usize>),
}

impl NewStructure {
    fn organisation(&self) -> Organisation {
        match self {
            Self::Heap => Organisation::Heap,
            Self::Clustered(attributes) => Organisation::Clustered { attribute: attributes[0] },
            Self::Hash(attributes) => Organisation::Hash { attribute: attributes[0] },
        }
    }

    /// The index that belongs to it.
    fn index(&self) -> Option<NewIndex> {
        let (attributes, is_hash) = match self {
            Self::Heap => return None,
            Self::Clustered(attributes) => (attributes.clone(), false),
            Self::Hash(attributes) => (attributes.clone(), true),
        };
        Some(NewIndex { attributes, is_unique: false, is_primary: true, is_hash })
    }
}

/// A relation that is being filled. Nobody sees it before [`Loader::finish`], which puts it in the
/// place of one of the same name; so it may be filled from that one.
pub struct Loader {
    name: String,
    layout: Layout,
    design: Design,
    unnamed: Unnamed,
    appender: Appender,
    rows: u64,
    /// Of a clustered relation all tuples, until they are sorted.
    sorter: Option<Sorter>,
    workspace: Workspace,
}

impl Loader {
    /// Begin with no tuples.
    ///
    /// # Errors
    ///
    /// [`lode::LodeError::TooLong`] where a tuple does not fit a page; [`crate::QueryError::Input`]
    /// for a relation without attributes, and for a name that no text can say;
    /// [`crate::QueryError::Memory`] if the budget has not even the buffers of a sort.
    pub fn new(
        pages: &mut impl PageWrite,
        name: &str,
        layout: Layout,
        design: Design,
        workspace: &Workspace,
    ) -> Result<Self> {
        let unnamed = catalog::prepare(pages, name, &layout, design.layout)?;
        let sorter = match &design.structure {
            NewStructure::Clustered(attributes) => Some(workspace.sorter(&layout, attributes)?),
            NewStructure::Heap | NewStructure::Hash(_) => None,
        };
        let (name, appender) = (name.to_owned(), Appender::of(&unnamed.tuples));
        let workspace = workspace.clone();
        Ok(Self { name, layout, design, unnamed, appender, rows: 0, sorter, workspace })
    }

    /// The form of the tuples that it takes.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of tuples that it has taken.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Take so many tuples, one behind the other.
    ///
    /// # Errors
    ///
    /// Of a clustered relation as of [`Sorter::add`].
    pub fn add_many(
        &mut self,
        pages: &mut impl PageWrite,
        tuples: &[u8],
        count: usize,
    ) -> Result<()> {
        debug_assert_eq!(tuples.len(), count * self.layout.bytes);
        self.rows += count as u64;
        if let Some(sorter) = &mut self.sorter {
            return tuples.chunks_exact(self.layout.bytes).try_for_each(|tuple| sorter.add(tuple));
        }
        for tuple in tuples.chunks_exact(self.layout.bytes) {
            self.appender.append(pages, tuple)?;
        }
        Ok(())
    }

    /// Give it its name and its indexes. A relation that had the name is gone.
    pub fn finish(self, pages: &mut impl PageWrite) -> Result<RelationInfo> {
        let catalog = Catalog::read(pages)?;
        self.finish_in(pages, &catalog)
    }

    /// As [`Loader::finish`], where the catalog is known as the transaction sees it.
    pub fn finish_in(
        mut self,
        pages: &mut impl PageWrite,
        catalog: &Catalog,
    ) -> Result<RelationInfo> {
        if let Some(sorter) = self.sorter.take() {
            let sorted = sorter.finish(&|| self.workspace.check())?;
            let mut scan = sorted.scan();
            while let Some(tuple) = scan.next_tuple()? {
                self.appender.append(pages, tuple)?;
            }
        }
        self.appender.finish(pages)?;
        if let Some(before) = catalog.relation(&self.name) {
            catalog::remove(pages, before)?;
        }
        let mut info = catalog::define(pages, self.unnamed, &self.name, &self.layout, self.rows)?;
        info.organisation = self.design.structure.organisation();
        info.is_ordered = matches!(self.design.structure, NewStructure::Clustered(_));
        catalog::put_relation(pages, &info)?;
        if let Some(index) = self.design.structure.index() {
            build::add_index(pages, &mut info, &index, &self.workspace)?;
        }
        for (attributes, is_unique) in self.design.indexes {
            let index = NewIndex { attributes, is_unique, is_primary: false, is_hash: false };
            build::add_index(pages, &mut info, &index, &self.workspace)?;
        }
        Ok(info)
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Loader")
            .field("name", &self.name)
            .field("design", &self.design)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// Fills a file of tuples.
enum Appender {
    Rows(heap::Appender),
    Columns(columns::Appender),
}

impl Appender {
    fn of(tuples: &Tuples) -> Self {
        match tuples {
            Tuples::Rows(heap) => Self::Rows(heap.appender()),
            Tuples::Columns(columns) => Self::Columns(columns.appender()),
        }
    }

    fn append(&mut self, pages: &mut impl PageWrite, tuple: &[u8]) -> Result<()> {
        match self {
            Self::Rows(heap) => _ = heap.append(pages, tuple)?,
            Self::Columns(columns) => columns.append(pages, tuple)?,
        }
        Ok(())
    }

    fn finish(self, pages: &mut impl PageWrite) -> Result<()> {
        match self {
            Self::Rows(heap) => heap.finish(pages)?,
            Self::Columns(columns) => columns.finish(pages)?,
        }
        Ok(())
    }
}

/// The order of two tuples by some attributes.
pub(super) fn compare(a: &[u8], b: &[u8], layout: &Layout, attributes: &[usize]) -> Ordering {
    let by = |&at: &usize| {
        let field = &layout.fields[at];
        tuple::read(a, field).compare_keys(tuple::read(b, field))
    };
    attributes.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Store a relation anew in another structure, or with another layout. Its secondary indexes are
/// made again; what `settle` found of its values it keeps, since it has the same tuples.
pub fn modify(
    pages: &mut impl PageWrite,
    info: &RelationInfo,
    structure: NewStructure,
    layout: FileLayout,
    workspace: &Workspace,
) -> Result<RelationInfo> {
    let indexes = info.indexes.iter().filter(|index| !index.is_primary);
    let indexes = indexes.map(|index| (index.attributes.clone(), index.is_unique)).collect();
    let design = Design { structure, indexes, layout };
    let mut loader = Loader::new(pages, &info.name, info.layout.clone(), design, workspace)?;
    let mut scan = super::Relation::open(&Arc::new(info.clone())).scan(pages)?;
    let mut batch = super::TupleBatch::new();
    while scan.next_batch(pages, &mut batch, BATCH_TUPLES)? {
        for at in 0..batch.len() {
            loader.add_many(pages, batch.tuple(at), 1)?;
        }
    }
    let mut stored = loader.finish(pages)?;
    if !info.statistics.is_empty() {
        catalog::put_statistics(pages, &mut stored, info.statistics.clone())?;
    }
    Ok(stored)
}
