// How a program's arguments and results nest: PyTorch's trees of tuples, lists and dictionaries, as an archive has them.

import { TypeMismatchError, describe } from "../base/errors.js";
import { FileError } from "../files/error.js";

/** A leaf, or the parts of a container; `keys` of one that is an object. */
export interface TreeSpec {
  readonly keys: readonly string[] | null;
  readonly parts: readonly TreeSpec[] | null;
  /** Fields of a dataclass that are None, which are no leaves. */
  readonly none?: readonly string[];
}

const LEAF: TreeSpec = { keys: null, parts: null };
const areNames = (value: unknown): value is (string | number)[] =>
  Array.isArray(value) && value.every((key) => typeof key === "string" || typeof key === "number");
/** A context's JSON; null for what is none, such as the name of a named tuple. */
function parsed(context: string): unknown {
  try {
    return JSON.parse(context) as unknown;
  } catch {
    return null;
  }
}
/** The keys that PyTorch keeps for dictionaries, and for classes of results by their fields; of a dataclass those that are
 *  None, too. */
function keysOf(context: unknown): Pick<TreeSpec, "keys" | "none"> {
  const read: unknown = typeof context === "string" ? parsed(context) : context,
    // a defaultdict keeps what makes its values, too
    inner = (read as { dict_context?: unknown } | null)?.dict_context ?? read,
    value: unknown = typeof inner === "string" ? parsed(inner) : inner;
  if (Array.isArray(value) && value.length === 2 && value.every(areNames))
    return { keys: value[0].map(String), none: value[1].map(String) };
  return { keys: areNames(value) ? value.map(String) : null };
}

/** Reads `[1, {"type": "builtins.tuple", "context": …, "children_spec": […]}]`. */
export function readTreeSpec(text: string, file: string): TreeSpec {
  const read = (value: unknown): TreeSpec => {
    const node = value as { type?: unknown; context?: unknown; children_spec?: unknown },
      children = node?.children_spec;
    if (!Array.isArray(children)) throw new FileError(file, "it says with no tree of the kind known how values nest");
    const { type } = node;
    if (type === null) return LEAF;
    const parts = children.map(read),
      { keys, none } = keysOf(node.context);
    if (keys && keys.length === parts.length) return { keys, parts, ...(none?.length ? { none } : {}) };
    if (parts.length > 0 && /dict$/i.test(String(type)))
      throw new FileError(file, "a dictionary among its inputs or outputs has not as many keys as values");
    return { keys: /dict$/i.test(String(type)) ? [] : null, parts };
  };
  try {
    const tree: unknown = JSON.parse(text);
    return read(Array.isArray(tree) ? tree[1] : tree);
  } catch (error) {
    // no JSON, or nested deeper than the stack reaches
    if (error instanceof FileError) throw error;
    throw new FileError(file, `how its values nest cannot be read: ${(error as Error).message}`);
  }
}

export const leavesOf = ({ parts }: TreeSpec): number => (parts ? parts.reduce((n, part) => n + leavesOf(part), 0) : 1);

/** The leaves of `value`, which nests as `spec` says; `place` names it. */
export function flattened(value: unknown, spec: TreeSpec, op: string, place: string): unknown[] {
  if (!spec.parts) return [value];
  if (spec.keys) {
    const { keys, none = [] } = spec,
      object = (value ?? {}) as Record<string, unknown>;
    if (typeof object !== "object" || Array.isArray(object))
      throw new TypeMismatchError(`${op}: ${place} must be an object, got ${describe(value)}`);
    const given = none.find((key) => (object[key] ?? null) !== null);
    if (given !== undefined)
      throw new TypeMismatchError(
        `${op}: ${place}.${given} was None when the program was exported, and is nothing else; got ${describe(object[given])}`,
      );
    const unknown = Object.keys(object).find((key) => !keys.includes(key) && !none.includes(key)),
      absent = keys.find((key) => !Object.hasOwn(object, key));
    if (unknown !== undefined || absent !== undefined)
      throw new TypeMismatchError(
        `${op}: ${place} must have the keys ${keys.join(", ") || "none"}; ${absent === undefined ? `'${unknown}' is none of them` : `'${absent}' is missing`}`,
      );
    return spec.parts.flatMap((part, i) => flattened(object[keys[i]!], part, op, `${place}.${keys[i]}`));
  }
  if (!Array.isArray(value) || value.length !== spec.parts.length)
    throw new TypeMismatchError(
      `${op}: ${place} must be a list of ${spec.parts.length}, got ${Array.isArray(value) ? `a list of ${value.length}` : describe(value)}`,
    );
  return spec.parts.flatMap((part, i) => flattened(value[i], part, op, `${place}[${i}]`));
}

/** The values nested as `spec` says. */
export function unflattened(leaves: readonly unknown[], spec: TreeSpec): unknown {
  let at = 0;
  const build = ({ keys, parts, none = [] }: TreeSpec): unknown => {
    if (!parts) return leaves[at++];
    const values = parts.map(build);
    if (!keys) return values;
    return Object.fromEntries([...keys.map((key, i) => [key, values[i]]), ...none.map((key) => [key, null])]);
  };
  return build(spec);
}
