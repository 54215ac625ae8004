"""Systems under test: one file each, all behind the contract in `base`."""
