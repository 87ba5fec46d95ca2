// Whether what a compiler made fits this package.

import { compiled } from "../../ops/data/complete.js";
import { VERSION } from "../../version.js";

const numbers = (version: string): number[] => version.split("-")[0]!.split(".").map(Number);

/** What makes ops of the data that a compiler of this version wrote.  Throws if this package is not one for it. */
export function compiledBy(version: string): typeof compiled {
  const made = numbers(version),
    here = numbers(VERSION),
    differ = made.findIndex((n, i) => n !== here[i]);
  if (differ >= 0 && (differ <= (made[0] ? 0 : 1) || made[differ]! > here[differ]!))
    throw new Error(
      `ops compiled by tensorloom ${version} do not run with tensorloom ${VERSION}: compile them again ` +
        `(pip install tensorloom==${VERSION}, tensorloom build), or install the package that they were made for ` +
        `(npm install tensorloom@${version})`,
    );
  return compiled;
}
