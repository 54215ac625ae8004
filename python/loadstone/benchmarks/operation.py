"""An operation of a benchmark, and the stored relations that it asks."""

from dataclasses import dataclass

from loadstone.plan.workload import DataTable, WorkloadStatement


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A relation in a physical design. Its table is called `<relation>_<design>_<scale>`."""

    relation: str
    design: str
    organisation: str = "heap"
    key: str | None = None
    tiebreaker: str | None = None
    indexes: tuple[str, ...] = ()
    data: DataTable | None = None
    """The files of the user's that its rows come from; None: they are generated. Such a table has
    its relation's name, its own keys and indexes."""
    folder: str = ""
    """The place where the names of these files begin."""


SCRIPTS_SAMPLED = 10
"""Variations of a script that changes data of which the answers are compared."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One measured operation at one scale.

    `texts` are the variations (the first is the published one): complete QUEL programs ending in
    the one statement that is timed. `undo[i]`, empty for a retrieve, reverses `texts[i]` outside
    the clock. `storage` names the structure that the operation exercises; an engine without it has
    a declared gap here. `destination` is `relation` (retrieve into), `client`, `file` (its rows
    fetched and written), `update`, or `script`: several statements.
    """

    name: str
    title: str
    group: str
    query: str
    design: str
    storage: str
    destination: str
    texts: tuple[str, ...]
    undo: tuple[str, ...] = ()
    presets: frozenset[str] = frozenset()
    """Presets that include it: `quick`, `study`, `cold` (worth a cold sample in the default
    preset); `full`: only there."""
    interleaved_group: str = ""
    """Operations with the same name here are compared with each other, and so measured in the same
    rounds; empty: this one by itself."""
    warming: tuple[str, ...] = ()
    """Inputs that a warm block runs unmeasured before its samples, and that no sample has. Empty:
    the block's own texts, so each sample repeats a text that just ran."""
    concurrent_users: bool = False
    """Whether concurrent users can run it without changing each other's results."""
    statement: WorkloadStatement | None = None
    """Of a user's workload: its texts are SQL, not QUEL."""

    @property
    def sampled(self) -> int:
        """The number of its variations cells that have; concurrent users have all. After each
        sample of a script all tables that it changes are compared with their copies."""
        return min(len(self.texts), SCRIPTS_SAMPLED) if self._script_changes else len(self.texts)

    @property
    def changes_tuples(self) -> bool:
        """Whether it changes tuples of the relations that it finds."""
        return self.destination == "update" or self._script_changes

    @property
    def _script_changes(self) -> bool:
        return self.statement is not None and bool(self.statement.script_changes)


def table_of(relation: str, design: str, rows: int) -> str:
    """The physical name of a stored relation."""
    return f"{relation}_{design}_{rows}"
