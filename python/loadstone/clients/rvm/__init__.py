"""What the clients share for RVM's benchmark: its program."""
