//! OO1's look-up and traversal on DuckDB, alternately on its C interface and by this crate's
//! client, as JSON. The bare loop shares the inputs, the null procedure and the checksum.
//!
//! `bare_duckdb MODULE PYTHON PATH PARTS ITERATIONS`: the file of Python's module `_duckdb`, a
//! shared library of an interpreter (the module refers to it), and where to make the database.

#![expect(clippy::print_stdout, reason = "a program whose output is its purpose")]
#![expect(unsafe_code, reason = "the C interface")]

use std::error::Error;
use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL};
use loadstone_clients::engines::oo1::open;
use loadstone_clients::oo1::{Database, Kind, Measure, Part, Visits};
use loadstone_clients::{Address, Tactics};
use loadstone_measure::clock::now_ns;

const DEPTH: u32 = 7;

type Pointer = *mut c_void;
type Text = unsafe extern "C" fn(Pointer, *const c_char, *mut Pointer) -> i32;

/// Only what the two loops need; the result is passed by value, as its six words.
struct Bare {
    bind_int32: unsafe extern "C" fn(Pointer, u64, i32) -> i32,
    execute_prepared: unsafe extern "C" fn(Pointer, *mut Words) -> i32,
    fetch_chunk: unsafe extern "C" fn(Words) -> Pointer,
    chunk_size: unsafe extern "C" fn(Pointer) -> u64,
    chunk_vector: unsafe extern "C" fn(Pointer, u64) -> Pointer,
    vector_data: unsafe extern "C" fn(Pointer) -> Pointer,
    destroy_chunk: unsafe extern "C" fn(*mut Pointer),
    destroy_result: unsafe extern "C" fn(*mut Words),
    find: Pointer,
    to: Pointer,
    links: Vec<u32>,
    visits: Visits,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Words([u64; 6]);

impl Bare {
    /// SAFETY: `statement` is alive; `row` gets a chunk and its size.
    unsafe fn ask(
        &mut self,
        statement: Pointer,
        id: u32,
        row: unsafe fn(&mut Self, Pointer, usize),
    ) {
        let mut result = Words([0; 6]);
        // SAFETY: the caller's promise; what is made is destroyed once.
        unsafe {
            (self.bind_int32)(statement, 1, id.cast_signed());
            assert_eq!((self.execute_prepared)(statement, &raw mut result), 0, "it failed");
            loop {
                let mut chunk = (self.fetch_chunk)(result);
                if chunk.is_null() {
                    break;
                }
                let size = (self.chunk_size)(chunk) as usize;
                row(self, chunk, size);
                (self.destroy_chunk)(&raw mut chunk);
            }
            (self.destroy_result)(&raw mut result);
        }
    }

    unsafe fn column<T: Copy>(&self, chunk: Pointer, column: u64, row: usize) -> T {
        // SAFETY: the statements' columns are of the types that are requested, without NULLs.
        unsafe {
            let vector = (self.chunk_vector)(chunk, column);
            *(self.vector_data)(vector).cast::<T>().add(row)
        }
    }

    unsafe fn part(&mut self, chunk: Pointer, size: usize) {
        for row in 0..size {
            // SAFETY: as for a column; types have 10 letters, which lie behind their length.
            let (id, x, y, text) = unsafe {
                let number = |column| self.column::<i32>(chunk, column, row);
                (number(0), number(1), number(2), self.column::<[u8; 16]>(chunk, 3, row))
            };
            let kind = Kind::from_text(&text[4..14]).expect("types have 10 bytes");
            self.visits.part(&Part { id: id.cast_unsigned(), x, y, kind });
        }
    }

    unsafe fn link(&mut self, chunk: Pointer, size: usize) {
        for row in 0..size {
            // SAFETY: as for a column.
            let id = unsafe { self.column::<i32>(chunk, 0, row) };
            self.links.push(id.cast_unsigned());
        }
    }

    unsafe fn descend(&mut self, id: u32, depth: u32) {
        let first = self.links.len();
        // SAFETY: the caller keeps the statements alive.
        unsafe {
            self.ask(self.to, id, Self::link);
            for position in first..self.links.len() {
                let next = self.links[position];
                self.ask(self.find, next, Self::part);
                if depth > 1 {
                    self.descend(next, depth - 1);
                }
            }
        }
        self.links.truncate(first);
    }
}

/// A database on the bare interface; it is left open, for the process is about to end.
unsafe fn bare(library: &Library, path: &str) -> Result<Bare, Box<dyn Error>> {
    let path = CString::new(path)?;
    let (mut database, mut connection) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the names and signatures are those of duckdb.h; all texts end in zero.
    unsafe {
        let open: unsafe extern "C" fn(*const c_char, *mut Pointer) -> i32 =
            *library.get("duckdb_open")?;
        let connect: unsafe extern "C" fn(Pointer, *mut Pointer) -> i32 =
            *library.get("duckdb_connect")?;
        let (prepare, query): (Text, Text) =
            (*library.get("duckdb_prepare")?, *library.get("duckdb_query")?);
        assert_eq!(open(path.as_ptr(), &raw mut database), 0, "the file does not open");
        assert_eq!(connect(database, &raw mut connection), 0, "no connection");
        for text in [c"SET threads = 1", c"BEGIN"] {
            assert_eq!(query(connection, text.as_ptr(), ptr::null_mut()), 0, "{text:?}");
        }
        let statement = |text: &std::ffi::CStr| {
            let mut statement = ptr::null_mut();
            assert_eq!(prepare(connection, text.as_ptr(), &raw mut statement), 0, "{text:?}");
            statement
        };
        Ok(Bare {
            bind_int32: *library.get("duckdb_bind_int32")?,
            execute_prepared: *library.get("duckdb_execute_prepared")?,
            fetch_chunk: *library.get("duckdb_fetch_chunk")?,
            chunk_size: *library.get("duckdb_data_chunk_get_size")?,
            chunk_vector: *library.get("duckdb_data_chunk_get_vector")?,
            vector_data: *library.get("duckdb_vector_get_data")?,
            destroy_chunk: *library.get("duckdb_destroy_data_chunk")?,
            destroy_result: *library.get("duckdb_destroy_result")?,
            find: statement(c"SELECT id, x, y, type FROM part WHERE id = $1"),
            to: statement(c"SELECT too FROM connection WHERE frm = $1"),
            links: Vec::with_capacity(1024),
            visits: Visits::default(),
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, python, path, parts, iterations] = arguments.as_slice() else {
        return Err("usage: bare_duckdb MODULE PYTHON PATH PARTS ITERATIONS".into());
    };
    let database = Database::new(parts.parse()?, 1, true)?;
    let iterations: u32 = iterations.parse()?;
    // SAFETY: an interpreter that nobody starts, and an engine that finds its symbols in it.
    let library = unsafe {
        std::mem::forget(Library::open(Some(python), RTLD_LAZY | RTLD_GLOBAL)?);
        Library::open(Some(module), RTLD_LAZY | RTLD_LOCAL)?
    };
    // Each has a file of its own: one process cannot open a file twice.
    let file = |name: &str| format!("{path}.{name}");
    let load = |name: &str| -> Result<_, Box<dyn Error>> {
        let address = Address { database: file(name), library: Some(PathBuf::from(module)) };
        let mut client = open("duckdb", &address, Tactics::default(), database)?;
        client.load()?;
        Ok(client)
    };
    let mut client = load("client")?;
    drop(load("bare")?);
    // SAFETY: the statements live as long as the process.
    let mut bare = unsafe { bare(&library, &file("bare"))? };
    let mut costs = [const { Vec::new() }; 4];
    for iteration in 0..iterations {
        for (at, measure) in [(0, Measure::Lookup), (1, Measure::Traversal)] {
            let outcome = client.measure(measure, iteration)?;
            costs[at].push(outcome.elapsed_ns as f64 / outcome.visits as f64);
            bare.visits = Visits::default();
            let (ids, start) = (database.lookup_ids(iteration), database.start(iteration));
            let start_ns = now_ns();
            // SAFETY: the statements are alive.
            unsafe {
                if measure == Measure::Lookup {
                    for &id in &ids {
                        bare.ask(bare.find, id, Bare::part);
                    }
                } else {
                    bare.ask(bare.find, start, Bare::part);
                    bare.descend(start, DEPTH);
                }
            }
            costs[at + 2].push((now_ns() - start_ns) as f64 / bare.visits.count as f64);
            let seen = (bare.visits.count, bare.visits.checksum);
            assert_eq!(seen, (outcome.visits, outcome.checksum), "both answer alike");
        }
    }
    let [lookup, visit, bare_lookup, bare_visit] = costs.map(|cost| median(&cost[1..]));
    println!(
        "{{\"client\": {{\"lookup_ns\": {lookup:.0}, \"visit_ns\": {visit:.0}}}, \
         \"bare\": {{\"lookup_ns\": {bare_lookup:.0}, \"visit_ns\": {bare_visit:.0}}}}}"
    );
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
