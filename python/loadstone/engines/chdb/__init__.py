"""chDB: ClickHouse in the worker's own process."""
