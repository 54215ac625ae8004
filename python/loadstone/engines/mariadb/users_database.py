"""Our database on a user's server: made, told from the user's, held by a living run, dropped.

A database is what MySQL calls a schema. Ours has a table of its own whose comment is the mark. The
database that the URL names is never written to.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from loadstone.engines.mariadb.loading import quoted
from loadstone.engines.mariadb.session import Session
from loadstone.engines.ownership import Space
from loadstone.errors import EngineError

MARK = "loadstone mark"
"""The table whose comment names the run; no table of a benchmark can be called that."""
WAIT_S_MAX = 10
"""The time that the session of before may take to end, whose lock is then free."""
_NAMES = "loadstone\\_%"
_OTHERS = (
    "SELECT CONCAT(table_type, ' ', table_name) FROM information_schema.tables"
    " WHERE table_schema = {0} AND table_type <> 'BASE TABLE'",
    "SELECT CONCAT(routine_type, ' ', routine_name) FROM information_schema.routines"
    " WHERE routine_schema = {0}",
    "SELECT CONCAT('TRIGGER ', trigger_name) FROM information_schema.triggers"
    " WHERE event_object_schema = {0} OR trigger_schema = {0}",
    "SELECT CONCAT('EVENT ', event_name) FROM information_schema.events WHERE event_schema = {0}",
    "SELECT DISTINCT CONCAT('TABLE ', table_schema, '.', table_name)"
    " FROM information_schema.key_column_usage"
    " WHERE referenced_table_schema = {0} AND table_schema <> {0}",
    "SELECT CONCAT('VIEW ', table_schema, '.', table_name) FROM information_schema.views"
    " WHERE table_schema <> {0} AND LOCATE({1}, view_definition) > 0",
)
"""Objects that are not ours, in our database or on our tables: {0} is its name, {1} that name as
the definition of a view has it."""


@dataclass(frozen=True, slots=True)
class UsersDatabase(Space):
    """Our database on a server, told from the user's by the mark in it."""

    @property
    def _worker(self) -> str:
        """The lock of the worker that is at work there; the runner's is the name itself. A lock has
        one holder."""
        return f"{self.name}.w"

    def enter(self, session: Session) -> None:
        """Make the database if it does not exist, refuse one that is not ours, use no other."""
        # Held first: another run's `clean` would else drop it between the look and the first use.
        if not _locked(session, self._worker, WAIT_S_MAX):
            raise EngineError(
                f"mariadb: another session is at work in {self.name}",
                hint="end it, or wait for the end of its statement",
            )
        if not self._exists(session):
            form = f"CHARACTER SET utf8mb4 COLLATE {session.collation}"
            session.ask(f"CREATE DATABASE {quoted(self.name)} {form}")
            mark = session.text_literal(self.mark)
            session.ask(f"CREATE TABLE {self._marked} (i int) ENGINE = InnoDB COMMENT = {mark}")
        elif self.mark_in(session) != self.mark:
            raise EngineError(
                f"mariadb: the database {self.name} exists and is not marked as ours",
                hint="rename it, or start another run: every run has its own database",
            )
        self.use(session)

    def use(self, session: Session) -> None:
        """Make it the one in which a session's names are looked for."""
        session.ask(f"USE {quoted(self.name)}")

    def hold(self, session: Session) -> None:
        """Hold a lock that shows other sessions that the run lives, as long as the session does."""
        if not _locked(session, self.name, 0):
            raise EngineError(
                f"mariadb: another process measures the run {self.owner}", hint="let it end first"
            )

    def take(self, session: Session) -> bool:
        """Lock the database until the session ends; False if a living run holds it."""
        return all(_locked(session, name, 0) for name in (self.name, self._worker))

    def is_held(self, session: Session) -> bool:
        """Whether a living run holds the database."""
        return any(_holder(session, name) for name in (self.name, self._worker))

    def end_sessions(self, session: Session) -> None:
        """End the session of a worker that was killed, and wait until it is gone."""
        holder = _holder(session, self._worker)
        if holder is not None:
            session.end_other(holder)
            _locked(session, self._worker, WAIT_S_MAX)

    def tables(self, session: Session) -> list[str]:
        """Our tables."""
        return [name for name in self._every_table(session) if name != MARK]

    def drop_own(self, session: Session) -> None:
        """Drop the database if it exists and bears our mark, table by table; touch nothing
        otherwise. Raises `EngineError`, and drops nothing, if something of others is in it or uses
        it."""
        if self.mark_in(session) != self.mark:
            return
        if others := self._others(session):
            raise EngineError(
                f"mariadb: {self.name} is kept whole: other objects are in it or use it: "
                f"{'; '.join(others)}",
                hint="move or drop them, then: loadstone clean --on URL",
            )
        tables = ", ".join(f"{quoted(self.name)}.{quoted(one)}" for one in self.tables(session))
        if tables:
            session.ask(f"DROP TABLE {tables}")
        # The mark goes last: what is left of a drop that was cut short is still ours.
        session.ask(f"DROP DATABASE {quoted(self.name)}")

    def _others(self, session: Session) -> list[str]:
        """Objects of others in our database or on our tables."""
        name, as_used = session.text_literal(self.name), session.text_literal(quoted(self.name))
        queries = (query.format(name, as_used) for query in _OTHERS)
        return [str(row[0]) for query in queries for row in session.ask(query)]

    def mark_in(self, session: Session) -> str | None:
        """The comment of the table that marks it; None where there is none."""
        query = (
            "SELECT table_comment FROM information_schema.tables"
            " WHERE table_schema = %s AND table_name = %s"
        )
        found = session.ask(query, self.name, MARK)
        return str(found[0][0]) if found else None

    @property
    def _marked(self) -> str:
        return f"{quoted(self.name)}.{quoted(MARK)}"

    def _every_table(self, session: Session) -> list[str]:
        query = (
            "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
            " AND table_schema = %s"
        )
        return sorted(str(row[0]) for row in session.ask(query, self.name))

    def _exists(self, session: Session) -> bool:
        query = "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
        return bool(session.ask(query, self.name))


def marked_in(session: Session) -> Sequence[UsersDatabase]:
    """The databases of a server that bear the mark of a run."""
    query = "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE %s"
    named = [UsersDatabase.named(str(row[0])) for row in session.ask(query, _NAMES)]
    return [one for one in named if one is not None and one.mark_in(session) == one.mark]


def _locked(session: Session, name: str, wait_s: int) -> bool:
    return session.ask("SELECT GET_LOCK(%s, %s)", name, str(wait_s)) == [(1,)]


def _holder(session: Session, name: str) -> int | None:
    """The number of the session that holds a lock; None where none does."""
    ((holder,),) = session.ask("SELECT IS_USED_LOCK(%s)", name)
    return None if holder is None else int(holder)
