"""The calibration in words with units, the same for every format that people read: rows, limits and
remarks."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from loadstone.analysis.calibration import Calibration, Limited, Measured, Spread
from loadstone.text.numbers import digits, duration, number, percent, plural, signed, times

ABSENT = "not measured"
NONE_IN_ORDER = "measured, but no pair of cells is in order"
SPIN = "spin_of_"


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """One measurement of the instrument by itself.

    `values`: one for each session, or one for all. `limit`: beyond it a cell is invalid; empty
    without consequence. `beyond`: some cell is.
    """

    name: str
    values: tuple[str, ...]
    limit: str = ""
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence that follows from the figures; not `fine` if a reader must act or doubt."""

    text: str
    fine: bool


@dataclass(frozen=True, slots=True)
class CalibrationTable:
    """`headings` name the sessions, the latest first; `measured` has a value for each, `observed`
    one for all cells of the run."""

    headings: tuple[str, ...]
    measured: tuple[CalibrationRow, ...]
    observed: tuple[CalibrationRow, ...]
    remarks: tuple[Remark, ...]


def calibration_table(found: Calibration, labels: Mapping[str, str]) -> CalibrationTable:
    """Word a calibration. `labels`: the name of each variant."""
    return CalibrationTable(
        headings=tuple(
            f"session {one.session_id}, {one.started_at[11:16]} UTC" for one in found.sessions
        ),
        measured=tuple(_measured(found)) if found.sessions else (),
        observed=tuple(_observed(found, labels)),
        remarks=tuple(_remarks(found)),
    )


def short(found: Calibration) -> str:
    """The most important figures of the latest session, in one line; empty without any."""
    parts = []
    if found.overhead_ns:
        parts.append(f"harness overhead {_range(found.overhead_ns)}")
    for one in found.sessions[:1]:
        if one.figure("observer.counters_ns") is not None:
            parts.append(f"reading counters {_duration(one, 'observer.counters_ns')}")
        if one.pause_seen is not None:
            pause = _duration(one, "stalling.pause_ns")
            parts.append(f"a pause of {pause} {'seen' if one.pause_seen else 'NOT seen'}")
        if one.wake_up_ratio and one.wake_up_matters:
            parts.append(f"idle states make a round trip {times(one.wake_up_ratio)}")
    if probe := found.speed_probe_ns:
        parts.append(f"machine speed varied {times(probe.ratio)}")
    if found.noise:
        parts.append(
            f"A/A difference {percent(found.noise.median)}, at worst {percent(found.noise.worst)}"
        )
    return ", ".join(parts)


Words = Callable[[Measured], str]


def _measured(found: Calibration) -> Iterable[CalibrationRow]:
    sessions = found.sessions

    def row(name: str, words: Words, limit: str = "") -> CalibrationRow:
        return CalibrationRow(name, tuple(words(one) for one in sessions), limit)

    def of(key: str) -> Words:
        return lambda one: _duration(one, key)

    clock_limit = f"its step and one reading: {percent(found.clock_share_max)} of a cell"
    yield row("the clock's smallest step", of("clock.resolution_ns"), clock_limit)
    yield row("one reading of the clock", of("clock.cost_ns"))
    yield row("a statement that does nothing", of("overhead.statement_ns"))
    yield row("the same with counters read around it", _observed_statement)
    yield row("reading the counters, outside every clock", of("observer.counters_ns"))
    yield row("an engine that takes a set time", _fixed)
    yield row("an engine that pauses: p99 from the intended start", _stalling)
    yield row("a byte to a sleeping process and back", _wake_up)
    for key in dict.fromkeys(key for one in sessions for key in one.figures):
        if key.startswith(SPIN):
            count = key.removeprefix(SPIN).partition(".")[0]
            operations = number(int(count)) if count.isdigit() else count
            yield row(f"{operations} dependent operations of the processor", of(key))


def _duration(one: Measured, key: str) -> str:
    value_ns = one.figure(key)
    return ABSENT if value_ns is None else duration(value_ns)


def _observed_statement(one: Measured) -> str:
    observed = _duration(one, "overhead.statement_observed_ns")
    share = one.observed_share
    return observed if share is None else f"{observed} ({signed(share)})"


def _fixed(one: Measured) -> str:
    if one.figure("fixed.asked_ns") is None or one.figure("fixed.measured_ns") is None:
        return ABSENT
    asked, measured, most = (
        _duration(one, f"fixed.{key}") for key in ("asked_ns", "measured_ns", "measured_ns_max")
    )
    return f"asked {asked}, measured {measured}, at most {most}"


def _stalling(one: Measured) -> str:
    if one.pause_seen is None:
        return ABSENT
    pause, waited, served = (
        _duration(one, f"stalling.{key}")
        for key in ("pause_ns", "open_latency_ns_p99", "service_ns_p99")
    )
    return f"{waited} at a pause of {pause}; from the actual start {served}"


def _wake_up(one: Measured) -> str:
    if one.figure("wake_up.round_trip_idle_ns") is None:
        return ABSENT
    idle, held = (_duration(one, f"wake_up.round_trip_{key}_ns") for key in ("idle", "held"))
    if one.wake_up_ratio is None:
        return f"{idle}; {held} with idle states disabled"
    return f"{idle}, {held} with idle states disabled ({times(one.wake_up_ratio)})"


def _observed(found: Calibration, labels: Mapping[str, str]) -> Iterable[CalibrationRow]:
    def shares(
        name: str, share: Limited, words: Callable[[float], str] = percent
    ) -> CalibrationRow:
        said, spread = ABSENT, share.spread
        if spread:
            said = f"median {words(spread.median)}, {words(spread.worst)} at worst"
        return CalibrationRow(name, (said,), percent(share.limit), share.is_beyond)

    noise = found.noise
    yield CalibrationRow(
        "harness overhead, by operation",
        (f"{_range(found.overhead_ns)}, median {duration(found.overhead_ns.median)}"
         if found.overhead_ns else ABSENT,),
        f"{percent(found.overhead_share_max)} of a cell",
    )  # fmt: skip
    yield CalibrationRow(
        "A/A difference: one variant measured twice",
        (f"median {percent(noise.median)}, {percent(noise.worst)} at worst, "
         f"of {plural(noise.cells, 'cell')}" if noise
         else NONE_IN_ORDER if found.has_aa_control else ABSENT,),
        percent(found.aa_share_max),
        found.is_noisy,
    )  # fmt: skip
    yield shares("processors' time taken by the hypervisor", found.stolen)
    yield shares("processors' time taken by other programs", found.foreign)
    yield shares("slowdown of a fixed computation since the start", found.drift, signed)
    probe = found.speed_probe_ns
    yield CalibrationRow(
        "speed probe: a miniature of an engine's work",
        (f"{_range(probe)} ({times(probe.ratio)})" if probe else ABSENT,),
    )
    for variant, left in found.headroom.items():
        said = f"median {percent(left.median)}, at least {percent(left.least)}"
        yield CalibrationRow(f"client headroom, {labels.get(variant, variant)}", (said,))


def _range(spread: Spread) -> str:
    least, most = duration(spread.least), duration(spread.most)
    return least if least == most else f"{least} to {most}"


def _remarks(found: Calibration) -> Iterable[Remark]:
    for one in found.sessions:
        where = f" (session {one.session_id})" if len(found.sessions) > 1 else ""
        if one.pause_seen is False:
            yield Remark(
                f"The open loop did not see the stalling engine's pause{where}: "
                "trust no tail latency of this run.",
                fine=False,
            )
        ratio = one.wake_up_ratio
        if ratio and one.wake_up_matters:
            yield Remark(
                f"Idle states make a socket round trip {digits(ratio, 2)} times as long{where}: "
                "compare small statements to a server only if both runs disabled them.",
                fine=True,
            )
