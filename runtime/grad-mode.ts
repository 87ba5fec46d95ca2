// Whether operations are recorded: no_grad, enable_grad, set_grad_enabled.

let enabled = true;

/** Whether operations on tensors that require gradients are recorded now. */
export const is_grad_enabled = (): boolean => enabled;

export function set_grad_enabled(mode: boolean): void {
  enabled = mode;
}

function within<T>(mode: boolean, body: () => T): T {
  const before = enabled;
  enabled = mode;
  let settled = true;
  try {
    const result = body();
    if (result instanceof Promise) {
      settled = false;
      return result.finally(() => {
        enabled = before;
      }) as T;
    }
    return result;
  } finally {
    if (settled) enabled = before;
  }
}

/** Runs `body` without recording.  The mode of an async function lasts until its promise settles. */
export const no_grad = <T>(body: () => T): T => within(false, body);

/** Runs `body` with recording, within no_grad. */
export const enable_grad = <T>(body: () => T): T => within(true, body);

/** As no_grad. */
export const inference_mode = no_grad;
