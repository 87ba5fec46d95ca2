// Every function, class and method that the package exports, found by walking its namespaces, and how to call each.

/** What is no call of its library: errors and internal classes, modes that later calls stand on, files by name. */
const LEFT_OUT = new RegExp(
  `\\.(${[
    "tidy",
    "keep",
    "setDefaultDevice",
    "initWebGPUAsync",
    "set_debug",
    "set_detect_anomaly",
    "record_memory_history",
    "set_slow_warnings",
    "set_printoptions",
    "save",
    "save_file",
    "Optimizer",
    "LRScheduler",
    "_LRScheduler",
    "GradientContext",
    "Storage",
    "Kernel",
    "Results",
    "AutoFunction",
    "Function",
    "\\w+Error",
  ].join("|")})$`,
);
/** Methods that only the package's own modules call: TypeScript hides them from others, JavaScript cannot. */
const INTERNAL = {
  Tensor: [
    "adoptGradient",
    "alias",
    "check",
    "currentNode",
    "dispose",
    "hiddenGradient",
    "lay",
    "ownGradient",
    "receive",
  ],
  other: [
    "advance",
    "again",
    "attribute",
    "before_load",
    "begin",
    "byNumber",
    "captured",
    "checkParams",
    "cohorts",
    "collated",
    "enter",
    "fitting",
    "holdsNumber",
    "inOrder",
    "move",
    "once",
    "place",
    "put",
    "replace",
    "shapeOfState",
    "surround",
    "tensorsWithin",
    "update",
  ],
};

/** What makes an object of each kind whose methods are called. */
export function makersOf(torch, device) {
  const layers = () => new torch.nn.Sequential(new torch.nn.Linear(3, 2, { device }), new torch.nn.ReLU());
  return {
    Tensor: () =>
      torch.tensor(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        { device },
      ),
    "Tensor[2]": () => torch.tensor([1, 2], { device, dtype: "int32" }),
    Generator: () => new torch.Generator(),
    Module: layers,
    ModuleList: () => new torch.nn.ModuleList([new torch.nn.ReLU()]),
    ModuleDict: () => new torch.nn.ModuleDict({ a: new torch.nn.ReLU() }),
    ParameterList: () => new torch.nn.ParameterList([torch.ones(2)]),
    ParameterDict: () => new torch.nn.ParameterDict({ a: torch.ones(2) }),
    SGD: () => new torch.optim.SGD(layers().parameters(), { lr: 0.1 }),
    Adam: () => new torch.optim.Adam(layers().parameters(), { lr: 0.1 }),
    StepLR: () => new torch.optim.lr_scheduler.StepLR(new torch.optim.SGD(layers().parameters(), { lr: 0.1 }), 2),
    DataLoader: () => new torch.utils.data.DataLoader([1, 2, 3]),
  };
}

/** `[{ name, call(args) }]`: functions and classes of the namespaces; methods of what `makers` make, by name. */
export function everything(torch, makers, leftOut = LEFT_OUT) {
  const found = [],
    seen = new Set();
  const visit = (space, path) => {
    seen.add(space);
    for (const [key, value] of Object.entries(space)) {
      const name = `${path}.${key}`;
      if (typeof value === "object" && value !== null && !seen.has(value) && !Array.isArray(value)) visit(value, name);
      if (typeof value !== "function" || leftOut?.test(name)) continue;
      const isClass = /^class\b/.test(Function.prototype.toString.call(value));
      found.push({ name, call: isClass ? (args) => new value(...args) : (args) => Reflect.apply(value, space, args) });
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
  for (
    let at = Object.getPrototypeOf(object);
    at && at !== Object.prototype && at !== Function.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const key of Object.getOwnPropertyNames(at)) {
      if (typeof Object.getOwnPropertyDescriptor(at, key).value === "function" && !key.startsWith("_")) names.add(key);
    }
  }
  return names;
}
