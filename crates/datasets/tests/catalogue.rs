//! Properties of every relation there is.

use loadstone_datasets::{AttributeType, Column, catalogue, read_range};

#[test]
fn every_relation_has_the_columns_it_declares() {
    for edition in catalogue::EDITIONS {
        for name in edition.relations() {
            let opened = edition.open(name, 10_000, 0).unwrap();
            let relation = read_range(&opened, 0, 3);
            let names: Vec<_> = relation.columns.iter().map(|(name, _)| name.clone()).collect();
            let declared = edition.attributes(name).unwrap();
            assert_eq!(names, declared.iter().map(|each| each.name.clone()).collect::<Vec<_>>());
            for ((_, column), attribute) in relation.columns.iter().zip(&declared) {
                let width = match column {
                    Column::Int16(_) => AttributeType::Int2,
                    Column::Int32(_) => AttributeType::Int4,
                    Column::Int64(_) => AttributeType::Int8,
                    Column::Text { width, .. } => AttributeType::Char(*width),
                    Column::Timestamp(_) => AttributeType::Timestamp,
                };
                assert_eq!(width, attribute.kind);
                assert_eq!(column.rows() as u64, opened.rows().min(3));
            }
        }
    }
}
