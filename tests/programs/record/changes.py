"""Changes in place, and tensors put together."""

from __future__ import annotations

import torch
from answers import dtype_name
from values import Values, fits

INPLACE_UNARY = [
    "neg_",
    "abs_",
    "sin_",
    "tanh_",
    "sigmoid_",
    "relu_",
    "square_",
    "floor_",
    "round_",
    "exp_",
    "zero_",
    "sqrt_",
    "trunc_",
    "logical_not_",
    "sign_",
]
INPLACE_BINARY = [
    "add_",
    "sub_",
    "mul_",
    "div_",
    "remainder_",
    "fmod_",
    "copy_",
    "eq_",
    "lt_",
    "ge_",
    "pow_",
    "atan2_",
    "bitwise_and_",
    "bitwise_xor_",
    "logical_and_",
    "floor_divide_",
]


class Changes(Values):
    def join(self):
        r = self.rng
        n = self.pick(lambda t: t.numel() < 200)
        if n is None:
            return False
        t = self.t(n)
        op = r.choice(
            [
                "cat",
                "stack",
                "hstack",
                "vstack",
                "repeat",
                "tile",
                "roll",
                "repeat_interleave",
                "rot90",
                "kron",
                "dstack",
                "column_stack",
                "block_diag",
            ]
        )
        same = [self.T(n)]
        for _ in range(r.randint(0, 2)):
            o = self.pick(lambda u: u.shape == t.shape and (u.dtype == t.dtype or r.random() < 0.5))
            same.append(self.T(o if o is not None else self.const(list(t.shape), dtype_name(t.dtype))))
        if op in ("cat", "stack"):
            if op == "cat" and r.random() < 0.3 and t.dim():
                s = list(t.shape)
                d = r.randrange(t.dim())
                s[d] = r.choice([0, 1, 2])
                return self.do(
                    "torch.cat",
                    [[*same, self.T(self.const(s, dtype_name(t.dtype) if r.random() < 0.7 else None))], d],
                )
            return (t.dim() > 0 or op == "stack") and self.do(
                "torch." + op, [same, self.dim(t) if op == "cat" else r.randint(-t.dim() - 1, t.dim())]
            )
        if op in ("hstack", "vstack", "dstack", "column_stack", "block_diag"):
            if op == "block_diag":
                return t.dim() <= 2 and t.numel() < 30 and self.do("torch.block_diag", same)
            return self.do("torch." + op, [same])
        if op in ("repeat", "tile"):
            return (
                t.numel() < 60
                and t.dim() < 5
                and self.do(
                    "torch.Tensor." + op,
                    [
                        self.T(n),
                        [
                            r.choice([1, 2, 1, 3, 0]) if r.random() < 0.3 else r.choice([1, 2])
                            for _ in range(t.dim() + r.randrange(2))
                        ],
                    ],
                )
            )
        if op == "roll":
            return self.do(
                "torch.roll",
                (
                    [self.T(n), r.randint(-3, 3)]
                    if r.random() < 0.4 or not t.dim()
                    else [self.T(n), r.randint(-3, 3), self.dim(t)]
                ),
            )
        if op == "repeat_interleave":
            return (
                t.dim()
                and t.numel() < 100
                and self.do("torch.repeat_interleave", [self.T(n), r.randint(0, 3)], {"dim": self.dim(t)})
            )
        if op == "rot90":
            return t.dim() >= 2 and self.do("torch.rot90", [self.T(n), r.randint(-1, 3), r.sample(range(t.dim()), 2)])
        if op == "kron":
            o = self.pick(lambda u: u.numel() * t.numel() < 300 and u.dim() <= 3)
            return o is not None and t.dim() <= 3 and self.do("torch.kron", [self.T(n), self.T(o)])
        return False

    def inplace(self):
        r = self.rng
        n = self.pick()
        t = self.t(n)
        x = self.T(n)
        c = r.random()
        if c < 0.3:
            return self.do("torch.Tensor." + r.choice(INPLACE_UNARY), [x])
        if c < 0.42:
            return self.inplace_special(n, t)
        op = r.choice(INPLACE_BINARY[:7] if r.random() < 0.7 else INPLACE_BINARY)
        if r.random() < 0.65 or op == "copy_":
            o = (
                self.pick(
                    lambda u: (
                        list(torch.broadcast_shapes(t.shape, u.shape)) == list(t.shape)
                        if fits(t, u)
                        else r.random() < 0.02
                    )
                )
                if r.random() < 0.5
                else None
            )
            v = self.T(o if o is not None else self.like(t, dtype_name(t.dtype) if r.random() < 0.8 else None))
        else:
            v = self.scalar(t)
            if op == "pow_":
                v = r.choice([2, 1, 3])
        k = (
            {"alpha": r.choice([2, 0.5])}
            if op in ("add_", "sub_") and r.random() < 0.15
            else {"rounding_mode": "floor"}
            if op == "div_" and r.random() < 0.2
            else {}
        )
        return self.do("torch.Tensor." + op, [x, v], k, ng=r.random() < 0.12)

    def inplace_special(self, n, t):
        r = self.rng
        x = self.T(n)
        op = r.choice(
            [
                "fill_",
                "clamp_",
                "masked_fill_",
                "addcmul_",
                "lerp_",
                "t_",
                "transpose_",
                "unsqueeze_",
                "squeeze_",
                "fill_diagonal_",
                "cumsum_",
                "tril_",
                "index_fill_",
                "nan_to_num_",
            ]
        )
        m = "torch.Tensor." + op
        if op == "fill_":
            return self.do(m, [x, self.scalar(t)])
        if op == "clamp_":
            return self.do(m, [x, -1, 1] if r.random() < 0.5 else [x], {} if r.random() < 0.5 else {"min": 0})
        if op == "masked_fill_":
            return self.do(m, [x, self.T(self.like(t, "bool", False)), r.choice([0, 1])])
        if op == "addcmul_":
            return self.do(
                m,
                [x, self.T(self.like(t, dtype_name(t.dtype))), self.T(self.like(t, dtype_name(t.dtype)))],
                {"value": r.choice([2, 0.5])} if t.is_floating_point() else {},
            )
        if op == "lerp_":
            return t.is_floating_point() and self.do(m, [x, self.T(self.like(t, dtype_name(t.dtype))), 0.25])
        if op in ("t_",):
            return t.dim() <= 2 and self.do(m, [x])
        if op == "transpose_":
            return t.dim() > 1 and self.do(m, [x, self.dim(t), self.dim(t)])
        if op == "unsqueeze_":
            return t.dim() < 5 and self.do(m, [x, r.randint(-t.dim() - 1, t.dim())])
        if op == "squeeze_":
            return self.do(m, [x])
        if op == "fill_diagonal_":
            return t.dim() == 2 and self.do(m, [x, r.choice([1, 2])])
        if op == "cumsum_":
            return self.do(m, [x, self.dim(t)])
        if op == "tril_":
            return t.dim() >= 2 and self.do(m, [x])
        if op == "index_fill_":
            return (
                t.dim()
                and t.numel()
                and self.do(m, [x, 0, self.T(self.index_tensor(t.shape[0], [1])), r.choice([0, 1])])
            )
        return t.is_floating_point() and self.do(m, [x])
