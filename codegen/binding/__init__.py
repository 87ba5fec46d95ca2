"""A call's arguments against an op's signature."""
