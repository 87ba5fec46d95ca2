"""Kernels for WebGPU: prelude.wgsl has the mathematics, the templates the loops; formulas are data/nodes.py and
planner/printed.py."""
