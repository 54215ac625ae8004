"""Encrypted sessions on servers that are somebody's: whose certificate is checked, what is refused,
and that the terms say whether a session was encrypted."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from certificates import Certificates, made_in
from engine_kinds import MARIADB_MISSING
from samples import as_rows, rows, stream, table
from user_server import UserServer, user_server

from loadstone.engines.base import Engine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.errors import LoadstoneError
from loadstone.plan.variant import parse_variant

pytestmark = [
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates"),
    pytest.mark.slow,
]
mariadb = pytest.mark.skipif(bool(MARIADB_MISSING), reason=MARIADB_MISSING or "it is there")
PROTOCOL = "TLSv1."
REQUIRED = ("require_secure_transport", "Access denied")
"""The words of MySQL to a plain session where TLS is required, and those of MariaDB 10.11."""

if not MARIADB_MISSING:
    from user_mariadb import UserMariadb, user_mariadb

    from loadstone.engines.mariadb.engine import MariadbEngine

BUILD = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), None)
"""A server with TLS, as the system's packages have it."""
Connect = Callable[[type[Engine], str], Engine]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return made_in(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def postgresql(made: Certificates) -> Iterator[UserServer]:
    if BUILD is None:
        pytest.skip("the wheel's server has no TLS, and no other is installed")
    with user_server(made, BUILD) as server:
        yield server


@pytest.fixture(scope="module")
def theirs(made: Certificates) -> "Iterator[UserMariadb]":
    with user_mariadb(**{"ssl-cert": str(made.server), "ssl-key": str(made.key)}) as server:
        yield server


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    started: list[Engine] = []

    def build(kind: type[Engine], url: str) -> Engine:
        engine = kind(parse_variant(url, frozenset(kind.capabilities.tactics)), tmp_path, "run1")
        started.append(engine)
        engine.start()
        return engine

    yield build
    for engine in started:
        engine.remove()


def refused(connect: Connect, kind: type[Engine], url: str, remedy: str) -> str:
    with pytest.raises(LoadstoneError) as caught:
        connect(kind, url)
    assert remedy in caught.value.hint
    return caught.value.message


def assert_loaded(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    assert sorted(as_rows(engine.contents("t"))) == sorted(rows())


def test_a_certificate_of_the_named_authority_is_taken_and_the_terms_say_so(
    postgresql: UserServer, made: Certificates, connect: Connect
) -> None:
    tail = f"?sslmode=verify-full&sslrootcert={made.authority}"
    engine = connect(PostgresqlEngine, postgresql.url(tail=tail))
    assert_loaded(engine)
    assert engine.terms()["encryption"].startswith(PROTOCOL)


def test_a_plain_session_says_that_it_is(postgresql: UserServer, connect: Connect) -> None:
    engine = connect(PostgresqlEngine, postgresql.url(tail="?sslmode=disable"))
    assert engine.terms()["encryption"] == "none"


def test_another_authority_is_refused(
    postgresql: UserServer, made: Certificates, connect: Connect
) -> None:
    tail = f"?sslmode=verify-full&sslrootcert={made.stranger}"
    said = refused(connect, PostgresqlEngine, postgresql.url(tail=tail), "sslrootcert")
    assert "certificate verify failed" in said


def test_a_certificate_of_another_address_is_refused(
    postgresql: UserServer, made: Certificates, connect: Connect
) -> None:
    del postgresql  # there is one with TLS
    tail = f"?sslmode=verify-full&sslrootcert={made.authority}"
    with user_server(made.of_another_address, BUILD) as server:
        url = server.url(tail=tail)
        said = refused(connect, PostgresqlEngine, url, "authority alone")
        assert "does not match" in said
        engine = connect(PostgresqlEngine, url.replace("verify-full", "verify-ca"))
        assert engine.terms()["encryption"].startswith(PROTOCOL)
        engine.remove()


def test_a_server_that_takes_encrypted_sessions_alone_says_so(
    postgresql: UserServer, connect: Connect
) -> None:
    with postgresql.owner() as owner:
        (place,) = owner.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(str(place))
        kept = rules.read_text()
        rules.write_text(re.sub(r"^(\w+)( all all 127)", r"\1ssl\2", kept, flags=re.MULTILINE))
        try:
            owner.execute("SELECT pg_reload_conf()")
            plain = postgresql.url(tail="?sslmode=disable")
            said = refused(connect, PostgresqlEngine, plain, "sslmode=disable")
            assert "no encryption" in said
            engine = connect(PostgresqlEngine, postgresql.url())
            assert engine.terms()["encryption"].startswith(PROTOCOL)
        finally:
            rules.write_text(kept)
            owner.execute("SELECT pg_reload_conf()")


@mariadb
def test_mariadbs_certificate_is_checked_and_the_terms_say_so(
    theirs: "UserMariadb", made: Certificates, connect: Connect
) -> None:
    tail = f"?ssl_ca={made.authority}&ssl_verify_cert=on&ssl_verify_identity=on"
    engine = connect(MariadbEngine, theirs.url(tail=tail))
    assert_loaded(engine)
    assert engine.terms()["encryption"].startswith(PROTOCOL)
    engine.stop()
    engine = connect(MariadbEngine, theirs.url(tail="?ssl_disabled=on"))
    assert engine.terms()["encryption"] == "none"


@mariadb
@pytest.mark.parametrize("check", ["ssl_verify_cert", "ssl_verify_identity"])
def test_mariadb_with_another_authority_is_refused(
    theirs: "UserMariadb", made: Certificates, connect: Connect, check: str
) -> None:
    url = theirs.url(tail=f"?ssl_ca={made.stranger}&{check}=on")
    said = refused(connect, MariadbEngine, url, "ssl_ca")
    assert "CERTIFICATE_VERIFY_FAILED" in said


@mariadb
def test_a_file_of_an_authority_that_cannot_be_read_is_named(
    theirs: "UserMariadb", tmp_path: Path, connect: Connect
) -> None:
    (tmp_path / "empty.pem").touch()
    for name in ("missing.pem", "empty.pem"):
        url = theirs.url(tail=f"?ssl_ca={tmp_path / name}&ssl_verify_cert=on")
        refused(connect, MariadbEngine, url, "ssl_ca")


@mariadb
def test_mariadb_that_takes_encrypted_sessions_alone_says_so(
    theirs: "UserMariadb", connect: Connect
) -> None:
    theirs.asked("SET GLOBAL require_secure_transport = ON")
    try:
        said = refused(connect, MariadbEngine, theirs.url(tail="?ssl_disabled=on"), "ssl_disabled")
        assert any(words in said for words in REQUIRED)
        assert connect(MariadbEngine, theirs.url()).terms()["encryption"].startswith(PROTOCOL)
    finally:
        theirs.asked("SET GLOBAL require_secure_transport = OFF")


@mariadb
def test_mariadb_with_a_certificate_of_another_address_is_refused(
    made: Certificates, connect: Connect
) -> None:
    shown = {"ssl-cert": str(made.of_another_address.server), "ssl-key": str(made.key)}
    with user_mariadb(**shown) as server:
        url = server.url(tail=f"?ssl_ca={made.authority}&ssl_verify_identity=on")
        said = refused(connect, MariadbEngine, url, "ssl_verify_identity")
        assert "IP address mismatch" in said
        by_authority = server.url(tail=f"?ssl_ca={made.authority}&ssl_verify_cert=on")
        engine = connect(MariadbEngine, by_authority)
        assert engine.terms()["encryption"].startswith(PROTOCOL)
        engine.remove()
