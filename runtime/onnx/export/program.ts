// A captured program as an ONNX graph: step by step, with the memory that steps share as values.

import { plan_cpu, zeroed } from "../../../host/plan.js";
import { OpError, describe } from "../../base/errors.js";
import { contiguousStrides, sameShape } from "../../base/shape.js";
import type { Result, RunStep, Step, View } from "../../capture/program.js";
import type { DType } from "../../elements/dtype.js";
import type { CapturedModel } from "../../exchange/captured-model.js";
import { encode } from "../../files/number-formats.js";
import type { ModelProto, ValueInfoProto } from "../model-proto.js";
import type { Message } from "../model-writer.js";
import { KernelExport } from "./kernels.js";
import { Memory, type Strides, seen } from "./memory.js";
import { BOOL, DOUBLE, GraphBuilder, INT64, TYPES, type Value, numel } from "./model.js";
import { OPERATORS, type OpCall } from "./op-writers.js";

export interface ExportPlan extends CapturedModel {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly opset: number;
}

const typeOf = (dtype: DType, op: string): number => {
  const type = TYPES[dtype];
  if (type === undefined) throw new OpError(`onnx.export: ${op} is of ${dtype}, which cannot be exported`);
  return type;
};

const infoOf = ({ name, type, shape }: Value): Message<ValueInfoProto> => ({
  name,
  type: {
    tensor_type: {
      elem_type: type,
      shape: { dim: shape.map((size) => ({ dim_value: size })) },
    },
  },
});

class ProgramExport {
  private readonly g: GraphBuilder;
  private readonly memories = new Map<number, Memory>();
  private readonly inputs: Value[] = [];
  private readonly outputs: Value[] = [];

  constructor(private readonly plan: ExportPlan) {
    this.g = new GraphBuilder(plan.opset);
  }

  model(): Message<ModelProto> {
    const { g, plan } = this;
    this.takeInputs();
    for (const step of plan.program.steps) this.step(step);
    this.result(plan.program.result);
    g.prune(this.outputs);
    return {
      ir_version: plan.opset >= 21 ? 10 : 8,
      opset_import: [{ domain: "", version: plan.opset }],
      producer_name: "tensorloom",
      graph: {
        node: g.nodes,
        name: "main",
        initializer: g.initializers,
        input: this.inputs.map(infoOf),
        output: this.outputs.map(infoOf),
      },
    };
  }

  /** Inputs, in the shapes in which they were given. */
  private takeInputs(): void {
    const { program, given, inputNames } = this.plan;
    given.forEach((x, i) => {
      const value: Value = {
        name: this.g.unique(inputNames[i] ?? (given.length === 1 ? "input" : `input_${i}`)),
        type: typeOf(x.dtype, `input ${i}`),
        shape: [...x.shape],
      };
      this.inputs.push(value);
      const first = given.findIndex((other) => other.storage === x.storage),
        held = program.values.find(({ source }) => source.kind === "input" && source.index === first);
      if (!held) return;
      let memory = this.memories.get(held.number);
      if (!memory)
        this.memories.set(held.number, (memory = new Memory(this.g, held.length, typeOf(held.dtype, `input ${i}`))));
      memory.put(x, value);
    });
  }

  /** The memory of a value, seen as elements of a type: that of the value. */
  private memory(number: number, as?: string): Memory {
    const kept = this.plan.program.values[number]!.dtype;
    if (as !== undefined && as !== kept)
      throw new OpError(`onnx.export: ${kept} is viewed as ${as}, bit by bit, which has no counterpart in ONNX`);
    let memory = this.memories.get(number);
    if (memory) return memory;
    const { dtype, length } = this.plan.program.values[number]!,
      found = this.plan.found.get(number),
      type = typeOf(dtype, "a tensor");
    let value: Value | null = null;
    if (found) {
      const { tensor } = found,
        plain =
          tensor &&
          tensor.offset === 0 &&
          tensor.numel() === length &&
          sameShape(tensor.strides, contiguousStrides(tensor.shape));
      value = this.g.weight(
        found.name,
        encode(found.elements, dtype, dtype),
        type,
        plain ? [...tensor.shape] : [length],
      );
    }
    this.memories.set(number, (memory = new Memory(this.g, length, type, value)));
    return memory;
  }

  private read({ value, ...view }: View): Value {
    const memory = this.memory(value, view.dtype),
      x = memory.all();
    return this.g.expand(seen(this.g, x, view), view.shape);
  }

  private step(step: Step): void {
    const { g } = this;
    g.place = step.kind === "run" ? step.prepared.op.op.name : step.kind;
    switch (step.kind) {
      case "fill": {
        const memory = this.memory(step.value),
          written = memory.type === BOOL || memory.type === INT64 ? memory.type : DOUBLE;
        memory.set(g.expand(g.cast(g.number(step.number, written), memory.type), [memory.length]));
        return;
      }
      case "copy": {
        const x = this.read(step.source),
          target = this.memory(step.target.value, step.target.dtype);
        target.put(step.target, g.cast(x, target.type));
        return;
      }
      case "run":
        this.run(step);
        return;
      default:
      // that memory changes, or that something is asked of it, is the host's matter
    }
  }

  private run({ prepared, slots }: RunStep): void {
    const { g } = this,
      { op } = prepared.op,
      { call, program, changes } = prepared;
    const made = program === 0 ? op.outputs : op.programs[program]!.outputs,
      wanted = [...new Set([...made, ...changes])].filter((slot) => slots[slot]! >= 0),
      memories = op.slots.map((_, slot): Memory | null => {
        const bound = call.slots[slot]!;
        if (slots[slot]! >= 0) return this.memory(slots[slot]!, bound.dtype);
        return bound.fresh ? new Memory(g, numel(bound.shape), typeOf(bound.dtype as DType, op.name)) : null;
      });
    const view = (slot: number): Strides => call.slots[slot]!;
    const c: OpCall = {
      g,
      op,
      call,
      input: (name) => {
        const { slot } = op.params.find((p) => p.name === name)!,
          memory = slots[slot]! >= 0 ? memories[slot] : null;
        return memory ? g.expand(seen(g, memory.all(), view(slot)), view(slot).shape) : null;
      },
      shape: (name) => call.slots[op.outputs[op.output_names.indexOf(name)]!]!.shape,
      output: (name, value) => {
        const slot = op.outputs[op.output_names.indexOf(name)]!;
        if (slots[slot]! >= 0) memories[slot]!.put(view(slot), g.reshape(value, view(slot).shape));
      },
    };
    if (program === 0 && changes.length === 0 && OPERATORS.get(op.name)?.(c)) return;
    for (const slot of zeroed(op, program, call, wanted)) {
      const memory = memories[slot];
      memory?.set(new Memory(g, memory.length, memory.type).all());
    }
    plan_cpu(op, program, call, wanted).forEach((launch, n) => {
      if (!launch) return;
      const kernel = op.programs[program]!.kernels[n]!;
      if (kernel.raw)
        throw new OpError(`onnx.export: ${op.name} is computed step by step, and has no counterpart in ONNX`);
      new KernelExport(g, op, kernel, launch, call, memories).run();
    });
  }

  /** The outputs, in the order in which the result holds them. */
  private result(result: Result): void {
    const { g, plan } = this;
    const out = (x: Value): void => {
      const name = plan.outputNames[this.outputs.length] ?? `output_${this.outputs.length}`;
      g.place = "result";
      const value = { name: g.unique(name), type: x.type, shape: x.shape };
      g.nodes.push({
        input: [x.name],
        output: [value.name],
        name: value.name,
        op_type: "Identity",
      });
      this.outputs.push(value);
    };
    const known: Value[] = [];
    const visit = (of: Result): void => {
      switch (of.kind) {
        case "tensor":
          known[of.number] = this.read(of.view);
          return out(known[of.number]!);
        case "again":
          return out(known[of.number]!);
        case "input":
          return out(this.inputs[of.index]!);
        case "list":
          return of.items.forEach(visit);
        case "named":
          return Object.values(of.items).forEach(visit);
        case "same":
          if (of.value === null || of.value === undefined) return;
          throw new OpError(
            `onnx.export: a result is not computed from the arguments, and cannot be an output: got ${describe(of.value)}`,
          );
      }
    };
    visit(result);
    if (this.outputs.length === 0) throw new OpError("onnx.export: the model gives no tensor");
  }
}

/** The model of a captured program.  Throws OpError for what has no counterpart in ONNX. */
export const modelOf = (plan: ExportPlan): Message<ModelProto> => new ProgramExport(plan).model();
