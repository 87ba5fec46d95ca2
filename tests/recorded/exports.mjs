// The names of all exports, for signatures.py.
import * as torch from "../../dist/in-node/index.js";
import { everything, makersOf } from "../node/garbage/exports.mjs";

console.log(JSON.stringify(everything(torch, makersOf(torch, "cpu")).map(({ name }) => name)));
