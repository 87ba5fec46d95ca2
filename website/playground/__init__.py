"""The playgrounds: pages in which one writes a program, or a definition, and the data that they load beside the site's
scripts.

    pages.py        the page of programs, its examples (examples/), and what completion knows of the package
    ops.py          the page of definitions, its examples (definitions/), and the language's words
    compiler.py     the compiler that runs in that page
The pages' scripts are scripts/playground*.mjs, scripts/op_*.mjs and scripts/playground/; their style is
styles/playground.css."""
