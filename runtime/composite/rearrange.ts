// torch.func.rearrange: axes named in a pattern, "b (h w) c -> b c h w", taken apart, moved and joined.

import { count, refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import { showShape } from "../base/shape.js";
import { stack } from "../functions/join.js";
import { tensorOf, tensorsOf } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";

const op = "rearrange",
  DOTS = "...";
/** Axes of any number that stay as many. */
const BARE = /* @__PURE__ */ Object.freeze([DOTS]) as string[];

/** One side of a pattern: for each axis the names that it is made of; "..." stands for axes of any number, which in
 *  brackets are one. */
function sideOf(text: string): string[][] {
  const words = text.match(/\([^()]*\)|\.\.\.|[^\s()]+|[()]/g) ?? [],
    axes = words.map((word) =>
      word[0] === "(" && word.length > 1 ? (word.slice(1, -1).match(/\.\.\.|\S+/g) ?? []) : [word],
    );
  const names = axes.flat();
  for (const [i, name] of names.entries()) {
    if (name === "(" || name === ")" || !/^(\.\.\.|1|[A-Za-z_]\w*)$/.test(name))
      throw new OpError(`${op}: '${name}' in '${text.trim()}' is no name of an axis, 1, (...) or ...`);
    if (name !== "1" && names.indexOf(name) !== i)
      throw new OpError(`${op}: '${name}' stands twice in '${text.trim()}'`);
  }
  return axes.map((axis, i) => (words[i] === DOTS ? BARE : axis.filter((name) => name !== "1")));
}

/**
 * A tensor, or a list of tensors as one with a first axis, with its axes in another order: "b (h w) c -> b c h w" takes the
 * second apart into two, of which options give all sizes but one (`{ h: 4 }`); "b c h w -> b (c h w)" joins three; `1` is
 * an axis of length 1, and `...` are any number. Throws for names that stand on one side only.
 *
 * @param tensor tensor, or list of tensors of one shape
 * @param pattern names of the axes as they are `->` as they shall be; `( )` around those that are one axis
 * @param axes_lengths the sizes of axes that the shape does not say, default null
 *
 * @example
 * torch.func.rearrange(torch.tensor([[1, 2, 3, 4]]), "b (h w) -> b w h", { h: 2 })  // [[[1, 3], [2, 4]]]
 */
export function rearrange(
  tensor: Tensor | readonly Tensor[],
  pattern: string,
  axes_lengths?: Readonly<Record<string, number>>,
): Tensor;
export function rearrange(...args: unknown[]): Tensor {
  const options = isOptions(args.at(-1)) ? (args.pop() as Record<string, unknown>) : {},
    { tensor, pattern, ...lengths } = options,
    own = Object.fromEntries(Object.entries({ tensor, pattern }).filter(([, value]) => value !== undefined)),
    names = args.length + Object.keys(own).length >= 2 ? {} : lengths,
    [given, text] = taken(`${op} tensor pattern`, [...args, { ...own, ...names }]),
    x = Array.isArray(given) ? stack(tensorsOf(given as Tensor[], op, "tensor")) : tensorOf(given, op, "tensor");
  if (typeof text !== "string") refuse(op, "pattern", "a text", text);
  const sides = text.split("->");
  if (sides.length !== 2) throw new OpError(`${op}: Pattern must contain a single '->' separator`);
  const [left, right] = sides.map(sideOf) as [string[][], string[][]],
    [from, into] = [left.flat(), right.flat()],
    single = [...from.filter((name) => !into.includes(name)), ...into.filter((name) => !from.includes(name))];
  if (single.length)
    throw new OpError(
      `${op}: Identifiers only on one side of rearrange expression (should be on both): ${single.join(", ")}`,
    );
  const unknown = Object.keys(lengths).filter((name) => !from.includes(name));
  if (unknown.length) throw new OpError(`${op}: Identifiers not found in rearrange expression: ${unknown.join(", ")}`);

  // Each name's sizes, of which "..." has any number.
  const rest = x.ndim - left.length + Number(left.includes(BARE)),
    sizes = new Map<string, readonly number[]>();
  if (left.some((axis) => axis !== BARE && axis.includes(DOTS)))
    throw new OpError(`${op}: '...' cannot stand in brackets on the left, in '${text}'`);
  if (rest < 0 || (x.ndim !== left.length && !from.includes(DOTS)))
    throw new OpError(`${op}: Number of dimensions in pattern (${left.length}) and in tensor (${x.ndim}) differ`);
  let at = 0;
  for (const axis of left) {
    if (axis === BARE) {
      sizes.set(DOTS, x.shape.slice(at, (at += rest)));
      continue;
    }
    const whole = x.shape[at++]!,
      open = axis.filter((name) => !Object.hasOwn(lengths, name)),
      known = axis.reduce((n, name) => (open.includes(name) ? n : n * count(lengths[name], op, name, 1)), 1);
    if (open.length > 1)
      throw new OpError(`${op}: cannot infer the sizes of two dimensions at once: ${open.join(", ")}`);
    if (open.length ? whole % known !== 0 : whole !== known)
      throw new OpError(`${op}: (${axis.join(" ")}) does not fit an axis of length ${whole} of ${showShape(x.shape)}`);
    for (const name of axis) sizes.set(name, [open.includes(name) ? whole / known : (lengths[name] as number)]);
  }
  const apart = views.reshape(
      x,
      from.flatMap((name) => sizes.get(name)!),
    ),
    starts = new Map<string, number>();
  let start = 0;
  for (const name of from) {
    starts.set(name, start);
    start += sizes.get(name)!.length;
  }
  const order = into.flatMap((name) => sizes.get(name)!.map((_, i) => starts.get(name)! + i)),
    joined = right.flatMap((axis) => {
      const own = axis.map((name) => sizes.get(name)!);
      return axis === BARE ? own[0]! : [own.flat().reduce((n, size) => n * size, 1)];
    });
  return views.reshape(views.permute(apart, order), joined);
}
