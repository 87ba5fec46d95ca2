"""Attention as few kernels: which kernels of a program are one, and its launches and those of its gradient."""
