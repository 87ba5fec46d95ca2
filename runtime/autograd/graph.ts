// torch.autograd.graph: what the tape keeps for the way back.

import { callable } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import type { SavedHooks } from "../tape/node.js";
import type { Tensor } from "../tensor/tensor.js";
import { withSavedHooks } from "./saved-hooks.js";

/**
 * While `body` runs, whatever a node saves for the way back is given to `pack_hook`, and what that answers to
 * `unpack_hook` when it is needed: `with torch.autograd.graph.saved_tensors_hooks(pack, unpack)` in Python.
 */
export function saved_tensors_hooks<P, T>(
  pack_hook: (tensor: Tensor) => P,
  unpack_hook: (packed: P) => Tensor,
  body: () => T,
): T {
  [pack_hook, unpack_hook, body] = taken("saved_tensors_hooks pack_hook unpack_hook body", arguments);
  callable(pack_hook, "saved_tensors_hooks", "pack_hook");
  callable(unpack_hook, "saved_tensors_hooks", "unpack_hook");
  return withSavedHooks("saved_tensors_hooks", { pack: pack_hook, unpack: unpack_hook as SavedHooks["unpack"] }, body);
}
