"""Python and Jinja into TypeScript, for what both the compiler here and the package run; nothing of it is shipped.

translate.py     modules: imports, classes, functions, constants
statements.py    their statements
expressions.py   their expressions
calls.py         calls of functions, methods and classes
subset.py        the types that annotations may say
template.py      templates of kernels"""
