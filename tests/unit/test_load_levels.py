"""Which loops a plan requests, at which rate, and what is left of them when a run is resumed."""

import dataclasses

import pytest

from loadstone.benchmarks.base import Operation
from loadstone.engines.capabilities import Capabilities, Structure
from loadstone.errors import InputError
from loadstone.plan.choices import Choices
from loadstone.plan.plan import Plan
from loadstone.plan.variant import Variant
from loadstone.plan.written_choices import choices_from
from loadstone.planning.planner import make_plan
from loadstone.protocol.messages import LoopResult
from loadstone.record.users import LoopFigures
from loadstone.run.load_levels import REQUESTS_MAX, UserLoops, load_levels

SCAN = Operation("scan", "a scan", "g", "", "heap", "heap", "relation", ("retrieve (a = 1)",))


class Three:
    """A benchmark with two operations to the client, one of which needs a hash organisation."""

    name = "three"
    editions = ("first",)
    default_edition = "first"
    default_scales = (1000, 10000)
    cold_samples = 3
    mixed = ("look", "probe")
    workload = None
    seam = "engines"

    def check_scale(self, edition, rows):
        pass

    def operations(self, edition, rows):
        look = dataclasses.replace(SCAN, name="look", destination="client", concurrent_users=True)
        return [SCAN, look, dataclasses.replace(look, name="probe", storage="hash")]


KINDS = {"heap": Structure(True), "hash": Structure(False, "it has no hash organisation")}


def plan(operations=(), users=(1, 8), **values):
    choices = Choices(users=users, operations=operations, rows=(1000,), **values)
    variants = [Variant("a"), Variant("a", aa_control=True), Variant("b")]
    capabilities = dict.fromkeys(("a", "b"), Capabilities(structures=KINDS))
    return make_plan(choices, Three(), variants, capabilities)


class Desk:
    """Answers for the workers, and keeps what is recorded."""

    def __init__(self, status="ok", completed=500):
        self.asked, self.points = [], []
        self.figures = LoopFigures(status=status, elapsed_ns=1_000_000_000, completed=completed,
                                   latency_ns={"max": 3}, histogram=b"\0\1")  # fmt: skip
        self.beside = None

    def ask(self, cell, loop):
        self.asked.append((cell.operation, cell.variant, loop.users, loop.model))
        self.rate_per_s = loop.rate_per_s
        return LoopResult(self.figures, self.beside)

    def users(self, point):
        self.points.append(point)

    def measure(self, plan, recorded=()):
        many = UserLoops(plan, self, self.ask, recorded)
        for level in load_levels(plan, Three(), recorded):
            many.measure(level)
        return self


def test_operations_to_the_client_have_both_loops_for_each_load_level_and_no_a_a_control():
    desk = Desk().measure(plan(("look", "scan")))
    assert desk.asked == [
        ("look", variant, users, model)
        for users in (1, 8)
        for variant in ("a", "b")
        for model in ("closed", "open")
    ]
    assert [(p.operation, p.variant, p.users, p.model) for p in desk.points] == desk.asked
    assert {(p.client, p.status, p.histogram) for p in desk.points} == {("python", "ok", b"\0\1")}


def test_the_open_loops_rate_follows_from_the_closed_one_unless_it_is_given():
    assert Desk().measure(plan(("look",), (1,))).rate_per_s == 300.0
    assert Desk().measure(plan(("look",), (1,), rate_per_s=9.0)).rate_per_s == 9.0
    fast = Desk(completed=10**9).measure(plan(("look",), (1,), loop_s=5.0))
    assert fast.rate_per_s * 5.0 == REQUESTS_MAX


def test_no_rate_follows_from_a_closed_loop_that_failed():
    desk = Desk("failed", completed=0).measure(plan(("look",), (1,)))
    assert [model for *_, model in desk.asked] == ["closed", "closed"]
    assert [p.status for p in desk.points] == ["failed"] * 4
    assert "--rate" in desk.points[1].reason


def test_a_declared_gap_is_a_point_and_nothing_is_attempted():
    desk = Desk().measure(plan(("look", "probe"), (4,)))
    assert {operation for operation, *_ in desk.asked} == {"look"}
    probes = [point for point in desk.points if point.operation == "probe"]
    assert {(p.model, p.status, p.reason) for p in probes} == {
        (model, "gap", "it has no hash organisation") for model in ("closed", "open")
    }


def test_a_resumed_run_repeats_no_loop_and_knows_the_rate():
    whole = Desk().measure(plan(("look",)))
    assert load_levels(plan(("look",)), Three(), whole.points) == ()
    rest = Desk().measure(plan(("look",)), whole.points[:3])
    assert whole.asked[:3] + rest.asked == whole.asked
    assert rest.points == whole.points[3:]


def test_users_with_nothing_to_do_are_refused_when_planned():
    with pytest.raises(InputError, match="by concurrent users"):
        plan(("scan",))
    assert plan(("scan",), ()).users == ()


def test_a_plan_keeps_its_users():
    made = plan(("look",), (8, 8, 1))
    assert made.users == (8, 1)
    assert Plan.from_json(made.to_json()) == made


def test_writers_beside_readers_are_a_loop_of_their_own_with_a_point_for_either():
    desk = Desk()
    desk.figures = desk.figures.but(links_checked=30)
    desk.beside = desk.figures.but(completed=10)
    made = plan(("look", "probe"), (2, 4), writers=3)
    desk.measure(made)
    mixed = [point for point in desk.points if point.beside]
    assert [(p.operation, p.users, p.beside, p.model, p.completed) for p in mixed] == [
        point
        for users in (2, 4)
        for _ in ("a", "b")
        for point in (
            ("probe", 3, f"{users} users on look", "closed", 10),
            ("look", users, "3 users on probe", "closed", 500),
        )
    ]
    assert {point.links_checked for point in mixed} == {30}
    assert load_levels(made, Three(), desk.points) == ()
    assert Plan.from_json(made.to_json()).writers == 3


@pytest.mark.parametrize(
    ("operations", "values", "message"),
    [
        (("look",), {"writers": 1}, "the plan lacks probe"),
        (("look", "probe"), {"writers": 300}, "writers must be"),
    ],
)
def test_a_mix_that_cannot_be_is_refused(operations, values, message):
    with pytest.raises(InputError, match=message):
        choices_from({"users": [1], **values}, "here")
        plan(operations, (1,), **values)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"users": [0]}, "users must be between 1 and 256, not 0"),
        ({"users": [257]}, "users must be between 1 and 256"),
        ({"users": ["8"]}, "users must be"),
        ({"rate_per_s": 0.0}, "rate_per_s must be more than 0"),
        ({"loop_s": 1e9}, "loop_s must be more than 0 and at most 300"),
    ],
)
def test_bounds(chosen, message):
    with pytest.raises(InputError, match=message):
        choices_from(chosen, "here")
