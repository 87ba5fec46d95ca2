"""How kernels are run on a GPU: the strategies of codegen/planner/strategy.py, each in a file of its name."""
