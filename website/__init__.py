"""The documentation as a website: `build.py docs` writes it, nothing of it is typed twice.

Guides come from docs/*.md, the reference from the definitions and the package's typings, figures from bench/README.md,
reports from the committed ones.  What pages look like is in templates/ and styles/, what runs in them in scripts/.
`build.write` makes all; `navigation` says which parts the site has.  That the pages' code runs is tested elsewhere
(tests/test_documents.py)."""
