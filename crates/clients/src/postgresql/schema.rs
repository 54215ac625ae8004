//! Our part of a server, the same for every benchmark: a schema, in which everything is, and what
//! the server says about itself.

use super::session::Session;
use super::wire::WireError;

/// SQLSTATE, the manual's appendix A.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// The tables of all benchmarks, of which two have one name: a load leaves no other's.
const OURS: [&str; 11] = [
    "part",
    "connection",
    "module",
    "manual",
    "complexassembly",
    "baseassembly",
    "componentpriv",
    "componentshar",
    "compositepart",
    "document",
    "atomicpart",
];

/// Each term's name, and the query that reads it back.
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
        // The statistics report how far the rows lie in the order of a column.
        "order of rows",
        // `format` writes a number without requesting a cast, which could be a user's own.
        "SELECT coalesce(string_agg(format('%s by %s %s', tablename, attname, \
         round(correlation::numeric, 3)), ', ' ORDER BY tablename), 'not known') FROM pg_stats \
         WHERE schemaname = current_schema() AND (tablename, attname) IN (('part', 'id'), \
         ('connection', 'frm'), ('atomicpart', 'id'), ('componentpriv', 'assembly'))",
    ),
    ("schema", "SELECT current_schema()"),
    (
        "indexes",
        "SELECT coalesce(string_agg(indexname || ' ' || substring(indexdef FROM '\\(.*\\)'), ', ' \
         ORDER BY indexname), 'none') FROM pg_indexes WHERE schemaname = current_schema()",
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

/// A statement of ours with the schema's name in it: `@.` stands for it, by name, since a
/// database's event triggers may have changed the session's path before any statement, or at its
/// start.
pub fn within(schema: &str, statement: &str) -> String {
    statement.replace("@.", &format!("{}.", quoted(schema)))
}

/// Make the schema, and all that `make` makes in it in place of what was there, in one transaction.
pub fn made(
    session: &mut Session,
    schema: &str,
    make: impl FnOnce(&mut Session) -> Result<(), WireError>,
) -> Result<(), WireError> {
    session.execute(&format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(schema)))?;
    session.execute("BEGIN")?;
    let dropped = OURS.into_iter().try_for_each(|table| {
        session.execute(&within(schema, &format!("DROP TABLE IF EXISTS @.{table}")))
    });
    if let Err(error) = dropped.and_then(|()| make(session)) {
        // The first error is the one to report.
        _ = session.execute("ROLLBACK");
        return Err(error);
    }
    session.execute("COMMIT")
}

/// Write what was loaded to its place.
pub fn checkpoint(session: &mut Session) -> Result<(), WireError> {
    match session.execute("CHECKPOINT") {
        // Only some roles may: what is left in the log is the server's own business then.
        Err(WireError::Server { code, .. }) if code == INSUFFICIENT_PRIVILEGE => Ok(()),
        done => done,
    }
}

/// Whether these tables are there.
pub fn has(session: &mut Session, tables: &[&str]) -> Result<bool, WireError> {
    let found = format!(
        "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() \
         AND tablename IN ('{}')",
        tables.join("', '")
    );
    let count = session.value(&found)?;
    Ok(count.and_then(|text| text.parse().ok()) == Some(tables.len()))
}

/// Bytes of all tables with their indexes.
pub fn size_bytes(session: &mut Session) -> Result<u64, WireError> {
    let size = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c \
                JOIN pg_namespace n ON n.oid = c.relnamespace \
                WHERE n.nspname = current_schema() AND c.relkind = 'r'";
    Ok(session.value(size)?.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// The text that the server has under that name for this session; `None` where it has none.
pub fn prepared(session: &mut Session, name: &str) -> Result<Option<String>, WireError> {
    session.value(&format!("SELECT statement FROM pg_prepared_statements WHERE name = '{name}'"))
}

/// The server's terms.
pub fn terms(session: &mut Session) -> Result<Vec<(String, String)>, WireError> {
    let mut terms = Vec::with_capacity(TERMS.len());
    for (name, query) in TERMS {
        let reported = session.value(query)?.unwrap_or_default();
        // Beside its workers, the session itself works.
        let workers = if name == "parallelism" { reported.parse::<u64>().ok() } else { None };
        terms.push((name.to_owned(), workers.map_or(reported, |n| (n + 1).to_string())));
    }
    Ok(terms)
}
