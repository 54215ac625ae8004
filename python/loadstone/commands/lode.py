"""`loadstone lode`: lode, the reference engine, as a program of its own."""

import os
import signal
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loadstone.commands import lode_query, lode_shell
from loadstone.diagnostics import ENDINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadstone.lode import Database, Server

COPIES = ("first", "second")
"""Of a mirrored database."""

app = typer.Typer(name="lode", no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.command("query")(lode_query.query)
app.command("shell")(lode_shell.shell)


@app.callback()
def _lode() -> None:
    """Query, serve, mirror or copy lode databases.

    lode is Loadstone's own engine, in which each mechanism of the papers is a tactic that can be
    switched: see `loadstone tactics lode`.
    """


@app.command("serve")
def serve(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Serve this database, or the one in this folder.")
    ],
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            "-l",
            metavar="ADDRESS",
            help="Listen on this Unix socket, or on a port as 127.0.0.1:4711; port 0 takes a free"
            " one. By default on the socket FILE-socket.",
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
            help="Use this tactic; repeatable, or joined: 'durability=group&locks=page'.",
        ),
    ] = None,
    statements: Annotated[
        bool,
        typer.Option(
            "--statements", help="Serve QUEL statements, on a Unix socket, and not pages."
        ),
    ] = False,
) -> int:
    """Serve a database to other programs.

    The server prints its address once clients can connect. Ctrl-C or SIGTERM ends it and closes
    the database. A killed server loses no commit, except with durability=none. SIGHUP fills a lost
    copy of a mirrored database while clients continue.
    """
    from loadstone.diagnostics import Exit, show_result
    from loadstone.errors import InputError
    from loadstone.lode import Database, files_of
    from loadstone.shell.opening import tactics as chosen
    from loadstone.shell.opening import volume_at

    tactics, path = chosen(tactic or []), volume_at(path)
    is_new = not any(file.exists() for file in files_of(path))
    if not create and is_new:
        raise InputError(
            f"there is no database {path}", hint="name another, or make it with --create"
        )
    # Before any thread is started, so that none is interrupted: a client that asks waits until the
    # database is open, which closes it then.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    if statements:
        return _execute(path, listen, tactics, create=create, is_new=is_new)
    with (
        Database(path, "any" if create else "open", **tactics) as database,
        nullcontext(_gone(database)) as gone,
        _serving(database, listen or f"{path}-socket", made=path if is_new else None) as server,
    ):
        show_result(f"serving {path} at {server.address}")
        if gone:
            show_result(f"the {gone} copy of the mirror is gone: SIGHUP fills it")
        asked = _asked_to_end(server)
    return Exit.INTERRUPTED if asked == signal.SIGINT else Exit.OK


@app.command("backup")
def backup(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Copy this database, the one in this folder, or the one served at this address.",
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Write the copy to this new file.")
    ],
) -> None:
    """Copy a database, even while it is served.

    The copy is what one transaction sees. It needs no recovery, and is read back before the command
    ends. If anything fails, no copy is left.
    """
    from loadstone.diagnostics import show_result
    from loadstone.errors import InputError, LodeError
    from loadstone.lode import Database, connect
    from loadstone.shell.opening import volume_at

    path = volume_at(Path(source))
    if path.is_socket() or (":" in source and not path.exists()):
        with connect(source, readahead="on") as remote:
            copied = remote.backup(target)
    elif not path.exists():
        raise InputError(
            f"there is no database {path}", hint="name its file, or its server's address"
        )
    else:
        try:
            database = Database(path, "read")
        except LodeError as error:
            raise LodeError(error.message, hint=_at_its_server(path, target)) from None
        with database:
            copied = database.backup(target)
    show_result(f"copied {source} to {target}: {copied['pages']} pages in use, all read back")


@app.command("mirror")
def mirror(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Show the copies of this database, or of the one in this folder.",
        ),
    ],
    fill: Annotated[
        bool,
        typer.Option(
            "--fill",
            help="Fill a lost or outdated copy from the other. Of a database that was never"
            " mirrored, make the second copy.",
        ),
    ] = False,
    alone: Annotated[
        Literal["first", "second"] | None,
        typer.Option(
            help="Take this copy for the whole database: the other is lost, and no file shows"
            " whether this one missed a change."
        ),
    ] = None,
) -> None:
    """Show the two copies of a database, or fill one.

    The first copy is the database itself. The second is in the folder FILE-mirror, which may be a
    symbolic link to a folder on another device. A server fills a lost copy at SIGHUP while its
    clients continue.
    """
    from loadstone import lode
    from loadstone.diagnostics import show_result
    from loadstone.errors import InputError
    from loadstone.shell.opening import volume_at

    path = volume_at(path)
    if alone is not None:
        lode.mirror(path, alone)
    if fill:
        with lode.Database(path, "open", mirror="idle") as database:
            copied = database.remirror()
        show_result("both copies were in step" if copied is None else f"copied {copied} bytes")
    reported = lode.mirror(path)
    if reported is None:
        if not path.exists():
            raise InputError(f"there is no database {path}", hint="name its file")
        show_result(f"{path} is not mirrored: --fill makes the second copy")
        return
    copies = {name: reported[name] for name in COPIES}
    # A copy's state is a file beside its volume, and stays where only the volume was removed.
    gone = [
        name
        for name, copy in copies.items()
        if copy["epoch"] > 0 and not Path(copy["path"]).exists()
    ]
    for name, copy in copies.items():
        says = "its volume is gone" if name in gone else copy["says"]
        show_result(f"{name:<7} {copy['path']}: {says} (epoch {copy['epoch']})")
    absent = f"no volume is there of the {' and the '.join(gone)} copy"
    show_result(f"{absent}: --fill makes one from the other" if gone else reported["verdict"])


def _at_its_server(path: Path, target: Path) -> str:
    """The way to copy a database that cannot be opened here; empty if no server of it is seen."""
    socket = path.with_name(f"{path.name}-socket")
    here = f"copy it at its server: loadstone lode backup {socket} {target}"
    return here if socket.is_socket() else ""


def _execute(
    path: Path, listen: str | None, tactics: "Mapping[str, str]", *, create: bool, is_new: bool
) -> int:
    """Execute the statements of other programs until a signal requests its end."""
    from loadstone.diagnostics import Exit, show_result
    from loadstone.errors import InputError
    from loadstone.lode import Database, remove

    if listen and "/" not in listen and listen.rpartition(":")[2].isdecimal():
        raise InputError(
            f"--listen {listen}: statements are served on a Unix socket alone",
            hint="name its path; or leave out --statements to serve pages at a port",
        )
    with Database(path, "any" if create else "open", **tactics) as database:
        try:
            server = database.answer(listen or f"{path}-socket")
        except BaseException:
            if is_new:
                database.abandon()
                remove(path)
            raise
        with server:
            show_result(f"serving {path} at {server.address}")
            while (asked := signal.sigwait(ENDINGS)) == signal.SIGHUP:
                _fill(database)
    return Exit.INTERRUPTED if asked == signal.SIGINT else Exit.OK


def _gone(database: "Database") -> str:
    """The copy of the mirror that is gone; empty where none is, or there is no mirror."""
    reported = database.mirror
    return "".join(name for name in COPIES if reported and reported[name]["standing"] == "gone")


def _serving(database: "Database", address: str, *, made: Path | None) -> "Server":
    """Serve a database. One that was made for it goes where nobody can listen at that address."""
    from loadstone.lode import remove

    try:
        return database.serve(address)
    except BaseException:
        if made is not None:
            database.abandon()
            remove(made)
        raise


def _asked_to_end(server: "Server") -> int:
    """The signal that ends the server; the same if serving has failed."""

    def watch() -> None:
        server.wait()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    while (asked := signal.sigwait(ENDINGS)) == signal.SIGHUP:
        threading.Thread(target=_fill, args=(server,), daemon=True).start()
    return asked


def _fill(server: "Server | Database") -> None:
    """Fill the copy that is gone, and say what came of it."""
    from loadstone.diagnostics import show_result
    from loadstone.errors import LodeError

    try:
        copied = server.remirror()
    except LodeError as error:
        show_result(f"the copy was not filled: {error.message}")
        return
    show_result("there is no copy to fill" if copied is None else f"filled a copy: {copied} bytes")
