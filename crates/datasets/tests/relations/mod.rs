//! The way in which tests read a relation's columns, and the property that every relation has: any
//! split gives the same rows.
#![allow(dead_code, reason = "each test program uses some of them")]

use std::sync::Arc;

use loadstone_datasets::{Column, Relation, Source, read_all, source};

/// The attribute of that name.
pub fn column<'a>(relation: &'a Relation, name: &str) -> &'a Column {
    &relation.columns.iter().find(|(each, _)| each == name).expect("an attribute").1
}

/// The values of an attribute of two or four bytes.
pub fn integers(relation: &Relation, name: &str) -> Vec<i64> {
    match column(relation, name) {
        Column::Int16(values) => values.iter().map(|value| i64::from(*value)).collect(),
        Column::Int32(values) => values.iter().map(|value| i64::from(*value)).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The values of an attribute of characters, without the blanks that fill them.
pub fn texts(relation: &Relation, name: &str) -> Vec<String> {
    let Column::Text { width, bytes } = column(relation, name) else { panic!("{name} is no text") };
    let texts = bytes.chunks_exact(*width).map(str::from_utf8);
    texts.map(|text| text.expect("ASCII").trim_end().to_owned()).collect()
}

/// Parts laid end to end, cut at these shares of the rows, are the whole: each read afresh, and all
/// by one cursor.
pub fn assert_same_rows(source: &Arc<dyn Source>, cuts: &[f64]) {
    let rows = source.rows();
    let whole = read_all(source);
    let mut cuts: Vec<u64> = cuts.iter().map(|cut| (cut * rows as f64) as u64).collect();
    cuts.extend([0, rows]);
    cuts.sort_unstable();
    let mut afresh = source::empty(source.as_ref());
    let mut pieces = source::empty(source.as_ref());
    let mut cursor = Arc::clone(source).cursor(0);
    for cut in cuts.windows(2) {
        let count = (cut[1] - cut[0]) as usize;
        Arc::clone(source).cursor(cut[0]).read(count, &mut afresh);
        cursor.read(count, &mut pieces);
        assert_eq!(cursor.position(), cut[1]);
    }
    assert_eq!(afresh, whole);
    assert_eq!(pieces, whole);
}
