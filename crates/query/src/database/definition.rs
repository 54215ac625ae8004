//! Commands that define: relations, their storage structures and indexes.

use loadstone_quel::error::Fault;
use loadstone_quel::schema::Attribute;
use loadstone_quel::tree::{Name, Statement};

use crate::catalog::{self, Catalog, RelationInfo};
use crate::error::Result;
use crate::execution::Transaction;
use crate::relation::{Design, Loader, NewIndex, NewStructure, Workspace, add_index, modify};
use crate::tactics::FileLayout;
use crate::tuple::Layout;

/// A new relation without tuples.
pub(super) fn create(
    transaction: &mut Transaction,
    name: &str,
    schema: &[Attribute],
    layout: FileLayout,
    workspace: &Workspace,
) -> Result<()> {
    let fields = schema.iter().map(|attribute| (attribute.name.clone(), attribute.kind, false));
    let pages = transaction.writing()?;
    let design = Design { layout, ..Design::default() };
    let loader = Loader::new(pages, name, Layout::of(fields), design, workspace)?;
    // The check has seen that none has the name: there is none to be replaced.
    loader.finish_in(pages, &Catalog::default())?;
    Ok(())
}

/// Relations go, with their indexes.
pub(super) fn destroy(
    transaction: &mut Transaction,
    catalog: &Catalog,
    names: &[String],
) -> Result<()> {
    let pages = transaction.writing()?;
    for info in names.iter().filter_map(|name| catalog.relation(name)) {
        catalog::remove(pages, info)?;
    }
    Ok(())
}

/// A storage structure or an index; nothing for other commands.
pub(super) fn structure(
    transaction: &mut Transaction,
    catalog: &Catalog,
    command: &Statement,
    source: &str,
    layout: FileLayout,
    workspace: &Workspace,
) -> Result<()> {
    match command {
        Statement::Index { clustered, relation, attributes, unique } => {
            let Some(info) = catalog.relation(&relation.text) else { return Ok(()) };
            let pages = transaction.writing()?;
            let attributes = positions(info, attributes);
            let is_unique = *unique;
            let mut info = RelationInfo::clone(info);
            if *clustered {
                let clustered = NewStructure::Clustered(attributes.clone());
                info = modify(pages, &info, clustered, layout, workspace)?;
            }
            if is_unique || !*clustered {
                let index = NewIndex { attributes, is_unique, is_primary: false, is_hash: false };
                add_index(pages, &mut info, &index, workspace)?;
            }
            Ok(())
        }
        Statement::Modify { relation, structure, key } => {
            let Some(info) = catalog.relation(&relation.text) else { return Ok(()) };
            let new = new_structure(info, structure, key).map_err(|fault| fault.meaning(source))?;
            modify(transaction.writing()?, info, new, layout, workspace)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn new_structure(
    info: &RelationInfo,
    structure: &Name,
    key: &[Name],
) -> Result<NewStructure, Fault> {
    // INGRES takes the first attribute where no key is named.
    let key = if key.is_empty() { vec![0] } else { positions(info, key) };
    Ok(match structure.text.as_str() {
        "heap" => NewStructure::Heap,
        "isam" | "btree" => NewStructure::Clustered(key),
        "hash" => NewStructure::Hash(key),
        other => {
            let message = format!("lode does not store relations as `{other}`");
            return Err(Fault::new(structure.span, message)
                .expecting("structures there are: heap, isam and btree (the same here), hash"));
        }
    })
}

/// The positions of attributes, which the check has found in the relation.
fn positions(info: &RelationInfo, names: &[Name]) -> Vec<usize> {
    names.iter().filter_map(|name| info.layout.position(&name.text)).collect()
}
