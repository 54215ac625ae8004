"""What a run is to measure, as frozen values: variants and their roles, cells, the plan."""
