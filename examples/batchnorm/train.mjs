// Trains cnn.mjs and compares each loss with PyTorch's: node examples/batchnorm/train.mjs [webgpu|cpu] [steps].  Needs
// dist/ (python3 build.py).
import { main } from "../in_node.mjs";
import { train } from "./cnn.mjs";

await main(train, new URL(".", import.meta.url));
