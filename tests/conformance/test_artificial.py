"""The engines that calibrate: any table, no answer, and exactly the time that was requested."""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from samples import ROWS, rows, stream, table

from loadstone.engines.calibration import fixed, stalling
from loadstone.engines.calibration import planted as planted_engine
from loadstone.engines.calibration.artificial import ArtificialEngine
from loadstone.engines.calibration.fixed import FixedEngine
from loadstone.engines.calibration.null import NullEngine
from loadstone.engines.calibration.planted import SPREAD_NS, SWITCHES, PlantedEngine, planted
from loadstone.engines.calibration.stalling import StallingEngine
from loadstone.engines.capabilities import STORAGES
from loadstone.errors import InputError
from loadstone.plan.variant import Variant, parse_variant

ARTIFICIAL: dict[str, type[ArtificialEngine]] = {
    kind.name: kind for kind in (NullEngine, FixedEngine, StallingEngine, PlantedEngine)
}

Make = Callable[[str], ArtificialEngine]


@pytest.fixture
def make_artificial(tmp_path: Path) -> Make:
    def build(text: str) -> ArtificialEngine:
        kind = ARTIFICIAL[text.partition("?")[0]]
        variant = parse_variant(text, frozenset(kind.capabilities.tactics))
        engine = kind(variant, tmp_path, "run1")
        engine.start()
        return engine

    return build


@pytest.mark.parametrize("name", sorted(ARTIFICIAL))
def test_it_takes_every_table_and_keeps_none(
    make_artificial: Make, name: str, tmp_path: Path
) -> None:
    engine = make_artificial(name)
    assert not engine.capabilities.answers
    for storage in STORAGES:
        structure = engine.capabilities.structures[storage]
        assert structure.supported
        assert structure.note == "imagined"
    assert engine.load(table(organisation="hash", key="unique1"), stream(rows())) == ROWS
    engine.settle(["t"])
    assert list(engine.stop()) == []
    engine.start()
    assert engine.run("anything at all") == -1
    assert engine.fetch("anything at all") == []
    assert engine.read("anything at all") == []
    assert engine.explain("anything at all")
    engine.drop("t")
    assert (list(engine.tables()), list(engine.files()), engine.size_bytes()) == ([], [], 0)
    engine.remove()
    engine.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "read_back"),
    [
        ("null", {}),
        ("fixed", {"time_us": "1000"}),
        ("fixed?time_us=7", {"time_us": "7"}),
        ("stalling", {"pause_ms": "50", "every": "1000"}),
        ("stalling?pause_ms=2&every=3", {"pause_ms": "2", "every": "3"}),
        ("planted", {"time_us": "1000", **dict.fromkeys(SWITCHES, "off")}),
        ("planted?b=on&time_us=7", {"time_us": "7", **dict.fromkeys(SWITCHES, "off"), "b": "on"}),
    ],
)
def test_terms_are_read_back(make_artificial: Make, text: str, read_back: dict[str, str]) -> None:
    nothing = ("version", "durability", "isolation", "cache", "parallelism")
    assert make_artificial(text).terms() == dict.fromkeys(nothing, "none") | read_back


@pytest.mark.parametrize(
    "text", ["null?time_us=1", "fixed?time_us=0", "fixed?time_us=-1", "fixed?time_us=1.5",
             "fixed?time_us=%3Cn%3E", "stalling?every=0", "stalling?pause_ms=long",
             "planted?a=maybe", "planted?j=on",
             "null:///tmp/x"]
)  # fmt: skip
def test_an_unfit_variant_is_refused(make_artificial: Make, text: str) -> None:
    with pytest.raises(InputError) as caught:
        make_artificial(text) if "://" not in text else NullEngine.check(
            parse_variant(text, frozenset())
        )
    assert caught.value.hint


@pytest.mark.parametrize("name", sorted(ARTIFICIAL))
def test_a_tactic_that_it_does_not_have_stops_its_start(name: str, tmp_path: Path) -> None:
    engine = ARTIFICIAL[name](Variant(name, (("colour", "red"),)), tmp_path, "run1")
    with pytest.raises(InputError, match="colour"):
        engine.start()


class Clock:
    """A clock that goes on by one step each time it is read."""

    def __init__(self, step_ns: int) -> None:
        self.now_ns = 0
        self._step_ns = step_ns

    def read(self) -> int:
        """The time after another step, in ns."""
        self.now_ns += self._step_ns
        return self.now_ns


def test_the_fixed_engine_answers_at_its_time_and_not_before(
    make_artificial: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(999)
    monkeypatch.setattr(fixed, "clock_ns", clock.read)
    engine = make_artificial("fixed?time_us=5")
    for act in (engine.run, engine.fetch):
        begin_ns = clock.now_ns + 999
        act("anything")
        assert 5000 <= clock.now_ns - begin_ns < 5000 + 999
    begin_ns = clock.now_ns
    engine.read("anything")
    assert clock.now_ns == begin_ns


def test_the_planted_engine_s_rule() -> None:
    times = {"": 1.0, "a": 1.25, "b": 1.3, "c": 1.2, "d": 1.3, "e": 1.0, "f": 0.8, "af": 1.0,
             "cd": 1.716, "bcd": 2.016, "abcdef": 2.016, "gh": 1.0, "bgi": 1.3, "ghi": 2.0,
             "bghi": 2.3}  # fmt: skip
    assert {on: planted(on) for on in times} == pytest.approx(times)


def test_the_planted_engine_shows_another_plan_where_its_switch_says_so(
    make_artificial: Make,
) -> None:
    plans = {on: make_artificial(f"planted?{on}=on").explain("SELECT") for on in "bcde"}
    assert plans["b"] == plans["c"] == plans["e"] != plans["d"]


def test_the_planted_engine_takes_the_time_of_its_tactics(
    make_artificial: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(1)
    monkeypatch.setattr(planted_engine, "clock_ns", clock.read)
    engine = make_artificial("planted?time_us=5&b=on")
    for tactics, elapsed_ns in (("b=on", 6500), ("b=on&a=on", 7750), ("e=on", 5000)):
        text = f"planted?time_us=5&{tactics}"
        engine.switch(parse_variant(text, frozenset(engine.capabilities.tactics)))
        for act in (engine.run, engine.fetch):
            begin_ns = clock.now_ns + 1
            act("anything")
            assert 0 <= clock.now_ns - begin_ns - elapsed_ns <= SPREAD_NS


def test_the_planted_engine_is_equally_late_at_all_times(
    make_artificial: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that is looked at each 61 ns, its times are late by 0 to 60 ns of their own: what
    an interval of a ten-thousandth would be held against."""
    clock = Clock(61)
    monkeypatch.setattr(planted_engine, "clock_ns", clock.read)
    engine = make_artificial("planted?time_us=5&b=on")
    late = []
    for tactics, time_ns in (("b=on", 6500), ("b=on&a=on", 7750), ("c=on", 6000), ("e=on", 5000)):
        text = f"planted?time_us=5&{tactics}"
        engine.switch(parse_variant(text, frozenset(engine.capabilities.tactics)))
        elapsed_ns = []
        for _ in range(200):
            begin_ns = clock.now_ns + 61
            engine.run("anything")
            elapsed_ns.append(clock.now_ns - begin_ns)
        late.append(fmean(elapsed_ns) - time_ns)
    assert max(late) - min(late) < 6


def test_the_stalling_engine_pauses_at_every_nth_statement(
    make_artificial: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[tuple[int, float]] = []
    asked = 0
    monkeypatch.setattr(stalling.time, "sleep", lambda s: pauses.append((asked, s)))
    engine = make_artificial("stalling?pause_ms=20&every=4")
    for asked in range(1, 13):
        (engine.fetch if asked % 3 else engine.run)("anything")
        engine.read("not counted")
        if asked == 6:
            engine.stop()
            engine.start()
    assert pauses == [(4, 0.02), (8, 0.02), (12, 0.02)]
