"""The outcome that the shell describes a statement after Ctrl-C: true in each case."""

from concurrent.futures import Future

import pytest

from loadstone.errors import CancelledError, LodeError
from loadstone.shell import session as shell
from loadstone.shell.lines import Given
from loadstone.shell.monitor import Monitor
from loadstone.shell.opening import Place
from loadstone.shell.session import Session
from loadstone.shell.statement_end import StatementEnd


@pytest.fixture
def session(tmp_path):
    with Place(tmp_path / "a.lode", {}) as place:
        place.database.execute("create n (i = i4)")
        place.database.execute("append to n (i = 1)")
        yield Session(place)


def interrupting(session, call):
    """A call during which Ctrl-C is heard."""

    def called():
        session._is_interrupted = True
        return call()

    return called


def raising(error):
    def call():
        raise error

    return call


def said(session, call, *say, **also):
    with pytest.raises(KeyboardInterrupt) as reported:
        session._waited(interrupting(session, call), *say, **also)
    session._is_interrupted = False
    return str(reported.value)


def test_a_cancelled_statement_keeps_nothing_and_a_committing_one_is_kept(session):
    cancelled = raising(CancelledError("it was ended"))
    assert said(session, cancelled, shell.COMMITTED) == "nothing of it is kept"
    assert said(session, lambda: 1, shell.COMMITTED) == "it was already committing: it is kept"
    uncertain = "whether this transaction is committed is known when the database is opened again"
    assert uncertain in said(session, raising(LodeError(uncertain)), shell.COMMITTED)


@pytest.mark.parametrize(
    ("text", "explain", "expected"),
    [
        ("append to n (i = 2)", "off", "it was already committing: it is kept"),
        ("append to n (i = 2)", "counted", "it was already committing: it is kept"),
        ("append to n (i = 2)", "plan", "it had ended already"),
        ("retrieve (m.i)", "off", "its rows end here"),
        ("retrieve (m.i)", "counted", "it had ended already"),
        ("range of m is n", "off", "it had ended already"),
    ],
)
def test_each_kind_of_statement_says_what_came_of_it(session, monkeypatch, text, explain, expected):
    begun = []

    class Thread:
        def submit(self, call):
            begun.append(call)
            return Future()

    def waited(answers, limit_s):
        """Ctrl-C is heard when the statement has done its work."""
        del limit_s
        answers[0].set_result(begun.pop()())
        session._is_interrupted = True

    session._thread = Thread()
    monkeypatch.setattr(shell, "wait", waited)
    session.explain, session.ranges = explain, {"m": "n"}
    with pytest.raises(KeyboardInterrupt, match=expected):
        session.run(text)
    kept = session.database.query("range of m is n retrieve (x = count(m.i))").fetch()
    assert kept == [(2 if "kept" in expected else 1,)]


def test_rows_that_are_streamed_end_at_ctrl_c(session, monkeypatch):
    def put(text):
        del text
        session._is_interrupted = True

    monkeypatch.setattr(shell, "put", put)
    with pytest.raises(KeyboardInterrupt, match="its rows end here"):
        session.run("range of m is n retrieve (m.i)")


def test_after_ctrl_c_no_statement_is_begun(session, monkeypatch):
    def say(text):
        del text
        session._is_interrupted = True

    monkeypatch.setattr(shell, "say", say)
    with pytest.raises(KeyboardInterrupt, match="the next statement was not begun"):
        session.run("append to n (i = 2) append to n (i = 3)")
    assert session.database.query("range of m is n retrieve (m.i)").fetch() == [(1,), (2,)]


class Typed(Given):
    """Lines as if a person typed them."""

    is_typed = True


def test_lines_typed_before_ctrl_c_are_not_run_later(session, monkeypatch):
    monitor, fed = Monitor(session), StatementEnd.feed

    def interrupted(end, text):
        fed(end, text)
        if "2" in text:
            raise KeyboardInterrupt

    monkeypatch.setattr(StatementEnd, "feed", interrupted)
    # A pause between the first statement's text and its run: Ctrl-C comes there.
    monitor.run(Typed(["append to n (i = 2);", "append to n (i = 3);"]))
    rows = session.database.query("range of m is n retrieve (m.i)").fetch()
    assert sorted(rows) == [(1,), (3,)]
