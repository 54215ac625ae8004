"""The INGRES performance experiments of 1981: nine queries on PARTS."""
