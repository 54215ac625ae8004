//! The page server, from outside: clients in threads and in processes, killed ones among them.

#![expect(clippy::unwrap_used, reason = "tests")]

mod answers;
mod backups;
mod caches;
mod clients;
mod contents;
mod kills;
mod loads;
mod processes;
mod refusals;
mod setup;
