"""Trying definitions out: small random instances, tests, reads outside, slopes."""
