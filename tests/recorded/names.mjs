// Which of PyTorch's public names the package has; by namespace, as names.json has them.
import { readFileSync } from "node:fs";
import * as torch from "../../dist/in-node/index.js";

const { names } = JSON.parse(readFileSync(new URL("names.json", import.meta.url)));
const tensor = torch.tensor([1.5]);
const holderOf = (space) =>
  space === "torch" ? torch : space === "Tensor" ? tensor : space.split(".").reduce((holder, name) => holder?.[name], torch);

const found = {};
for (const [space, kinds] of Object.entries(names)) {
  const holder = Object(holderOf(space) ?? {});
  found[space] = Object.values(kinds)
    .flatMap((text) => text.split(" "))
    .filter((name) => name in holder);
}
console.log(JSON.stringify(found));
