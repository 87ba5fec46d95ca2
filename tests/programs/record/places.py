"""Steps that read or write at places: indices, gathers and scatters."""

from __future__ import annotations

import numpy as np
import torch
from answers import dtype_name
from values import Values


class Places(Values):
    def index(self, t: torch.Tensor, assign=False):
        """An index of t, encoded."""
        r, out, d = self.rng, [], 0
        ellipsis = False
        advanced = None
        for _ in range(r.randint(1, max(1, t.dim()))):
            if d >= t.dim():
                break
            size = t.shape[d]
            c = r.choices(
                ["int", "slice", "none", "ellipsis", "list", "tensor", "mask", "bool"],
                [3, 5, 1, 0.8, 0.8, 1.5, 1.2, 0.25],
            )[0]
            if c == "int":
                if not size:
                    c = "slice"
                else:
                    out.append(r.randrange(-size, size) if r.random() > 0.02 else size + 1)
                    d += 1
            if c == "slice":

                def bound():
                    return None if r.random() < 0.4 else r.randint(-size - 1, size + 1)

                out.append({"s": [bound(), bound(), r.choice([None, None, 1, 2, 3])]})
                d += 1
            elif c == "none":
                out.append(None)
            elif c == "ellipsis" and not ellipsis:
                out.append({"e": 1})
                ellipsis = True
                d = t.dim()
            elif c == "bool":
                out.append(r.random() < 0.6)
            elif c in ("list", "tensor"):
                if not size:
                    continue
                if advanced is None:
                    advanced = r.choice([[2], [3], [1], [2, 2], []])
                s = advanced if r.random() < 0.7 else [1] if advanced else []
                if c == "list" and len(s) == 1:
                    out.append([r.randrange(-size, size) for _ in range(s[0])])
                else:
                    out.append(self.T(self.index_tensor(size, s, True)))
                d += 1
            elif c == "mask" and advanced is None:
                k = r.randint(1, min(2, t.dim() - d))
                mask = self.const(list(t.shape[d : d + k]), "bool", False)
                out.append(self.T(mask))
                advanced = [int(self.t(mask).sum())]
                d += k
        if not out:
            out = [{"e": 1}]
        return {"u": out} if len(out) > 1 or r.random() < 0.3 else out[0]

    def getitem(self):
        n = self.pick(lambda t: t.dim() > 0) if self.rng.random() < 0.95 else self.pick()
        return n is not None and self.do("torch.Tensor.__getitem__", [self.T(n), self.index(self.t(n))])

    def setitem(self):
        n = self.pick(lambda t: t.dim() > 0)
        if n is None:
            return False
        t = self.t(n)
        i = self.index(t, True)
        try:
            part = t[self.run.decode(i)]
        except Exception:
            part = None
        r = self.rng.random()
        if part is None or r < 0.35:
            v = self.scalar(t)
            if not t.is_floating_point() and t.dtype != torch.bool:
                v = self.rng.choice([0, 1, 2, 3])
        elif r < 0.5:
            v = self.T(self.const([], dtype_name(t.dtype)))
        else:
            v = self.T(self.like(part, dtype_name(t.dtype) if self.rng.random() < 0.9 else None))
        if (
            self.rng.random() < 0.12
            and isinstance(i, dict)
            and "u" in i
            and all(isinstance(x, dict) and "t" in x for x in i["u"])
            and isinstance(v, dict)
        ):
            return self.do("torch.Tensor.index_put_", [self.T(n), i, v], {"accumulate": self.rng.random() < 0.6})
        return self.do("torch.Tensor.__setitem__", [self.T(n), i, v])

    def gather(self):
        r = self.rng
        n = self.pick(lambda t: t.dim() > 0 and t.numel() > 0)
        if n is None:
            return False
        t = self.t(n)
        d = r.randrange(t.dim())
        x = self.T(n)
        op = r.choice(
            [
                "gather",
                "index_select",
                "take",
                "masked_select",
                "take_along_dim",
                "nonzero",
                "embedding",
                "tril",
                "triu",
                "diag",
                "diag_embed",
                "trace",
                "pad",
                "bincount",
                "searchsorted",
            ]
        )
        if op in ("gather", "take_along_dim"):
            s = [r.randint(0 if r.random() < 0.1 else 1, k) for k in t.shape] if op == "gather" else list(t.shape)
            s[d] = r.randint(1, 4)
            return self.do(
                "torch." + op,
                (
                    [x, d, self.T(self.index_tensor(t.shape[d], s))]
                    if op == "gather"
                    else [x, self.T(self.index_tensor(t.shape[d], s)), d]
                ),
            )
        if op == "index_select":
            return self.do("torch." + op, [x, d, self.T(self.index_tensor(t.shape[d], [r.randint(0, 4)]))])
        if op == "take":
            return self.do("torch." + op, [x, self.T(self.index_tensor(t.numel(), r.choice([[3], [2, 2], []]), True))])
        if op == "masked_select":
            return self.do("torch." + op, [x, self.T(self.like(t, "bool", False))])
        if op == "nonzero":
            return self.do("torch.nonzero", [x])
        if op == "embedding":
            return (
                t.dim() == 2
                and t.is_floating_point()
                and self.do(
                    "torch.nn.functional.embedding",
                    [self.T(self.index_tensor(t.shape[0], r.choice([[3], [2, 2]]))), x],
                )
            )
        if op in ("tril", "triu"):
            return t.dim() >= 2 and self.do("torch." + op, [x, r.choice([0, 1, -1, 2])])
        if op == "diag":
            return t.dim() <= 2 and self.do("torch.diag", [x, r.choice([0, 1, -1])])
        if op == "diag_embed":
            return t.dim() <= 4 and self.do("torch.diag_embed", [x], {"offset": r.choice([0, 1, -1])})
        if op == "trace":
            return t.dim() == 2 and self.do("torch.trace", [x])
        if op == "pad":
            k = r.randint(1, t.dim())
            mode = r.choice(["constant", "constant", "reflect", "replicate", "circular"])
            if mode == "constant":
                return self.do(
                    "torch.nn.functional.pad",
                    [x, [r.choice([0, 1, 2, -1]) for _ in range(2 * k)]],
                    {"value": r.choice([0.5, 2])} if t.is_floating_point() else {},
                )
            k = max(1, min(3, t.dim() - 1))
            return t.dim() >= 2 and self.do(
                "torch.nn.functional.pad", [x, [r.choice([0, 1, 2]) for _ in range(2 * k)], mode]
            )
        if op == "bincount":
            return self.do("torch.bincount", [self.T(self.index_tensor(5, [4]))])
        if op == "searchsorted":
            s = self.const([5], "float32", False, np.sort(self.array([5], "float32")))
            return t.is_floating_point() and self.do("torch.searchsorted", [self.T(s), x], {"right": r.random() < 0.5})

    def scatter(self):
        r = self.rng
        n = self.pick(lambda t: t.dim() > 0 and t.numel() > 0)
        if n is None:
            return False
        t = self.t(n)
        d = r.randrange(t.dim())
        x = self.T(n)
        dt = dtype_name(t.dtype)
        op = r.choice(
            [
                "scatter",
                "scatter_add",
                "scatter_reduce",
                "index_add",
                "index_copy",
                "index_fill",
                "masked_fill",
                "masked_scatter",
                "index_put",
                "select_scatter",
                "slice_scatter",
                "diagonal_scatter",
                "index_reduce",
                "put",
            ]
        )
        tail = "_" if r.random() < 0.45 and op not in ("select_scatter", "slice_scatter", "diagonal_scatter") else ""
        m = "torch.Tensor." + op + tail
        if op in ("scatter", "scatter_add", "scatter_reduce"):
            s = [r.randint(1, k) for k in t.shape]
            s[d] = r.randint(1, t.shape[d]) if op == "scatter" else r.randint(1, 4)
            if op == "scatter":  # each place once
                idx = np.stack(
                    [
                        np.random.default_rng(r.getrandbits(32)).permutation(t.shape[d])[: s[d]]
                        for _ in range(int(np.prod(s) // s[d]))
                    ]
                ).reshape([*(s[:d] + s[d + 1 :]), s[d]])
                i = self.const(s, "int64", False, np.moveaxis(idx, -1, d))
                v = self.scalar(t) if r.random() < 0.3 else self.T(self.const(s, dt))
                return self.do(m, [x, d, self.T(i), v])
            i = self.index_tensor(t.shape[d], s)
            a = [x, d, self.T(i), self.T(self.const(s, dt))]
            if op == "scatter_reduce":
                return self.do(
                    m, [*a, r.choice(["sum", "prod", "mean", "amax", "amin"])], {"include_self": r.random() < 0.5}
                )
            return self.do(m, a)
        if op in ("index_add", "index_copy", "index_reduce"):
            k = r.randint(1, 3) if op != "index_copy" else r.randint(1, t.shape[d])
            s = list(t.shape)
            s[d] = k
            i = (
                self.const([k], "int64", False, np.array(r.sample(range(t.shape[d]), k)))
                if op == "index_copy"
                else self.index_tensor(t.shape[d], [k])
            )
            a = [x, d, self.T(i), self.T(self.const(s, dt))]
            if op == "index_reduce":
                return self.do(m, [*a, r.choice(["prod", "mean", "amax", "amin"])], {"include_self": r.random() < 0.5})
            return self.do(m, a, {"alpha": 2} if op == "index_add" and r.random() < 0.3 else {})
        if op == "index_fill":
            return self.do(m, [x, d, self.T(self.index_tensor(t.shape[d], [2])), r.choice([0, 1, 2])])
        if op == "masked_fill":
            return self.do(m, [x, self.T(self.like(t, "bool", False)), r.choice([0, 1, 2])])
        if op == "masked_scatter":
            return self.do(
                m, [x, self.T(self.const(list(t.shape), "bool", False)), self.T(self.const([t.numel()], dt))]
            )
        if op == "index_put":
            return self.do(
                m,
                [x, {"u": [self.T(self.index_tensor(t.shape[0], [3]))]}, self.T(self.const([3, *t.shape[1:]], dt))],
                {"accumulate": True},
            )
        if op == "put":
            k = r.randint(1, min(4, t.numel()))
            i = self.const([k], "int64", False, np.array(r.sample(range(t.numel()), k)))
            return self.do(m, [x, self.T(i), self.T(self.const([k], dt))], {"accumulate": r.random() < 0.5})
        if op == "select_scatter":
            s = list(t.shape)
            del s[d]
            return self.do("torch.select_scatter", [x, self.T(self.const(s, dt)), d, r.randrange(t.shape[d])])
        if op == "slice_scatter":
            a = r.randint(0, t.shape[d] - 1)
            s = list(t.shape)
            s[d] = t.shape[d] - a
            return self.do("torch.slice_scatter", [x, self.T(self.const(s, dt)), d, a])
        if op == "diagonal_scatter":
            return t.dim() == 2 and self.do("torch.diagonal_scatter", [x, self.T(self.const([min(t.shape)], dt))])
