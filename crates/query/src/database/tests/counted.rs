//! What a text came to, beside what was expected.

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
