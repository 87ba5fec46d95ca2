// A setting for tests, imported first: an engine, or a page, that has no WebAssembly.
delete globalThis.WebAssembly;
