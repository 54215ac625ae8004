"""The listener for a run's progress, and nothing that draws it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from loadstone.record import CellResult
from loadstone.studies.view import StudiedOperation


@dataclass(slots=True)
class ProgressListener:
    """The listener for a run's progress: the terminal, a test, or none."""

    on_status: Callable[[str], None] = lambda _: None
    on_result: Callable[[CellResult], None] = lambda _: None
    on_executed: Callable[[Mapping[tuple[str, str], float]], None] = lambda _: None
    """Reported once how long an execution of each of a user's statements takes, in s, by statement
    and variant."""
    on_effects: Callable[[StudiedOperation], None] = lambda _: None
    """Reported what is known of a study's operation while it is measured."""
    open: Callable[[], None] = lambda: None
    """The workers are about to start."""
    close: Callable[[], None] = lambda: None
    """Nothing more is measured."""
