//! `place=server`: a process of its own has the files open, and the program is its client.

use std::sync::Arc;

use lode::internals::page::PageNumber;
use lode::remote::{Carried, Remote, RemoteReading, RemoteWriting};
use lode::server::Address;
use lode::tactics::{Detect, Grain, ReadAhead, Tactics};
use lode::{LodeError, MappedPages, Mapping};

use super::failure::Result as Filled;
use super::loading::Loading;
use super::place::Place;
use crate::error::ClientError;
use crate::lode::ENGINE;
use crate::outcome::Logged;

const ELSEWHERE: &str =
    "its files are the server's: a program makes a database before it is served";
const UNMAPPED: &str =
    "the client of a page server maps no pages: leave detect out, or place=server";
const UNLOCKED: &str = "a page that is not locked yet may change: leave one of the two out";

impl Place for Remote {
    const NAME: &'static str = "server";

    type Reading = RemoteReading;

    type Writing = RemoteWriting;

    type Reader = Carried<RemoteReading>;

    type Writer = Carried<RemoteWriting>;

    fn open(address: &str, tactics: &Tactics) -> Result<Self, ClientError> {
        let address = address.parse::<Address>();
        let connected = address.and_then(|address| Self::connect(&address, tactics));
        let remote =
            connected.map_err(|error| ClientError::engine(ENGINE, "connecting to it", error))?;
        let Tactics { locks, read_ahead, detect, .. } = *remote.tactics();
        if detect != Detect::Explicit {
            let (what, reason) = ("detect at a server", UNMAPPED);
            return Err(ClientError::Unsupported { engine: ENGINE, what, reason });
        }
        let refused = match locks {
            Grain::Database => None,
            Grain::Relation => Some("readahead=on with locks=relation at a server"),
            Grain::Page => Some("readahead=on with locks=page at a server"),
        };
        if let Some(what) = refused.filter(|_| read_ahead == ReadAhead::On) {
            return Err(ClientError::Unsupported { engine: ENGINE, what, reason: UNLOCKED });
        }
        Ok(remote)
    }

    fn tactics(&self) -> &Tactics {
        self.tactics()
    }

    fn reader(&self) -> Carried<RemoteReading> {
        Carried::reading(self)
    }

    #[inline]
    fn pages(reader: &Carried<RemoteReading>) -> &RemoteReading {
        reader
    }

    fn writer(&self) -> Carried<RemoteWriting> {
        Carried::writing(self)
    }

    #[inline]
    fn pages_mut(writer: &mut Carried<RemoteWriting>) -> &mut RemoteWriting {
        writer
    }

    fn map(_: &mut Carried<RemoteWriting>, _: &[PageNumber]) -> Result<Mapping, LodeError> {
        Err(no_mapping())
    }

    fn pages_with(_: &Carried<RemoteWriting>, _: Mapping) -> Result<MappedPages<'_>, LodeError> {
        Err(no_mapping())
    }

    fn memory(_: &mut Carried<RemoteWriting>, _: Mapping) -> Result<&mut [u8], LodeError> {
        Err(no_mapping())
    }

    fn commit(writer: Carried<RemoteWriting>) -> Result<(), LodeError> {
        writer.commit()
    }

    fn load<T>(
        _: &str,
        _: &Tactics,
        _: &mut Option<Arc<Self>>,
        _: u64,
        _: impl FnOnce(&mut Loading<'_>) -> Filled<T>,
    ) -> Result<T, ClientError> {
        Err(ClientError::Unsupported {
            engine: ENGINE,
            what: "load at a server",
            reason: ELSEWHERE,
        })
    }

    fn logged(&self) -> Option<Logged> {
        None
    }

    fn is_huge(&self) -> bool {
        self.counters().buffer.pages_huge > 0
    }

    fn size_bytes(_: &str) -> Result<u64, ClientError> {
        Err(ClientError::Unsupported {
            engine: ENGINE,
            what: "size at a server",
            reason: ELSEWHERE,
        })
    }
}

fn no_mapping() -> LodeError {
    LodeError::Mapping { what: UNMAPPED.to_owned() }
}
