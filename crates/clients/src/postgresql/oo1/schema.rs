//! The database in the server: tables, load, indexes, functions; and what the server says of it.
//!
//! Parts lie in order of id, connections in order of the part they leave, since they are copied in
//! that order. Indexes are made after the rows, each by a statement of its own.

use std::io::Write;

use loadstone_datasets::oo1::Database;

use crate::oo1::part::Kind;
use crate::postgresql::session::Session;
use crate::postgresql::wire::WireError;

/// `@.` stands for the schema, by name: a database's event triggers may have changed the session's
/// path before any of these statements, or at its start.
const TABLES: [&str; 4] = [
    "DROP TABLE IF EXISTS @.connection",
    "DROP TABLE IF EXISTS @.part",
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

/// What a function's rows are: parts, or ids of parts.
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

/// What a term is called, and the query that reads it back.
const TERMS: [(&str, &str); 16] = [
    ("version", "SHOW server_version"),
    ("durability", "SELECT 'synchronous_commit ' || current_setting('synchronous_commit')"),
    ("fsync", "SHOW fsync"),
    ("full_page_writes", "SHOW full_page_writes"),
    ("wal_sync_method", "SHOW wal_sync_method"),
    ("isolation", "SHOW default_transaction_isolation"),
    ("cache", "SELECT 'shared_buffers ' || current_setting('shared_buffers')"),
    ("work_mem", "SHOW work_mem"),
    ("jit", "SHOW jit"),
    ("plan_cache_mode", "SHOW plan_cache_mode"),
    (
        "encryption",
        "SELECT CASE WHEN ssl THEN 'TLS' ELSE 'none' END FROM pg_stat_ssl \
         WHERE pid = pg_backend_pid()",
    ),
    ("parallelism", "SHOW max_parallel_workers_per_gather"),
    (
        // The statistics tell how far the rows lie in the order of a column.
        "order of rows",
        // `format` writes a number without asking for a cast, which could be a user's own.
        "SELECT coalesce(string_agg(format('%s by %s %s', tablename, attname, \
         round(correlation::numeric, 3)), ', ' ORDER BY tablename), 'not known') FROM pg_stats \
         WHERE schemaname = current_schema() AND (tablename, attname) \
         IN (('part', 'id'), ('connection', 'frm'))",
    ),
    ("schema", "SELECT current_schema()"),
    (
        "indexes",
        "SELECT coalesce(string_agg(indexname || ' ' || substring(indexdef FROM '\\(.*\\)'), ', ' \
         ORDER BY indexname), 'none') FROM pg_indexes WHERE schemaname = current_schema() \
         AND tablename IN ('part', 'connection')",
    ),
    ("transport", "SELECT CASE WHEN inet_server_port() IS NULL THEN 'Unix socket' ELSE 'TCP' END"),
];

/// A name in SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// See and make unqualified names in one schema only, the system's own aside.
pub fn enter(session: &mut Session, schema: &str) -> Result<(), WireError> {
    session.execute(&format!("SET search_path TO {}", quoted(schema)))
}

/// A statement of ours with the schema's name in it.
fn within(schema: &str, statement: &str) -> String {
    statement.replace("@.", &format!("{}.", quoted(schema)))
}

/// Whether both tables are there.
pub fn is_loaded(session: &mut Session) -> Result<bool, WireError> {
    let found = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() \
                 AND tablename IN ('part', 'connection')";
    Ok(session.value(found)?.as_deref() == Some("2"))
}

/// Make the schema and all in it, in place of what OO1 had there.
pub fn load(session: &mut Session, schema: &str, database: &Database) -> Result<(), WireError> {
    session.execute(&format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(schema)))?;
    session.execute("BEGIN")?;
    if let Err(error) = copy(session, schema, database) {
        // The first error is the one to tell of.
        _ = session.execute("ROLLBACK");
        return Err(error);
    }
    session.execute("COMMIT")?;
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
    // What comes now defines nothing, so no event trigger changes the path again.
    enter(session, schema)?;
    match session.execute("CHECKPOINT") {
        // Only some roles may: what is left in the log is the server's own business then.
        Err(WireError::Server { code, .. }) if code == INSUFFICIENT_PRIVILEGE => Ok(()),
        done => done,
    }
}

/// SQLSTATE, the manual's appendix A.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

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

/// Bytes of both tables with their indexes.
pub fn size_bytes(session: &mut Session) -> Result<u64, WireError> {
    let size = "SELECT pg_total_relation_size('part') + pg_total_relation_size('connection')";
    Ok(session.value(size)?.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// The text that the server has under that name for this session; `None` where it has none.
pub fn prepared(session: &mut Session, name: &str) -> Result<Option<String>, WireError> {
    session.value(&format!("SELECT statement FROM pg_prepared_statements WHERE name = '{name}'"))
}

/// What the server says about itself.
pub fn terms(session: &mut Session) -> Result<Vec<(String, String)>, WireError> {
    let mut terms = Vec::with_capacity(TERMS.len());
    for (name, query) in TERMS {
        let told = session.value(query)?.unwrap_or_default();
        // Beside its workers, the session itself works.
        let workers = if name == "parallelism" { told.parse::<u64>().ok() } else { None };
        terms.push((name.to_owned(), workers.map_or(told, |n| (n + 1).to_string())));
    }
    Ok(terms)
}
