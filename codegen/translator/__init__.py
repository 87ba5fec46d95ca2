"""Python and Jinja into TypeScript, for what both the compiler here and the package run; nothing of it is shipped.

translate.py     modules: imports, classes, functions, constants
statements.py    their statements; patterns.py: `match`
expressions.py   their expressions; sequences.py: loops and comprehensions
calls.py         calls of functions and classes; methods.py: of lists, texts, dicts, sets; builtins.py: of Python's own
modules.py       what modules define, read before any body is
inferred.py      what mypy knows of every expression
subset.py        types
python.py        the operations of Python that JavaScript lacks
template.py      templates of kernels"""
