// Imported for what it does: `load_state_dict` of modules takes files, too.

import { contentOf } from "../files/load.js";
import { setReader } from "./state.js";

setReader((file, options) => contentOf(file, options, "load_state_dict"));
