// A setting for tests, imported first: an engine, or a page, that makes no WebAssembly.  Node's own `fetch` does.
delete WebAssembly.Module;
