//! A server of lode in the test's own process.

use std::path::Path;

use lode::server::{Listener, Server};

/// Serves `folder/database`, with the server's tactics, at `folder/socket`.
pub fn serve(folder: &Path, tactics: &str) -> Server {
    let tactics = tactics.parse().expect("the tactics are known");
    let database = lode::Database::open(&folder.join("database"), &tactics).expect("it opens");
    let address = folder.join("socket").display().to_string().parse().expect("it is a path");
    let listener = Listener::bind(&address).expect("nobody else listens there");
    Server::start(database, listener).expect("it starts")
}
