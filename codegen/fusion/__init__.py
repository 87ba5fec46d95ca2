"""Fusion: the kernels of a captured program joined, where what one stores is all that another reads at its points.

work.py        what a step of a program launches; copies and fills as maps
pointwise.py   maps that compute each point by itself, and where their points are among another kernel's
substitute.py  formulas of one kernel among those of another
joining.py     a kernel that a map is being put into
join.py        one kernel of two: a map after what it reads, in the place of a read, or beside another
fuse.py        which steps of a program are joined, in which order
reasons.py     why two steps that a value connects are not

A joined step is an op like any other, so `planner` and `wasm` make its kernels as they make all: what it reads and
writes are slots of the op of one of its parts, the *base*, whose loops it keeps, and slots added to them. What a joined
map adds to the environment of the call has a prefix."""
