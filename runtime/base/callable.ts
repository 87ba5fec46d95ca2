// Classes that also make an instance when called without `new`, as in Python.

import { atMost, limited } from "./named-arguments.js";
import { titled } from "./class-name.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Class = abstract new (...args: any) => any;
export type Callable<C extends Class> = C & ((...args: ConstructorParameters<C>) => InstanceType<C>);

/** The class, so that `C(...)` is `new C(...)`; under a name that no minifier shortens.
 *  It and its methods take no more arguments than they have parameters (`limited`), but for those called `open`,
 * "constructor" perhaps, and
 *  constructors that only have `...args`, which they bind by themselves. */
export function callable<C extends Class>(target: C, name: string, ...open: readonly string[]): Callable<C> {
  const made = new Proxy(limited(titled(target, name), `${name}.`, ...open), {
    construct(constructor, args, wanted) {
      if (constructor.length > 0 && !open.includes("constructor")) atMost(name, args, constructor.length);
      return Reflect.construct(constructor as unknown as new (...args: unknown[]) => object, args, wanted) as object;
    },
    apply: (_, __, args) => new (made as unknown as new (...args: unknown[]) => object)(...args),
  }) as Callable<C>;
  return made;
}
