// Runs the worker over all exports and watches it: a call that lasts too long is noted, and the rest goes on in a new
// process.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const LONGEST = 20_000; // milliseconds for one call, and for a start

/**
 * `{ found, total }`: the calls `{ name, args, wrong }` that ended otherwise than in an answer or in one of the
 * package's errors, and `{ name, args, silent }`, those that took what is of no kind; and how many exports there are.
 * `every`: only each so-many-eth of them.
 */
export async function feed({ device, calls, seed, every = 1 }) {
  const found = [];
  let names = [],
    from = 0,
    total = 0;
  while (total === 0) {
    let at = from,
      args = "before the first call",
      last = Date.now();
    const what = {
      package: new URL("../../../dist/in-node/index.js", import.meta.url).href,
      device,
      calls,
      seed,
      from,
      every,
    };
    const child = fork(fileURLToPath(new URL("./worker.mjs", import.meta.url)), [JSON.stringify(what)], {
      execArgv: ["--max-old-space-size=1024"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("message", (told) => {
      last = Date.now();
      if (told.done) total = told.done;
      else if (told.names) names = told.names;
      else if (told.at !== undefined) ({ at, args } = told);
      else found.push(told);
    });
    const ended = await new Promise((resolve) => {
      const timer = setInterval(() => {
        if (Date.now() - last > LONGEST) child.kill("SIGKILL");
      }, 500);
      child.on("exit", (code, signal) => {
        clearInterval(timer);
        resolve(signal === "SIGKILL" ? "does not end" : `ends the program: ${signal ?? code}`);
      });
    });
    if (total === 0) found.push({ name: names[at] ?? "the package", args, wrong: ended });
    from = at + every;
    if (!names.length) break;
  }
  return { found, total };
}
