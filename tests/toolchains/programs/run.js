// The program outside of a page: node run.js [cpu], where `cpu` hides a WebGPU that the runtime itself has.
import { train } from "./program.js";

if (process.argv[2] === "cpu") Object.defineProperty(globalThis, "navigator", { value: undefined });
console.log(`trained ${JSON.stringify(await train())}`);
process.exit(0); // Dawn keeps the process alive otherwise
