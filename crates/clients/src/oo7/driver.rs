//! The contract between the loops and an engine: one implementation per engine, in a file of its
//! folder.

use std::ops::RangeInclusive;

use loadstone_datasets::oo7::Database;

use crate::clocked::Transactions;
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::objects::{Assembly, Object, Part};
use crate::oo7::visits::Visits;

/// An engine as the calling program sees it: objects, reached from each other by handles. A handle
/// holds until the next [`Transactions::end`], [`Transactions::commit`] or [`Driver::load`].
///
/// The loops read between `begin` and `end`, and between `begin_write` and `commit`. A driver is
/// opened on an address, before or after the load, and makes what it needs to be fast (prepared
/// statements) once, outside every clock.
pub trait Driver: Transactions {
    /// The engine's name, as [`crate::engines`] knows it.
    const ENGINE: &'static str;

    /// Whether it holds what it was given; else no answer means anything.
    const KEEPS: bool = true;

    /// Another driver of the same database with the same tactics, for another thread.
    fn another(&self) -> Result<Self, ClientError>;

    /// Whether a transaction sees all or nothing of each other one, as the tactics say.
    fn isolates(&self) -> bool {
        true
    }

    /// Whether the engine gave a transaction up because of another one, so that it is to be rolled
    /// back and may be run again.
    fn is_conflict(_error: &ClientError) -> bool {
        false
    }

    /// The way in which this engine names a complex assembly that the program reached.
    type Complex: Copy;
    /// A base assembly.
    type Base: Copy;
    /// A composite part.
    type Composite: Copy;
    /// An atomic part.
    type Part: Copy;

    /// Create the database in place of any other, with every access path of the specification,
    /// durable at return.
    fn load(&mut self, database: &Database) -> Result<(), ClientError>;

    /// The root of a module's tree.
    fn design_root(&mut self, module: u32) -> Result<Self::Complex, ClientError>;

    /// Append the assemblies of a complex one, in their order.
    fn subassemblies(
        &mut self,
        of: Self::Complex,
        complex: &mut Vec<Self::Complex>,
        bases: &mut Vec<Self::Base>,
    ) -> Result<(), ClientError>;

    /// Append the private components of a base assembly, repeated ones repeated.
    fn components(
        &mut self,
        of: Self::Base,
        out: &mut Vec<Self::Composite>,
    ) -> Result<(), ClientError>;

    /// The graphs of these base assemblies' private components are about to be walked, in this
    /// order: an engine that reads ahead may begin to.
    #[inline]
    fn expect_graphs(&mut self, _of: &[Self::Base]) -> Result<(), ClientError> {
        Ok(())
    }

    /// These atomic parts will be read soon, as `expect_graphs` has it.
    #[inline]
    fn expect_parts(&mut self, _parts: &[Self::Part]) -> Result<(), ClientError> {
        Ok(())
    }

    /// Append the shared components of a base assembly, repeated ones repeated.
    fn shared_components(
        &mut self,
        of: Self::Base,
        out: &mut Vec<Self::Composite>,
    ) -> Result<(), ClientError>;

    /// The atomic part from which a composite part's graph is entered.
    fn root_part(&mut self, of: Self::Composite) -> Result<Self::Part, ClientError>;

    /// A number that no other atomic part has, by which the loops know those that they visited: its
    /// id, or that by which the engine itself knows an object. It never requests the object.
    fn identity(&self, part: Self::Part) -> u64;

    /// An atomic part.
    fn read(&mut self, part: Self::Part) -> Result<Part, ClientError>;

    /// Append the atomic parts at the other ends of the connections that leave one.
    fn connected(&mut self, part: Self::Part, out: &mut Vec<Self::Part>)
    -> Result<(), ClientError>;

    /// Both, one call for each visit of a traversal: an engine that has them in one place looks
    /// there once.
    #[inline]
    fn follow(&mut self, part: Self::Part, out: &mut Vec<Self::Part>) -> Result<Part, ClientError> {
        let read = self.read(part)?;
        self.connected(part, out)?;
        Ok(read)
    }

    /// An atomic part by its id, in an index.
    fn find(&mut self, id: u32) -> Result<(Self::Part, Part), ClientError>;

    /// The atomic parts with such dates, by the index on dates, to [`Visits::part`].
    fn dated(&mut self, dates: RangeInclusive<i32>, visits: &mut Visits)
    -> Result<(), ClientError>;

    /// All atomic parts, to [`Visits::part`].
    fn scan(&mut self, visits: &mut Visits) -> Result<(), ClientError>;

    /// The composite part that an atomic part belongs to.
    fn composite_of(&mut self, part: Self::Part) -> Result<Self::Composite, ClientError>;

    /// A composite part's own attributes.
    fn composite(&mut self, composite: Self::Composite) -> Result<Object, ClientError>;

    /// Append the base assemblies that use a composite part privately, once for each use.
    fn users(&mut self, of: Self::Composite, out: &mut Vec<Self::Base>) -> Result<(), ClientError>;

    /// A base assembly and the complex one that it belongs to.
    fn base(&mut self, base: Self::Base) -> Result<(Assembly, Self::Complex), ClientError>;

    /// A complex assembly and the one that it belongs to; `None` at a root.
    fn complex(
        &mut self,
        complex: Self::Complex,
    ) -> Result<(Assembly, Option<Self::Complex>), ClientError>;

    /// Append all base assemblies.
    fn bases(&mut self, out: &mut Vec<Self::Base>) -> Result<(), ClientError>;

    /// Visit the base assemblies that use a newer composite part; `None` where the engine has no
    /// query language, so that the loops look at each.
    fn older_bases(&mut self, _visits: &mut Visits) -> Option<Result<(), ClientError>> {
        None
    }

    /// The composite part of the document with that title, by the index on titles.
    fn titled(&mut self, title: &str) -> Result<Self::Composite, ClientError>;

    /// The text of a composite part's document, piece by piece in its order.
    fn document(&mut self, of: Self::Composite, see: impl FnMut(&[u8])) -> Result<(), ClientError>;

    /// The text of a module's manual, piece by piece in its order.
    fn manual(&mut self, module: u32, see: impl FnMut(&[u8])) -> Result<(), ClientError>;

    /// The document of each atomic part, by the document's id, to [`Visits::pair`].
    fn documents_of_parts(&mut self, visits: &mut Visits) -> Result<(), ClientError>;

    /// Swap x and y of an atomic part.
    fn swap(&mut self, part: Self::Part) -> Result<(), ClientError>;

    /// Toggle an atomic part's date ([`crate::oo7::objects::toggled`]), the index maintained.
    fn toggle_date(&mut self, part: Self::Part) -> Result<(), ClientError>;

    /// Give a composite part's document another text.
    fn rewrite(&mut self, of: Self::Composite, text: &[u8]) -> Result<(), ClientError>;

    /// Make a composite part as the database has it, with its document, atomic parts and
    /// connections, a private component of base assembly `receiver`; all access paths maintained.
    fn insert(
        &mut self,
        database: &Database,
        composite: u32,
        receiver: u32,
    ) -> Result<(), ClientError>;

    /// Delete a composite part with all that is its own, and take it from every base assembly.
    fn delete(&mut self, database: &Database, composite: u32) -> Result<(), ClientError>;

    /// Everything that is stored.
    fn contents(&mut self, contents: &mut Contents) -> Result<(), ClientError>;

    /// Bytes that the database takes where it is kept, log included.
    fn size_bytes(&mut self) -> Result<u64, ClientError>;

    /// The engine's terms, read back from it: version, durability, indexes; and each tactic of this
    /// program under its own name.
    fn terms(&mut self) -> Result<Vec<(String, String)>, ClientError>;

    /// An object that the engine does not have.
    fn missing(id: u32) -> ClientError {
        ClientError::Missing { engine: Self::ENGINE, id }
    }
}
