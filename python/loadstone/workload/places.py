"""The places in a folder that a mistyped name of a workload may mean."""

from itertools import islice
from pathlib import Path

from loadstone.text.near import nearest
from loadstone.workload.data_file import SUFFIXES

FILE = "workload.toml"
PLACES_MOST = 10_000


def near_places(name: str, folder: Path = Path()) -> list[str]:
    """The workloads in a folder, and files of a query, whose names are nearly this one, each as it
    is typed; the nearest first."""
    try:
        there = [*islice(folder.iterdir(), PLACES_MOST)]
    except OSError:
        return []
    known: dict[str, list[str]] = {}
    for path in there:
        place = f"./{path}" if folder == Path() else str(path)
        if (path / FILE).is_file():
            known.setdefault(path.name, []).append(place)
        elif path.suffix == ".toml":
            known.setdefault(path.stem, []).append(place)
        elif path.suffix == ".sql":
            known.setdefault(path.stem, []).append(f"--sql {place}")
        elif path.suffix in SUFFIXES:
            known.setdefault(path.stem, []).append(f"--sql TEXT --data {place}")
    near = nearest(Path(name).stem, known)
    return [place for each in near for place in sorted(known[each])]
