"""MariaDB as a system under test: the server, ours or the user's, and what a run leaves there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql

from loadstone.engines.mariadb import own_settings, switches
from loadstone.engines.mariadb.address import user_address
from loadstone.engines.mariadb.probe import probe
from loadstone.engines.mariadb.programs import built, installed, programs_of, version_of
from loadstone.engines.mariadb.server import end_orphan
from loadstone.engines.mariadb.session import Session
from loadstone.engines.mariadb.users_database import UsersDatabase, marked_in
from loadstone.engines.ownership import Hold, Leftover, in_use
from loadstone.engines.setting import settings_of
from loadstone.engines.system import Probe, System
from loadstone.errors import InputError, NotInstalledError

if TYPE_CHECKING:
    from loadstone.engines.mariadb.address import Address
    from loadstone.plan.release import Release
    from loadstone.plan.variant import Variant


class MariadbSystem(System):
    """The part that depends on the server alone; the engine adds the statements."""

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also that there is a server to start, which takes the settings, or a URL that can be
        read, whose server keeps its own."""
        super().check(variant)
        if variant.url is None:
            server = programs_of(variant).server
            for name, value in settings_of(variant).items():
                own_settings.check(server, name, value)
            return
        user_address(variant.url)
        for name in switches.OF_SERVER:
            if name in dict(variant.tactics):
                raise InputError(
                    f"mariadb: the {name} of a server of yours stays as it is",
                    hint=f"leave out {name}=…, or leave out the URL for a server of the run's own",
                )

    @classmethod
    def check_release(cls, release: "Release") -> None:
        """A folder with the server's program."""
        if release.programs:
            built(Path(release.programs))
        else:
            super().check_release(release)

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The server that is installed, and the driver."""
        try:
            found = version_of(installed().server) or "does not run"
        except NotInstalledError as error:
            found = f"by URL only: {error.message}: {error.hint}"
        return {"mariadb": found, "pymysql": pymysql.VERSION_STRING}

    @classmethod
    def values_of(cls, variant: "Variant") -> Mapping[str, str]:
        """Of a user's server, what its sessions have, and what all engines report."""
        theirs = () if variant.url is None else switches.OF_OUR_SERVER
        return {
            name: each for name, each in super().values_of(variant).items() if name not in theirs
        }

    @classmethod
    def probe(cls, scratch: Path) -> Probe:
        """A private server, up and down."""
        return probe(scratch)

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """End the server that a killed worker left; its data stays."""
        return end_orphan(scratch)

    @classmethod
    def sweep(cls, variant: "Variant") -> Sequence[Leftover]:
        """Databases of the user's server that bear our mark."""
        if variant.url is None:
            return ()
        address = user_address(variant.url)
        with address.errors(f"cannot look for databases on {address.place}"):
            session = Session(address)
            try:
                return [_leftover(found, session) for found in marked_in(session)]
            finally:
                session.close()

    @classmethod
    def clear(cls, variant: "Variant", leftover: Leftover) -> None:
        """Drop a database if it still bears its run's mark, and no living run holds it."""
        if variant.url is None:
            return
        address = user_address(variant.url)
        with address.errors(f"cannot drop {leftover.name}"):
            session = Session(address)
            try:
                found = UsersDatabase(leftover.name, leftover.owner)
                if not found.take(session):
                    raise in_use(leftover)
                found.drop_own(session)
            finally:
                session.close()

    @classmethod
    def hold(cls, variant: "Variant", owner: str) -> Hold:
        """A session that holds the database's lock: the worker's own end with each restart."""
        if variant.url is None:
            return Hold()
        address, database = user_address(variant.url), UsersDatabase.of(owner, variant.name)
        session = _entered(address)
        try:
            with address.errors("cannot hold the database"):
                database.hold(session)
        except BaseException:
            session.close()
            raise
        return Hold(database.name, session.close)

    @classmethod
    def end_sessions(cls, variant: "Variant", owner: str) -> None:
        """End the session that holds the lock of our worker, and no other."""
        if variant.url is None:
            return
        address = user_address(variant.url)
        session = _entered(address)
        try:
            with address.errors("cannot end a session"):
                UsersDatabase.of(owner, variant.name).end_sessions(session)
        finally:
            session.close()


def _entered(address: "Address") -> Session:
    with address.errors(f"cannot connect to {address.place}"):
        return Session(address)


def _leftover(found: UsersDatabase, session: Session) -> Leftover:
    return Leftover(
        kind="database",
        name=found.name,
        owner=found.owner,
        detail=", ".join(found.tables(session)) or "no table",
        removal=f"DROP DATABASE `{found.name}`",
        alive=found.is_held(session),
    )
