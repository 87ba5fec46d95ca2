// torch.export.

export {
  load,
  type ExportLoadOptions,
  type ExportedModule,
  type ExportedProgram,
} from "./exported-program.js";
export type { SizeRange } from "./input-checks.js";
