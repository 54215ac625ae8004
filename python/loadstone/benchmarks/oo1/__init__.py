"""OO1, the engineering database benchmark (Cattell and Skeen, TODS 17(1), 1992)."""
