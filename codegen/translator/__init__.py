"""Python and Jinja into TypeScript, for what both the compiler here and the package run; nothing of it is shipped.

translate.py     modules: imports, classes, constants; writer.py: functions and blocks
statements.py    their statements; assignments.py; patterns.py: `match`; bindings.py: which names they read and bind
expressions.py   their expressions; operators.py; sequences.py: loops and comprehensions; typed.py: what all forms need
calls.py         calls of functions and classes; methods.py: of lists, texts, dicts, sets; builtins.py: of Python's own
modules.py       what modules define, read before any body is; definitions.py: a class, a function
inferred.py      what mypy knows of every expression
subset.py        types; precedence.py: how strongly JavaScript's operators bind
python.py        the operations of Python that JavaScript lacks
template.py      templates of kernels; template_expressions.py: their expressions"""
