"""The parent process of a run: stages, interleaved groups, the workers, what is left behind."""
