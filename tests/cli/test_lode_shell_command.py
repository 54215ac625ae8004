"""`loadstone lode shell`: at a terminal, and with its lines from a pipe."""

import os
import pty
import signal
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from desk import COMMAND, Desk

from loadstone.diagnostics import Exit
from loadstone.lode import Database

MADE = """create parts (number = i4, name = c12)
append to parts (number = 1, name = "wheel; or so")
append to parts (number = 2, name = "spoke")

"""


def run(desk: Desk, lines: str, *options: str) -> subprocess.CompletedProcess[str]:
    done = desk.run("lode", "shell", "a.lode", *options, stdin=lines)
    assert "internal error" not in done.stderr
    return done


def test_statements_end_by_semicolon_empty_line_go_and_backslash_g(desk: Desk):
    done = run(desk, MADE + r"""range of p is parts;
retrieve (p.name)   /* a comment; with
   a semicolon */
   where p.number = 1; /* behind it */
retrieve (x = p.number) where p.number = 2 \g
retrieve (y = p.number) where p.number = 1
go
retrieve (z = "
") where p.number = 2""", "--format", "csv")  # fmt: skip
    assert done.stdout == 'name\nwheel; or so\nx\n2\ny\n1\nz\n"\n"\n'
    assert (done.returncode, done.stderr) == (0, "done\n1 tuple\n1 tuple\n")


def test_an_error_is_shown_and_the_rest_goes_on(desk: Desk):
    done = run(desk, MADE + "retrieve (q.name);\nrange of p is parts retrieve (p.number)\n\n\\no\n")
    assert done.stdout == "number\n------\n     1\n     2\n"
    assert "line 1, column 11: " in done.stderr
    assert "^" in done.stderr
    assert "there is no command \\no" in done.stderr
    assert done.returncode == Exit.INPUT


def test_relations_are_listed_and_described(desk: Desk):
    done = run(desk, MADE + "modify parts to btree on number;\nindex on parts is x (name);\n"
               "\\settle parts\n\\d\n\\d PARTS\n\\d nothing\n")  # fmt: skip
    assert done.stdout == (
        "relation  tuples  pages  organisation         indexes\n"
        "--------  ------  -----  -------------------  -------\n"
        "parts          2      1  clustered on number  name\n"
        "relation      parts\n"
        "tuples        2\n"
        "pages         1\n"
        "organisation  clustered on number\n"
        "indexes       name\n"
        "\n"
        "attribute  type\n"
        "---------  ----\n"
        "number     i4\n"
        "name       c12\n"
    )
    assert "settled: parts\n" in done.stderr
    assert "there is no relation nothing" in done.stderr


def test_plans_times_forms_and_tactics_are_switched(desk: Desk):
    run(desk, MADE)
    done = run(desk, r"""range of p is parts
\explain

retrieve (p.name) where p.number = 1;
\explain counted
retrieve (p.name) where p.number = 1;
\explain off
\timing on
\format json
retrieve (p.number) where p.number = 2;
\tactics execution=interpreted&join=hash
\tactics extent=4
retrieve (p.number) where p.number = 3;
\tactics join=never
\format xml
""")  # fmt: skip
    plan, rest = done.stdout.split("\n1. ", 1)
    assert "(about " in plan
    assert "counted" not in plan
    assert "where a.number = 1 (counted 1)" in rest
    assert '[\n{"number": 2}\n]\n' in rest
    assert "tactic     value\n---------  -----------\n" in rest
    assert "execution  interpreted\njoin       hash\n" in rest
    assert rest.endswith("[\n]\n")
    said = done.stderr.splitlines()
    assert said[:3] == ["explain is plan", "explain is counted", "explain is off"]
    assert said[3:5] == ["timing is on", "format is json"]
    assert said[5].startswith("time: ")
    assert any(line.startswith("extent stays ") for line in said)
    assert any("never" in line for line in said)
    assert any("there is no 'xml' here" in line for line in said)
    assert done.returncode == Exit.INPUT


def test_files_are_read_within_the_session(desk: Desk):
    (desk.folder / "make.quel").write_text(MADE + "range of p is parts")
    (desk.folder / "loop.quel").write_text("\\i loop.quel\n")
    (desk.folder / "wrong.quel").write_text("retrieve (p.nothing)")
    done = run(desk, r"""\i make.quel
retrieve (p.number)
\p
\r
\i loop.quel
\i wrong.quel
\i none.quel
\q
retrieve (p.name);
""", "--format", "csv")  # fmt: skip
    assert done.stdout == "retrieve (p.number)\n"
    assert "does a file read itself?" in done.stderr
    assert "wrong.quel: line 1, column 13: " in done.stderr
    assert "none.quel" in done.stderr
    assert done.returncode == Exit.INPUT


# --- at a terminal --------------------------------------------------------------------------------


class Terminal:
    """The command with a terminal of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int) -> None:
        self.process, self._descriptor = process, descriptor
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def until(self, words: str) -> str:
        """The output up to these words, since the last call."""
        while words not in self.shown:
            try:
                found = os.read(self._descriptor, 4096)
            except OSError:  # the terminal is closed
                found = b""
            assert found, self.shown
            self.shown += found.decode(errors="replace")
        before, _, self.shown = self.shown.partition(words)
        return before + words


@contextmanager
def terminal(desk: Desk) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    # Linux sends the signal of Ctrl-C first and then forgets what waits to be shown: without this,
    # also a prompt that the signal's handler was quick enough to write.
    modes = termios.tcgetattr(theirs)
    modes[3] |= termios.NOFLSH
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    environment = {**desk.environment, "XDG_STATE_HOME": str(desk.folder / "state"),
                   "TERM": "dumb", "INPUTRC": "/dev/null"}  # fmt: skip

    def prepare() -> None:
        os.setsid()
        # Opening makes it the terminal that controls the process: Ctrl-C is its signal.
        os.close(os.open(os.ttyname(theirs), os.O_RDWR))
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = subprocess.Popen(
        [*COMMAND, "lode", "shell", "a.lode"], cwd=desk.folder, env=environment, stdin=theirs,
        stdout=theirs, stderr=theirs, preexec_fn=prepare,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture
def filled(desk: Desk) -> Desk:
    with Database(desk.folder / "a.lode") as database:
        database.execute("create n (i = i4)")
        for _ in range(9):
            database.execute("append to n (i = 1)")
            database.execute("range of m is n append to n (i = m.i)")
    return desk


def test_a_terminal_prompts_forgives_cancels_and_remembers(filled: Desk):
    with terminal(filled) as at:
        assert "\\? lists the commands" in at.until("lode> ")
        at.type("range of a is n\n")
        at.until("..> ")
        at.type("retrieve (x = count(a.j));\n")
        assert "`n` has no attribute `j`" in at.until("lode> ")
        at.type("retrieve (x = count(a.i));\n")
        assert "1 row" in at.until("lode> ")
        at.type("range of b is n range of c is n range of d is n range of e is n;\n")
        at.until("lode> ")
        shown = ""
        while "interrupted: nothing of it is kept" not in shown:
            # Again where Ctrl-C came before the statement began: it clears the line then.
            at.type("retrieve (x = count(a.i where a.i+b.i+c.i+d.i+e.i<0));\n")
            at.until("<0));")
            at.until("\n")
            at.type("\x03")
            shown = at.until("lode> ")
        at.type("half a statement")
        at.until("half a statement")
        # The enter key wakes a readline that had not yet begun to wait when Ctrl-C came.
        at.type("\x03\n")
        at.until("lode> ")
        at.type("retrieve (y = 1);\n")
        at.until("1 row")
        at.until("lode> ")
        at.type("\\q\n")
        assert at.process.wait(timeout=60) == 0
    history = filled.folder / "state" / "loadstone" / "lode-history"
    assert "retrieve (y = 1);" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0
    with terminal(filled) as at:
        at.until("lode> ")
        at.type("\x1b[A\x1b[A\n")
        assert "1 row" in at.until("1 row")
        at.until("lode> ")
        at.type("\x04")
        assert at.process.wait(timeout=60) == 0
    with Database(filled.folder / "a.lode", "open") as database:
        assert database.recovery is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("is_at_work", [True, False])
def test_a_signal_to_end_ends_the_session_and_its_statement(
    filled: Desk, number: signal.Signals, is_at_work: bool
):
    """Ctrl-C ends a statement alone."""
    with terminal(filled) as at:
        at.until("lode> ")
        if is_at_work:
            at.type("range of a is n range of b is n range of c is n range of d is n;\n")
            at.until("lode> ")
            at.type("delete a where a.i + b.i + c.i + d.i < 0;\n")
            at.until("< 0;")
            at.until("\n")
        # Again where it came before readline had begun to wait, which then does not wake.
        for _ in range(60):
            at.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                at.process.wait(timeout=1)
                break
        assert at.process.returncode == Exit.INTERRUPTED
    with Database(filled.folder / "a.lode", "open") as database:
        assert database.recovery is None
        count = "range of a is n retrieve (x = count(a.i))"
        assert database.query(count).fetch() == [(1022,)]


def test_without_a_folder_for_the_user_there_is_no_history(desk: Desk, tmp_path: Path):
    del tmp_path
    (desk.folder / "state").write_text("in the way")
    with terminal(desk) as at:
        at.until("lode> ")
        at.type("\\q\n")
        assert at.process.wait(timeout=60) == 0
