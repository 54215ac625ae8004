use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use loadstone_measure::counters::{cpu_ns, storage_bytes};

/// A shell that does what it is reported, and has ended when the guard is gone.
struct Shell(Child);

impl Shell {
    fn start() -> Self {
        let mut command = Command::new("sh");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().expect("every Linux has sh"))
    }

    /// Run a line, wait until it says something.
    fn report(&mut self, line: &str) -> String {
        let stdin = self.0.stdin.as_mut().expect("piped");
        writeln!(stdin, "{line}").expect("the shell lives");
        let mut answer = String::new();
        let stdout = self.0.stdout.as_mut().expect("piped");
        BufReader::with_capacity(1, stdout).read_line(&mut answer).expect("the shell lives");
        answer
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

const WORK: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";

#[test]
fn cpu_time_counts_the_process_its_children_and_those_it_waited_for() {
    let mut shell = Shell::start();
    shell.report("echo ready");
    let idle = cpu_ns(shell.0.id()).expect("it lives");
    shell.report(&format!("{WORK}; echo done"));
    let own = cpu_ns(shell.0.id()).expect("it lives");
    assert!(own > idle, "its own work: {idle} then {own}");
    // The child ends when its input does, which is when the shell is dropped.
    shell.report(&format!("({WORK}; echo done; read line <&3) 3<&0 &"));
    let with_child = cpu_ns(shell.0.id()).expect("it lives");
    assert!(with_child > own, "a live child's work: {own} then {with_child}");
    let work = with_child - own;
    shell.report(&format!("({WORK}; {WORK}; {WORK}; {WORK}); echo done"));
    let with_waited = cpu_ns(shell.0.id()).expect("it lives");
    assert!(with_waited > with_child + work, "a waited child's work: {with_child}, {with_waited}");
}

#[test]
fn a_process_that_ended_has_no_figures() {
    let mut child = Command::new("true").spawn().expect("every Linux has true");
    child.wait().expect("it is ours");
    assert_eq!(cpu_ns(child.id()), None);
    assert_eq!(storage_bytes(child.id()), None);
    assert_eq!(cpu_ns(0), None, "not the calling process by accident");
    assert_eq!(cpu_ns(u32::MAX), None);
}

#[test]
fn a_zombie_still_has_its_cpu_time() {
    let mut child = Command::new("sh").args(["-c", WORK]).stdout(Stdio::piped()).spawn().unwrap();
    let mut nothing = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut nothing).unwrap();
    assert!(cpu_ns(child.id()).is_some());
    child.wait().expect("it is ours");
}

#[test]
fn bytes_written_to_a_disk_are_counted_with_the_children_s() {
    let path = format!("{}/written", env!("CARGO_TARGET_TMPDIR"));
    let mut shell = Shell::start();
    shell.report("echo ready");
    let before = storage_bytes(shell.0.id()).expect("it is ours");
    shell.report(&format!("(head -c 1048576 /dev/zero > '{path}'); echo done"));
    let after = storage_bytes(shell.0.id()).expect("it is ours");
    std::fs::remove_file(&path).expect("just written");
    assert!(after.written - before.written >= 1 << 20, "{before:?} then {after:?}");
}
