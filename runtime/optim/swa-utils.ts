// torch.optim.swa_utils: averages of a model's parameters over a training, and what goes with them.

import { nameOf } from "../base/class-name.js";
import { number } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { callable } from "../base/callable.js";
import { taken } from "../base/named-arguments.js";
import { unrecorded } from "../tape/grad-mode.js";
import { tensor } from "../creation/create.js";
import { zeros_like, ones_like } from "../creation/like.js";
import { add, div, eq, lerp, mul, sub, where } from "../../names/torch.js";
import type { Tensor } from "../tensor/tensor.js";
import { copy_, to } from "../views/transfer.js";
import { Module } from "../nn/module.js";
import { checkModule } from "../nn/tree.js";
import { must } from "./options.js";
import { type LRScheduler, groupsIn, perGroup, scheduler } from "./lr_scheduler/scheduler.js";

/** `num_averaged`: a tensor of one number, how many values are in the average. */
type Average = (averaged: Tensor, current: Tensor, num_averaged: Tensor) => Tensor;
type Averages = (averaged: readonly Tensor[], current: readonly Tensor[], num_averaged: Tensor) => void;

function decayOf(given: unknown, op: string): number {
  const decay = number(given ?? 0.999, op, "decay");
  if (!(decay >= 0 && decay <= 1))
    throw new OpError(`Invalid decay value ${decay} provided. Please provide a value in [0,1] range.`);
  return decay;
}
const forgetting = (decay: number, averaged: Tensor, current: Tensor): Tensor =>
  add(mul(averaged, decay), mul(current, 1 - decay));
const mean = (averaged: Tensor, current: Tensor, n: Tensor | number): Tensor =>
  add(averaged, div(sub(current, averaged), typeof n === "number" ? n + 1 : add(n, 1)));

/**
 * An average that forgets: `decay` of it, and the rest of the new value.
 *
 * @param decay how much of the average is kept each time, from 0 to 1
 *
 * @example
 * const average = torch.optim.swa_utils.get_ema_avg_fn(0.75);
 * average(torch.tensor([0]), torch.tensor([8]), torch.tensor(1))  // [2]
 */
export function get_ema_avg_fn(decay?: number | { decay?: number }): Average {
  const part = decayOf(taken("get_ema_avg_fn decay?", arguments)[0], "get_ema_avg_fn");
  return (averaged, current) => unrecorded(() => forgetting(part, averaged, current));
}
/**
 * The mean of all values.
 *
 * @example
 * const average = torch.optim.swa_utils.get_swa_avg_fn();
 * average(torch.tensor([0]), torch.tensor([8]), torch.tensor(3))  // [2]
 */
export function get_swa_avg_fn(): Average {
  taken("get_swa_avg_fn", arguments);
  return (averaged, current, n) => unrecorded(() => mean(averaged, current, n));
}
/**
 * The same for lists of tensors, which they change.
 *
 * @param decay how much of the averages is kept each time, from 0 to 1
 *
 * @example
 * const averaged = [torch.tensor([0]), torch.tensor([4])];
 * torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)(averaged, [torch.tensor([8]), torch.tensor([8])], torch.tensor(1));
 * averaged  // [[2], [5]]
 */
export function get_ema_multi_avg_fn(decay?: number | { decay?: number }): Averages {
  const part = decayOf(taken("get_ema_multi_avg_fn decay?", arguments)[0], "get_ema_multi_avg_fn");
  return (averaged, current) => {
    unrecorded(() => {
      averaged.forEach((x, i) => {
        const y = current[i]!;
        copy_(x, x.is_floating_point() ? (lerp(x, y, 1 - part) as Tensor) : forgetting(part, x, y));
      });
    });
  };
}
/**
 * Averages many tensors at once, each as much as another.
 *
 * @example
 * const averaged = [torch.tensor([0]), torch.tensor([4])];
 * torch.optim.swa_utils.get_swa_multi_avg_fn()(averaged, [torch.tensor([8]), torch.tensor([8])], torch.tensor(3));
 * averaged  // [[2], [5]]
 */
export function get_swa_multi_avg_fn(): Averages {
  taken("get_swa_multi_avg_fn", arguments);
  return (averaged, current, n) => {
    unrecorded(() => {
      averaged.forEach((x, i) => copy_(x, mean(x, current[i]!, n)));
    });
  };
}

interface AveragedOptions {
  /** Where the averages are kept; null: where the model is. */
  device?: string | null;
  /** `(averaged, current, num_averaged)` to the new average of one parameter; null: the mean of all. */
  avg_fn?: Average | null;
  /** The same for lists of parameters, whose averages it changes; not together with `avg_fn`. */
  multi_avg_fn?: Averages | null;
  /** Whether buffers are averaged, too, and not only copied. */
  use_buffers?: boolean;
}

class AveragedModelClass extends Module {
  module: Module;
  declare n_averaged: Tensor;
  declare private how: AveragedOptions;

  /** A copy of a model whose parameters are averages of the model's: their mean, or what `avg_fn` says. */
  constructor(
    model: Module,
    device?: string | null | AveragedOptions,
    avg_fn?: Average | null,
    multi_avg_fn?: Averages | null,
    use_buffers?: boolean,
  ) {
    super();
    checkModule(model, "AveragedModel");
    if (avg_fn && multi_avg_fn) throw new OpError("Only one of avg_fn and multi_avg_fn should be provided");
    Object.defineProperty(this, "how", { value: { avg_fn, multi_avg_fn, use_buffers } });
    this.module = model.deepcopy();
    if (device != null) void this.module.to(device as string);
    this.register_buffer(
      "n_averaged",
      tensor(0, { dtype: "int64", ...(device == null ? {} : { device: device as string }) }),
    );
  }
  override forward(...args: unknown[]): unknown {
    return this.module(...args);
  }
  /**
   * Takes the model's parameters into the averages.  The first are copied, whatever an average of nothing and them is:
   * a tensor counts, so that no device waits for the number and a captured step goes on counting.
   */
  update_parameters(model: Module): void {
    const { avg_fn, multi_avg_fn, use_buffers } = this.how,
      of = (m: Module): Tensor[] => (use_buffers ? [...m.parameters(), ...m.buffers()] : m.parameters()),
      theirs = of(checkModule(model, "update_parameters"));
    unrecorded(() => {
      const kinds = new Map<string, Pair[]>(),
        pairs = of(this.module).map((x, i): Pair => [x.detach(), there(theirs[i]!.detach(), x)]);
      for (const pair of pairs) {
        const kind = `${pair[0].device} ${pair[0].dtype}`;
        kinds.set(kind, [...(kinds.get(kind) ?? []), pair]);
      }
      for (const alike of kinds.values()) {
        const n = there(this.n_averaged, alike[0]![0]),
          first = eq(n, 0),
          put = (x: Tensor, current: Tensor, average: Tensor) =>
            copy_(x, where(first, current, to(average, [x.dtype]) as Tensor) as Tensor);
        if (multi_avg_fn) {
          const [averaged, current] = [0, 1].map((side) => alike.map((pair) => pair[side]!));
          multi_avg_fn(averaged!, current!, n);
          for (const [x, now] of alike) put(x, now, x);
        } else for (const [x, now] of alike) put(x, now, (avg_fn ?? mean)(x, now, n));
      }
      if (!use_buffers) {
        const buffers = model.buffers();
        this.module.buffers().forEach((x, i) => copy_(x, buffers[i]!));
      }
      copy_(this.n_averaged, add(this.n_averaged, 1));
    });
  }
}
type Pair = readonly [averaged: Tensor, current: Tensor];
/** A tensor where the average is. */
function there(x: Tensor, average: Tensor): Tensor {
  const moved = to(x, [average.device]);
  if (moved instanceof Promise)
    throw new OpError(
      `update_parameters: averages on ${average.device} of what is on ${x.device}, which is read by a promise: ` +
        `have both on one device`,
    );
  return moved;
}
/**
 * @param model what is averaged: its copy is made at once
 * @param device where the averages are kept; null: where the model is
 * @param avg_fn `(averaged, current, num_averaged)` to the new average of a parameter; null: the mean of all
 * @param multi_avg_fn the same for lists of parameters, whose averages it changes
 * @param use_buffers whether buffers are averaged, too, and not only copied
 *
 * @example
 * const model = torch.nn.Linear(2, 1), averaged = torch.optim.swa_utils.AveragedModel(model);
 * averaged.update_parameters(model);
 * averaged(torch.ones([3, 2])).shape  // [3, 1]
 */
export const AveragedModel = /* @__PURE__ */ callable(
  AveragedModelClass,
  "AveragedModel",
  "forward !, constructor model device? avg_fn? multi_avg_fn? use_buffers?, update_parameters model",
);
export type AveragedModel = AveragedModelClass;

/**
 * Goes through a loader's batches (the first of each, where it is a list) to find the batch statistics anew.
 *
 * @param loader batches; of a list the first is the input
 * @param model the module with the norms
 * @param device where each batch is taken before; null: it stays where it is
 *
 * @example
 * const model = torch.nn.BatchNorm1d(1), batches = [torch.tensor([[1], [3]]), torch.tensor([[5], [7]])];
 * await torch.optim.swa_utils.update_bn(batches, model);
 * model.running_mean  // [4]
 */
export function update_bn(
  loader: Iterable<unknown> | AsyncIterable<unknown>,
  model: Module,
  device?: string | null,
): Promise<void>;
export async function update_bn(...args: unknown[]): Promise<void> {
  const [loader, model, device] = taken("update_bn loader model device?", args) as [
    AsyncIterable<unknown>,
    Module,
    string?,
  ];
  interface Statistics extends Module {
    running_mean: Tensor;
    running_var: Tensor;
    num_batches_tracked: Tensor;
    momentum: number | null;
  }
  const norms = [...checkModule(model, "update_bn").modules()].filter((m): m is Statistics =>
      /^(Sync|Lazy)?BatchNorm/.test(nameOf(m)),
    ),
    momenta = norms.map(({ momentum }) => momentum),
    training = model.training;
  if (norms.length === 0) return;
  for (const m of norms) {
    m.running_mean = zeros_like(m.running_mean);
    m.running_var = ones_like(m.running_var);
    m.num_batches_tracked = zeros_like(m.num_batches_tracked);
    m.momentum = null;
  }
  model.train();
  try {
    for await (const batch of loader) {
      const first = (Array.isArray(batch) ? batch[0] : batch) as Tensor,
        x = device == null ? first : await to(first, [device]);
      unrecorded(() => {
        model(x);
      });
    }
  } finally {
    norms.forEach((m, i) => {
      m.momentum = momenta[i]!;
    });
    model.train(training);
  }
}

interface Annealing {
  /** The rate at the end, or a list of one for each group of parameters. */
  swa_lr: number | readonly number[];
  /** How many epochs it takes to get there. */
  anneal_epochs: number;
  /** Along half a wave of the cosine, or along a line. */
  anneal_strategy: Strategy;
}
type Strategy = "cos" | "linear";
const parts = {
  cos: (t: number) => (1 - Math.cos(Math.PI * t)) / 2,
  linear: (t: number) => t,
};
/**
 * From the rate there is to `swa_lr` in `anneal_epochs`, and then that.
 *
 * @example
 * const optimizer = torch.optim.SGD([torch.ones([1], { requires_grad: true })], { lr: 1 });
 * const scheduler = torch.optim.swa_utils.SWALR(optimizer, 0.5, { anneal_epochs: 2 });
 * await optimizer.step();
 * scheduler.step();
 * scheduler.get_last_lr()  // [0.75]
 */
export const SWALR = /* @__PURE__ */ scheduler<Annealing>({
  name: "SWALR",
  defaults: { swa_lr: undefined, anneal_epochs: 10, anneal_strategy: "cos" },
  check({ anneal_strategy, anneal_epochs }) {
    must(
      Object.hasOwn(parts, anneal_strategy),
      `anneal_strategy must by one of "cos" or "linear", instead got ${anneal_strategy}`,
    );
    must(
      Number.isInteger(anneal_epochs) && anneal_epochs >= 0,
      `anneal_epochs must be equal or greater than 0, got ${anneal_epochs}`,
    );
  },
  keep({ swa_lr, anneal_epochs, anneal_strategy }, optimizer) {
    const rates = perGroup("swa_lr", optimizer, swa_lr);
    groupsIn(optimizer).forEach((group, i) => {
      group["swa_lr"] = rates[i];
    });
    return { _anneal_strategy: anneal_strategy, anneal_epochs };
  },
  next(o, { lr, group, steps }) {
    const { optimizer, _anneal_strategy, anneal_epochs } = o as unknown as LRScheduler & {
        _anneal_strategy: Strategy;
        anneal_epochs: number;
      },
      goal = groupsIn(optimizer)[group]!["swa_lr"] as number,
      step = anneal_epochs === 0 ? Math.max(1, steps - 1) : steps - 1,
      at = (n: number) => parts[_anneal_strategy](Math.max(0, Math.min(1, n / Math.max(1, anneal_epochs)))),
      before = at(step - 1),
      now = at(step),
      first = before === 1 ? goal : (lr - before * goal) / (1 - before);
    return goal * now + first * (1 - now);
  },
});
