"""A bound call to launches: strategies, and the WGSL that each writes."""
