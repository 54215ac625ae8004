//! A tactic's value is what happens: read off the work that was counted, which differs whatever a
//! plan or a setting says of itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lode_query::counters::Work;
use lode_query::database::Statement;
use lode_query::tactics::{self, Tactics};

use crate::outcome::{Closed, Engine};

/// Tuples of each of two relations.
const ROWS: u64 = 200;

/// Two relations of as many tuples, with an index on each one's `i`; `k` and `i` are the same.
const SETUP: &str = "create digits (n = i4)
    append to digits (n = 0) append to digits (n = 1) append to digits (n = 2)
    append to digits (n = 3) append to digits (n = 4) append to digits (n = 5)
    append to digits (n = 6) append to digits (n = 7) append to digits (n = 8)
    append to digits (n = 9)
    range of d is digits range of e is digits range of f is digits
    create t (k = i4, i = i4, pad = c500) create u (k = i4, i = i4)
    append to t (k = d.n + 10 * e.n + 100 * f.n, i = d.n + 10 * e.n + 100 * f.n) where f.n < 2
    range of t is t
    append to u (k = t.k, i = t.i)
    index on t is ti (i) index on u is ui (i)";

const RANGES: &str = "range of t is t range of u is u ";

/// The work of a query under tactics, and the plan's text.
fn work(tactics: &str, query: &str, rows: u64) -> (Work, String) {
    let tactics: Tactics = format!("cache=1MiB&extent=4&{tactics}").parse().unwrap();
    let engine = stored(&tactics).opened(&tactics);
    let query = format!("{RANGES}{query}");
    let statement = Statement::new(&query).unwrap();
    let plan = engine.database.plan(&statement, &[]).unwrap().explain(None);
    assert_eq!(engine.database.work().unwrap(), Work::default());
    assert_eq!(engine.run(&query).unwrap().unwrap().rows, rows, "{tactics}: {query}");
    (engine.database.work().unwrap(), plan)
}

/// Both relations, made once for each way in which they are stored: that takes longer than a query.
fn stored(tactics: &Tactics) -> Arc<Closed> {
    static MADE: Mutex<BTreeMap<String, Arc<Closed>>> = Mutex::new(BTreeMap::new());
    let Tactics { storage, layout, .. } = *tactics;
    let loading = Tactics { storage, layout, ..Tactics::default() };
    // A panic in another test leaves no half a database.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let closed = made.entry(loading.to_string()).or_insert_with(|| {
        let engine = Engine::new(&loading);
        engine.run(SETUP).unwrap();
        engine.database.settle(&["t", "u"]).unwrap();
        Arc::new(engine.closed())
    });
    Arc::clone(closed)
}

/// The names of a tactic's values.
fn values_of(name: &str) -> Vec<&'static str> {
    let tactic = tactics::all().into_iter().find(|one| one.name == name).unwrap();
    tactic.values.iter().map(|value| value.name).collect()
}

/// The count that only that executor has.
fn own_count(execution: &str, work: &Work) -> u64 {
    match execution {
        "vectorised" => work.batches,
        "closures" => work.closures,
        "interpreted" => work.symbols,
        "compiled" => work.functions_compiled,
        other => panic!("say here by what count execution={other} is known"),
    }
}

#[test]
fn a_statement_runs_on_the_executor_that_was_chosen() {
    let executions = values_of("execution");
    for chosen in &executions {
        for query in [
            "retrieve (t.k) where t.k * 2 < 100",
            "retrieve (x = sum(t.k + 1 by t.k)) where t.k < 50",
        ] {
            let (work, _) = work(&format!("execution={chosen}"), query, 50);
            for execution in &executions {
                let is_seen = own_count(execution, &work) > 0;
                assert_eq!(is_seen, execution == chosen, "{chosen}, {query}: {work:?}");
            }
        }
    }
}

#[test]
fn two_relations_are_joined_in_the_way_that_was_chosen() {
    for chosen in values_of("join") {
        let query = "retrieve (t.k, u.i) where t.i = u.i and t.k >= 0";
        let tactics = format!("join={chosen}&optimizer=rules");
        let (unindexed, sorted) = work(&tactics, &query.replace("t.i = u.i", "t.k = u.k"), ROWS);
        let (work, plan) = work(&tactics, query, ROWS);
        let reported = format!("{chosen}: {work:?}\n{plan}");
        // Every tuple of one once, and with each of them what of the other is looked at.
        let inner = work.tuples - ROWS;
        match chosen {
            "auto" => {}
            "nested-loops" => {
                assert!(work.hash_probes == 0 && work.comparisons >= ROWS * ROWS, "{reported}");
            }
            "hash" => assert!(work.hash_probes == ROWS && inner == ROWS, "{reported}"),
            "index" => {
                assert!(work.hash_probes == 0 && inner == ROWS, "{reported}");
                // A look-up begins anew for each tuple, at a page at least.
                assert!(work.pages >= ROWS, "{reported}");
            }
            "substitution" => {
                // The part that speaks of one variable alone is run first, and its tuples are read
                // again.
                let is_kept = plan.contains("keep temporary") && work.hash_probes == 0;
                assert!(is_kept && work.tuples > 2 * ROWS, "{reported}");
            }
            "merge" => {
                // Both are sorted, and read again side by side.
                let is_merged = plan.contains("merge a is") && work.hash_probes == 0;
                assert!(is_merged && work.tuples <= 4 * ROWS, "{reported}");
            }
            "index-merge" => {
                assert!(work.hash_probes == 0 && inner == ROWS && work.pages >= ROWS, "{reported}");
                // Without an index both are sorted.
                let is_merged = sorted.contains("merge a is") && unindexed.hash_probes == 0;
                assert!(is_merged && unindexed.tuples <= 4 * ROWS, "{unindexed:?}\n{sorted}");
            }
            other => panic!("say here by what counts join={other} is known"),
        }
    }
}

/// A row that looks for its partition, a duplicate or a partner is one probe in every executor.
#[test]
fn each_row_that_looks_by_hash_is_one_probe() {
    let by = |by: &str| format!("retrieve (x = count(t.i by {by}))");
    for (query, tactics, probes) in [
        ("retrieve (t.k, u.i) where t.k = u.k".to_owned(), "join=hash", ROWS),
        ("retrieve (t.k, u.i) where t.i = u.i and t.k = u.k".to_owned(), "join=hash", ROWS),
        ("retrieve unique (t.k)".to_owned(), "distinct=hash", ROWS),
        ("retrieve unique (t.k)".to_owned(), "distinct=sort", 0),
        // For its partition, and for that partition's result.
        ("retrieve (t.k, x = count(t.i by t.k))".to_owned(), "aggregate=hash", 2 * ROWS),
        (by("t.k"), "aggregate=hash", ROWS),
        (by("t.k, t.i"), "aggregate=hash", ROWS),
        (by("t.pad, t.k"), "aggregate=hash", ROWS),
        (by("t.k * 1.5"), "aggregate=hash", ROWS),
        (by("t.k"), "aggregate=sort", 0),
        (by("t.k, t.i"), "aggregate=sort", 0),
        (by("t.k * 1.5"), "aggregate=sort", 0),
    ] {
        for execution in values_of("execution") {
            for threads in [1, 2] {
                let tactics = format!("execution={execution}&parallelism={threads}&{tactics}");
                let (work, plan) = work(&tactics, &query, ROWS);
                assert_eq!(work.hash_probes, probes, "{tactics}: {query}\n{work:?}\n{plan}");
            }
        }
    }
}

#[test]
fn tuples_are_reached_in_the_way_that_was_chosen() {
    for (chosen, one, half) in [("cost", 1, ROWS), ("rules", 1, ROWS / 2), ("none", ROWS, ROWS)] {
        let of = |query, rows| work(&format!("optimizer={chosen}"), query, rows).0.tuples;
        assert_eq!(of("retrieve (t.k) where t.i = 7", 1), one, "{chosen}");
        assert_eq!(of("retrieve (t.k) where t.i < 100", ROWS / 2), half, "{chosen}");
    }
    assert_eq!(values_of("optimizer").len(), 3, "say here how the new value is known");
}

/// Of each end the index's leaf is read, and the tuple's page, or by columns the chunk's header and
/// the attribute's page.
#[test]
fn an_end_of_an_index_is_read_where_it_was_chosen() {
    for execution in values_of("execution") {
        for (layout, pages) in [("rows", 2), ("columns", 3)] {
            for optimizer in values_of("optimizer") {
                let tactics = format!("execution={execution}&layout={layout}");
                let tactics = format!("{tactics}&optimizer={optimizer}");
                for (query, ends) in [("x = max(t.i)", 1), ("x = min(t.i), y = max(t.i)", 2)] {
                    let (work, plan) = work(&tactics, &format!("retrieve ({query})"), 1);
                    let reported = format!("{tactics}, {query}: {work:?}\n{plan}");
                    if optimizer == "cost" {
                        assert_eq!((work.tuples, work.pages), (ends, ends * pages), "{reported}");
                    } else {
                        assert_eq!(work.tuples, ROWS, "{reported}");
                    }
                }
            }
        }
    }
}

#[test]
fn conditions_are_evaluated_where_it_was_chosen() {
    for execution in values_of("execution") {
        for chosen in values_of("accelerator") {
            let tactics = format!("execution={execution}&accelerator={chosen}&optimizer=none");
            let (work, _) = work(&tactics, "retrieve (t.k) where t.k < 50", 50);
            let judged = if chosen == "off" { 0 } else { ROWS };
            assert_eq!(work.tuples_judged, judged, "{tactics}: {work:?}");
            assert_eq!(work.batches_ahead > 0, chosen == "thread", "{tactics}: {work:?}");
        }
    }
}

#[test]
fn the_innermost_loops_are_of_the_kind_that_was_chosen() {
    let queries = [
        ("retrieve (t.k) where t.k < 50", 50),
        ("retrieve (x = count(t.k where t.i = u.i))", 1),
        ("retrieve (x = min(t.k))", 1),
        ("retrieve (x = sum(t.k))", 1),
    ];
    let of = |tactics: &str, (query, rows)| {
        let (work, _) = work(&format!("{tactics}&optimizer=none&join=hash"), query, rows);
        (work.scalar_loops, work.baseline_loops + work.avx2_loops + work.avx512_loops)
    };
    for chosen in values_of("simd") {
        for query in queries {
            let (scalar, vectors) = of(&format!("simd={chosen}"), query);
            assert_eq!((scalar > 0, vectors > 0), (chosen == "off", chosen == "on"), "{query:?}");
            assert_eq!(of(&format!("simd={chosen}&execution=closures"), query), (0, 0));
        }
        // The accelerator's loops are these, whatever takes the tuples that it leaves.
        let (scalar, vectors) =
            of(&format!("simd={chosen}&execution=interpreted&accelerator=on"), queries[0]);
        assert_eq!((scalar > 0, vectors > 0), (chosen == "off", chosen == "on"));
    }
    assert_eq!(values_of("simd").len(), 2, "say here how the new value is known");
}

#[test]
fn as_many_threads_take_part_as_were_chosen() {
    for execution in values_of("execution") {
        for (query, rows) in [
            ("retrieve (t.k) where t.k * 2 < 100", 50),
            ("retrieve (t.k, u.i) where t.i = u.i and t.k >= 0", ROWS),
            ("retrieve (x = sum(t.k + 1 by t.k)) where t.k < 50", 50),
            ("retrieve (x = count(t.k where t.pad = \"\"))", 1),
        ] {
            let mut alone = None;
            for threads in [1, 2, 3] {
                let tactics = format!("execution={execution}&parallelism={threads}&join=hash");
                let (work, plan) = work(&tactics, query, rows);
                let reported = format!("{tactics}, {query}: {work:?}\n{plan}");
                // `t` has pages for all of them, and each is sure of its first part.
                let pipelines = plan.matches("up to").count() as u64;
                let most = (threads - 1) * pipelines;
                assert!(work.threads_beside <= most, "{reported}");
                assert!(work.threads_beside >= threads - 1, "{reported}");
                assert_eq!(work.tuples_beside > 0, threads > 1, "{reported}");
                // Together they do what one does.
                let whole = (work.tuples, work.hash_probes, work.rows);
                assert_eq!(*alone.get_or_insert(whole), whole, "{reported}");
            }
        }
    }
}

#[test]
fn a_plan_says_which_pipelines_are_one_threads() {
    let plan_of = |query| work("parallelism=2&join=merge&distinct=sort", query, ROWS).1;
    let merged = plan_of("retrieve (t.k, u.i) where t.i = u.i");
    assert!(merged.contains("one thread, because two sorted relations are read"), "{merged}");
    assert!(merged.contains("up to 2 threads"), "{merged}");
    let sorted = plan_of("retrieve unique (t.k)");
    assert!(sorted.contains("one thread, because its rows come in an order"), "{sorted}");
    let hashed = work("parallelism=2&distinct=hash", "retrieve unique (t.k)", ROWS);
    assert!(hashed.1.contains("one thread, because one set removes"), "{}", hashed.1);
    assert_eq!(hashed.0.threads_beside, 0, "{:?}", hashed.0);
}

/// The relation of 200 tuples in a chunk: the pages that a query reads are the chunk's header and
/// those of the attributes that it names. `pad` alone has 25 of the 27.
#[test]
fn a_scan_reads_the_pages_of_the_attributes_that_it_names() {
    let values = values_of("layout");
    assert_eq!(values, ["rows", "columns"], "say here how the new value is known");
    for execution in values_of("execution") {
        for accelerator in values_of("accelerator") {
            let pages = |layout: &str, query: &str, rows: u64| {
                let tactics = format!(
                    "layout={layout}&execution={execution}&accelerator={accelerator}&optimizer=none"
                );
                (work(&tactics, query, rows).0.pages, tactics)
            };
            let of = [
                ("retrieve (n = count(t.k))", 1, 2),
                ("retrieve (t.k) where t.k < 50", 50, 2),
                ("retrieve (t.i) where t.k < 50", 50, 3),
                ("retrieve (t.i) where t.k = t.i", ROWS, 3),
                ("retrieve (t.pad) where t.k >= 0", ROWS, 27),
            ];
            for (query, rows, expected) in of {
                let (found, tactics) = pages("columns", query, rows);
                assert_eq!(found, expected, "{tactics}: {query}");
                // Seven tuples in a page.
                let (found, tactics) = pages("rows", query, rows);
                assert_eq!(found, ROWS.div_ceil(7), "{tactics}: {query}");
            }
        }
    }
}

#[test]
fn of_tuples_that_do_not_qualify_nothing_is_read_but_what_the_condition_names() {
    let query = "retrieve (t.pad) where t.k = 3";
    let all = "retrieve (t.pad) where t.k >= 0";
    for tactics in [
        "execution=vectorised&accelerator=off",
        "execution=vectorised&accelerator=on",
        "execution=interpreted&accelerator=on",
        "execution=closures&accelerator=on",
        "execution=compiled&accelerator=on",
    ] {
        let tactics = format!("layout=columns&optimizer=none&{tactics}");
        // The header, the page of `k`, and of `pad` the one that has the tuple's value.
        assert_eq!(work(&tactics, query, 1).0.pages, 3, "{tactics}");
        assert_eq!(work(&tactics, all, ROWS).0.pages, 27, "{tactics}");
    }
}
