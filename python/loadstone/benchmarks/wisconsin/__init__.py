"""The Wisconsin benchmark: its operations, their variations, and the numbers it published."""
