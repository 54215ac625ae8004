"""A workload of the user's own: its files, its statements in each engine's SQL, and answers by
agreement between engines."""
