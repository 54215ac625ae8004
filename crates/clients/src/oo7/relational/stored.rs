//! The stored contents, row by row: the columns of [`crate::oo7::sql::CONTENTS`].

use super::{Columns, Session, object, part};
use crate::error::ClientError;
use crate::oo7::contents::Contents;
use crate::oo7::sql::Stored;
use crate::oo7::visits::Letters;
use crate::oo7::{Assembly, Kind};

/// Add a row.
pub fn add<S: Session>(
    contents: &mut Contents,
    stored: Stored,
    row: &mut S::Row<'_>,
) -> Result<(), ClientError> {
    match stored {
        Stored::Module => contents.module(&object::<S>(row)?, row.id()),
        Stored::Manual => {
            let (id, title) = (row.id(), row.text());
            contents.manual(id, title, Letters::default().and(row.text()));
        }
        Stored::Complex | Stored::Base => {
            let object = object::<S>(row)?;
            let assembly = Assembly { object, is_base: stored == Stored::Base };
            contents.assembly(&assembly, row.id(), row.id());
        }
        Stored::Private => contents.component(row.id(), row.id(), true),
        Stored::Shared => contents.component(row.id(), row.id(), false),
        Stored::Composite => contents.composite(&object::<S>(row)?, row.id()),
        Stored::Document => {
            let (composite, title) = (row.id(), row.text());
            contents.document(composite, title, Letters::default().and(row.text()));
        }
        Stored::Part => contents.part(&part::<S>(row)?, row.id()),
        Stored::Connection => {
            let (from, to) = (row.id(), row.id());
            let kind = Kind::read(S::ENGINE, row.text())?;
            contents.connection(from, to, kind, row.int());
        }
    }
    Ok(())
}
