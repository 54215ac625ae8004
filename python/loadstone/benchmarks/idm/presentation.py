"""The IDM tests to their readers: what today's figures are of."""

from loadstone.plan.presentation import Presentation

PRESENTATION = Presentation(
    title="IDM",
    basis="The IDM was a machine of its own, reached through a serial line. Its times of tests 2, "
    "5 and 11 are those inside the machine: parsing on the client's computer and the line are not "
    "in them. Test 2 had its data on disk, test 5 in memory or on disk as its rows say, test 11 in "
    "memory. Today's times are of the whole call.",
)
