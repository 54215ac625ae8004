"""The shares of the elapsed time that clients and servers computed."""

from loadstone.analysis.cell_summary import share_of_elapsed
from loadstone.analysis.consistency import busy
from loadstone.analysis.summary import Summary


def busy_variants(whole: Summary) -> list[tuple[str, str]]:
    """(variant, the share of the elapsed time that its client and its server computed, over all
    cells with believable counters)."""
    reported = {t.variant: t.read_back for t in whole.run.terms if t.key == "parallelism"}
    rows = []
    for variant in whole.columns:
        own = [f for f in whole.figures.values() if f.cell.variant == variant]
        client = share_of_elapsed(
            (s for f in own if f.client_cpu_share is not None for s in f.samples),
            lambda sample: sample.client_cpu_ns,
        )
        server = share_of_elapsed(
            (s for f in own if f.server_cpu_share is not None for s in f.samples),
            lambda sample: sample.server_cpu_ns,
        )
        if client is not None:
            rows.append((variant, busy(client, server, reported.get(variant))))
    return rows
