// A worker that does one thing that a tab does.

import * as tab from "./tab.mjs";

self.onmessage = async ({ data: [name, args] }) => {
  try {
    self.postMessage({ answer: await tab[name](...args) });
  } catch (error) {
    self.postMessage({ error: `${error.name}: ${error.message}` });
  }
};
