// Vite: `build` makes out/ of index.html; `dev PORT` serves it until the standard input ends.  Any warning is an error.
import { build, createLogger, createServer } from "vite";

const [what, port] = process.argv.slice(2),
  said = [],
  customLogger = createLogger("warn");
for (const level of ["warn", "warnOnce", "error"])
  customLogger[level] = (text) => {
    said.push(text);
  };
const shared = { base: "./", customLogger, clearScreen: false };
if (what === "build") await build({ ...shared, build: { outDir: "out", chunkSizeWarningLimit: 1e6 } });
else {
  const server = await createServer({ ...shared, server: { host: "127.0.0.1", port: Number(port), strictPort: true } });
  await server.listen();
  console.log("ready");
  for await (const _ of process.stdin);
  await server.close();
}
if (said.length) console.error(said.join("\n"));
process.exit(said.length ? 1 : 0);
