//! OO1's database in the server: tables, load, indexes, functions.
//!
//! Parts lie in order of id, connections in order of the part they leave, since they are copied in
//! that order. Indexes are made after the rows, each by a statement of its own.

use std::io::Write;

use loadstone_datasets::oo1::Database;

use crate::oo1::part::Kind;
use crate::postgresql::schema::{checkpoint, enter, made, quoted, within};
use crate::postgresql::session::Session;
use crate::postgresql::wire::WireError;

/// `@.` stands for the schema: see [`within`].
const TABLES: [&str; 2] = [
    "CREATE TABLE @.part (id int4 NOT NULL, type varchar(10) NOT NULL, x int4 NOT NULL, \
     y int4 NOT NULL, build timestamp NOT NULL)",
    "CREATE TABLE @.connection (frm int4 NOT NULL, too int4 NOT NULL, type varchar(10) NOT NULL, \
     length int4 NOT NULL)",
];

/// VACUUM stands alone: in a transaction with others it fails and takes them with it.
const FINISH: [&str; 6] = [
    "ALTER TABLE @.part ADD CONSTRAINT part_id PRIMARY KEY (id)",
    "CREATE INDEX part_build ON @.part (build)",
    "CREATE INDEX connection_frm ON @.connection (frm)",
    "CREATE INDEX connection_too ON @.connection (too)",
    "VACUUM (ANALYZE) @.part",
    "VACUUM (ANALYZE) @.connection",
];

/// The columns of a function's rows: parts, or ids of parts.
const PART_ROWS: &str = "id int4, x int4, y int4, type varchar";
const ID_ROWS: &str = "id int4";

/// PL/pgSQL, since a function in SQL would be merged into its caller: no procedure were left.
/// The body sees the tables of the schema that it is made in.
const FUNCTIONS: [(&str, &str, &str); 8] = [
    (
        "oo1_part(wanted int4)",
        PART_ROWS,
        "BEGIN RETURN QUERY SELECT p.id, p.x, p.y, p.type FROM part p WHERE p.id = wanted; END",
    ),
    (
        "oo1_parts(wanted int4[])",
        PART_ROWS,
        "BEGIN RETURN QUERY SELECT p.id, p.x, p.y, p.type FROM unnest(wanted) AS w(id) \
         JOIN part p ON p.id = w.id; END",
    ),
    (
        "oo1_forward(start int4)",
        PART_ROWS,
        "BEGIN RETURN QUERY SELECT p.id, p.x, p.y, p.type FROM connection c \
         JOIN part p ON p.id = c.too WHERE c.frm = start; END",
    ),
    (
        "oo1_reverse(start int4)",
        PART_ROWS,
        "BEGIN RETURN QUERY SELECT p.id, p.x, p.y, p.type FROM connection c \
         JOIN part p ON p.id = c.frm WHERE c.too = start; END",
    ),
    (
        "oo1_forward_ids(start int4)",
        ID_ROWS,
        "BEGIN RETURN QUERY SELECT c.too FROM connection c WHERE c.frm = start; END",
    ),
    (
        "oo1_reverse_ids(start int4)",
        ID_ROWS,
        "BEGIN RETURN QUERY SELECT c.frm FROM connection c WHERE c.too = start; END",
    ),
    (
        "oo1_traverse_forward(start int4, depth int4)",
        PART_ROWS,
        "DECLARE level int4[] := ARRAY[start]; BEGIN FOR step IN 0 .. depth LOOP \
         RETURN QUERY SELECT p.id, p.x, p.y, p.type FROM unnest(level) AS l(id) \
         JOIN part p ON p.id = l.id; \
         level := ARRAY(SELECT c.too FROM unnest(level) AS l(id) \
         JOIN connection c ON c.frm = l.id); END LOOP; END",
    ),
    (
        "oo1_traverse_reverse(start int4, depth int4)",
        PART_ROWS,
        "DECLARE level int4[] := ARRAY[start]; BEGIN FOR step IN 0 .. depth LOOP \
         RETURN QUERY SELECT p.id, p.x, p.y, p.type FROM unnest(level) AS l(id) \
         JOIN part p ON p.id = l.id; \
         level := ARRAY(SELECT c.frm FROM unnest(level) AS l(id) \
         JOIN connection c ON c.too = l.id); END LOOP; END",
    ),
];

/// The tables of OO1.
pub const NAMES: [&str; 2] = ["part", "connection"];

/// Make the schema and all in it, in place of what OO1 had there.
pub fn load(session: &mut Session, schema: &str, database: &Database) -> Result<(), WireError> {
    made(session, schema, |session| copy(session, schema, database))?;
    for statement in FINISH {
        session.execute(&within(schema, statement))?;
    }
    let path = quoted(schema);
    for (head, rows, body) in FUNCTIONS {
        session.execute(&format!(
            "CREATE OR REPLACE FUNCTION {path}.{head} RETURNS TABLE ({rows}) \
             LANGUAGE plpgsql STABLE SET search_path TO {path} AS $${body}$$"
        ))?;
    }
    // The statements from here on define nothing, so no event trigger changes the path again.
    enter(session, schema)?;
    checkpoint(session)
}

fn copy(session: &mut Session, schema: &str, database: &Database) -> Result<(), WireError> {
    for statement in TABLES {
        session.execute(&within(schema, statement))?;
    }
    // The tables are of this transaction: frozen rows spare the first reader a second writing.
    let mut parts = database.part_range(1..database.parts + 1);
    session.copy(&within(schema, "COPY @.part FROM STDIN (FREEZE)"), |lines| {
        let Some(part) = parts.next() else { return false };
        let kind = Kind::of(part.kind);
        let (id, x, y, build) = (part.id, part.x, part.y, timestamp(part.build_s));
        writeln!(lines, "{id}\t{}\t{x}\t{y}\t{build}", kind.text()).is_ok()
    })?;
    let mut connections = database.connection_range(0..database.connection_count());
    session.copy(&within(schema, "COPY @.connection FROM STDIN (FREEZE)"), |lines| {
        let Some(connection) = connections.next() else { return false };
        let kind = Kind::of(connection.kind);
        let (from, to, length) = (connection.from, connection.to, connection.length);
        writeln!(lines, "{from}\t{to}\t{}\t{length}", kind.text()).is_ok()
    })
}

/// Seconds since 1970 as the server reads them in COPY: a Julian day and a time of day.
fn timestamp(seconds: i64) -> String {
    const JULIAN_1970: i64 = 2_440_588;
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("J{} {hour:02}:{minute:02}:{:02}", JULIAN_1970 + day, second % 60)
}
