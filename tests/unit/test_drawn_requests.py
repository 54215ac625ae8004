"""Requests that users draw anew: the texts that the engine would get of each value, by their
numbers, and never others."""

from pathlib import Path

import pytest
from test_users import Answering, ManualClock, Request, Users

from loadstone.errors import InputError, UnsupportedError
from loadstone.plan.workload import DrawnText, Workload, plain_fields
from loadstone.protocol.parts import Loop, SqlText
from loadstone.quel.statement import Statement
from loadstone.worker.drawing import DrawnRequests, drawn_requests
from loadstone.workload import pgbench, script, sql_for_engine
from loadstone.workload.parameters import Parameter, draws_of, filled
from loadstone.workload.reading import read_workload

SECOND_NS = 1_000_000_000


def loop(*drawn: DrawnText, users: int = 1) -> Loop:
    return Loop("closed", users, SECOND_NS // 100, seed=7, drawn=drawn, drawn_start=5)


def drawn_text(text: str, dialect: str = "", **stated: Parameter) -> DrawnText:
    return DrawnText(text, draws_of(stated, "s", 1, Path(), "w", lambda *_: ()))


def requests(each: DrawnText, dialect: str, *, scripts: bool = False) -> DrawnRequests:
    of = SqlText("", ("t",), (), 10, (), script=scripts)
    engine = script.for_engine if scripts else sql_for_engine.for_engine
    found = drawn_requests(
        loop(each), of, dialect, lambda text: engine(text, "", dialect, {"t": "t"}, (), "")
    )
    assert found is not None
    return found


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_a_drawn_text_is_the_translation_of_the_text_with_its_values(dialect: str) -> None:
    each = drawn_text(
        "SELECT a FROM t WHERE a = :n AND b <> :word AND a - :n > :n OR c = :share",
        n=Parameter(uniform=(-9, 9)), word=Parameter(list=("it's", "--", "ü")),
        share=Parameter(list=(0.5, 1e-7, True)),
    )  # fmt: skip
    found = requests(each, dialect)
    whole = filled(each.text, "", each.draws, 50, "w")
    right = [
        sql_for_engine.for_engine(text, "", dialect, {"t": "t"}, (), "").text for text in whole
    ]
    assert [found.of(number).text for number in range(50)] == right
    assert len({*right}) > 25


def test_a_script_keeps_its_statements_and_which_give_rows() -> None:
    each = drawn_text("BEGIN; UPDATE t SET a = :n; SELECT a FROM t WHERE a = :n; END",
                      n=Parameter(sequence=(5, 1)))  # fmt: skip
    found = requests(each, "duckdb", scripts=True).of(2)
    assert found.steps == (
        ("BEGIN", False), ("UPDATE t SET a = 7", False), ("SELECT a FROM t WHERE a = 7", True),
        ("COMMIT", False),
    )  # fmt: skip


def test_a_translation_that_depends_on_the_value_is_refused_and_not_guessed() -> None:
    each = drawn_text("SELECT a FROM t WHERE a = :n", n=Parameter(uniform=(1, 9)))
    of = SqlText("", ("t",), (), 10, ())

    def other(text: str) -> Statement:
        found = sql_for_engine.for_engine(text, "", "sqlite", {"t": "t"}, (), "")
        return Statement("retrieve", found.text.replace("= 3", "= 4"))

    with pytest.raises(UnsupportedError, match="another for each value"):
        for seed in range(30):
            draws = draws_of(
                {"n": Parameter(uniform=(1, 9))}, "s", seed, Path(), "w", lambda *_: ()
            )
            drawn_requests(loop(DrawnText(each.text, draws)), of, "sqlite", other)


def test_users_ask_the_known_requests_once_and_then_numbers_of_their_own() -> None:
    heard: list[str] = []

    class Hearing(Answering):
        def fetch(self, statement):
            heard.append(statement)
            return [(1,)]

    drawn = requests(drawn_text("SELECT a FROM t WHERE a = :n", n=Parameter(sequence=(0, 1))),
                     "sqlite")  # fmt: skip
    engine = Hearing()
    from loadstone._core import answer_of_rows

    known = [Request("known", *answer_of_rows([(1,)]))]
    figures = Users(engine, lambda *_: None, ManualClock()).work(loop(), known, drawn)
    assert figures.status == "ok"
    checked, rest = heard[:2], heard[2:]
    assert checked == ["known", "known"]
    timed = [text.rpartition(" ")[2] for text in rest]
    assert timed[: figures.completed - 1] == [str(n) for n in range(1, figures.completed)]
    # One is known, and some of those that were drawn are asked again at the end.
    asked_again = len(rest) - (figures.completed - 1)
    assert figures.compared == 1 + asked_again
    assert 1 <= asked_again < figures.completed
    assert sum(interval[0] for interval in figures.intervals) == figures.completed


def test_values_within_quotes_are_drawn_and_are_no_parameters() -> None:
    read = pgbench.script_of("\\set n random(-3, -3)\nSELECT 'a:n', :n;", "w")
    each = DrawnText(read.text, read.draws(1, "s", 1))

    def found(*, prepared: bool) -> DrawnRequests | None:
        return drawn_requests(
            loop(each), SqlText("postgres", (), (), 10, ()), "postgres",
            lambda text: script.for_engine(text, "postgres", "postgres", {}, (), ""),
            prepared=prepared,
        )  # fmt: skip

    drawn = found(prepared=False)
    assert drawn is not None and drawn.of(40).text == "SELECT 'a-3', (-3)"
    with pytest.raises(UnsupportedError, match="within quotes"):
        found(prepared=True)


def test_a_request_without_a_value_fails_and_ends_no_loop() -> None:
    read = pgbench.script_of("\\set n 6 / random(0, 2)\nSELECT a FROM t WHERE a = :n;", "w")
    seed = next(seed for seed in range(99) if _draws(read, seed))
    drawn = requests(DrawnText(read.text, read.draws(seed, "s", 1)), "sqlite")
    assert len([*drawn.kinds()]) == 1
    from loadstone._core import answer_of_rows

    known = [Request("known", *answer_of_rows([(1,)]))]
    engine = Answering(*[[(1,)]] * 100_000)
    figures = Users(engine, lambda *_: None, ManualClock()).work(loop(), known, drawn)
    assert figures.status == "ok"
    assert figures.completed > figures.failed > 0
    assert figures.reason.endswith("drawing a value: division by zero")


def _draws(read: pgbench.Script, seed: int) -> bool:
    """Whether the first request has a value."""
    try:
        return bool(read.draws(seed, "s", 1))
    except InputError:
        return False


def test_an_answer_that_is_another_alone_fails_the_loop() -> None:
    class Forgetful(Answering):
        asked = 0

        def fetch(self, statement):
            self.asked += 1
            alone = self.asked > self.enough and statement.endswith("= 1")
            return [] if alone else [(1,)]

    drawn = requests(drawn_text("SELECT a FROM t WHERE a = :n", n=Parameter(sequence=(0, 1))),
                     "sqlite")  # fmt: skip
    from loadstone._core import answer_of_rows

    known = [Request("known", *answer_of_rows([(1,)]))]
    engine = Forgetful()
    engine.enough = 100
    figures = Users(engine, lambda *_: None, ManualClock()).work(loop(), known, drawn)
    assert figures.status == "failed"
    assert figures.reason.startswith("wrong answer: 1 tuple beside other users, 0 alone: SELECT a")


WORKLOAD = """
[data.t]
sql = "SELECT i AS a FROM range(9) AS r(i)"
[[statement]]
name = "one"
sql = "SELECT a FROM t WHERE a = :n"
parameters.n = { uniform = [0, 8] }
[[statement]]
name = "all"
sql = "SELECT a FROM t"
[[statement]]
name = "both"
mix = { one = 9, all = 1 }
"""


def workload(place: Path, text: str = WORKLOAD) -> Workload:
    (place / "workload.toml").write_text(text, encoding="utf-8")
    return read_workload(str(place))


def test_a_mix_draws_its_statements_by_their_weights(tmp_path: Path) -> None:
    one, every, both = workload(tmp_path).statements
    assert (len(one.drawn), every.drawn) == (1, ())
    assert [(each.text, each.weight) for each in both.drawn] == [
        ("SELECT a FROM t WHERE a = :n", 9), ("SELECT a FROM t", 1)
    ]  # fmt: skip


def test_drawn_for_the_run_means_no_other_texts_and_the_plan_of_before(tmp_path: Path) -> None:
    found = workload(
        tmp_path, WORKLOAD.replace("uniform = [0, 8] }", 'uniform = [0, 8] }\ndrawn = "run"')
    )
    assert not any(each.drawn for each in found.statements)
    assert "drawn" not in plain_fields(found)["statements"][0]


@pytest.mark.parametrize(
    ("stated", "hint"),
    [('drawn = "transacton"', "did you mean transaction"), ("drawm = 1", "did you mean drawn")],
)
def test_a_wrong_word_is_met_with_the_right_one(tmp_path: Path, stated: str, hint: str) -> None:
    with pytest.raises(InputError) as refused:
        workload(tmp_path, WORKLOAD.replace('name = "all"', f'name = "all"\n{stated}'))
    assert hint in refused.value.hint
