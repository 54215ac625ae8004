//! The place where a server is found: a Unix socket, or a port of this machine that no other can
//! reach.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use rustix::io::Errno;

use crate::error::{LodeError, Result};
use crate::owner::Owner;

/// Only who runs the server may speak to it.
const SOCKET_MODE: u32 = 0o600;

/// The place where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A port on loopback; port 0 for any that is free.
    Tcp(SocketAddr),
}

impl Address {
    /// Speak to the server there.
    pub(crate) fn dial(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

impl FromStr for Address {
    type Err = LodeError;

    /// `127.0.0.1:4711`, `localhost:4711`, or the path of a socket.
    fn from_str(text: &str) -> Result<Self> {
        let port = text.strip_prefix("localhost:");
        let numbers = port.map(|port| format!("{}:{port}", Ipv4Addr::LOCALHOST));
        match numbers.as_deref().unwrap_or(text).parse::<SocketAddr>() {
            Ok(address) if !address.ip().is_loopback() => Err(beyond_loopback(address)),
            Ok(address) => Ok(Self::Tcp(address)),
            Err(_) if text.is_empty() || is_like_a_port(text) => {
                let what = format!(
                    "has no address `{text}`: name its socket's path, or a port of this machine \
                     as 127.0.0.1:4711"
                );
                Err(LodeError::Server { what })
            }
            Err(_) => Ok(Self::Unix(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(formatter),
            Self::Tcp(address) => address.fmt(formatter),
        }
    }
}

/// Whether a text that is no port was meant as one: a socket of such a name is `./name:1`.
fn is_like_a_port(text: &str) -> bool {
    let port = text.rsplit_once(':').map(|(_, port)| port);
    !text.contains('/') && port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A path that is too long for a socket, in words that go on after what was tried.
const TOO_LONG: &str =
    "a socket's path has at most 107 bytes: name a shorter one, or a port as 127.0.0.1:0";

/// Why nobody answers at an address, and what helps.
pub(crate) fn unreached(address: &Address, error: &io::Error) -> LodeError {
    let file = match address {
        Address::Unix(path) => {
            fs::metadata(path).ok().filter(|about| !about.file_type().is_socket())
        }
        Address::Tcp(_) => None,
    };
    let what = match error.kind() {
        _ if file.is_some() => format!(
            "does not answer at {address}, which is no socket: by default it listens at the \
             database's name followed by -socket"
        ),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => format!(
            "does not answer at {address} ({error}): start it (`loadstone lode serve`), or name \
             its address"
        ),
        io::ErrorKind::PermissionDenied => format!(
            "cannot be reached at {address} ({error}): a socket is its owner's alone: run as \
             that user"
        ),
        io::ErrorKind::InvalidInput => format!("does not answer at {address}: {TOO_LONG}"),
        _ if Errno::from_io_error(error) == Some(Errno::MFILE) => format!(
            "cannot be reached at {address} ({error}): close files or connections of this process, \
             or let it have more of them (`ulimit -n`)"
        ),
        _ => {
            format!("cannot be reached at {address} ({error}): check that it runs, then try again")
        }
    };
    LodeError::Server { what }
}

fn beyond_loopback(address: SocketAddr) -> LodeError {
    let what = format!(
        "requires no password, so it listens on loopback alone: name 127.0.0.1 instead of {}",
        address.ip()
    );
    LodeError::Server { what }
}

/// A place at which clients are awaited. The socket's file goes with it.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    address: Address,
    owner: Owner,
}

#[derive(Debug)]
enum Socket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Listen there. A socket's file that a killed server left is replaced.
    ///
    /// # Errors
    ///
    /// [`LodeError::Server`] for an address that other machines reach, where another server
    /// listens, or where a file of another kind is; [`LodeError::Io`] for what the system says.
    pub fn bind(address: &Address) -> Result<Self> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => LodeError::Server {
                what: format!(
                    "cannot listen at {address}, where another server does: stop that one, or \
                     name another address"
                ),
            },
            io::ErrorKind::AlreadyExists => LodeError::Server {
                what: format!("cannot listen at {address}: that file is no socket, name another"),
            },
            io::ErrorKind::InvalidInput => {
                LodeError::Server { what: format!("cannot listen at {address}: {TOO_LONG}") }
            }
            io::ErrorKind::NotFound => {
                let what = format!("cannot listen at {address}: make its folder, or name another");
                LodeError::Server { what }
            }
            _ => LodeError::io(format!("listening at {address}"), source),
        };
        let owner = Owner::here();
        match address {
            Address::Unix(path) => {
                let socket = bind_unix(path).map_err(failed)?;
                Ok(Self { socket: Socket::Unix(socket), address: address.clone(), owner })
            }
            Address::Tcp(wanted) if !wanted.ip().is_loopback() => Err(beyond_loopback(*wanted)),
            Address::Tcp(wanted) => {
                let socket = TcpListener::bind(wanted).map_err(failed)?;
                let address = Address::Tcp(socket.local_addr().map_err(failed)?);
                Ok(Self { socket: Socket::Tcp(socket), address, owner })
            }
        }
    }

    /// The place where it listens, with the port that was free.
    pub const fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn accept(&self) -> io::Result<Stream> {
        match &self.socket {
            Socket::Unix(socket) => Ok(Stream::Unix(socket.accept()?.0)),
            Socket::Tcp(socket) => {
                let (stream, _) = socket.accept()?;
                // It fails if the client has gone, which the next reading shows.
                let _ = stream.set_nodelay(true);
                Ok(Stream::Tcp(stream))
            }
        }
    }

    /// Wake who waits in [`Listener::accept`]; nobody is accepted any more.
    pub(crate) fn shut(&self) {
        let socket = match &self.socket {
            Socket::Unix(socket) => socket.as_fd(),
            Socket::Tcp(socket) => socket.as_fd(),
        };
        // It fails if that was done before.
        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Address::Unix(path) = &self.address
            && self.owner.is_here()
        {
            // Somebody else may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    let bound = UnixListener::bind(path).or_else(|error| {
        if error.kind() != io::ErrorKind::AddrInUse {
            return Err(error);
        }
        // It refuses connections, too.
        if !fs::symlink_metadata(path)?.file_type().is_socket() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let is_left_behind = UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if !is_left_behind {
            return Err(error);
        }
        fs::remove_file(path)?;
        UnixListener::bind(path)
    })?;
    fs::set_permissions(path, fs::Permissions::from_mode(SOCKET_MODE))?;
    Ok(bound)
}

/// A connection, of either kind.
#[derive(Debug)]
pub enum Stream {
    /// Through a Unix socket.
    Unix(UnixStream),
    /// Through loopback.
    Tcp(TcpStream),
}

impl Stream {
    /// From now on nothing is waited for.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(true),
            Self::Tcp(stream) => stream.set_nonblocking(true),
        }
    }

    /// Reading answers [`io::ErrorKind::WouldBlock`] when nothing has come for so long.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(timeout),
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
        }
    }

    /// The same of writing, when nothing was taken.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_write_timeout(timeout),
            Self::Tcp(stream) => stream.set_write_timeout(timeout),
        }
    }

    /// Wake who reads or writes; nothing more is said.
    pub fn shut(&self) {
        // It fails if the other end has done so.
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&*stream).read(into),
            Stream::Tcp(stream) => (&*stream).read(into),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&*stream).write(from),
            Stream::Tcp(stream) => (&*stream).write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
