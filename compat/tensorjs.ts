// TensorJS's spelling where PyTorch's differs: modules from lists of tensors to promises of lists, `toBackend`,
// optimizers of a model, and some names of methods.  Everything else is PyTorch's.  Importing it installs the methods.

import { nn, optim } from "../index.js";
import type { Elements } from "../runtime/program/compiled-op.js";
import { zeros } from "../runtime/creation/create.js";
import { titled } from "../runtime/base/class-name.js";
import { initWebGPUAsync } from "../runtime/init-webgpu.js";
import { TypeMismatchError, describe } from "../runtime/base/errors.js";
import type { Parameter } from "../runtime/nn/parameter.js";
import { Tensor as TensorClass } from "../runtime/tensor/tensor.js";
import { addmm, mean, neg, prod, square, sum } from "../names/torch.js";

export { Tensor } from "../runtime/creation/tensor-constructor.js";
type Tensor = TensorClass;

/** Where a model computes.  There is no WebAssembly here: "WASM" is the CPU. */
export type Backend = "CPU" | "WASM" | "GPU";

type Axes = number | readonly number[];

declare module "../runtime/tensor/tensor.js" {
  interface Tensor {
    /** TensorJS: as data(). */
    getValues(): Promise<Elements>;
    /** TensorJS: the shape. */
    getShape(): readonly number[];
    /** TensorJS: as dispose(). */
    delete(): void;
    /** TensorJS: as matmul. */
    matMul(other: TensorClass): TensorClass;
    /** TensorJS: as neg. */
    negate(): TensorClass;
    /** TensorJS: as pow. */
    power(exponent: TensorClass | number): TensorClass;
    /** TensorJS: the product of all elements, or along one axis. */
    product(axis?: number, keepDims?: boolean): TensorClass;
    /** TensorJS: as mean. */
    reduceMean(axes?: Axes, keepDims?: boolean): TensorClass;
    /** TensorJS: the mean of the squares. */
    reduceMeanSquare(axes?: Axes, keepDims?: boolean): TensorClass;
    /** TensorJS: the sum of the squares. */
    sumSquare(axes?: Axes, keepDims?: boolean): TensorClass;
  }
}

const over = (axes: Axes | undefined, keepDims: boolean): [Axes | null, { keepdim: boolean }] => [
  axes ?? null,
  { keepdim: keepDims },
];
const METHODS = {
  getValues(this: Tensor) {
    return this.data();
  },
  getShape(this: Tensor) {
    return this.shape;
  },
  delete(this: Tensor) {
    this.dispose();
  },
  matMul(this: Tensor, other: Tensor) {
    return this.matmul(other);
  },
  negate(this: Tensor) {
    return neg(this);
  },
  power(this: Tensor, exponent: Tensor | number) {
    return this.pow(exponent);
  },
  product(this: Tensor, axis?: number, keepDims = false) {
    return axis === undefined ? prod(this) : prod(this, axis, { keepdim: keepDims });
  },
  reduceMean(this: Tensor, axes?: Axes, keepDims = false) {
    return mean(this, ...over(axes, keepDims));
  },
  reduceMeanSquare(this: Tensor, axes?: Axes, keepDims = false) {
    return mean(square(this), ...over(axes, keepDims));
  },
  sumSquare(this: Tensor, axes?: Axes, keepDims = false) {
    return sum(square(this), ...over(axes, keepDims));
  },
};
for (const [name, value] of Object.entries(METHODS)) {
  if (!(name in TensorClass.prototype))
    Object.defineProperty(TensorClass.prototype, name, { value, writable: true, configurable: true });
}

/** A module from a list of tensors to a promise of one. */
export abstract class Module extends nn.Module {
  abstract override forward(inputs: readonly Tensor[]): Promise<Tensor[]>;

  getParameters(): Parameter[] {
    return this.parameters();
  }
  getSubModules(): nn.Module[] {
    return [...this.children()];
  }

  /** Moves the parameters.  Where there is no GPU, "GPU" leaves them where they are, with a warning. */
  async toBackend(backend: Backend): Promise<void> {
    if (!["CPU", "WASM", "GPU"].includes(backend))
      throw new TypeMismatchError(`toBackend: expected "CPU", "WASM" or "GPU", got ${describe(backend)}`);
    if (backend !== "GPU") await this.to("cpu");
    else if (await initWebGPUAsync()) await this.to("webgpu");
    else console.warn('toBackend("GPU"): there is no WebGPU here; the model stays on the CPU');
  }
}
titled(Module, "Module");

function one(inputs: readonly Tensor[], name: string): Tensor {
  if (!Array.isArray(inputs) || !(inputs[0] instanceof TensorClass))
    throw new TypeMismatchError(`${name}.forward: expected a list of tensors, got ${describe(inputs)}`);
  return inputs[0];
}

/**
 * `y = x W + b` with weights (in, out); drawn as Xavier says.  An input on another device comes to that of the weights.
 */
export class Linear extends Module {
  weights: Parameter;
  bias: Parameter;

  constructor(dimIn: number, dimOut: number) {
    super();
    this.weights = nn.Parameter(nn.init.xavier_normal_(zeros(dimIn, dimOut)));
    this.bias = nn.Parameter(zeros(1, dimOut));
  }
  override async forward(inputs: readonly Tensor[]): Promise<Tensor[]> {
    return [addmm(this.bias, await one(inputs, "Linear").to(this.weights.device), this.weights)];
  }
}
titled(Linear, "Linear");

export class Relu extends Module {
  override async forward(inputs: readonly Tensor[]): Promise<Tensor[]> {
    return [one(inputs, "Relu").relu()];
  }
}
titled(Relu, "Relu");

/** Modules in a row. */
export class Sequential extends Module {
  constructor(modules: readonly Module[]) {
    super();
    modules.forEach((module, i) => {
      this.add_module(String(i), module);
    });
  }
  override async forward(inputs: readonly Tensor[]): Promise<Tensor[]> {
    let x = [...inputs];
    for (const module of this.children()) x = await (module as Module).forward(x);
    return x;
  }
}
titled(Sequential, "Sequential");

/** What moves all parameters of a model; `optimizer` is PyTorch's, with groups and state. */
class ModelOptimizer<O extends object> {
  readonly optimizer: optim.Optimizer<O>;

  constructor(optimizer: optim.Optimizer<O>) {
    this.optimizer = optimizer;
  }
  step(): Promise<void> {
    return this.optimizer.step();
  }
  zeroGrads(): void {
    this.optimizer.zero_grad();
  }
}

export class Adam extends ModelOptimizer<optim.AdamOptions> {
  constructor(model: nn.Module, lr = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7) {
    super(optim.Adam(model.parameters(), { lr, betas: [beta1, beta2], eps: epsilon }));
  }
}
titled(Adam, "Adam");

/** Gradient descent. */
export class SGD extends ModelOptimizer<optim.SGDOptions> {
  constructor(model: nn.Module, lr: number) {
    super(optim.SGD(model.parameters(), { lr }));
  }
}
titled(SGD, "SGD");
