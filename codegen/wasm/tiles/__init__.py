"""Sums of products in tiles."""
