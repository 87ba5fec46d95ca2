"""Products of matrices and what linear algebra asks."""

from __future__ import annotations

from answers import dtype_name
from values import Values


class Matrices(Values):
    def matmul(self):
        r = self.rng
        n = self.float(lambda t: 1 <= t.dim() <= 4)
        if n is None:
            return False
        t = self.t(n)
        dt = dtype_name(t.dtype)
        k = t.shape[-1]
        x = self.T(n)
        op = r.choice(
            [
                "matmul",
                "matmul",
                "linear",
                "outer",
                "einsum",
                "addmm",
                "bmm",
                "mm",
                "tensordot",
                "mv",
                "dot",
                "baddbmm",
                "inner",
                "cdist",
                "addmv",
                "addr",
                "vdot",
                "chain_matmul",
            ]
        )
        if op == "matmul":
            s = r.choice([[k], [k, 2], [2, k, 3], [1, k, 2]])
            return self.do(
                "torch.matmul",
                (
                    [x, self.T(self.const(s, dt))]
                    if r.random() < 0.8
                    else [self.T(self.const([3, t.shape[-2]] if t.dim() > 1 else [3, k], dt)), x]
                ),
            )
        if op == "linear":
            a = [x, self.T(self.const([3, k], dt))]
            if r.random() < 0.6:
                a.append(self.T(self.const([3], dt)))
            return self.do("torch.nn.functional.linear", a)
        if op == "outer":
            return t.dim() == 1 and self.do("torch.outer", [x, self.T(self.const([r.randint(0, 4)], dt))])
        if op == "einsum":
            if t.dim() == 2:
                e, s = r.choice(
                    [
                        ("ij,jk->ik", [k, 3]),
                        ("ij,j->i", [k]),
                        ("ij,kj->ik", [2, k]),
                        ("ij,ij->", list(t.shape)),
                        ("ij,k->jik", [2]),
                        ("ij,jk->k", [k, 2]),
                    ]
                )
                return self.do("torch.einsum", [e, x, self.T(self.const(s, dt))])
            if t.dim() == 3:
                e, s = r.choice(
                    [
                        ("bij,bjk->bik", [t.shape[0], k, 2]),
                        ("...j,jk->...k", [k, 3]),
                        ("bij->bji", None),
                        ("bij,bkj->bik", [t.shape[0], 2, k]),
                    ]
                )
                return self.do("torch.einsum", [e, x] + ([self.T(self.const(s, dt))] if s else []))
            return False
        if op in ("addmm", "mm"):
            if t.dim() != 2:
                return False
            b = self.T(self.const([k, 3], dt))
            return (
                self.do("torch.mm", [x, b])
                if op == "mm"
                else self.do(
                    "torch.addmm",
                    [self.T(self.const(r.choice([[t.shape[0], 3], [3], []]), dt)), x, b],
                    {"beta": r.choice([1, 0.5, 0]), "alpha": r.choice([1, 2])},
                )
            )
        if op in ("bmm", "baddbmm"):
            if t.dim() != 3:
                return False
            b = self.T(self.const([t.shape[0], k, 2], dt))
            return (
                self.do("torch.bmm", [x, b])
                if op == "bmm"
                else self.do("torch.baddbmm", [self.T(self.const([t.shape[1], 2], dt)), x, b])
            )
        if op == "tensordot":
            return t.dim() >= 2 and self.do("torch.tensordot", [x, self.T(self.const([k, 2], dt))], {"dims": 1})
        if op == "mv":
            return t.dim() == 2 and self.do("torch.mv", [x, self.T(self.const([k], dt))])
        if op in ("dot", "vdot"):
            return t.dim() == 1 and self.do("torch." + op, [x, self.T(self.const([k], dt))])
        if op == "inner":
            return self.do("torch.inner", [x, self.T(self.const([k], dt))])
        if op == "cdist":
            return t.dim() == 2 and self.do("torch.cdist", [x, self.T(self.const([3, k], dt))], {"p": r.choice([1, 2])})
        if op == "addmv":
            return t.dim() == 2 and self.do(
                "torch.addmv", [self.T(self.const([t.shape[0]], dt)), x, self.T(self.const([k], dt))]
            )
        if op == "addr":
            return t.dim() == 2 and self.do(
                "torch.addr", [x, self.T(self.const([t.shape[0]], dt)), self.T(self.const([k], dt))]
            )

    def special(self):
        r = self.rng
        n = self.float(lambda t: t.dim() >= 2 and t.numel() and t.shape[-1] == t.shape[-2])
        if n is None:
            n = self.const(r.choice([[2, 2], [3, 3], [2, 3, 3]]), "float32")
        t = self.t(n)
        if t.isnan().any() or t.isinf().any():
            return False
        op = r.choice(
            [
                "linalg.det",
                "linalg.inv",
                "linalg.norm",
                "linalg.matrix_norm",
                "linalg.vector_norm",
                "linalg.solve",
                "linalg.cholesky",
                "logdet",
                "linalg.slogdet",
                "matrix_exp",
                "linalg.matrix_power",
                "fft.rfft",
            ]
        )
        x = self.T(n)
        if (
            op in ("linalg.inv", "linalg.solve", "logdet", "linalg.slogdet")
            and (t.detach().double().det().abs() < 0.05).any()
        ):
            return False
        if op == "linalg.cholesky":
            return False
        if op == "linalg.solve":
            return self.do("torch.linalg.solve", [x, self.T(self.const([t.shape[-1], 2], dtype_name(t.dtype)))])
        if op == "linalg.matrix_power":
            return self.do("torch." + op, [x, r.choice([0, 1, 2, 3])])
        if op == "fft.rfft":
            return False
        return self.do("torch." + op, [x])
