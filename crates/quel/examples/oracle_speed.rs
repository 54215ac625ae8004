//! Times the oracle on the queries of the Wisconsin suite, by default at a million rows.
//!
//! `cargo run --release -p loadstone-quel --example oracle_speed [rows]`
//!
//! Prints, for each query, its answer and the seconds that it took; the target is two.

#![expect(clippy::print_stdout, reason = "an example prints")]

use loadstone_datasets::{open, read_all};
use loadstone_quel::Oracle;

const RANGES: &str = "range of t is tenktup1 range of w is tenktup2 range of o is onektup
    range of b is bprime ";

/// Name and text; `@` stands for a hundredth of the rows.
const QUERIES: [(&str, &str); 22] = [
    ("select 1 tuple", "retrieve (t.all) where t.unique2 = 2001"),
    ("select 1 %", "retrieve (t.all) where t.unique2 >= 0 and t.unique2 < @"),
    ("select 10 %", "retrieve (t.all) where t.unique1 >= 0 and t.unique1 < @ * 10"),
    ("select 100 %", "retrieve into temp (t.all)"),
    ("select string", "retrieve (t.all) where t.stringu2 < \"AAAAPXJ\""),
    ("select pattern", "retrieve (c = count(t.two where t.stringu2 = \"*G*\"))"),
    ("joinAselB", "retrieve (t.all, w.all) where t.unique2 = w.unique2 and w.unique2 < @ * 10"),
    ("joinABprime", "retrieve (t.all, b.all) where t.unique2 = b.unique2"),
    (
        "joinCselAselB",
        "retrieve (o.all, t.all, w.all) where o.unique2 = t.unique2 and t.unique2 = w.unique2
         and t.unique2 < @ * 10",
    ),
    (
        "joinSelAselB",
        "retrieve (t.all, w.all) where t.unique2 = w.unique2 and w.unique2 < @ * 10
         and t.unique2 < @ * 10",
    ),
    ("join all", "retrieve (t.all, w.all) where t.unique1 = w.unique1"),
    (
        "sjoinCselAselB",
        "retrieve (o.all, t.all, w.all) where o.unique1 = t.unique1 and t.unique1 = w.unique1
         and t.unique1 < @ * 10",
    ),
    ("project 1 %", "retrieve unique (t.two, t.four, t.ten, t.twenty, t.onePercent, t.string4)"),
    (
        "project 100 %",
        "retrieve unique (t.two, t.four, t.ten, t.twenty, t.onePercent, t.tenPercent,
         t.twentyPercent, t.fiftyPercent, t.unique3, t.evenOnePercent, t.oddOnePercent,
         t.stringu1, t.stringu2, t.string4)",
    ),
    ("min", "retrieve (x = min(t.unique2))"),
    ("min by 100", "retrieve (x = min(t.unique3 by t.onePercent))"),
    ("sum by 100", "retrieve (x = sum(t.unique3 by t.onePercent))"),
    ("sum by 100 linked", "retrieve (t.unique1, x = sum(t.unique3 by t.onePercent))"),
    ("append", "append to tenktup1 (unique1 = 1, unique2 = 1, string4 = \"A\")"),
    ("delete", "delete t where t.unique1 = 1491"),
    ("replace", "replace t (unique2 = 10001) where t.unique2 = 1491"),
    ("replace all", "replace t (two = t.two)"),
];

fn main() {
    let rows = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().expect("rows"));
    let mut oracle = Oracle::new();
    for name in ["tenktup1", "tenktup2", "onektup", "bprime"] {
        let source = open("wisconsin", "1993", name, rows, 0).expect("the catalogue has it");
        let (seconds, ()) = timed(|| oracle.add(read_all(&source)));
        println!("{seconds:8.3} s  generate {name}");
    }
    for name in ["tenktup1", "tenktup2"] {
        let (seconds, contents) = timed(|| oracle.contents(name).expect("just added"));
        println!("{seconds:8.3} s  contents of {name}: {contents}");
    }
    for (name, query) in QUERIES {
        let text = RANGES.to_owned() + &query.replace('@', &(rows / 100).to_string());
        let (seconds, answer) = timed(|| oracle.answer(&text));
        match answer {
            Ok(answer) => println!("{seconds:8.3} s  {name}: {answer}"),
            Err(error) => println!("{seconds:8.3} s  {name}:\n{error}"),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this crate knows no clock of its own")]
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = std::time::Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}
