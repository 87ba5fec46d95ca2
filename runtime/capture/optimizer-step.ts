// A captured step of an optimizer: what a replay of it depends on beside its launches, and what brings back what it kept.

import type { HostStep, Launching, Stepping } from "../base/capturing.js";
import { Tensor } from "../tensor/tensor.js";

/** What brings back the numbers and tensors that are kept now, though not what the tensors hold. */
export function restoring(optimizer: Stepping): () => void {
  const { state, stepCount } = optimizer,
    kept = [...state].map(([param, own]) => [param, own, { ...own }] as const);
  return () => {
    optimizer.stepCount = stepCount;
    state.clear();
    for (const [param, own, values] of kept) {
      for (const key of Object.keys(own)) if (!(key in values)) delete own[key];
      state.set(param, Object.assign(own, values));
    }
  };
}

/** The step that was just taken, as a replay takes it. */
export function stepOf(optimizer: Stepping, hooks: readonly ReadonlySet<unknown>[], fed: boolean): HostStep {
  const { state, param_groups } = optimizer,
    groups = param_groups.map((group) => [group, fed ? null : Object.entries(group), [...group.params]] as const),
    kept = [...state].map(([param, own]) => [param, own, Object.entries(own)] as const);
  const same = (): boolean =>
    optimizer.state === state &&
    hooks.every((set) => set.size === 0) &&
    optimizer.param_groups === param_groups &&
    groups.length === param_groups.length &&
    groups.every(
      ([group, options, params]) =>
        group.params.length === params.length &&
        params.every((p, i) => p === group.params[i]) &&
        (options ?? []).every(
          ([key, value]) => key === "params" || Object.is((group as Record<string, unknown>)[key], value),
        ),
    ) &&
    kept.every(
      ([param, own, values]) =>
        state.get(param) === own && values.every(([key, value]) => !(value instanceof Tensor) || own[key] === value),
    );
  return {
    name: `${optimizer.constructor.name}.step`,
    late: false,
    next: () => (same() ? { numbers: [], commit: () => void optimizer.stepCount++ } : null),
  };
}

/** The launches of a group's step as a replay makes them: of the same ops, with numbers computed anew. */
export function launchesOf(name: string, how: Launching): HostStep {
  const { state, moved, before } = how;
  return {
    name,
    late: false,
    next: (pending) => {
      const group = how.group(),
        numbers = new Map<object, object>();
      if (!group || Object.values(group).some((value) => value instanceof Tensor)) return null;
      if (!moved.every((param) => how.isComplete(param, group))) return null;
      const cohorts = how.cohorts(group, (param) => {
        const own = state.get(param)!,
          next = { ...(pending.get(own) ?? own) };
        numbers.set(own, next);
        pending.set(own, next);
        return next;
      });
      const same =
        cohorts.length === before.length &&
        cohorts.every(
          ({ op, params }, i) =>
            op === before[i]!.op &&
            params.length === before[i]!.params.length &&
            params.every((param, k) => param === before[i]!.params[k]),
        );
      if (!same) return null;
      return {
        numbers: cohorts.map((cohort) => how.numbersOf(cohort, group)),
        commit: () => {
          for (const [own, next] of numbers) Object.assign(own, next);
        },
      };
    },
  };
}
