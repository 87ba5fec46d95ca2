// What a page runs: the program under the name `program`, which a build puts in.
import { train } from "./program.js";

globalThis.trained = train().catch((error) => ({ error: String(error.stack ?? error) }));
