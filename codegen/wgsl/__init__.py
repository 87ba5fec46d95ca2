"""Kernels for WebGPU: prelude.wgsl has the mathematics, the templates the loops; formulas are host/nodes.py and
host/printed.py."""
