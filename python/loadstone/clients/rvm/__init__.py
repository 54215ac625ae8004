"""The part that clients share for RVM's benchmark: its program."""
