// Runs the programs of examples/seeds in Node and prints what they export as JSON: node seeds_run.mjs cpu|webgpu
// "cpu" is a machine on which nobody finds a GPU.  The programs load their files from the working directory.
const [device] = process.argv.slice(2);
if (device === "cpu")
  Object.defineProperty(globalThis, "navigator", { value: { gpu: { requestAdapter: async () => null } } });
const answers = {};
for (const name of ["webgpu_torch", "tensorjs", "torch_js"]) {
  answers[name] = (await import(new URL(`../examples/seeds/${name}.mjs`, import.meta.url))).answers;
}
console.log(JSON.stringify(answers));
process.exit(0); // Dawn keeps the process alive otherwise
