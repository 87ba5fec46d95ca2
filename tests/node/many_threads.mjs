// A setting for tests, imported first: three threads, which share out whatever kernels they can.
import * as torch from "../../dist/index.js";
import { sharing } from "../../dist/runtime/devices/cpu/threads.js";

torch.set_num_threads(3);
Object.assign(sharing, { part: 1, worth: 0 });
const older = !process.getBuiltinModule; // Node before 20.16, which has no threads here
for (let tries = 0; !older && !sharing.kernels && tries < 500; tries++) {
  torch.ones([64]).mul(2).dispose();
  await new Promise((done) => setTimeout(done, 20));
}
if (!older && !sharing.kernels) throw new Error("no thread began");
