//! Whatever is kept of texts and of the catalog equals what would be made anew after every change.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::super::planned::Planned;
use super::*;
use crate::catalog::Catalog;
use crate::plan::{self, Plan};

/// Prepared texts, of which some may be wrong with some of the relations that there are.
const TEXTS: [&str; 5] = [
    "range of p is parts retrieve (p.all) where p.number = $1",
    "range of p is parts retrieve (p.name) where p.number < $1",
    "range of p is parts range of o is orders retrieve (p.name, o.count) where o.part = p.number
       and p.number >= $1",
    "range of p is parts retrieve (x = count(p.name by p.number), n = p.number + $1)",
    "range of o is orders retrieve (o.all) where o.part = $1",
];

/// Changes of the catalog and of what plans follow from, and changes of nothing.
const CHANGES: [&str; 18] = [
    "create orders (part = i4, count = i4)",
    "append to parts (number = 7, name = \"hub\")",
    "modify parts to btree on number",
    "modify parts to hash on number",
    "modify parts to heap",
    "index on parts is partname (name)",
    "index on parts is partnumber (number)",
    "range of p is parts range of q is parts
     append to parts (number = p.number + 10 * q.number, name = p.name)",
    "modify parts to btree on number",
    "destroy orders create orders (count = f8, part = i2)",
    "range of p is parts append to orders (part = p.number, count = 1.5) where p.number < 100",
    "modify orders to hash on part",
    "destroy parts create parts (name = f8, number = c4, weight = i2)",
    "append to parts (number = \"7\", name = 7.5, weight = 7)",
    "range of p is parts retrieve into orders (part = p.weight, count = p.name)",
    "destroy parts create parts (number = i4, name = c12)",
    "append to parts (number = 7, name = \"hub\")",
    "modify orders to btree on part index on orders is counted (count)",
];

fn kept(database: &Database, text: &Statement) -> Result<Arc<Planned>> {
    let transaction = database.storage.reading();
    let catalog = database.catalog.read(&transaction)?;
    database.planned_rows(text, &[Parameter::Integer(7)], &catalog)
}

/// That what is kept is what would be made anew; the plans, None of texts that are wrong.
fn as_made_anew(database: &Database, texts: &[Statement]) -> Vec<Option<Plan>> {
    let catalog = database.catalog.read(&database.storage.reading()).unwrap();
    assert_eq!(*catalog, Catalog::read(&database.storage.reading()).unwrap());
    let plans = texts.iter().map(|text| {
        let new = Statement::new(text.text()).unwrap();
        let new = plan_of(&new, &catalog, database);
        let kept = kept(database, text);
        assert_eq!(kept.as_ref().err().map(ToString::to_string), new.as_ref().err().cloned());
        let kept = kept.ok().map(|kept| kept.plan.clone());
        assert_eq!(kept, new.ok());
        let answer = database.run(text, &[Parameter::Integer(7)]);
        assert_eq!(answer.is_ok(), kept.is_some());
        kept
    });
    plans.collect()
}

fn plan_of(text: &Statement, catalog: &Catalog, database: &Database) -> Result<Plan, String> {
    let mut checker = text.checker(catalog, &[Parameter::Integer(7)]);
    let mut last = None;
    for command in &text.program {
        let step = checker.statement(command).map_err(|fault| fault.meaning(&text.text));
        last = Some(step.map_err(|error| QueryError::from(error).to_string())?);
    }
    let planned = plan::plan(&last.unwrap(), catalog, &database.tactics);
    planned.map_err(|error| error.to_string())
}

#[test]
fn stored_preparations_equal_new_ones_after_every_change() {
    for tactics in ["", "locks=page&cache=1MiB", "optimizer=rules&join=index-merge"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.lode");
        let tactics: Tactics = tactics.parse().unwrap();
        let mut database = Database::create(&path, &tactics).unwrap();
        let texts = TEXTS.map(|text| Statement::new(text).unwrap());
        let other = parts().1;
        for change in ["create parts (number = i4, name = c12)"].iter().chain(&CHANGES) {
            // One that fails leaves nothing, though it has read the catalog that it changed.
            let failing = format!("{change} create parts (a = i4)");
            database.execute(&failing, &[]).unwrap_err();
            as_made_anew(&database, &texts);
            std::thread::scope(|scope| {
                let changed = scope.spawn(|| database.execute(change, &[]).unwrap());
                changed.join().unwrap();
            });
            as_made_anew(&database, &texts);
            let names: Vec<_> = database.relations().unwrap();
            let names: Vec<_> = names.iter().map(|info| info.name.as_str()).collect();
            database.settle(&names).unwrap();
            as_made_anew(&database, &texts);
            // The same statements, asked of another database between.
            as_made_anew(&other, &texts);
        }
        database.close().unwrap();
        database = Database::open(&path, &tactics).unwrap();
        as_made_anew(&database, &texts);
    }
}

#[test]
fn a_plan_follows_statistics_and_structures() {
    let (_folder, database) = parts();
    let texts = [TEXTS[0], TEXTS[1]].map(|text| Statement::new(text).unwrap());
    let mut plans = vec![as_made_anew(&database, &texts)];
    let number = "range of p is parts range of q is parts range of r is parts append to parts
        (number = p.number + 4 * q.number + 16 * r.number + 64)";
    for change in [number, number, "index on parts is x (number)", "modify parts to hash on number"]
    {
        database.execute(change, &[]).unwrap();
        database.settle(&["parts"]).unwrap();
        plans.push(as_made_anew(&database, &texts));
    }
    assert!(plans.windows(2).all(|pair| pair[0] != pair[1]), "{plans:?}");
}

#[test]
fn commands_that_do_not_change_the_catalog_leave_plans() {
    let (_folder, database) = parts();
    let text = Statement::new(TEXTS[0]).unwrap();
    for doubled in 0..9 {
        let text = "range of p is parts append to parts (number = p.number + $1)";
        database.execute(text, &[Parameter::Integer(3 << doubled)]).unwrap();
    }
    let first = kept(&database, &text).unwrap();
    // So few that the catalog need not describe them, and more than a page holds.
    let few = "range of p is parts append to parts (number = -1) where p.number > 0 and
        p.number <= 40";
    for _ in 0..9 {
        assert_eq!(database.execute(few, &[]).unwrap(), Some(40));
    }
    database.execute("range of p is parts delete p where p.number = 1", &[]).unwrap();
    database.storage.forget().unwrap();
    assert!(Arc::ptr_eq(&first, &kept(&database, &text).unwrap()));
    // Of other types of parameters there is another.
    let catalog = database.catalog.read(&database.storage.reading()).unwrap();
    let real = database.planned_rows(&text, &[Parameter::Real(7.0)], &catalog).unwrap();
    assert!(!Arc::ptr_eq(&first, &real));
    let wrong = database.planned_rows(&text, &[Parameter::Text(b"7".to_vec())], &catalog);
    assert!(wrong.is_err());
}

#[test]
fn relations_that_a_text_does_not_name_come_and_go_and_leave_its_plan() {
    let (_folder, database) = parts();
    let text = Statement::new(TEXTS[0]).unwrap();
    let first = kept(&database, &text).unwrap();
    for change in [
        "create orders (part = i4)",
        "append to orders (part = 7) index on orders is x (part)",
        "range of p is PARTS retrieve into copied (p.all)",
        "destroy orders, copied",
    ] {
        database.execute(change, &[]).unwrap();
        assert!(Arc::ptr_eq(&first, &kept(&database, &text).unwrap()), "{change}");
    }
    database.execute("index on parts is partname (name)", &[]).unwrap();
    assert!(!Arc::ptr_eq(&first, &kept(&database, &text).unwrap()));
    // One that a text makes is one that it names.
    let into = Statement::new("range of p is parts retrieve into made (p.all)").unwrap();
    let again = Statement::new("range of m is made append to made (m.all)").unwrap();
    for names in ["", "number = i4", "number = i4, other = i4"] {
        assert_eq!(database.run(&again, &[]).is_ok(), !names.is_empty());
        if !names.is_empty() {
            database.execute(&format!("destroy made create made ({names})"), &[]).unwrap();
            database.run(&again, &[]).unwrap();
        }
        database.run(&into, &[]).unwrap();
    }
}

#[test]
fn range_variables_declared_before_are_part_of_a_text() {
    let (_folder, database) = parts();
    database.execute("create orders (count = i4) append to orders (count = 8)", &[]).unwrap();
    let text = Statement::new("retrieve (x = count(p.all))");
    assert!(text.is_err() || database.run(&text.unwrap(), &[]).is_err());
    let text = Statement::new("retrieve (p.all)").unwrap();
    let of = |relation: &str| [("p".to_owned(), relation.to_owned())].into();
    for relation in ["parts", "orders", "parts"] {
        let Outcome::Rows(rows) =
            database.run(&text.clone().with_ranges(of(relation)), &[]).unwrap()
        else {
            panic!("it retrieves")
        };
        assert_eq!(rows.layout().fields.len(), if relation == "parts" { 3 } else { 1 });
    }
}

#[test]
fn threads_see_a_relation_as_it_was_or_as_it_is() {
    for tactics in ["", "locks=page"] {
        let folder = tempfile::tempdir().unwrap();
        let tactics: Tactics = format!("durability=none&{tactics}").parse().unwrap();
        let database = Database::create(&folder.path().join("t.lode"), &tactics).unwrap();
        let numbers = "create r (a = i4, b = i4) append to r (a = 1, b = 2)";
        let texts = "create r (b = c3, a = c9) append to r (a = \"one\", b = \"two\")";
        database.execute(numbers, &[]).unwrap();
        let statement = Statement::new("range of r is r retrieve (r.a)").unwrap();
        let is_done = AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            let read = || {
                let mut seen = [0, 0];
                while !is_done.load(Relaxed) || seen.contains(&0) {
                    match database.run(&statement, &[]) {
                        Ok(Outcome::Rows(mut rows)) => {
                            let layout = rows.layout().clone();
                            let tuples = rows.next_tuples().unwrap().unwrap();
                            match read(&tuples, &layout.fields[0]) {
                                Value::Integer(1) => seen[0] += 1,
                                Value::Text(text) => {
                                    assert_eq!(trimmed(text), b"one");
                                    seen[1] += 1;
                                }
                                other => panic!("{other:?}"),
                            }
                        }
                        Ok(Outcome::Changed(_)) => panic!("it retrieves"),
                        Err(QueryError::Lode(lode::LodeError::Deadlock)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                seen
            };
            let readers = [scope.spawn(read), scope.spawn(read)];
            let mut made = 0;
            // The readers end when they have seen both, so both are made until then.
            while readers.iter().any(|reader| !reader.is_finished()) {
                let text = [texts, numbers][made % 2];
                match database.execute(&format!("destroy r {text}"), &[]) {
                    Ok(_) => made += 1,
                    Err(QueryError::Lode(lode::LodeError::Deadlock)) => {}
                    Err(error) => panic!("{error}"),
                }
                is_done.store(made > 20, Relaxed);
            }
            readers.map(|reader| reader.join().unwrap())
        });
        assert!(seen.iter().flatten().all(|&times| times > 0));
    }
}

#[test]
fn the_last_texts_are_known() {
    let (_folder, database) = parts();
    let text = |number: usize| format!("range of p is parts retrieve (x = p.number + {number})");
    let first = database.statement(&text(0)).unwrap();
    for number in 1..256 {
        database.statement(&text(number)).unwrap();
    }
    assert!(Arc::ptr_eq(&first, &database.statement(&text(0)).unwrap()));
    let second = database.statement(&text(1)).unwrap();
    for number in 256..511 {
        database.statement(&text(number)).unwrap();
    }
    assert!(Arc::ptr_eq(&second, &database.statement(&text(1)).unwrap()));
    assert!(!Arc::ptr_eq(&first, &database.statement(&text(0)).unwrap()));
    assert!(database.statement("retrieve retrieve").is_err());
}
