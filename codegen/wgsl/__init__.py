"""Kernels for WebGPU: emit.py prints scalars with holes, prelude.wgsl has the mathematics, the templates the loops."""
