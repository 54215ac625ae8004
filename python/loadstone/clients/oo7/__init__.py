"""What the clients share for OO7: its program."""
