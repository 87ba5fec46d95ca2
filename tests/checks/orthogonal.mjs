// nn.utils.parametrizations.orthogonal.  The numbers are PyTorch 2.13.0's.

const WEIGHTS = {
  square: [
    [0.5, -1, 0.25],
    [1.5, 0.75, -0.5],
    [-0.25, 0.5, 1],
  ],
  tall: [
    [0.5, -1],
    [1.5, 0.75],
    [-0.25, 0.5],
  ],
  wide: [
    [0.5, 1.5, -0.25],
    [-1, 0.75, 0.5],
  ],
};
/** The weight at first, its original, then the weight after a step of the original, and the slope of the original. */
const ANSWERS = [
  {
    of: "square",
    map: "matrix_exp",
    use_trivialization: true,
    first: [0.312348, -0.838116, 0.447214, 0.937043, 0.349215, 0, -0.156174, 0.419058, 0.894427],
    original: [-1.0, 0, 0, 0, -1.0, 0, 0, 0, -1.0],
    after: [-0.359609, -0.675194, 0.644045, 0.920334, -0.370448, 0.125513, 0.153839, 0.637873, 0.75462],
    grad: [0, 0, 0, 0.831123, 0, 0, -0.414061, -0.964439, 0],
  },
  {
    of: "square",
    map: "cayley",
    use_trivialization: true,
    first: [0.312348, -0.838116, 0.447214, 0.937043, 0.349215, 0, -0.156174, 0.419058, 0.894427],
    original: [-1.0, 0, 0, 0, -1.0, 0, 0, 0, -1.0],
    after: [-0.330623, -0.695638, 0.637791, 0.934029, -0.337994, 0.115539, 0.135196, 0.633915, 0.761494],
    grad: [0, 0, 0, 0.776189, 0, 0, -0.366162, -0.918154, 0],
  },
  {
    of: "square",
    map: "householder",
    use_trivialization: true,
    first: [0.312348, -0.838116, 0.447214, 0.937043, 0.349215, 0, -0.156174, 0.419058, 0.894427],
    original: [-1.0, 0, 0, 0, -1.0, 0, 0, 0, -1.0],
    after: [-0.783972, -0.244699, 0.570535, 0.582424, -0.608018, 0.539534, 0.214872, 0.755273, 0.619188],
    grad: [0, 0, 0, 0.822182, 0, 0, -0.614004, -1.297182, 0],
  },
  {
    of: "tall",
    map: "matrix_exp",
    use_trivialization: false,
    first: [0.070505, -0.886378, 0.986865, -0.004858, 0.145354, 0.462936],
    original: [0.5, -1.0, 1.5, 0.75, -0.25, 0.5],
    after: [-0.568605, -0.547339, 0.716917, -0.69579, 0.403383, 0.465078],
    grad: [0, 0, 0.29436, 0, -0.134833, -0.030048],
  },
  {
    of: "tall",
    map: "cayley",
    use_trivialization: false,
    first: [0.295238, -0.87619, 0.952381, 0.238095, 0.07619, 0.419048],
    original: [0.5, -1.0, 1.5, 0.75, -0.25, 0.5],
    after: [-0.0656, -0.864, 0.9792, -0.152, 0.192, 0.48],
    grad: [0, 0, 0.373852, 0, 0.007025, 0.165151],
  },
  {
    of: "wide",
    map: "householder",
    use_trivialization: false,
    first: [0.312348, 0.937043, -0.156174, -0.838117, 0.349215, 0.419058],
    original: [-1.0, 0.71402, -0.119003, -0.312348, -1.0, 0.163951],
    after: [-0.375565, 0.914186, -0.152364, -0.539027, -0.081723, 0.838315],
    grad: [0, 0.643811, -0.472175, 0, 0, -0.098374],
  },
];

const layerOf = (t, weight) => {
  const layer = t.torch.nn.Linear(weight[0].length, weight.length, { bias: false }).to(t.device);
  layer.weight.data.copy_(t.tensor(weight));
  return layer;
};
const flat = (x) => x.detach().flatten().tolist();
const near = { atol: 3e-6, rtol: 1e-5 };

export default {
  "weights by rotations and reflections, and their slopes": async (t) => {
    const { torch } = t,
      { orthogonal } = torch.nn.utils.parametrizations;
    for (const { of, map, use_trivialization, first, original, after, grad } of ANSWERS) {
      const layer = layerOf(t, WEIGHTS[of]);
      t.equal(orthogonal(layer, "weight", map, { use_trivialization }) === layer, true);
      t.close(await flat(layer.weight), first, near);
      const free = layer.parametrizations.weight.original,
        step = t.tensor(WEIGHTS[of]).mul(0.5);
      t.close(await flat(free), original, near);
      free.data.add_(of === "wide" ? step.triu(1) : step.tril(-1));
      const weight = layer.weight,
        by = t.tensor([-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1]).reshape(3, 3);
      t.close(await flat(weight), after, near);
      weight
        .mul(by.index(`:${weight.size(0)}`, `:${weight.size(1)}`))
        .sum()
        .backward();
      t.close(await flat(free.grad), grad, near);
    }
  },
  "what is orthogonal stays as it is; others become so": async (t) => {
    const { torch } = t,
      { orthogonal } = torch.nn.utils.parametrizations,
      turned = [
        [0.6, -0.8],
        [0.8, 0.6],
      ],
      layer = orthogonal(layerOf(t, turned));
    t.equal(await flat(layer.weight), await flat(t.tensor(turned)));
    t.equal(Object.keys(layer.state_dict()), ["parametrizations.weight.original", "parametrizations.weight.0.base"]);
    const wide = orthogonal(layerOf(t, WEIGHTS.wide)),
      unit = (n) => flat(torch.eye(n, { device: t.device }));
    t.close(await flat(wide.weight.matmul(wide.weight.T)), await unit(2), near);
    t.equal(wide.parametrizations.weight.at(0).base.shape, [3, 3]);
    wide.weight = t.tensor(WEIGHTS.wide).flip(0);
    t.close(await flat(wide.weight.matmul(wide.weight.T)), await unit(2), near);
    const again = orthogonal(layerOf(t, WEIGHTS.wide));
    again.load_state_dict(wide.state_dict());
    t.close(await flat(again.weight), await flat(wide.weight), near);
    const batch = torch.nn.ParameterDict({ q: torch.nn.Parameter(torch.randn([2, 4, 3], { device: t.device })) }),
      q = orthogonal(batch, { name: "q", orthogonal_map: "householder" }).q;
    t.close(await flat(q.mT.matmul(q)), (await unit(3)).concat(await unit(3)), near);
  },
  "what orthogonal refuses": async (t) => {
    const { orthogonal } = t.torch.nn.utils.parametrizations,
      make = () => layerOf(t, WEIGHTS.square);
    await t.throws(() => orthogonal(make(), "bais"), /Module 'Linear' has no parameter or buffer with name 'bais'/);
    await t.throws(() => orthogonal(make(), { orthogonal_map: "qr" }), /has to be one of .* Got: qr/);
    await t.throws(() => orthogonal(t.torch.nn.Linear(2, 2).to(t.device), "bias"), /Got a tensor of 1 dimensions/);
    const fixed = orthogonal(make(), "weight", "cayley", { use_trivialization: false });
    await t.throws(
      () => (fixed.weight = t.tensor(WEIGHTS.square)),
      /parametrization _Orthogonal does not implement right_inverse/,
    );
    const free = orthogonal(make());
    await t.throws(() => (free.weight = t.tensor(WEIGHTS.tall)), /Expected a matrix .* of shape \[3, 3\]/);
  },
};
