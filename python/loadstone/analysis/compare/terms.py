"""The comparability of two sides: their terms as their engines read them back, and which
differences forbid a comparison. Rule 5 of the method.

Pure. A reading that changed within a record, or that no side has, is never equal.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from loadstone.analysis.compare.same_machine import STABLE, fingerprint
from loadstone.analysis.compare.sides import Match
from loadstone.analysis.terms import SETTING
from loadstone.plan.variant import engine_of, tactics_of
from loadstone.record.changed_answers import Side
from loadstone.record.model import MEASURED_KEYS, Run
from loadstone.statistics.drift import Speeds
from loadstone.text.numbers import duration

EQUAL = "equal"
SHOWN = "differs"
ACROSS = "across"
REFUSED = "refused"

READ_ONLY_TERMS = frozenset({"isolation"})
"""Terms that no variant can request. What else was never asked is a program with its version."""
MACHINE_STATE = ("idle_states.held", "cpu.governor", "transparent_huge_pages")
"""Not part of a machine's fingerprint, but a change of them moves every figure."""
CLIENT = ("python.version", "loadstone.version", "loadstone.build_profile")
UNKNOWN = "-"

Readings = tuple[str, ...]
"""One side's readings of a term: each distinct one of the record's sessions; () if none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One term on both sides. `verdict`: equal; differs (shown, and allowed); across (unequal, and
    named by the user); refused (unequal: no cell is compared). `name` is what `--across` calls it;
    empty where nothing makes the sides comparable."""

    key: str
    name: str
    a: Readings
    b: Readings
    verdict: str

    @property
    def setting(self) -> bool:
        """Whether it is one of the engine's own settings."""
        return self.key.startswith(SETTING)

    @property
    def difference(self) -> str:
        """`durability: full against none`, B's value last."""
        return f"{self.key}: {shown(self.a)} against {shown(self.b)}"


@dataclass(frozen=True, slots=True)
class TermComparison:
    """All terms of two sides."""

    entries: tuple[Entry, ...]

    def with_verdict(self, verdict: str) -> tuple[Entry, ...]:
        """The entries on which that was decided."""
        return tuple(entry for entry in self.entries if entry.verdict == verdict)


def shown(readings: Readings) -> str:
    """A side's readings for people: a dash where there are none, all where a run changed them."""
    return ", then ".join(readings) or UNKNOWN


def compare_terms(match: Match, across: frozenset[str]) -> TermComparison:
    """Put both sides' terms beside each other; `across` names those that may differ."""
    a, b = _readings(match.a), _readings(match.b)
    keys = list(dict.fromkeys((*a, *b)))
    terms = [
        _entry(key, *_rule(match, key, a, b), a.get(key, ()), b.get(key, ()))
        for key in keys
        if not key.startswith(SETTING)
    ]
    judged = [
        _crossed(entry, across)
        for entry in (*_plan(match), *terms, *_structures(match), *_machine(match))
    ]
    # A tactic or a version that differs moves settings with it; they are its means, not terms.
    means = frozenset(keys) - MEASURED_KEYS
    explained = any(entry.verdict != EQUAL and entry.key in means for entry in judged)
    settings = [
        _entry(key, "settings", explained, a.get(key, ()), b.get(key, ()))
        for key in keys
        if key.startswith(SETTING) and match.same_engine
    ]
    return TermComparison((*judged, *(_crossed(entry, across) for entry in settings)))


def crossable(comparisons: Iterable[TermComparison], runs: Iterable[Run]) -> tuple[str, ...]:
    """The terms that `--across` may name: every term of these records, for any variants."""
    names = {entry.name for one in comparisons for entry in one.entries}
    for run in runs:
        asked = {term.key for term in run.terms if term.asked is not None}
        tactics = {tactic for name in run.plan.variants for tactic in tactics_of(name)}
        names |= {key for key in asked | tactics if not key.startswith(SETTING)}
    return tuple(sorted(names - {""} - MEASURED_KEYS))


def _entry(key: str, name: str, allowed: bool, a: Readings, b: Readings) -> Entry:
    unequal = SHOWN if allowed else REFUSED
    return Entry(key, name, a, b, EQUAL if a == b and len(a) == 1 else unequal)


def _crossed(entry: Entry, across: frozenset[str]) -> Entry:
    if entry.verdict == REFUSED and entry.name in across:
        return replace(entry, verdict=ACROSS)
    return entry


def _readings(side: Side) -> Mapping[str, Readings]:
    """Every term of a variant by its key. What was only requested is marked so."""
    found: dict[str, dict[str, None]] = {}
    for term in side.run.terms:
        if term.variant == side.variant:
            said = found.setdefault(term.key, {})
            if term.read_back is not None:
                said[term.read_back] = None
            elif term.asked is not None:
                said[f"{term.asked} (asked)"] = None
    return {key: tuple(said) for key, said in found.items()}


def _rule(
    match: Match, key: str, a: Mapping[str, Readings], b: Mapping[str, Readings]
) -> tuple[str, bool]:
    """(name for `--across`, whether a difference is allowed)."""
    if key in MEASURED_KEYS:
        return "", True
    if _is_version(key, (match.a, match.b)):
        # Another engine has another version by its nature.
        return "version", match.repeated or match.other_release or not match.same_engine
    # A release may lack what a later one has.
    differ = match.other_release or not match.same_engine
    return key, differ and not (key in a and key in b)


def _is_version(key: str, sides: Iterable[Side]) -> bool:
    asked = any(
        term.asked is not None
        for side in sides
        for term in side.run.terms
        if term.key == key and term.variant == side.variant
    )
    return not asked and key not in READ_ONLY_TERMS


def _plan(match: Match) -> Iterable[Entry]:
    a, b = match.a.run.plan, match.b.run.plan
    editions = [(f"{plan.benchmark} {plan.edition}",) for plan in (a, b)]
    yield _entry("benchmark", "", False, editions[0], editions[1])
    yield _entry("engine", "", True, (engine_of(match.a.variant),), (engine_of(match.b.variant),))
    yield _entry("warm_up", "warm_up", False, (str(a.warm_up),), (str(b.warm_up),))


def _structures(match: Match) -> Iterable[Entry]:
    """The stand-in for each storage structure; engines differ in it by their nature."""
    a, b = (
        {storage: (note,) for name, storage, note in side.run.structure_notes
         if name == side.variant}
        for side in (match.a, match.b)
    )  # fmt: skip
    for storage in dict.fromkeys((*a, *b)):
        yield _entry(f"structure.{storage}", "structure", not match.same_engine,
                     a.get(storage, ()), b.get(storage, ()))  # fmt: skip


def _machine(match: Match) -> Iterable[Entry]:
    """The fingerprint, what it was made of where it differs, and the machine's state."""
    a, b = match.a.run, match.b.run
    yield _entry("machine", "machine", False, _fingerprints(a), _fingerprints(b))
    for key in STABLE:
        if _facts(a, key) != _facts(b, key):
            yield _entry(f"machine.{key}", "machine", False, _facts(a, key), _facts(b, key))
    for keys, allowed in ((MACHINE_STATE, False), (CLIENT, True)):
        for key in keys:
            if _facts(a, key) or _facts(b, key):
                yield _entry(key, "machine", allowed, _facts(a, key), _facts(b, key))
    speeds = _speeds(a), _speeds(b)
    if any(speeds):
        yield _entry("machine.speed", "", True, *speeds)


def _speeds(run: Run) -> Readings:
    found = Speeds(run)
    if not found.median_ns:
        return ()
    spans = [duration(ns) for ns in (found.median_ns, found.least_ns, found.most_ns)]
    return (f"speed probe {spans[0]} ({spans[1]} … {spans[2]})",)


def _fingerprints(run: Run) -> Readings:
    described = [session.machine for session in run.sessions if session.machine]
    return tuple(dict.fromkeys(fingerprint(facts) for facts in described))


def _facts(run: Run, key: str) -> Readings:
    values = [session.machine.get(key) for session in run.sessions]
    return tuple(dict.fromkeys(str(value) for value in values if value is not None))
