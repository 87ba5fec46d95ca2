// torch.export.

export {
  load,
  type ExportLoadOptions,
  type ExportedModule,
  type ExportedProgram,
  type SizeRange,
} from "./exported-program.js";
