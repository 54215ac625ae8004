"""Continuous integration runs every test: what `make check` leaves out is left out nowhere else.
And no test of a check meets a stale core.

For the core of a check: `make develop` comes first, always; Cargo decides what is stale, and the
old build is gone before. Whatever imports the core is then told where the new one lies, before the
installed wheel; and all that it starts finds the same.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ON_THE_CORE = re.compile(r"-m (pytest|mypy\.stubtest)\b|selfbench/\w+\.py|/loadstone run")
"""Commands that import the core."""
ON_DEVELOPED = ("check", "fast", "types", "chance")
ON_THE_WHEEL = ("run", "test", "bench", "calibrate")
FILE = "import loadstone._core; print(loadstone._core.__file__)"


def recipe(makefile: str, target: str) -> list[str]:
    """The commands of a target."""
    found = re.search(rf"^{target}:[^\n]*\n((?:\t[^\n]*\n)+)", makefile, re.MULTILINE)
    return found[1].strip().split("\n\t") if found else []


def left_out(texts: Mapping[str, str]) -> list[str]:
    complaints = []
    commands = recipe(texts["Makefile"], "test")
    every = "PROPTEST_RNG_SEED=1983 cargo test --workspace --locked --quiet"
    if every not in commands:
        complaints.append("`make test` does not run all tests in Rust")
    chosen = re.compile(r"-m pytest(?: \$\(SIDE_BY_SIDE\))?$")
    if not any(chosen.search(command) for command in commands):
        complaints.append("`make test` does not run all tests in Python")
    if not re.search(r"^make test$", texts[".ci/run"], re.MULTILINE):
        complaints.append(".ci/run does not run `make test`")
    return complaints


def skipped_in_vain(texts: Mapping[str, str]) -> list[str]:
    """The names by which a check skips slow tests in Rust and which no test has, module by module:
    a renamed test would come back unseen."""
    named = re.search(r"^SLOW_IN_RUST := ((?:.*\\\n)*.*)$", texts["Makefile"], re.MULTILINE)
    assert named is not None
    rust = "\n".join(text for path, text in texts.items() if path.endswith(".rs"))
    return [
        name
        for name in named[1].replace("\\\n", " ").split()
        if not re.search(rf"\bfn {re.escape(name.split('::')[-1])}", rust)
        or not all(re.search(rf"\bmod {module}\b", rust) for module in name.split("::")[:-1])
    ]


def commands_of(folder: Path, makefile: str, target: str) -> list[str]:
    """The commands that `make` would execute for a target, in its order, of sources that have just
    changed."""
    (folder / "Makefile").write_text(makefile)
    for source in ("crates/a/src/lib.rs", "python/loadstone/a.py", ".venv/.base", ".venv/.tools"):
        (folder / source).parent.mkdir(parents=True, exist_ok=True)
        (folder / source).touch()
    for found in ("pyproject.toml", "Cargo.toml", "Cargo.lock", "requirements.lock",
                  "requirements-dev.lock"):  # fmt: skip
        (folder / found).touch()
    os.utime(folder / "requirements.lock", (0, 0))
    os.utime(folder / "requirements-dev.lock", (0, 0))
    # Not what a `make` that runs these tests hands on.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", target],
        cwd=folder, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.replace("\\\n", " ").splitlines()


def stale(folder: Path, makefile: str, target: str) -> list[str]:
    """The commands of a target that could meet a core that is not of the sources as they are."""
    commands = commands_of(folder, makefile, target)
    developed = f"PYTHONPATH={folder}/target/developed "
    built = [at for at, command in enumerate(commands) if "--profile develop" in command]
    complaints = []
    for at, command in enumerate(commands):
        if not ON_THE_CORE.search(command):
            continue
        if target in ON_THE_WHEEL and (built or developed in command):
            complaints.append(f"`make {target}` does not use the wheel: {command}")
        elif target in ON_DEVELOPED and not command.startswith(developed):
            complaints.append(f"`make {target}` may use the installed wheel: {command}")
        elif target in ON_DEVELOPED and not (built and built[0] < at):
            complaints.append(f"`make {target}` builds no core before it runs {command}")
    if built and not any("rm -rf target/developed" in command for command in commands[: built[0]]):
        complaints.append(f"`make {target}` keeps an old core where the build fails")
    return complaints


def test_continuous_integration_runs_every_test(texts):
    assert left_out(texts) == []


def test_each_slow_test_in_rust_is_there(texts):
    assert skipped_in_vain(texts) == []
    planted = {"Makefile": "SLOW_IN_RUST := a_flip \\\n  kills::gone\n", "a.rs": "fn a_flip() {}"}
    assert skipped_in_vain(planted) == ["kills::gone"]


@pytest.mark.parametrize("target", [*ON_DEVELOPED, *ON_THE_WHEEL])
def test_no_target_meets_a_stale_core(texts, tmp_path, target):
    assert any(map(ON_THE_CORE.search, commands_of(tmp_path, texts["Makefile"], target)))
    assert stale(tmp_path, texts["Makefile"], target) == []
    # Nor once it is built: nothing but Cargo knows what is stale.
    for made in ("target/developed", "develop", ".venv/.installed"):
        (tmp_path / made).mkdir(parents=True, exist_ok=True)
    assert stale(tmp_path, texts["Makefile"], target) == []


def test_all_that_a_test_starts_has_the_core_of_the_test(tmp_path):
    from loadstone import _core

    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {FILE!r}])"
    found = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True,
                           text=True, check=True)  # fmt: skip
    assert found.stdout.strip() == _core.__file__


def test_the_folder_that_is_named_comes_before_what_is_installed(tmp_path):
    (tmp_path / "loadstone").mkdir()
    (tmp_path / "loadstone/__init__.py").touch()
    (tmp_path / "loadstone/_core.py").touch()
    found = subprocess.run([sys.executable, "-c", FILE], capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONPATH": str(tmp_path)})  # fmt: skip
    assert found.stdout.strip() == str(tmp_path / "loadstone/_core.py")


ALL = (
    "test: .done ## all\n\tPROPTEST_RNG_SEED=1983 cargo test --workspace --locked --quiet\n"
    "\tpython -m pytest $(SIDE_BY_SIDE)\n\n"
)


@pytest.mark.parametrize(
    ("makefile", "script", "reported"),
    [
        (ALL.replace("SIDE)\n", 'SIDE) -m "not slow"\n'), "make test\n", "all tests in Python"),
        (ALL.replace("SIDE)\n", "SIDE) --prepared\n"), "make test\n", "all tests in Python"),
        (ALL.replace("--workspace", "-p lode"), "make test\n", "all tests in Rust"),
        (ALL.replace("--quiet\n", "--quiet --lib\n"), "make test\n", "all tests in Rust"),
        (ALL.replace("1983 ", "1983 $(FEWER) "), "make test\n", "all tests in Rust"),
        (ALL, "make check\n", ".ci/run"),
    ],
)
def test_a_missing_step_is_seen(makefile, script, reported):
    (complaint,) = left_out({"Makefile": makefile, ".ci/run": script})
    assert reported in complaint
    assert left_out({"Makefile": ALL, ".ci/run": "make test\n"}) == []


@pytest.mark.parametrize(
    ("target", "was", "now", "reported"),
    [
        ("fast", "fast: develop", "fast:", "builds no core"),
        ("check", "types: develop", "types: $(VENV)/.installed", "builds no core"),
        ("fast", "$(WITH_DEVELOPED) ", "", "may use the installed wheel"),
        ("chance", "$(WITH_DEVELOPED) ", "", "may use the installed wheel"),
        ("check", " develop ", " ", "builds no core"),  # of what is phony
        ("fast", "rm -rf $(DEVELOPED)", "true", "keeps an old core"),
        ("bench", "bench: $(VENV)/.installed", "bench: develop", "does not use the wheel"),
    ],
)
def test_a_core_that_may_be_stale_is_seen(texts, tmp_path, target, was, now, reported):
    makefile = texts["Makefile"]
    assert was in makefile
    (tmp_path / "develop").touch()
    complaints = stale(tmp_path, makefile.replace(was, now), target)
    assert complaints
    assert reported in complaints[0]
