// Python's collections.Counter of whole numbers, which PyTorch's MultiStepLR keeps its milestones in.

/** How often each of some whole numbers is there; torch.save writes it as Python's own. */
export class Counter {
  [value: number]: number;

  constructor(values: Iterable<number>) {
    for (const value of values) this[value] = (this[value] ?? 0) + 1;
  }

  /** Of a list, or of an object that says how often each is there. */
  static of(given: readonly number[] | Readonly<Record<number, number>>): Counter {
    return Array.isArray(given) ? new Counter(given) : Object.assign(new Counter([]), given);
  }
}
