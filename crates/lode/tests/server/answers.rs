//! Servers that answer otherwise than they should: here they are threads that only speak.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread;

use lode::internals::wire::{self, Link, Reply, Request, Stale, Welcome};
use lode::remote::Remote;
use lode::server::{Address, Stream};
use lode::{LodeError, Tactics};

use crate::setup::put;

fn welcome() -> Reply {
    Reply::Welcome(Welcome {
        version: wire::VERSION,
        extent_pages: 16,
        identity: [1; 16],
        session: 5,
        position: 1,
        pages_total: 16,
        tactics: "locks=database&log=page-diff".to_owned(),
    })
}

/// The replies of a server, one a question; after the last it hangs up at the next question.
fn with_server(replies: Vec<Reply>, run: impl FnOnce(&Address)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut link = Link::over(Arc::new(Stream::Unix(stream)));
            for reply in replies {
                // `End` is no question.
                while let Some(Request::End { .. }) = link.receive_request().unwrap() {}
                link.send_reply(&reply).unwrap();
            }
            let _ = link.receive_request();
        });
        run(&Address::Unix(path));
    });
}

fn locked() -> Reply {
    Reply::Locked { position: 1, pages_total: 16, stale: Stale::Nothing }
}

#[test]
fn a_commit_without_an_answer_is_uncertain() {
    let pages = Reply::Pages { position: 1, first: 9, bytes: vec![0; 4_096] };
    with_server(vec![welcome(), locked(), pages], |address| {
        let remote = Remote::connect(address, &Tactics::default()).unwrap();
        let mut writing = remote.writing();
        put(&mut writing, 9, 1).unwrap();
        let error = writing.commit().unwrap_err();
        assert!(matches!(error, LodeError::Uncertain { .. }), "{error}");
        assert!(error.to_string().contains("connect anew"), "{error}");
    });
}

#[test]
fn answers_to_something_else_are_reported() {
    let others = [
        welcome(),
        Reply::Committed { position: 1 },
        Reply::Locked { position: 1, pages_total: 16, stale: Stale::This([0; 4_096].into()) },
    ];
    for other in others {
        with_server(vec![welcome(), other], |address| {
            let remote = Remote::connect(address, &Tactics::default()).unwrap();
            let mut writing = remote.writing();
            let error = put(&mut writing, 9, 1).unwrap_err();
            assert!(matches!(error, LodeError::Server { .. }), "{error}");
            assert!(matches!(writing.commit(), Err(LodeError::RolledBack)));
        });
    }
    for pages in [(8, 4_096), (9, 8_192)] {
        let pages = Reply::Pages { position: 1, first: pages.0, bytes: vec![0; pages.1] };
        with_server(vec![welcome(), locked(), pages], |address| {
            let remote = Remote::connect(address, &Tactics::default()).unwrap();
            let error = put(&mut remote.writing(), 9, 1).unwrap_err();
            assert!(matches!(error, LodeError::Server { .. }), "{error}");
        });
    }
}

#[test]
fn a_server_of_something_else_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"220 mail.example ESMTP, and more than a head").unwrap();
            // Until the client has gone.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        });
        let outcome = Remote::connect(&Address::Unix(path), &Tactics::default());
        let Err(error) = outcome else { panic!("it is welcome") };
        assert!(matches!(error, LodeError::Server { .. }), "{error}");
        assert!(error.to_string().contains("unreadable message"), "{error}");
    });
}
