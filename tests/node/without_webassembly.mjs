// node --import this: a program on an engine, or in a page, that has no WebAssembly.
delete globalThis.WebAssembly;
