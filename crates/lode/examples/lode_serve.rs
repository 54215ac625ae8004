//! `lode_serve PATH SOCKET [TACTICS]`: the page server as a program.
//!
//! Opens the database at PATH and serves it at SOCKET, the path of a Unix socket or a port as
//! `127.0.0.1:4711`, with TACTICS (`locks=page&durability=group`). It says `serving` and where,
//! once clients can come, and ends, having closed the database, when a line or the end comes from
//! its standard input. Killed instead, it loses nothing that was committed.

use std::env;
use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

use lode::server::{Address, Listener, Server};
use lode::{Database, Tactics};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody else to be told.
            let _ = writeln!(std::io::stderr(), "lode_serve: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (path, socket, tactics) = match &arguments[..] {
        [path, socket] => (path, socket, Tactics::default()),
        [path, socket, tactics] => (path, socket, tactics.parse()?),
        _ => return Err("wanted are PATH SOCKET, and TACTICS if you like".into()),
    };
    let listener = Listener::bind(&socket.parse::<Address>()?)?;
    let server = Server::start(Database::open(Path::new(path), &tactics)?, listener)?;
    writeln!(stdout(), "serving {path} at {}", server.address())?;
    stdin().read_line(&mut String::new())?;
    Ok(server.stop()?)
}
