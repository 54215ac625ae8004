//! The engines and designs that all tests run against: add a variant here and nowhere else.

use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::{Client, Database};
use loadstone_clients::{Address, Tactics};
use tempfile::TempDir;

/// An engine with the tactics that make a difference to its answers.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    pub engine: &'static str,
    pub tactics: &'static [(&'static str, &'static str)],
    /// Whether it keeps what it was given when it is closed.
    pub keeps: bool,
    /// Whether concurrent users may have it at once.
    pub shares: bool,
}

const FAST: (&str, &str) = ("durability", "none");

pub const VARIANTS: [Variant; 16] = [
    Variant { engine: "memory", tactics: &[], keeps: false, shares: false },
    Variant { engine: "memory", tactics: &[PREFETCH], keeps: false, shares: false },
    Variant { engine: "sqlite", tactics: &[FAST, ("access", "rowid")], keeps: true, shares: true },
    Variant {
        engine: "sqlite",
        tactics: &[FAST, ("access", "clustered")],
        keeps: true,
        shares: true,
    },
    Variant {
        engine: "sqlite",
        tactics: &[FAST, ("access", "objects")],
        keeps: true,
        shares: true,
    },
    Variant {
        engine: "sqlite",
        tactics: &[FAST, ("transaction", "call")],
        keeps: true,
        shares: true,
    },
    Variant { engine: "sqlite", tactics: &[("durability", "full")], keeps: true, shares: true },
    Variant { engine: "lmdb", tactics: &[FAST, ("access", "objects")], keeps: true, shares: true },
    Variant {
        engine: "lmdb",
        tactics: &[("durability", "full"), ("access", "links")],
        keeps: true,
        shares: true,
    },
    lode(&[FAST]),
    lode(&[("access", "objects"), ("swizzle", "on"), ("locks", "page"), SMALL]),
    lode(&[("access", "links"), ("swizzle", "on"), ("log", "page-grain"), FAST]),
    lode(&[("access", "objects"), PREFETCH, SMALL, FAST]),
    lode(&[("access", "links"), ("swizzle", "on"), ("locks", "relation"), PREFETCH, SMALL, FAST]),
    lode(&[("access", "btree"), ("locks", "relation"), ("durability", "group")]),
    lode(&[("access", "hash"), ("locks", "page"), SMALL, FAST]),
];

/// Before the records of one parent are read.
const PREFETCH: (&str, &str) = ("prefetch", "on");

/// A cache that even a small database overflows.
const SMALL: (&str, &str) = ("cache", "196608");

const fn lode(tactics: &'static [(&'static str, &'static str)]) -> Variant {
    Variant { engine: "lode", tactics, keeps: true, shares: true }
}

/// A small database, in two seeds.
pub fn database(parts: u64, locality: bool) -> Database {
    Database::new(parts, 7 + parts, locality).expect("the size is allowed")
}

impl Variant {
    /// Whether the engine walks along links by itself.
    pub fn walks(self) -> bool {
        let by_keys = ["btree", "hash"].map(|access| ("access", access));
        self.engine == "lode" && !self.tactics.iter().any(|tactic| by_keys.contains(tactic))
    }

    /// Open it in a folder.
    pub fn open(self, folder: &TempDir, database: Database) -> Box<dyn Client> {
        let path = folder.path().join("database").display().to_string();
        let address = Address { database: path, library: None };
        let tactics = Tactics::new(self.tactics.iter().copied());
        open(self.engine, &address, tactics, database).expect("it opens in an empty folder")
    }

    /// Open it in a folder and load it.
    pub fn load(self, folder: &TempDir, database: Database) -> Box<dyn Client> {
        let mut client = self.open(folder, database);
        client.load().expect("it loads");
        client
    }
}
