// Runs a bundled model in a worker: {module, inputs, device} comes, {device, outputs} or {error} goes.
self.onmessage = async ({ data: { module, inputs, device } }) => {
  try {
    const model = await (await import(module)).load({ device });
    self.postMessage({ device: model.device, outputs: await model.run(inputs) });
  } catch (error) {
    self.postMessage({ error: error.message });
  }
};
