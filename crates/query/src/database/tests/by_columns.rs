//! Statements on relations that are stored by columns.

use super::*;

#[test]
fn a_key_too_long_for_an_index_is_read_to_be_compared_again() {
    for storage in ["modify r to hash on t", "modify r to isam on t", "index on r is x (t)"] {
        let tactics = "layout=columns&optimizer=rules";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.lode");
        let database = Database::create(&path, &tactics.parse().unwrap()).unwrap();
        let filled = "create r (k = i4, t = c300) append to r (k = 1, t = \"B\")
            append to r (k = 2, t = \"B\") append to r (k = 3, t = \"C\")";
        for text in [filled, storage] {
            database.execute(text, &[]).unwrap();
        }
        let text = "range of r is r retrieve (r.k) where r.t = \"B\"";
        let plan = database.explain(&Statement::new(text).unwrap(), &[]).unwrap();
        assert!(plan.contains("look-up"), "{plan}");
        assert_eq!(answer(&database, text, &[]).rows, 2, "{storage}");
    }
}
