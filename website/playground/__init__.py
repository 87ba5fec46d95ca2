"""The playground: a page in which one writes a program, and the data that it loads beside the site's scripts.

    pages.py        the page, its example programs (examples/), and what completion knows of the package
The page's scripts are scripts/playground*.mjs and scripts/playground/; its style is styles/playground.css."""
