// Classes that also make an instance when called without `new`, as in Python.

type Class = new (...args: never[]) => object;
export type Callable<C extends Class> = C & ((...args: ConstructorParameters<C>) => InstanceType<C>);

/** The class, so that `C(...)` is `new C(...)`. */
export function callable<C extends Class>(target: C): Callable<C> {
  return new Proxy(target, {
    apply: (constructor, _, args) => Reflect.construct(constructor, args) as object,
  }) as Callable<C>;
}
