// torch.amp.GradScaler: a training as PyTorch recorded it (tests/recorded/autocast.py), and what is refused.

import { has16, recorded } from "./amp.mjs";

const made = (t, { dtype, shape, data }) => t.torch.tensor(data, { dtype, device: t.device }).reshape(shape);

export default {
  "training with a GradScaler, as recorded": async (t) => {
    const { inputs, model, trained } = await recorded(),
      { torch } = t;
    for (const { type, steps, after } of trained) {
      if (type === "float16" && !has16(t)) continue;
      const p = Object.fromEntries(Object.entries(model).map(([name, x]) => [name, made(t, x).requires_grad_()])),
        all = Object.values(p),
        optimizer = torch.optim.SGD(all, { lr: 0.1, momentum: 0.9 }),
        scaler = torch.amp.GradScaler(t.device, {
          init_scale: 1024,
          growth_factor: 2,
          backoff_factor: 0.25,
          growth_interval: 2,
        }),
        [x, y] = [made(t, inputs.m), made(t, inputs.q)];
      for (const [step, wanted] of steps.entries()) {
        optimizer.zero_grad();
        const [out, loss] = torch.autocast(
          t.device,
          () => {
            const out = torch.nn.functional.linear(torch.nn.functional.linear(x, p.w1, p.b1).relu(), p.w2, p.b2);
            return [out, torch.nn.functional.mse_loss(out, y)];
          },
          { dtype: type },
        );
        scaler.scale(loss.mul(step === 2 ? Infinity : 1)).backward();
        scaler.unscale_(optimizer);
        torch.nn.utils.clip_grad_norm_(all, 1);
        await scaler.step(optimizer);
        await scaler.update();
        t.equal(
          [out.dtype, ...Object.entries(scaler.state_dict()).flat()],
          [wanted.type, ...Object.entries(wanted.state).flat()],
        );
        t.close(await loss.item(), wanted.loss, { rtol: 0.05, atol: 0.02 });
      }
      for (const [name, x] of Object.entries(p))
        t.close(Array.from(await x.data()), after[name].data, { rtol: 0.05, atol: 0.03 });
      const other = torch.amp.GradScaler(t.device);
      other.load_state_dict(scaler.state_dict());
      t.equal(Object.entries(other.state_dict()), Object.entries(scaler.state_dict()));
    }
  },
  "what a GradScaler refuses, and one that is off": async (t) => {
    const { torch } = t,
      w = t.tensor([2], { requires_grad: true }),
      optimizer = torch.optim.SGD([w], { lr: 1 }),
      scaler = torch.GradScaler(t.device, { init_scale: 4 });
    await t.throws(() => scaler.unscale_(optimizer), /Attempted unscale_ but _scale is None/);
    await t.throws(() => scaler.step(optimizer), /Attempted step but _scale is None/);
    scaler.scale(w.mul(3).sum()).backward();
    t.equal(await w.grad.tolist(), [12]);
    scaler.unscale_(optimizer);
    t.equal(await w.grad.tolist(), [3]);
    await t.throws(() => scaler.unscale_(optimizer), /unscale_\(\) has already been called/);
    await scaler.step(optimizer);
    t.equal(await w.tolist(), [-1]);
    await t.throws(() => scaler.step(optimizer), /step\(\) has already been called/);
    await t.throws(() => scaler.unscale_(optimizer), /called after step/);
    const ends = scaler.update();
    await t.throws(() => scaler.scale(w), /await scaler.update\(\)/);
    await ends;
    await t.throws(() => scaler.update(), /No inf checks were recorded/);
    await scaler.update(8);
    t.equal(scaler.get_scale(), 8);
    t.equal(await scaler.scale([w.detach(), [w.detach()]])[1][0].tolist(), [-8]);
    await t.throws(() => torch.GradScaler(t.device, { growth_factor: 1 }), /growth factor must be > 1/);
    await t.throws(() => torch.GradScaler(t.device, { init_scales: 1 }), /did you mean 'init_scale'/);
    await t.throws(() => scaler.load_state_dict({}), /source state dict is empty/);
    const off = torch.GradScaler(t.device, { enabled: false });
    t.equal(
      [off.scale(w) === w, off.get_scale(), Object.keys(off.state_dict()), off.is_enabled()],
      [true, 1, [], false],
    );
    await off.step(optimizer);
    t.equal(await w.tolist(), [-4]);
  },
};
