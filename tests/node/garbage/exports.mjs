// Every function, class and method that the package exports, found by walking its namespaces, and how to call each.

/** What is no call of its library: errors and internal classes, modes that later calls stand on, files by name. */
const LEFT_OUT = new RegExp(`\\.(${["tidy", "keep", "setDefaultDevice", "initWebGPUAsync", "set_debug", "set_detect_anomaly", "record_memory_history",
  "set_slow_warnings", "set_printoptions", "save", "save_file", "Optimizer", "LRScheduler", "_LRScheduler", "GradientContext", "Storage", "Kernel", "Results",
  "AutoFunction", "Function", "\\w+Error"].join("|")})$`);
/** Methods that only the package's own modules call: TypeScript hides them from others, JavaScript cannot. */
const INTERNAL = {
  Tensor: ["adoptGradient", "alias", "check", "currentNode", "dispose", "lay", "ownGradient", "receive"],
  other: ["advance", "attribute", "before_load", "begin", "checkParams", "collated", "enter", "fitting", "holdsNumber", "inOrder", "move", "place",
    "put", "replace", "shapeOfState", "update"],
};

/** `[{ name, call(args) }]`: functions and classes of the namespaces; methods of what `makers` make, by name. */
export function everything(torch, makers) {
  const found = [], seen = new Set();
  const visit = (space, path) => {
    seen.add(space);
    for (const [key, value] of Object.entries(space)) {
      const name = `${path}.${key}`;
      if (typeof value === "object" && value !== null && !seen.has(value) && !Array.isArray(value)) visit(value, name);
      if (typeof value !== "function" || LEFT_OUT.test(name)) continue;
      const isClass = /^class\b/.test(Function.prototype.toString.call(value));
      found.push({ name, call: isClass ? (args) => new value(...args) : (args) => value.apply(space, args) });
    }
  };
  visit(torch, "torch");
  for (const [kind, make] of Object.entries(makers)) {
    const internal = new Set(["constructor", ...(kind.startsWith("Tensor") ? INTERNAL.Tensor : INTERNAL.other)]);
    for (const key of methods(make())) {
      if (!internal.has(key)) found.push({ name: `${kind}.${key}`, call: (args) => make()[key](...args) });
    }
  }
  return found;
}

function methods(object) {
  const names = new Set();
  for (let at = Object.getPrototypeOf(object); at && at !== Object.prototype && at !== Function.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Object.getOwnPropertyNames(at)) {
      if (typeof Object.getOwnPropertyDescriptor(at, key).value === "function" && !key.startsWith("_")) names.add(key);
    }
  }
  return names;
}
