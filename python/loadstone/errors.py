"""The one exception tree. Each error says what happened, where, and what to do next.

`diagnostics` turns these into text on stderr and an exit code; nothing else prints errors.
"""

import re

_FULL = re.compile(r"no (space|room) left|disk (is )?full", re.IGNORECASE)


def is_of_full_disk(reason: str) -> bool:
    """Whether a message, an engine's own perhaps, is about a disk without free space."""
    return _FULL.search(reason) is not None


class LoadstoneError(Exception):
    """Anything Loadstone reports to its user. `hint` is the sentence that says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(hint)  # a traceback shows it, in a notebook and in pytest, too


class InputError(LoadstoneError):
    """An argument, a plan file, a variant or a query text is wrong."""


class UnknownTacticError(InputError):
    """A tactic that an engine does not have on this road; `known` lists those it has."""

    def __init__(self, engine: str, tactic: str, known: str, meant: str = "") -> None:
        hint = f"{meant}it can switch: {known}"
        super().__init__(f"{engine} has no tactic {tactic!r}", hint=hint)
        self.tactic, self.known = tactic, known


class NothingToMeasureError(InputError):
    """Every cell of a plan is a gap."""


class EngineError(LoadstoneError):
    """An engine could not be found, started, reached, loaded, or refused a statement."""


class NotInstalledError(EngineError):
    """A dependency of an engine is not installed; the hint says how to install it."""


class StatementEndedError(EngineError):
    """A statement took longer than its block allows and was ended; nothing of it is kept."""


class LodeError(EngineError):
    """An operation of lode, the reference engine, failed; committed data is still there."""


class CancelledError(LodeError):
    """A statement of lode was ended by `cancel`; nothing of it is kept."""


class DeadlockError(LodeError):
    """A transaction of lode was rolled back to end a deadlock: run it again."""


class QueryError(LodeError):
    """A text for lode is not QUEL, has no meaning, or cannot be computed; the message shows the
    place in the text."""


class UnsupportedError(LoadstoneError):
    """An engine has no such mechanism: declared, with the reason; a gap, not a failure."""


class RecordError(LoadstoneError):
    """A record cannot be read, written or resumed."""


class WorkerDiedError(LoadstoneError):
    """A worker process ended without an answer."""


class ProtocolError(LoadstoneError):
    """A message between runner and worker is not as agreed: the fault is ours, not an engine's."""


class TimeLimitError(LoadstoneError):
    """A request took longer than its limit. `of_statement`: it was in a timed statement, whose time
    has a lower bound now. `partly`: another timed statement of the request ended in time. `hung`:
    the worker did not end the statement, and no longer answers."""

    def __init__(
        self,
        limit_s: float,
        *,
        of_statement: bool = False,
        partly: bool = False,
        hung: bool = True,
    ) -> None:
        super().__init__(f"> {limit_s:g} s", hint="raise --time-limit to let it finish")
        self.limit_s = limit_s
        self.of_statement = of_statement
        self.partly = partly
        self.hung = hung
