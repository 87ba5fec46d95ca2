const steps = 300,
  losses = [],
  data = sampled(FUNCTIONS["waves"]);
const { predict } = await train(torch, data, {
  device: torch.get_default_device(),
  steps,
  async report(step, read) {
    if (step % 10 === 0) losses.push(await read());
  },
});
plot(data.x, { samples: data.samples, "the function": data.truth, "the network": await predict() });
plot(losses);
console.log("loss", losses.at(-1));
