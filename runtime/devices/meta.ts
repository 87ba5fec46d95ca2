// Makes the device "meta" known by its name.  Imported for what it does.

import { registerDevice } from "./device.js";
import { meta } from "./meta-device.js";

registerDevice(meta);
