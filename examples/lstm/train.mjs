// Trains lstm.mjs and compares each loss with PyTorch's: node examples/lstm/train.mjs [webgpu|cpu] [steps].  Needs
// dist/ (python3 build.py).
import { main } from "../in_node.mjs";
import { train } from "./lstm.mjs";

await main(train, new URL(".", import.meta.url));
