// The compiler: the wheel that `build.py wheel` makes, run by Pyodide, all from the site's own files.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = (name) => new URL(`./pyodide/${name}`, import.meta.url);
const bytes = async (name) => (await fetch(here(name))).arrayBuffer();

async function compiler() {
  const archives = (await (await fetch(here("compiler.json"))).json()).map(bytes);
  const python = await loadPyodide({ indexURL: here("").href });
  for (const archive of archives) python.unpackArchive(await archive, "zip");
  postMessage({ state: "loading the compiler" });
  return python.pyimport("workbench.playground").answer;
}

const ready = compiler();
self.onmessage = async ({ data: { id, request } }) => {
  try {
    const answer = await ready;
    postMessage({ id, page: JSON.parse(answer(JSON.stringify(request))) });
  } catch (error) {
    postMessage({ id, failed: String(error?.message ?? error) });
  }
};
ready.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: `the compiler cannot be loaded: ${error?.message ?? error}` }),
);
