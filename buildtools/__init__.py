"""Everything around the compiler: the environment, the package's assembly, the checks and the reports.

`environment` makes `.venv` and `node_modules` (standard library only: it runs before either exists),
`node` finds Node, `gpu` a WebGPU that works here, `browser` a headless Chromium,
`package` turns ops/ into `dist/`, `showcase` trains a network with it, `reports` are the committed ones,
`conformance` replays PyTorch's answers.  None of it is needed by a user of the package."""
