// The page: runs the three programs and shows what each exports, its numbers rounded.
import { by, guarded } from "../shared/page.mjs";

const rounded = (_, value) => (typeof value === "number" ? Number(value.toPrecision(3)) : value);
const text = (value) => JSON.stringify(value, rounded).replaceAll(",", ", ");

await guarded(async () => {
  for (const name of ["webgpu_torch", "tensorjs", "torch_js"]) {
    const { answers } = await import(`./${name}.mjs`);
    by(name).textContent = Object.entries(answers)
      .map(([what, value]) => `${what}: ${text(value)}`)
      .join("\n");
  }
  document.body.dataset.state = "done";
});
