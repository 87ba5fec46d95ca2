"""The op language: from text to an op's meaning, its gradient and its numpy evaluation.  It knows no target.

`workbench.op(text or name)` makes an op a Python function."""
