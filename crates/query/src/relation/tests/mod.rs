//! Relations and their catalog, in a database in memory.

mod catalog;
mod crashes;
mod interrupted;
mod model;

use std::sync::Arc;

use loadstone_quel::schema::Kind;
use lode::internals::disk::Memory;
use lode::{Database, PageRead, Tactics};

use super::*;
use crate::catalog::{Catalog, Organisation};
use crate::tuple::Layout;

/// With memory enough.
fn workspace() -> Workspace {
    Workspace::of(1 << 24)
}

fn database() -> Database {
    let tactics: Tactics = "cache=1048576&extent=4".parse().unwrap();
    Database::on(Arc::new(Memory::new()), Arc::new(Memory::new()), &tactics).unwrap()
}
