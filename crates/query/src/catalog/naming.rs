//! The rule for a new relation: it has attributes, and QUEL can say all of its names.

use loadstone_quel::naming::{attribute_fault, relation_fault};
use lode::LodeError;

use super::record::NAME_BYTES_MAX;
use crate::error::{QueryError, Result};
use crate::tuple::Layout;

/// Refuse a relation that could not be read again, or not be spoken of.
///
/// # Errors
///
/// [`QueryError::Input`] without attributes and for a name that no text can say;
/// [`LodeError::TooLong`] for one that does not fit its record.
pub(super) fn judge(name: &str, layout: &Layout) -> Result<()> {
    fits("a relation's name", name)?;
    refuse(relation_fault(name))?;
    if layout.fields.is_empty() {
        let what = format!("`{name}` would have no attributes: give it one at least");
        return Err(QueryError::Input { what });
    }
    layout.fields.iter().try_for_each(|field| {
        fits("an attribute's name", &field.name)?;
        refuse(attribute_fault(&field.name))
    })
}

fn fits(what: &'static str, name: &str) -> Result<()> {
    let (bytes, bytes_max) = (name.len(), NAME_BYTES_MAX);
    if bytes > bytes_max {
        return Err(LodeError::TooLong { what, bytes, bytes_max }.into());
    }
    Ok(())
}

fn refuse(fault: Option<String>) -> Result<()> {
    fault.map_or(Ok(()), |what| Err(QueryError::Input { what }))
}
