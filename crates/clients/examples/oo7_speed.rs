//! The cost of OO7's operations through this crate, as JSON.
//!
//! `oo7_speed ENGINE PATH PARTS FAN_OUT ITERATIONS OPERATION[,OPERATION …] [load] [cold]
//! [key=value …]`: medians over the iterations, of the database at PATH, loaded before if asked to,
//! which takes `load_ns`. Each operation is run once before, so that what it touches is in the
//! engine's memory; with `cold` none is, and the files that begin with PATH have left the system's
//! memory before the engine opens them.

#![expect(clippy::print_stdout, reason = "a program whose output is its purpose")]

use std::error::Error;
use std::path::Path;

use loadstone_clients::engines::oo7::open;
use loadstone_clients::oo7::{Database, Measure};
use loadstone_clients::{Address, Outcome, Tactics};
use loadstone_measure::eviction::evict;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, path, parts, fan_out, iterations, operations, rest @ ..] = arguments.as_slice()
    else {
        let usage = "usage: oo7_speed ENGINE PATH PARTS FAN_OUT ITERATIONS OPERATIONS [load] \
                     [key=value …]";
        return Err(usage.into());
    };
    let database = Database::new(parts.parse()?, fan_out.parse()?, 1)?;
    let address = Address { database: path.clone(), library: None };
    let tactics = Tactics::new(rest.iter().filter_map(|argument| argument.split_once('=')));
    let is_cold = rest.iter().any(|argument| argument == "cold");
    if is_cold {
        evict(Path::new(path))?;
        for beside in ["-log", "-wal", "-lock"].map(|end| format!("{path}{end}")) {
            if Path::new(&beside).exists() {
                evict(Path::new(&beside))?;
            }
        }
    }
    let mut client = open(engine, &address, tactics, database)?;
    let mut costs = Vec::new();
    if rest.iter().any(|argument| argument == "load") || engine == "memory" {
        costs.push(format!("\"load_ns\": {}", client.load()?));
    }
    let iterations: u32 = iterations.parse()?;
    for operation in operations.split(',') {
        let measure = Measure::named(operation)?;
        if !is_cold {
            client.measure(measure, 0)?;
        }
        let mut each = Vec::new();
        for iteration in 0..iterations {
            each.push(client.measure(measure, iteration)?);
        }
        let of = |value: fn(&Outcome) -> u64| median(each.iter().map(value).collect());
        costs.push(format!(
            "\"{operation}\": {{\"elapsed_ns\": {}, \"commit_ns\": {}, \"visits\": {}, \
             \"log_bytes\": {}, \"log_ranges\": {}, \"read_bytes\": {}}}",
            of(|it| it.elapsed_ns),
            of(|it| it.commit_ns),
            of(|it| it.visits),
            of(|it| it.logged.map_or(0, |logged| logged.bytes)),
            of(|it| it.logged.map_or(0, |logged| logged.ranges)),
            of(|it| it.work.read_bytes.unwrap_or(0)),
        ));
    }
    println!("{{{}}}", costs.join(", "));
    Ok(())
}

/// The upper one of the two in the middle, where there are two; 0 of none.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
