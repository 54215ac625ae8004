"""`loadstone log`: a folder of records, read and left as it was."""

import json
import shutil
from pathlib import Path

from desk import Desk

DATA = Path(__file__).parents[1] / "data"


def test_a_folder_is_reported_and_what_is_no_record_is_named(desk: Desk):
    folder = desk.folder / "runs"
    folder.mkdir()
    for name in ("a", "b"):
        shutil.copy(DATA / "wisconsin.loadstone", folder / f"{name}.loadstone")
    (folder / "broken.loadstone").write_text("no record")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = desk.run("log")
    assert done.returncode == 0, done.stderr
    assert "2 records" in done.stdout
    assert "left out" in done.stderr and "broken.loadstone" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    done = desk.run("log", "runs", "--format", "json", "--operation", "select-*")
    reported = json.loads(done.stdout)
    (left,) = reported["left_out"]
    assert left["file"] == "broken.loadstone" and "broken.loadstone" in left["reason"]
    for form in ("md", "html"):
        content = desk.run("log", "--format", form).stdout
        assert "1 file could not be read and is left out" in content
        assert "broken.loadstone" in content
    assert reported["trends"] and all(
        t["operation"].startswith("select-") for t in reported["trends"]
    )
    # The same record twice: nothing changed.
    assert all(p["change"] is None for t in reported["trends"] for p in t["points"])
    done = desk.run("log", "--format", "html", "--out", "history.html")
    assert done.stdout == "history.html\n"
    assert desk.run("log", "--format", "html", "--out", "history.html").returncode == 0
    refused = desk.run("log", "--format", "html", "--out", "runs/a.loadstone")
    assert refused.returncode == 2 and "not a Loadstone report" in refused.stderr


def test_without_records_the_next_step_is_said(desk: Desk):
    done = desk.run("log")
    assert done.returncode == 2 and "there is no folder runs" in done.stderr
    (desk.folder / "runs").mkdir()
    done = desk.run("log")
    assert done.returncode == 2 and "there is no record in runs" in done.stderr
