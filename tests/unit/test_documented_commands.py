"""Every command that a document shows does what it says: here, that each `run` is a plan, and each
of the others is understood as far as it can be without what it works on."""

import re
import shlex
import shutil
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from workload_fixture import made, slowdown_of_duckdb

from loadstone import registry
from loadstone.cli import app

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`(loadstone [^`\n]+)`(?!`)")


def shown(word: str) -> list[list[str]]:
    """The words of every command of that name in the documents, comments left out."""
    found = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        # As a shell reads it: a command may go on in the next line.
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
        for line in [*lines, *SPAN.findall(BLOCK.sub("", text))]:
            words = shlex.split(line, comments=True)
            if words[:2] == ["loadstone", word]:
                found[" ".join(words)] = words[1:]
    return list(found.values())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds what the documents' commands name."""
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "words", [w for w in shown("run") if "--resume" not in w and w != ["run", "RUN"]], ids=" ".join
)
def test_each_run_is_a_plan(words, capsys):
    if any("spark" in word or word.startswith("sc://") for word in words):
        pytest.importorskip("pyspark", reason="a plan for Spark asks the installed one what it has")
    for extra in {"turso", "chdb"} & set(words):
        pytest.importorskip(extra, reason=f"{extra} is an extra")
        if extra not in registry.engine_names():
            pytest.skip("the installed build is of before it")
    if any(word.startswith("mariadb") for word in words):
        server = shutil.which("mariadbd")
        if server is None:
            pytest.skip("a plan for MariaDB asks the installed server what it has")
        words = [word.replace("@/opt/mariadb/bin", f"@{Path(server).parent}") for word in words]
    assert not app([*words, *(["--dry-run"] if "--dry-run" not in words else [])],
                   standalone_mode=False)  # fmt: skip
    planned = capsys.readouterr().out.splitlines()
    assert re.search(r"[1-9]\d* cells", planned[-1])
    for at, word in enumerate(words):
        if word == "--on" and "://" not in words[at + 1]:
            assert any(words[at + 1] in line for line in planned[1:])
        if word in ("--operation", "--edition"):
            assert any(fnmatchcase(line, f"*{words[at + 1]}*") for line in planned)


WORKFLOW = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def of_workflows() -> list[list[str]]:
    """The words of each `loadstone ab` in the documents' workflows, without where its output
    goes."""
    text = (ROOT / "docs/how-to/ci.md").read_text(encoding="utf-8")
    joined = "\n".join(WORKFLOW.findall(text)).replace("\\\n", " ").replace("$PWD", "/opt")
    lines = [line.strip().partition(">>")[0] for line in joined.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("loadstone ab")]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "words", [w for w in (*shown("ab"), *of_workflows()) if len(w) > 1], ids=" ".join
)
def test_each_change_is_a_plan_of_both_sides(words, monkeypatch, capsys):
    monkeypatch.setattr(Path, "is_dir", lambda self: True)  # of the build that an example names
    assert not app([*words, "--dry-run"], standalone_mode=False)
    planned = capsys.readouterr().out
    for at, word in enumerate(words):
        if word in ("--before", "--after"):
            engine, _, tactics = words[at + 1].partition("?")
            assert engine in planned and tactics.partition("=")[0] in planned


@pytest.mark.parametrize(
    "words", [w for w in shown("bisect") if len(w) > 2 and ".." in w[2]], ids=" ".join
)
def test_each_search_is_a_plan_of_releases(words, place: Path, monkeypatch, capsys):
    first, _, last = words[2].partition("..")
    monkeypatch.setattr("loadstone.run.releases.releases_of", lambda engine: (first, last))
    (place / "query.sql").write_text("SELECT count(*) FROM a JOIN b USING (x)")
    for name in "ab":
        (place / f"{name}.csv").write_text("x\n1\n")
    slowdown_of_duckdb(place)
    words = [word.replace(".parquet", ".csv") for word in words]
    assert not app([*words, "--dry-run"], standalone_mode=False)
    planned = capsys.readouterr().out
    assert f"{words[1]}@{first} " in planned and f"{words[1]}@{last} " in planned


def test_documents_show_a_workflow():
    assert len(of_workflows()) == 1 and len(shown("ab")) > 1


def test_documents_show_runs():
    assert len(shown("run")) > 10
