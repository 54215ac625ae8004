"""DuckDB: the engine, and the settings that engine and client share."""
