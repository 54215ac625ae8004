"""`loadstone lode`: lode, the reference engine, as a program of its own."""

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadstone.commands import lode_query, lode_shell

if TYPE_CHECKING:
    from loadstone.lode import Database, Server

ENDINGS = (signal.SIGINT, signal.SIGTERM)

app = typer.Typer(name="lode", no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.command("query")(lode_query.query)
app.command("shell")(lode_shell.shell)


@app.callback()
def _lode() -> None:
    """Ask, serve or copy databases of lode."""


@app.command("serve")
def serve(
    path: Annotated[Path, typer.Argument(help="The database.")],
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            "-l",
            metavar="ADDRESS",
            help="Listen on this Unix socket, or on a port as 127.0.0.1:4711 (0 for any"
            " that is free). [default: the database's name with -socket behind]",
        ),
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Create the database if it does not exist.")
    ] = False,
    tactic: Annotated[
        list[str] | None,
        typer.Option(
            "--tactic",
            "-t",
            metavar="NAME=VALUE",
            help="Open it with this tactic; repeatable, or joined: 'durability=group&locks=page'.",
        ),
    ] = None,
) -> None:
    """Serve a database to other programs.

    Until Ctrl-C or SIGTERM, which close it. Prints its address once clients can connect. If killed,
    it loses no commit.
    """
    from loadstone.diagnostics import tell
    from loadstone.errors import InputError
    from loadstone.lode import Database
    from loadstone.shell.opening import tactics as chosen

    tactics = chosen(tactic or [])
    if not create and not path.exists():
        raise InputError(f"there is no database {path}", hint="--create makes one")
    # Before any thread is started, so that none is interrupted: a client that asks waits until the
    # database is open, which closes it then.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    is_new = not path.exists()
    with (
        Database(path, "any" if create else "open", **tactics) as database,
        _serving(database, listen or f"{path}-socket", made=path if is_new else None) as server,
    ):
        tell(f"serving {path} at {server.address}")
        asked = _asked_to_end(server)
    if asked == signal.SIGINT:
        raise KeyboardInterrupt


@app.command("backup")
def backup(
    source: Annotated[
        str,
        typer.Argument(help="Copy this database; while it is served, name its server's address."),
    ],
    target: Annotated[Path, typer.Argument(help="Write the copy here; the file must not exist.")],
) -> None:
    """Copy a database, also one that is being served.

    The copy holds the pages that one transaction sees, needs no recovery, and is read again before
    the command ends. If that fails, no copy is left.
    """
    from loadstone.diagnostics import tell
    from loadstone.errors import InputError, LodeError
    from loadstone.lode import Database, connect

    path = Path(source)
    if path.is_socket() or (":" in source and not path.exists()):
        with connect(source, readahead="on") as remote:
            copied = remote.backup(target)
    elif not path.exists():
        raise InputError(f"there is no database {source}", hint="name its file or its server")
    else:
        try:
            database = Database(path, "read")
        except LodeError as error:
            hint = f"of one that is served, name the server: loadstone lode backup {source}-socket"
            raise LodeError(error.message, hint=f"{hint} {target}") from None
        with database:
            copied = database.backup(target)
    tell(f"copied {source} to {target}: {copied['pages']} pages in use, all read again")


def _serving(database: "Database", address: str, *, made: Path | None) -> "Server":
    """Serve a database. One that was made for it goes where nobody can listen at that address."""
    try:
        return database.serve(address)
    except BaseException:
        if made is not None:
            database.abandon()
            for path in (made, Path(f"{made}-log")):
                path.unlink(missing_ok=True)
        raise


def _asked_to_end(server: "Server") -> int:
    """The signal that ends the server; the same if serving has failed."""

    def watch() -> None:
        server.wait()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    return signal.sigwait(ENDINGS)
