//! The statements of OO1 in DuckDB's SQL, with the columns of their results.

use crate::duckdb::handles::Column;
use crate::oo1::sql::{Hop, Query};

const PART: &[Column] = &[Column::Int, Column::Int, Column::Int, Column::Text];

/// The SQL of a statement, and the columns of its result.
pub const fn statement(query: Query, hop: Hop) -> (&'static str, &'static [Column]) {
    let sql = match query.sql(hop) {
        Some(sql) => sql,
        None => own(query),
    };
    (sql, columns(query, hop))
}

const fn columns(query: Query, hop: Hop) -> &'static [Column] {
    match (query, hop) {
        (Query::Forward | Query::Reverse | Query::Ordered, Hop::Lookup) | (Query::Constant, _) => {
            &[Column::Int]
        }
        (Query::Scan, _) => &[Column::Int, Column::Int],
        (Query::Group, _) => &[Column::Int, Column::Int, Column::Text],
        (
            Query::Insert
            | Query::Connect
            | Query::Update
            | Query::Disconnect
            | Query::Remove
            | Query::Empty,
            _,
        ) => &[],
        _ => PART,
    }
}

/// The statements that `DuckDB` writes in a way of its own.
const fn own(query: Query) -> &'static str {
    match query {
        Query::Update => {
            "UPDATE part SET x = 99999 - x, y = 99999 - y, \
                 build = TIMESTAMP 'epoch' + ($2::TIMESTAMP - build) WHERE id = $1"
        }
        Query::FindBatch => {
            "SELECT p.id, p.x, p.y, p.type FROM unnest(CAST($1 AS INTEGER[])) AS wanted(id) \
                 JOIN part p ON p.id = wanted.id"
        }
        Query::ForwardLevel => {
            "SELECT p.id, p.x, p.y, p.type FROM unnest(CAST($1 AS INTEGER[])) AS level(id) \
                 JOIN connection c ON c.frm = level.id JOIN part p ON p.id = c.too"
        }
        Query::ReverseLevel => {
            "SELECT p.id, p.x, p.y, p.type FROM unnest(CAST($1 AS INTEGER[])) AS level(id) \
                 JOIN connection c ON c.too = level.id JOIN part p ON p.id = c.frm"
        }
        Query::ForwardBatch => {
            "WITH RECURSIVE visit(id, depth) AS (SELECT $1::INTEGER, 0 UNION ALL \
                 SELECT c.too, v.depth + 1 FROM visit v JOIN connection c ON c.frm = v.id \
                 WHERE v.depth < $2::INTEGER) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
        }
        Query::ReverseBatch => {
            "WITH RECURSIVE visit(id, depth) AS (SELECT $1::INTEGER, 0 UNION ALL \
                 SELECT c.frm, v.depth + 1 FROM visit v JOIN connection c ON c.too = v.id \
                 WHERE v.depth < $2::INTEGER) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
        }
        // There is no statement without words; this one is planned as an empty result.
        Query::Empty => "SELECT 1 WHERE false",
        Query::Constant => "SELECT 1::INTEGER",
        // All others are everybody's.
        _ => "",
    }
}
