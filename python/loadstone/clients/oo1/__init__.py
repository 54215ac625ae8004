"""What the clients share for OO1: its loops, its objects, its Table I."""
