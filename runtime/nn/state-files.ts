// Imported for what it does: `load_state_dict` of modules takes files, too.

import { load } from "../files/load.js";
import { setReader } from "./state.js";

setReader(load);
