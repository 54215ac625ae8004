//! The counts of a text, beside those that were expected; and the time of its phases.

use super::*;

#[test]
fn a_plan_that_ran_shows_what_was_counted() {
    for execution in ["vectorised", "closures", "interpreted", "compiled"] {
        let folder = tempfile::tempdir().unwrap();
        let tactics = Tactics::of([("execution", execution), ("join", "hash")]).unwrap();
        let database = Database::create(&folder.path().join("test.lode"), &tactics).unwrap();
        for name in ["tenktup1", "tenktup2"] {
            load(&database, &generated("1993", name, 1_000), &Storage::default());
        }
        let text = "range of t is tenktup1 range of u is tenktup2
            retrieve into both (a = t.unique1, b = u.unique1)
            where t.unique1 = u.unique1 and t.unique2 < 100 and u.unique1 < 500
            range of w is both
            delete w where w.a = -1";
        let counted = database.run_counted(&Statement::new(text).unwrap(), &[]).unwrap();
        let both = contents(&database, "both").rows;
        assert!(both > 20 && both < 100, "about half of the hundred");
        let [(build, counts), (scan, deleted)] = &counted.plans[..] else { panic!("two commands") };
        assert_eq!((build.pipelines.len(), scan.pipelines.len()), (2, 1));
        let mut steps = counts.steps.clone();
        // The optimizer may build either side.
        steps.sort();
        let entries = counts.pipelines[0];
        let probing = if entries == 100 { vec![1_000, 500, both] } else { vec![1_000, 100, both] };
        let mut expected = vec![vec![1_000, entries], probing];
        expected.sort();
        assert_eq!(steps, expected, "{execution}");
        assert_eq!(counts.pipelines[1], both);
        assert_eq!((&deleted.steps, &deleted.pipelines), (&vec![vec![both, 0]], &vec![0]));
        let explained = counted.explain();
        assert!(explained.contains("(counted 1000)"), "{explained}");
        assert!(explained.contains(&format!(" rows, counted {both})")), "{explained}");
        let read =
            [format!("\n{} tuples, ", 2_000 + both), format!(" us, {} tuples, ", 2_000 + both)];
        assert!(explained.contains(&read[usize::from(execution == "compiled")]), "{explained}");
        assert!(counted.work.log_bytes > 0 && database.work().unwrap().log_bytes > 0);
        let read_only = Statement::new("range of t is tenktup1 retrieve (t.all)").unwrap();
        let counted = database.run_counted(&read_only, &[]).unwrap();
        assert_eq!((counted.work.log_bytes, counted.work.rows), (0, 1_000));
    }
}

#[test]
fn the_phases_are_those_that_there_were_and_no_longer_than_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let tactics = Tactics::of([("join", "hash")]).unwrap();
    let database = Database::create(&folder.path().join("test.lode"), &tactics).unwrap();
    for name in ["tenktup1", "tenktup2"] {
        load(&database, &generated("1993", name, 1_000), &Storage::default());
    }
    let ranges = "range of t is tenktup1 range of u is tenktup2 ";
    for (text, there) in [
        ("retrieve (t.unique1)", &["rows"][..]),
        ("retrieve (t.unique1) where t.unique1 = u.unique1", &["hash tables", "rows"]),
        ("retrieve (a = min(t.unique1))", &["aggregations", "rows"]),
        ("retrieve into some (t.unique1) where t.unique2 < 10", &["changing", "committing"]),
        ("delete t where t.unique1 = 3", &["changing", "committing"]),
        ("destroy some", &["defining", "committing"]),
        ("create other (a = i4)", &["defining", "committing"]),
    ] {
        let before = database.phases();
        let begun_ns = loadstone_measure::clock::now_ns();
        let statement = database.statement(&format!("{ranges}{text}")).unwrap();
        match database.run(&statement, &[]).unwrap() {
            Outcome::Rows(rows) => rows.for_each(|batch| drop(batch.unwrap())),
            Outcome::Changed(_) => {}
        }
        let elapsed_ns = loadstone_measure::clock::now_ns() - begun_ns;
        let took = database.phases().named().into_iter().zip(before.named());
        let took = took.map(|((name, now), (_, then))| (name, now - then));
        let took: Vec<_> = took.filter(|(_, ns)| *ns > 0).collect();
        let sum_ns: u64 = took.iter().map(|(_, ns)| ns).sum();
        assert!(sum_ns <= elapsed_ns, "{text}: {took:?} of {elapsed_ns}");
        let names: Vec<_> = took.into_iter().map(|(name, _)| name).collect();
        let mut expected = vec!["reading", "beginning"];
        expected.extend(there.first().filter(|first| **first != "defining").map(|_| "planning"));
        expected.extend(there);
        assert_eq!(names, expected, "{text}");
    }
}
