"""What is tracked, gradients of first and second order, and a last look at all tensors."""

from __future__ import annotations

from answers import dtype_name
from values import Values


class Gradients(Values):
    # ---- autograd
    def track(self):
        n = self.float()
        if n is None:
            return False
        return self.do(
            self.rng.choice(
                [
                    "torch.Tensor.requires_grad_",
                    "torch.Tensor.requires_grad_",
                    "torch.Tensor.detach_",
                    "torch.Tensor.retain_grad",
                ]
            ),
            [self.T(n)],
        )

    def untracked(self):
        """The next step without recording."""
        return self.rng.choice([self.view, self.binary, self.inplace, self.unary])()

    def total(self, n: int) -> int | None:
        """A weighted sum of a tensor: something to go back from."""
        t = self.t(n)
        if t.dim() == 0 and self.rng.random() < 0.7:
            return n
        if self.rng.random() < 0.5:
            w = self.const(list(t.shape), dtype_name(t.dtype), False)
            if not self.do("torch.mul", [self.T(n), self.T(w)]) or "o" not in self.steps[-1]:
                return None
            n = self.steps[-1]["o"]["t"]
        if not self.do("torch.Tensor.sum", [self.T(n)]) or "o" not in self.steps[-1]:
            return None
        return self.steps[-1]["o"]["t"]

    def grad(self):
        r = self.rng
        n = self.float(lambda t: t.requires_grad and not t.is_leaf)
        if n is None:
            return False
        c = r.random()
        if c < 0.35:
            s = self.total(n)
            if s is None or not self.t(s).requires_grad:
                return False
            return self.do("torch.Tensor.backward", [self.T(s)], {"retain_graph": True} if r.random() < 0.7 else {})
        if c < 0.45:
            return self.do(
                "torch.Tensor.backward",
                [self.T(n), self.T(self.const(list(self.t(n).shape), dtype_name(self.t(n).dtype), False))],
                {"retain_graph": r.random() < 0.7},
            )
        leaves = [
            m
            for m in self.live
            if self.t(m).requires_grad and self.t(m).is_floating_point() and (self.t(m).is_leaf or r.random() < 0.2)
        ]
        if not leaves:
            return False
        some = r.sample(leaves, min(len(leaves), r.randint(1, 3)))
        s = self.total(n)
        if s is None or not self.t(s).requires_grad:
            return False
        create = r.random() < 0.5
        if not self.do(
            "torch.autograd.grad",
            [self.T(s), [self.T(m) for m in some]],
            {"create_graph": create, "retain_graph": True, "allow_unused": True},
        ):
            return False
        if create and "o" in self.steps[-1] and r.random() < 0.8:
            for g in [p["t"] for p in self.steps[-1]["o"] if p]:
                if self.t(g).requires_grad:
                    if not self.do("torch.mul", [self.T(g), self.T(g)]) or "o" not in self.steps[-1]:
                        return True
                    if not self.do("torch.Tensor.sum", [self.steps[-1]["o"]]) or "o" not in self.steps[-1]:
                        return True
                    s2 = self.steps[-1]["o"]
                    if self.t(s2["t"]).requires_grad:
                        if r.random() < 0.5:
                            self.do(
                                "torch.autograd.grad",
                                [s2, [self.T(m) for m in some]],
                                {"retain_graph": True, "allow_unused": True},
                            )
                        else:
                            self.do("torch.Tensor.backward", [s2], {"retain_graph": True})
                    break
        return True

    def finish(self) -> None:
        if self.grads:
            for _ in range(2):
                try:
                    self.grad()
                except RuntimeError:
                    pass
            for n in list(self.live):
                t = self.t(n)
                try:
                    has = t.is_leaf and t.requires_grad and t.grad is not None
                except RuntimeError:
                    continue
                if has:
                    self.do("torch.Tensor.grad.__get__", [self.T(n)])
        for n in list(self.live):
            if self.t(n).numel() <= 300:
                self.steps.append({"f": "check", "a": [self.T(n)]})
