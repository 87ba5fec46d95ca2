// torch.export.

export { ExportedModule, ExportedProgram, load, type ExportLoadOptions, type SizeRange } from "./exported-program.js";
