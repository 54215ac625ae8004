"""The record's tables. `docs/record.md` describes them in words; a test compares the two."""

APPLICATION_ID = 0x4C6F6164  # "Load": tells a record from any other SQLite file
SCHEMA_VERSION = 4

TABLES = """
CREATE TABLE run (
  run_id TEXT NOT NULL, created_at TEXT NOT NULL, loadstone_version TEXT NOT NULL,
  plan_hash TEXT NOT NULL, plan TEXT NOT NULL, published TEXT NOT NULL
);
CREATE TABLE session (
  session_id INTEGER PRIMARY KEY, started_at TEXT NOT NULL, command TEXT NOT NULL
);
CREATE TABLE session_end (
  session_id INTEGER NOT NULL REFERENCES session, ended_at TEXT NOT NULL, outcome TEXT NOT NULL,
  elapsed_ns INTEGER NOT NULL
);
CREATE TABLE machine (
  session_id INTEGER NOT NULL REFERENCES session, key TEXT NOT NULL, value ANY
) STRICT;
CREATE TABLE calibration (
  session_id INTEGER NOT NULL REFERENCES session, key TEXT NOT NULL, value ANY
) STRICT;
CREATE TABLE term (
  session_id INTEGER NOT NULL REFERENCES session, variant TEXT NOT NULL, key TEXT NOT NULL,
  asked TEXT, read_back TEXT
);
CREATE TABLE operation (
  name TEXT NOT NULL, rows INTEGER NOT NULL, ordinal INTEGER NOT NULL, title TEXT NOT NULL,
  query_group TEXT NOT NULL, query TEXT NOT NULL, design TEXT NOT NULL, storage TEXT NOT NULL,
  destination TEXT NOT NULL, quel TEXT NOT NULL
);
CREATE TABLE structure_note (
  variant TEXT NOT NULL, storage TEXT NOT NULL, note TEXT NOT NULL
);
CREATE TABLE load (
  session_id INTEGER NOT NULL REFERENCES session, variant TEXT NOT NULL, rows INTEGER NOT NULL,
  relation TEXT NOT NULL, design TEXT NOT NULL, tuples INTEGER NOT NULL,
  elapsed_ns INTEGER NOT NULL, answer_ok INTEGER NOT NULL
);
CREATE TABLE size (
  session_id INTEGER NOT NULL REFERENCES session, variant TEXT NOT NULL, rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL
);
CREATE TABLE cell (
  cell_id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL REFERENCES session,
  operation TEXT NOT NULL, variant TEXT NOT NULL, rows INTEGER NOT NULL,
  temperature TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, ended_at TEXT NOT NULL
);
CREATE TABLE sample (
  cell_id INTEGER NOT NULL REFERENCES cell, ordinal INTEGER NOT NULL, round INTEGER NOT NULL,
  variation INTEGER NOT NULL, started_ns INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,
  client_cpu_ns INTEGER, server_cpu_ns INTEGER, read_bytes INTEGER, written_bytes INTEGER,
  commit_ns INTEGER
);
CREATE TABLE answer (
  cell_id INTEGER NOT NULL REFERENCES cell, ordinal INTEGER NOT NULL, variation INTEGER NOT NULL,
  expected_rows INTEGER NOT NULL, expected_checksum TEXT NOT NULL,
  rows INTEGER NOT NULL, checksum TEXT NOT NULL
);
CREATE TABLE evidence (
  cell_id INTEGER NOT NULL REFERENCES cell, ordinal INTEGER NOT NULL, proved INTEGER NOT NULL,
  reason TEXT NOT NULL, method TEXT NOT NULL, files INTEGER NOT NULL, bytes INTEGER NOT NULL,
  resident_before INTEGER, resident_after INTEGER, engine_dead INTEGER NOT NULL
);
CREATE TABLE condition (
  cell_id INTEGER NOT NULL REFERENCES cell, stolen_share REAL, foreign_share REAL,
  speed_drift REAL, yardstick_ns REAL
);
CREATE TABLE disturbance (
  cell_id INTEGER NOT NULL REFERENCES cell, worked_share REAL, low_factor REAL NOT NULL,
  high_factor REAL NOT NULL
);
CREATE TABLE statement (
  cell_id INTEGER NOT NULL REFERENCES cell, variation INTEGER NOT NULL, text TEXT NOT NULL,
  plan TEXT NOT NULL, access TEXT
);
CREATE TABLE users (
  session_id INTEGER NOT NULL REFERENCES session, operation TEXT NOT NULL, variant TEXT NOT NULL,
  rows INTEGER NOT NULL, host TEXT NOT NULL, model TEXT NOT NULL, users INTEGER NOT NULL,
  rate_per_s REAL, elapsed_ns INTEGER NOT NULL, completed INTEGER NOT NULL,
  failed INTEGER NOT NULL, late INTEGER NOT NULL, skipped INTEGER NOT NULL,
  client_cpu_ns INTEGER, server_cpu_ns INTEGER, latency_ns TEXT NOT NULL, lag_ns TEXT NOT NULL,
  service_ns TEXT NOT NULL, histogram BLOB NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE TABLE event (
  session_id INTEGER NOT NULL REFERENCES session, at TEXT NOT NULL, kind TEXT NOT NULL,
  variant TEXT NOT NULL, message TEXT NOT NULL
);
"""
