"""The papers: one folder each, over the contract in `base`."""
