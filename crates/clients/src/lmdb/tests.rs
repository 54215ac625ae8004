//! One environment for each file and process.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use super::raw::Environment;

fn opened(path: &Path) -> Arc<Environment> {
    Environment::open(path.to_str().expect("a temporary folder has letters"), false)
        .expect("it opens")
}

#[test]
fn a_file_has_one_environment_whatever_links_lead_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link, early] = ["file", "link", "early"].map(|name| folder.path().join(name));
    symlink(&file, &early).unwrap();
    let first = opened(&early);
    symlink(&file, &link).unwrap();
    let beside = folder.path().join(".").join("file");
    for path in [&file, &link, &early, &beside] {
        assert!(Arc::ptr_eq(&first, &opened(path)), "{}", path.display());
    }
}
