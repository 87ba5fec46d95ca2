// The compiler: the archive that `tensorloom/op` loads, too, run by Pyodide, all from the site's own files.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = (name) => new URL(`./pyodide/${name}`, import.meta.url);

async function compiler() {
  const archive = fetch(here("compiler.zip")).then((response) => response.arrayBuffer()),
    python = await loadPyodide({ indexURL: here("").href });
  postMessage({ state: "loading the compiler" });
  python.unpackArchive(await archive, "zip");
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
