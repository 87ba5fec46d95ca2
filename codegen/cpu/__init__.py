"""JavaScript kernels for the CPU, made ahead of time from `codegen.kernels.kernel`.

expr.py      scalar expressions as TypeScript
access.py    where a kernel reads and writes: positions, guards, bounds
loops.py     map, row, scan and scatter kernels: a function of plain loops
raw.py       the JavaScript of raw bodies
emit.py      all kernels of an op

How a kernel meets tensors of any rank is told by `KernelCall` in runtime/program/compiled-op.ts."""
