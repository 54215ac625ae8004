"""The machine: its facts, page cache, counters, conditions, wake-up. Linux only."""
