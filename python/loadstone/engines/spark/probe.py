"""Whether Spark could be started on this machine."""

from pathlib import Path

from loadstone.engines.spark.installed import java, release, spark_home
from loadstone.engines.system import Probe
from loadstone.errors import NotInstalledError

NAME = "Spark cluster"


def probe(scratch: Path) -> Probe:
    """Look for the programs; a cluster takes half a minute to start, and is not tried."""
    del scratch
    try:
        spark_home()
        found = java()
    except NotInstalledError as error:
        return Probe(NAME, False, error.message, "spark cannot be measured", error.hint)
    return Probe(NAME, True, f"Spark {release()} and {found}", "started by the first run")
