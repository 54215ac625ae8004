"""Errors reported to a user who mistypes: in the words of the command line, and what to do
instead."""

import pytest
from desk import Desk


@pytest.mark.parametrize(
    ("arguments", "reported", "never"),
    [
        (("run", "--repeat", "x"), "'--repeat': no whole number", "Input should be"),
        (("run", "--repeat", "0"), "--repeat must be between 1 and 100,000, not 0", "command line"),
        (("run", "--rate", "-1"), "--rate must be more than 0", "rate_per_s"),
        (("run", "--time-limit", "0"), "--time-limit must be more than 0", "time_limit_s"),
        (("run", "--loop-seconds", "0"), "--loop-seconds must be more than 0", "loop_s"),
        (
            ("run", "--temperature", "luke"),
            "--temperature must be one of warm, cold, hot",
            "command",
        ),
        (
            ("run", "--budget", "--temperature", "cold"),
            "this plan has none\n  add --temperature warm, or leave out --budget",
            "Traceback",
        ),
        (("run", "--operation", "slect-1%"), "did you mean select-1%-heap", "known:"),
        (("run", "--on", "lmdb"), "this benchmark needs statements", "there is no engine"),
        (("run", "oo1", "--on", "fixed"), "needs a client program", "there is no engine"),
        (("doctor", "--format", "xml"), "'xml' is not one of", "Value error"),
        (("run", "--bogus"), "did you mean --", "Possible options"),
        (("quel", "range of t is nope retrieve (t.x)"), "it has onektup", "there are no relations"),
    ],
)
def test_an_error_speaks_the_user_s_language(desk: Desk, arguments, reported, never):
    done = desk.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert reported in done.stderr
    assert never not in done.stderr


def test_a_record_that_exists_is_reported_before_anything_is_started(desk: Desk):
    desk.record.write_bytes(b"something")
    done = desk.run("run", "--quick", "--record", "r.loadstone")
    assert done.returncode == 4
    assert done.stderr.startswith("loadstone: r.loadstone exists already")
    assert not desk.scratch.exists()
