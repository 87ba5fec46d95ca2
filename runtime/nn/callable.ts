// Classes that also make an instance when called without `new`, as in Python.

import { titled } from "../titled.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Class = abstract new (...args: any) => any;
export type Callable<C extends Class> = C & ((...args: ConstructorParameters<C>) => InstanceType<C>);

/** The class, so that `C(...)` is `new C(...)`; under a name that no minifier shortens. */
export function callable<C extends Class>(target: C, name: string): Callable<C> {
  return new Proxy(titled(target, name), {
    apply: (constructor, _, args) => Reflect.construct(constructor as unknown as new (...args: unknown[]) => object, args) as object,
  }) as Callable<C>;
}
