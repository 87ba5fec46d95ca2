"""The package's TypeScript from the definitions: typed functions with documentation, data, names.

signatures.py  parameters and results as TypeScript types, overloads, options
docs.py        JSDoc: what an op does, its parameters, examples from its tests
literal.py     an op's data as an object literal
aliases.py     PyTorch's names: namespaces, overloaded names, methods
modules.py     the modules of the package from all of these, by the templates in templates/"""
