//! The relations that the examples measure: tenktup1 of the scaled Wisconsin benchmark (1993), and
//! bprime with a tenth of its rows.

use std::error::Error;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, RecordBatchIterator, StringArray};
use loadstone_datasets::{Column, open, read_all};
use loadstone_quel::schema::{Attribute, Kind};
use lode::internals::disk::Memory;
use lode_query::database::{Database, Storage};
use lode_query::tactics::Tactics;

pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// Both relations, in memory, with statistics; tenktup1 has so many rows.
pub fn loaded(tactics: &Tactics, rows: u64) -> Outcome<Database> {
    let (volume, log) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    let database = Database::over(lode::Database::on(volume, log, &tactics.storage)?, tactics);
    for relation in ["tenktup1", "bprime"] {
        load(&database, relation, rows)?;
    }
    database.settle(&["tenktup1", "bprime"])?;
    Ok(database)
}

fn load(database: &Database, name: &str, rows: u64) -> Outcome<()> {
    let relation = read_all(&open("wisconsin", "1993", name, rows, 0)?);
    let (mut attributes, mut columns) = (Vec::new(), Vec::new());
    for (name, column) in &relation.columns {
        let (kind, array): (_, ArrayRef) = match column {
            Column::Int32(values) => {
                (Kind::Integer { bytes: 4 }, Arc::new(Int32Array::from(values.clone())))
            }
            Column::Text { width, bytes } => {
                let texts: Result<Vec<_>, _> =
                    bytes.chunks(*width).map(std::str::from_utf8).collect();
                (Kind::Text { width: *width }, Arc::new(StringArray::from_iter_values(texts?)))
            }
            _ => return Err("the relations of 1993 have no other types".into()),
        };
        attributes.push(Attribute { name: name.clone(), kind });
        columns.push((name.clone(), array));
    }
    let batch = RecordBatch::try_from_iter(columns)?;
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    database.load(&relation.name, &attributes, &Storage::default(), batches)?;
    Ok(())
}
