//! The answers of a server of statements about its database, each as a text of lines.

use std::fmt::Write;

use lode::LodeError;

use crate::database::{Database, Statement};
use crate::error::{QueryError, Result};
use crate::tactics::Tactics;

/// The names that can be requested, with the text behind each.
const NAMES: &str = "place, tactics, work, phases, relations, size, explain TEXT, access TEXT, \
                     settle NAMES, checkpoint, remove NAME, cancel";

/// Answer, or do, what was requested by name.
pub fn answer(database: &Database, name: &str, text: &str) -> Result<String> {
    match name {
        "place" => here(),
        "tactics" => {
            let storage = database.storage().tactics_in_force();
            let tactics = Tactics { storage, ..*database.tactics() };
            Ok(lines(tactics.pairs().iter().map(|(name, value)| format!("{name} {value}"))))
        }
        "work" => work(database),
        "phases" => {
            let named = database.phases().named();
            Ok(lines(named.into_iter().map(|(name, ns)| format!("{ns} {name}"))))
        }
        "relations" => {
            Ok(lines(database.relations()?.iter().map(|relation| relation.name.clone())))
        }
        "size" => {
            let storage = database.storage();
            let used = lode::internals::space::usage(&storage.reading(), storage.extent_pages())?;
            Ok((used.pages_used * lode::internals::page::PAGE_BYTES as u64).to_string())
        }
        "explain" => database.explain(&Statement::new(text)?, &[]),
        "access" => {
            let plan = database.plan(&Statement::new(text)?, &[])?;
            Ok(lines(plan.access_paths().into_iter().map(str::to_owned)))
        }
        "settle" => {
            database.settle(&text.lines().collect::<Vec<_>>())?;
            Ok(String::new())
        }
        "checkpoint" => {
            database.storage().checkpoint()?;
            Ok(String::new())
        }
        "remove" => Ok(database.remove(text)?.to_string()),
        "cancel" => {
            database.cancel();
            Ok(String::new())
        }
        _ => {
            let what = format!("a server of statements has no request `{name}`: it has {NAMES}");
            Err(QueryError::Input { what })
        }
    }
}

/// The process and the thread that this runs in, as the kernel names them: `17/task/18`.
pub fn here() -> Result<String> {
    let linked = std::fs::read_link("/proc/thread-self");
    let linked = linked.map_err(|source| LodeError::io("reading /proc/thread-self", source))?;
    Ok(linked.display().to_string())
}

/// The counts that a sample has.
fn work(database: &Database) -> Result<String> {
    let work = database.work()?;
    let mut text = String::new();
    for (name, count) in [
        ("tuples", work.tuples),
        ("pages", work.pages),
        ("comparisons", work.comparisons),
        ("hash_probes", work.hash_probes),
        ("spilled_bytes", work.spilled_bytes),
        ("log_bytes", work.log_bytes),
        ("batches_ahead", work.batches_ahead),
        ("functions_compiled", work.functions_compiled),
        ("code_bytes", work.code_bytes),
        ("compile_ns", work.compile_ns),
    ] {
        _ = writeln!(text, "{name} {count}");
    }
    Ok(text)
}

fn lines(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("\n")
}
