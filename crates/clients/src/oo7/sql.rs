//! OO7 as relations, and its statements by what they are for: the SQL that engines take alike.
//!
//! A reference is the other object's id; a bag of references is a relation of its own, in which
//! repeated ones are repeated rows. Parameters are numbered in the order of their first use. What
//! asks them is in `relational.rs`, the rows to insert are in `rows.rs`.

/// Tables: what their rows are, their names and their columns.
pub const TABLES: [(Stored, &str, &str); 10] = [
    (
        Stored::Module,
        "module",
        "id integer primary key, type text, builddate integer, root integer",
    ),
    (Stored::Manual, "manual", "id integer primary key, title text, textlen integer, text text"),
    (
        Stored::Complex,
        "complexassembly",
        "id integer primary key, type text, builddate integer, super integer, module integer",
    ),
    (
        Stored::Base,
        "baseassembly",
        "id integer primary key, type text, builddate integer, super integer, module integer",
    ),
    (Stored::Private, "componentpriv", "assembly integer, composite integer"),
    (Stored::Shared, "componentshar", "assembly integer, composite integer"),
    (
        Stored::Composite,
        "compositepart",
        "id integer primary key, type text, builddate integer, rootpart integer",
    ),
    (
        Stored::Document,
        "document",
        "id integer primary key, title text, composite integer, text text",
    ),
    (
        Stored::Part,
        "atomicpart",
        "id integer primary key, type text, builddate integer, x integer, y integer, \
         docid integer, composite integer",
    ),
    (Stored::Connection, "connection", "frm integer, too integer, type text, length integer"),
];

/// The specification's indexes beside those on ids, and one for each way in which a reference or a
/// bag of them is followed: names, tables and columns.
pub const INDEXES: [(&str, &str); 12] = [
    ("atomicpart_builddate", "atomicpart(builddate)"),
    ("document_title", "document(title)"),
    ("document_composite", "document(composite)"),
    ("complexassembly_super", "complexassembly(super)"),
    ("baseassembly_super", "baseassembly(super)"),
    ("componentpriv_assembly", "componentpriv(assembly, composite)"),
    ("componentpriv_composite", "componentpriv(composite, assembly)"),
    ("componentshar_assembly", "componentshar(assembly, composite)"),
    ("componentshar_composite", "componentshar(composite, assembly)"),
    ("atomicpart_composite", "atomicpart(composite)"),
    ("connection_frm", "connection(frm, too)"),
    ("connection_too", "connection(too, frm)"),
];

/// The purpose of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    Root,
    ComplexBelow,
    BasesBelow,
    Components,
    SharedComponents,
    RootPart,
    Part,
    Connected,
    ConnectedParts,
    Dated,
    Scan,
    CompositeOf,
    Composite,
    Users,
    Base,
    Complex,
    Bases,
    Older,
    Titled,
    Document,
    Manual,
    DocumentsOfParts,
    Swap,
    ToggleDate,
    Rewrite,
    AddPart,
    AddConnection,
    AddComposite,
    AddDocument,
    AddPrivate,
    DeleteConnections,
    DeleteParts,
    DeleteDocument,
    DeletePrivate,
    DeleteShared,
    DeleteComposite,
    LevelIds,
    LevelParts,
    LevelJoined,
}

impl Query {
    /// All that every engine takes, in the order of their declaration, which is that of the
    /// prepared ones.
    pub const ALL: [Self; 36] = [
        Self::Root,
        Self::ComplexBelow,
        Self::BasesBelow,
        Self::Components,
        Self::SharedComponents,
        Self::RootPart,
        Self::Part,
        Self::Connected,
        Self::ConnectedParts,
        Self::Dated,
        Self::Scan,
        Self::CompositeOf,
        Self::Composite,
        Self::Users,
        Self::Base,
        Self::Complex,
        Self::Bases,
        Self::Older,
        Self::Titled,
        Self::Document,
        Self::Manual,
        Self::DocumentsOfParts,
        Self::Swap,
        Self::ToggleDate,
        Self::Rewrite,
        Self::AddPart,
        Self::AddConnection,
        Self::AddComposite,
        Self::AddDocument,
        Self::AddPrivate,
        Self::DeleteConnections,
        Self::DeleteParts,
        Self::DeleteDocument,
        Self::DeletePrivate,
        Self::DeleteShared,
        Self::DeleteComposite,
    ];

    /// Those that take an array of ids, of engines that have arrays: declared, and prepared, behind
    /// the others. Each engine has its own word for the rows of an array.
    pub const LEVELS: [Self; 3] = [Self::LevelIds, Self::LevelParts, Self::LevelJoined];

    /// Its SQL; none of [`Query::LEVELS`].
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Root => "SELECT root FROM module WHERE id = $1",
            Self::ComplexBelow => "SELECT id FROM complexassembly WHERE super = $1 ORDER BY id",
            Self::BasesBelow => "SELECT id FROM baseassembly WHERE super = $1 ORDER BY id",
            Self::Components => "SELECT composite FROM componentpriv WHERE assembly = $1",
            Self::SharedComponents => "SELECT composite FROM componentshar WHERE assembly = $1",
            Self::RootPart => "SELECT rootpart FROM compositepart WHERE id = $1",
            Self::Part => "SELECT id, type, builddate, x, y, docid FROM atomicpart WHERE id = $1",
            Self::Connected => "SELECT too FROM connection WHERE frm = $1",
            Self::ConnectedParts => {
                "SELECT p.id, p.type, p.builddate, p.x, p.y, p.docid FROM connection c \
                 JOIN atomicpart p ON p.id = c.too WHERE c.frm = $1"
            }
            Self::Dated => {
                "SELECT id, type, builddate, x, y, docid FROM atomicpart \
                 WHERE builddate BETWEEN $1 AND $2"
            }
            Self::Scan => "SELECT id, type, builddate, x, y, docid FROM atomicpart",
            Self::CompositeOf => "SELECT composite FROM atomicpart WHERE id = $1",
            Self::Composite => "SELECT id, type, builddate FROM compositepart WHERE id = $1",
            Self::Users => "SELECT assembly FROM componentpriv WHERE composite = $1",
            Self::Base => "SELECT id, type, builddate, super FROM baseassembly WHERE id = $1",
            Self::Complex => "SELECT id, type, builddate, super FROM complexassembly WHERE id = $1",
            Self::Bases => "SELECT id FROM baseassembly",
            Self::Older => {
                "SELECT id, type, builddate FROM baseassembly b WHERE EXISTS (\
                 SELECT 1 FROM componentpriv c JOIN compositepart p ON p.id = c.composite \
                 WHERE c.assembly = b.id AND p.builddate > b.builddate)"
            }
            Self::Titled => "SELECT composite FROM document WHERE title = $1",
            Self::Document => "SELECT text FROM document WHERE composite = $1",
            Self::Manual => "SELECT text FROM manual WHERE id = $1",
            Self::DocumentsOfParts => {
                "SELECT p.id, d.title FROM atomicpart p JOIN document d ON d.id = p.docid"
            }
            _ => self.change(),
        }
    }

    const fn change(self) -> &'static str {
        match self {
            Self::Swap => "UPDATE atomicpart SET x = y, y = x WHERE id = $1",
            Self::ToggleDate => {
                "UPDATE atomicpart SET builddate = \
                 builddate + CASE WHEN builddate % 2 = 0 THEN -1 ELSE 1 END WHERE id = $1"
            }
            Self::Rewrite => "UPDATE document SET text = $1 WHERE composite = $2",
            Self::AddPart => "INSERT INTO atomicpart VALUES ($1, $2, $3, $4, $5, $6, $7)",
            Self::AddConnection => "INSERT INTO connection VALUES ($1, $2, $3, $4)",
            Self::AddComposite => "INSERT INTO compositepart VALUES ($1, $2, $3, $4)",
            Self::AddDocument => "INSERT INTO document VALUES ($1, $2, $3, $4)",
            Self::AddPrivate => "INSERT INTO componentpriv VALUES ($1, $2)",
            Self::DeleteConnections => {
                "DELETE FROM connection WHERE frm IN \
                 (SELECT id FROM atomicpart WHERE composite = $1)"
            }
            Self::DeleteParts => "DELETE FROM atomicpart WHERE composite = $1",
            Self::DeleteDocument => "DELETE FROM document WHERE composite = $1",
            Self::DeletePrivate => "DELETE FROM componentpriv WHERE composite = $1",
            Self::DeleteShared => "DELETE FROM componentshar WHERE composite = $1",
            _ => "DELETE FROM compositepart WHERE id = $1",
        }
    }

    /// The statements by which a composite part is deleted, in their order.
    pub const DELETIONS: [Self; 6] = [
        Self::DeleteConnections,
        Self::DeleteParts,
        Self::DeleteDocument,
        Self::DeletePrivate,
        Self::DeleteShared,
        Self::DeleteComposite,
    ];
}

/// Everything that is stored, relation by relation: what each row is, and the statement.
pub const CONTENTS: [(Stored, &str); 10] = [
    (Stored::Module, "SELECT id, type, builddate, root FROM module"),
    (Stored::Manual, "SELECT id, title, text FROM manual"),
    (Stored::Complex, "SELECT id, type, builddate, super, module FROM complexassembly"),
    (Stored::Base, "SELECT id, type, builddate, super, module FROM baseassembly"),
    (Stored::Private, "SELECT assembly, composite FROM componentpriv"),
    (Stored::Shared, "SELECT assembly, composite FROM componentshar"),
    (Stored::Composite, "SELECT id, type, builddate, rootpart FROM compositepart"),
    (Stored::Document, "SELECT composite, title, text FROM document"),
    (Stored::Part, "SELECT id, type, builddate, x, y, docid, composite FROM atomicpart"),
    (Stored::Connection, "SELECT frm, too, type, length FROM connection"),
];

/// The object that a stored row describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// A module.
    Module,
    /// A module's manual.
    Manual,
    /// A complex assembly.
    Complex,
    /// A base assembly.
    Base,
    /// A private component of a base assembly.
    Private,
    /// A shared component of a base assembly.
    Shared,
    /// A composite part.
    Composite,
    /// A composite part's document.
    Document,
    /// An atomic part.
    Part,
    /// A connection.
    Connection,
}
