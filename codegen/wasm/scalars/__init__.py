"""Formulas of numbers as instructions."""
