//! A client's transaction in a program that carries what it holds from thread to thread.

#![expect(unsafe_code, reason = "what the transaction's type forbids is made harmless here")]

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::thread::{self, ThreadId};

use super::{Remote, RemoteReading, RemoteWriting};
use crate::error::Result;

/// A transaction at a page server that may be carried to another thread, and end there.
///
/// It belongs to the thread that began it, whose connection it shares with that thread's other
/// transactions: so its type forbids the carrying. But who keeps it in a struct cannot promise
/// where that is dropped. Elsewhere it may read; to change something it must be at home.
pub struct Carried<T> {
    inside: ManuallyDrop<T>,
    home: ThreadId,
}

// SAFETY: all that a transaction holds may be sent, but for the mark that it stays in its thread,
// which is about whose connection it is: where it ends elsewhere, it ends in a thread that has
// none (`elsewhere`), and what is counted for threads that have one stays as it is.
unsafe impl Send for Carried<RemoteReading> {}

// SAFETY: as above.
unsafe impl Send for Carried<RemoteWriting> {}

impl<T> Carried<T> {
    fn of(inside: T) -> Self {
        Self { inside: ManuallyDrop::new(inside), home: thread::current().id() }
    }

    /// Whether this is the thread that began it.
    pub fn is_at_home(&self) -> bool {
        self.home == thread::current().id()
    }
}

impl Carried<RemoteReading> {
    /// Begin to read.
    pub fn reading(remote: &Remote) -> Self {
        Self::of(remote.reading())
    }
}

impl Carried<RemoteWriting> {
    /// Begin to change.
    pub fn writing(remote: &Remote) -> Self {
        Self::of(remote.writing())
    }

    /// As [`RemoteWriting::commit`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn commit(self) -> Result<()> {
        let is_at_home = self.is_at_home();
        let mut this = ManuallyDrop::new(self);
        let this: &mut Self = &mut this;
        // SAFETY: nobody sees the transaction again: `this` is not dropped.
        let commit = |this: &mut Self| unsafe { ManuallyDrop::take(&mut this.inside) }.commit();
        if is_at_home { commit(this) } else { elsewhere(|| commit(this)) }
    }
}

impl<T> Deref for Carried<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inside
    }
}

impl<T> DerefMut for Carried<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inside
    }
}

impl<T> Drop for Carried<T> {
    fn drop(&mut self) {
        let is_at_home = self.is_at_home();
        let inside = Inside(&mut self.inside);
        if is_at_home { inside.drop() } else { elsewhere(|| inside.drop()) }
    }
}

/// A value that the end of a [`Carried`] drops.
struct Inside<'a, T>(&'a mut ManuallyDrop<T>);

// SAFETY: it is made by the end of a `Carried` alone, which is one of the two above.
unsafe impl<T> Send for Inside<'_, T> {}

impl<T> Inside<'_, T> {
    fn drop(self) {
        // SAFETY: this is the end of who holds it.
        unsafe { ManuallyDrop::drop(self.0) };
    }
}

/// Do something in a thread that has no transactions and no connection.
fn elsewhere<R: Send>(act: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let acted = scope.spawn(act).join();
        acted.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::Carried;
    use crate::catalog::{self, CATALOG_PAGE};
    use crate::heap::Heap;
    use crate::pages::PageRead;
    use crate::remote::{Remote, RemoteReading, RemoteWriting};
    use crate::server::Server;
    use crate::wire::{Address, Listener};
    use crate::{Database, Tactics, named};

    fn served(run: impl FnOnce(&Remote)) {
        let folder = tempfile::tempdir().unwrap();
        let tactics = Tactics::default();
        let database = Database::create(&folder.path().join("a.lode"), &tactics).unwrap();
        let address = Address::Unix(folder.path().join("socket"));
        let server = Server::start(database, Listener::bind(&address).unwrap()).unwrap();
        let remote = Remote::connect(server.address(), &tactics).unwrap();
        run(&remote);
        drop(remote);
        server.stop().unwrap();
    }

    fn begin_reading(remote: &Remote) -> Carried<RemoteReading> {
        let looking = Carried::reading(remote);
        looking.read(CATALOG_PAGE, |_| ()).unwrap();
        looking
    }

    fn make(remote: &Remote, name: &str) -> Carried<RemoteWriting> {
        let mut writing = Carried::writing(remote);
        named::find_or_create::<Heap>(&mut *writing, name).unwrap();
        writing
    }

    fn in_another_thread<R: Send>(act: impl FnOnce() -> R + Send) -> R {
        thread::scope(|scope| scope.spawn(act).join().unwrap())
    }

    /// Each of them would keep the next one waiting for ever, were anything left of it.
    #[test]
    fn a_transaction_ended_in_another_thread_ends_wholly() {
        served(|remote| {
            let looking = begin_reading(remote);
            in_another_thread(move || drop(looking));
            let given_up = make(remote, "given up");
            in_another_thread(move || drop(given_up));
            let retained = make(remote, "kept");
            assert!(retained.is_at_home());
            in_another_thread(move || {
                assert!(!retained.is_at_home());
                retained.commit().unwrap();
            });
            let files = catalog::all(&*begin_reading(remote)).unwrap();
            assert_eq!(files.iter().map(|file| &file.name).collect::<Vec<_>>(), ["kept"]);
        });
    }

    /// A connection that a thread still uses is given to no other.
    #[test]
    fn ending_anothers_transaction_keeps_the_connection_of_ones_own() {
        served(|remote| {
            let looking = begin_reading(remote);
            in_another_thread(|| {
                let own = begin_reading(remote);
                drop(looking);
                let before = remote.counters().traffic.round_trips;
                in_another_thread(|| drop(begin_reading(remote)));
                // One met the server, one was for the lock, one for the page.
                let asked = remote.counters().traffic.round_trips - before;
                drop(own);
                assert_eq!(asked, 2);
            });
        });
    }
}
