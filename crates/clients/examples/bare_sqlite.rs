//! OO1's look-up and traversal directly on `SQLite`'s C interface, as JSON: what the client of this
//! crate is held to. It shares the inputs, the null procedure and the checksum with the loops.
//!
//! `bare_sqlite PATH PARTS ITERATIONS`, on a file that was loaded with `access=rowid`.

#![expect(clippy::print_stdout, reason = "a program whose output is its purpose")]
#![expect(unsafe_code, reason = "the C interface")]

use std::error::Error;
use std::ffi::{CStr, CString};
use std::ptr;

use libsqlite3_sys as ffi;
use loadstone_clients::oo1::{Database, Kind, Part, Visits};
use loadstone_measure::clock::now_ns;

const DEPTH: u32 = 7;

struct Bare {
    find: *mut ffi::sqlite3_stmt,
    to: *mut ffi::sqlite3_stmt,
    links: Vec<u32>,
    visits: Visits,
}

impl Bare {
    /// SAFETY: the statements are alive.
    unsafe fn visit(&mut self, id: u32) {
        // SAFETY: the caller's promise; the text is read before the reset.
        unsafe {
            ffi::sqlite3_bind_int64(self.find, 1, i64::from(id));
            assert_eq!(ffi::sqlite3_step(self.find), ffi::SQLITE_ROW, "no part {id}");
            let text = ffi::sqlite3_column_text(self.find, 1);
            let length = ffi::sqlite3_column_bytes(self.find, 1);
            let text = std::slice::from_raw_parts(text, length as usize);
            let part = Part {
                id: ffi::sqlite3_column_int(self.find, 0).cast_unsigned(),
                kind: Kind::from_text(text).expect("types have 10 bytes"),
                x: ffi::sqlite3_column_int(self.find, 2),
                y: ffi::sqlite3_column_int(self.find, 3),
            };
            ffi::sqlite3_reset(self.find);
            self.visits.part(&part);
        }
    }

    /// SAFETY: the statements are alive.
    unsafe fn descend(&mut self, id: u32, depth: u32) {
        let first = self.links.len();
        // SAFETY: the caller's promise.
        unsafe {
            ffi::sqlite3_bind_int64(self.to, 1, i64::from(id));
            while ffi::sqlite3_step(self.to) == ffi::SQLITE_ROW {
                self.links.push(ffi::sqlite3_column_int(self.to, 0).cast_unsigned());
            }
            ffi::sqlite3_reset(self.to);
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
        return Err("usage: bare_sqlite PATH PARTS ITERATIONS".into());
    };
    let database = Database::new(parts.parse()?, 1, true)?;
    let iterations: u32 = iterations.parse()?;
    let path = CString::new(path.as_str())?;
    let (mut lookups, mut visits) = (Vec::new(), Vec::new());
    // SAFETY: one thread; the connection outlives its statements, which are used until the end.
    unsafe {
        let mut connection = ptr::null_mut();
        let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_NOMUTEX;
        let opened = ffi::sqlite3_open_v2(path.as_ptr(), &raw mut connection, flags, ptr::null());
        assert_eq!(opened, ffi::SQLITE_OK, "the file does not open");
        let run = |text: &CStr| {
            let nothing = ptr::null_mut();
            ffi::sqlite3_exec(connection, text.as_ptr(), None, nothing, ptr::null_mut())
        };
        run(c"pragma cache_size = -65536");
        let prepare = |text: &CStr| {
            let mut statement = ptr::null_mut();
            let keep = ffi::SQLITE_PREPARE_PERSISTENT;
            let tail = ptr::null_mut();
            let text = text.as_ptr();
            ffi::sqlite3_prepare_v3(connection, text, -1, keep, &raw mut statement, tail);
            assert!(!statement.is_null(), "the file holds another design");
            statement
        };
        let mut bare = Bare {
            find: prepare(c"select id, type, x, y from part where id = ?1"),
            to: prepare(c"select too from connection where frm = ?1"),
            links: Vec::with_capacity(1024),
            visits: Visits::default(),
        };
        for iteration in (0..iterations).chain(0..iterations) {
            let ids = database.lookup_ids(iteration);
            let start_ns = now_ns();
            run(c"begin");
            for &id in &ids {
                bare.visit(id);
            }
            run(c"commit");
            lookups.push((now_ns() - start_ns) as f64 / ids.len() as f64);
        }
        for iteration in (0..iterations).chain(0..iterations) {
            let start = database.start(iteration);
            bare.visits = Visits::default();
            let start_ns = now_ns();
            run(c"begin");
            bare.visit(start);
            bare.descend(start, DEPTH);
            run(c"commit");
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
