// Small files that want much memory or time are refused before they get it.  No device and no setting changes that: it
// runs on the CPU alone.

import { greedy } from "../files/damage.mjs";

export default {
  "small files that want much are refused soon": async (t) => {
    for (const [what, data, words] of await greedy()) {
      const started = Date.now(),
        answer = await t.torch.load(data).then(
          () => null,
          (error) => error,
        );
      if (words)
        t.equal(
          [
            what,
            answer instanceof t.torch.FileError,
            words.test(answer?.message),
            answer?.message.length < 1200 || answer,
          ],
          [what, true, true, true],
        );
      else t.equal([what, answer === null || answer instanceof t.torch.FileError], [what, true]);
      const seconds = (Date.now() - started) / 1000;
      t.equal([what, seconds < 60 || seconds], [what, true]);
      if (/^\{/.test(new TextDecoder().decode(data.subarray(0, 1))))
        await t.throws(() => t.torch.nn.Linear(1, 1).load_state_dict(data), words);
    }
  },
};
