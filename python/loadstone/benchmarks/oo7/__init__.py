"""OO7, the object database benchmark (Carey, DeWitt and Naughton, SIGMOD 1993)."""
