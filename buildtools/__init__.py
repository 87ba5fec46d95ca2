"""Everything around the compiler: the environment, the package's assembly, the checks and the reports.

`environment` makes `.venv` and `node_modules` (standard library only: it runs before either exists),
`node` finds Node, `gpu` a WebGPU that works here, `browser` a headless Chromium, `package` turns the
definitions into `dist/`, `showcase` trains a network with it, `explain`, `watch`, `ledger` and
`conformance` are the commands of the same names.  None of it is needed by a user of the package."""
