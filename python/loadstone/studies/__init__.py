"""A study: the combinations of an engine's switches that are measured, and what each switch does.

In the order of a study: `design` (which combinations), `contrasts`, `observations` and `effects`
(what their blocks say, on ln, with intervals), `steering` (what to measure next), `view` and
`details` (a record's operations x switches), `waterfall` (from one end to the other).
"""
