//! Access methods do not know whether their pages are a server's.

use std::collections::BTreeMap;

use lode::internals::btree::Btree;
use lode::internals::named;
use lode::remote::Remote;
use lode::{Database, PageRead, Tactics};

use crate::clients::next;
use crate::setup::{Bank, tactics};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn insert(remote: &Remote, state: &mut u64, model: &mut Model, count: usize) {
    let mut writing = remote.writing();
    let tree: Btree = named::find_or_create(&mut writing, "parts").unwrap();
    let mut changed = model.clone();
    for _ in 0..count {
        let key = format!("part {:05}", next(state, 4_000)).into_bytes();
        if next(state, 4) == 0 {
            tree.remove(&mut writing, &key).unwrap();
            changed.remove(&key);
        } else {
            let value = vec![next(state, 256) as u8; next(state, 200)];
            tree.put(&mut writing, &key, &value).unwrap();
            changed.insert(key, value);
        }
    }
    if next(state, 5) > 0 {
        writing.commit().unwrap();
        *model = changed;
    }
}

fn compare(remote: &Remote, model: &Model) {
    let reading = remote.reading();
    let tree: Btree = named::find(&reading, "parts").unwrap();
    agrees(&reading, tree, model);
}

fn agrees(pages: &impl PageRead, tree: Btree, model: &Model) {
    for (key, value) in model {
        let found = tree.get(pages, key, |found| Some(found.to_vec())).unwrap().flatten();
        assert_eq!(found.as_ref(), Some(value));
    }
}

#[test]
fn a_tree_grows_by_the_hands_of_two_clients() {
    for (server, client) in [
        ("locks=database&cache=131072", "cache=4194304&readahead=on"),
        ("locks=page&log=page-grain&checkpoint=131072&extent=4", "cache=1048576&replacement=lru"),
        ("locks=page&log=set-range&checkpoint=131072&cache=131072", ""),
        ("locks=relation&log=set-range&checkpoint=131072&cache=131072&extent=4", "cache=1048576"),
    ] {
        let bank = Bank::open(server);
        let remotes = [bank.client(client), bank.client(client)];
        let (mut state, mut model) = (3, Model::new());
        for round in 0..24 {
            insert(&remotes[round % 2], &mut state, &mut model, 40);
            if round % 6 == 5 {
                compare(&remotes[(round + 1) % 2], &model);
            }
        }
        let remote = bank.client("");
        compare(&remote, &model);
        drop((remotes, remote));
        let (database, _) = bank.reopen();
        let reading = database.reading();
        let tree: Btree = named::find(&reading, "parts").unwrap();
        agrees(&reading, tree, &model);
    }
}

#[test]
fn tactics_are_each_where_they_belong() {
    let text = "locks=page&log=page-grain&durability=group&extent=8&cache=131072";
    let bank = Bank::open(text);
    let remote = bank.client("cache=1048576&replacement=lru&swizzle=on&locks=database");
    let wanted = tactics(
        "locks=page&log=page-grain&durability=group&extent=8&cache=1048576&replacement=lru\
         &swizzle=on",
    );
    assert_eq!(*remote.tactics(), wanted);
    assert_eq!(remote.extent_pages(), 8);
}

#[test]
fn an_abandoned_server_loses_nothing_committed() {
    let bank = Bank::open("locks=database&durability=full");
    let remote = bank.client("");
    let mut model = Model::new();
    insert(&remote, &mut 4, &mut model, 30);
    insert(&remote, &mut 5, &mut model, 30);
    bank.server.abandon();
    let database = Database::on(bank.volume, bank.log, &Tactics::default()).unwrap();
    assert!(database.recovery().is_some());
    let reading = database.reading();
    let tree: Btree = named::find(&reading, "parts").unwrap();
    agrees(&reading, tree, &model);
}
