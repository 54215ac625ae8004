"""The INGRES queries to their readers: what today's figures are of."""

from loadstone.plan.presentation import Presentation

PRESENTATION = Presentation(
    title="INGRES",
    basis="The paper ran each query from a terminal, one user, on relations that Unix may have had "
    "in memory: Table 8 counts its reads. Times are of the whole command, parsing included; the "
    "CPU times of its Tables 2, 6 and 9 stand beside elapsed times of today. A query's rows go to "
    "a file, here and there.",
)
