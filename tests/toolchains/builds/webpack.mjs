// webpack: page.js -> out/page.js.  Minifying the whole package takes it half a minute, which the smaller program shows
// as well.
import { resolve } from "node:path";
import webpack from "webpack";

const optimization = { minimize: process.argv[3] === "functional" };
webpack(
  {
    mode: "production",
    entry: "./page.js",
    output: { path: resolve("out"), filename: "page.js" },
    optimization,
    performance: { hints: false },
  },
  (error, stats) => {
    if (error) throw error;
    if (!stats.hasErrors() && !stats.hasWarnings()) return;
    console.error(stats.toString({ all: false, errors: true, warnings: true }));
    process.exitCode = 1;
  },
);
