// torch.compiler.explain: what a program became, as text and as a picture.

function ok(value, message) {
  if (!value) throw new Error(`not so: ${message}`);
}

/** Whether each tag is closed by its own, and nothing stands in a text that must not: enough for what is drawn. */
function wellFormed(svg) {
  const open = [];
  for (const [, close, name, alone] of svg.matchAll(/<(\/?)([a-z]+)(?: [a-z-]+="[^"<]*")*(\/?)>/g))
    if (close) {
      if (open.pop() !== name) return false;
    } else if (!alone) open.push(name);
  return open.length === 0 && !/<(?![/a-z])|&(?!amp;|lt;|gt;|quot;)/.test(svg);
}

const count = (text, part) => text.split(part).length - 1;

/** A function that was called three times, of a name that is no text of XML. */
async function called(t, own, ...shapes) {
  Object.defineProperty(own, "name", { value: 'a<b & "c"' });
  const f = t.torch.compile(own, { fullgraph: true });
  for (let n = 0; n < 3; n++) await f(...shapes.map((shape) => t.torch.ones(shape, { device: t.device })));
  return f;
}

export default {
  "what was joined, what it launches, and why the rest is not joined": async (t) => {
    const { explain } = t.torch.compiler,
      f = await called(t, (x) => x.mul(2).add(1).softmax(-1).cumsum(-1).relu().sum(), [4, 6]),
      text = explain(f);
    ok(/forward: 6 steps recorded, [23] left, [23] launches/.test(text), text);
    ok(/mul > add > softmax/.test(text), text);
    ok(/apart, since neither computes each point by itself/.test(text), text);
    // Every step on the device says what it launches.
    const steps = text.split("\n").filter((line) => /^ {2}\d+: /.test(line));
    ok(steps.length >= 2 && steps.every((line) => /# \w+/.test(line)), text);
    const one = await called(t, (x) => x.mul(2).add(1).relu(), [4, 6]);
    ok(
      !/apart/.test(explain(one)) && /3 steps recorded, 1 left, 1 launches; 0 blocks/.test(explain(one)),
      explain(one),
    );
  },

  "both ways, an optimizer and a host step have their places": async (t) => {
    const { torch } = t,
      model = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.LayerNorm(4)).to(t.device),
      optimizer = new torch.optim.Adam(model.parameters()),
      step = torch.compile(
        async (x) => {
          optimizer.zero_grad();
          const loss = model(x).square().sum();
          loss.backward();
          await optimizer.step();
          return loss;
        },
        { fullgraph: true },
      ),
      back = torch.compile((x) => model(x));
    for (let n = 0; n < 4; n++) {
      const x = torch.ones([3, 6], { device: t.device });
      await step(x);
      back(x).sum().backward();
    }
    ok(/Adam runs on the host/.test(torch.compiler.explain(step)), torch.compiler.explain(step));
    ok(/numbers of Adam/.test(torch.compiler.explain(step)), torch.compiler.explain(step));
    ok(/\nbackward: \d+ steps recorded/.test(torch.compiler.explain(back)), torch.compiler.explain(back));
    for (const f of [step, back]) ok(wellFormed(torch.compiler.explain(f, { format: "svg" })), "the picture is XML");
  },

  "a picture shows each step, each pair and each block of memory": async (t) => {
    const { explain } = t.torch.compiler,
      f = await called(t, (x) => x.cumsum(0).cumsum(1).cumsum(0).sum(), [5, 7]),
      svg = explain(f, { format: "svg" }),
      text = explain(f);
    ok(svg.startsWith("<svg xmlns=") && wellFormed(svg), svg);
    ok(svg.includes("a&lt;b &amp; &quot;c&quot;"), svg);
    ok(/>0: [^<]*float32\[5, 7\]/.test(svg), svg); // what its first step makes
    const lives = text.match(/\(steps \d+ to \d+\)/g).length,
      steps = text.split("\n").filter((line) => /^ {2}\d+: /.test(line)).length;
    // One for the ground.
    t.equal(count(svg, "<rect"), 1 + steps + lives);
    ok(count(svg, "<path") >= steps - 1, svg);
    t.equal(explain(f, "text"), text);
    await t.throws(() => explain(f, { format: "png" }), /argument 'format' must be "text" or "svg", got/);
  },
};
