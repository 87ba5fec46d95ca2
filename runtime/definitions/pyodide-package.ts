// The package `pyodide`, which programs have or not, so that bundlers are not to look for it.

interface Loader {
  loadPyodide(options: object): Promise<import("./run-time-compiler.js").Pyodide>;
}

/** Rejects where it is not installed, in a page where no import map names it. */
export const pyodidePackage = (): Promise<Loader> => {
  const name = "pyodide";
  return import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name);
};
