"""Programs to kernels: which statements share one, and its formulas as nodes."""
