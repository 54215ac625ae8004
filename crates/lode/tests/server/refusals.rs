//! A client that comes with nonsense, or to the wrong place, is refused or sent away; nobody else
//! suffers.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use lode::internals::disk::Disk;
use lode::internals::wire::{
    self, Access, Change, Hello, Lock, Reply, Request, Stale, decode_reply,
};
use lode::remote::Remote;
use lode::server::{Address, Listener, Server};
use lode::{LodeError, Tactics};

use crate::clients::next;
use crate::setup::{ACCOUNTS, Bank, START, put, sum};

fn dial(bank: &Bank) -> UnixStream {
    let Address::Unix(path) = bank.server.address() else { panic!("the bank is at a socket") };
    UnixStream::connect(path).unwrap()
}

fn say(stream: &mut UnixStream, request: &Request) {
    let mut frame = Vec::new();
    request.encode(&mut frame);
    stream.write_all(&frame).unwrap();
}

/// The next frame, `None` when the server has hung up.
fn hear(stream: &mut UnixStream) -> Option<Reply> {
    let mut frame = vec![0; wire::HEAD_BYTES];
    stream.read_exact(&mut frame).ok()?;
    frame.resize(wire::frame_bytes(&frame).unwrap(), 0);
    stream.read_exact(&mut frame[wire::HEAD_BYTES..]).unwrap();
    Some(decode_reply(&frame).unwrap())
}

fn hello() -> Request {
    Request::Hello(Hello { version: wire::VERSION, identity: [0; 16], session: 0 })
}

fn reported(outcome: Result<Remote, LodeError>) -> String {
    match outcome {
        Err(error @ LodeError::Server { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it connected"),
    }
}

fn is_well(bank: &Bank) {
    let remote = bank.client("");
    assert_eq!(sum(&remote.reading(), &bank.accounts).unwrap(), ACCOUNTS as u64 * START);
}

#[test]
fn random_bytes_harm_nobody() {
    let bank = Bank::open("locks=page");
    let mut state = 1;
    for round in 0..60 {
        let mut stream = dial(&bank);
        if round % 2 == 0 {
            say(&mut stream, &hello());
            assert!(matches!(hear(&mut stream), Some(Reply::Welcome(_))));
        }
        let mut bytes: Vec<u8> =
            (0..next(&mut state, 4_000)).map(|_| next(&mut state, 256) as u8).collect();
        if round % 3 == 0 {
            // A frame but for its checksum.
            bytes.resize(bytes.len().max(wire::HEAD_BYTES), 0);
            let length = bytes.len() as u32;
            bytes[8..12].copy_from_slice(&length.to_le_bytes());
        }
        // The server may hang up before it has heard all.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        assert_eq!(hear(&mut stream), None, "round {round}");
    }
    is_well(&bank);
}

/// Frames that are whole and make no sense where they come.
#[test]
fn requests_out_of_order_harm_nobody() {
    let bank = Bank::open("locks=page");
    let runs = lode::internals::log::Runs::whole(&[0xFF; 4_096]);
    let page = bank.accounts[0];
    let change = |page| vec![Change { page, runs: runs.clone() }];
    let lock = |slot, access| {
        let mode = lode::internals::lock::Mode::Shared;
        Request::Lock(Lock { slot, access, mode, page, known: 0 })
    };
    let refused = [
        Request::Commit { slot: 9, changes: change(page) },
        Request::Grow { pages_total: 1_000 },
        Request::Fetch { first: 1_000_000, count: 1 },
        Request::Fetch { first: u32::MAX - 64, count: 64 },
    ];
    for request in refused {
        let mut stream = dial(&bank);
        say(&mut stream, &hello());
        hear(&mut stream).unwrap();
        say(&mut stream, &Request::End { slot: 4 });
        say(&mut stream, &Request::Changes { slot: 4, changes: change(page) });
        say(&mut stream, &lock(1, Access::Reading));
        let Some(Reply::Locked { stale, .. }) = hear(&mut stream) else { panic!("{request:?}") };
        assert!(matches!(stale, Stale::This(_)));
        say(&mut stream, &request);
        assert!(matches!(hear(&mut stream), Some(Reply::Refused(_))), "{request:?}");
        say(&mut stream, &lock(1, Access::Writing));
        assert!(matches!(hear(&mut stream), Some(Reply::Refused(_))), "it only reads");
        // A superblock is nobody's to change.
        say(&mut stream, &lock(2, Access::Writing));
        assert!(matches!(hear(&mut stream), Some(Reply::Locked { .. })));
        say(&mut stream, &Request::Commit { slot: 2, changes: change(1) });
        assert!(matches!(hear(&mut stream), Some(Reply::Refused(_))));
        for slot in 3..70 {
            say(&mut stream, &lock(slot, Access::Reading));
            let too_many = matches!(hear(&mut stream), Some(Reply::Refused(_)));
            assert_eq!(too_many, slot > 65, "slot {slot}");
        }
        say(&mut stream, &hello());
        assert_eq!(hear(&mut stream), None, "one says hello once");
    }
    is_well(&bank);
}

/// A number of four bytes does not take the disk, and an empty change no memory.
#[test]
fn one_frame_takes_little() {
    let bank = Bank::open("");
    let mut stream = dial(&bank);
    say(&mut stream, &hello());
    let Some(Reply::Welcome(welcome)) = hear(&mut stream) else { panic!("it is not welcome") };
    say(&mut stream, &lock_to_write(bank.accounts[0]));
    hear(&mut stream).unwrap();
    let before = bank.volume.len_bytes().unwrap();
    for pages_total in [1 << 20, u32::MAX, welcome.pages_total + 66 * 16 + 65] {
        say(&mut stream, &Request::Grow { pages_total });
        let Some(Reply::Refused(refusal)) = hear(&mut stream) else { panic!("it has grown") };
        let text = LodeError::from(refusal).to_string();
        assert!(text.contains("pages longer at once"), "{text}");
        assert_eq!(bank.volume.len_bytes().unwrap(), before);
    }
    say(&mut stream, &Request::Grow { pages_total: welcome.pages_total + 66 * 16 + 64 });
    assert!(matches!(hear(&mut stream), Some(Reply::Grown { .. })));
    let nothing = lode::internals::log::Runs::default();
    let change = |page| Change { page, runs: nothing.clone() };
    let changes = (3..welcome.pages_total).map(change).collect();
    say(&mut stream, &Request::Commit { slot: 1, changes });
    assert!(matches!(hear(&mut stream), Some(Reply::Committed { .. })));
    drop(stream);
    is_well(&bank);
}

/// Changes that were sent and not committed, by clients that hang up.
#[test]
fn half_a_transaction_leaves_nothing() {
    for text in ["locks=database", "locks=relation", "locks=page"] {
        let bank = Bank::open(text);
        let page = bank.accounts[0];
        for _ in 0..10 {
            let mut stream = dial(&bank);
            say(&mut stream, &hello());
            hear(&mut stream).unwrap();
            say(&mut stream, &lock_to_write(page));
            hear(&mut stream).unwrap();
            let runs = lode::internals::log::Runs::whole(&[0xFF; 4_096]);
            say(&mut stream, &Request::Changes { slot: 1, changes: vec![Change { page, runs }] });
        }
        is_well(&bank);
    }
}

/// A client that hangs up while it waits for a lock gives back those that it has.
#[test]
fn who_hangs_up_waits_no_more() {
    let bank = Bank::open("locks=page");
    let (holder, other) = (bank.client(""), bank.client(""));
    let mut holding = holder.writing();
    put(&mut holding, bank.accounts[1], START).unwrap();
    for _ in 0..20 {
        let mut stream = dial(&bank);
        say(&mut stream, &hello());
        hear(&mut stream).unwrap();
        say(&mut stream, &lock_to_write(bank.accounts[0]));
        hear(&mut stream).unwrap();
        say(&mut stream, &lock_to_write(bank.accounts[1]));
        drop(stream);
        let mut writing = other.writing();
        put(&mut writing, bank.accounts[0], START).unwrap();
        writing.commit().unwrap();
    }
    holding.commit().unwrap();
    is_well(&bank);
}

fn lock_to_write(page: u32) -> Request {
    let mode = lode::internals::lock::Mode::Exclusive;
    Request::Lock(Lock { slot: 1, access: Access::Writing, mode, page, known: 0 })
}

#[test]
fn another_version_is_reported() {
    let bank = Bank::open("");
    let mut stream = dial(&bank);
    say(&mut stream, &Request::Hello(Hello { version: 7, identity: [0; 16], session: 0 }));
    let Some(Reply::Refused(refusal)) = hear(&mut stream) else { panic!("it is welcome") };
    let text = LodeError::from(refusal).to_string();
    assert!(text.contains("version 2") && text.contains("version 7"), "{text}");
    assert_eq!(hear(&mut stream), None);
}

#[test]
fn another_database_is_reported() {
    let bank = Bank::open("");
    let (address, tactics) = (bank.server.address(), Tactics::default());
    let text = reported(Remote::connect_to(address, &tactics, [9; 16]));
    assert!(text.contains("another database"), "{text}");
    let identity = bank.client("").identity();
    Remote::connect_to(address, &tactics, identity).unwrap();
}

/// A client's knowledge of its cache means nothing to the next life of a server.
#[test]
fn another_life_of_the_server_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let address = Address::Unix(folder.path().join("socket"));
    let bank = Bank::open_at("", &address, tempfile::tempdir().unwrap());
    let remote = bank.client("");
    sum(&remote.reading(), &bank.accounts).unwrap();
    let (database, accounts) = bank.reopen();
    let server = Server::start(database, Listener::bind(&address).unwrap()).unwrap();
    let gone = sum(&remote.reading(), &accounts).unwrap_err().to_string();
    assert!(gone.contains("is gone") && gone.contains("connect anew"), "{gone}");
    let again = sum(&remote.reading(), &accounts).unwrap_err().to_string();
    assert!(again.contains("started again since"), "{again}");
    let remote = Remote::connect(&address, &Tactics::default()).unwrap();
    assert_eq!(sum(&remote.reading(), &accounts).unwrap(), ACCOUNTS as u64 * START);
    drop(remote);
    server.stop().unwrap();
}

/// Changes that came before the last and could not be made keep all from being committed.
#[test]
fn a_change_that_failed_fails_the_commit() {
    let bank = Bank::open("locks=database");
    let mut stream = dial(&bank);
    say(&mut stream, &hello());
    hear(&mut stream).unwrap();
    say(&mut stream, &lock_to_write(bank.accounts[0]));
    hear(&mut stream).unwrap();
    let runs = lode::internals::log::Runs::whole(&[0xFF; 4_096]);
    let change = |page| vec![Change { page, runs: runs.clone() }];
    say(&mut stream, &Request::Changes { slot: 1, changes: change(1_000_000) });
    say(&mut stream, &Request::Commit { slot: 1, changes: change(bank.accounts[0]) });
    let Some(Reply::Refused(refusal)) = hear(&mut stream) else { panic!("it is committed") };
    assert!(matches!(LodeError::from(refusal), LodeError::Corrupt { .. }));
    is_well(&bank);
}

#[test]
fn nobody_there_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let text = reported(Remote::connect(&Address::Unix(path.clone()), &Tactics::default()));
    assert!(text.contains("socket") && text.contains("start it"), "{text}");
    // A server that was killed leaves its socket.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = Listener::bind(&Address::Unix(path.clone())).unwrap();
    let second = Listener::bind(&Address::Unix(path.clone()));
    let text = second.unwrap_err().to_string();
    assert!(text.contains("another"), "{text}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    drop(listener);
    assert!(!path.exists());
    // A file that is no socket is not removed.
    fs::write(&path, "mine").unwrap();
    Listener::bind(&Address::Unix(path.clone())).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn other_machines_are_not_served() {
    for text in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
        let error = text.parse::<Address>().unwrap_err().to_string();
        assert!(error.contains("loopback"), "{error}");
        Listener::bind(&Address::Tcp(text.parse().unwrap())).unwrap_err();
    }
    let address: Address = "127.0.0.1:4711".parse().unwrap();
    assert_eq!(address.to_string(), "127.0.0.1:4711");
}
