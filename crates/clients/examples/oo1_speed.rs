//! The cost of a look-up and of a visit of the traversal through this crate, as JSON.
//!
//! `oo1_speed ENGINE PATH PARTS ITERATIONS [load] [key=value …]`: medians over the iterations, of
//! the database at PATH, loaded before if asked to. All iterations are run once before, so that
//! what they touch is in the engine's memory. `bare_sqlite` and `bare_lmdb` do the same on the C
//! interface.

#![expect(clippy::print_stdout, reason = "a program whose output is its purpose")]

use std::error::Error;

use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::{Database, Measure};
use loadstone_clients::{Address, Tactics};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, path, parts, iterations, rest @ ..] = arguments.as_slice() else {
        return Err("usage: oo1_speed ENGINE PATH PARTS ITERATIONS [load] [key=value …]".into());
    };
    let database = Database::new(parts.parse()?, 1, true)?;
    let address = Address { database: path.clone(), library: None };
    let tactics = Tactics::new(rest.iter().filter_map(|argument| argument.split_once('=')));
    let mut client = open(engine, &address, tactics, database)?;
    if rest.iter().any(|argument| argument == "load") || engine == "memory" {
        client.load()?;
    }
    let mut cost_ns = |measure: Measure, of: fn(u64, u64) -> u64| {
        let iterations: u32 = iterations.parse()?;
        for iteration in 0..iterations {
            client.measure(measure, iteration)?;
        }
        let mut each = Vec::new();
        for iteration in 0..iterations {
            let outcome = client.measure(measure, iteration)?;
            each.push(outcome.elapsed_ns as f64 / of(outcome.visits, outcome.calls) as f64);
        }
        Ok::<f64, Box<dyn Error>>(median(&each))
    };
    let lookup_ns = cost_ns(Measure::Lookup, |visits, _| visits)?;
    let visit_ns = cost_ns(Measure::Traversal, |visits, _| visits)?;
    let nothing_ns = cost_ns(Measure::Nothing, |_, calls| calls)?;
    println!(
        "{{\"lookup_ns\": {lookup_ns:.2}, \"visit_ns\": {visit_ns:.2}, \
         \"nothing_ns\": {nothing_ns:.2}}}"
    );
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
