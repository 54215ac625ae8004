"""MariaDB with InnoDB: a private server, or the user's own by URL; through PyMySQL.

A private server's programs are those that are installed; there is no wheel of them. All our tables
lie in one database that we create; on a user's server it is marked.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Capabilities, Estimate, Structure, Table, UrlUse
from loadstone.engines.mariadb import loading, own_settings, plans, switches
from loadstone.engines.mariadb.address import Address, private_address, user_address
from loadstone.engines.mariadb.programs import Programs, programs_of
from loadstone.engines.mariadb.server import DATABASE, PrivateServer
from loadstone.engines.mariadb.session import Row, Session
from loadstone.engines.mariadb.starting import started
from loadstone.engines.mariadb.system import MariadbSystem
from loadstone.engines.mariadb.users_database import MARK, UsersDatabase
from loadstone.engines.setting import settings_of
from loadstone.engines.system import READ_ONLY, TABLES
from loadstone.errors import EngineError, LoadstoneError, UnsupportedError
from loadstone.plan.variant import SETTING

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_HASH_GAP = "InnoDB has B-trees only: no hash organisation and no hash index"
_DEFINED = "MariaDB commits a CREATE TABLE by itself: it cannot be taken back"
_NO_RELATION = (0, 0xFFFFFFFE)
"""InnoDB's numbers of its own file and of that of temporary tables (`fil0fil.h`)."""
_ASKED_TWICE = "SELECT 'kept?'"


class MariadbEngine(MariadbSystem, Engine):
    """A heap is a table without a primary key, whose hidden row number InnoDB clusters by; a
    clustered relation is a table with one."""

    name: ClassVar[str] = "mariadb"
    dialect: ClassVar[str] = "mysql"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={
            "heap": Structure(
                supported=True,
                note="table without a primary key: a B-tree by a hidden row number, in order of"
                " insertion",
            ),
            "clustered": Structure(supported=True, note="the primary key's B-tree holds the rows"),
            "hash": Structure(supported=False, note=_HASH_GAP),
            "nonclustered": Structure(supported=True, note="B-tree to the primary key"),
        },
        tactics=switches.TACTICS,
        url=UrlUse.SERVER,
        settings=own_settings.SETTINGS,
        estimate=Estimate(start_s=0.3),
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._session: Session | None = None
        self._server: PrivateServer | None = None
        self._address: Address
        self._entered = False
        """Whether our database may be on the user's server."""
        self._database = UsersDatabase.of(owner, variant.name)
        if variant.url is None:
            self._server = PrivateServer(scratch, _programs(variant))
            self._address = private_address(self._server.socket)
        else:
            self._address = user_address(variant.url)

    def start(self) -> None:
        """Start the server, or connect; enter the database; set every tactic."""
        self.check(self.variant)
        if self._session is not None and self._session.answers():
            return
        self._disconnect()
        tactics = self.values_of(self.variant)
        if self._server is not None and not self._server.alive:
            options = switches.of_start(tactics) | own_settings.of_start(settings_of(self.variant))
            self._server.timezone = self.timezone
            self._server.launch(switches.of_data(tactics), options)
        self._session = self._connected(first=True)

    def _connected(self, *, first: bool) -> Session:
        """A session with its tactics; `first`: the one that makes our database on a user's server,
        and holds it."""
        tactics = self.values_of(self.variant)
        keeps = tactics["statement"] == "prepared"
        if self._server is not None:
            session = started(self._server, keeps=keeps)
        else:
            with self._errors(f"cannot connect to {self._address.place}"):
                session = Session(self._address, keeps=keeps)
        try:
            with self._errors("cannot set up the session"):
                self._set_up(session, tactics, first=first)
        except BaseException:
            session.close()
            raise
        return session

    def _set_up(self, session: Session, tactics: Mapping[str, str], *, first: bool) -> None:
        session.set_zone(self.timezone)
        if self.variant.url is not None:
            own_settings.set_in(session, settings_of(self.variant))
        # MySQL and others have another setting or none; one that is named must be there.
        if session.is_mariadb or "join" in dict(self.variant.tactics):
            session.ask(switches.of_session(tactics, mariadb=session.is_mariadb))
        if self.variant.url is None:
            return
        if self.as_it_stands:
            session.refuse_writes()
            return
        session.queries_only_read = self.users_text
        if first:
            self._entered = True
            self._database.enter(session)
        else:
            self._database.use(session)

    def _switch(self, before: "Variant") -> None:
        """In a new session where the server was started with nothing that differs."""
        names = [*switches.TACTICS, *settings_of(before), *settings_of(self.variant)]
        asked, earlier = self.values_of(self.variant), self.values_of(before)
        of_server = (name for name in names if name not in switches.OF_SESSION)
        alike = all(asked.get(name) == earlier.get(name) for name in of_server)
        if alike and settings_of(before) == settings_of(self.variant):
            self._disconnect()
        else:
            self.stop()
        self.start()

    def stop(self) -> Sequence[int]:
        """Disconnect; shut a private server down."""
        self._disconnect()
        return () if self._server is None else self._server.stop()

    def _disconnect(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def remove(self) -> None:
        """Delete the private server, or drop our database from the user's."""
        if self._server is not None:
            self._disconnect()
            self._server.remove()
        elif not self.as_it_stands:
            self._drop_database()
        self._disconnect()

    def _drop_database(self) -> None:
        """Through a new session: one that was lost in a statement cannot be asked."""
        self._disconnect()
        try:
            with self._errors(f"cannot connect to {self._address.place}"):
                session = Session(self._address)
        except LoadstoneError:
            if self._entered or self.has_predecessor:
                raise
            # Never reached: it holds nothing of this run's, and `start` reported the error.
            return
        try:
            with self._errors(f"cannot drop {self._database.name}"):
                self._database.drop_own(session)
        finally:
            session.close()
        self._entered = False

    def processes(self) -> Sequence[int]:
        """The private server, one process of many threads."""
        pid = None if self._server is None else self._server.pid
        return () if pid is None else (pid,)

    def terms(self) -> Mapping[str, str]:
        """Read back from the server's variables, its catalog and the session."""
        session = self._open()
        with self._errors("cannot read the settings"):
            variables = {str(k): str(v) for k, v in session.ask("SHOW SESSION VARIABLES")}
            reported = {
                "version": f"{'MariaDB' if session.is_mariadb else 'MySQL'} {variables['version']}",
                "timezone": session.zone(self.timezone),
                **({TABLES: READ_ONLY} if self.as_it_stands else {}),
                **switches.read_terms(variables),
                # A statement has one thread, and there is no setting that would give it more.
                "parallelism": "1",
                "statement": self._form(session),
                "encryption": session.encryption(),
                **self._indexed(session),
            }
            own = own_settings.read_back(session, settings_of(self.variant))
        programs = self.variant.release.programs
        return {
            **reported,
            **({"mariadb": programs} if programs else {}),
            **{SETTING + name: value for name, value in own.items()},
        }

    def _form(self, session: Session) -> str:
        """The form of a statement, from what the server counts when one is executed."""
        query = "SHOW SESSION STATUS LIKE 'Com_execute_sql'"
        before = session.ask(query)
        session.fetch(_ASKED_TWICE)
        return "text" if session.ask(query) == before else "prepared"

    def _indexed(self, session: Session) -> Mapping[str, str]:
        """Whether there are secondary indexes; nothing where there is no table to have one."""
        query = (
            "SELECT 1 FROM information_schema.statistics"
            " WHERE table_schema = database() AND index_name <> 'PRIMARY' LIMIT 1"
        )
        if session.ask(query):
            return {"index": "all"}
        return {"index": "none"} if self.tactic("index") == "none" else {}

    def tables(self) -> Sequence[str]:
        """All tables of our database."""
        if self.as_it_stands:
            return ()
        with self._errors():
            rows = self._open().ask("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
        return sorted(name for row in rows if (name := str(row[0])) != MARK)

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """CREATE TABLE, its rows in one transaction, then the secondary indexes."""
        if table.organisation == "hash":
            raise UnsupportedError(_HASH_GAP, hint="leave the hash structure to another engine")
        if self.tactic("index") == "none":
            table = replace(table, indexes=(), compound=())
        session = self._open()
        folder = None if self._server is None else self._server.loading
        with self._errors(f"cannot load {table.name}"):
            try:
                count = loading.fill(session, table, rows, folder)
                loading.organise(session, table)
            except BaseException:
                # Its rows alone would pass for the table, without its indexes.
                self.drop(table.name)
                raise
        return count

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table; on a server of our own remove what no session sees any more, and
        write all back."""
        session = self._open()
        if self.as_it_stands:
            return
        with self._errors("cannot settle"):
            for table in tables:
                # Nobody's copy of a user's server has our tables' statistics to keep.
                session.ask(f"ANALYZE NO_WRITE_TO_BINLOG TABLE {self.quote(table)}")
            if self._server is None:
                return
            self._purge(session)
            session.ask("SET GLOBAL innodb_log_checkpoint_now = ON")

    def remove_dead(self, table: str, changed: int) -> None:
        """Wait until the server's purge has removed all versions that no session sees, which it
        does by itself: in the next sample, otherwise."""
        del table
        if changed and self._server is not None:
            with self._errors("cannot wait for the purge"):
                self._purge(self._open())

    @staticmethod
    def _purge(session: Session) -> None:
        session.ask("SET GLOBAL innodb_max_purge_lag_wait = 0")

    def run(self, statement: str) -> int:
        """Execute; autocommit makes it its own transaction."""
        session = self._open()
        if session.takes_back and statement.lstrip()[:6].upper() == "CREATE":
            raise UnsupportedError(_DEFINED)
        with self._errors():
            return session.run(statement)

    def fetch(self, statement: str) -> list[Row]:
        """Every row as a tuple, in the server's text form."""
        with self._errors():
            return self._open().fetch(statement)

    def read(self, statement: str) -> Iterator[Row]:
        """One row after another, as the server sends them."""
        with self._errors():
            yield from self._open().streamed(statement)

    def admit(self, statement: str, *, changes: bool) -> None:
        """By the server's catalog, on a server of the user's."""
        del changes
        with self._errors():
            self._open().admit(statement)

    def interrupt(self) -> None:
        """KILL QUERY, in a session of its own."""
        session = self._session
        if session is not None:
            with self._errors("cannot end a statement"):
                session.interrupt()

    def ask_nothing(self) -> None:
        """A ping, which the server answers."""
        with self._errors():
            self._open().ping()

    def ask_constant(self) -> None:
        """EXECUTE, of which only the name is parsed."""
        with self._errors():
            self._open().ask_constant()

    def plan(self, statement: str, query: str) -> None:
        """EXPLAIN, which writes the plan down, too; not of what stays prepared."""
        del query
        if self.tactic("statement") == "prepared":
            raise UnsupportedError("a prepared statement is not parsed anew")
        with self._errors():
            self._open().explain(plans.query_of(statement))

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """BEGIN … ROLLBACK; a definition within would commit, and is refused."""
        session = self._open()
        with self._errors():
            session.ask("BEGIN")
            session.takes_back = True
            try:
                yield
            finally:
                session.takes_back = False
                session.ask("ROLLBACK")

    def drop(self, table: str) -> None:
        """Drop the table; its indexes go with it."""
        with self._errors():
            self._open().ask(f"DROP TABLE IF EXISTS {self.quote(table)}")

    def explain(self, statement: str) -> str:
        """EXPLAIN, a line for each step; of what makes a relation, its query's."""
        with self._errors():
            return plans.written(self._open().explain(plans.query_of(statement)))

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """The key of each step that reaches a table, or that it has none."""
        del statement
        return plans.access_paths(plan)

    def size_bytes(self) -> int:
        """The files of our tables, each with its indexes; on a user's server what it has counted;
        of tables as they stand, the whole database."""
        if self._server is None:
            with self._errors("cannot read the size"):
                return self._open().size_bytes()
        return sum(path.stat().st_size for path in self._relations())

    def relation_files(self) -> Sequence[Path]:
        """The tables' files, which are read through the page cache unless `disk=direct`."""
        return [] if self.tactic("disk") == "direct" else self._relations()

    def cached_bytes(self) -> int | None:
        """The buffer pool's pages of other spaces than the system's own: an opening reads the first
        page of each table's file. A few of them are of the server's own statistics."""
        if self._server is None:
            return None
        query = "SELECT space, @@innodb_page_size FROM information_schema.innodb_buffer_page_lru"
        with self._errors("cannot count the pages in memory"):
            pages = self._open().ask(query)
        return sum(int(size) for space, size in pages if space not in _NO_RELATION)

    def _relations(self) -> Sequence[Path]:
        if self._server is None:
            return ()
        return sorted((self._server.data / DATABASE).glob("*.ibd"))

    def not_data(self) -> Mapping[Path, str]:
        """The server's logs, and what each start makes anew."""
        if self._server is None:
            return super().not_data()
        data, home = self._server.data, self._server.home
        logs = sorted(data.glob("ib_logfile*")) + sorted(data.glob("aria_log*"))
        return {
            **super().not_data(),
            self._server.log: "the server's words, which it never reads",
            home / "server.pid": "the server's number, which it never reads",
            home / "socket": "the server's socket",
            **dict.fromkeys(logs, "the log, which only a start reads"),
            data / "ibtmp1": "temporary tables: every start makes it anew",
        }

    def quote(self, name: str) -> str:
        """Between the marks that MariaDB has for names."""
        return loading.quoted(name)

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """A connection of its own to the same server, hence a thread of its own there."""
        other = copy(self)
        other._session = self._connected(first=False)  # noqa: SLF001 - an instance of this class
        try:
            yield other
        finally:
            other._disconnect()  # noqa: SLF001

    def _errors(self, doing: str = "") -> AbstractContextManager[None]:
        """Turn PyMySQL's errors into ours, without a secret."""
        return self._address.errors(doing)

    def _open(self) -> Session:
        if self._session is None:
            raise EngineError("mariadb is not started", hint="call start() first")
        return self._session


def _programs(variant: "Variant") -> Programs | None:
    """None where there are none: `start` says why, and `remove` needs none."""
    try:
        return programs_of(variant)
    except LoadstoneError:
        return None
