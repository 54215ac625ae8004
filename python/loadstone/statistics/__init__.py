"""Numbers from numbers: estimates, paired ratios, stopping, drift, validity."""
