// The page: runs the three programs and shows what each exports.
import { by, guarded } from "../shared/page.mjs";

await guarded(async () => {
  for (const name of ["webgpu_torch", "tensorjs", "torch_js"]) {
    const { answers } = await import(`./${name}.mjs`);
    by(name).textContent = Object.entries(answers).map(([what, value]) => `${what}: ${JSON.stringify(value)}`).join("\n");
  }
  document.body.dataset.state = "done";
});
