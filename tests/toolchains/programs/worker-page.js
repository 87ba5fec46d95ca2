// What a page with a worker runs: the worker trains.
globalThis.trained = new Promise((done) => {
  const worker = new Worker("./worker.js", { type: "module" });
  worker.onmessage = ({ data }) => done(data);
  worker.onerror = (event) => done({ error: event.message });
});
