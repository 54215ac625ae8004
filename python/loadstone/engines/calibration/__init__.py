"""Artificial engines of known behaviour: what the instrument is calibrated with."""
