"""A connection to Ladybug with its prepared statements, whatever the benchmark."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import ladybug


class Session:
    """One connection, and the statements of one benchmark, prepared once."""

    schema: ClassVar[tuple[str, ...]]
    """The statements that make the tables."""

    def __init__(self, path: Path, tactics: Mapping[str, str]) -> None:
        self._path = path
        self._tactics = tactics
        self.joins = tactics["hop"] == "join"
        self._spans = tactics["transaction"] == "measure"
        self.executed = 0
        self._open()

    @abstractmethod
    def texts(self) -> Mapping[str, str]:
        """The statements to prepare, by name."""

    @abstractmethod
    def copy(self, database: Any) -> None:
        """Fill the tables, which are empty."""

    @abstractmethod
    def habits(self) -> Mapping[str, str]:
        """The tactics that are read back from the statements sent."""

    def _open(self) -> None:
        threads = int(self._tactics["parallelism"])
        self._database = ladybug.Database(
            self._path, buffer_pool_size=int(self._tactics["cache"]), max_num_threads=threads
        )
        self._connection = ladybug.Connection(self._database, num_threads=threads)
        self.statements: dict[str, ladybug.PreparedStatement] = {}
        if self.ask("CALL show_tables() RETURN name"):
            self._prepare()

    def _prepare(self) -> None:
        for name, text in self.texts().items():
            statement = ladybug.PreparedStatement(self._connection, text)
            if not statement.is_success():
                raise RuntimeError(statement.get_error_message())
            self.statements[name] = statement

    def execute(
        self, what: "str | ladybug.PreparedStatement", parameters: dict[str, Any] | None = None
    ) -> Any:
        """Every statement goes this way, and is counted."""
        self.executed += 1
        return self._connection.execute(what, parameters)

    def sent(self) -> int:
        """The statements counted."""
        return self.executed

    def ask(self, text: str, **parameters: Any) -> list[Any]:
        """The rows of a statement that is not prepared."""
        return self._all(text, parameters)

    def _all(self, what: str | ladybug.PreparedStatement, parameters: dict[str, Any]) -> list[Any]:
        # Several results come of several statements in one text, which no text here has.
        result: Any = self.execute(what, parameters)
        rows: list[Any] = result.get_all()
        return rows

    def rows(self, name: str, parameters: dict[str, Any]) -> list[Any]:
        """The rows of a prepared statement."""
        try:
            statement = self.statements[name]
        except KeyError:
            raise RuntimeError("the database is empty; load it first") from None
        return self._all(statement, parameters)

    def close(self) -> None:
        """Close connection and database, which writes its log back."""
        self.statements.clear()
        self._connection.close()
        self._database.close()

    def load(self, database: Any) -> None:
        """Into a new file."""
        self.close()
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()
        self._open()
        for statement in self.schema:
            self.ask(statement)
        self.copy(database)
        self._prepare()

    def begin(self) -> None:
        """A read transaction, if the tactics have one around a measure."""
        if self._spans:
            self.execute("BEGIN TRANSACTION READ ONLY")

    def end(self) -> None:
        """Its end."""
        if self._spans:
            self.execute("COMMIT")

    def begin_write(self) -> None:
        """One writer at a time."""
        self.execute("BEGIN TRANSACTION")

    def commit(self) -> None:
        """The log is synced."""
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Nothing is left to roll back after an error that already did."""
        with suppress(RuntimeError):
            self.execute("ROLLBACK")

    def settle(self) -> None:
        """Write the log back into the file."""
        self.ask("CHECKPOINT")

    def terms(self) -> Mapping[str, str]:
        """Settings as the engine gives them back."""

        def setting(name: str) -> str:
            return str(self.ask(f"CALL current_setting('{name}') RETURN *")[0][0])

        within = self._spans_measure()
        return {
            **self.habits(),
            "version": str(self.ask("CALL db_version() RETURN *")[0][0]),
            "transaction": "measure" if within else "call",
            "read transaction": "one measure" if within else "one call",
            "durability": "full: the log is synced at commit; no setting",
            "isolation": "serializable: one writer at a time",
            "cache": str(self.ask("CALL bm_info() RETURN *")[0][0]),
            "parallelism": setting("threads"),
            "setting.access": ", ".join(
                f"{kind.lower()} on {table} ({', '.join(columns)})"
                for table, _, kind, columns, *_ in self.ask("CALL show_indexes() RETURN *")
            ),
            "setting.recursive_pattern_semantic": setting("recursive_pattern_semantic"),
            "setting.auto_checkpoint": setting("auto_checkpoint"),
            "setting.checkpoint_threshold": setting("checkpoint_threshold"),
        }

    def _spans_measure(self) -> bool:
        """Whether a transaction is open after `begin`."""
        self.begin()
        try:
            self.execute("COMMIT")
        except RuntimeError:
            return False
        return True
