"""RVM's own benchmark, like TPC-A, as Rhino runs it (Saito and Bershad, USENIX 1998)."""
