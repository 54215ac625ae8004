//! Real files that are refused: not a database, another's, cut short, in use, not to be written, on
//! a disk that is full. The error says what to do, and when that is done the database opens with
//! all that it had.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

use lode::internals::error::Result;
use lode::internals::page::{self, PAGE_BYTES};
use lode::internals::superblock;
use lode::{Database, LodeError, Tactics};
use xxhash_rust::xxh3::xxh3_64;

use crate::contents::{Contents, tactics};
use crate::operations::{Operator, commit_some};
use crate::reading::{is_damage, read_and_check};

/// Shows the process that is started for it what to try, and where.
const FOLDER: &str = "LODE_REFUSAL_FOLDER";

const NOBODY: u32 = 65_534;

/// A database on real files, with copies of their bytes.
struct Real {
    folder: tempfile::TempDir,
    contents: Contents,
    volume: Vec<u8>,
    log: Vec<u8>,
    tactics: Tactics,
}

impl Real {
    fn new(text: &str, is_closed: bool) -> Self {
        // Beside the test program, which is on a disk that has direct I/O.
        let program = env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let tactics = tactics(text);
        let (path, log_path) = paths(folder.path());
        let database = Database::create(&path, &tactics).unwrap();
        let mut operator = Operator::new(17);
        let mut contents = Contents::create(&database).unwrap();
        commit_some(&mut operator, &database, &mut contents, 60).unwrap();
        database.checkpoint().unwrap();
        commit_some(&mut operator, &database, &mut contents, 10).unwrap();
        if is_closed {
            database.close().unwrap();
        } else {
            database.abandon();
        }
        let (volume, log) = (fs::read(path).unwrap(), fs::read(log_path).unwrap());
        Self { folder, contents, volume, log, tactics }
    }

    fn paths(&self) -> (PathBuf, PathBuf) {
        paths(self.folder.path())
    }

    fn restore(&self) {
        let (path, log_path) = self.paths();
        for (path, bytes) in [(path, &self.volume), (log_path, &self.log)] {
            if path.is_dir() {
                fs::remove_dir(&path).unwrap();
            }
            fs::write(path, bytes).unwrap();
        }
    }

    fn open(&self) -> Result<Contents> {
        let database = Database::open(&self.paths().0, &self.tactics)?;
        let found = read_and_check(&database);
        database.abandon();
        Ok(found?.expect("the files are there"))
    }

    /// Refused as it is, with these words; and not when it is as it was.
    fn refused(&self, what: &str, words: &[&str]) {
        let error = self.open().expect_err(what).to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{what}: {error}");
        self.restore();
        assert!(self.open().unwrap() == self.contents, "{what}");
        self.restore();
    }
}

fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("parts"), folder.join("parts-log"))
}

#[test]
fn an_incomplete_database_is_refused_with_a_remedy() {
    for text in ["disk=buffered", "disk=direct"] {
        let real = Real::new(text, true);
        let (path, log_path) = real.paths();
        let noise: Vec<u8> = (0..5 * PAGE_BYTES).map(|at| ((at * at) >> 3) as u8).collect();
        for what in [&b""[..], b"no database", &noise] {
            fs::write(&path, what).unwrap();
            real.refused("volume", &["parts", "is no lode database"]);
            fs::write(&log_path, what).unwrap();
            real.refused("log", &["the log", "restore the database from a backup"]);
        }
        for (which, word, hint) in [
            (&path, "parts", "look whether the path is right"),
            (&log_path, "parts-log", "put it back"),
        ] {
            fs::remove_file(which).unwrap();
            real.refused("missing", &[word, hint]);
            fs::remove_file(which).unwrap();
            fs::create_dir(which).unwrap();
            real.refused("folder", &[word, "is no regular file"]);
        }
        fs::write(&path, &real.log).unwrap();
        fs::write(&log_path, &real.volume).unwrap();
        real.refused("exchanged", &["is no lode database"]);
        let other = Real::new(text, true);
        fs::write(&log_path, &other.log).unwrap();
        real.refused("another's log", &["another volume's", "put the volume's own log"]);
        fs::write(&path, newer_volume(&real.volume)).unwrap();
        let (ours, theirs) = (superblock::VERSION, superblock::VERSION + 1);
        let reported = [format!("format {theirs}"), format!("reads {ours}")];
        real.refused("newer volume", &[&reported[0], &reported[1], "load it again"]);
        for (other, theirs) in [("newer log", 3), ("older log", 1)] {
            fs::write(&path, &real.volume).unwrap();
            fs::write(&log_path, log_of_format(&real.log, theirs)).unwrap();
            real.refused(other, &[&format!("format {theirs}"), "reads 2", "load it again"]);
        }
    }
}

fn newer_volume(volume: &[u8]) -> Vec<u8> {
    let mut newer = volume.to_vec();
    for (page, bytes) in newer.chunks_exact_mut(PAGE_BYTES).take(2).enumerate() {
        let bytes: &mut page::PageBytes = bytes.try_into().unwrap();
        page::put_u32(bytes, superblock::offset::VERSION, superblock::VERSION + 1);
        page::seal(bytes, page as u32);
    }
    newer
}

/// As `docs/reference/lode-format.md` draws the two slots.
fn log_of_format(log: &[u8], version: u8) -> Vec<u8> {
    let mut other = log.to_vec();
    for slot in other[..4_096].chunks_exact_mut(2_048) {
        slot[16] = version;
        let sum = xxh3_64(&slot[8..64]);
        slot[..8].copy_from_slice(&sum.to_le_bytes());
    }
    other
}

#[test]
fn a_file_cut_anywhere_is_refused_or_whole() {
    for is_closed in [true, false] {
        let real = Real::new("extent=4&durability=group&checkpoint=65536", is_closed);
        let (path, log_path) = real.paths();
        for (path, bytes) in [(path, &real.volume), (log_path, &real.log)] {
            let (mut refused, mut right, mut located) = (0, 0, 0);
            for len_bytes in lengths(bytes.len()) {
                File::options().write(true).open(&path).unwrap().set_len(len_bytes).unwrap();
                let reported = || format!("{} cut to {len_bytes} bytes", path.display());
                match real.open() {
                    Ok(found) if found == real.contents => right += 1,
                    // A log of which nothing is left behind the cut ends there.
                    Ok(_) if !is_closed && path.ends_with("parts-log") => refused += 1,
                    Ok(_) => panic!("{}: a wrong answer", reported()),
                    Err(error) => {
                        assert!(is_damage(&error), "{}: {error}", reported());
                        located += u32::from(error.to_string().contains("it ends"));
                        refused += 1;
                    }
                }
                real.restore();
            }
            assert!(refused > 0 && (right > 0 || located > 0), "{refused} {right}");
            assert!(located > 0 || path.ends_with("parts-log"), "{}", path.display());
        }
        assert!(real.open().unwrap() == real.contents);
    }
}

/// About where pages end, and a few others.
fn lengths(len_bytes: usize) -> Vec<u64> {
    let mut lengths = vec![1, 31, 511, 512, 2_048, 2_112];
    let step = (len_bytes / PAGE_BYTES / 24).max(1);
    for page in (0..len_bytes / PAGE_BYTES).step_by(step) {
        lengths.extend([page * PAGE_BYTES, page * PAGE_BYTES + 1, (page + 1) * PAGE_BYTES - 1]);
    }
    lengths.retain(|&length| length < len_bytes);
    lengths.into_iter().map(|length| length as u64).collect()
}

#[test]
fn a_database_in_use_is_refused_until_it_is_not() {
    for text in ["disk=buffered", "disk=direct"] {
        let real = Real::new(text, true);
        let path = real.paths().0;
        let database = Database::open(&path, &real.tactics).unwrap();
        for opened in [Database::open, Database::open_read_only] {
            let error = opened(&path, &real.tactics).map(drop).unwrap_err();
            assert!(matches!(error, LodeError::InUse { .. }));
            assert!(error.to_string().contains("close it there"), "{error}");
        }
        let created = Database::create(&path, &real.tactics).map(drop).unwrap_err().to_string();
        assert!(created.contains("open it, or choose another name"), "{created}");
        assert_eq!(read_and_check(&database).unwrap().as_ref(), Some(&real.contents));
        drop(database);
        assert!(real.open().unwrap() == real.contents);
    }
}

#[test]
fn without_permission_it_is_refused_and_says_so() {
    let real = Real::new("", true);
    let folder = real.folder.path();
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    let set = |mode| {
        let (path, log_path) = real.paths();
        [path, log_path]
            .map(|path| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap())
    };
    set(0o444);
    let reported = as_nobody("the_process_that_may_only_read", folder);
    assert!(reported.is_none_or(|reported| reported.contains("as it should be")));
    set(0);
    let reported = as_nobody("the_process_that_may_not_even_read", folder);
    assert!(reported.is_none_or(|reported| reported.contains("as it should be")));
    set(0o644);
    assert!(real.open().unwrap() == real.contents);
}

/// Run one of the tests below as a user who has no rights. `None` where that cannot be: its
/// program lies where nobody may go.
fn as_nobody(test: &str, folder: &Path) -> Option<String> {
    let mut command = this_program();
    add_arguments(&mut command, test, folder);
    if folder.metadata().unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    output_of(&mut command)
}

fn this_program() -> Command {
    Command::new(env::current_exe().unwrap())
}

fn add_arguments(command: &mut Command, test: &str, folder: &Path) {
    command.args(["--exact", &format!("refusals::{test}"), "--nocapture"]).env(FOLDER, folder);
}

fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let began = text.contains("running 1 test");
    assert!(!began || output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    began.then_some(text)
}

/// The folder, if this test was started by another one.
fn given_folder() -> Option<PathBuf> {
    env::var_os(FOLDER).map(PathBuf::from)
}

fn say(text: &str) {
    io::stdout().write_all(text.as_bytes()).unwrap();
}

fn error_of(opened: Result<Database>) -> String {
    opened.map(drop).expect_err("it is refused").to_string()
}

/// Not a test by itself: another one starts it.
#[test]
fn the_process_that_may_only_read() {
    let Some(folder) = given_folder() else { return };
    let path = paths(&folder).0;
    let refused = error_of(Database::open(&path, &Tactics::default()));
    assert!(refused.contains("let this user read and write it"), "{refused}");
    let database = Database::open_read_only(&path, &Tactics::default()).unwrap();
    assert!(!read_and_check(&database).unwrap().unwrap().records.is_empty());
    assert!(matches!(Contents::create(&database), Err(LodeError::ReadOnly)));
    let created = error_of(Database::create(&folder.join("other"), &Tactics::default()));
    assert!(created.contains("let this user read and write it"), "{created}");
    say("as it should be\n");
}

/// Not a test by itself: another one starts it.
#[test]
fn the_process_that_may_not_even_read() {
    let Some(folder) = given_folder() else { return };
    for opened in [Database::open, Database::open_read_only] {
        let refused = error_of(opened(&paths(&folder).0, &Tactics::default()));
        assert!(refused.contains("let this user read and write it"), "{refused}");
    }
    say("as it should be\n");
}

/// In a mount namespace of its own, so that nothing is left behind. Where the system forbids that,
/// the simulated disk has to do: `model` fills it up.
#[test]
fn a_full_disk_and_one_for_reading_only_are_refused_and_nothing_is_lost() {
    let program = env::current_exe().unwrap();
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let script = "mount -t tmpfs -o size=600k lode \"$LODE_REFUSAL_FOLDER\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(program);
    add_arguments(&mut command, "the_process_on_a_small_disk", folder.path());
    let reported = output_of(&mut command);
    assert!(reported.is_none_or(|reported| reported.contains("as it should be")));
}

/// Not a test by itself: another one starts it.
#[test]
fn the_process_on_a_small_disk() {
    let Some(folder) = given_folder() else { return };
    let path = paths(&folder).0;
    let small = tactics("cache=65536&checkpoint=65536&extent=4&durability=group");
    let database = Database::create(&path, &small).unwrap();
    let mut operator = Operator::new(21);
    let mut contents = Contents::create(&database).unwrap();
    fill(&database, &mut operator, &mut contents);
    assert_eq!(read_and_check(&database).unwrap().as_ref(), Some(&contents));
    drop(database);
    // Still full: it opens, and says the same again.
    let database = Database::open(&path, &small).unwrap();
    assert_eq!(read_and_check(&database).unwrap().as_ref(), Some(&contents));
    fill(&database, &mut operator, &mut contents);
    database.abandon();
    let another = error_of(Database::create(&folder.join("another"), &small));
    assert!(another.contains("free some space"), "{another}");
    assert!(!folder.join("another").exists() && !folder.join("another-log").exists());

    remount(&folder, "size=4m");
    let database = Database::open(&path, &small).unwrap();
    assert_eq!(read_and_check(&database).unwrap().as_ref(), Some(&contents));
    for _ in 0..10 {
        commit_some(&mut operator, &database, &mut contents, 8).unwrap();
    }
    database.close().unwrap();

    remount(&folder, "ro");
    let refused = error_of(Database::open(&path, &small));
    assert!(refused.contains("open the database for reading only"), "{refused}");
    let database = Database::open_read_only(&path, &small).unwrap();
    assert_eq!(read_and_check(&database).unwrap().as_ref(), Some(&contents));
    drop(database);
    remount(&folder, "rw");
    let database = Database::open(&path, &small).unwrap();
    commit_some(&mut operator, &database, &mut contents, 8).unwrap();
    database.close().unwrap();
    say("as it should be\n");
}

fn remount(folder: &Path, how: &str) {
    let options = format!("remount,{how}");
    assert!(Command::new("mount").args(["-o", &options]).arg(folder).status().unwrap().success());
}

/// Transactions until a few were refused for want of room; what these did is not there.
fn fill(database: &Database, operator: &mut Operator, contents: &mut Contents) {
    let mut refused = 0;
    for _ in 0..2_000 {
        let mut after = contents.clone();
        match grow(database, operator, &mut after) {
            Ok(()) => *contents = after,
            Err(error) => {
                assert!(matches!(error, LodeError::Full { .. }), "{error}");
                assert!(error.to_string().contains("free some space"), "{error}");
                refused += 1;
            }
        }
        if refused == 5 {
            return;
        }
    }
    panic!("the disk is never full");
}

fn grow(database: &Database, operator: &mut Operator, contents: &mut Contents) -> Result<()> {
    let mut writing = database.writing();
    let changes = operator.new_record(&mut writing, contents, 3_000, None)?;
    for change in changes {
        contents.apply(change);
    }
    writing.commit()
}
