// torch.onnx.export: what a function or module computes for some arguments, as an ONNX model.

import { OpError, TypeMismatchError, describe } from "../../base/errors.js";
import { isOptions, taken } from "../../base/named-arguments.js";
import { capturedModel } from "../../exchange/captured-model.js";
import { type Target, writeTo } from "../../files/target.js";
import { Tensor } from "../../tensor/tensor.js";
import { writeModel } from "../model-writer.js";
import { modelOf } from "./program.js";

export interface OnnxExportOptions {
  /** What is given by name, which comes after `args` in an object. */
  kwargs?: Readonly<Record<string, unknown>> | null;
  /** Names of the inputs and outputs, in order; others are called "input", "output_0". */
  input_names?: readonly string[] | null;
  output_names?: readonly string[] | null;
  /** The version of the standard's operators, 18 to 24; 20 unless told otherwise. */
  opset_version?: number | null;
}

/** An ONNX model in memory. */
export class ONNXProgram {
  constructor(
    /** The file's bytes. */
    readonly model_proto: Uint8Array,
  ) {}

  /** Writes the file: to a path in Node, a WritableStream, or the handle of a file in a page. */
  async save(destination: Target): Promise<void> {
    [destination] = taken("save destination", arguments) as [Target];
    const { model_proto } = this;
    await writeTo(
      destination,
      (async function* (): AsyncGenerator<Uint8Array> {
        yield model_proto;
      })(),
      "onnx.export",
    );
  }
}

const OLDEST = 18,
  NEWEST = 24,
  USUAL = 20;

const isTarget = (f: unknown): boolean =>
  typeof f === "string" || f instanceof URL || (typeof f === "object" && f !== null && !isOptions(f));

/**
 * The ONNX model of what `model` computes for `args`: a module, a function, one that torch.compile answered, or a program
 * of torch.export or torch.onnx.load.  Sizes are those of `args`, which are not computed with; weights are the file's
 * initializers under their names.  Inputs are the tensors of `args` in order, outputs those of the result.  With `f` it
 * is written there, too.  Throws OpError for what ONNX has no operators for, and names it.
 */
export async function exportModel(
  model: unknown,
  args: Tensor | readonly unknown[],
  f?: Target | null,
  options?: OnnxExportOptions,
): Promise<ONNXProgram>;
export async function exportModel(...given: unknown[]): Promise<ONNXProgram> {
  const [model, args = [], f, kwargs, inputNames, outputNames, version] = taken(
    "export model args? f? * kwargs? input_names? output_names? opset_version?",
    given,
  ) as [
    unknown,
    (Tensor | readonly unknown[])?,
    (Target | null)?,
    (Record<string, unknown> | null)?,
    (readonly string[] | null)?,
    (readonly string[] | null)?,
    (number | null)?,
  ];
  const opset = version ?? USUAL;
  if (!Number.isInteger(opset) || opset < OLDEST || opset > NEWEST)
    throw new OpError(`onnx.export: opset_version must be ${OLDEST} to ${NEWEST}, got ${describe(version)}`);
  if (f !== null && f !== undefined && !isTarget(f))
    throw new TypeMismatchError(`onnx.export: argument 'f' must be a path, a stream or a handle, got ${describe(f)}`);
  if (!(args instanceof Tensor) && !Array.isArray(args))
    throw new TypeMismatchError(`onnx.export: argument 'args' must be a list of arguments, got ${describe(args)}`);
  const list = args instanceof Tensor ? [args] : [...(args as readonly unknown[])],
    captured = await capturedModel("onnx.export", model, kwargs ? [...list, kwargs] : list),
    made = new ONNXProgram(
      writeModel(modelOf({ ...captured, inputNames: inputNames ?? [], outputNames: outputNames ?? [], opset })),
    );
  if (f !== null && f !== undefined) await made.save(f);
  return made;
}
