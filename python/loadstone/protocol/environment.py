"""The environment of a worker: made, so that two callers measure the same, and not inherited.

A zone, a language, an allocator's options or a client's defaults of the caller's would reach an
engine through it, and change answers or times. What a worker takes over says where programs, its
own files and a user's server are found, and nothing of how an engine works.
"""

import fnmatch
from collections.abc import Mapping

from loadstone.text.zone import UTC

TAKEN = (
    "PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "JAVA_HOME",
    "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*", "LOADSTONE_*",
)  # fmt: skip
"""Names of variables, or patterns of them."""
OF_URL = (
    "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD", "PGPASSFILE",
    "PGSERVICE", "PGSERVICEFILE", "PGSYSCONFDIR", "PGREQUIREPEER", "PGREQUIREAUTH",
    "PGCHANNELBINDING", "PGTARGETSESSIONATTRS", "PGLOADBALANCEHOSTS", "PGCONNECT_TIMEOUT",
    "PGSSL*", "PGKRBSRVNAME", "PGGSS*", "MYSQL_PWD", "KRB5*", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""Where a user's server is, and who comes there: for a variant with a URL alone. Not PGOPTIONS,
PGTZ, PGDATESTYLE or PGGEQO."""
MADE = {"TZ": UTC, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
LEFT_OUT = (
    "TZ", "TZDIR", "LANG", "LANGUAGE", "LC_*", "PG*", "MYSQL_*", "MARIADB_*", "SQLITE_*",
    "DUCKDB_*", "MOTHERDUCK_*", "CLICKHOUSE_*", "SPARK_*", "JAVA_*", "JDK_*", "_JAVA_OPTIONS",
    "PYTHON*", "LD_*", "MALLOC_*", "*_MALLOC_CONF", "GLIBC_TUNABLES", "TCMALLOC_*", "MIMALLOC_*",
    "OMP_*", "KMP_*", "RAYON_*", "TOKIO_*", "ARROW_*", "*_NUM_THREADS",
)  # fmt: skip
"""Those that would change an engine's work: that the caller had them is recorded. Others may be
the caller's secrets already by their names."""


def made(given: Mapping[str, str], *, url: bool) -> dict[str, str]:
    """A worker's environment under a caller that has `given`; `url`: its variant names a database
    of the user's."""
    names = TAKEN + OF_URL if url else TAKEN
    taken = {name: value for name, value in given.items() if _is_any(name, names)}
    return {**taken, **MADE}


def facts(given: Mapping[str, str], *, url: bool) -> dict[str, str]:
    """The names of the caller's variables that workers get, and of those that were left out. `url`:
    some variant has a URL, so its worker also gets what finds a server."""
    taken = sorted(set(made(given, url=url)) & set(given) - {*MADE})
    out = sorted(name for name in given if _is_any(name, LEFT_OUT) and name not in taken)
    return {
        "environment.taken": ", ".join(taken) or "none",
        "environment.left_out": ", ".join(out) or "none",
    }


def _is_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
