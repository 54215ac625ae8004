//! Texts of many commands and commands of many parts: linear, and within the memory budget.

use super::*;

/// A text of so many appends, each of other constants.
fn appends(count: usize) -> String {
    let append = |n: usize| format!("append to parts (number = {n}, name = \"name{n}\")\n");
    (0..count).map(append).collect()
}

#[test]
fn a_command_of_a_long_text_depends_on_its_own_words() {
    let text = "range of p is parts range of q is others
        append to parts (number = p.number) where p.name = \"wheel\"
        range of p is nothing append to others (number = p.number + q.number) range of r is behind";
    let statement = Statement::new(text).unwrap();
    let names: Vec<_> = statement.names.iter().map(planned::Names::all).collect();
    let first = "append is number of others p parts q range to wheel where name";
    let last = "append behind is nothing number of others p q r range to";
    let sorted = |words: &str| {
        let mut words: Vec<_> = words.split(' ').map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(names[2], sorted(first));
    assert_eq!(names[4], sorted(last));
    let names_of = |count| {
        let statement = Statement::new(&appends(count)).unwrap();
        statement.names.iter().map(|names| names.all().len()).sum::<usize>()
    };
    assert_eq!(names_of(400), 4 * names_of(100));
}

#[test]
fn commands_of_a_text_that_comes_again_are_planned_anew_when_what_they_mean_has_changed() {
    let (_folder, database) = parts();
    let text = "range of p is parts range of q is other retrieve (p.name) where p.number = 1";
    database.execute("create other (a = i4)", &[]).unwrap();
    assert_eq!(names(&database, text, &[]), ["wheel"]);
    database.execute("destroy other", &[]).unwrap();
    let error = database.query(text, &[]).map(drop).unwrap_err().to_string();
    assert!(error.contains("`other`"), "{error}");
}

#[test]
fn a_text_of_many_commands_does_what_they_say() {
    let (_folder, database) = parts();
    database.execute(&appends(500), &[]).unwrap();
    let statement = Statement::new(&appends(500)).unwrap();
    database.run(&statement, &[]).unwrap();
    database.run(&statement, &[]).unwrap();
    let count = "range of p is parts retrieve (x = count(p.number))";
    let rows = database.query(count, &[]).unwrap().map(|batch| batch.unwrap());
    let counts: Vec<_> = rows
        .map(|batch| batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap().value(0))
        .collect();
    assert_eq!(counts, [1503]);
}

#[test]
fn a_text_and_the_vectors_of_its_expressions_are_within_the_budget() {
    let (_folder, mut database) = parts();
    database.memory = Memory::new(8 << 20);
    let targets = |count: usize, value: &str| {
        let targets: Vec<_> = (0..count).map(|n| format!("x{n} = {value}")).collect();
        format!("range of p is parts retrieve ({}) where p.number = 1", targets.join(", "))
    };
    for (text, what) in [
        (targets(20_000, "1"), "a text of "),
        (targets(2_000, "p.number + 1"), "the values of so many expressions"),
    ] {
        let error = database.query(&text, &[]).map(drop).unwrap_err();
        assert!(
            matches!(&error, QueryError::Memory { what: named, .. } if named.starts_with(what)),
            "{error}"
        );
        assert_eq!(database.memory().used_bytes(), 0);
    }
    let mut rows = database.query(&targets(200, "p.number + 1"), &[]).unwrap();
    assert!(rows.next_tuples().unwrap().is_some());
}

#[test]
fn rows_that_a_writing_text_collects_are_within_the_budget() {
    let (_folder, mut database) = wide();
    let text = "range of a is n range of b is n append to n (k = -1) retrieve (a.all, b.all)";
    let row_bytes = 2 * 504;
    database.memory = Memory::new(24 << 20);
    let mut rows = database.query(text, &[]).unwrap();
    let all = 101 * 101 * row_bytes;
    let used = database.memory().used_bytes();
    assert!((all..all + (2 << 20)).contains(&used), "{used} of {all}");
    let first = rows.next_tuples().unwrap().unwrap();
    assert!(database.memory().used_bytes() <= used - first.len() as u64);
    let second = database.query(text, &[]).unwrap();
    let error = database.query(text, &[]).map(drop).unwrap_err();
    assert!(matches!(error, QueryError::Memory { .. }), "{error}");
    drop((rows, second));
    assert_eq!(database.memory().used_bytes(), 0);
}

/// A hundred tuples of 504 bytes, whose square is more than is collected before the first row.
fn wide() -> (TempDir, Database) {
    let (folder, database) = database();
    let text = "create d (n = i4) create n (k = i4, pad = c500)";
    database.execute(text, &[]).unwrap();
    for digit in 0..10 {
        database.execute("append to d (n = $1)", &[Parameter::Integer(digit)]).unwrap();
    }
    let text = "range of d is d range of e is d append to n (k = 10 * d.n + e.n)";
    database.execute(text, &[]).unwrap();
    (folder, database)
}

#[test]
fn an_answer_that_is_begun_again_is_counted_once() {
    let (_folder, database) = wide();
    let text = "range of a is n range of b is n retrieve (a.all, b.all)
        where a.k + b.k >= 0 and a.k * b.k >= 0 and a.k - b.k < 1000";
    let statement = Statement::new(text).unwrap();
    let plan = database.plan(&statement, &[]).unwrap();
    let expected = plan.pipelines.last().unwrap().rows_estimated;
    assert!(expected * 1008.0 < f64::from(4 << 20), "{expected} rows are expected");
    let counted = database.run_counted(&statement, &[]).unwrap().work;
    let before = database.work().unwrap();
    let mut rows = database.query(text, &[]).unwrap();
    let mut bytes = 0;
    while let Some(tuples) = rows.next_tuples().unwrap() {
        bytes += tuples.len();
    }
    drop(rows);
    assert_eq!(bytes, 100 * 100 * 1008);
    let after = database.work().unwrap();
    assert_eq!(after.tuples - before.tuples, counted.tuples);
    assert_eq!(after.comparisons - before.comparisons, counted.comparisons);
}

#[test]
fn creates_do_not_read_the_catalog_that_they_change() {
    let (_folder, database) = parts();
    let reads = || database.catalog.reads.load(std::sync::atomic::Ordering::Relaxed);
    let creates = (0..50).map(|n| format!("create n{n} (a = i4)"));
    let creates = creates.collect::<Vec<_>>().join("\n");
    let before = reads();
    database.execute(&creates, &[]).unwrap();
    let text = format!("{} append to m7 (a = 1)", creates.replace("create n", "create m"));
    assert_eq!(database.execute(&text, &[]).unwrap(), Some(1));
    assert!(reads() - before < 6, "{} times", reads() - before);
    assert_eq!(database.relations().unwrap().len(), 101);
    let twice = "create once (a = i4) create once (a = i4)";
    assert!(database.execute(twice, &[]).unwrap_err().to_string().contains("already"));
}
