"""Gradient programs from loop programs, and what they keep of a call."""
