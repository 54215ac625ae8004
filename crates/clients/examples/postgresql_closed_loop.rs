//! Point look-ups on PostgreSQL by closed-loop clients, one thread each, for the comparison with
//! `pgbench` (which is run beside it, on the same table and statement, by the caller).
//!
//! `cargo run --release -p loadstone-clients --example postgresql_closed_loop --
//!  "host=/folder/of/the/socket port=5432 user=me dbname=postgres" PARTS CLIENTS SECONDS
//!  [MEASURE] [tactic=value …]`
//!
//! SECONDS 0 loads the database and ends. MEASURE is `lookup` (1,000 at a time) if not given. Each
//! answer is compared with the oracle's. Prints one JSON object: clients, visits (parts fetched),
//! visits per second, ns per visit of one client, and this process's own user + system time per
//! visit in microseconds.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::sync::Barrier;

use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::oracle::Oracle;
use loadstone_clients::oo1::{Client, Database, Measure};
use loadstone_clients::{Address, ClientError, Tactics};
use loadstone_measure::clock::now_ns;
use loadstone_measure::counters::cpu_ns;

/// Inputs that a client goes through before it begins anew: their answers are known beforehand.
const ITERATIONS: u32 = 64;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    assert!(arguments.len() >= 4, "arguments: ADDRESS PARTS CLIENTS SECONDS [MEASURE] [tactics]");
    let tactics = arguments.split_off(4);
    let (pairs, names): (Vec<_>, Vec<_>) = tactics.iter().partition(|text| text.contains('='));
    let pairs = pairs.iter().filter_map(|pair| pair.split_once('='));
    let measure = names.first().map_or("lookup", |name| name.as_str());
    let measure = Measure::named(measure).expect("a measure of OO1");
    let [_, parts, clients, seconds] = [0, 1, 2, 3].map(|at| arguments[at].parse().unwrap_or(0));
    let database = Database::new(parts, 1, true).expect("a number of parts");
    let address = Address { database: arguments.swap_remove(0), library: None };
    let mut first = open("postgresql", &address, Tactics::new(pairs), database).expect("a server");
    if seconds == 0 {
        let elapsed_ns = first.load().expect("a schema that can be filled");
        println!("{{\"load_ns\": {elapsed_ns}}}");
        return;
    }
    let oracle = Oracle::new(database);
    let expected: Vec<_> =
        (0..ITERATIONS).map(|iteration| oracle.expected(measure, iteration)).collect();
    let mut programs: Vec<Box<dyn Client>> =
        (1..clients).map(|_| first.another().expect("one more connection")).collect();
    programs.push(first);
    report(programs, measure, &expected, seconds * 1_000_000_000);
}

fn report(
    programs: Vec<Box<dyn Client>>,
    measure: Measure,
    expected: &[Option<(u64, u64)>],
    duration_ns: u64,
) {
    let clients = programs.len();
    let (start, stop) = (Barrier::new(clients + 1), Barrier::new(clients + 1));
    let (start, stop) = (&start, &stop);
    std::thread::scope(|scope| {
        let users: Vec<_> = (0..)
            .zip(programs)
            .map(|(number, mut client)| {
                scope.spawn(move || {
                    // The server's plans and caches, and the connection's, are warm before.
                    let warmed = one(&mut *client, measure, number, expected);
                    start.wait();
                    let until_ns = now_ns() + duration_ns;
                    let mut done = warmed.map(|_| 0);
                    let mut iteration = number;
                    while let (Ok(visits), true) = (&mut done, now_ns() < until_ns) {
                        iteration += 1;
                        match one(&mut *client, measure, iteration, expected) {
                            Ok(more) => *visits += more,
                            Err(error) => done = Err(error),
                        }
                    }
                    stop.wait();
                    done
                })
            })
            .collect();
        start.wait();
        let (begun_ns, cpu_before_ns) = (now_ns(), own_cpu_ns());
        stop.wait();
        let (elapsed_ns, cpu) = (now_ns() - begun_ns, own_cpu_ns() - cpu_before_ns);
        let done = users.into_iter().map(|user| user.join().expect("a user ends in order"));
        let visits: u64 = done.map(|done| done.expect("every look-up is answered")).sum();
        let per_s = visits as f64 * 1e9 / elapsed_ns as f64;
        let ns = elapsed_ns as f64 * clients as f64 / visits as f64;
        let cpu_us = cpu as f64 / 1e3 / visits as f64;
        println!(
            "{{\"clients\": {clients}, \"visits\": {visits}, \"visits_per_s\": {per_s:.0}, \
             \"ns_per_visit\": {ns:.0}, \"client_cpu_us_per_visit\": {cpu_us:.3}}}"
        );
    });
}

fn one(
    client: &mut dyn Client,
    measure: Measure,
    iteration: u32,
    expected: &[Option<(u64, u64)>],
) -> Result<u64, ClientError> {
    let iteration = iteration % ITERATIONS;
    let outcome = client.measure(measure, iteration)?;
    let answer = (outcome.visits, outcome.checksum);
    let wanted = expected[iteration as usize].unwrap_or(answer);
    assert_eq!(answer, wanted, "iteration {iteration} answers as the oracle");
    Ok(outcome.visits)
}

fn own_cpu_ns() -> u64 {
    cpu_ns(std::process::id()).expect("our own process can be read")
}
