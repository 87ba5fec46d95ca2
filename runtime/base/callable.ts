// Classes that also make an instance when called without `new`, as in Python.

import { limited, taken } from "./named-arguments.js";
import { titled } from "./class-name.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Class = abstract new (...args: any) => any;
export type Callable<C extends Class> = C & ((...args: ConstructorParameters<C>) => InstanceType<C>);

/** The class, so that `C(...)` is `new C(...)`; under a name that no minifier shortens.
 *  Its methods bind their arguments as `lines` says (`limited`), and its constructor as the line of that name; one that
 *  has none there binds its own. */
export function callable<C extends Class>(target: C, name: string, lines = ""): Callable<C> {
  const line = /(?<=^|, )constructor\b[^,]*/.exec(lines)?.[0].replace("constructor", name);
  const made = new Proxy(limited(titled(target, name), `${name}.`, lines), {
    construct(constructor, args, wanted) {
      return Reflect.construct(
        constructor as unknown as new (
          ...args: unknown[]
        ) => object,
        line ? taken(line, args) : args,
        wanted,
      ) as object;
    },
    apply: (_, __, args) => new (made as unknown as new (...args: unknown[]) => object)(...args),
  }) as Callable<C>;
  return made;
}
