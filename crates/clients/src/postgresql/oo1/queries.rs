//! The statements of OO1 in PostgreSQL's SQL, by the tactics `statement` and `hop`.

use crate::oo1::sql::{Hop, Query};

/// The tactic `statement`: how a statement reaches the server, and how much one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Parsed once, called by name; a batch traversal is one recursive query.
    Prepared,
    /// The whole text at each call; a batch traversal is one recursive query.
    Text,
    /// PL/pgSQL functions in the server, called by prepared statements; a batch is one call.
    Procedure,
    /// As prepared; in a batch all look-ups (of a level) are sent before an answer is read.
    Pipeline,
    /// As prepared; in a batch traversal one statement takes a level as an array.
    Batch,
}

/// The SQL of a statement.
pub const fn statement(query: Query, style: Style, hop: Hop) -> &'static str {
    if let (Style::Procedure, Some(call)) = (style, procedure(query, hop)) {
        return call;
    }
    match query.sql(hop) {
        Some(sql) => sql,
        None => own(query),
    }
}

/// The call of a function in the server, where there is one.
const fn procedure(query: Query, hop: Hop) -> Option<&'static str> {
    Some(match (query, hop) {
        (Query::Find, _) => "SELECT * FROM oo1_part($1)",
        (Query::Forward, Hop::Lookup) => "SELECT * FROM oo1_forward_ids($1)",
        (Query::Forward, Hop::Join) => "SELECT * FROM oo1_forward($1)",
        (Query::Reverse, Hop::Lookup) => "SELECT * FROM oo1_reverse_ids($1)",
        (Query::Reverse, Hop::Join) => "SELECT * FROM oo1_reverse($1)",
        (Query::FindBatch, _) => "SELECT * FROM oo1_parts($1)",
        (Query::ForwardBatch, _) => "SELECT * FROM oo1_traverse_forward($1, $2)",
        (Query::ReverseBatch, _) => "SELECT * FROM oo1_traverse_reverse($1, $2)",
        _ => return None,
    })
}

/// The statements that PostgreSQL writes in a way of its own.
const fn own(query: Query) -> &'static str {
    match query {
        Query::Update => {
            "UPDATE part SET x = 99999 - x, y = 99999 - y, \
                 build = timestamp 'epoch' + ($2::timestamp - build) WHERE id = $1"
        }
        Query::FindBatch => {
            "SELECT p.id, p.x, p.y, p.type FROM unnest($1::int4[]) AS wanted(id) \
                 JOIN part p ON p.id = wanted.id"
        }
        Query::ForwardLevel => {
            "SELECT p.id, p.x, p.y, p.type FROM unnest($1::int4[]) AS level(id) \
                 JOIN connection c ON c.frm = level.id JOIN part p ON p.id = c.too"
        }
        Query::ReverseLevel => {
            "SELECT p.id, p.x, p.y, p.type FROM unnest($1::int4[]) AS level(id) \
                 JOIN connection c ON c.too = level.id JOIN part p ON p.id = c.frm"
        }
        Query::ForwardBatch => {
            "WITH RECURSIVE visit(id, depth) AS (SELECT $1::int4, 0 UNION ALL \
                 SELECT c.too, v.depth + 1 FROM visit v JOIN connection c ON c.frm = v.id \
                 WHERE v.depth < $2::int4) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
        }
        Query::ReverseBatch => {
            "WITH RECURSIVE visit(id, depth) AS (SELECT $1::int4, 0 UNION ALL \
                 SELECT c.frm, v.depth + 1 FROM visit v JOIN connection c ON c.too = v.id \
                 WHERE v.depth < $2::int4) \
                 SELECT p.id, p.x, p.y, p.type FROM visit v JOIN part p ON p.id = v.id"
        }
        Query::Constant => "SELECT 1::int4",
        // The empty statement; all others are everybody's.
        _ => "",
    }
}
