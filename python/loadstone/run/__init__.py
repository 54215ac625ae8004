"""The parent process of a run: stages, interleaved groups, workers, leftovers."""
