"""The package's sources: typed functions, names, op data, entries."""
