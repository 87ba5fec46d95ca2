// What runs between two tasks of the event loop.

interface Scheduler {
  setImmediate?: (task: () => void) => void;
}

let channel: MessageChannel | null = null;
const tasks: (() => void)[] = [];

/** Runs `task` after the running task, without the delay that timers have in pages. */
export function afterTask(task: () => void): void {
  const { setImmediate } = globalThis as Scheduler;
  if (setImmediate) setImmediate(task);
  else if (typeof MessageChannel === "undefined") setTimeout(task);
  else {
    if (!channel) {
      channel = new MessageChannel();
      channel.port1.onmessage = () => tasks.shift()?.();
    }
    tasks.push(task);
    channel.port2.postMessage(null);
  }
}

/** Lets go for as long as it takes what the garbage collector has found to come back. */
export function collectorTurn(): Promise<void> {
  return new Promise((done) => afterTask(() => afterTask(done)));
}
