//! `place=server`: a process of its own has the files open, and the program is its client.

use std::sync::Arc;

use loadstone_datasets::oo1::Database as Data;
use lode::LodeError;
use lode::remote::{Remote, RemoteReading, RemoteWriting};
use lode::server::{Address, Carried};
use lode::tactics::{Grain, ReadAhead, Tactics};
use self_cell::self_cell;

use super::ENGINE;
use super::design::Design;
use super::place::Place;
use crate::error::ClientError;

const ELSEWHERE: &str =
    "its files are the server's: a program makes a database before it is served";
const UNLOCKED: &str = "a page that is not locked yet may change: leave one of the two out";

type CarriedReading<'a> = Carried<RemoteReading<'a>>;

/// Nothing once it has ended.
type MaybeWriting<'a> = Option<Carried<RemoteWriting<'a>>>;

self_cell! {
    pub struct Reader {
        owner: Arc<Remote>,
        #[covariant]
        dependent: CarriedReading,
    }
}

self_cell! {
    pub struct Writer {
        owner: Arc<Remote>,
        #[covariant]
        dependent: MaybeWriting,
    }
}

impl Place for Remote {
    const NAME: &'static str = "server";

    type Reading<'a> = RemoteReading<'a>;

    type Writing<'a> = RemoteWriting<'a>;

    type Reader = Reader;

    type Writer = Writer;

    fn open(address: &str, tactics: &Tactics) -> Result<Self, ClientError> {
        let address = address.parse::<Address>();
        let connected = address.and_then(|address| Self::connect(&address, tactics));
        let remote =
            connected.map_err(|error| ClientError::engine(ENGINE, "connecting to it", error))?;
        let Tactics { locks, read_ahead, .. } = *remote.tactics();
        if locks == Grain::Page && read_ahead == ReadAhead::On {
            let (what, reason) = ("readahead=on with locks=page at a server", UNLOCKED);
            return Err(ClientError::Unsupported { engine: ENGINE, what, reason });
        }
        Ok(remote)
    }

    fn tactics(&self) -> &Tactics {
        self.tactics()
    }

    fn reader(this: &Arc<Self>) -> Reader {
        Reader::new(Arc::clone(this), |remote| Carried::reading(remote))
    }

    #[inline]
    fn pages(reader: &Reader) -> &RemoteReading<'_> {
        reader.borrow_dependent()
    }

    fn writer(this: &Arc<Self>) -> Writer {
        Writer::new(Arc::clone(this), |remote| Some(Carried::writing(remote)))
    }

    fn with<R>(writer: &mut Writer, act: impl FnOnce(&mut RemoteWriting<'_>) -> R) -> R {
        writer.with_dependent_mut(|_, writing| {
            act(writing.as_mut().expect("it is there until the commit takes it"))
        })
    }

    fn commit(mut writer: Writer) -> Result<(), LodeError> {
        let commit = |writing: &mut MaybeWriting<'_>| writing.take().map(Carried::commit);
        writer.with_dependent_mut(|_, writing| commit(writing)).unwrap_or(Ok(()))
    }

    fn load<D: Design>(
        _: &str,
        _: &Tactics,
        _: &mut Option<Arc<Self>>,
        _: &Data,
    ) -> Result<D, ClientError> {
        Err(ClientError::Unsupported {
            engine: ENGINE,
            what: "load at a server",
            reason: ELSEWHERE,
        })
    }

    fn size_bytes(_: &str) -> Result<u64, ClientError> {
        Err(ClientError::Unsupported {
            engine: ENGINE,
            what: "size at a server",
            reason: ELSEWHERE,
        })
    }
}
