"""Whether a definition means something: names, signatures, indices, calls, before anything is lowered."""
