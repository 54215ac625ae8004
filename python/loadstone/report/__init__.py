"""Reports: pure functions from a record to bytes, one file a format. See
docs/reference/report.md."""
