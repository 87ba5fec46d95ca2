"""Types, choices, orders, and tensors made anew."""

from __future__ import annotations

import numpy as np
from answers import dtype_name
from values import Values


class Others(Values):
    def convert(self):
        n = self.pick()
        r = self.rng
        c = r.random()
        if c < 0.5:
            finite = bool(
                self.t(n).detach().isfinite().all()
            )  # what an infinity or NaN is as a whole number, C leaves open
            return self.do(
                "torch.Tensor.to",
                [
                    self.T(n),
                    {
                        "d": r.choice(
                            ["float32", "bool"]
                            if not finite
                            else ["float32", "float32", "int32", "int64", "bool", "uint8", "int8"]
                            + (["float64"] if self.device == "cpu" else [])
                        )
                    },
                ],
            )
        if c < 0.6:
            return self.do("torch.Tensor.type_as", [self.T(n), self.T(self.pick())])
        return self.do(
            "torch.Tensor." + r.choice(["float", "int", "bool", "clone", "detach", "contiguous", "clone"]),
            [self.T(n)],
        )

    def where(self):
        r = self.rng
        n = self.pick()
        t = self.t(n)
        c = self.like(t, "bool", False)
        other = self.T(self.partner(t)) if r.random() < 0.7 else self.scalar(t)
        op = r.choice(["where", "where", "clamp", "lerp", "addcmul", "addcdiv"])
        if op == "where":
            return self.do(
                "torch.where", [self.T(c), self.T(n), other] if r.random() < 0.6 else [self.T(c), other, self.T(n)]
            )
        if op == "clamp":
            return self.do(
                "torch.clamp",
                [self.T(n)],
                (
                    {"min": r.choice([-1, 0, -0.5, self.T(self.like(t, dtype_name(t.dtype)))])}
                    if r.random() < 0.5
                    else {"min": -1, "max": r.choice([1, 0.5])}
                ),
            )
        if not t.is_floating_point():
            return False
        o = lambda: self.T(self.like(t, dtype_name(t.dtype)))
        if op == "lerp":
            return self.do("torch.lerp", [self.T(n), o(), r.choice([0.25, o()])])
        return self.do("torch." + op, [self.T(n), o(), o()], {"value": r.choice([0.5, 2])})

    def sorting(self):
        r = self.rng
        n = self.float(lambda t: t.numel() > 0 and not t.isnan().any())
        if n is None:
            return False
        t = self.t(n)
        d = r.randrange(t.dim()) if t.dim() else 0
        x = self.T(n)
        op = r.choice(
            [
                "sort",
                "argsort",
                "topk",
                "kthvalue",
                "median",
                "mode",
                "unique",
                "msort",
                "quantile",
                "nanmedian",
                "histc",
                "bucketize",
            ]
        )
        if op == "sort":
            return self.do("torch.sort", [x], {"dim": d, "descending": r.random() < 0.5, "stable": True})
        if op == "argsort":
            return self.do("torch.argsort", [x], {"dim": d, "descending": r.random() < 0.5, "stable": True})
        lines = t.detach().movedim(d, -1).reshape(-1, t.shape[d]) if t.dim() else t.detach().reshape(1, 1)
        distinct = all(len(set(line.tolist())) == len(line) for line in lines)
        if op in ("topk", "kthvalue", "median", "mode", "nanmedian") and not distinct:
            return False
        if op == "topk":
            return self.do(
                "torch.topk",
                [x, r.randint(0 if t.dim() else 1, t.shape[d] if t.dim() else 1)],
                {"dim": d, "largest": r.random() < 0.5},
            )
        if op == "kthvalue":
            return self.do("torch.kthvalue", [x, r.randint(1, t.shape[d] if t.dim() else 1)], {"dim": d})
        if op in ("median", "nanmedian", "mode"):
            return self.do("torch." + op, [x, d])
        if op == "unique":
            return (
                self.do("torch.unique", [x.copy()], {"return_inverse": True, "return_counts": True})
                if not t.requires_grad
                else False
            )
        if op == "msort":
            return t.dim() and self.do("torch.msort", [x])
        if op == "quantile":
            return not t.isinf().any() and self.do(
                "torch.quantile", [x, r.choice([0.25, 0.5, 0.75])], {"dim": d, "keepdim": r.random() < 0.5}
            )
        if op == "histc":
            return (
                not t.isinf().any()
                and not t.requires_grad
                and self.do("torch.histc", [x], {"bins": 4, "min": -2, "max": 2})
            )
        return self.do(
            "torch.bucketize", [x, self.T(self.const([3], dtype_name(t.dtype), False, np.array([-1, 0, 1])))]
        )

    def create(self):
        r = self.rng
        n = self.pick()
        op = r.choice(
            [
                "const",
                "const",
                "zeros_like",
                "ones_like",
                "full_like",
                "arange",
                "linspace",
                "eye",
                "new_zeros",
                "new_full",
                "tril_indices",
                "vander",
                "scalar",
            ]
        )
        if op == "const":
            return self.const() is not None
        if op == "scalar":
            return self.const([]) is not None
        if op in ("zeros_like", "ones_like"):
            return self.do(
                "torch." + op,
                [self.T(n)],
                {"requires_grad": True} if self.grads and self.t(n).is_floating_point() and r.random() < 0.3 else {},
            )
        if op == "full_like":
            return self.do("torch.full_like", [self.T(n), r.choice([1, 2])])
        if op == "arange":
            return self.do(
                "torch.arange",
                [r.randint(0, 6)] if r.random() < 0.5 else [r.randint(-3, 3), r.randint(3, 7), r.choice([1, 2])],
                {"dtype": {"d": r.choice(["float32", "int64", "int32"])}},
            )
        if op == "linspace":
            return self.do("torch.linspace", [-1, 1, r.randint(0, 6)])
        if op == "eye":
            return self.do("torch.eye", [r.randint(0, 4), r.randint(0, 4)])
        if op == "new_zeros":
            return self.do("torch.Tensor.new_zeros", [self.T(n), self.shape()])
        if op == "new_full":
            return self.do("torch.Tensor.new_full", [self.T(n), self.shape(), 1])
        if op == "tril_indices":
            return self.do("torch.tril_indices", [r.randint(1, 3), r.randint(1, 3)])
        return self.t(n).dim() == 1 and self.t(n).is_floating_point() and self.do("torch.vander", [self.T(n), 3])
