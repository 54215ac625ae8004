//! OO1's look-up and traversal directly on LMDB's C interface, as JSON: what the client of this
//! crate is held to. It shares the inputs, the null procedure and the checksum with the loops.
//!
//! `bare_lmdb PATH PARTS ITERATIONS`, on a file that was loaded with `access=links`.

#![expect(clippy::print_stdout, reason = "a program whose output is its purpose")]
#![expect(unsafe_code, reason = "the C interface")]

use std::error::Error;
use std::ffi::{CStr, CString, c_void};
use std::ptr;

use lmdb_master_sys as ffi;
use loadstone_clients::oo1::{Database, Kind, Part, Visits};
use loadstone_measure::clock::now_ns;

const DEPTH: u32 = 7;

struct Bare {
    transaction: *mut ffi::MDB_txn,
    part: ffi::MDB_dbi,
    to: *mut ffi::MDB_cursor,
    links: Vec<u32>,
    visits: Visits,
}

const NOTHING: ffi::MDB_val = ffi::MDB_val { mv_size: 0, mv_data: ptr::null_mut() };

fn key(id: &u32) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: 4, mv_data: ptr::from_ref(id).cast_mut().cast::<c_void>() }
}

/// SAFETY: LMDB set the value in a transaction that is alive.
unsafe fn bytes<'a>(value: &ffi::MDB_val) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(value.mv_data.cast::<u8>(), value.mv_size) }
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("every field ends within the value")
}

impl Bare {
    /// SAFETY: the transaction is alive.
    unsafe fn visit(&mut self, id: u32) {
        let (mut key, mut value) = (key(&id), NOTHING);
        // SAFETY: the caller's promise; both places live on this stack.
        let bytes = unsafe {
            let found = ffi::mdb_get(self.transaction, self.part, &raw mut key, &raw mut value);
            assert_eq!(found, ffi::MDB_SUCCESS, "no part {id}");
            bytes(&value)
        };
        self.visits.part(&Part {
            id,
            x: i32::from_le_bytes(field(bytes, 8)),
            y: i32::from_le_bytes(field(bytes, 12)),
            kind: Kind(field(bytes, 16)),
        });
    }

    /// SAFETY: the transaction and the cursor are alive.
    unsafe fn descend(&mut self, id: u32, depth: u32) {
        let first = self.links.len();
        let (mut key, mut value) = (key(&id), NOTHING);
        // SAFETY: the caller's promise; both places live on this stack.
        unsafe {
            let (key, value) = (&raw mut key, &raw mut value);
            ffi::mdb_cursor_get(self.to, key, value, ffi::MDB_SET);
            ffi::mdb_cursor_get(self.to, key, value, ffi::MDB_GET_MULTIPLE);
            let run = bytes(&*value).chunks_exact(19);
            self.links.extend(run.map(|link| u32::from_le_bytes(field(link, 1))));
            for position in first..self.links.len() {
                let next = self.links[position];
                self.visit(next);
                if depth > 1 {
                    self.descend(next, depth - 1);
                }
            }
        }
        self.links.truncate(first);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, parts, iterations] = arguments.as_slice() else {
        return Err("usage: bare_lmdb PATH PARTS ITERATIONS".into());
    };
    let database = Database::new(parts.parse()?, 1, true)?;
    let iterations: u32 = iterations.parse()?;
    let path = CString::new(path.as_str())?;
    let (mut lookups, mut visits) = (Vec::new(), Vec::new());
    // SAFETY: one thread; everything is used until the end.
    unsafe {
        let mut environment = ptr::null_mut();
        ffi::mdb_env_create(&raw mut environment);
        ffi::mdb_env_set_mapsize(environment, 64 << 30);
        ffi::mdb_env_set_maxdbs(environment, 8);
        let flags = ffi::MDB_NOSUBDIR | ffi::MDB_NOTLS;
        let opened = ffi::mdb_env_open(environment, path.as_ptr(), flags, 0o600);
        assert_eq!(opened, ffi::MDB_SUCCESS, "the file does not open");
        let mut transaction = ptr::null_mut();
        ffi::mdb_txn_begin(environment, ptr::null_mut(), ffi::MDB_RDONLY, &raw mut transaction);
        let table = |name: &CStr| {
            let mut table = 0;
            let status = ffi::mdb_dbi_open(transaction, name.as_ptr(), 0, &raw mut table);
            assert_eq!(status, ffi::MDB_SUCCESS, "the file holds another design");
            table
        };
        let (part, links) = (table(c"part"), table(c"to"));
        // The environment keeps the tables only if the transaction that opened them commits.
        ffi::mdb_txn_commit(transaction);
        ffi::mdb_txn_begin(environment, ptr::null_mut(), ffi::MDB_RDONLY, &raw mut transaction);
        let mut to = ptr::null_mut();
        ffi::mdb_cursor_open(transaction, links, &raw mut to);
        let links = Vec::with_capacity(1024);
        let mut bare = Bare { transaction, part, to, links, visits: Visits::default() };
        let renew = || {
            ffi::mdb_txn_renew(transaction);
            ffi::mdb_cursor_renew(transaction, to);
        };
        ffi::mdb_txn_reset(transaction);
        for iteration in (0..iterations).chain(0..iterations) {
            let ids = database.lookup_ids(iteration);
            let start_ns = now_ns();
            renew();
            for &id in &ids {
                bare.visit(id);
            }
            ffi::mdb_txn_reset(transaction);
            lookups.push((now_ns() - start_ns) as f64 / ids.len() as f64);
        }
        for iteration in (0..iterations).chain(0..iterations) {
            let start = database.start(iteration);
            bare.visits = Visits::default();
            let start_ns = now_ns();
            renew();
            bare.visit(start);
            bare.descend(start, DEPTH);
            ffi::mdb_txn_reset(transaction);
            visits.push((now_ns() - start_ns) as f64 / bare.visits.count as f64);
        }
    }
    // As in `oo1_speed`, all of them once for nothing.
    let warm = iterations as usize..;
    let (lookup_ns, visit_ns) = (median(&lookups[warm.clone()]), median(&visits[warm]));
    println!("{{\"lookup_ns\": {lookup_ns:.2}, \"visit_ns\": {visit_ns:.2}}}");
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
