"""The work of a run, as frozen values: variants and their roles, cells, the plan."""
