"""The proofs that this machine allows, those that it does not, and the remedies. One file a theme.

A check is a function from measured values to a `Check`; measuring is separate, so that any machine
can be examined in a test. Presentation is elsewhere.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from loadstone import _core
from loadstone.doctor import disk, engines, kernel, memory, mirror, processor
from loadstone.doctor.check import Check, Verdict
from loadstone.errors import InputError
from loadstone.machine import facts as machine
from loadstone.machine.wake_up import round_trips
from loadstone.run import scratch

__all__ = ["Check", "Verdict", "examine"]


def examine() -> list[Check]:
    """Examine everything, in a few seconds, and remove the probe files."""
    try:
        with _workplace() as folder:
            facts = machine.describe(folder)
            # Before the engines: what they load and start would be in the way of the clock.
            return [
                *_processor(facts),
                memory.memory(facts),
                memory.huge_pages(facts),
                kernel.cpu_time(_core.cpu_ns(os.getpid())),
                kernel.io_uring(kernel.io_uring_error()),
                *_disk(folder, facts),
                *engines.engines(),
                *engines.starts(folder),
            ]
    except InputError as error:
        facts = machine.describe()
        return [*_processor(facts), disk.scratch_folder(facts, error.message), *engines.engines()]


def _processor(facts: Mapping[str, machine.Fact]) -> list[Check]:
    with _core.disable_idle_states() as idle_states:
        held, reason = idle_states.held, idle_states.reason
    exists = kernel.latency_device_exists()
    return [
        processor.clock(facts),
        processor.processors(facts),
        processor.governor(facts),
        processor.virtualisation(facts),
        processor.idle_states(facts, held=held, reason=reason, exists=exists),
        processor.wake_up(round_trips()),
    ]


def _disk(folder: Path, facts: Mapping[str, machine.Fact]) -> list[Check]:
    try:
        probe = disk.measure(folder)
    except OSError as error:
        return [disk.scratch_folder(facts, error.strerror or str(error))]
    moved = (disk.PROBE_BYTES, disk.PROBE_BYTES)
    return [
        disk.scratch_folder(facts),
        disk.eviction(probe.evidence),
        disk.read_ahead(facts),
        kernel.storage_traffic(probe.counted, moved),
        disk.bandwidth(probe),
        disk.sync_latency(probe),
        mirror.mirrored(mirror.probe(folder)),
    ]


@contextlib.contextmanager
def _workplace() -> Iterator[Path]:
    """A scratch folder, and its parents if they had to be made, for as long as needed. Marked like
    a run's, so `loadstone clean` finds what a killed examination left."""
    parent = scratch.parent()
    made = [path for path in (parent, *parent.parents) if not path.exists()]
    try:
        with scratch.claimed(f"doctor{os.getpid()}") as claim:
            yield claim.path
    finally:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()
