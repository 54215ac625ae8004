"""Whatever is typed, and wherever output goes: a message and a code, never a traceback."""

import subprocess
from pathlib import Path

import pytest
from desk import COMMAND, Desk

DRY = ("run", "--dry-run")


def nested(depth: int) -> str:
    aggregate = "count(" * depth + "t.unique1" + ")" * depth
    return f"range of t is tenktup1 retrieve (x = {aggregate})"


@pytest.mark.parametrize(("arguments", "message"), [
    (("quel", "--file", "latin.quel"), "is not valid UTF-8: byte 11"),
    (("quel", "--file", "/dev/zero"), "is not a file"),
    (("quel", nested(100)), "nested 101 deep"),
    (("quel", "(" * 10_000), "nested 10,000 deep"),
    ((*DRY, "--on", "postgresql://["), "cannot read host and port"),
    ((*DRY, "--seed", str(2**64 - 1)), "--seed must be between 0 and"),
    ((*DRY, "--precision", "nan"), "--precision: 'nan' is not a percentage"),
    ((*DRY, "--precision", "0.1"), "--precision: '0.1' is not a percentage"),
    ((*DRY, "--precision", "100%"), "--precision must be at least 0"),
    ((*DRY, "--time-limit", "inf"), "--time-limit must be more than 0 and at most"),
    ((*DRY, "--repeat-seconds", "-1"), "--repeat-seconds must be between"),
    ((*DRY, "--users", "2", "--rate", "nan"), "--rate must be more than 0 and at most"),
    ((*DRY, "--rows", "1e99"), "--rows must be between 1 and"),
    ((*DRY, "--plan", "deep.toml"), "deep.toml is not a TOML file"),
    ((*DRY, "--plan", "latin.quel"), "is not valid UTF-8"),
    ((*DRY, "--plan", "/dev/zero"), "is not a file"),
    ((*DRY, "--plan", "."), "is not a file"),
    (("data", "wisconsin", "--out", "d", "--rows", "1e99"), "is larger than any of them can be"),
    (("data", "wisconsin", "--out", "d", "--seed", str(2**64)), "is larger than any"),
])  # fmt: skip
def test_a_meaningless_option_is_refused_in_words(desk: Desk, arguments, message):
    (desk.folder / "latin.quel").write_bytes(b"retrieve (\xff)")
    (desk.folder / "deep.toml").write_text("a = " + "[" * 5000 + "]" * 5000)
    refused = desk.run(*arguments)
    assert refused.returncode == 2, refused
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(("redirected", "code", "reported"), [
    ("benchmarks > /dev/full", 2, "cannot write the output: No space left on device"),
    ("benchmarks wisconsin > /dev/full 2> /dev/full", 2, ""),
    ("benchmarks 2> /dev/full", 0, ""),
    ("run --rows x 2> /dev/full", 2, ""),
    ("report nothing 2> /dev/full", 4, ""),
    ("report nothing 2>&-", 4, ""),
    ("benchmarks >&-", 2, "standard output (descriptor 1) is closed"),
    ("benchmarks >&-", 2, "loadstone … > FILE"),
    ("benchmarks <&-", 0, ""),
    ("quel - <&-", 2, "standard input (descriptor 0) is closed"),
    ("quel - <&- >&-", 2, ""),
    ("quel - <&- >&- 2>&-", 2, ""),
    ("quel \"$(printf '\\377')\"", 2, "is not valid UTF-8"),
    ("report \"$(printf '\\033]0;x\\007')\"", 4, "\u241b]0;x\u2407"),
    ("benchmarks wisconsin >&- 2>&-", 2, ""),
])  # fmt: skip
def test_the_exit_code_is_the_commands_wherever_its_output_goes(
    desk: Desk, redirected: str, code: int, reported: str
):
    script = f'"$0" -m loadstone {redirected}'
    ended = subprocess.run(["sh", "-c", script, COMMAND[0]], cwd=desk.folder, env=desk.environment,
                           capture_output=True, text=True, timeout=100, check=False)  # fmt: skip
    assert ended.returncode == code, ended
    assert reported in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("place", ["LC_ALL=C", "PYTHONIOENCODING=ascii"])
def test_letters_that_an_output_does_not_know_are_written_otherwise(desk: Desk, place: str):
    name, _, value = place.partition("=")
    shown = desk.run("benchmarks", "wisconsin", **{name: value, "PYTHONUTF8": "0"})
    assert shown.returncode == 0, shown.stderr


def test_a_pipe_is_no_plan(desk: Desk):
    import os

    os.mkfifo(desk.folder / "fifo")
    refused = desk.run(*DRY, "--plan", "fifo")
    assert (refused.returncode, Path("fifo").name in refused.stderr) == (2, True)
