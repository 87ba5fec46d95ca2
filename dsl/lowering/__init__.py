"""Checked syntax trees to loop programs (dsl/ir)."""
