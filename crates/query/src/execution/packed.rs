//! Which values of a row a sink gets, and in which form.

use loadstone_quel::schema::Kind;
use loadstone_quel::tree::Span;

use crate::expression::Expr;
use crate::plan::{Pack, Sink};
use crate::tuple::{Field, Layout};

/// The values that an executor computes for each row that reaches a sink, and writes to one tuple.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    /// One for each field.
    pub values: Vec<Expr>,
    /// The form of the tuple.
    pub layout: Layout,
    /// The place where a value that does not fit its field is shown.
    pub span: Span,
}

impl Packed {
    /// For a sink that gets tuples; None for an aggregation, which gets values.
    ///
    /// The tuple of a replace begins with the record id, an integer of eight bytes; that of a
    /// delete is nothing else.
    pub fn of(sink: &Sink) -> Option<Self> {
        Some(match sink {
            Sink::Rows(pack)
            | Sink::Store { pack, .. }
            | Sink::Append { pack, .. }
            | Sink::Build { pack, .. }
            | Sink::Materialise { pack, .. }
            | Sink::Sort { pack, .. } => Self::of_pack(pack),
            Sink::Replace { id, pack, .. } => Self::behind_id(id, Self::of_pack(pack)),
            Sink::Delete { id, .. } => {
                let nothing =
                    Self { values: Vec::new(), layout: Layout::default(), span: Span::default() };
                Self::behind_id(id, nothing)
            }
            Sink::Aggregate { .. } => return None,
        })
    }

    /// The values of a pack.
    pub fn of_pack(pack: &Pack) -> Self {
        Self { values: pack.values.clone(), layout: pack.layout.clone(), span: pack.span }
    }

    fn behind_id(id: &Expr, mut rest: Self) -> Self {
        let bytes = size_of::<i64>();
        let (name, kind) = ("record_id".to_owned(), Kind::Integer { bytes });
        for field in &mut rest.layout.fields {
            field.offset += bytes;
            field.null_at = field.null_at.map(|at| at + bytes);
        }
        rest.layout.fields.insert(0, Field { name, kind, offset: 0, null_at: None });
        rest.layout.bytes += bytes;
        rest.values.insert(0, id.clone());
        rest
    }
}
